// The list of features with its search; a page of rows at a time.

const PAGE = 25;
const listing = { page: 0, found: [] };
const lowerNames = features.name.map((name) => name.toLowerCase());

function find() {
  const query = byId("search").value.trim().toLowerCase();
  const which = byId("which").value;
  const wanted = which === "all" ? null : which === "kept" ? 1 : 0;
  listing.found = inOrder.filter((i) => (wanted === null || current.mask[i] === wanted) && (!query || matches(i, query)));
}

// "group 3" is the third group, not the thirtieth as well.
function matches(i, query) {
  const group = features.group[i];
  const name = group === null ? "" : groups[group].name.toLowerCase();
  if (groups.some((other) => other.name.toLowerCase() === query)) return name === query || lowerNames[i] === query;
  return lowerNames[i].includes(query) || name.includes(query) || reasonOf(i).toLowerCase().includes(query);
}

function showFeatures() {
  find();
  const { found } = listing;
  const last = Math.max(0, Math.ceil(found.length / PAGE) - 1);
  listing.page = Math.min(listing.page, last);
  const shown = found.slice(listing.page * PAGE, (listing.page + 1) * PAGE);
  const start = listing.page * PAGE + 1;
  const rows = found.length > PAGE ? `; shown are ${thousands(start)} to ${thousands(start + shown.length - 1)}` : "";
  byId("matches").textContent = `${thousands(found.length)} of ${counted(nListed, "feature")}${rows}`;
  document.querySelector("#list tbody").replaceChildren(...shown.map(rowOf));
  byId("page").textContent = `${thousands(listing.page + 1)} of ${thousands(last + 1)}`;
  byId("previous").disabled = listing.page === 0;
  byId("next").disabled = listing.page === last;
  document.querySelector(".pages").hidden = last === 0;
}

function rowOf(i) {
  const group = features.group[i];
  const kept = current.mask[i] === 1;
  return make(
    "tr",
    kept ? { class: "kept" } : {},
    make("td", markOf(i), features.name[i]),
    make("td", {}, group === null ? "none" : groups[group].name),
    make("td", { class: "figure wide-only" }, group === null ? "–" : thousands(features.rank[i])),
    make("td", { class: "figure wide-only" }, group === null ? "–" : features.centrality[i].toFixed(2)),
    make("td", { class: "figure wide-only" }, features.order[i] ? thousands(features.order[i]) : "–"),
    make("td", { class: "plain" }, kept ? "✓ yes" : "no"),
    make("td", {}, reasonOf(i)),
  );
}

function setUpFeatures() {
  const again = () => {
    listing.page = 0;
    showFeatures();
  };
  byId("search").addEventListener("input", again);
  byId("which").addEventListener("change", again);
  const turn = (by) => () => {
    listing.page += by;
    showFeatures();
  };
  byId("previous").addEventListener("click", turn(-1));
  byId("next").addEventListener("click", turn(1));
}

// The list of features with its search; a page of rows at a time.

const ROWS = 25;
const UNSTABLE = 0.75; // the line that psychologists know
const listing = { page: 0, found: [] };
const lowerNames = PAGE.features.name.map((name) => name.toLowerCase());

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
  return lowerNames[i].includes(query) || wordingOf(i).toLowerCase().includes(query) || name.includes(query) || `${reasonOf(i)} ${standingOf(i)} ${verdictOf(i)}`.toLowerCase().includes(query);
}

function showFeatures() {
  find();
  const { found } = listing;
  const last = Math.max(0, Math.ceil(found.length / ROWS) - 1);
  listing.page = Math.min(listing.page, last);
  const shown = found.slice(listing.page * ROWS, (listing.page + 1) * ROWS);
  const start = listing.page * ROWS + 1;
  const rows = found.length > ROWS ? `; shown are ${thousands(start)} to ${thousands(start + shown.length - 1)}` : "";
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
  const stable = features.stability[i];
  const second = features.second[i];
  const why = whyOf(i);
  return make(
    "tr",
    kept ? { class: "kept" } : {},
    make("td", markOf(i), features.name[i], ...(wordingOf(i) ? [make("small", { class: "wording" }, wordingOf(i))] : [])),
    make("td", {}, group === null ? "none" : groups[group].name),
    make("td", { class: "word" }, verdictOf(i)),
    make("td", { class: "figure wide-only" }, group === null ? "–" : centralityOf(i)),
    make("td", { class: stable !== null && stable < UNSTABLE ? "figure wide-only unstable" : "figure wide-only" }, stable === null ? "–" : twoDigits(stable)),
    make("td", { class: "wide-only" }, second === null ? "–" : `${groups[second].name} (${twoDigits(features.second_strength[i])})`),
    make("td", { class: "figure wide-only" }, features.order[i] ? thousands(features.order[i]) : "–"),
    make("td", { class: "plain" }, kept ? "✓" : "no"),
    make("td", {}, why ? `${standingOf(i)} ${why[0].toUpperCase()}${why.slice(1)}.` : standingOf(i)),
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

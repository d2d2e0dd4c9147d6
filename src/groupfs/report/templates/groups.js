// The list of groups: names and counts follow the selection; "+ n more" shows the other names.

const MOST_CHIPS = 1000;
let groupRows = [];
let chips = [];

// The rows of the level on show.
function readGroups() {
  const rows = [...document.querySelectorAll("#groups .at-level:not([hidden]) .group")];
  groupRows = rows.map((row) => ({ group: Number(row.dataset.group), nKept: row.querySelector(".n-kept"), more: row.querySelector(".more-chips") }));
  readChips();
}

function readChips() {
  const named = [...document.querySelectorAll("#groups .at-level:not([hidden]) .chip[data-feature]")];
  chips = named.map((chip) => ({ chip, i: Number(chip.dataset.feature) })).filter(({ i }) => i >= 0);
}

function setUpGroups() {
  for (const button of document.querySelectorAll(".more-chips")) {
    const row = button.closest(".group");
    button.addEventListener("click", () => toggleMore(row, Number(row.dataset.group), button));
  }
}

function toggleMore(row, group, button) {
  const added = row.querySelectorAll(".added");
  if (added.length) {
    for (const chip of added) chip.remove();
  } else {
    const shown = new Set([...row.querySelectorAll(".chip")].map((chip) => Number(chip.dataset.feature)));
    const others = inOrder.filter((i) => features.group[i] === group && !shown.has(i));
    const listed = others.slice(0, MOST_CHIPS).flatMap((i) => [chipOf(i), wordingOf(i) ? make("span", { class: "wording added" }, wordingOf(i)) : " "]);
    const left = groups[group].size - shown.size - Math.min(others.length, MOST_CHIPS);
    if (left > 0) listed.push(make("span", { class: "chip added none" }, `and ${thousands(left)} not listed on this page`), " ");
    button.before(...listed);
  }
  button.classList.toggle("open", !added.length);
  readChips();
  showGroups();
}

function chipOf(i) {
  const look = ["chip", "added", current.mask[i] && "kept", isReversed(i) && "reversed"].filter(Boolean).join(" ");
  const why = isReversed(i) ? `${whyReversed(i)} ` : "";
  return make("span", { class: look, "data-feature": i, title: `${why}centrality ${centralityOf(i)}` }, features.name[i]);
}

function showGroups() {
  const seen = groups.map(() => 0);
  for (const { chip, i } of chips) {
    chip.classList.toggle("kept", current.mask[i] === 1);
    if (features.group[i] !== null) seen[features.group[i]] += current.mask[i];
  }
  for (const { group, nKept, more } of groupRows) {
    nKept.textContent = thousands(current.counts[group]);
    if (!more) continue;
    const hidden = Number(more.dataset.hidden);
    const chosen = current.counts[group] - seen[group];
    const told = chosen > 0 && chosen < hidden ? `, ${thousands(chosen)} of them selected` : "";
    more.textContent = more.classList.contains("open") ? "fewer" : `+ ${thousands(hidden)} more${told}`;
  }
}

// Features that run against the most central one of their group have a negative centrality, and a
// minus before the name.
const isReversed = (i) => features.centrality[i] < 0;
const centralityOf = (i) => Math.abs(features.centrality[i]).toFixed(2);
function markOf(i) {
  return isReversed(i) ? { class: "reversed", title: whyReversed(i) } : {};
}

const whyReversed = (i) => `Reversed: where ${groups[features.group[i]].representative_name} is high, it is low.`;
const wordingOf = (i) => (features.wording && features.wording[i]) || "";
const nameOf = (i) => (i < 0 ? "a feature not listed" : features.name[i]);
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

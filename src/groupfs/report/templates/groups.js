// The list of groups: names and counts follow the selection; "+ n more" shows the other names.

const MOST_CHIPS = 1000;
const groupRows = [...document.querySelectorAll(".group")].map((row) => ({
  row,
  group: Number(row.dataset.group),
  nKept: row.querySelector(".n-kept"),
}));
let chips = [];

function readChips() {
  const named = [...document.querySelectorAll(".chip[data-feature]")];
  chips = named.map((chip) => ({ chip, i: Number(chip.dataset.feature) })).filter(({ i }) => i >= 0);
}

function setUpGroups() {
  readChips();
  for (const { chip, i } of chips) if (features.sign[i] < 0) chip.title = `${whyReversed(i)} ${chip.title}`;
  for (const { row, group } of groupRows) {
    const button = row.querySelector(".more-chips");
    if (button) button.addEventListener("click", () => toggleMore(row, group, button));
  }
}

function toggleMore(row, group, button) {
  const added = row.querySelectorAll(".added");
  if (added.length) {
    for (const chip of added) chip.remove();
    button.textContent = button.dataset.closed;
  } else {
    const shown = new Set([...row.querySelectorAll(".chip")].map((chip) => Number(chip.dataset.feature)));
    const others = membersOf[group].filter((i) => !shown.has(i));
    const listed = others.slice(0, MOST_CHIPS).flatMap((i) => [chipOf(i), " "]);
    const left = groups[group].size - shown.size - Math.min(others.length, MOST_CHIPS);
    if (left > 0) listed.push(make("span", { class: "chip added none" }, `and ${thousands(left)} not listed on this page`), " ");
    button.before(...listed);
    button.dataset.closed = button.textContent;
    button.textContent = "fewer";
  }
  readChips();
}

function chipOf(i) {
  const look = ["chip", "added", current.mask[i] && "kept", features.sign[i] < 0 && "reversed"].filter(Boolean).join(" ");
  const why = features.sign[i] < 0 ? `${whyReversed(i)} ` : "";
  return make("span", { class: look, "data-feature": i, title: `${why}centrality ${features.centrality[i].toFixed(2)}` }, features.name[i]);
}

function showGroups() {
  for (const { row, group, nKept } of groupRows) {
    row.classList.toggle("kept", isKept(group));
    nKept.textContent = thousands(current.counts[group]);
  }
  for (const { chip, i } of chips) chip.classList.toggle("kept", current.mask[i] === 1);
}

// Features that run against the most central one of their group have a minus before the name.
function markOf(i) {
  return features.sign[i] < 0 ? { class: "reversed", title: whyReversed(i) } : {};
}

const whyReversed = (i) => `Reversed: where ${groups[features.group[i]].representative_name} is high, it is low.`;
const nameOf = (i) => (i < 0 ? "a feature not listed" : features.name[i]);
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

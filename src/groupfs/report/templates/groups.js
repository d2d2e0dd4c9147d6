// The list of groups: counts follow the selection; what is inside a group is written when opened.

const MOST_CHIPS = 60;
const groupRows = [...document.querySelectorAll(".group")].map((row) => ({
  row,
  group: Number(row.dataset.group),
  nKept: row.querySelector(".n-kept"),
  body: row.querySelector(".g-body"),
}));

function setUpGroups() {
  for (const entry of groupRows) {
    entry.row.style.setProperty("--own", `var(--c${entry.group % CYCLE})`);
    entry.row.addEventListener("toggle", () => entry.row.open && showGroup(entry));
  }
}

function showGroups() {
  for (const entry of groupRows) {
    entry.row.classList.toggle("kept", isKept(entry.group));
    entry.nKept.textContent = thousands(current.counts[entry.group]);
    if (entry.row.open) showGroup(entry);
  }
}

function showGroup({ group, body }) {
  const all = membersOf[group];
  const chips = make("div", { class: "chips" });
  for (const i of all.slice(0, MOST_CHIPS)) {
    const { class: reversed = "", ...why } = markOf(i);
    const look = ["chip", current.mask[i] ? "kept" : "", reversed].filter(Boolean).join(" ");
    chips.append(make("span", { class: look, ...why }, features.name[i]));
  }
  const left = groups[group].size - Math.min(all.length, MOST_CHIPS);
  if (left > 0) chips.append(make("span", { class: "chip" }, `and ${thousands(left)} more`));
  const words = make("div", {}, make("p", {}, describe(group)), chips);
  const block = make("figure", {});
  body.replaceChildren(words, block);
  if (groups[group].size > 1) drawBlock(block, group);
}

// Features that run against the most central one of their group have a minus before the name.
function markOf(i) {
  if (!(features.sign[i] < 0)) return {};
  const against = groups[features.group[i]].representative_name;
  return { class: "reversed", title: `Reversed: where ${against} is high, it is low.` };
}

function describe(group) {
  const { size, representative_name: name } = groups[group];
  if (size === 1) return "A group of one feature.";
  const reversed = membersOf[group].some((i) => features.sign[i] < 0);
  const minus = reversed ? " Features with a minus run against it." : "";
  return `${counted(size, "feature")}, most central first; ${name} represents the group.${minus}`;
}

// Correlations of the most central features, with their names beside them.
function drawBlock(figure, group) {
  const { features: members, values } = DATA.correlations[group];
  const n = members.length;
  const correlation = unpack(values);
  const canvas = make("canvas", { role: "img", "aria-label": "Correlations of the features" });
  const readout = make("p", { class: "readout" });
  const title = n < groups[group].size ? `Correlations of the ${n} most central` : "Correlations";
  figure.append(make("p", { class: "block-title" }, title), canvas, readout);
  const names = 120;
  const width = Math.min(420, figure.parentElement.clientWidth);
  const side = Math.max(9, Math.min(20, Math.floor((width - names) / n)));
  const context = sharp(canvas, names + n * side, n * side);
  context.font = `${Math.min(12, side)}px system-ui, sans-serif`;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let row = 0; row < n; row++) {
    context.fillStyle = colours.soft;
    context.fillText(shortened(signOf(members[row]) + nameOf(members[row]), 17), names - 8, (row + 0.5) * side);
    for (let column = 0; column < n; column++) {
      const shade = Math.round(127.5 * (1 + correlation[row * n + column]));
      context.fillStyle = inRgb(colours.signed[Math.max(0, Math.min(255, shade))]);
      context.fillRect(names + column * side, row * side, side - 1, side - 1);
    }
  }
  canvas.addEventListener("pointermove", (event) => {
    const row = Math.floor(event.offsetY / side);
    const column = Math.floor((event.offsetX - names) / side);
    if (row < 0 || row >= n || column < 0 || column >= n) return;
    const value = correlation[row * n + column].toFixed(2);
    readout.textContent = `${nameOf(members[row])} and ${nameOf(members[column])}: ${value}`;
  });
}

const nameOf = (i) => (i < 0 ? "a feature not listed" : features.name[i]);
const signOf = (i) => (i >= 0 && features.sign[i] < 0 ? "−" : "");
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

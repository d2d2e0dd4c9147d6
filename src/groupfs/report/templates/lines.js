// Lines over epochs and sparsities, as svg. The selection changes only their classes.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 260;
const MARGIN = { top: 12, right: 12, bottom: 40, left: 48 };
const groupLines = groups.map(() => []);

function draw(parent, tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

// A chart with its axes; gives back functions from values to places.
function chart(holder, { xs, low, high, log, xLabel, xTicks, unit = "" }) {
  const width = Math.max(240, holder.clientWidth);
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.setAttribute("role", "img");
  holder.replaceChildren(svg);
  const along = log ? Math.log : (value) => value;
  const first = along(xs[0]);
  const span = along(xs[xs.length - 1]) - first || 1;
  const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const x = (value) => MARGIN.left + ((along(value) - first) / span) * inner.width;
  const y = (value) => MARGIN.top + (1 - (value - low) / (high - low || 1)) * inner.height;
  for (const tick of ticks(low, high, 5)) {
    draw(svg, "line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) });
    draw(svg, "text", { x: MARGIN.left - 8, y: y(tick) + 4, "text-anchor": "end" }, tickLabel(tick, unit));
  }
  for (const tick of xTicks || ticks(xs[0], xs[xs.length - 1], 5)) {
    draw(svg, "text", { x: x(tick), y: HEIGHT - MARGIN.bottom + 18, "text-anchor": "middle" }, tickLabel(tick));
  }
  draw(svg, "text", { x: MARGIN.left + inner.width / 2, y: HEIGHT - 4, "text-anchor": "middle" }, xLabel);
  const line = (values, attributes) => {
    const points = xs.map((value, i) => `${x(value).toFixed(1)},${y(values[i]).toFixed(1)}`);
    return draw(svg, "path", { ...attributes, d: `M${points.join("L")}` });
  };
  return { svg, x, y, line, width };
}

// Round numbers between two; whole multiples of a step, so that zero is zero.
function ticks(low, high, about) {
  const rough = (high - low) / about || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step || 0);
  return found;
}

// Digits as a person would write them: 0, 0.25, −3, 1,000, 2×10⁻⁶.
function tickLabel(value, unit = "") {
  const size = Math.abs(value);
  let text = size >= 1000 ? thousands(Math.round(value)) : `${+value.toPrecision(3)}`;
  if (size && size < 1e-4) {
    const [digits, power] = value.toExponential(0).split("e-");
    text = `${digits}×10⁻${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
  }
  return `${text}${unit}`.replace("-", "−");
}

function vertical({ svg, x }, value) {
  draw(svg, "line", { class: "mark", x1: x(value), x2: x(value), y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom });
}

// One line per group from a table with a row per place and a column per group; the first on top.
function linesOfGroups(made, table, nPlaces, scale) {
  const n = groups.length;
  for (let group = n - 1; group >= 0; group--) {
    const values = Array.from({ length: nPlaces }, (_, place) => scale(table[place * n + group], group));
    const line = made.line(values, { style: `--own: var(--c${group % CYCLE})` });
    draw(line, "title", {}, `${groups[group].title} (${groups[group].representative_name})`);
    groupLines[group].push(line);
  }
}

function drawLines() {
  for (const lines of groupLines) lines.length = 0;
  if (trainingShown()) drawTraining();
  if (DATA.path) drawPath();
  if (DATA.replication) drawReplication();
  showLines();
}

// Folded away, it is not drawn.
const trainingShown = () => DATA.training && document.querySelector("#training details").open;

function drawTraining() {
  const { epochs, loss } = DATA.training;
  const gates = unpack(DATA.training.gates);
  const { low, high } = DATA.training.gates;
  const upright = { low: Math.min(0, low), high: Math.max(1, high), xs: epochs, xLabel: "epoch" };
  const gatesChart = chart(byId("gates-chart"), upright);
  const half = gatesChart.y(0.5);
  draw(gatesChart.svg, "line", { class: "mark", x1: MARGIN.left, x2: gatesChart.x(epochs[epochs.length - 1]), y1: half, y2: half });
  linesOfGroups(gatesChart, gates, epochs.length, (gate) => gate);
  const range = { low: Math.min(...loss), high: Math.max(...loss) };
  chart(byId("loss-chart"), { ...range, xs: epochs, xLabel: "epoch" }).line(loss, { class: "only" });
}

function drawPath() {
  const { sparsities: xs, gain, chosen } = DATA.path;
  const table = unpack(DATA.path.gates);
  const worth = groups.map((group) => Math.max(0, group.score));
  const xTicks = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10].filter((t) => t >= 0.99 * xs[0] && t <= 1.01 * xs[xs.length - 1]);
  const across = { xs, log: true, xTicks, xLabel: "sparsity, relative to the critical weight" };
  const path = chart(byId("path-chart"), { ...across, low: 0, high: Math.max(...worth, 1e-6) });
  linesOfGroups(path, table, xs.length, (gate, group) => gate * worth[group]);
  vertical(path, xs[chosen]);
  const gains = chart(byId("gain-chart"), { ...across, low: Math.min(0, ...gain), high: Math.max(0, ...gain) });
  gains.line(gain, { class: "only" });
  vertical(gains, xs[chosen]);
  draw(gains.svg, "circle", { class: "point", cx: gains.x(xs[chosen]), cy: gains.y(gain[chosen]), r: 5 });
}

function showLines() {
  groupLines.forEach((lines, group) => {
    for (const line of lines) line.setAttribute("class", isKept(group) ? "kept" : "");
  });
  if (!trainingShown()) return;
  const kept = groups.map((_, group) => group).filter(isKept);
  const few = kept.slice(0, CYCLE).map((group) => swatch(`var(--c${group % CYCLE})`, groups[group].name));
  if (kept.length > CYCLE) few.push(make("span", {}, `and ${kept.length - CYCLE} more, colours repeating`));
  if (kept.length < groups.length) few.push(swatch("var(--off)", "not selected"));
  byId("group-colours").replaceChildren(...few);
}

function swatch(colour, name, kind = "solid") {
  return make("span", {}, make("i", { style: `width:18px;border-top:${kind === "solid" ? 3 : 2}px ${kind} ${colour}` }), name);
}

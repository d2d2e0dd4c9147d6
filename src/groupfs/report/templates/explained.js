// The curve of what the first features explain; the slider's place and the groups' first features on it.

const MOST_DOTS = 40;
const MOST_LINEAR = 100;
const curve = { made: null, marker: [], dots: [] };

function drawExplained() {
  const { stops } = DATA;
  const most = stops[stops.length - 1];
  const log = most > MOST_LINEAR;
  const xs = log ? stops : [0, ...stops];
  const shares = xs.map((k) => percentAt(k));
  const xTicks = log ? decades(most) : null;
  const made = chart(byId("explained-chart"), { xs, low: 0, high: 100, log, xTicks, unit: "\u00a0%", xLabel: "number of features" });
  made.svg.setAttribute("aria-label", `Share explained by the first 1 to ${counted(most, "feature")}`);
  const heldOut = DATA.explained.held_out.map((share) => 100 * share);
  if (heldOut.length) made.line(log ? heldOut : [0, ...heldOut], { class: "held-out" });
  made.line(shares, { class: "only" });
  curve.made = made;
  curve.dots = groups.length > MOST_DOTS ? [] : firstOfGroups().map((dot) => drawDot(made, dot));
  curve.marker = [draw(made.svg, "line", { class: "mark" }), draw(made.svg, "circle", { class: "here", r: 7 })];
  markEnough(made, most); // its words are over the marker's line
}

const percentAt = (k) => (100 * stepsAt(k)) / STEPS;

function decades(most) {
  const fine = most < 2000 && byId("explained-chart").clientWidth > 420 ? [1, 2, 5] : [1];
  const found = [];
  for (let unit = 1; unit <= most; unit *= 10) found.push(...fine.map((times) => times * unit).filter((tick) => tick <= most));
  return found;
}

function markEnough({ svg, x, y, width }, most) {
  const { n_enough: n } = DATA.explained;
  draw(svg, "line", { class: "enough", x1: MARGIN.left, x2: x(most), y1: y(90), y2: y(90) });
  if (n > most) return;
  draw(svg, "line", { class: "enough", x1: x(n), x2: x(n), y1: y(90), y2: y(0) });
  const left = x(n) < 0.7 * width; // where there is room for the words
  const at = { class: "halo", x: x(n) + (left ? 6 : -6), y: y(0) - 8, "text-anchor": left ? "start" : "end" };
  draw(svg, "text", at, `90\u00a0%: ${counted(n, "feature")}`);
}

// Where the first feature of every group comes.
function firstOfGroups() {
  const seen = new Set([null]);
  const found = [];
  DATA.order.forEach((i, before) => {
    const group = features.group[i];
    if (seen.has(group)) return;
    seen.add(group);
    found.push({ group, k: before + 1 });
  });
  return found;
}

function drawDot({ svg, x, y }, { group, k }) {
  const look = { class: "entry", style: `--own: var(--c${group % CYCLE})`, cx: x(k), cy: y(percentAt(k)), r: groups.length > 12 ? 3 : 4 };
  const dot = draw(svg, "circle", look);
  draw(dot, "title", {}, `${groups[group].title} (${groups[group].representative_name}) comes in at ${counted(k, "feature")}`);
  return { dot, k };
}

function showExplained() {
  const { onCurve: k } = current;
  const { x, y } = curve.made;
  const [line, point] = curve.marker;
  for (const part of curve.marker) part.style.display = k === null ? "none" : "";
  if (k !== null) {
    for (const [name, value] of Object.entries({ x1: x(k), x2: x(k), y1: y(percentAt(k)), y2: y(0) })) line.setAttribute(name, value);
    point.setAttribute("cx", x(k));
    point.setAttribute("cy", y(percentAt(k)));
  }
  for (const { dot, k: first } of curve.dots) dot.classList.toggle("lit", k !== null && first <= k);
  byId("explained-readout").textContent = k === null ? "" : `${counted(k, "feature")} ${explainedBy(k)}`;
}

// Pointing at the curve moves the slider; keys move it, too, where it is.
function setUpExplained() {
  const holder = byId("explained-chart");
  const point = (event) => {
    const across = (event.clientX - holder.getBoundingClientRect().left) * (curve.made.width / holder.clientWidth);
    const away = (stop) => Math.abs(curve.made.x(stop) - across);
    update("features", DATA.stops.reduce((best, stop) => (away(stop) < away(best) ? stop : best)));
  };
  holder.addEventListener("pointerdown", (event) => {
    holder.setPointerCapture(event.pointerId);
    point(event);
  });
  holder.addEventListener("pointermove", (event) => event.buttons & 1 && point(event));
  const { n_enough: n } = PAGE.explained;
  byId("enough").hidden = !PAGE.stops.includes(n);
  byId("enough").addEventListener("click", () => update("features", n));
}

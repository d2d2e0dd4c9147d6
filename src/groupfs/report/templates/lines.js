// Charts with axes, as svg: the curve of what is explained.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 260;
const MARGIN = { top: 12, right: 12, bottom: 40, left: 48 };

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
    const points = values.map((value, i) => `${x(xs[i]).toFixed(1)},${y(value).toFixed(1)}`);
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

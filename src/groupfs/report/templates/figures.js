// Figures as files: what the page shows is written again as svg, in light colours, with all styles
// inside and without a request. A png is that svg, drawn large.

const FIGURES = {
  explained: "#explained figure",
  correlations: "#correlations figure, #correlations .at-level:not([hidden]) .scale",
  samples: "#samples .pair, #classes",
};
const AROUND = 12; // pixels of paper
const PNG_SCALE = 3;
const STYLES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "vector-effect", "font-size", "font-family", "display"];

// A context that writes down what is drawn on a canvas; of its methods those that figures use.
function svgContext(width, height) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const short = (value) => +value.toFixed(2);
  let path = "";
  const add = (text, ...values) => (path += text + values.map(short).join(" "));
  const box = (x, y, w, h) => ({ x: short(x), y: short(y), width: short(w), height: short(h) });
  const put = (tag, look, text) => draw(svg, tag, context.globalAlpha < 1 ? { ...look, opacity: context.globalAlpha } : look, text);
  const context = {
    svg,
    globalAlpha: 1,
    lineWidth: 1,
    beginPath: () => (path = ""),
    moveTo: (x, y) => add("M", x, y),
    lineTo: (x, y) => add("L", x, y),
    rect: (x, y, w, h) => [add("M", x, y), add("h", w), add("v", h), add("h", -w)],
    arc: (x, y, r) => [add("M", x - r, y), add("a", r, r, 0, 1, 0, 2 * r, 0), add("a", r, r, 0, 1, 0, -2 * r, 0)],
    fill: () => put("path", { d: path, fill: context.fillStyle }),
    fillRect: (...of) => put("rect", { ...box(...of), fill: context.fillStyle }),
    strokeRect: (...of) => put("rect", { ...box(...of), fill: "none", stroke: context.strokeStyle, "stroke-width": context.lineWidth }),
    fillText: (text, x, y) =>
      put("text", { x: short(x), y: short(y + 4), fill: context.fillStyle, "font-size": 11, "font-family": "sans-serif", "text-anchor": context.textAlign === "right" ? "end" : "start" }, text),
    drawImage: (image, ...of) =>
      put("image", { ...box(...of), preserveAspectRatio: "none", style: "image-rendering:pixelated", href: image.toDataURL() }),
  };
  return context;
}

// Any colour of css as red, green, blue and how much it covers, which all programs read.
function plain(colour) {
  const context = make("canvas", { width: 1, height: 1 }).getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue, covers] = context.getImageData(0, 0, 1, 1).data;
  return { fill: inRgb([red, green, blue]), "fill-opacity": +(covers / 255).toFixed(3) };
}

// Parts of a page, one below the other.
function asSvg(parts) {
  const svg = document.createElementNS(SVG, "svg");
  const paper = draw(svg, "rect", { fill: colours.paper });
  let width = 0;
  let height = AROUND;
  for (const part of parts) {
    const own = part.getBoundingClientRect();
    const below = height;
    write(svg, part, (box) => ({ x: box.left - own.left + AROUND, y: box.top - own.top + below, width: box.width, height: box.height }));
    width = Math.ceil(Math.max(width, part.scrollWidth + 2 * AROUND));
    height = Math.ceil(height + own.height + AROUND);
  }
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) svg.setAttribute(name, value);
  for (const [name, value] of Object.entries({ width, height })) paper.setAttribute(name, value);
  return new XMLSerializer().serializeToString(svg);
}

function write(svg, node, at) {
  if (node.nodeType === Node.TEXT_NODE) writeWords(svg, node, at);
  if (node.nodeType !== Node.ELEMENT_NODE || !node.getClientRects().length) return;
  const box = at(node.getBoundingClientRect());
  if (node.matches("canvas, svg")) {
    const inner = node.matches("svg") ? withStyles(node) : recorded.get(node).svg;
    for (const [name, value] of Object.entries({ ...box, overflow: "visible" })) inner.setAttribute(name, value);
    svg.append(inner);
  } else {
    writeBox(svg, node, box);
    for (const child of node.childNodes) write(svg, child, at);
  }
}

// Word by word, since a line may end between any two.
function writeWords(svg, node, at) {
  const { color, fontFamily, fontSize, fontWeight } = getComputedStyle(node.parentElement);
  const range = document.createRange();
  for (const word of node.data.matchAll(/\S+/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const { x, y, width, height } = at(range.getBoundingClientRect());
    if (width) draw(svg, "text", { x, y: y + 0.79 * height, ...plain(color), "font-family": fontFamily, "font-size": fontSize, "font-weight": fontWeight }, word[0]);
  }
}

// Background and lower line of an element; a gradient has its colours at even distances.
function writeBox(svg, node, box) {
  const { backgroundColor, backgroundImage, borderBottomWidth, borderBottomColor, borderRadius } = getComputedStyle(node);
  const rx = borderRadius.endsWith("%") ? box.width / 2 : parseFloat(borderRadius);
  const behind = plain(backgroundColor);
  const stops = backgroundImage.match(/rgb\([^)]*\)/g);
  if (stops) {
    const id = `ramp${svg.childElementCount}`;
    const gradient = draw(svg, "linearGradient", { id });
    stops.forEach((colour, k) => draw(gradient, "stop", { offset: k / (stops.length - 1), "stop-color": colour }));
    draw(svg, "rect", { ...box, rx, fill: `url(#${id})` });
  } else if (behind["fill-opacity"]) draw(svg, "rect", { ...box, rx, ...behind });
  const line = parseFloat(borderBottomWidth);
  if (line) draw(svg, "rect", { x: box.x, y: box.y + box.height - line, width: box.width, height: line, ...plain(borderBottomColor) });
}

function withStyles(svg) {
  const copy = svg.cloneNode(true);
  const copies = [copy, ...copy.querySelectorAll("*")];
  [svg, ...svg.querySelectorAll("*")].forEach((own, k) => {
    const style = getComputedStyle(own);
    copies[k].removeAttribute("class");
    copies[k].removeAttribute("style");
    for (const name of STYLES) copies[k].setAttribute(name, style.getPropertyValue(name));
    if (style.fill.startsWith("color(")) for (const [name, value] of Object.entries(plain(style.fill))) copies[k].setAttribute(name, value);
  });
  return copy;
}

// The page is painted once in the colours of paper, with what is drawn on canvases written down.
function figure(selector) {
  recorded = new Map();
  onPaper(true);
  const text = asSvg([...document.querySelectorAll(selector)]);
  recorded = null;
  onPaper(false);
  return text;
}

async function asPng(text) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = make("canvas", { width: PNG_SCALE * image.width, height: PNG_SCALE * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function setUpFigures() {
  document.querySelectorAll("#conditions figure.by").forEach((by, k) => {
    by.id = `by-${k + 1}`;
    FIGURES[`conditions-${k + 1}`] = `#${by.id}`;
  });
  for (const [name, selector] of Object.entries(FIGURES)) {
    const holder = document.querySelector(name === "samples" ? "#classes" : selector);
    if (!holder) continue;
    const kinds = ["svg", "png"].map((kind) => {
      const button = make("button", { type: "button", "data-save": `${name}.${kind}`, "aria-label": `Save the figure ${name} as ${kind}` }, kind.toUpperCase());
      button.addEventListener("click", async () => {
        const text = figure(selector);
        saveAs(kind === "png" ? await asPng(text) : new Blob([text], { type: "image/svg+xml" }), `${name}.${kind}`);
      });
      return button;
    });
    const save = make("p", { class: "save" }, "Save as ", ...kinds);
    if (name === "samples") holder.after(save);
    else holder.append(save);
  }
}

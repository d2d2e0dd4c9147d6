// The data of the page and small helpers. Names come from users: text is set as text, never as HTML.

const PAGE = JSON.parse(document.getElementById("data").textContent);
const CYCLE = 7;
const colours = {};
let recorded = null; // while a figure is saved, what is drawn on every canvas

const byId = (id) => document.getElementById(id);

// What the first k features explain, in whole steps.
function stepsAt(k) {
  const { steps } = DATA.explained;
  return k > 0 ? steps[Math.min(k, steps.length) - 1] : 0;
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Numbers that were packed as unsigned integers between low and high.
function unpack(packed) {
  const raw = atob(packed.data);
  const wide = packed.bits === 16;
  const values = new Float32Array(wide ? raw.length / 2 : raw.length);
  const step = (packed.high - packed.low) / (2 ** packed.bits - 1);
  for (let i = 0; i < values.length; i++) {
    const integer = wide
      ? raw.charCodeAt(2 * i) + 256 * raw.charCodeAt(2 * i + 1)
      : raw.charCodeAt(i);
    values[i] = packed.low + step * integer;
  }
  for (const i of packed.gaps || []) values[i] = NaN;
  return values;
}

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  for (const name of ["paper", "ink", "soft", "line", "off", "accent"]) colours[name] = read(`--${name}`);
  colours.cycle = Array.from({ length: CYCLE }, (_, i) => read(`--c${i}`));
  colours.ramp = ramp([0, 1, 2, 3, 4].map((i) => read(`--ramp${i}`)));
  colours.signed = ramp([read("--minus"), read("--zero"), read("--plus")]);
}

const colourOf = (group) => colours.cycle[group % CYCLE];

// 256 colours between a few, as [red, green, blue].
function ramp(stops) {
  const ends = stops.map((stop) => [1, 3, 5].map((at) => parseInt(stop.slice(at, at + 2), 16)));
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (ends.length - 1);
    const before = Math.min(Math.floor(place), ends.length - 2);
    return ends[before].map((from, c) => Math.round(from + (place - before) * (ends[before + 1][c] - from)));
  });
}

const inRgb = ([red, green, blue]) => `rgb(${red},${green},${blue})`;

// A canvas of so many css pixels that is sharp on screen and on paper.
function sharp(canvas, width, height) {
  const scale = Math.max(2, window.devicePixelRatio || 1);
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  if (recorded) {
    recorded.set(canvas, svgContext(width, height));
    return recorded.get(canvas);
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// The width a figure may take; on paper the page is narrower than the window. Asking for it makes the
// browser lay out the page, so it is asked for once, until something is repainted.
const rooms = new Map();
function room(element, most) {
  if (!rooms.has(element)) rooms.set(element, element.parentElement.clientWidth);
  return Math.max(120, Math.min(rooms.get(element), most));
}

function asImage(values, width, height, palette) {
  const image = document.createElement("canvas");
  image.width = width;
  image.height = height;
  const context = image.getContext("2d");
  const pixels = context.createImageData(width, height);
  for (let i = 0; i < values.length; i++) {
    const colour = palette[Math.max(0, Math.min(255, Math.round(255 * values[i])))];
    pixels.data.set(colour, 4 * i);
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
  return image;
}

// Samples in two dimensions, before and after selection, coloured by a group's scores or a label.

const SHAPES = ["disc", "square", "triangle", "diamond"];
const MOST_BUTTONS = 12;
const sampleLabel = PAGE.embedding.label;
const colouring = { by: null, numbers: null };
const unpacked = new Map();

function positions(picture) {
  if (!unpacked.has(picture)) unpacked.set(picture, unpack(picture.xy));
  return unpacked.get(picture);
}

function showBefore() {
  drawSamples(byId("before"), DATA.embedding.before);
  byId("before-share").textContent = share(DATA.embedding.before);
}

function showAfter() {
  const { fitted, by_features: series } = DATA.embedding;
  const picture = current.mode === "fitted" ? fitted : nearest(series, current.n);
  drawSamples(byId("after"), picture, current.nFeatures === 0);
  const exact = picture === fitted || picture.n === current.n;
  byId("after-title").textContent = exact
    ? `${current.nFeatures ? counted(current.nFeatures, "selected feature") : "Nothing is selected"}`
    : `Drawn at ${counted(picture.n, "feature")}, the nearest computed`;
  byId("after-share").textContent = current.nFeatures ? share(picture) : "Move the slider to see a budget.";
}

function nearest(series, n) {
  return series.reduce((best, one) => (Math.abs(Math.log(one.n / n)) < Math.abs(Math.log(best.n / n)) ? one : best));
}

function share({ variance }) {
  return `${unbroken(writeShare(variance[0] + variance[1]))} of the variance in two components`;
}

function drawSamples(canvas, picture, empty = false) {
  const width = room(canvas, 480);
  const height = Math.round(0.8 * width);
  const context = sharp(canvas, width, height);
  const xy = positions(picture);
  const n = xy.length / 2;
  const radius = n > 1200 ? 1.8 : n > 300 ? 2.4 : 3.4;
  const x = axis(xy, 0, width);
  const y = axis(xy, 1, height);
  context.strokeStyle = colours.line;
  context.strokeRect(0.5, 0.5, width - 1, height - 1);
  if (empty) return;
  context.globalAlpha = n > 300 ? 0.75 : 0.9;
  for (let i = 0; i < n; i++) {
    const [colour, shape] = lookOf(i);
    context.fillStyle = colour;
    // with one feature there is no second component: heights only keep the points apart
    const up = y ? height - y(xy[2 * i + 1]) : height * (0.3 + 0.4 * ((i * 0.618034) % 1));
    mark(context, shape, x ? x(xy[2 * i]) : width / 2, up, radius);
  }
  context.globalAlpha = 1;
}

function axis(xy, offset, length) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = offset; i < xy.length; i += 2) {
    low = Math.min(low, xy[i]);
    high = Math.max(high, xy[i]);
  }
  if (high - low < 1e-9) return null;
  return (value) => 12 + ((value - low) / (high - low)) * (length - 24);
}

// What samples are coloured by: "label", or the place of a group.
function colourBy(what) {
  colouring.by = what;
  const packed = what === "label" ? sampleLabel.values : what === null ? null : DATA.embedding.scores[what];
  colouring.numbers = packed ? unpack(packed) : null;
  colouring.range = packed;
  for (const choice of document.querySelectorAll("#colour-by button")) choice.setAttribute("aria-pressed", choice.value === String(what));
}

// The choices of the level on show; another level begins with its first group, or with the label.
function readColouring() {
  const { scores } = DATA.embedding;
  const choices = scores.map((_, j) => [j, groups[j].name, groups[j].is_given ? "" : groups[j].representative_name]);
  if (sampleLabel) choices.unshift(["label", sampleLabel.name, ""]);
  const chosen = (value) => {
    colourBy(value === "label" ? value : Number(value));
    repaintSamples();
  };
  byId("colour-by").replaceChildren();
  if (choices.length > MOST_BUTTONS) {
    const menu = make("select", { id: "colour-menu", autocomplete: "off" });
    for (const [value, name, more] of choices) menu.append(make("option", { value }, `${name} ${shortened(more, 24)}`.trim()));
    menu.addEventListener("change", () => chosen(menu.value));
    byId("colour-by").append(make("label", {}, "Coloured by ", menu));
  } else if (choices.length > 1) {
    for (const [value, name, more] of choices) {
      const button = make("button", { type: "button", value }, name, make("small", {}, shortened(more, 16)));
      button.addEventListener("click", () => chosen(value));
      byId("colour-by").append(button);
    }
  }
  colourBy(sampleLabel ? "label" : scores.length ? 0 : null);
}

function repaintSamples() {
  showBefore();
  showAfter();
  showClasses();
}

function lookOf(i) {
  if (colouring.numbers && Number.isNaN(colouring.numbers[i])) return [colours.off, "disc"];
  if (colouring.numbers) {
    const { low, high } = colouring.range;
    return [inRgb(colours.ramp[Math.round(60 + (195 * (colouring.numbers[i] - low)) / (high - low || 1))]), "disc"];
  }
  return colouring.by === null ? [colours.off, "disc"] : lookOfClass(sampleLabel.codes[i]);
}

function lookOfClass(code) {
  if (code >= CYCLE * SHAPES.length) return [colours.off, "disc"];
  return [colours.cycle[code % CYCLE], SHAPES[Math.floor(code / CYCLE)]];
}

function mark(context, shape, x, y, r) {
  context.beginPath();
  if (shape === "disc") context.arc(x, y, r, 0, 2 * Math.PI);
  else if (shape === "square") context.rect(x - r, y - r, 2 * r, 2 * r);
  else {
    const low = shape === "triangle" ? y + r : y;
    context.moveTo(x, y - 1.3 * r);
    context.lineTo(x + 1.3 * r, low);
    if (shape === "diamond") context.lineTo(x, y + 1.3 * r);
    context.lineTo(x - 1.3 * r, low);
  }
  context.fill();
}

function showClasses() {
  const legend = byId("classes");
  if (colouring.by === null) return;
  if (colouring.numbers) {
    const { low, high } = colouring.range;
    const ends = [low, high].map((end) => `${+end.toPrecision(2)}`.replace("-", "−"));
    const of = colouring.by === "label" ? sampleLabel.name : `score of ${groups[colouring.by].title} (${groups[colouring.by].representative_name})`;
    legend.replaceChildren(make("span", {}, ends[0], make("i", { class: "ramp" }), ends[1]), make("span", {}, of));
    return;
  }
  const most = CYCLE * SHAPES.length;
  const entries = sampleLabel.classes.slice(0, most).map(legendEntry);
  if (sampleLabel.classes.length > most) entries.push(legendEntry("others", most));
  legend.replaceChildren(...entries);
}

function legendEntry(name, code) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const [colour, shape] = lookOfClass(code);
  const context = sharp(canvas, 12, 12);
  context.fillStyle = colour;
  mark(context, shape, 6, 6, 4);
  return make("span", {}, canvas, name);
}

// Correlations of features by features, ordered by group; kept groups are framed.

const EDGE = 8;
const NAMED = 60;
const map = byId("correlation-map") && { canvas: byId("correlation-map"), values: [], side: 0, called: [], groupOf: [], image: null, left: 0, cell: 0, named: false };

function readCorrelations() {
  const { values, features: drawn, turned, sizes } = DATA.correlations;
  map.values = unpack(values);
  map.side = drawn.length;
  map.called = drawn.map((i) => (turned && i >= 0 && isReversed(i) ? "−" : "") + nameOf(i));
  map.groupOf = sizes.flatMap((count, group) => Array(count).fill(group));
}

function paintCorrelations() {
  const { limit } = DATA.correlations;
  const shares = map.values.map((value) => 0.5 + value / (2 * limit));
  map.image = asImage(shares, map.side, map.side, colours.signed);
  layOut();
  drawCorrelations();
}

// Names stand beside the map where rows are high enough, else the numbers of groups.
function layOut() {
  const size = room(map.canvas, 620);
  const context = map.canvas.getContext("2d");
  context.font = "11px system-ui, sans-serif";
  const widths = map.side <= NAMED ? map.called.map((name) => context.measureText(shortened(name, 18)).width) : [0];
  const names = Math.min(0.4 * size, Math.max(...widths) + 8);
  map.named = map.side <= NAMED && (size - names - EDGE) / map.side >= 8;
  map.left = (map.named ? names : 26) + EDGE;
  map.cell = (size - map.left) / map.side;
}

function drawCorrelations() {
  const { side, left, cell, named } = map;
  const length = side * cell;
  const context = sharp(map.canvas, left + length, length + EDGE);
  context.imageSmoothingEnabled = false;
  context.drawImage(map.image, left, EDGE, length, length);
  context.fillStyle = colours.line; // a feature with itself says nothing
  for (let i = 0; i < side; i++) context.fillRect(left + i * cell, EDGE + i * cell, cell, cell);
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  if (named) map.called.forEach((name, i) => writeBeside(context, shortened(name, 18), EDGE + (i + 0.5) * cell));
  let start = 0;
  let below = 0;
  DATA.correlations.sizes.forEach((count, group) => {
    const from = start * cell;
    const long = count * cell;
    const middle = EDGE + from + long / 2;
    const gap = long > 4 ? 1 : 0;
    context.fillStyle = groups[group].kept ? colourOf(group) : colours.off;
    context.fillRect(left - EDGE, EDGE + from, EDGE - 3, long - gap);
    context.fillRect(left + from, 0, long - gap, EDGE - 3);
    if (!named && middle - below > 12) {
      writeBeside(context, String(groups[group].rank), middle);
      below = middle;
    }
    if (groups[group].kept) {
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.2;
      context.strokeRect(left + from, EDGE + from, long, long);
    }
    start += count;
  });
}

function writeBeside(context, text, middle) {
  context.fillStyle = colours.soft;
  context.fillText(text, map.left - EDGE - 5, middle);
}

function setUpCorrelations() {
  const called = (place) => `${map.called[place]} (${groups[map.groupOf[place]].title})`;
  map.canvas.addEventListener("pointermove", (event) => {
    const row = Math.floor((event.offsetY - EDGE) / map.cell);
    const column = Math.floor((event.offsetX - map.left) / map.cell);
    const { side, values } = map;
    if (row < 0 || column < 0 || row >= side || column >= side || row === column) return;
    const value = values[row * side + column].toFixed(2).replace("-", "−");
    byId("correlation-readout").textContent = `${called(row)} and ${called(column)}: ${value}`;
  });
}

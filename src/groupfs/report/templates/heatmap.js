// Affinity of features by features, ordered by group; groups with selected features are framed.

const EDGE = 8;
const affinityMap = DATA.affinity && {
  canvas: byId("affinity-map"),
  values: unpack(DATA.affinity.cells),
  side: DATA.affinity.cells.shape[0],
  image: null,
};

function paintAffinity() {
  const { low, high } = DATA.affinity.cells;
  const shares = affinityMap.values.map((value) => (value - low) / (high - low || 1));
  affinityMap.image = asImage(shares, affinityMap.side, affinityMap.side, colours.ramp);
}

function showAffinity() {
  const { canvas, side, image } = affinityMap;
  const size = room(canvas, 560);
  const context = sharp(canvas, size, size);
  const cell = (size - EDGE) / side;
  context.imageSmoothingEnabled = false;
  context.drawImage(image, EDGE, EDGE, size - EDGE, size - EDGE);
  let start = 0;
  DATA.affinity.cells_per_group.forEach((count, group) => {
    const from = EDGE + start * cell;
    const length = count * cell;
    const gap = length > 4 ? 1 : 0;
    context.fillStyle = isKept(group) ? colourOf(group) : colours.off;
    context.fillRect(0, from, EDGE - 3, length - gap);
    context.fillRect(from, 0, length - gap, EDGE - 3);
    if (isKept(group)) {
      context.strokeStyle = colours.cycle[5];
      context.lineWidth = 1.5;
      context.strokeRect(from, from, length, length);
    }
    start += count;
  });
}

function setUpAffinity() {
  const { canvas, side, values } = affinityMap;
  const groupOf = DATA.affinity.cells_per_group.flatMap((count, group) => Array(count).fill(group));
  const called = (cell) => {
    const feature = DATA.affinity.features && DATA.affinity.features[cell];
    const group = groups[groupOf[cell]].title;
    return feature === null ? group : `${nameOf(feature)} (${group})`;
  };
  canvas.addEventListener("pointermove", (event) => {
    const cell = (canvas.clientWidth - EDGE) / side;
    const row = Math.floor((event.offsetY - EDGE) / cell);
    const column = Math.floor((event.offsetX - EDGE) / cell);
    if (row < 0 || column < 0 || row >= side || column >= side) return;
    const value = values[row * side + column].toFixed(3);
    byId("affinity-readout").textContent = `${called(row)} and ${called(column)}: ${value}`;
  });
}

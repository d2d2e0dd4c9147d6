// For images: where the selected features are.

function pixelOf(i) {
  const { height, width, order } = DATA.image;
  const column = features.column ? features.column[i] : i;
  return order === "F" ? [column % height, Math.floor(column / height)] : [Math.floor(column / width), column % width];
}

function paintMean() {
  const { height, width, order, mean } = DATA.image;
  const { low, high } = mean;
  const values = new Float32Array(height * width);
  unpack(mean).forEach((value, column) => {
    const [row, across] = order === "F" ? [column % height, Math.floor(column / height)] : [Math.floor(column / width), column % width];
    values[row * width + across] = (value - low) / (high - low || 1);
  });
  const grey = Array.from({ length: 256 }, (_, i) => [i, i, i]);
  const [context, size, tall] = imageCanvas("mean-image");
  context.drawImage(asImage(values, width, height, grey), 0, 0, size, tall);
}

function imageCanvas(id) {
  const { height, width } = DATA.image;
  const canvas = byId(id);
  const size = Math.min(room(canvas, 420), Math.round((420 * width) / height));
  const tall = Math.round((size * height) / width);
  const context = sharp(canvas, size, tall);
  context.imageSmoothingEnabled = false;
  return [context, size, tall];
}

function showPixels() {
  const [context, size, tall] = imageCanvas("pixel-map");
  const cell = [size / DATA.image.width, tall / DATA.image.height];
  for (let i = 0; i < nListed; i++) {
    const [row, column] = pixelOf(i);
    const group = features.group[i];
    context.fillStyle = !current.mask[i] ? colours.line : group === null ? colours.off : colourOf(group);
    context.fillRect(column * cell[0], row * cell[1], cell[0] + 0.3, cell[1] + 0.3);
  }
}

function setUpPixels() {
  const canvas = byId("pixel-map");
  const { height, width } = DATA.image;
  const at = new Map();
  for (let i = 0; i < nListed; i++) at.set(pixelOf(i).join(), i);
  canvas.addEventListener("pointermove", (event) => {
    const row = Math.floor((event.offsetY / canvas.clientHeight) * height);
    const column = Math.floor((event.offsetX / canvas.clientWidth) * width);
    const i = at.get([row, column].join());
    if (i === undefined) return;
    byId("pixel-readout").textContent = `${features.name[i]}, row ${row + 1}, column ${column + 1}: ${reasonOf(i)}`;
  });
}

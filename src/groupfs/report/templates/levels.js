// The level on show: DATA, features and groups are of it. The tree's radio buttons choose another.

const LEVELS = new Map(); // those that were shown, unpacked
let DATA, features, groups, inOrder;

function takeLevel(place) {
  DATA = levelAt(place);
  ({ features, groups, inOrder } = DATA);
}

function levelAt(place) {
  if (!LEVELS.has(place)) LEVELS.set(place, unpackLevel(PAGE.views[place]));
  return LEVELS.get(place);
}

// What differs at a level in place of what the page was made with, and columns of all features from
// those of the features in groups, which are listed by group and place.
function unpackLevel(view) {
  const isDict = (part) => part !== null && typeof part === "object" && !Array.isArray(part);
  const data = { ...PAGE };
  for (const [name, part] of Object.entries(view)) {
    data[name] = isDict(part) && isDict(PAGE[name]) ? { ...PAGE[name], ...part } : part;
  }
  data.near_none = new Set(data.near_none);
  data.between = new Set(data.between);
  const { feature, ...columns } = data.members;
  const own = {};
  for (const [name, values] of Object.entries(columns)) {
    own[name] = Array(PAGE.features.name.length).fill(null);
    values.forEach((value, k) => (own[name][feature[k]] = value));
  }
  data.features = { ...data.features, ...own };
  const outside = PAGE.features.name.map((_, i) => i).filter((i) => own.group[i] === null);
  data.inOrder = [...feature.slice(0, columns.group.length), ...outside];
  return data;
}

const groupAt = (place, i) => levelAt(place).groups[levelAt(place).features.group[i]];

// All parts of the page that are written for every level.
function showLevel(place) {
  for (const part of document.querySelectorAll(".at-level")) part.hidden = Number(part.dataset.level) !== place;
  for (const cell of document.querySelectorAll(".cell")) cell.classList.toggle("shown", Number(cell.dataset.level) === place);
}

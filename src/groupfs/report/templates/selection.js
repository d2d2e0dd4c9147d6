// Which features are selected: as fitted, or at a number of features. Groups stay kept or not.

const nListed = PAGE.features.name.length;
const current = {
  mode: "fitted",
  n: 0,
  mask: new Uint8Array(nListed),
  counts: [], // selected features of every group
  nFeatures: 0,
  onCurve: null, // the number of features, if they are the first of the order: the share is known
};

function select(mode, n) {
  current.mode = mode;
  current.n = n;
  const fitted = mode === "fitted";
  if (fitted) {
    current.mask.set(features.selected);
    current.counts = groups.map((group) => group.n_selected); // the page may not list all of them
  } else {
    current.mask.fill(0);
    current.counts = groups.map(() => 0);
    for (const feature of DATA.order.slice(0, n)) {
      current.mask[feature] = 1;
      if (features.group[feature] !== null) current.counts[features.group[feature]]++;
    }
  }
  current.nFeatures = fitted ? DATA.n_selected : n;
  current.onCurve = fitted ? DATA.explained.n_selected : n;
}

// What so many features explain, and what they do in rows left out, where that is known.
function explainedBy(k) {
  const share = unbroken(writeSteps(stepsAt(k)));
  const left = DATA.explained.held_out[DATA.stops.indexOf(k)]; // of the first stops alone
  const told = left === undefined ? share : unbroken(writeShare(left));
  return `explain${k === 1 ? "s" : ""} ${share}${told === share ? "" : ` (${told} in rows left out)`}`;
}

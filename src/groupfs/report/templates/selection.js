// Which features are selected: as fitted, at a number of features, or at a number of groups.

const features = DATA.features;
const groups = DATA.groups;
const nListed = features.name.length;
const membersOf = groups.map(() => []);
const inOrder = sortedFeatures();
const entryLevel = entries();
const current = {
  mode: "fitted",
  n: 0,
  mask: new Uint8Array(nListed),
  counts: new Uint32Array(groups.length),
  nFeatures: 0,
  nGroups: 0,
  onCurve: null, // the number of features whose share explained is known, if this is their order
};

// Features by group and by place in it; those without a group last.
function sortedFeatures() {
  const group = (i) => (features.group[i] === null ? groups.length : features.group[i]);
  const order = Array.from({ length: nListed }, (_, i) => i);
  order.sort((a, b) => group(a) - group(b) || (features.rank[a] || 0) - (features.rank[b] || 0) || a - b);
  for (const i of order) if (features.group[i] !== null) membersOf[features.group[i]].push(i);
  return order;
}

// The place in the levels at which every feature comes in; -1 for those that never do.
function entries() {
  const level = new Int32Array(nListed).fill(-1);
  let at = 0;
  DATA.order.forEach((feature, place) => {
    while (DATA.levels[at] <= place) at++;
    level[feature] = at;
  });
  return level;
}

function select(mode, n) {
  current.mode = mode;
  current.n = n;
  const { mask, counts } = current;
  if (mode === "fitted") {
    mask.set(features.selected);
    groups.forEach((group, j) => (counts[j] = group.n_selected));
  } else if (mode === "features") {
    mask.fill(0);
    counts.fill(0);
    for (let place = 0; place < n; place++) {
      const feature = DATA.order[place];
      mask[feature] = 1;
      if (features.group[feature] !== null) counts[features.group[feature]]++;
    }
  } else {
    const one = DATA.output === "representatives";
    groups.forEach((group, j) => (counts[j] = j < n ? (one ? 1 : group.size) : 0));
    for (let i = 0; i < nListed; i++) {
      const group = features.group[i];
      mask[i] = group !== null && group < n && (!one || groups[group].representative === i) ? 1 : 0;
    }
  }
  // the fit may have selected features and groups that a page too large does not list
  const fitted = mode === "fitted";
  const inGroups = counts.reduce((sum, count) => sum + count, 0);
  current.onCurve = fitted ? DATA.explained.n_selected : mode === "features" && DATA.explained.is_of_budgets ? n : null;
  current.nFeatures = fitted ? DATA.n_selected : mode === "features" ? n : inGroups;
  current.nGroups = fitted ? DATA.n_groups_selected : counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);
}

const isKept = (group) => current.counts[group] > 0;

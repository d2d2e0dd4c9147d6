// Why a feature is selected or not, at any place of the sliders, in the words that come with the data.

const { reasons: REASONS, codes: WHY, gains: GAINS, limits: LIMITS, places: PLACES } = DATA.words;

function reasonOf(i) {
  const j = features.group[i];
  const facts = { ...asked(), ...factsOfOrder(i), ...(j === null ? {} : factsOfGroup(j)) };
  const place = placeOf(i);
  const reason = filled(REASONS[current.mode === "fitted" ? features.why[i] : whyAt(i)], facts);
  return `${place}${reason && !place.endsWith(": ") ? "; " : ""}${reason}.`;
}

// What the slider makes of a feature; as fitted, the selector has said it.
function whyAt(i) {
  const j = features.group[i];
  const taken = current.mask[i] === 1;
  if (current.mode === "features" && DATA.explained.is_of_budgets && features.order[i]) return taken ? WHY.CHOSEN : WHY.LATER;
  if (j === null) return taken ? WHY.SPARE : WHY.IN_NO_GROUP;
  if (current.counts[j] === 0) return WHY.AS_GROUP;
  if (DATA.output === "representatives") return taken ? WHY.REPRESENTS : WHY.REPRESENTED;
  if (current.mode === "groups") return WHY.AS_GROUP;
  return taken ? WHY.SHARE : WHY.NO_SHARE;
}

function asked() {
  if (current.mode === "fitted") return { asked: DATA.n_groups_asked, budget: thousands(DATA.budget || 0), limit: DATA.limit };
  const budget = thousands(current.n);
  return { asked: current.n, budget, limit: filled(LIMITS.slider, { budget }) };
}

function factsOfGroup(j) {
  const group = groups[j];
  const facts = { rank: group.rank, n: thousands(current.counts[j]), size: counted(group.size, "feature") };
  const code = current.mode === "groups" ? (group.rank <= current.n ? WHY.AMONG_FIRST : WHY.AFTER_FIRST) : current.counts[j] ? WHY.IN_BUDGET : WHY.OUT_OF_BUDGET;
  const why = current.mode === "fitted" ? group.why : filled(REASONS[code], { ...asked(), ...facts });
  return { ...facts, why, representative: group.representative_name };
}

// What a feature explains on top of those before it.
function factsOfOrder(i) {
  const k = features.order[i];
  if (!k) return {};
  const before = stepsAt(k - 1);
  const share = writeSteps(stepsAt(k) - before);
  return { nth: ordinal(k), gain: before === STEPS ? GAINS.nothing : filled(k === 1 ? GAINS.first : GAINS.more, { share }) };
}

function placeOf(i) {
  const j = features.group[i];
  if (j !== null) return filled(PLACES.group, { group: groups[j].title });
  const p = writeP(features.relatedness_p_adjusted[i]);
  return filled(PLACES[features.outside[i]], { p: p.startsWith("<") ? p : `= ${p}` });
}

// Why a feature is selected or not, at any place of the slider, and where it stands, in given words.

const { reasons: REASONS, codes: WHY, gains: GAINS, limits: LIMITS, places: PLACES, verdicts: VERDICTS, stability: STABILITY } = PAGE.words;

function reasonOf(i) {
  const place = placeOf(i);
  const reason = whyOf(i);
  return `${place}${reason && !place.endsWith(": ") ? "; " : ""}${reason}.`;
}

// The reason alone, without where the feature is.
function whyOf(i) {
  const j = features.group[i];
  const facts = { ...asked(), ...factsOfOrder(i), ...(j === null ? {} : factsOfGroup(j)) };
  return filled(REASONS[current.mode === "fitted" ? features.why[i] : whyAt(i)], facts);
}

// At other places of the slider than that of the fit, the order decides.
function whyAt(i) {
  if (!features.order[i]) return WHY.IN_NO_GROUP;
  return current.mask[i] ? WHY.CHOSEN : WHY.LATER;
}

function asked() {
  if (current.mode === "fitted") return { asked: DATA.n_groups_asked, budget: thousands(DATA.budget || 0), limit: DATA.limit };
  return { limit: filled(LIMITS.slider, { budget: thousands(current.n) }) };
}

function factsOfGroup(j) {
  const { size, why, representative_name: representative } = groups[j];
  return { n: thousands(current.counts[j]), size: counted(size, "feature"), why, representative };
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
  const kind = !features.order[i] ? "constant" : DATA.near_none.has(i) ? "between" : "unrelated";
  return filled(PLACES[kind], { p: pWords(i) });
}

function pWords(i) {
  const p = writeP(features.relatedness_p_adjusted[i]);
  return p.startsWith("<") ? p : `= ${p}`;
}

// What a feature is, in a word.
function verdictOf(i) {
  if (!features.order[i]) return "constant";
  if (i in DATA.twins) return "duplicate of";
  if (i in DATA.few_values) return "too few rows";
  if (DATA.between.has(i)) return "between two";
  return features.group[i] === null ? "alone" : "member";
}

function standingOf(i) {
  const j = features.group[i];
  const second = features.second[i];
  const verdict = verdictOf(i);
  const stable = features.stability[i];
  const facts = {
    group: j === null ? "" : groups[j].title,
    stability: stable === null ? "" : filled(STABILITY, { share: writeShare(stable) }),
    second: second === null ? "" : groups[second].title,
    strength: twoDigits(features.second_strength[i] || 0),
    twin: DATA.twins[i],
    n: DATA.few_values[i],
    p: features.relatedness_p_adjusted[i] === null ? "" : ` (adjusted p ${pWords(i)})`,
  };
  return `${filled(VERDICTS[verdict === "between two" && j === null ? "between two, in none" : verdict], facts)}.`;
}

// Why a feature is selected or not, at any place of the sliders; order_reasons.py has the same words.

function reasonOf(i) {
  const reason = DATA.reasons[features.reason[i]];
  const unfinished = reason.endsWith(" ");
  if (current.mode === "fitted") return unfinished ? reason + reasonByOrder(i, DATA.limit) : reason;
  const group = groups[features.group[i]];
  if (current.mode === "features" && DATA.explained.is_of_budgets && features.order[i]) {
    const last = DATA.levels[DATA.levels.length - 1];
    const limit = features.order[i] > last ? `the slider ends at ${thousands(last)}` : `the slider is at ${thousands(current.n)}`;
    return `${group ? `In ${group.title}:` : `${beginning(reason)};`} ${reasonByOrder(i, limit)}`;
  }
  if (!group) return reasonOutside(i, beginning(reason));
  if (current.mode === "groups") {
    const first = `In ${group.title}, which ${group.rank <= current.n ? "is among" : "comes after"} the first ${current.n}`;
    if (DATA.output !== "representatives" || group.rank > current.n) return `${first}.`;
    return `${first}; ${current.mask[i] ? "it" : group.representative_name} stands for it.`;
  }
  const share = current.counts[features.group[i]];
  if (current.mask[i]) return `${counted(current.n, "feature")}: ${share} of ${group.title}, it among them by centrality.`;
  return comesIn(i);
}

// What a feature explains on top of those before it, or that it comes too late.
function reasonByOrder(i, limit) {
  const position = features.order[i];
  if (!current.mask[i]) return `comes ${ordinal(position)} in the order; ${limit}.`;
  const before = stepsAt(position - 1);
  if (before === STEPS) return `chosen ${ordinal(position)}, after all is explained.`;
  const others = position === 2 ? "the one" : `the ${thousands(position - 1)}`;
  const onTop = position > 1 ? ` on top of ${others} before it` : "";
  return `chosen ${ordinal(position)}, explains ${gained(stepsAt(position) - before)}${onTop}.`;
}

function gained(steps) {
  const tenths = Math.floor((1000 * steps) / STEPS);
  if (tenths === 0) return "less than 0.1 %";
  return tenths >= 100 ? `${Math.floor(tenths / 10)} %` : `${Math.floor(tenths / 10)}.${tenths % 10} %`;
}

function ordinal(number) {
  const teen = number % 100 > 10 && number % 100 < 20;
  return thousands(number) + ((!teen && ["", "st", "nd", "rd"][number % 10]) || "th");
}

// Why a feature is in no group, without what a budget of the fit had to do with it.
const beginning = (reason) => reason.split("; the budget")[0].replace(/(; |[.])$/, "");

// A budget beyond what the groups hold takes features that are in none.
function reasonOutside(i, why) {
  if (!current.mask[i]) return `${why}.`;
  return `${why}; ${counted(current.n, "feature")} are more than the groups have.`;
}

function comesIn(i) {
  const level = entryLevel[i];
  if (level < 0) return "No budget the slider offers takes it.";
  const least = level > 0 ? DATA.levels[level - 1] + 1 : 1;
  const most = DATA.levels[level];
  if (least === most) return `Comes in at ${counted(most, "feature")}.`;
  return `Comes in between ${thousands(least)} and ${counted(most, "feature")}.`;
}

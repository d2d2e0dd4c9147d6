// Wiring: two sliders choose, everything that shows the selection follows at once.

const curveIsDrawn = byId("explained-chart") !== null && DATA.levels.length > 0;

function update(mode, n) {
  select(mode, n);
  byId("by-features").value = nearestLevel(current.nFeatures);
  byId("by-groups").value = current.nGroups;
  byId("n-features").textContent = thousands(current.nFeatures);
  byId("n-groups").textContent = thousands(current.nGroups);
  byId("fitted").disabled = mode === "fitted";
  showStatus();
  if (curveIsDrawn) showExplained();
  showGroups();
  if (map) showCorrelations();
  showAfter();
  showFeatures();
  showDownloads();
}

function showStatus() {
  const { mode, nFeatures, nGroups, onCurve } = current;
  const how = { fitted: "as fitted", features: "by a budget of features" }[mode];
  const by = mode === "groups" ? `the first ${current.n === 1 ? "group" : `${thousands(current.n)} groups`}` : nFeatures ? `selected ${how}` : how;
  const fitted = mode === "fitted" ? ", as fitted" : "";
  const inGroups = groups.length ? ` in ${counted(nGroups, "group")}` : "";
  byId("status").replaceChildren(
    nFeatures ? counted(nFeatures, "feature") + inGroups : "Nothing is selected",
    make("small", {}, onCurve ? `explain${nFeatures === 1 ? "s" : ""} ${unbroken(writeSteps(stepsAt(onCurve)))}${fitted}` : by),
  );
}

function nearestLevel(n) {
  let best = 0;
  DATA.levels.forEach((level, place) => {
    if (Math.abs(level - n) < Math.abs(DATA.levels[best] - n)) best = place;
  });
  return best;
}

function setUpSliders() {
  const byFeatures = byId("by-features");
  byFeatures.max = Math.max(0, DATA.levels.length - 1);
  byFeatures.disabled = DATA.levels.length === 0;
  byId("by-groups").disabled = groups.length < 2;
  byFeatures.addEventListener("input", () => update("features", DATA.levels[byFeatures.value]));
  byId("by-groups").addEventListener("input", () => update("groups", Number(byId("by-groups").value)));
  byId("fitted").addEventListener("click", () => update("fitted", 0));
}

// After a change of theme or width: whatever is painted, once more.
function repaint() {
  readColours();
  rooms.clear();
  if (map) paintCorrelations();
  showBefore();
  showClasses();
  if (curveIsDrawn) drawExplained();
  update(current.mode, current.n);
}

function onPaper(printing) {
  document.documentElement.classList.toggle("printing", printing);
  repaint();
}

setUpGroups();
if (map) setUpCorrelations();
setUpColours();
setUpSliders();
if (curveIsDrawn) setUpExplained();
setUpFeatures();
setUpDownloads();
repaint();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
window.addEventListener("beforeprint", () => onPaper(true));
window.addEventListener("afterprint", () => onPaper(false));
let width = document.documentElement.clientWidth;
window.addEventListener("resize", () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  repaint();
});

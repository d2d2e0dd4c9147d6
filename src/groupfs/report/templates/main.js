// Wiring: a slider and the switch of levels choose, everything that shows the selection follows at once.

const curveIsDrawn = byId("explained-chart") !== null && PAGE.stops.length > 0;

function update(mode, n) {
  select(mode, n);
  byId("by-features").value = nearestStop(current.nFeatures);
  byId("n-features").textContent = thousands(current.nFeatures);
  byId("fitted").disabled = mode === "fitted";
  showStatus();
  if (curveIsDrawn) showExplained();
  showGroups();
  showAfter();
  showFeatures();
  showDownloads();
}

function showStatus() {
  const { nFeatures, onCurve } = current;
  const kept = groups.length ? `${thousands(DATA.n_kept)} of ${counted(DATA.n_groups, "group")} kept` : "no groups";
  byId("status").replaceChildren(
    nFeatures ? `${counted(nFeatures, "feature")} selected` : "Nothing is selected",
    make("small", {}, onCurve ? explainedBy(onCurve) : "as fitted"),
    make("small", {}, kept),
  );
}

function nearestStop(n) {
  const away = (stop) => Math.abs(stop - n);
  return DATA.stops.reduce((best, stop, place) => (away(stop) < away(DATA.stops[best]) ? place : best), 0);
}

// Another level: whatever is of its groups, read and painted again.
function changeLevel(place) {
  takeLevel(place);
  showLevel(place);
  byId("by-features").max = Math.max(0, DATA.stops.length - 1);
  byId("by-features").disabled = DATA.stops.length === 0;
  readGroups();
  if (map) readCorrelations();
  readColouring();
  repaint();
}

// After a change of theme, width or level: whatever is painted, once more.
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

takeLevel(PAGE.level);
setUpGroups();
if (map) setUpCorrelations();
byId("by-features").addEventListener("input", (event) => update("features", DATA.stops[event.target.value]));
byId("fitted").addEventListener("click", () => update("fitted", 0));
if (curveIsDrawn) setUpExplained();
setUpFeatures();
setUpDownloads();
setUpSorting();
setUpFigures();
for (const button of document.querySelectorAll("#levels input")) button.addEventListener("change", () => changeLevel(Number(button.value)));
changeLevel(PAGE.level);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
window.addEventListener("beforeprint", () => onPaper(true));
window.addEventListener("afterprint", () => onPaper(false));
let width = document.documentElement.clientWidth;
window.addEventListener("resize", () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  repaint();
});

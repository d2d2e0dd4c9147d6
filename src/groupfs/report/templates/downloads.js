// groups.csv and selected.csv for the selection on show, made here: nothing is asked of a server.

function csvRows(onlySelected) {
  const shown = onlySelected ? inOrder.filter((i) => current.mask[i]) : inOrder;
  const several = PAGE.views.length > 1 ? PAGE.views.map((_, place) => `level_${place + 1}`) : [];
  const [first, ...others] = DATA.columns;
  const told = [first, ...(features.wording ? ["wording"] : []), ...others];
  const loadings = (DATA.loadings || [[]])[0].map((_, j) => `loading_${j + 1}`);
  const columns = onlySelected ? told.filter((name) => name !== "selected" && name !== "why") : [...told, ...several, ...loadings, "smoothness"];
  return [columns, ...shown.map((i) => facts(i)).map((row) => columns.map((name) => row[name]))];
}

function facts(i) {
  const group = features.group[i] === null ? null : groups[features.group[i]];
  const position = features.order[i];
  const called = (j) => (j === null ? null : groups[j].is_given ? groups[j].name : groups[j].rank);
  const levels = PAGE.views.map((_, place) => [`level_${place + 1}`, groupAt(place, i)?.rank]);
  const written = (yes) => (yes ? "True" : "False"); // as Python does
  return {
    feature: features.name[i],
    group: called(features.group[i]),
    rank: features.rank[i],
    representative: written(group && group.representative === i),
    wording: features.wording && features.wording[i],
    centrality: group && features.centrality[i],
    item_rest: features.item_rest[i],
    replication: group && group.replication,
    p_adjusted: group && group.p_adjusted,
    smoothness: group && group.smoothness,
    verdict: verdictOf(i),
    stability: features.stability[i],
    second_group: called(features.second[i]),
    second_strength: features.second_strength[i],
    place: standingOf(i),
    relatedness_p_adjusted: features.relatedness_p_adjusted[i],
    order: position,
    explained: position && stepsAt(position) / STEPS,
    selected: written(current.mask[i]),
    why: reasonOf(i),
    ...Object.fromEntries(levels),
    ...Object.fromEntries((DATA.loadings ? DATA.loadings[i] : []).map((loading, j) => [`loading_${j + 1}`, loading])),
  };
}

function asCsv(rows) {
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(field).join(",") + "\n").join("");
}

// A page too large for all features offers only the files that it can write whole.
function showDownloads() {
  const whole = {
    selected: current.mask.reduce((sum, kept) => sum + kept, 0) === current.nFeatures,
    groups: nListed === DATA.n_features && !DATA.lacks_loadings,
  };
  for (const button of document.querySelectorAll("[data-download]")) {
    const lacks = !whole[button.dataset.download];
    button.disabled = lacks;
    button.title = lacks ? "This page does not list all features of the file." : "";
  }
}

function setUpDownloads() {
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => {
      const name = button.dataset.download;
      const text = asCsv(csvRows(name === "selected"));
      saveAs(new Blob([text], { type: "text/csv" }), `${name}.csv`);
    });
  }
}

function saveAs(blob, name) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

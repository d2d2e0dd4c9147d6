// groups.csv and selected.csv for the selection on show, made here: nothing is asked of a server.

const COLUMNS = ["feature", "group", "rank", "score", "p_adjusted", "reliability", "centrality", "sign", "relatedness_p_adjusted", "order", "explained"];

function csvRows(onlySelected) {
  const shown = onlySelected ? inOrder.filter((i) => current.mask[i]) : inOrder;
  const header = onlySelected ? COLUMNS : [...COLUMNS, "kept", "reason"];
  return [header, ...shown.map((i) => (onlySelected ? facts(i) : [...facts(i), current.mask[i] ? "True" : "False", reasonOf(i)]))];
}

function facts(i) {
  const group = features.group[i] === null ? null : groups[features.group[i]];
  const related = features.relatedness_p_adjusted[i];
  const position = features.order[i];
  const last = [related, position, position && stepsAt(position) / STEPS];
  if (!group) return [features.name[i], "", "", "", "", "", "", "", ...last];
  const called = group.is_given ? group.name : group.rank;
  const own = [features.rank[i], group.score, group.p_adjusted, group.reliability, features.centrality[i]];
  return [features.name[i], called, ...own, features.sign[i], ...last];
}

function asCsv(rows) {
  const field = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(field).join(",") + "\n").join("");
}

// A page too large for all features offers only the files that it can write whole.
function showDownloads() {
  const whole = {
    selected: current.mask.reduce((sum, kept) => sum + kept, 0) === current.nFeatures,
    groups: nListed === DATA.n_features,
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
      const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
      const link = make("a", { href: address, download: `${name}.csv` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    });
  }
}

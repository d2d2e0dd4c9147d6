// Tables that are sorted by a click on a heading: numbers from high to low, then the other way.

function setUpSorting() {
  for (const button of document.querySelectorAll(".sortable thead button")) {
    button.addEventListener("click", () => sortBy(button.closest("table"), button.closest("th")));
  }
}

function sortBy(table, heading) {
  const place = [...heading.parentElement.children].indexOf(heading);
  const descends = heading.getAttribute("aria-sort") !== "descending";
  const numberOf = (row) => parseFloat(row.children[place].textContent.replace("−", "-"));
  const rows = [...table.tBodies[0].rows];
  const isText = !heading.classList.contains("figure");
  const compare = (a, b) => {
    if (isText) return b.children[place].textContent.localeCompare(a.children[place].textContent, undefined, { numeric: true });
    const [first, second] = [numberOf(a), numberOf(b)];
    return (Number.isNaN(second) ? -Infinity : second) - (Number.isNaN(first) ? -Infinity : first) || 0;
  };
  rows.sort((a, b) => (descends ? compare(a, b) : compare(b, a)));
  for (const other of heading.parentElement.children) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
  heading.setAttribute("aria-sort", descends ? "descending" : "ascending");
  table.tBodies[0].append(...rows);
}

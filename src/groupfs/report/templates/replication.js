// How far halves of the rows agree, for every number of groups; the chosen number is marked.

function drawReplication() {
  const { n_groups: xs, agreement, information, best, others } = DATA.replication;
  const step = Math.max(1, Math.ceil(xs.length / 10));
  const xTicks = xs.filter((n) => n % step === 0);
  const made = chart(byId("replication-chart"), { xs, low: 0, high: 1, xLabel: "number of groups", xTicks });
  made.line(agreement, { class: "only" });
  if (best === null) return; // information is relative to a peak, and there is none
  const most = Math.max(...information);
  made.line(information.map((value) => value / most), { class: "dashed" });
  vertical(made, best);
  for (const n of [best, ...others]) {
    const place = { cx: made.x(n), cy: made.y(agreement[xs.indexOf(n)]), r: 5 };
    const point = draw(made.svg, "circle", { class: n === best ? "point" : "point other", ...place });
    draw(point, "title", {}, `${n} groups: agreement ${agreement[xs.indexOf(n)].toFixed(2)}`);
  }
  const entries = [swatch("var(--accent)", "agreement"), swatch("var(--soft)", "weighed by how much the groups tell", "dashed")];
  byId("replication-lines").replaceChildren(...entries);
}

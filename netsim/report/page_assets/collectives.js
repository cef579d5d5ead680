// Collectives against their ideal, bandwidth over size, and distributions.
function drawBars() {
  const host = byId("bars"), wide = host.clientWidth, rows = run.kinds.rows;
  if (!rows.length) { refill(host, make("p", {}, "There was no collective.")); return; }
  const left = Math.min(330, wide * 0.36), right = 128, step = 26, high = rows.length * step + 40;
  const top = Math.max(...rows.map((row) => Math.max(row.slowest_ps, row.ideal_ps))) || 1;
  const x = (ps) => left + (ps / top) * (wide - left - right);
  const svg = shape("svg", { height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": "time of collectives against ideal" });
  for (const value of ticks(0, top, Math.max(2, Math.floor((wide - left - right) / 110)))) svg.append(
    shape("line", { class: "grid", x1: x(value), x2: x(value), y1: 0, y2: high - 36 }),
    shape("text", { class: "soft", x: x(value), y: high - 21, "text-anchor": "middle" }, time(value)));
  svg.append(axisLabel("time from the first rank's entry to the last byte", left + (wide - left - right) / 2, high - 4));
  rows.forEach((row, place) => svg.append(...barOf(row, place * step + 4, x, wide - right, left)));
  refill(host, svg);
}
function barOf(row, y, x, end, left) {
  const name = `${row.op} ${size(row.bytes)}, ${row.algorithm}, ${counted(row.ranks, "rank")}${row.count > 1 ? `, ${count(row.count)} times` : ""}`;
  const most = Math.floor((left - 8) / 6.1), says = `${name}\n${row.group}\nmedian ${time(row.time_ps)}, slowest ${time(row.slowest_ps)}\non an idle network ${time(row.ideal_ps)}`;
  const parts = [
    shape("text", { x: left - 8, y: y + 13, "text-anchor": "end" }, name.length > most ? `${name.slice(0, most - 1)}…` : name, shape("title", {}, name)),
    tipOver(shape("rect", { x: left, y: y + 2, width: Math.max(1, x(row.time_ps) - left), height: 15, fill: colourOf(0), rx: 2 }), says),
  ];
  if (row.count > 1) parts.push(shape("line", { x1: x(row.time_ps), x2: x(row.slowest_ps), y1: y + 9.5, y2: y + 9.5, stroke: colourOf(0), "stroke-width": 2 }),
    shape("line", { x1: x(row.slowest_ps), x2: x(row.slowest_ps), y1: y + 5, y2: y + 14, stroke: colourOf(0), "stroke-width": 2 }));
  if (row.ideal_ps > 0) parts.push(shape("rect", { x: x(row.ideal_ps) - 1.5, y: y - 1, width: 3, height: 21, fill: colourOf(1) }));
  const slow = row.slowdown === null ? "" : ` (${times(row.slowdown)})`;
  parts.push(shape("text", { x: end + 122, y: y + 13, "text-anchor": "end" }, `${time(row.time_ps)}${slow}`));
  return parts;
}

function drawDistribution(id, curves, xName, xFormat, nothing, base) {
  const host = byId(id);
  if (!curves.length) { refill(host, make("p", {}, nothing)); return; }
  const all = curves.flatMap((curve) => curve.x), low = Math.min(...all), top = Math.max(...all);
  const named = curves.map((curve) => ({ name: `${curve.name} (${count(curve.count)})`, x: curve.x, y: curve.share }));
  curvesInto(host, named, { xName, yName: "share at most so large", xFormat, yFormat: percent, yTop: 1, isStep: true, xLog: low > 0 && top / low > 5, base });
}

function startCharts() {
  keepDrawn(() => {
    drawBars();
    refill(byId("bars-keys"), make("span", {}, make("i", { style: `background:${colourOf(0)}` }), "time (median; the whisker ends at the slowest)"),
      make("span", {}, make("i", { style: `background:${colourOf(1)};width:4px` }), "ideal: the same on an idle network"));
  });
  const left = run.kinds.of - run.kinds.rows.length;
  byId("bars-note").textContent = left > 0 ? `${counted(left, "more kind")} of operations took less time; the table below has all.` : "";
  keepDrawn(() => {
    if (run.bandwidths.length) curvesInto(byId("bandwidth"), run.bandwidths, { xName: "full buffer of a rank", yName: "busbw, GB/s", xFormat: size, yFormat: figures, xLog: true, base: 2 });
    else refill(byId("bandwidth"), make("p", { class: "soft" }, "No operation ran with more than one message size, so there is no curve to draw."));
  });
  byId("bandwidth-note").textContent = run.bandwidths.length ? "busbw as nccl-tests define it: comparable with the rate of the links, whatever the number of ranks. Medians." : "";
  keepDrawn(() => drawDistribution("slowdowns", run.slowdowns, "slowdown of a flow: time over time on an idle network", times, "No flow has a slowdown to show.", 2));
  keepDrawn(() => drawDistribution("queue-lengths", run.queue_lengths, "bytes in a queue when looked at, empty ones left out", bytes, "No queue was sampled: none had packets waiting when it was looked at.", 4));
  byId("slowdowns-note").textContent = "Cumulative share of flows, by operation.";
  byId("queue-lengths-note").textContent = "Cumulative share of sampled queues, by kind of link.";
}

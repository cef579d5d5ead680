// Ranks over time: a bar per rank and collective; pale while the rank waits for the last one to begin.
const parts = run.parts, RANKS_LEFT = 58;
const chart = { from: 0, to: Math.max(1, run.end_ps / 1000), low: 0, high: parts.ranks - 1, lanes: [] };
const lastOf = new Map(); // by collective: when its last rank began, and which
parts.collective.forEach((id, p) => {
  if (parts.ops[parts.op[p]] === "flows") return; // no rank of a traffic matrix waits for all the others
  const last = lastOf.get(id);
  if (!last || parts.start_ns[p] > last.at) lastOf.set(id, { at: parts.start_ns[p], rank: parts.rank[p] });
});
const opPlaces = parts.op.map((op) => Math.min(op, 5));

function partSays(p) {
  const id = parts.collective[p], row = collectiveAt.get(id), last = lastOf.get(id) || { at: 0 }, start = parts.start_ns[p] * 1000;
  const ofSize = row === undefined ? "" : ` of ${size(run.collectives.columns.bytes[row])}`, waited = (last.at - parts.start_ns[p]) * 1000;
  const wait = waited > 0 ? `\nwaited ${time(waited)} for rank ${last.rank}, the last to begin` : "";
  return `rank ${parts.rank[p]}: ${parts.ops[parts.op[p]]}${ofSize}, collective ${id}\nfrom ${time(start)} to ${time(parts.end_ns[p] * 1000)} (${time(parts.end_ns[p] * 1000 - start)})${wait}`;
}
const ranksHigh = () => Math.max(120, Math.min(560, (chart.high - chart.low + 1) * 22));

function drawRanks() {
  const high = ranksHigh(), [pen, wide] = canvasOf(byId("ranks-canvas"), high + 34), rows = chart.high - chart.low + 1, step = high / rows;
  const x = (ns) => RANKS_LEFT + ((ns - chart.from) / (chart.to - chart.from)) * (wide - RANKS_LEFT), y = (rank) => (rank - chart.low) * step;
  pen.fillStyle = ofTheme("--tile");
  pen.fillRect(RANKS_LEFT, 0, wide - RANKS_LEFT, high);
  pen.save();
  pen.beginPath(); pen.rect(RANKS_LEFT, 0, wide - RANKS_LEFT, high); pen.clip();
  const thick = step > 6 ? step - 2 : step > 2 ? step - 0.5 : Math.max(0.6, step);
  for (let p = 0; p < parts.rank.length; p += 1) {
    const rank = parts.rank[p], start = parts.start_ns[p], end = parts.end_ns[p];
    if (rank < chart.low || rank > chart.high || end < chart.from || start > chart.to) continue;
    const all = Math.min(end, Math.max(start, (lastOf.get(parts.collective[p]) || { at: 0 }).at)), top = y(rank) + (step - thick) / 2;
    pen.fillStyle = colourOf(opPlaces[p]);
    pen.globalAlpha = 0.32;
    if (all > start) pen.fillRect(x(start), top, Math.max(0.6, x(all) - x(start)), thick);
    pen.globalAlpha = 1;
    if (end > all) pen.fillRect(x(all), top, Math.max(0.6, x(end) - x(all) - (step > 6 && x(end) - x(all) > 3 ? 1 : 0)), thick);
  }
  pen.restore();
  pen.fillStyle = ofTheme("--soft");
  pen.textAlign = "right";
  const every = Math.max(1, Math.ceil(14 / step)), round = every <= 1 ? 1 : 2 ** Math.ceil(Math.log2(every));
  for (let rank = Math.ceil(chart.low / round) * round; rank <= chart.high; rank += round) pen.fillText(String(rank), RANKS_LEFT - 6, Math.max(10, y(rank) + Math.min(step / 2 + 4, high)));
  pen.save();
  pen.translate(11, high / 2); pen.rotate(-Math.PI / 2); pen.textAlign = "center"; pen.fillText("rank", 0, 0);
  pen.restore();
  drawTimeAxis(pen, RANKS_LEFT, wide, high, chart.from * 1000, chart.to * 1000, ofTheme("--line"));
  byId("ranks-says").textContent = `shown: ${time(chart.from * 1000)} to ${time(chart.to * 1000)}, ranks ${count(chart.low)} to ${count(chart.high)}`;
}
function partAt(event) {
  const box = byId("ranks-canvas").getBoundingClientRect(), rows = chart.high - chart.low + 1;
  const rank = chart.low + Math.floor(((event.clientY - box.top) / ranksHigh()) * rows);
  const ns = chart.from + ((event.clientX - box.left - RANKS_LEFT) / (box.width - RANKS_LEFT)) * (chart.to - chart.from);
  let best = null;
  for (let p = 0; p < parts.rank.length; p += 1)
    if (parts.rank[p] === rank && parts.start_ns[p] <= ns && parts.end_ns[p] >= ns && (best === null || parts.start_ns[p] > parts.start_ns[best])) best = p;
  return [best, ns];
}
function showTimes(from, to) {
  const end = Math.max(1, run.end_ps / 1000), long = Math.min(end, Math.max(1, to - from));
  chart.from = Math.min(end - long, Math.max(0, from));
  chart.to = chart.from + long;
  drawRanks();
}
function zoom(by, around) {
  const middle = around ?? (chart.from + chart.to) / 2;
  showTimes(middle - (middle - chart.from) * by, middle + (chart.to - middle) * by);
}
const shift = (by) => { const long = chart.to - chart.from; showTimes(chart.from + by * long, chart.to + by * long); };

function startRanks() {
  const canvas = byId("ranks-canvas");
  canvas.setAttribute("aria-label", `chart of ${count(parts.ranks)} ranks over time; plus and minus zoom, arrow keys move`);
  byId("zoom-in").addEventListener("click", () => zoom(0.5));
  byId("zoom-out").addEventListener("click", () => zoom(2));
  byId("earlier").addEventListener("click", () => shift(-0.5));
  byId("later").addEventListener("click", () => shift(0.5));
  byId("everything").addEventListener("click", () => { byId("rank-from").value = 0; byId("rank-to").value = parts.ranks - 1; chooseRanks(); showTimes(0, run.end_ps / 1000); });
  for (const id of ["rank-from", "rank-to"]) { byId(id).max = parts.ranks - 1; byId(id).addEventListener("change", chooseRanks); }
  byId("rank-to").value = parts.ranks - 1;
  canvas.addEventListener("keydown", (event) => {
    const act = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => shift(-0.25), ArrowRight: () => shift(0.25) }[event.key];
    if (act) { event.preventDefault(); act(); }
  });
  let dragged = null;
  canvas.addEventListener("pointerdown", (event) => { dragged = partAt(event)[1]; });
  canvas.addEventListener("pointerup", (event) => {
    const to = partAt(event)[1], from = dragged;
    dragged = null;
    if (from !== null && Math.abs(to - from) > (chart.to - chart.from) / 100) showTimes(Math.min(from, to), Math.max(from, to));
  });
  canvas.addEventListener("pointermove", (event) => { const [p] = partAt(event); showTip(event, p === null ? "" : partSays(p)); });
  canvas.addEventListener("pointerleave", hideTip);
  const left = parts.of_collectives - parts.collectives;
  byId("ranks-note").textContent = `Drag over the chart to zoom into a time. ${left > 0 ? `Only the ${count(parts.collectives)} longest of ${count(parts.of_collectives)} collectives are drawn, to keep this page small. ` : ""}Gaps are computing or waiting for something else than a collective.`;
  byId("ranks-waits").textContent = waitsSay();
  keepDrawn(() => {
    drawRanks();
    refill(byId("ranks-keys"), parts.ops.map((op, place) => make("span", {}, make("i", { style: `background:${colourOf(Math.min(place, 5))}` }), op)),
      make("span", {}, make("i", { style: `background:${colourOf(0)};opacity:.32` }), "pale: not all of its ranks have begun"));
  });
}
function waitsSay() {
  if (!parts.waited_for.length) return "No rank waited for another to begin a collective.";
  const each = ([rank, ps, number]) => `rank ${rank} (${time(ps)} of waiting in ${counted(number, "collective")})`;
  return `Most waited for, the waiting of all others added up: ${parts.waited_for.map(each).join(", ")}. Of several that began last at once the first is named.`;
}
function chooseRanks() {
  const from = Math.min(parts.ranks - 1, Math.max(0, Math.floor(Number(byId("rank-from").value)))), to = Math.floor(Number(byId("rank-to").value));
  chart.low = from;
  chart.high = Math.min(parts.ranks - 1, Math.max(from, to));
  byId("rank-from").value = chart.low;
  byId("rank-to").value = chart.high;
  drawRanks();
}

// Queue depth, link by time. The links with the longest queues; arrow keys or the mouse read a cell.
const HEAT_LINKS = 48, HEAT_ROW = 14;
const heat = { cell: null, rows: [], depth: [] };

function startHeat() {
  const longest = new Map();
  series.link.forEach((link, row) => longest.set(link, Math.max(longest.get(link) || 0, series.queue[row])));
  heat.rows = [...longest.keys()].sort((a, b) => longest.get(b) - longest.get(a)).slice(0, HEAT_LINKS);
  const place = new Map(heat.rows.map((link, i) => [link, i]));
  heat.depth = heat.rows.map(() => new Float64Array(series.slots));
  series.link.forEach((link, row) => { if (place.has(link)) heat.depth[place.get(link)][series.slot[row]] = series.queue[row]; });
  heat.top = Math.max(0, ...heat.rows.map((link) => longest.get(link)));
  const canvas = byId("heat-canvas");
  const more = longest.size > heat.rows.length ? `the ${heat.rows.length} longest queues of ${count(longest.size)}` : counted(heat.rows.length, "link");
  byId("heat-note").textContent = heat.rows.length ? `${more}; each cell is the longest of its slot of ${time(series.slot_ps)}` : "";
  canvas.setAttribute("aria-label", `heat map of queue depth, ${heat.rows.length} links by ${series.slots} slots of time; arrow keys read a cell`);
  if (!heat.rows.length) { byId("heat-says").textContent = "No queue had packets waiting when it was looked at: nothing to draw."; canvas.hidden = true; return; }
  canvas.addEventListener("keydown", moveHeat);
  canvas.addEventListener("pointermove", (event) => {
    const cell = heatCell(event);
    showTip(event, cell ? heatSays(cell) : "");
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("click", (event) => { const cell = heatCell(event); if (cell) readHeat(cell); });
  keepDrawn(drawHeat);
}
const heatLeft = () => Math.min(190, 14 + 6.6 * Math.max(...heat.rows.map((link) => linkName(link).length)));
function heatCell(event) {
  const box = byId("heat-canvas").getBoundingClientRect(), left = heatLeft();
  const row = Math.floor((event.clientY - box.top) / HEAT_ROW), slot = Math.floor(((event.clientX - box.left - left) / (box.width - left)) * series.slots);
  return row >= 0 && row < heat.rows.length && slot >= 0 && slot < series.slots ? [row, slot] : null;
}
const heatSays = ([row, slot]) => `${linkName(heat.rows[row])}: ${bytes(heat.depth[row][slot])} at ${time(slot * series.slot_ps)}`;
function readHeat(cell) {
  heat.cell = cell;
  byId("heat-says").textContent = heatSays(cell);
  drawHeat();
}
function moveHeat(event) {
  const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
  if (!step) return;
  event.preventDefault();
  const [row, slot] = heat.cell || [0, 0];
  readHeat([Math.min(heat.rows.length - 1, Math.max(0, row + step[0])), Math.min(series.slots - 1, Math.max(0, slot + step[1]))]);
}
function drawHeat() {
  const high = heat.rows.length * HEAT_ROW + 34, [pen, wide] = canvasOf(byId("heat-canvas"), high);
  const left = heatLeft(), cell = (wide - left) / series.slots, ink = ofTheme("--ink"), line = ofTheme("--line");
  pen.fillStyle = ofTheme("--tile");
  pen.fillRect(left, 0, wide - left, heat.rows.length * HEAT_ROW);
  heat.depth.forEach((row, i) => row.forEach((depth, slot) => {
    if (!depth) return;
    pen.fillStyle = heatColour(depth / heat.top);
    pen.fillRect(left + slot * cell, i * HEAT_ROW, Math.max(1, cell - (cell > 4 ? 0.5 : 0)), HEAT_ROW - 1);
  }));
  pen.fillStyle = ink;
  pen.textAlign = "right";
  heat.rows.forEach((link, i) => pen.fillText(shortened(linkName(link), Math.floor((left - 8) / 6.2)), left - 6, i * HEAT_ROW + 11));
  drawTimeAxis(pen, left, wide, heat.rows.length * HEAT_ROW, 0, series.slots * series.slot_ps, line);
  if (heat.cell) markCell(pen, left, cell);
  scaleOf(byId("heat-scale"), heat.top, bytes, "in the queue");
}
function markCell(pen, left, cell) {
  pen.strokeStyle = ofTheme("--mark");
  pen.lineWidth = 2;
  pen.strokeRect(left + heat.cell[1] * cell, heat.cell[0] * HEAT_ROW, Math.max(3, cell), HEAT_ROW);
}
function drawTimeAxis(pen, left, wide, y, from, to, line) {
  pen.fillStyle = ofTheme("--soft");
  pen.strokeStyle = line;
  const marks = ticks(from, to, Math.max(3, Math.floor((wide - left) / 120)));
  for (const value of marks) {
    const x = left + ((value - from) / (to - from)) * (wide - left);
    pen.textAlign = x > wide - 30 ? "right" : x < left + 20 ? "left" : "center";
    pen.beginPath(); pen.moveTo(x, y); pen.lineTo(x, y + 5); pen.stroke();
    pen.fillText(time(value), x, y + 17);
  }
  pen.textAlign = "center";
  pen.fillText("simulated time", left + (wide - left) / 2, y + 31);
}

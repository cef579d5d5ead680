// The fabric in tiers. Nodes stand in groups and links in bundles until somebody opens a group.
const run = JSON.parse(byId("run").textContent);
const links = run.fabric.links, series = run.series;
const linkName = (link) => `${run.fabric.names[run.fabric.links.source[link]]} → ${run.fabric.names[run.fabric.links.target[link]]}`;
const collectiveAt = new Map(run.collectives.columns.id.map((id, row) => [id, row]));
const METRICS = [
  { key: "busy", name: "utilisation", format: percent, adds: false, top: 1, whole: (l) => links.busy[l],
    at: (row) => series.busy[row], says: "of the time sending" },
  { key: "queue", name: "longest queue", format: bytes, adds: false, whole: (l) => links.max_queue_bytes[l],
    at: (row) => series.queue[row], says: "in the queue" },
  { key: "marks", name: "marks", format: count, adds: true, whole: (l) => links.ecn_marks[l],
    at: (row) => series.marks[row], says: "packets marked (ECN)" },
  { key: "drops", name: "drops", format: count, adds: true, whole: (l) => links.drops[l] + links.lost[l],
    at: (row) => series.drops[row], says: "packets dropped" },
  { key: "paused", name: "pauses", format: time, adds: false, whole: (l) => links.paused_ps[l],
    at: (row) => series.paused_ns[row] * 1000, says: "paused (PFC)" },
];
const DIRECTIONS = ["both", "up", "down"];
const view = { metric: METRICS[0], direction: "both", slot: 0, open: new Set(), chosen: null };

// where the rows of each slot of time begin; slot s of the slider is slot s - 1 of the series, 0 is the whole run
const firstRow = new Array(series.slots + 1).fill(series.slot.length);
for (let row = series.slot.length - 1; row >= 0; row -= 1) firstRow[series.slot[row]] = row;
for (let slot = series.slots - 1; slot >= 0; slot -= 1) firstRow[slot] = Math.min(firstRow[slot], firstRow[slot + 1]);

function valuesNow() { // by link: null where nothing is known
  const { metric, slot } = view;
  if (slot === 0) return links.source.map((_, l) => metric.whole(l));
  const values = new Array(links.source.length).fill(null);
  for (let row = firstRow[slot - 1]; row < firstRow[slot]; row += 1) values[series.link[row]] = metric.at(row);
  return values;
}

const tierOf = new Array(run.fabric.names.length);
run.fabric.tiers.forEach((tier, t) => tier.nodes.forEach((node) => { tierOf[node] = t; }));
const keyOf = (node) => `${tierOf[node]}/${run.fabric.group[node]}`;

function shownNodes() { // what is drawn: groups, and the members of open ones; and which of them each node belongs to
  const shown = [], place = new Array(tierOf.length);
  run.fabric.tiers.forEach((tier, t) => {
    const row = [], at = new Map();
    for (const node of tier.nodes) {
      const key = keyOf(node), isOpen = view.open.has(key), name = isOpen ? `node${node}` : key;
      if (!at.has(name)) {
        at.set(name, shown.length);
        const label = isOpen ? run.fabric.names[node].replace(/^.*?(\d+)$/, "$1") : tier.labels[run.fabric.group[node]];
        const each = { key, tier: t, label, nodes: [], isOpen };
        shown.push(each); row.push(each);
      }
      place[node] = at.get(name);
      shown[at.get(name)].nodes.push(node);
    }
    row.forEach((each, i) => { each.at = (i + 0.5) / row.length; each.space = 1 / row.length; });
  });
  return [shown, place];
}

function bundlesOf(shown, place, values) {
  const found = new Map(), adds = view.metric.adds;
  for (let l = 0; l < links.source.length; l += 1) {
    const a = place[links.source[l]], b = place[links.target[l]];
    const goesUp = shown[a].tier === shown[b].tier ? a < b : shown[a].tier < shown[b].tier;
    if (view.direction !== "both" && (view.direction === "up") !== goesUp) continue;
    const [low, high] = goesUp ? [a, b] : [b, a], key = `${low}-${high}`;
    if (!found.has(key)) found.set(key, { low, high, links: [], value: null });
    const bundle = found.get(key);
    bundle.links.push(l);
    if (values[l] !== null)
      bundle.value = bundle.value === null ? values[l] : adds ? bundle.value + values[l] : Math.max(bundle.value, values[l]);
  }
  return [...found.values()].sort((a, b) => (a.value || 0) - (b.value || 0)); // the hottest on top
}

function scaleTop(bundles) { // over time the same for all slots, so that one moment compares with another
  if (view.metric.top) return view.metric.top;
  if (view.slot === 0) return Math.max(0, ...bundles.map((bundle) => bundle.value || 0));
  const bundleOf = new Int32Array(links.source.length).fill(-1), { adds, at } = view.metric;
  bundles.forEach((bundle, i) => bundle.links.forEach((l) => { bundleOf[l] = i; }));
  let top = 0;
  for (let slot = 0; slot < series.slots; slot += 1) {
    const sums = new Float64Array(bundles.length);
    for (let row = firstRow[slot]; row < firstRow[slot + 1]; row += 1) {
      const i = bundleOf[series.link[row]], value = at(row) || 0;
      if (i >= 0) top = Math.max(top, (sums[i] = adds ? sums[i] + value : value));
    }
  }
  return top;
}

function shorten(shown, wide) { // in one tier all boxes say their range, or where it begins; or every n-th says that
  for (const t of run.fabric.tiers.keys()) {
    const row = shown.filter((each) => each.tier === t), room = (each) => (Math.min(66, each.space * wide - 3) - 4) / 6.3;
    const fits = (text) => row.every((each) => text(each).length <= room(each));
    const first = (each) => each.label.replace(/\u2013.*$/, "");
    const chosen = [(each) => each.label, first].find(fits);
    const longest = Math.max(...row.map((each) => first(each).length));
    const stride = chosen ? 1 : Math.ceil((7 * longest + 6) / (row[0].space * wide));
    row.forEach((each, i) => { each.short = i % stride ? null : (chosen || first)(each); each.isBelow = !chosen; });
  }
}

const ROW = 118, LEFT = 122, NODE = 18;
function drawFabric() {
  const host = byId("fabric-drawing"), wide = host.clientWidth, tiers = run.fabric.tiers;
  const high = ROW * (tiers.length - 1) + 40;
  const [shown, place] = shownNodes(), values = valuesNow(), bundles = bundlesOf(shown, place, values);
  const top = scaleTop(bundles), svg = shape("svg", { height: high, viewBox: `0 0 ${wide} ${high}`, role: "group",
    "aria-label": "the fabric in tiers; every box can be opened" });
  const x = (each) => LEFT + each.at * (wide - LEFT - 8), y = (each) => high - 26 - each.tier * ROW;
  const path = (bundle) => {
    const a = shown[bundle.low], b = shown[bundle.high];
    if (a.tier === b.tier) return `M${x(a)} ${y(a)}Q${(x(a) + x(b)) / 2} ${y(a) - 60} ${x(b)} ${y(b)}`;
    const down = a.tier < b.tier ? -NODE / 2 : NODE / 2, middle = (y(a) + y(b)) / 2;
    return `M${x(a)} ${y(a) + down}C${x(a)} ${middle} ${x(b)} ${middle} ${x(b)} ${y(b) - down}`;
  };
  shorten(shown, wide - LEFT - 8);
  const lines = shape("g"), hits = shape("g");
  for (const bundle of bundles) {
    const share = top ? Math.min(1, (bundle.value || 0) / top) : 0, isQuiet = !bundle.value, d = path(bundle);
    const isChosen = view.chosen && bundle.links.includes(view.chosen.links[0]) && bundle.links.length === view.chosen.links.length;
    lines.append(shape("path", { d, class: `bundle${isQuiet ? " quiet" : ""}${isChosen ? " chosen" : ""}`,
      stroke: isQuiet ? null : heatColour(share), "stroke-width": isQuiet ? 0.8 : (isChosen ? 3 : 1.2) + 2.8 * share }));
    hits.append(shape("path", { d, class: "hit", onclick: () => choose(bundle, shown),
      onpointermove: (event) => showTip(event, bundleSays(bundle, shown)), onpointerleave: hideTip }));
  }
  svg.append(lines, hits);
  tiers.forEach((tier, t) => svg.append(
    shape("text", { x: 0, y: high - 26 - t * ROW - 2, "font-weight": 600 }, tier.name),
    shape("text", { x: 0, y: high - 26 - t * ROW + 13, class: "soft" }, tierSays(tier))));
  for (const each of shown) svg.append(nodeOf(each, x(each), y(each), each.space * (wide - LEFT - 8)));
  refill(host, svg);
  const how = view.slot === 0 ? "" : ", in this slot of time";
  scaleOf(byId("fabric-scale"), top, view.metric.format,
          `${view.metric.says}${view.metric.adds ? ", all links of a bundle" : ", worst link of a bundle"}${how}`);
  byId("together").disabled = view.open.size === 0;
  host.dataset.bundles = bundles.length;
  host.dataset.hottest = bundles.length ? String(bundles[bundles.length - 1].value ?? 0) : "";
  return [bundles, shown];
}

const tierSays = (tier) => tier.labels.length < tier.nodes.length
  ? `${count(tier.nodes.length)} in ${tier.labels.length} groups` : count(tier.nodes.length);

function nodeOf(each, x, y, space) {
  const wide = Math.max(5, Math.min(66, space - 3)), names = each.nodes.map((node) => run.fabric.names[node]);
  const says = names.length === 1 ? names[0] : `${names[0]} to ${names[names.length - 1]}`;
  const isGroup = each.nodes.length > 1 || each.isOpen;
  const act = () => (isGroup ? toggle(each.key) : chooseNode(each));
  const box = shape("rect", { x: x - wide / 2, y: y - NODE / 2, width: wide, height: NODE, rx: 4 });
  const label = each.short === null ? null : shape("text", { x, y: y + (each.isBelow ? 21 : 4), "text-anchor": "middle", class: "name" }, each.short);
  return shape("g", { class: `node${each.isOpen ? " open" : ""}`, tabindex: 0, role: "button",
    "aria-label": `${says}, ${isGroup ? (each.isOpen ? "close the group" : "open the group") : "show its links"}`,
    onclick: act, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } },
    onpointermove: (event) => showTip(event, `${says}\n${isGroup ? "click: draw its members apart or together" : "click: its links"}`),
    onpointerleave: hideTip }, box, label);
}

function bundleSays(bundle, shown) {
  const names = [shown[bundle.low], shown[bundle.high]].map((each) => {
    const all = each.nodes.map((node) => run.fabric.names[node]);
    return all.length === 1 ? all[0] : `${all[0]}…${all[all.length - 1]}`;
  });
  const value = bundle.value === null ? "no queue at this moment" : `${view.metric.format(bundle.value)} ${view.metric.says}`;
  return `${names.join(" ↔ ")}: ${counted(bundle.links.length, "link")}\n${value}${bundle.links.length > 1 && !view.metric.adds ? " (worst link)" : ""}`;
}

function toggle(key) {
  if (!view.open.delete(key)) view.open.add(key);
  drawFabric();
  showDetail();
}
function choose(bundle, shown) {
  view.chosen = { links: bundle.links, says: bundleSays(bundle, shown).split("\n")[0], keys: [bundle.low, bundle.high].map((each) => shown[each].key) };
  drawFabric();
  showDetail();
}
function chooseNode(each) {
  const node = each.nodes[0], own = links.source.map((_, l) => l).filter((l) => links.source[l] === node || links.target[l] === node);
  view.chosen = { links: own, says: `${run.fabric.names[node]}: ${counted(own.length, "link")}`, keys: [] };
  drawFabric();
  showDetail();
}

const MOST_LISTED = 60;
function showDetail() {
  const box = byId("fabric-detail"), values = valuesNow(), isChosen = view.chosen !== null;
  const own = isChosen ? view.chosen.links : links.source.map((_, l) => l);
  const sorted = [...own].sort((a, b) => (values[b] || 0) - (values[a] || 0)).slice(0, isChosen ? MOST_LISTED : 8);
  const now = view.slot === 0 ? [] : [`${view.metric.name} now`];
  const head = ["link", "rate", ...now, "utilisation", "longest queue", "marks", "drops", "paused"];
  const row = (l) => [linkName(l), rate(links.rates_bps[links.rate[l]]), ...now.map(() => (values[l] === null ? "–" : view.metric.format(values[l]))),
    percent(links.busy[l]), bytes(links.max_queue_bytes[l]), count(links.ecn_marks[l]), count(links.drops[l] + links.lost[l]), time(links.paused_ps[l])];
  const cell = (tag) => (text, place) => make(tag, { class: place === 0 ? "word" : null }, text);
  const table = make("table", {}, make("thead", {}, make("tr", {}, head.map(cell("th")))),
    make("tbody", {}, sorted.map((l) => make("tr", {}, row(l).map(cell("td"))))));
  const closed = isChosen ? view.chosen.keys.filter((key) => !view.open.has(key) && run.fabric.group.filter((_, node) => keyOf(node) === key).length > 1) : [];
  const apart = closed.length ? make("button", { type: "button", onclick: () => { closed.forEach((key) => view.open.add(key)); view.chosen = null; drawFabric(); showDetail(); } }, "draw these apart") : null;
  const back = isChosen ? make("button", { type: "button", onclick: () => { view.chosen = null; drawFabric(); showDetail(); } }, "back to the worst links") : null;
  const title = isChosen ? view.chosen.says : `The links with most ${view.metric.name}`;
  const more = own.length > sorted.length && isChosen ? ` (the first ${sorted.length} by ${view.metric.name})` : "";
  refill(box, make("p", {}, make("strong", {}, title), more, " ", apart, " ", back), make("div", { class: "wide" }, table));
}

function choices(element, name, options, chosen, act) {
  options.forEach(([value, text]) => element.append(make("label", {}, make("input",
    { type: "radio", name, value, checked: value === chosen ? "" : null, onchange: () => act(value) }), ` ${text}`)));
}
function slotSays() {
  const { slot } = view;
  const says = slot === 0 ? "whole run" : `from ${time((slot - 1) * series.slot_ps)} (slot ${slot} of ${series.slots})`;
  byId("slot-says").textContent = says;
  byId("slot").setAttribute("aria-valuetext", says);
}
function startFabric() {
  const again = () => { drawFabric(); showDetail(); };
  choices(byId("metric"), "metric", METRICS.map((each) => [each.key, each.name]), view.metric.key,
          (key) => { view.metric = METRICS.find((each) => each.key === key); again(); });
  choices(byId("direction"), "direction", DIRECTIONS.map((each) => [each, each]), view.direction,
          (value) => { view.direction = value; view.chosen = null; again(); });
  const slider = byId("slot");
  slider.max = series.slots;
  slider.disabled = series.slots === 0;
  slider.addEventListener("input", () => { view.slot = Number(slider.value); slotSays(); again(); });
  byId("together").addEventListener("click", () => { view.open.clear(); view.chosen = null; again(); });
  slotSays();
  const kept = series.links_kept < series.links_sampled ? ` Here: the ${count(series.links_kept)} of ${count(series.links_sampled)} links with the longest queues.` : "";
  byId("fabric-note").textContent = series.slots === 0
    ? "No queue was long enough to be sampled, so there is nothing to show over time: figures are of the whole run."
    : `Leftmost on the slider is the whole run. Over time links are sampled every ${time(series.interval_ps)}, while packets wait in their queue; a grey link had no queue then, and its rate then was not sampled. Losses on wires and trims are counted for the whole run only.${kept}`;
  showDetail();
  keepDrawn(drawFabric);
}

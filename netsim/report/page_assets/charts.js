// Charts of every page: curves over numbers, bars over words, cells of a matrix. They are drawn anew for each width.
const PLOT = { left: 62, right: 30, top: 10, bottom: 42, high: 270 };
const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity), largest = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
const shade = (place) => ({ fill: colourOf(place), "fill-opacity": place < 6 ? 1 : 0.5 });
const dashOf = (place) => DASHES[(place + Math.floor(place / 6)) % 6];

function axisLabel(text, x, y, turned) {
  return shape("text", { class: "soft", "text-anchor": "middle", transform: `translate(${x},${y})${turned ? " rotate(-90)" : ""}` }, text);
}
function frameOf(wide, high, bottom, yTop, how) { // an empty chart with its y axis, and where a value lies
  const { left, right, top } = PLOT, y = (value) => high - bottom - (value / yTop) * (high - top - bottom);
  const svg = shape("svg", { height: high, viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `${how.yName} over ${how.xName}` });
  for (const value of ticks(0, yTop, 5)) svg.append(
    shape("line", { class: "grid", x1: left, x2: wide - right, y1: y(value), y2: y(value) }),
    shape("text", { class: "soft", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, how.yFormat(value)));
  svg.append(axisLabel(how.xName, (left + wide) / 2, high - 6), axisLabel(how.yName, 12, (high - bottom) / 2, true));
  return [svg, y];
}
function rangeOf(x, low, high, colour) {
  return low < high ? shape("path", { d: `M${x} ${low}V${high}M${x - 4} ${low}h8M${x - 4} ${high}h8`, stroke: colour, "stroke-width": 1.3 }) : "";
}
function tipOver(element, says) {
  element.addEventListener("pointermove", (event) => showTip(event, says));
  element.addEventListener("pointerleave", hideTip);
  return element;
}

// curves: [{name, x, y, low, high}], the last two where there are ranges
// how: {xName, yName, xFormat, yFormat, xLog, yTop, isStep, isFilled, base}; `from` and `to` while somebody looks closer
function curvesInto(host, curves, how) {
  const wide = host.clientWidth, { left, right, top, bottom, high } = PLOT;
  const xs = curves.flatMap((curve) => curve.x), ys = curves.flatMap((curve) => curve.high || curve.y);
  let low = how.from ?? (how.xLog ? least(xs) : Math.min(0, least(xs))), most = how.to ?? largest(xs);
  if (how.xLog && low === most) { low /= 2; most *= 2; }
  if (low === most) most = low + 1;
  const yTop = how.yTop || 1.05 * largest(ys) || 1, [svg, y] = frameOf(wide, high, bottom, yTop, how);
  const along = how.xLog ? (x) => Math.log(x / low) / Math.log(most / low) : (x) => (x - low) / (most - low);
  const x = (value) => left + along(value) * (wide - left - right);
  const marks = how.xLog ? powerTicks(low, most, how.base || 10) : ticks(low, most, Math.max(3, Math.floor(wide / 130)));
  for (const value of marks) svg.append(
    shape("line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: high - bottom }),
    shape("text", { class: "soft", x: x(value), y: high - bottom + 15, "text-anchor": "middle" }, how.xFormat(value)));
  const inside = shape("g", { "clip-path": `url(#inside-${host.id})` });
  svg.append(shape("clipPath", { id: `inside-${host.id}` }, shape("rect", { x: left - 5, width: wide - left - right + 10, height: high })), inside);
  curves.forEach((curve, place) => {
    const points = curve.x.map((value, i) => [x(value), y(curve.y[i])]), stroke = colourOf(place);
    const start = how.isStep ? `M${points[0][0]} ${y(0)}` : `M${points[0].join(" ")}`;
    const d = start + points.map(([px, py]) => (how.isStep ? `H${px}V${py}` : `L${px} ${py}`)).join("");
    const filled = how.isFilled ? { fill: stroke, "fill-opacity": 0.15 } : { fill: "none" };
    inside.append(shape("path", { d, ...filled, stroke, "stroke-width": how.isFilled ? 1 : 2, "stroke-dasharray": dashOf(place) }));
    if (!how.isStep) points.forEach(([cx, cy]) => inside.append(shape("circle", { cx, cy, r: 3, fill: stroke })));
    if (curve.low) points.forEach(([px], i) => inside.append(rangeOf(px, y(curve.high[i]), y(curve.low[i]), stroke)));
  });
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    let best = null;
    curves.forEach((curve) => curve.x.forEach((value, i) => {
      const far = (x(value) - px) ** 2 + (y(curve.y[i]) - py) ** 2;
      if (!best || far < best.far) best = { far, says: `${curve.name}\n${how.xFormat(value)}: ${how.yFormat(curve.y[i])}` };
    }));
    showTip(event, best && best.far < 2500 ? best.says : "");
  });
  svg.addEventListener("pointerleave", hideTip);
  lookCloser(svg, (px) => (px - left) / (wide - left - right), low, most, host, curves, how);
  refill(host, svg, keysOf(curves, shapeKey));
}
function lookCloser(svg, shareAt, low, most, host, curves, how) { // drag over a stretch; a double click shows all again
  const at = (event) => {
    const share = Math.min(1, Math.max(0, shareAt(event.clientX - svg.getBoundingClientRect().left)));
    return how.xLog ? low * (most / low) ** share : low + share * (most - low);
  };
  const show = (from, to) => { how.from = from; how.to = to; curvesInto(host, curves, how); };
  let began = null;
  svg.addEventListener("pointerdown", (event) => { began = at(event); });
  svg.addEventListener("pointerup", (event) => {
    const ends = [began, at(event)].sort((a, b) => a - b), part = how.xLog ? Math.log(ends[1] / ends[0]) / Math.log(most / low) : (ends[1] - ends[0]) / (most - low);
    if (began !== null && part > 0.02) show(...ends);
    began = null;
  });
  svg.addEventListener("dblclick", () => show());
}
function shapeKey(place) {
  const line = shape("svg", { width: 26, height: 8, style: "display:inline-block;width:26px;vertical-align:middle;margin-right:.35rem" });
  line.append(shape("line", { x1: 0, x2: 26, y1: 4, y2: 4, stroke: colourOf(place), "stroke-width": 2.5, "stroke-dasharray": dashOf(place) }));
  return line;
}
const squareKey = (place) => make("i", { style: `background:${colourOf(place)};opacity:${place < 6 ? 1 : 0.5}` });
const keysOf = (each, key) => make("div", { class: "keys" }, each.map(({ name }, place) => make("span", {}, key(place), name)));

// bars: [{name, y, low, high, dots}] over how.words, side by side or stacked; dots: [[value, what it is]] of each word
function barsInto(host, bars, how) {
  const wide = host.clientWidth, { left, right } = PLOT, room = (wide - left - right) / how.words.length;
  const longest = largest(how.words.map((word) => word.length)), isTurned = 6.6 * longest > room;
  const shown = (word) => (isTurned ? shortened(word, 22) : word), bottom = (how.xName ? PLOT.bottom : 24) + (isTurned ? 6 + 4.6 * Math.min(22, longest) : 0);
  const sums = how.words.map((_, i) => bars.reduce((sum, bar) => sum + (bar.y[i] || 0), 0));
  const tops = bars.flatMap((bar) => [...(bar.high || bar.y), ...(bar.dots || []).flat().map(([value]) => value)]);
  const high = PLOT.high + bottom - PLOT.bottom, [svg, y] = frameOf(wide, high, bottom, 1.05 * largest(how.isStacked ? sums : tops) || 1, how);
  const thick = Math.min(70, (0.78 * room) / (how.isStacked ? 1 : bars.length)), every = Math.ceil(14 / room);
  how.words.forEach((word, i) => {
    const middle = left + room * (i + 0.5);
    let below = 0;
    if (i % every === 0) svg.append(isTurned
      ? shape("text", { class: "soft", "text-anchor": "end", transform: `translate(${middle + 4},${high - bottom + 14}) rotate(-40)` }, shown(word))
      : shape("text", { class: "soft", x: middle, y: high - bottom + 15, "text-anchor": "middle" }, word));
    bars.forEach((bar, place) => {
      const value = bar.y[i];
      if (value === null || value === undefined) return;
      const x = how.isStacked ? middle - thick / 2 : middle + thick * (place - bars.length / 2), top = y(below + value);
      svg.append(tipOver(shape("rect", { x: x + 1, y: top, width: Math.max(1, thick - 2), height: Math.max(0, y(below) - top), ...shade(place) }), `${bar.name}\n${word}: ${how.yFormat(value)}`));
      if (bar.low) svg.append(rangeOf(x + thick / 2, y(bar.high[i]), y(bar.low[i]), ofTheme("--ink")));
      for (const [at, says] of bar.dots ? bar.dots[i] : []) svg.append(tipOver(shape("circle", { class: "dot", cx: x + thick / 2, cy: y(at), r: 3.5 }), `${word}, ${says}: ${how.yFormat(at)}`));
      if (how.isStacked) below += value;
    });
  });
  refill(host, svg, bars.length > 1 ? keysOf(bars, squareKey) : []);
}

// rows: a matrix; how: {labels, xName, yName, yFormat}; what is nothing stays empty
function cellsInto(host, rows, how) {
  const canvas = make("canvas", { role: "img", "aria-label": `${how.yName}, ${how.xName}` }), scale = make("span", { class: "scale" });
  refill(host, canvas, scale);
  const { left, bottom } = PLOT, side = Math.min(560, host.clientWidth - left - 8), cell = side / rows.length;
  const [pen] = canvasOf(canvas, side + bottom), top = largest(rows.map(largest)), every = Math.ceil((34 * rows.length) / side);
  const at = (event) => {
    const box = canvas.getBoundingClientRect(), [x, y] = [event.clientX - box.left - left, event.clientY - box.top].map((each) => Math.floor(each / cell));
    return x >= 0 && y >= 0 && x < rows.length && y < rows.length ? [y, x] : null;
  };
  pen.fillStyle = ofTheme("--tile");
  pen.fillRect(left, 0, side, side);
  rows.forEach((row, i) => row.forEach((value, k) => {
    if (value) { pen.fillStyle = heatColour(value / top); pen.fillRect(left + k * cell, i * cell, cell, cell); }
  }));
  pen.fillStyle = ofTheme("--soft");
  how.labels.forEach((label, i) => {
    if (i % every) return;
    pen.textAlign = "right"; pen.fillText(label, left - 6, (i + 0.5) * cell + 4);
    pen.textAlign = "center"; pen.fillText(label, left + (i + 0.5) * cell, side + 15);
  });
  pen.fillText(how.xName, left + side / 2, side + 33);
  pen.translate(12, side / 2); pen.rotate(-Math.PI / 2); pen.fillText(how.yName, 0, 0);
  canvas.addEventListener("pointermove", (event) => {
    const found = at(event);
    showTip(event, found ? `${found.map((place) => how.labels[place]).join(" to ")}: ${how.yFormat(rows[found[0]][found[1]])}` : "");
  });
  canvas.addEventListener("pointerleave", hideTip);
  scaleOf(scale, top, how.yFormat, "");
}
const shortened = (text, most) => (text.length > most ? `${text.slice(0, Math.ceil(most / 2))}…${text.slice(-Math.floor(most / 2) + 1)}` : text);

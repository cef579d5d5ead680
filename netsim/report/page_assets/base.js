// What every chart needs: elements, numbers with units, colours of the theme, a tip beside the mouse.
const byId = (id) => document.getElementById(id);

function dressed(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element; // texts are appended as text nodes: a name is never markup
}
const make = (tag, attributes, ...children) => dressed(document.createElement(tag), attributes, children);
const SVG = "http://www.w3.org/2000/svg";
const shape = (tag, attributes, ...children) => dressed(document.createElementNS(SVG, tag), attributes, children);
const refill = (element, ...children) => { element.replaceChildren(...children.flat()); return element; };

// numbers
const formats = [0, 1, 2].map((most) => new Intl.NumberFormat("en-US", { maximumFractionDigits: most }));
const digits = (value, most) => formats[most].format(value);
const count = (value) => digits(value, 0);
const figures = (value) => digits(value, Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);
const scaled = (value, step, units) => {
  let place = 0;
  while (place < units.length - 1 && Math.abs(value) >= step) { value /= step; place += 1; }
  return `${figures(value)} ${units[place]}`;
};
const time = (ps) => ps === 0 ? "0 µs" : Math.abs(ps) < 1000 ? `${count(ps)} ps` : scaled(ps / 1000, 1000, ["ns", "µs", "ms", "s"]);
const bytes = (value) => scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const size = (value) => // of a message: as people write it, 2 MB or 256 KiB
  value >= 1000 && value % 1000 === 0 ? scaled(value, 1000, ["B", "kB", "MB", "GB", "TB"]) : bytes(value);
const rate = (bps) => scaled(bps / 1e9, 1000, ["Gb/s", "Tb/s"]);
const percent = (share) => `${digits(100 * share, Math.abs(share) < 0.0995 ? 1 : 0)} %`;
const times = (ratio) => `${digits(ratio, 2)} ×`;
const counted = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;

// axes: at most `most` round values from 0 to `top`; powers where the axis is logarithmic
function ticks(low, top, most) {
  const raw = (top - low) / most || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= top * (1 + 1e-9); value += step) found.push(value);
  return found;
}
function powerTicks(low, top, base) {
  const found = [];
  for (let power = Math.floor(Math.log(low) / Math.log(base)); base ** power <= top * 1.0001; power += 1)
    if (base ** power >= low * 0.9999) found.push(base ** power);
  const every = Math.ceil(found.length / 7);
  return found.filter((_, place) => place % every === 0);
}

// colours: viridis (perceptually uniform, told apart by the colour-blind), from what looks like paper to what stands out
const VIRIDIS = ["440154", "482878", "3e4a89", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"]
  .map((hex) => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16)));
const OKABE_ITO = { light: ["#0072b2", "#d55e00", "#009e73", "#b0579a", "#a67c00", "#4a4a4a"],
                    dark: ["#56b4e9", "#e69f00", "#2fc79a", "#e49ac4", "#f0e442", "#c8ccd2"] };
const DASHES = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 2"];
const prefers = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (prefers.matches ? "dark" : "light")) === "dark";
const ofTheme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function heatColour(share) {
  const at = (isDark() ? 0.12 + 0.88 * share : 0.9 * (1 - share)) * (VIRIDIS.length - 1);
  const low = Math.min(VIRIDIS.length - 2, Math.floor(at)), part = at - low;
  return `rgb(${VIRIDIS[low].map((value, c) => Math.round(value + part * (VIRIDIS[low + 1][c] - value))).join(",")})`;
}
const colourOf = (place) => OKABE_ITO[isDark() ? "dark" : "light"][place % 6];
function scaleOf(element, top, format, says) {
  const steps = [0, 0.25, 0.5, 0.75, 1].map(heatColour).join(",");
  refill(element, make("span", {}, format(0)), make("i", { style: `background:linear-gradient(90deg,${steps})` }),
         make("span", {}, format(top)), make("span", {}, says));
}

// drawing again: when the theme or the width changes
const drawings = [];
const redraw = () => drawings.forEach((draw) => draw());
function keepDrawn(draw) { drawings.push(draw); draw(); }
const LEAST_WIDTH = 280; // pixels: narrower is a page being printed or hidden, not read
let width = 0, waiting = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth === width || document.body.clientWidth < LEAST_WIDTH) return;
  width = document.body.clientWidth;
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(redraw);
}).observe(document.body);
prefers.addEventListener("change", redraw);
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  redraw();
});

// the tip
const tip = byId("tip");
function showTip(event, text) {
  tip.textContent = text;
  tip.style.display = text ? "block" : "none";
  if (!text) return;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - box.width - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 14, window.innerHeight - box.height - 8)}px`;
}
const hideTip = () => { tip.style.display = "none"; };

function canvasOf(canvas, height) {
  const ratio = window.devicePixelRatio || 1, wide = canvas.parentElement.clientWidth;
  canvas.width = wide * ratio; canvas.height = height * ratio; canvas.style.height = `${height}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "11px system-ui, sans-serif";
  return [pen, wide];
}

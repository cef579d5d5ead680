// The charts of a page, each drawn in the place that waits for it.
const FORMATS = { size, percent, figures };
const DRAW = { curves: curvesInto, bars: barsInto, cells: cellsInto };
JSON.parse(byId("charts").textContent).forEach(({ shape: kind, data, how }, number) => {
  for (const axis of ["xFormat", "yFormat"]) how[axis] = FORMATS[how[axis]];
  keepDrawn(() => DRAW[kind](byId(`plot${number}`), data, how));
});
document.documentElement.dataset.ready = "yes";

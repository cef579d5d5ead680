// Tables that sort by any column and filter by text.
const FIRST_ROWS = 20;

// columns: [{name, values, format, isWord}]
function tableInto(host, columns, note) {
  const size = columns[0].values.length, state = { by: null, down: true, filter: "", shown: FIRST_ROWS };
  const text = (column, row) => { const value = column.values[row]; return value === null || value === undefined ? "–" : column.format ? column.format(value) : String(value); };
  const body = make("tbody"), says = make("span", { class: "soft", "aria-live": "polite" });
  const more = make("button", { type: "button", onclick: () => { state.shown *= 4; fill(); } }, "show more");
  const heads = columns.map((column, place) => make("th", { class: column.isWord ? "word" : null, scope: "col" },
    make("button", { class: "sorting", type: "button", onclick: () => sortBy(place) }, column.name)));
  const filter = make("input", { type: "search", placeholder: "filter, e.g. spine", "aria-label": "filter rows by text",
    oninput: () => { state.filter = filter.value.trim().toLowerCase(); state.shown = FIRST_ROWS; fill(); } });
  function sortBy(place) {
    state.down = state.by === place ? !state.down : !columns[place].isWord;
    state.by = place;
    fill();
  }
  const texts = new Array(size); // of whole rows, made when first asked for: a large table is filtered while one types
  const textOfRow = (row) => (texts[row] ??= columns.map((column) => text(column, row)).join("\t").toLowerCase());
  function rows() {
    let found = [...Array(size).keys()];
    if (state.filter) found = found.filter((row) => textOfRow(row).includes(state.filter));
    if (state.by === null) return found;
    const values = columns[state.by].values, sign = state.down ? -1 : 1;
    const isNone = (value) => value === null || value === undefined;
    return found.sort((a, b) => {
      const [x, y] = [values[a], values[b]];
      if (isNone(x) || isNone(y)) return isNone(x) - isNone(y); // what is not known comes last
      return sign * (typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y) || a - b;
    });
  }
  function fill() {
    const found = rows();
    refill(body, found.slice(0, state.shown).map((row) => make("tr", {}, columns.map((column) => make("td", { class: column.isWord ? "word" : null }, text(column, row))))));
    heads.forEach((head, place) => {
      if (place === state.by) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      head.firstChild.textContent = columns[place].name + (place === state.by ? (state.down ? " ▾" : " ▴") : "");
    });
    says.textContent = `${count(Math.min(state.shown, found.length))} of ${counted(found.length, "row")}${note ? `; ${note}` : ""}`;
    more.hidden = found.length <= state.shown;
  }
  host.append(make("div", { class: "controls" }, filter, says),
    make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, heads)), body)), more);
  fill();
  return { sortBy };
}

function linkColumns() {
  const name = (ends) => ends.map((node) => run.fabric.names[node]);
  return [
    { name: "from", values: name(links.source), isWord: true }, { name: "to", values: name(links.target), isWord: true },
    { name: "kind", values: links.kind.map((kind) => links.kinds[kind]), isWord: true },
    { name: "rate", values: links.rate.map((place) => links.rates_bps[place]), format: rate },
    { name: "utilisation", values: links.busy, format: percent }, { name: "bytes", values: links.bytes, format: bytes },
    { name: "longest queue", values: links.max_queue_bytes, format: bytes }, { name: "mean queue", values: links.mean_queue, format: bytes },
    { name: "marked", values: links.ecn_marks, format: count }, { name: "dropped", values: links.drops, format: count },
    { name: "lost on wire", values: links.lost, format: count }, { name: "trimmed", values: links.trims, format: count },
    { name: "pauses", values: links.pauses_sent, format: count }, { name: "paused", values: links.paused_ps, format: time },
  ];
}
function columnsOf(table, named) {
  return named.map(([key, name, format]) => ({ name, values: table.columns[key], format, isWord: format === undefined }));
}
const gigabytes = (value) => `${figures(value)} GB/s`;
function startTables() {
  tableInto(byId("table-links"), linkColumns()).sortBy(6);
  const kept = (table) => (table.columns[table.worst].length < table.of ? `the worst of ${count(table.of)}, the Parquet table has all` : "");
  tableInto(byId("table-collectives"), columnsOf(run.collectives, [
    ["id", "id", count], ["op", "operation"], ["algorithm", "algorithm"], ["group", "group"], ["stream", "stream"], ["ranks", "ranks", count],
    ["bytes", "bytes", size], ["start_ps", "start", time], ["time_ps", "time", time], ["ideal_ps", "ideal", time], ["slowdown", "slowdown", times],
    ["algbw_gbs", "algbw", gigabytes], ["busbw_gbs", "busbw", gigabytes]]), kept(run.collectives));
  tableInto(byId("table-flows"), columnsOf(run.flows, [
    ["collective", "collective", count], ["src", "from rank", count], ["dst", "to rank", count], ["channel", "channel", count], ["bytes", "bytes", size],
    ["start_ps", "start", time], ["delivered_ps", "delivered", time], ["ideal_ps", "ideal", time], ["slowdown", "slowdown", times],
    ["packets", "packets", count], ["retransmitted", "retransmitted", count], ["marked", "marked", count], ["dropped", "dropped", count]]), kept(run.flows));
}

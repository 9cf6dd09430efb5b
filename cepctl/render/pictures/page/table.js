// The table of matches: only the rows of one page exist; an opened row is followed by its detail.

const ROWS = 50;

// One returned value leaves the events room beside it.
const BESIDE_EVENTS = 1;

function matchTable(report, columns, onsort) {
  const state = { listed: [], page: 0, opened: new Set() };
  const [head, body] = byId("matches").children;
  const beside = columns.filter((column) => !column.beneath);

  function showHead(sort) {
    head.replaceChildren(element("tr", {}, element("th", { class: "toggle" }, element("span", { class: "hidden" }, "Open")), ...beside.map((column, at) => heading(column, at, sort))));
  }

  function heading(column, at, sort) {
    const sorted = sort.column === at ? (sort.descending ? "descending" : "ascending") : "none";
    const sign = { ascending: " ▲", descending: " ▼", none: "" }[sorted];
    return element(
      "th",
      { scope: "col", "aria-sort": sorted, class: [column.numeric ? "number" : "", column.returned ? "returned" : ""].join(" ").trim() || null },
      element("button", { type: "button", onclick: () => onsort(at) }, column.name, element("span", { class: "sign", "aria-hidden": "true" }, sign)),
    );
  }

  function list(matches) {
    state.listed = matches;
    turn(0);
  }

  function pages() {
    return Math.max(1, Math.ceil(state.listed.length / ROWS));
  }

  function turn(page) {
    state.page = Math.min(pages() - 1, Math.max(0, page));
    const shown = state.listed.slice(state.page * ROWS, (state.page + 1) * ROWS);
    body.replaceChildren(...shown.flatMap((match) => rowsOf(match)));
    if (!shown.length) body.append(element("tr", {}, element("td", { colspan: beside.length + 1, class: "none" }, "No match is listed.")));
    byId("page-shown").textContent = `Page ${state.page + 1} of ${pages()}`;
    byId("first-page").disabled = byId("previous-page").disabled = state.page === 0;
    byId("last-page").disabled = byId("next-page").disabled = state.page === pages() - 1;
    byId("pager").hidden = pages() === 1;
  }

  function rowsOf(match) {
    // On a phone a row is a card, whose cells say what they are.
    const named = (column) => {
      const cell = column.cell(match);
      cell.dataset.name = column.name;
      return cell;
    };
    const opened = (click) => opens(click, match, row);
    const row = element("tr", { class: "match", "data-rank": match.rank, onclick: opened });
    const button = element("button", { type: "button", class: "opener", "aria-label": `Timeline of ${matchText(match)}` });
    row.append(element("td", { class: "toggle" }, button), ...beside.map((column) => named(column)));
    const beneath = columns.filter((column) => column.beneath).map((column) => {
      const cell = named(column);
      cell.colSpan = beside.length;
      return element("tr", { class: "beneath", onclick: opened }, element("td", { class: "toggle" }), cell);
    });
    mark(row, state.opened.has(match.rank));
    return [row, ...beneath, ...(state.opened.has(match.rank) ? [detailRow(match)] : [])];
  }

  function mark(row, open) {
    const button = row.querySelector(".opener");
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "▾" : "▸";
    row.classList.toggle("open", open);
  }

  function detailRow(match) {
    return element("tr", { class: "detail" }, element("td", { colspan: beside.length + 1 }, detail(report, match)));
  }

  function opens(click, match, row) {
    if (window.getSelection().toString() && !click.target.closest("button")) return;
    const open = !state.opened.has(match.rank);
    const last = columns.some((column) => column.beneath) ? row.nextElementSibling : row;
    if (open) {
      state.opened.add(match.rank);
      last.after(detailRow(match));
    } else {
      state.opened.delete(match.rank);
      last.nextElementSibling.remove();
    }
    mark(row, open);
  }

  function keys(press) {
    const openers = [...body.querySelectorAll(".opener")];
    const at = openers.indexOf(document.activeElement);
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: openers.length - 1 };
    if (press.key in moves && (at >= 0 || press.key === "ArrowDown")) {
      openers[Math.min(openers.length - 1, Math.max(0, moves[press.key]))]?.focus();
    } else if (press.key === "PageDown" || press.key === "PageUp") {
      turn(state.page + (press.key === "PageDown" ? 1 : -1));
      body.querySelector(".opener")?.focus();
    } else {
      return;
    }
    press.preventDefault();
  }

  byId("scroller").addEventListener("keydown", keys);
  byId("first-page").addEventListener("click", () => turn(0));
  byId("previous-page").addEventListener("click", () => turn(state.page - 1));
  byId("next-page").addEventListener("click", () => turn(state.page + 1));
  byId("last-page").addEventListener("click", () => turn(pages() - 1));
  return { showHead, list };
}

// What each column shows and sorts by.
function tableColumns(report) {
  const day = dayOfAll(report);
  const dated = (name) => (day === null ? name : `${name}\n(${day})`);
  const moment = (tick) => element("td", { class: "moment" }, withoutDay(tickText(report, tick), day));
  const columns = report.columns.map((name, at) => {
    const numeric = report.matches.every(({ cells }) => cells[at] === null || typeof cells[at] === "number");
    const cell = (match) => element("td", { class: numeric ? "number" : null }, match.cells[at] === null ? "" : String(match.cells[at]));
    return { name, numeric, returned: true, value: (match) => match.cells[at], cell };
  });
  columns.push(
    { name: "confidence", numeric: true, value: (match) => Math.round(match.confidence * 1e9), cell: confidenceCell },
    { name: dated("start"), value: (match) => Number(match.start), cell: (match) => moment(match.start) },
    { name: dated("end"), value: (match) => Number(match.end), cell: (match) => moment(match.end) },
  );
  const isReturned = report.columns.some((_, at) => report.matches.every(({ key, cells }) => String(cells[at]) === key));
  if (report.keyCounts !== null && !isReturned) {
    columns.push({ name: `[${report.keyCounts.name}]`, value: (match) => match.key, cell: (match) => element("td", {}, match.key) });
  }
  if (report.rawTimes.judged && report.foundAtRawTimes !== null) {
    columns.push({ name: "raw\ntimes", value: (match) => match.raw, cell: (match) => element("td", {}, match.raw ?? "") });
  }
  const beneath = report.columns.length > BESIDE_EVENTS;
  columns.push({ name: "match", beneath, value: matchText, cell: (match) => element("td", { class: "ids" }, matchText(match)) });
  return columns;
}

// The day of all matches, null when they lie on several.
function dayOfAll(report) {
  const earliest = report.matches.reduce((least, { start }) => (Number(start) < Number(least) ? start : least), Infinity);
  const latest = report.matches.reduce((most, { end }) => (Number(end) > Number(most) ? end : most), -Infinity);
  return report.matches.length ? commonDay([tickText(report, earliest), tickText(report, latest)]) : null;
}

// What it would be without the law of order, where there is one.
function withoutLaw(lawless) {
  return lawless === null || lawless === undefined ? "" : ` (${evenPercent(lawless)} without the law)`;
}

function confidenceCell(match) {
  const bar = element("span", { class: "meter", "aria-hidden": "true" }, element("span", {}));
  bar.firstChild.style.width = `${100 * match.confidence}%`;
  const shown = evenPercent(match.confidence);
  const error = match.error ? ` ± ${match.error}` : "";
  return element("td", { class: "number", title: `${match.confidence}${error}` }, bar, `${shown}${error}${withoutLaw(match.lawless)}`);
}

// Confidences are compared as the run orders them, to nine decimals.  Nothing sorts last whichever way, numbers before texts; equal ones keep the order of the run.
function compared(left, right) {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left !== typeof right) return typeof left === "number" ? -1 : 1;
  return left < right ? -1 : Number(left > right);
}

function sorted(matches, column, descending) {
  const sign = descending ? -1 : 1;
  const keyed = matches.map((match) => ({ match, value: column.value(match) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null) || a.match.rank - b.match.rank;
    return sign * compared(a.value, b.value) || a.match.rank - b.match.rank;
  });
  return keyed.map(({ match }) => match);
}

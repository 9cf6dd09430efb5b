// The keys of GROUP BY: a line each with its probability and its best match drawn small, opened to its matches.

const KEYS_AT_ONCE = 200;
const SMALL = { width: 260, lane: 7, lanes: 8, axis: 14 };

function showKeys(report) {
  const section = byId("answers");
  const list = element("div", { class: "answers" });
  const more = element("button", { type: "button", onclick: () => show() });
  let shown = 0;
  const show = () => {
    const lines = report.keys.lines.slice(shown, shown + KEYS_AT_ONCE);
    list.append(...lines.map((line) => answer(report, line)));
    shown += lines.length;
    more.hidden = shown === report.keys.lines.length;
    more.textContent = `Show ${Math.min(KEYS_AT_ONCE, report.keys.lines.length - shown)} more`;
  };
  section.hidden = false;
  section.append(list, ...(report.matches.length ? [smallLegend()] : []), more);
  if (report.keys.lines.length) {
    const first = report.keys.lines[0];
    byId("best-title").textContent = `${keyText(report, first)}: its most probable match`;
    byId("best").hidden = false;
    byId("best").append(...best(report, report.matches[first.rows[0]]));
  }
  if (report.keys.lines.length < report.keys.total) {
    section.append(element("p", { class: "hint" },
      `These are the ${counted(report.keys.lines.length, "key")} with the highest probability, of ${report.keys.total.toLocaleString("en")}.`));
  }
  show();
}

function keyText(report, line) {
  return line.key.map((value) => (value === null ? "null" : String(value))).join(", ") || "any match";
}

function answer(report, line) {
  const likeliest = report.matches[line.rows[0]];
  const rows = element("div", { class: "rows" });
  const opened = element(
    "details",
    { class: "answer" },
    element(
      "summary",
      {},
      element("span", { class: "key-name" }, keyText(report, line)),
      element("span", { class: "number chance" }, ...occurrenceBar(line)),
      element("span", { class: "number expected", title: String(line.expected) }, `expected ${Number(line.expected.toPrecision(3)).toLocaleString("en")}`),
      element("span", { class: "number" }, `best ${probabilityText(line.confidence)}`),
      small(report, likeliest),
    ),
    rows,
  );
  opened.addEventListener("toggle", () => {
    if (opened.open && !rows.childElementCount) rows.append(...rowsOf(report, line));
  });
  return opened;
}

function occurrenceBar({ occurrence, occurrence_error: error, lawless }) {
  if (occurrence === null) return [element("span", { title: "too costly to compute exactly" }, "not known")];
  const bar = element("span", { class: "meter", "aria-hidden": "true" }, element("span", {}));
  bar.firstChild.style.width = `${100 * occurrence}%`;
  const said = `${evenPercent(occurrence)}${error ? ` ± ${error}` : ""}${withoutLaw(lawless)}`;
  return [bar, element("span", { title: String(occurrence) }, said)];
}

function rowsOf(report, line) {
  const matches = line.matches === null ? "more matches than can be counted here" : counted(line.matches, "match", "matches");
  const listed = line.rows.length === line.matches ? matches : `${line.rows.length.toLocaleString("en")} of ${matches}`;
  const note = element("p", { class: "hint" }, report.keys.bestAlone ? `The most probable of ${matches}.` : `${listed}, the most probable first.`);
  return [note, ...line.rows.map((number, at) => rowOf(report, report.matches[number], at === 0))];
}

function rowOf(report, match, open) {
  const [from, to] = [tickText(report, match.start), tickText(report, match.end)];
  const drawing = element("div", {});
  const row = element(
    "details",
    { class: "row" },
    element(
      "summary",
      {},
      element("span", { class: "number", title: String(match.confidence) }, `${evenPercent(match.confidence)}${match.error ? ` ± ${match.error}` : ""}${withoutLaw(match.lawless)}`),
      element("span", { class: "moment" }, `${readable(from)} to ${withoutDay(to, commonDay([from, to]))}`),
      match.raw === null ? null : element("span", { class: "hint" }, `raw times: ${match.raw}`),
      element("span", { class: "ids" }, matchText(match)),
    ),
    drawing,
  );
  row.addEventListener("toggle", () => {
    if (row.open && !drawing.childElementCount) drawing.append(detail(report, match));
  });
  row.open = open;
  return row;
}

// A match without words: a line per event, pale where it can be at all, strong where the match can use it.
function small(report, match) {
  const bound = match.bound.slice(0, SMALL.lanes);
  const [from, to] = shownSpan(report, match, "intervals");
  const place = (tick) => ((Number(tick) - from) / (to - from)) * SMALL.width;
  const bar = (kind, lower, upper, top) =>
    drawn("rect", { class: kind, x: place(lower), width: Math.max(2, place(Number(upper) + 1) - place(lower)), y: top + 1, height: SMALL.lane - 2 });
  const lanes = bound.flatMap(({ event, validLower, validUpper }, number) => [
    bar("stretch-ground", event.lower, event.upper, number * SMALL.lane),
    bar("mass", validLower, validUpper, number * SMALL.lane),
    ...(event.time === null ? [] : [smallRaw(place(Number(event.time) / report.unit), number * SMALL.lane)]),
  ]);
  const height = SMALL.lane * bound.length + SMALL.axis;
  const { marks, step } = axisMarks(report, from, to, 2);
  const axis = marks.flatMap((mark) => [
    drawn("line", { class: "grid", x1: place(mark), x2: place(mark), y1: 0, y2: height - SMALL.axis }),
    drawn("text", { class: "mark", x: Math.min(SMALL.width - 26, Math.max(26, place(mark))), y: height - 2, "text-anchor": "middle" }, axisText(report, mark, step)),
  ]);
  return drawn(
    "svg",
    { class: "timeline small", width: SMALL.width, height, viewBox: `0 0 ${SMALL.width} ${height}`, role: "img", "aria-label": spoken(report, match) },
    titled(spoken(report, match)),
    ...axis,
    ...lanes,
  );
}

function smallLegend() {
  const kinds = [["pale", "interval"], ["mass", "part of it that the match can use"], ["raw", "raw time of the log"]];
  return element("ul", { class: "legend" }, ...kinds.map(([kind, text]) => element("li", {}, element("span", { class: `swatch ${kind}` }), text)));
}

function smallRaw(x, top) {
  return drawn("line", { class: "raw", x1: x, x2: x, y1: top, y2: top + SMALL.lane });
}

// A match drawn on one axis of time: a lane per event with its interval, mass, valid part and raw time.

const LANE = 40;
const WINDOW = 24;
const TOP = 30;
const GUTTER = 190;
const LETTER = 7.3;
const MARGIN = 18;
const TIE = 9;
let drawings = 0;

// `span` is "intervals" (all that the events could be) or "possible" (the range of the match).
function timeline(report, match, span, width) {
  const [from, to] = shownSpan(report, match, span);
  const gutter = Math.min(GUTTER, 0.35 * width);
  const shared = sharedClocks(report, match);
  const plot = Math.max(120, width - gutter - MARGIN - TIE * shared.length);
  const place = (tick) => gutter + ((tick - from) / (to - from)) * plot;
  const scale = { place, left: gutter, right: gutter + plot, from, to };
  const top = TOP + (report.window === null ? 0 : WINDOW);
  const height = top + LANE * match.bound.length + 30;
  const plotName = `plot-${(drawings += 1)}`;
  const tops = match.bound.map((_, number) => top + LANE * number);
  return drawn(
    "svg",
    { class: "timeline", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spoken(report, match) },
    drawn("defs", {}, hatch(), drawn("clipPath", { id: plotName }, drawn("rect", { x: gutter, y: 0, width: plot, height }))),
    axis(report, scale, top, height, plot),
    bracket(report, match, scale, top),
    ...match.bound.map(({ variable, event }, number) => label(variable, event, tops[number], gutter)),
    drawn("g", { "clip-path": `url(#${plotName})` }, ...match.bound.map((bound, number) => lane(report, bound, tops[number], scale))),
    ...match.bound.flatMap(({ event }, number) => rawMarks(report, event, tops[number], scale)),
    ...shared.map((clock, number) => tie(report, clock, tops, scale.right + MARGIN - 3 + TIE * number)),
  );
}

// The clocks that stamped several events of a match: what each is called, and the lanes of its events.
function sharedClocks(report, match) {
  const lanes = new Map();
  if (report.clocks === undefined) return [];
  match.bound.forEach(({ event }, number) => {
    const name = event.attributes.find(([attribute]) => attribute === "clock")?.[1];
    if (name !== undefined) lanes.set(name, [...(lanes.get(name) ?? []), number]);
  });
  return [...lanes].filter(([, numbers]) => numbers.length > 1).map(([name, numbers]) => ({ name, numbers }));
}

// A line beside the lanes whose events move together.
function tie(report, { name, numbers }, tops, x) {
  const at = numbers.map((number) => tops[number] + 17);
  const [least, most] = report.clocks[name].map((ticks) => offsetText(report, Number(ticks)));
  return drawn(
    "g",
    { class: "clock" },
    titled(`clock ${name}, ${least} to ${most}: these events move together`),
    drawn("path", { d: `M ${x} ${at[0]} V ${at.at(-1)}` }),
    ...at.map((y) => drawn("circle", { cx: x, cy: y, r: 3.5 })),
  );
}

// Ticks from the left to the right edge of the drawing, with some air; the window if it nearly fits.
function shownSpan(report, match, span) {
  let least = Number(match.start);
  let most = Number(match.end) + 1;
  if (span === "intervals") {
    for (const { event } of match.bound) {
      least = Math.min(least, Number(event.lower));
      most = Math.max(most, Number(event.upper) + 1);
      if (event.time !== null) {
        least = Math.min(least, Number(event.time) / report.unit);
        most = Math.max(most, Number(event.time) / report.unit);
      }
    }
  }
  const windowEnd = Number(match.start) + Number(report.window ?? 0);
  if (windowEnd > most && windowEnd - least < 1.3 * (most - least)) most = windowEnd;
  const air = 0.03 * (most - least);
  return [least - air, most + air];
}

function axis(report, scale, top, height, plot) {
  const { marks, step } = axisMarks(report, scale.from, scale.to, Math.max(2, plot / 110));
  const lines = marks.flatMap((mark) => [
    drawn("line", { class: "grid", x1: scale.place(mark), x2: scale.place(mark), y1: top - 6, y2: height - 24 }),
    drawn("text", { class: "mark", x: scale.place(mark), y: height - 8, "text-anchor": "middle" }, axisText(report, mark, step)),
  ]);
  return drawn("g", {}, ...lines);
}

// The range of the match, and above it the window, as long as first and last event may be apart.
function bracket(report, match, scale, top) {
  const start = clipped(scale, scale.place(Number(match.start)));
  const end = clipped(scale, scale.place(Number(match.end) + 1));
  const parts = [
    drawn("text", { class: "mark", x: 0, y: top - 10 }, "match can lie in"),
    drawn("rect", { class: "range", x: start, width: Math.max(2, end - start), y: top - 18, height: 8, rx: 2 },
      titled(`match: ${readable(tickText(report, match.start))} to ${readable(tickText(report, match.end))}`)),
  ];
  if (report.window !== null) {
    const length = spanText(Number(report.window) * report.unit);
    const beyond = scale.place(Number(match.start) + Number(report.window));
    const right = clipped(scale, beyond);
    const close = beyond > scale.right ? `l 6 0 m -5 -4 l 5 4 l -5 4` : "v 9";
    parts.push(
      drawn("text", { class: "mark", x: 0, y: 22 }, "window"),
      drawn("path", { class: "window", d: `M ${start} 25 v -9 H ${right} ${close}` },
        titled(`window: first and last event less than ${length} apart; drawn from the earliest possible start`)),
      drawn("text", { class: "mark", x: (start + right) / 2, y: 12, "text-anchor": "middle" }, `within ${length}`),
    );
  }
  return drawn("g", {}, ...parts);
}

function lane(report, { event, validLower, validUpper }, top, scale) {
  const at = (tick) => cutOff(scale, scale.place(Number(tick)));
  const after = (tick) => cutOff(scale, scale.place(Number(tick) + 1));
  const left = at(event.lower);
  const right = Math.max(left + 3, after(event.upper));
  const [validLeft, validRight] = [at(validLower), Math.max(at(validLower) + 3, after(validUpper))];
  const mass = massOf(event).map((bucket) =>
    drawn("rect", {
      class: "mass", x: at(bucket.lo), width: Math.max(3, after(bucket.hi) - at(bucket.lo)), y: top + 8, height: 18,
      "fill-opacity": (0.12 + 0.78 * bucket.shade).toFixed(3),
    }, titled(`${percent(bucket.share)}${event.lasts ? " under way" : ""} from ${readable(tickText(report, bucket.from))} to ${readable(tickText(report, bucket.to))}`)),
  );
  const cut = [[left, validLeft], [validRight, right]].filter(([from, to]) => to - from > 0.5).map(([from, to]) =>
    drawn("rect", { class: "cut", x: from, width: to - from, y: top + 8, height: 18, fill: "url(#hatch)" },
      titled("the pattern leaves no room here: this part of the interval cannot be used")));
  return drawn(
    "g",
    { class: "lane" },
    drawn("line", { class: "base", x1: scale.left, x2: scale.right, y1: top + 17, y2: top + 17 }),
    ...mass,
    ...cut,
    drawn("rect", { class: "interval", x: left, width: right - left, y: top + 8, height: 18, rx: 2 }),
    drawn("path", { class: "valid", d: `M ${validLeft} ${top + 27} v 5 H ${validRight} v -5` },
      titled(`can be used: ${readable(tickText(report, validLower))} to ${readable(tickText(report, validUpper))}`)),
  );
}

// What is added to a reading is by how much the clock is behind.
function offsetText(report, ticks) {
  if (ticks === 0) return "on time";
  return `${spanText(Math.abs(ticks) * report.unit)} ${ticks > 0 ? "behind" : "ahead"}`;
}

function label(variable, event, top, gutter) {
  const letters = Math.floor(gutter / LETTER);
  const name = variable === event.type ? variable : `${variable}: ${event.type}`;
  return drawn(
    "svg",
    { x: 0, y: top, width: gutter - 12, height: LANE },
    titled(`${name}\n${event.id}`),
    drawn("text", { class: "variable", x: 0, y: 15 }, name),
    drawn("text", { class: "id", x: 0, y: 30 }, event.id.length > letters ? `…${event.id.slice(1 - letters)}` : event.id),
  );
}

function rawMarks(report, event, top, scale) {
  const times = [[event.time, "raw time"], [event.lasts?.endTime ?? null, "raw end"]];
  return times.filter(([time]) => time !== null).map(([time, name]) => rawMark(report, time, name, top, scale));
}

function rawMark(report, time, name, top, scale) {
  const x = scale.place(Number(time) / report.unit);
  let shape = `M ${x} ${top + 4} V ${top + 30} M ${x - 4} ${top + 1} h 8 l -4 5 z`;
  // Beyond the drawing: an arrow at its edge.
  if (x < scale.left) shape = `M ${scale.left - 2} ${top + 17} l 7 -5 v 10 z`;
  if (x > scale.right) shape = `M ${scale.right + 8} ${top + 17} l -7 -5 v 10 z`;
  return drawn("path", { class: "raw", d: shape }, titled(`${name}: ${readable(rawText(report, time))}`));
}

function hatch() {
  return drawn(
    "pattern",
    { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    drawn("rect", { class: "hatch-ground", width: 6, height: 6 }),
    drawn("line", { class: "hatch-line", x1: 0, x2: 0, y1: 0, y2: 6 }),
  );
}

function clipped(scale, x) {
  return Math.min(scale.right, Math.max(scale.left, x));
}

// Just outside, where it is clipped: drawings of an interval that goes on show no end.
function cutOff(scale, x) {
  return Math.min(scale.right + 20, Math.max(scale.left - 20, x));
}

function titled(text) {
  return drawn("title", {}, text);
}

function spoken(report, match) {
  const lanes = match.bound.map(
    ({ event, variable, validLower, validUpper }) =>
      `${variable} ${event.id} between ${readable(tickText(report, validLower))} and ${readable(tickText(report, validUpper))}`,
  );
  return `Timeline of ${counted(match.bound.length, "event")}: ${lanes.join("; ")}`;
}

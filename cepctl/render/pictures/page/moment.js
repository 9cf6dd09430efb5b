// Ticks as text.  A tick is counted from the origin of the document: a number, or a text where it is large.

const DAY = 86_400_000_000_000n;
const SECOND = 1_000_000_000n;
const NICE_SPANS = [
  ...[1, 10, 100, 1e3, 1e4, 1e5].flatMap((power) => [power, 2 * power, 5 * power]),
  ...[1e6, 1e7, 1e8].flatMap((power) => [power, 2 * power, 5 * power]),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * 1e9),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * 6e10),
  ...[1, 2, 3, 6, 12].map((count) => count * 3.6e12),
  ...[1, 10, 100, 1e3, 1e4, 1e5].flatMap((power) => [1, 2, 5].map((count) => count * power * 8.64e13)),
];

// Nanoseconds since 1970 of a tick, and of a raw time.
function nanoseconds(report, tick) {
  return (BigInt(report.origin) + BigInt(tick)) * BigInt(report.unit);
}

function rawNanoseconds(report, time) {
  return BigInt(report.origin) * BigInt(report.unit) + BigInt(time);
}

function fractionDigits(unit) {
  return [0, 3, 6, 9].find((digits) => unit % 10 ** (9 - digits) === 0);
}

// ISO 8601 in UTC, null beyond the calendar.
function isoText(nanos, digits) {
  let whole = nanos / SECOND;
  let rest = nanos % SECOND;
  if (rest < 0n) {
    whole -= 1n;
    rest += SECOND;
  }
  const date = new Date(Number(whole) * 1000);
  if (Number.isNaN(date.getTime())) return null;
  const fraction = digits ? `.${String(rest).padStart(9, "0").slice(0, digits)}` : "";
  return `${date.toISOString().replace(/\.\d+Z$/, "")}${fraction}Z`;
}

function tickText(report, tick) {
  const text = isoText(nanoseconds(report, tick), fractionDigits(report.unit));
  return text ?? `tick ${BigInt(report.origin) + BigInt(tick)}`;
}

function rawText(report, time) {
  const nanos = rawNanoseconds(report, time);
  const digits = [0, 3, 6, 9].find((each) => nanos % 10n ** BigInt(9 - each) === 0n);
  return isoText(nanos, Math.max(digits, fractionDigits(report.unit))) ?? `${nanos} ns`;
}

function readable(iso) {
  return iso.replace("T", " ").replace(/Z$/, "");
}

// The one day of all given ISO texts, null when there are several.
function commonDay(texts) {
  const days = new Set(texts.map((text) => text.slice(0, text.indexOf("T"))));
  return days.size === 1 && texts.every((text) => text.includes("T")) ? [...days][0] : null;
}

function withoutDay(text, day) {
  return readable(day !== null && text.startsWith(`${day}T`) ? text.slice(day.length + 1) : text);
}

// A length of time with the largest unit that keeps it a short number: 48 s, 1.5 h.
function spanText(nanos) {
  const units = [["d", 8.64e13], ["h", 3.6e12], ["min", 6e10], ["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  const [name, length] = units.find(([, size]) => nanos >= size) ?? units.at(-1);
  return `${Number((nanos / length).toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 6 })} ${name}`;
}

// Places of axis marks between two ticks: offsets, at multiples of a length that people count in.
function axisMarks(report, from, to, most) {
  const span = (to - from) * report.unit;
  const wanted = NICE_SPANS.find((length) => length % report.unit === 0 && span / length <= most);
  const step = (wanted ?? Math.ceil(span / most / report.unit) * report.unit) / report.unit;
  const phase = Number(BigInt(report.origin) % BigInt(step));
  const marks = [];
  for (let mark = Math.ceil((from + phase) / step) * step - phase; mark <= to; mark += step) marks.push(mark);
  return { marks, step: step * report.unit };
}

function axisText(report, mark, step) {
  if (!Number.isSafeInteger(mark)) return "";
  const nanos = nanoseconds(report, mark);
  if (step >= Number(DAY)) return (isoText(nanos, 0) ?? "").slice(0, 10);
  const digits = fractionDigits(step);
  const text = isoText(nanos, digits) ?? "";
  const time = text.slice(text.indexOf("T") + 1, -1);
  return step % 6e10 === 0 ? time.slice(0, 5) : time;
}

// Ticks as text.  A tick is counted from the origin of the document: a number, or a text where it is large.

const DAY = 86_400_000_000n;
const NICE_SPANS = [
  ...[1, 10, 100, 1e3, 1e4, 1e5].flatMap((power) => [power, 2 * power, 5 * power]),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * 1e6),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * 6e7),
  ...[1, 2, 3, 6, 12].map((count) => count * 3.6e9),
  ...[1, 10, 100, 1e3, 1e4, 1e5].flatMap((power) => [1, 2, 5].map((count) => count * power * 8.64e10)),
];

// Microseconds since 1970 of a tick, and of a raw time.
function microseconds(report, tick) {
  return (BigInt(report.origin) + BigInt(tick)) * BigInt(report.unit);
}

function rawMicroseconds(report, time) {
  return BigInt(report.origin) * BigInt(report.unit) + BigInt(time);
}

function fractionDigits(unit) {
  if (unit % 1e6 === 0) return 0;
  return unit % 1e3 === 0 ? 3 : 6;
}

// ISO 8601 in UTC, null beyond the calendar.
function isoText(micros, digits) {
  let whole = micros / 1_000_000n;
  let rest = micros % 1_000_000n;
  if (rest < 0n) {
    whole -= 1n;
    rest += 1_000_000n;
  }
  const date = new Date(Number(whole) * 1000);
  if (Number.isNaN(date.getTime())) return null;
  const fraction = digits ? `.${String(rest).padStart(6, "0").slice(0, digits)}` : "";
  return `${date.toISOString().replace(/\.\d+Z$/, "")}${fraction}Z`;
}

function tickText(report, tick) {
  const text = isoText(microseconds(report, tick), fractionDigits(report.unit));
  return text ?? `tick ${BigInt(report.origin) + BigInt(tick)}`;
}

function rawText(report, time) {
  const micros = rawMicroseconds(report, time);
  const digits = micros % 1_000_000n === 0n ? 0 : micros % 1000n === 0n ? 3 : 6;
  return isoText(micros, Math.max(digits, fractionDigits(report.unit))) ?? `${micros} µs`;
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
function spanText(micros) {
  const units = [["d", 8.64e10], ["h", 3.6e9], ["min", 6e7], ["s", 1e6], ["ms", 1e3], ["µs", 1]];
  const [name, length] = units.find(([, size]) => micros >= size) ?? units.at(-1);
  return `${Number((micros / length).toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 6 })} ${name}`;
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
  const micros = microseconds(report, mark);
  if (step >= Number(DAY)) return (isoText(micros, 0) ?? "").slice(0, 10);
  const digits = step % 1e6 === 0 ? 0 : step % 1e3 === 0 ? 3 : 6;
  const text = isoText(micros, digits) ?? "";
  const time = text.slice(text.indexOf("T") + 1, -1);
  return step % 6e7 === 0 ? time.slice(0, 5) : time;
}

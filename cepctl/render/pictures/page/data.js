// The document of the page (cepctl/render/pictures/document.py) as matches and events by name.

function readReport() {
  const report = JSON.parse(byId("data").textContent);
  report.events = report.events.map((event, row) => ({ ...readEvent(report, event), recorded: report.recorded?.[row] ?? null }));
  report.matches = report.matches.map((match, rank) => readMatch(report, match, rank));
  return report;
}

function readEvent(report, [id, type, source, lower, upper, time, buckets, parts, bar]) {
  const attributes = [];
  for (let at = 0; at < parts.length; at += 2) attributes.push([report.names[parts[at]], parts[at + 1]]);
  // Of an event that lasts the buckets say how probable it is that it is under way, times their ticks.
  const lasts = bar ? { startUpper: bar[0], endLower: bar[1], endTime: bar[2] } : null;
  return { id, type: report.types[type], source: report.sources[source], lower, upper, time, buckets, lasts, attributes };
}

function readMatch(report, [alternative, groups, start, end, confidence, error, valid, key, cells, lawless = null], rank) {
  const bound = [];
  groups.forEach((group, place) => {
    for (const event of [group].flat()) {
      const at = 2 * bound.length;
      bound.push({
        event: report.events[event],
        variable: report.variables[alternative][place],
        validLower: valid[at],
        validUpper: valid[at + 1],
      });
    }
  });
  const ids = groups.map((group) => [group].flat().map((event) => report.events[event].id));
  return { rank, ids, bound, start, end, confidence, error, key, cells, lawless, raw: rawVerdict(report, rank), searched: null };
}

// Whether a search at raw times finds the match; empty where nobody can tell.
function rawVerdict(report, rank) {
  const found = report.foundAtRawTimes?.[rank] ?? null;
  return found === null ? null : found ? "found" : "missed";
}

// The match as `cepctl match` writes it.
function matchText(match) {
  const encoded = (id) => id.replaceAll("%", "%25").replaceAll(" ", "%20").replaceAll("+", "%2B");
  return match.ids.map((group) => group.map(encoded).join("+")).join(" ");
}

// What the text filter looks into: made when first asked for.
function searchedText(match) {
  if (match.searched === null) {
    const parts = [matchText(match), match.key, match.raw, ...match.cells];
    for (const { event } of match.bound) {
      parts.push(event.id, event.type, event.source);
      for (const [name, value] of event.attributes) parts.push(`${name}=${value}`);
    }
    match.searched = parts.filter((part) => part !== null).join("\n").toLowerCase();
  }
  return match.searched;
}

// The probability mass of an event: buckets with their share, and how dense each is beside the densest.
function massOf(event) {
  const buckets = event.buckets ?? [[event.lower, event.upper, 1]];
  const total = buckets.reduce((sum, [, , share]) => sum + share, 0);
  const density = buckets.map(([lo, hi, share]) => share / (Number(hi) - Number(lo) + 1));
  const densest = Math.max(...density);
  return buckets.map(([lo, hi, share], at) => ({
    lo: Number(lo), hi: Number(hi), from: lo, to: hi, share: event.lasts ? density[at] : share / total, shade: density[at] / densest,
  }));
}

// The page: what it says of the run, its charts, and the one filter that all parts obey.

function main() {
  const report = readReport();
  const columns = tableColumns(report);
  const filter = { words: [], minimum: 0, confidence: null, time: null, key: null };
  const sort = { column: columns.findIndex((column) => column.name === "confidence"), descending: true };
  const table = matchTable(report, columns, (at) => {
    Object.assign(sort, { column: at, descending: sort.column === at ? !sort.descending : Boolean(columns[at].numeric) });
    update();
  });
  const charts = reportCharts(report, (chart, bin) => {
    filter[chart] = filter[chart] === bin ? null : bin;
    update();
  });

  function update() {
    const kept = report.matches.filter((match) => passes(report, match, filter));
    table.showHead(sort);
    table.list(sorted(kept, columns[sort.column], sort.descending));
    for (const chart of charts) chart.show(chart.counts(kept), filter[chart.name]);
    byId("minimum-shown").textContent = filter.minimum.toFixed(2);
    byId("status").textContent =
      kept.length === report.matches.length
        ? `All ${counted(kept.length, "match", "matches")} listed`
        : `${kept.length.toLocaleString("en")} of ${counted(report.matches.length, "match", "matches")} listed`;
  }

  byId("filter").addEventListener("input", (event) => {
    filter.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    update();
  });
  byId("minimum").addEventListener("input", (event) => {
    filter.minimum = Number(event.target.value);
    update();
  });
  byId("reset").addEventListener("click", () => {
    Object.assign(filter, { words: [], minimum: 0, confidence: null, time: null, key: null });
    byId("filter").value = "";
    byId("minimum").value = "0";
    update();
  });
  introduce(report);
  byId("charts").append(...charts.map((chart) => chart.figure));
  update();
}

function passes(report, match, filter) {
  return (
    match.confidence >= filter.minimum - 1e-9 &&
    (filter.confidence === null || confidenceBin(report, match) === filter.confidence) &&
    (filter.time === null || timeBin(report, match) === filter.time) &&
    (filter.key === null || match.key === report.keyCounts.keys[filter.key]) &&
    filter.words.every((word) => searchedText(match).includes(word))
  );
}

function introduce(report) {
  const total = counted(report.total, "match", "matches");
  const facts = [
    report.bestOnly ? "only the most probable were asked for" : null,
    report.strategy.replaceAll("_", " "),
    report.window === null ? "no window" : `within ${spanText(Number(report.window) * report.unit)}`,
    `one tick is ${spanText(report.unit)}`,
    "times in UTC",
    missedText(report),
  ];
  byId("title").textContent = `${total} in ${counted(report.eventCount, "event")}`;
  document.title = `${total} – cepctl`;
  byId("facts").textContent = facts.filter((fact) => fact !== null).join(" · ");
  byId("query-text").textContent = report.query.trim();
  byId("footer").textContent = `Made by cepctl ${report.version}. This page asks nothing of the network.`;
  if (report.matches.length < report.total) {
    byId("limited").hidden = false;
    byId("limited").textContent =
      `This page lists the ${report.matches.length.toLocaleString("en")} matches with the highest confidence, ` +
      `of ${report.total.toLocaleString("en")}. The pale bars below count them all.`;
  }
}

function missedText({ rawTimes: { judged, missed, untimed } }) {
  if (!judged) return null;
  const of = untimed ? ` of ${judged.toLocaleString("en")} with raw times` : "";
  return `raw times alone would have missed ${missed.toLocaleString("en")}${of}`;
}

function confidenceBin(report, match) {
  const bins = report.confidenceCounts.length;
  return Math.min(bins - 1, Math.floor(match.confidence * bins));
}

function timeBin(report, match) {
  return Math.floor((Number(match.start) - Number(report.timeCounts.first)) / report.timeCounts.width);
}

function tally(kept, bins, binOf) {
  const counts = new Array(bins).fill(0);
  for (const match of kept) {
    const bin = binOf(match);
    if (bin >= 0) counts[bin] += 1;
  }
  return counts;
}

function reportCharts(report, onpick) {
  if (!report.total) return [];
  const charts = [confidenceChart(report, onpick), timeChart(report, onpick)];
  if (report.keyCounts !== null) charts.push(keyChart(report, onpick));
  return charts;
}

function confidenceChart(report, onpick) {
  const totals = report.confidenceCounts;
  const names = totals.map((_, bin) => `confidence ${(bin / totals.length).toFixed(2)} to ${((bin + 1) / totals.length).toFixed(2)}`);
  const chart = histogram({
    title: "Matches by confidence", note: "", names, totals, axis: ["0", "0.25", "0.5", "0.75", "1"],
    onpick: (bin) => onpick("confidence", bin),
  });
  return { ...chart, name: "confidence", counts: (kept) => tally(kept, totals.length, (match) => confidenceBin(report, match)) };
}

function timeChart(report, onpick) {
  const { first, width, counts: totals } = report.timeCounts;
  const edge = (bin) => tickText(report, Number(first) + bin * width);
  const names = totals.map((_, bin) => `start from ${readable(edge(bin))}, ${spanText(width * report.unit)}`);
  const ends = [edge(0), edge(totals.length)].map((text) => (width * report.unit % 1e6 ? text : text.replace(/\.0+Z$/, "Z")));
  const day = commonDay(ends);
  const chart = histogram({
    title: "Matches by start", note: `bars of ${spanText(width * report.unit)}`,
    names, totals, axis: [readable(ends[0]), withoutDay(ends[1], day)], onpick: (bin) => onpick("time", bin),
  });
  return { ...chart, name: "time", counts: (kept) => tally(kept, totals.length, (match) => timeBin(report, match)) };
}

function keyChart(report, onpick) {
  const { name, keys, counts: totals, other_keys: others, other_matches: theirs } = report.keyCounts;
  const place = new Map(keys.map((key, at) => [key, at]));
  const rest = others ? `and ${counted(theirs, "match", "matches")} of ${counted(others, "more key", "more keys")}` : null;
  const chart = keyBars({ title: `Matches by ${name}`, note: "", keys, totals, rest, onpick: (at) => onpick("key", at) });
  return { ...chart, name: "key", counts: (kept) => tally(kept, keys.length, (match) => place.get(match.key) ?? -1) };
}

main();

// The page: what it says of the run, its charts, and the one filter that all parts obey.

const FEWEST_CHARTED = 10;

function main() {
  const report = readReport();
  introduce(report);
  showStrip(report);
  if (report.keys === null) showMatches(report);
  else showKeys(report);
}

function showMatches(report) {
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
  if (report.matches.length) {
    byId("best").hidden = false;
    byId("best").append(...best(report, report.matches[0]));
  }
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
  const total = report.keys === null ? counted(report.total, "match", "matches") : counted(report.keys.total, "key");
  const facts = [
    report.bestOnly ? "only the most probable were asked for" : null,
    report.strategy.replaceAll("_", " "),
    report.window === null ? "no window" : `within ${spanText(Number(report.window) * report.unit)}`,
    `one tick is ${spanText(report.unit)}`,
    "times in UTC",
    missedText(report),
  ];
  const counts = `${total} in ${counted(report.eventCount, "event")}`;
  byId("title").textContent = report.title ?? counts;
  byId("headline").textContent = headline(report, report.title === null ? null : counts);
  document.title = `${report.title ?? total} – cepctl`;
  byId("facts").textContent = facts.filter((fact) => fact !== null).join(" · ");
  byId("query-text").textContent = report.query.trim();
  if (report.whyNot !== null) {
    byId("why-not").hidden = false;
    byId("why-not-text").textContent = report.whyNot;
  }
  for (const part of ["controls", "pager", "scroller", "table-help"]) byId(part).hidden = report.keys !== null || !report.matches.length;
  byId("footer").textContent = `Made by cepctl ${report.version}. This page asks nothing of the network.`;
  if (report.keys === null && report.matches.length < report.total) {
    byId("limited").hidden = false;
    byId("limited").textContent =
      `This page lists the ${report.matches.length.toLocaleString("en")} matches with the highest confidence, ` +
      `of ${report.total.toLocaleString("en")}. The pale bars below count them all.`;
  }
}

// What was found, in one sentence; `counts` is null where the title says how much it is.
function headline(report, counts) {
  const found = counts === null ? "" : report.bestOnly ? `The most probable ${counts}` : counts;
  if (report.keys !== null) return counts === null ? `${report.keys.answer}.` : `${found}; ${report.keys.answer}.`;
  if (!report.matches.length) return counts === null ? "" : `${found}.`;
  const [first] = report.matches;
  const named = report.columns.slice(0, 4).map((name, at) => (first.cells[at] === null ? null : `${name} ${first.cells[at]}`));
  const [from, to] = [tickText(report, first.start), tickText(report, first.end)];
  const told = [...named.filter((text) => text !== null), `from ${readable(from)} to ${withoutDay(to, commonDay([from, to]))}`];
  const which = report.total === 1 ? "it holds" : "the first holds";
  const begun = counts === null ? `${which[0].toUpperCase()}${which.slice(1)}` : `${found}; ${which}`;
  const law = report.laws ? ` under ${report.laws.join(" and ")}${withoutLaw(first.lawless)}` : "";
  return `${begun} with a probability of ${probabilityText(first.confidence)}${law}: ${told.join(", ")}.`;
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
  // A few rows, or a single bar, say no more than the table does.
  if (report.total < FEWEST_CHARTED) return [];
  const varied = (counts) => counts.filter((count) => count > 0).length > 1;
  const charts = [];
  if (varied(report.confidenceCounts)) charts.push(confidenceChart(report, onpick));
  if (varied(report.timeCounts.counts)) charts.push(timeChart(report, onpick));
  if (report.keyCounts !== null && report.keyCounts.keys.length > 1) charts.push(keyChart(report, onpick));
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
  const ends = [edge(0), edge(totals.length)].map((text) => (width * report.unit % 1e9 ? text : text.replace(/\.0+Z$/, "Z")));
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

// A notebook shows the page in a frame, which is to be as high as the page.
function tellHeight() {
  parent.postMessage({ cepctlHeight: Math.ceil(document.documentElement.getBoundingClientRect().height) }, "*");
}

main();
if (parent !== window) new ResizeObserver(tellHeight).observe(document.documentElement);

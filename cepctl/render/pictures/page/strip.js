// All the time of the events on one strip: where a sketch leaves room for matches, and where they are.

const STRIP = 22;

function showStrip(report) {
  if (report.strip === null) return;
  const { count, share } = report.strip;
  const stage = element("div", { class: "stage" });
  const draw = () => stage.replaceChildren(strip(report, Math.max(300, stage.clientWidth)));
  byId("strip").hidden = false;
  byId("strip-told").textContent = count
    ? `By the sketch, in ${counted(count, "stretch", "stretches")} of time, ${shareText(share)} of all, and nowhere else. The lines are the matches that are listed.`
    : "By the sketch, nowhere.";
  byId("strip").append(stage);
  new ResizeObserver(draw).observe(stage);
  draw();
}

function shareText(share) {
  return share < 1e-4 ? "less than 0.01 %" : percent(share);
}

function strip(report, width) {
  const { stretches, count } = report.strip;
  const [from, to] = [Number(report.strip.first), Number(report.strip.last) + 1];
  const plot = width - 2 * MARGIN;
  const place = (tick) => MARGIN + ((Number(tick) - from) / (to - from)) * plot;
  const scale = { place, left: MARGIN, right: MARGIN + plot, from, to };
  const height = STRIP + 36;
  const seen = new Set(report.matches.map((match) => Math.round(place((Number(match.start) + Number(match.end) + 1) / 2))));
  return drawn(
    "svg",
    { class: "timeline", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${counted(count, "stretch", "stretches")} of time where matches can be, ${counted(report.matches.length, "match", "matches")} listed` },
    axis(report, scale, 8, height, plot),
    drawn("rect", { class: "stretch-ground", x: MARGIN, width: plot, y: 4, height: STRIP, rx: 2 }),
    ...stretches.map(([start, end]) =>
      drawn("rect", { class: "stretch", x: place(start), width: Math.max(2, place(Number(end) + 1) - place(start)), y: 4, height: STRIP },
        titled(`matches can be from ${readable(tickText(report, start))} to ${readable(tickText(report, end))}`))),
    ...[...seen].map((x) => drawn("line", { class: "raw", x1: x, x2: x, y1: 1, y2: STRIP + 7 })),
  );
}

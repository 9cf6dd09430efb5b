// The page of a calibration: its headline, the picture of its deciles, and the types of rows.

const SIDE = 360, LEFT = 58, RIGHT = 24, TOP = 10, BARS = 70, GAP = 12;
const CLEARLY = 1.5, SIGMAS = 4;
let wide = SIDE;

function across(share) {
  return LEFT + share * wide;
}

function above(share) {
  return TOP + (1 - share) * SIDE;
}

function score(value) {
  return value === null ? "not known" : value.toFixed(3);
}

function reliability(deciles, without, width) {
  wide = Math.max(200, width - LEFT - RIGHT);
  const height = TOP + SIDE + GAP + BARS + 36, base = TOP + SIDE + GAP + BARS;
  const picture = drawn("svg", { class: "reliability", width: LEFT + wide + RIGHT, height, viewBox: `0 0 ${LEFT + wide + RIGHT} ${height}`, role: "img", "aria-label": "Stated probability against the share that happened" });
  for (let tenth = 0; tenth <= 10; tenth += 2) {
    const share = tenth / 10;
    picture.append(
      drawn("line", { class: "grid", x1: across(share), x2: across(share), y1: above(1), y2: above(0) }),
      drawn("line", { class: "grid", x1: across(0), x2: across(1), y1: above(share), y2: above(share) }),
      drawn("text", { class: "mark", x: LEFT - 6, y: above(share) + 4, "text-anchor": "end" }, `${10 * tenth} %`),
      drawn("text", { class: "mark", x: across(share), y: base + 16, "text-anchor": "middle" }, `${10 * tenth} %`),
    );
  }
  picture.append(
    drawn("text", { class: "mark", x: across(0.5), y: base + 30, "text-anchor": "middle" }, "stated"),
    drawn("text", { class: "mark", x: 0, y: 0, "text-anchor": "middle", transform: `translate(14 ${above(0.5)}) rotate(-90)` }, "happened"),
  );
  picture.append(drawn("line", { class: "right", x1: across(0), y1: above(0), x2: across(1), y2: above(1) }));
  const most = Math.max(1, ...deciles.map((decile) => decile[2]));
  for (const decile of deciles) picture.append(...marks(decile, most, base));
  for (const [, , rows, stated, happened] of without ?? []) {
    if (!rows) continue;
    const told = `Without the law: ${counted(rows, "row")} stated at ${percent(stated)} on average: ${percent(happened)} happened`;
    picture.append(drawn("circle", { class: "without", cx: across(stated), cy: above(happened), r: 4.5 }, drawn("title", {}, told)));
  }
  return picture;
}

function marks([from, to, rows, stated, happened, low, high], most, base) {
  if (!rows) return [];
  const told = `${counted(rows, "row")} stated at ${percent(stated)} on average: ${percent(happened)} happened (95 %: ${percent(low)} to ${percent(high)})`;
  const tall = Math.max(1, (BARS * rows) / most);
  return [
    drawn("rect", { class: "count", x: across(from) + 1, y: base - tall, width: across(to) - across(from) - 2, height: tall }, drawn("title", {}, told)),
    drawn("line", { class: "reach", x1: across(stated), x2: across(stated), y1: above(low), y2: above(high) }),
    drawn("circle", { class: "dot", cx: across(stated), cy: above(happened), r: 4.5 }, drawn("title", {}, told)),
  ];
}

function typeOf(type) {
  const gap = type.stated === null ? "" : `${type.happened >= type.stated ? "+" : "−"}${(100 * Math.abs(type.happened - type.stated)).toFixed(1)}`;
  const name = type.steps.length ? type.steps.join(" → ") : "All keys";
  return element("details", { class: "answer type" },
    element("summary", {},
      element("span", { class: "key-name" }, name),
      element("span", { class: "number" }, counted(type.rows, "row")),
      element("span", { class: "number" }, type.stated === null ? "" : `stated ${percent(type.stated)}`),
      element("span", { class: "number" }, `happened ${percent(type.happened)}`),
      element("span", { class: "number" }, gap)),
    element("div", { class: "rows wide" },
      element("p", { class: "hint" }, `The ${counted(type.shown.length, "row")} that are farthest off`),
      element("table", {},
        element("thead", {}, element("tr", {}, ...["Stated", "Happened", "Seed", "Event", "Step", "True time", "By what was read"].map((name, at) => element("th", { class: at < 3 ? "number" : null }, name)))),
        element("tbody", {}, ...type.shown.flatMap(linesOf)))));
}

function linesOf([seed, stated, happened, events]) {
  const first = [evenPercent(stated), happened ? "yes" : "no", String(seed)];
  return (events.length ? events : [["", "", "", "", ""]]).map(([id, step, time, lower, upper], at) =>
    element("tr", { class: "shown" },
      ...first.map((text) => element("td", { class: "number" }, at ? "" : text)),
      element("td", { class: "ids" }, id),
      element("td", {}, step),
      element("td", { class: "moment" }, time),
      element("td", { class: "moment" }, lower === upper ? lower : `${lower} … ${upper}`)));
}

function scoresOf(scores) {
  return `Brier score ${score(scores.brier)}, log score ${score(scores.logScore)}, calibration error ${score(scores.calibrationError)}, worst gap ${score(scores.worst)}`;
}

// What a person wants to know: how far the worst type of rows is off, else the worst tenth.  Of some types and ten
// tenths a few are somewhat off by chance, so only what is clearly off counts.
function verdict(found) {
  const whole = (share) => `${Math.round(100 * share)} %`;
  for (const { steps, rows, stated, happened } of found.types) {
    const deviation = Math.sqrt((stated * (1 - stated)) / rows);
    if (stated !== null && Math.abs(happened - stated) > SIGMAS * deviation) {
      return `Not calibrated: rows stated ${whole(stated)} happened ${whole(happened)} of the time (${steps.join(" → ")})`;
    }
  }
  return verdictOf(found.deciles, whole);
}

function verdictOf(deciles, whole) {
  const known = deciles.filter(([, , rows]) => rows);
  const off = ([, , , stated, happened]) => Math.abs(happened - stated);
  const clearly = known.filter((decile) => off(decile) > CLEARLY * (decile[6] - decile[5]) / 2);
  const said = ([, , , stated, happened]) => `rows stated ${whole(stated)} happened ${whole(happened)} of the time`;
  const worst = (some) => some.reduce((one, other) => (off(other) > off(one) ? other : one));
  if (clearly.length) return `Not calibrated: ${said(worst(clearly))}`;
  return `Calibrated, as far as these rows tell: at worst ${said(worst(known))}`;
}

function show(found) {
  const title = found.title ?? (found.query === null ? "Which of two events was first" : "A query");
  document.title = `Calibration: ${title}`;
  byId("title").textContent = title;
  byId("headline").textContent = found.open ? verdict(found) : "No row is open: the blur leaves nothing uncertain";
  byId("scores").textContent = found.open ? scoresOf(found) : "";
  if (found.lawless !== null && found.open) {
    byId("without").hidden = false;
    byId("without").textContent = `Without the law of order of each ${found.law}: ${scoresOf(found.lawless)}`;
    byId("without-told").hidden = false;
  }
  const law = found.law === null ? "" : `, under the law of order of each ${found.law}`;
  const beyond = found.beyond ? `, ${found.beyond.toLocaleString("en")} too much work under the law` : "";
  const seeds = found.repeat === 1 ? `seed ${found.seed}` : `seeds ${found.seed} to ${found.seed + found.repeat - 1}`;
  byId("facts").textContent = `Times hidden by ${found.blur}, ${seeds}${law}. ${counted(found.rows, "row")}: ${found.open.toLocaleString("en")} open, ${found.certain.toLocaleString("en")} certain, ${found.tied.toLocaleString("en")} tied in truth and left out${beyond}.`;
  if (found.query !== null) {
    byId("query").hidden = false;
    byId("query-text").textContent = found.query;
  }
  if (found.impossible) {
    byId("limited").hidden = false;
    byId("limited").textContent = `${counted(found.impossible, "row")} came out that cannot: certain ones that did not happen, or others that did.`;
  }
  const stage = byId("reliability");
  const draw = () => stage.replaceChildren(reliability(found.deciles, found.lawless?.deciles, stage.clientWidth));
  new ResizeObserver(draw).observe(stage);
  draw();
  if (found.types.length) {
    byId("types").hidden = false;
    const some = found.typeCount > found.types.length ? ` The first ${found.types.length} of ${found.typeCount.toLocaleString("en")} are listed.` : "";
    byId("types-told").textContent = `Those come first of which the most rows happened more or less often than was stated.${some}`;
    byId("types-list").append(...found.types.map(typeOf));
  }
  byId("footer").textContent = `cepctl ${found.version}`;
}

show(JSON.parse(byId("data").textContent));

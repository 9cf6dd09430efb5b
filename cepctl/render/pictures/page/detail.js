// An opened match: its timeline, what the marks mean, and the same numbers as a table.

function detail(report, match) {
  const stage = element("div", { class: "stage" });
  const choices = [["intervals", "Whole intervals"], ["possible", "Possible part only"]].map(([span, text]) =>
    element("button", { type: "button", "data-span": span, onclick: () => choose(span) }, text),
  );
  let chosen = "intervals";
  const draw = () => stage.replaceChildren(timeline(report, match, chosen, Math.max(300, stage.clientWidth)));
  const choose = (span) => {
    chosen = span;
    for (const button of choices) button.setAttribute("aria-pressed", String(button.dataset.span === span));
    draw();
  };
  const sized = new ResizeObserver(draw);
  sized.observe(stage);
  choose(chosen);
  const zoom = element("div", { class: "zoom", role: "group", "aria-label": "What the timeline shows" }, ...choices);
  const relations = report.relations.map((text) => element("p", { class: "relation" }, text));
  return element("div", { class: "opened" }, element("div", { class: "above" }, legend(report, match), zoom), stage, ...relations, eventTable(report, match));
}

// The most probable match, drawn where it is seen without a click.
function best(report, match) {
  const stage = element("div", { class: "stage" });
  const draw = () => stage.replaceChildren(timeline(report, match, "intervals", Math.max(300, stage.clientWidth)));
  new ResizeObserver(draw).observe(stage);
  draw();
  return [stage, legend(report, match)];
}

function legend(report, match) {
  const entry = (kind, text) => element("li", {}, element("span", { class: `swatch ${kind}` }), text);
  const lasting = match.bound.some(({ event }) => event.lasts);
  const points = match.bound.some(({ event }) => !event.lasts);
  const histograms = match.bound.some(({ event }) => event.buckets !== null && !event.lasts);
  const raw = match.bound.some(({ event }) => event.time !== null);
  return element(
    "ul",
    { class: "legend" },
    lasting ? entry("mass varied", "stronger where more probably under way") : null,
    points ? entry(histograms ? "mass varied" : "mass", histograms ? "interval, stronger where more probable" : "interval, every tick equally probable") : null,
    entry("valid", "part that can be used"),
    entry("cut", "part that cannot"),
    raw ? entry("raw", "raw time of the log") : null,
    sharedClocks(report, match).length ? entry("clock", "one clock: these events move together") : null,
  );
}

function eventTable(report, match) {
  const recorded = match.bound.some(({ event }) => event.recorded !== null);
  const heads = ["event", "type", "id", "raw time", "interval", "can be used", ...(recorded ? ["its clock, as recorded"] : []), "source", "attributes"];
  const rows = match.bound.map(({ event, variable, validLower, validUpper }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, variable),
      element("td", {}, event.type),
      element("td", { class: "ids" }, event.id),
      element("td", { class: "moment" }, event.time === null ? "none" : readable(rawText(report, event.time)), ...rawEnd(report, event)),
      element("td", { class: "moment" }, ...interval(report, event)),
      element("td", { class: "moment" }, ...between(report, validLower, validUpper)),
      recorded ? element("td", { class: "recorded" }, event.recorded ?? "") : null,
      element("td", { class: "ids" }, event.source ?? ""),
      element("td", {}, attributeList(event.attributes)),
    ),
  );
  return element(
    "div",
    { class: "wide" },
    element(
      "table",
      { class: "events" },
      element("caption", {}, "Events of the match, times in UTC"),
      element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
      element("tbody", {}, ...rows),
    ),
  );
}

function rawEnd(report, event) {
  const time = event.lasts?.endTime ?? null;
  return time === null ? [] : [element("br"), `until ${readable(rawText(report, time))}`];
}

// The interval of an event; of one that lasts those of its start and of its end.
function interval(report, event) {
  if (!event.lasts) return between(report, event.lower, event.upper);
  const start = between(report, event.lower, event.lasts.startUpper);
  return [...start, element("br"), "until ", ...between(report, event.lasts.endLower, event.upper)];
}

function between(report, lower, upper) {
  const [from, to] = [tickText(report, lower), tickText(report, upper)];
  if (from === to) return [readable(from)];
  const day = commonDay([from, to]);
  return [readable(from), element("br"), `to ${day === null ? readable(to) : withoutDay(to, day)}`];
}

function attributeList(attributes) {
  const pairs = attributes.map(([name, value]) =>
    element("span", { class: "attribute" }, element("span", { class: "name" }, name), " ", String(value)),
  );
  return element("div", { class: "attributes" }, ...pairs);
}

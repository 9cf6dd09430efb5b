// A row of bars, each a button that keeps only its own matches; arrow keys move from bar to bar.
// Behind each bar, pale, stands the count of all matches of the run; in front those that the filter keeps.

function histogram({ title, note, names, totals, axis, onpick }) {
  const most = Math.max(1, ...totals);
  const bars = totals.map((total, bin) =>
    element(
      "button",
      { type: "button", class: "bar", tabindex: bin ? -1 : 0, "aria-pressed": "false", onclick: () => onpick(bin) },
      element("span", { class: "all" }),
      element("span", { class: "kept" }),
    ),
  );
  const row = element("div", { class: "bars", role: "group", "aria-label": title, onkeydown: (press) => rove(press, bars) }, ...bars);
  const figure = element(
    "figure",
    { class: "chart" },
    element("figcaption", {}, element("strong", {}, title), " ", element("span", { class: "hint" }, note),
      element("span", { class: "hint most" }, `up to ${most.toLocaleString("en")} a bar`)),
    row,
    element("div", { class: "axis", "aria-hidden": "true" }, ...axis.map((text) => element("span", {}, text))),
  );
  const show = (kept, picked) => {
    bars.forEach((bar, bin) => {
      const said = `${names[bin]}: ${counted(totals[bin], "match", "matches")}, ${kept[bin].toLocaleString("en")} listed`;
      bar.title = said;
      bar.setAttribute("aria-label", said);
      bar.setAttribute("aria-pressed", String(bin === picked));
      bar.children[0].style.height = `${(100 * totals[bin]) / most}%`;
      bar.children[1].style.height = `${(100 * kept[bin]) / most}%`;
    });
  };
  return { figure, show };
}

// The same for named keys, lying down.
function keyBars({ title, note, keys, totals, rest, onpick }) {
  const most = Math.max(1, ...totals);
  const bars = keys.map((key, at) =>
    element(
      "button",
      { type: "button", class: "key", "aria-pressed": "false", onclick: () => onpick(at) },
      element("span", { class: "name" }, key),
      element("span", { class: "track" }, element("span", { class: "all" }), element("span", { class: "kept" })),
      element("span", { class: "count" }),
    ),
  );
  const figure = element(
    "figure",
    { class: "chart" },
    element("figcaption", {}, element("strong", {}, title), " ", element("span", { class: "hint" }, note)),
    element("div", { class: "keys", role: "group", "aria-label": title }, ...bars),
    rest ? element("p", { class: "hint" }, rest) : null,
  );
  const show = (kept, picked) => {
    bars.forEach((bar, at) => {
      const said = `${keys[at]}: ${counted(totals[at], "match", "matches")}, ${kept[at].toLocaleString("en")} listed`;
      bar.title = said;
      bar.setAttribute("aria-label", said);
      bar.setAttribute("aria-pressed", String(at === picked));
      bar.children[1].children[0].style.width = `${(100 * totals[at]) / most}%`;
      bar.children[1].children[1].style.width = `${(100 * kept[at]) / most}%`;
      bar.children[2].textContent = totals[at].toLocaleString("en");
    });
  };
  return { figure, show };
}

function rove(press, bars) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[press.key];
  const at = bars.indexOf(document.activeElement);
  const next = bars[at + (step ?? 0)];
  if (step === undefined || next === undefined) return;
  press.preventDefault();
  bars[at].tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

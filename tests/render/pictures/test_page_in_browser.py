"""The page in a real browser: rows, filter, sorting, timelines, keyboard, no network, nothing injected.

Chromium runs without a window; CEPCTL_SCREENSHOTS names a folder to keep the pictures in.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

import cepctl
from cepctl.cli import main

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="neither Chromium nor chromedriver is installed"),
]

QUERY = (
    "PATTERN SEQ(Start a, Load b, Stop c) WHERE [node] AND b.value > 90 WITHIN 60 seconds "
    "RETURN b.value AS peak"
)
INJECTION = "<img src=x onerror=document.title='broken'></script><script>document.title='broken'</script>"


PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}


class Page:
    """One open page, spoken to in the words of a user."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser

    def all(self, selector: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.one(selector).text

    def await_count(self, selector: str, count: int) -> None:
        """What a line shows when it is opened is drawn a moment after that."""
        WebDriverWait(self.browser, 60).until(lambda _: len(self.all(selector)) == count)

    def cells(self, column: int) -> list[str]:
        return [each.text for each in self.all(f"tr.match > td:nth-child({column})")]

    def heading(self, name: str) -> WebElement:
        return next(each for each in self.all("#matches thead th") if each.text.startswith(name))

    def slide(self, value: float) -> None:
        self.browser.execute_script(
            "const slider = document.getElementById('minimum');"
            "slider.value = arguments[0]; slider.dispatchEvent(new Event('input'));",
            value,
        )

    def picture(self, name: str, folder: Path) -> None:
        folder = Path(os.environ.get("CEPCTL_SCREENSHOTS", folder))
        folder.mkdir(parents=True, exist_ok=True)
        self.browser.save_screenshot(str(folder / f"{name}.png"))


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1300"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield started
    started.quit()


@pytest.fixture
def opened(browser: webdriver.Chrome) -> Iterator[Page]:
    """A page to open; afterwards nothing was logged as an error and nothing but the file was asked for."""
    browser.get("about:blank")
    logged(browser, "browser")
    logged(browser, "performance")
    yield Page(browser)
    assert logged(browser, "browser") == []
    messages = [json.loads(message)["message"] for message in logged(browser, "performance")]
    asked = [
        each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert {url.rpartition("/")[2] for url in asked if url.startswith("file:")} == {"report.html"}


def logged(browser: webdriver.Chrome, kind: str) -> list[str]:
    """What was logged since the last call."""
    return [str(entry["message"]) for entry in browser.get_log(kind)]  # type: ignore[no-untyped-call]


def report(folder: Path, events: str, query: str = QUERY, *options: str) -> str:
    (folder / "events.csv").write_text(events, encoding="utf-8")
    output = folder / "report.html"
    arguments = [
        "report",
        query,
        str(folder / "events.csv"),
        "-o",
        str(output),
        "--runner",
        "local",
        "--quiet",
    ]
    assert main([*arguments, *options]) == 0
    return output.as_uri()


def share(text: str) -> float:
    """A confidence as the table shows it."""
    return float(text.removesuffix(" %")) / 100


def colour(element: WebElement, name: str) -> tuple[str, ...]:
    """What red, green and blue a property of the style has in the end."""
    return tuple(re.findall(r"\d+", element.value_of_css_property(name))[:3])


def stream(stories: int, loads: int) -> str:
    """Events of `stories` tasks, each with `loads` readings of its node that can be its cause."""
    lines = ["event_id,event_type,time,lower,upper,pmf,node,value"]
    for story in range(stories):
        begin = 1_700_000_000_000 + 97_000 * story
        node, value = f"node{story % 25:02}", 91 + story % 9
        lines.append(f"start{story},Start,{begin},{begin - 500},{begin + 500},,{node},")
        for load in range(loads):
            raw = begin + 15_000 + 1_000 * load
            buckets = f"{raw - 15_000}:{raw - 5_001}:0.2|{raw - 5_000}:{raw - 1}:0.7|{raw}:{raw + 2_000}:0.1"
            lines.append(
                f"load{story}-{load},Load,{raw},{raw - 15_000},{raw + 2_000},{buckets},{node},{value}"
            )
        raw = begin + 14_000
        lines.append(f"stop{story},Stop,{raw},{raw - 500},{raw + 500},,{node},")
    return "\n".join(lines) + "\n"


def test_ten_matches_filtered_sorted_and_opened(opened: Page, tmp_path: Path) -> None:
    opened.browser.get(report(tmp_path, stream(5, 2)))
    assert opened.text("h1") == "10 matches in 20 events"
    assert len(opened.all("tr.match")) == 10
    assert opened.text("#status") == "All 10 matches listed"
    assert not opened.one("#limited").is_displayed()
    assert not opened.one("#pager").is_displayed()
    opened.picture("ten", tmp_path)

    assert "raw times alone would have missed 10" in opened.text("#facts")
    assert set(opened.cells(7)) == {"missed"}
    opened.one("#filter").send_keys("NODE03 load3-1")
    assert opened.cells(8) == ["start3 load3-1 stop3"]
    assert opened.text("#status") == "1 of 10 matches listed"
    opened.one("#reset").click()
    assert len(opened.all("tr.match")) == 10

    confidences = [share(each) for each in opened.cells(3)]
    assert confidences == sorted(confidences, reverse=True)
    opened.slide(confidences[4])
    assert len(opened.all("tr.match")) < 10
    assert all(share(each) >= float(opened.text("#minimum-shown")) for each in opened.cells(3))
    opened.one("#reset").click()

    opened.heading("peak").find_element(By.TAG_NAME, "button").click()
    assert opened.heading("peak").get_attribute("aria-sort") == "descending"
    assert opened.cells(2) == sorted(opened.cells(2), key=float, reverse=True)
    opened.heading("peak").find_element(By.TAG_NAME, "button").click()
    assert opened.heading("peak").get_attribute("aria-sort") == "ascending"
    assert opened.cells(2) == sorted(opened.cells(2), key=float)


def test_the_answer_is_seen_without_a_click(opened: Page, tmp_path: Path) -> None:
    query = f"-- Which node was at its limit?  It is about load.\n{QUERY}"
    (tmp_path / "query.cep").write_text(query)
    opened.browser.get(report(tmp_path, stream(3, 1), f"@{tmp_path / 'query.cep'}"))
    assert opened.text("h1") == "Which node was at its limit?"
    assert opened.browser.title == "Which node was at its limit? – cepctl"
    assert opened.text("#headline") == (
        "3 matches in 9 events; the first holds with a probability of 75.75 %: peak 91, "
        "from 2023-11-14 22:13:19.500 to 22:13:34.500."
    )
    assert len(opened.all("#best svg.timeline g.lane")) == 3
    assert opened.all(".chart") == []  # three rows say more than bars
    assert [each.text for each in opened.all("#matches thead th")][1:3] == ["peak", "confidence ▼"]
    opened.picture("answer", tmp_path)


def test_a_telephone_shows_the_whole_timeline(opened: Page, tmp_path: Path) -> None:
    narrow = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    opened.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", narrow)
    try:
        opened.browser.get(report(tmp_path, stream(3, 1)))
        assert opened.one("#best svg.timeline").rect["width"] <= opened.one("#best").rect["width"]
        assert opened.browser.execute_script("return document.documentElement.scrollWidth") <= 400
        opened.picture("narrow", tmp_path)
    finally:
        opened.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_on_paper_rows_are_low_and_the_table_is_as_wide_as_the_sheet(opened: Page, tmp_path: Path) -> None:
    sheet = {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    opened.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sheet)
    opened.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        named = stream(3, 1).replace("start0", "container_1772009204117_0042_01_000002.log#4711")
        query = QUERY.replace(
            "b.value AS peak", "a.node, b.value AS peak, a.node AS again, b.value * 2 AS twice"
        )
        opened.browser.get(report(tmp_path, named, query))
        assert max(row.rect["height"] for row in opened.all("tr.match")) < 80
        assert opened.one("#matches").rect["width"] <= 718
        opened.picture("on-paper", tmp_path)
    finally:
        opened.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        opened.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_row_opens_as_a_timeline(opened: Page, tmp_path: Path) -> None:
    opened.browser.get(report(tmp_path, stream(5, 2)))
    opened.all("tr.match td.ids")[1].click()
    (drawing,) = opened.all("#matches svg.timeline")
    assert len(opened.all("#matches svg.timeline g.lane")) == 3
    assert len(opened.all("#matches svg.timeline .mass")) == 1 + 3 + 1
    assert len(opened.all("#matches svg.timeline .raw")) == 3
    assert len(opened.all("#matches svg.timeline .valid")) == 3
    assert len(opened.all("#matches svg.timeline .window")) == 1
    shades = [
        float(each.get_attribute("fill-opacity") or "0") for each in opened.all("#matches svg.timeline .mass")
    ]
    assert shades == [0.9, 0.231, 0.9, 0.398, 0.9]  # 0.2, 0.7 and 0.1 over 10, 5 and 2 seconds
    assert (drawing.get_attribute("aria-label") or "").startswith("Timeline of 3 events: a start")
    assert [each.text for each in opened.all(".events tbody th")] == ["a", "b", "c"]
    opened.picture("ten-opened", tmp_path)

    opened.one("button[data-span='possible']").click()
    opened.picture("ten-possible", tmp_path)
    assert opened.one("button[data-span='possible']").get_attribute("aria-pressed") == "true"
    opened.all("tr.match .opener")[1].click()
    assert opened.all("#matches svg.timeline") == []


def test_an_opened_row_is_as_wide_as_what_is_seen_of_a_wide_table(opened: Page, tmp_path: Path) -> None:
    columns = ", ".join(f"b.value + {n} AS a_column_with_a_long_name_{n}" for n in range(9))
    wide = QUERY.replace("b.value AS peak", columns)
    opened.browser.get(report(tmp_path, stream(2, 1), wide))
    opened.all("#matches td.ids")[0].click()
    seen, table, drawing = (
        opened.one(each).rect for each in ("#scroller", "#matches", "#matches svg.timeline")
    )
    assert table["width"] > seen["width"]
    assert seen["x"] <= drawing["x"] < drawing["x"] + drawing["width"] <= seen["x"] + seen["width"]
    opened.picture("wide-opened", tmp_path)


def test_the_keyboard_alone_suffices(opened: Page, tmp_path: Path) -> None:
    opened.browser.get(report(tmp_path, stream(60, 2)))
    openers = opened.all(".opener")
    openers[0].send_keys(Keys.ARROW_DOWN)
    assert opened.browser.switch_to.active_element == openers[1]
    openers[1].send_keys(Keys.ENTER)
    assert (openers[1].get_attribute("aria-expanded"), len(opened.all("#matches svg.timeline"))) == (
        "true",
        1,
    )
    openers[1].send_keys(Keys.ENTER)
    assert (openers[1].get_attribute("aria-expanded"), len(opened.all("#matches svg.timeline"))) == (
        "false",
        0,
    )
    openers[1].send_keys(Keys.PAGE_DOWN)
    assert opened.text("#page-shown") == "Page 2 of 3"
    first, second, *_ = opened.all(".bars .bar")
    first.send_keys(Keys.ARROW_RIGHT)
    assert opened.browser.switch_to.active_element == second


def test_a_bar_keeps_its_own_matches(opened: Page, tmp_path: Path) -> None:
    opened.browser.get(report(tmp_path, stream(60, 2)))
    key = opened.all(".key")[0]
    name = key.find_element(By.CLASS_NAME, "name").text
    key.click()
    assert opened.text("#status") == "6 of 120 matches listed"
    assert set(opened.cells(6)) == {name}
    key.click()
    assert opened.text("#status") == "All 120 matches listed"
    bar = next(each for each in opened.all(".bar") if "60 matches" in (each.get_attribute("title") or ""))
    bar.click()
    said = bar.get_attribute("title") or ""
    assert said.endswith(" 60 listed")
    assert opened.text("#status") == "60 of 120 matches listed"


def test_ten_thousand_matches_stay_quick(opened: Page, tmp_path: Path) -> None:
    opened.browser.get(report(tmp_path, stream(1_020, 10), QUERY, "--listed", "10000"))
    assert opened.text("h1") == "10,200 matches in 12,240 events"
    assert opened.text("#status") == "All 10,000 matches listed"
    assert "lists the 10,000 matches with the highest confidence, of 10,200" in opened.text("#limited")
    assert len(opened.all("tr.match")) == 50
    assert opened.text("#page-shown") == "Page 1 of 200"
    opened.picture("ten-thousand", tmp_path)

    began = time.monotonic()
    opened.one("#filter").send_keys("node07")
    assert opened.text("#status").startswith("4")
    assert set(opened.cells(6)) == {"node07"}
    opened.one("#reset").click()
    opened.heading("start").find_element(By.TAG_NAME, "button").click()
    assert opened.cells(8)[0].startswith("start0 ")
    opened.one("#last-page").click()
    assert opened.text("#page-shown") == "Page 200 of 200"
    opened.all(".opener")[3].click()
    assert len(opened.all("#matches svg.timeline g.lane")) == 3
    assert time.monotonic() - began < 20
    opened.picture("ten-thousand-opened", tmp_path)


def test_each_key_is_a_line_that_opens_to_its_matches(opened: Page, tmp_path: Path) -> None:
    events = stream(6, 3).replace("node00", INJECTION)
    query = QUERY.partition("RETURN")[0] + "GROUP BY a.node"
    opened.browser.get(report(tmp_path, events, query))
    assert len(opened.all(".answer")) == 6
    assert INJECTION in [each.text for each in opened.all(".key-name")]
    assert opened.all("img") == []
    assert "expected" in opened.text("#headline")
    assert not any(opened.one(part).is_displayed() for part in ("#scroller", "#controls", "#pager"))
    assert len(opened.all(".answer > summary .small")) == 6
    assert all(each.find_elements(By.CSS_SELECTOR, ".mark") for each in opened.all(".small"))
    assert len(opened.all("#answers .legend li")) == 3
    interval, part = (opened.one(f".small .{kind}") for kind in ("stretch-ground", "mass"))
    swatches = (opened.one(f"#answers .swatch.{kind}") for kind in ("pale", "mass"))
    assert [colour(each, "fill") for each in (interval, part)] == [
        colour(each, "background-color") for each in swatches
    ]
    assert opened.text("#best-title").endswith(": its most probable match")
    assert len(opened.all("#best svg.timeline g.lane")) == 3
    opened.one(".answer > summary").click()
    opened.await_count(".answer[open] .row", 3)
    assert opened.text(".rows > .hint") == "3 matches, the most probable first."
    opened.await_count(".row[open] .timeline", 1)
    opened.all(".row > summary")[1].send_keys(Keys.ENTER)
    opened.await_count(".row[open] .timeline", 2)
    opened.picture("keys", tmp_path)


def test_text_of_a_log_is_never_markup(opened: Page, tmp_path: Path) -> None:
    cell = '"' + INJECTION.replace('"', '""') + '"'
    events = f"event_id,event_type,lower,upper,note\n{cell},A,1,5,{cell}\nb,B,3,9,\n"
    opened.browser.get(
        report(tmp_path, events, "PATTERN SEQ(A a, B b) WHERE a.note != '</script>' RETURN a.note")
    )
    opened.one(".opener").click()
    assert opened.browser.title == "1 match – cepctl"
    assert opened.all("img") == []
    assert len(opened.all("script")) == 2
    assert INJECTION in opened.text(".events")
    opened.one("#query summary").click()
    assert opened.text("#query-text").endswith("RETURN a.note")


def test_whatever_can_be_used_has_a_name(opened: Page, tmp_path: Path) -> None:
    """What a screen reader is told, from the browser's own tree of accessible nodes."""
    opened.browser.get(report(tmp_path, stream(30, 2)))
    opened.one(".opener").click()
    nodes = opened.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    used = {"button", "searchbox", "slider", "figure", "image", "region", "columnheader", "rowheader"}
    named: dict[str, list[str]] = {role: [] for role in used}
    for node in nodes:
        role = node.get("role", {}).get("value")
        if not node.get("ignored") and role in used:
            named[role].append(node.get("name", {}).get("value", "").strip())
    assert named["searchbox"] == ["Contains"]
    assert [name.partition(" ")[0] for name in named["slider"]] == ["Confidence"]
    assert "Timeline of start0 load0-0 stop0" in named["button"]
    assert any(name.startswith("confidence 0.75 to 0.80: 30 matches") for name in named["button"])
    assert [role for role, names in named.items() if role != "figure" and not all(names)] == []


def test_ticks_beyond_the_calendar_and_before_1970_are_exact(opened: Page, tmp_path: Path) -> None:
    far = 2**60 + 1
    events = f"event_id,event_type,lower,upper\na,A,-5,-1\nb,B,{far},{far}\nc,B,7,9\n"
    opened.browser.get(report(tmp_path, events, "PATTERN SEQ(A a, B b)"))
    assert opened.cells(3) == ["1969-12-31 23:59:59.995"] * 2
    assert sorted(opened.cells(4)) == ["1970-01-01 00:00:00.009", f"tick {far}"]
    for opener in opened.all(".opener"):
        opener.click()
    assert len(opened.all("#matches svg.timeline g.lane")) == 4
    opened.picture("far", tmp_path)


def test_no_match_and_a_dark_screen(opened: Page, tmp_path: Path) -> None:
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    opened.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        opened.browser.get(report(tmp_path, stream(5, 2), "PATTERN SEQ(Stop a, Start b) WITHIN 1 ms"))
        assert opened.text("h1") == "0 matches in 20 events"
        assert opened.text("#why-not-text").startswith("these exclude each other: a before b")
        assert not any(opened.one(part).is_displayed() for part in ("#scroller", "#controls", "#best"))
        opened.browser.get(report(tmp_path, stream(5, 2)))
        opened.all(".opener")[0].click()
        opened.picture("dark", tmp_path)
        ground = opened.one("body").value_of_css_property("background-color")
        assert ground.replace(" ", "") in {"rgba(20,23,28,1)", "rgb(20,23,28)"}
    finally:
        opened.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_events_of_one_clock_are_tied_together(opened: Page, tmp_path: Path) -> None:
    stamped = (
        "event_id,event_type,lower,upper,clock,clock_offset\na,A,-1,3,n,-2:2:1\nb,B,1,5,n,-2:2:1\nc,C,2,6,,\n"
    )
    opened.browser.get(report(tmp_path, stamped, "PATTERN SEQ(A a, B b, C c)"))
    assert len(opened.all(".clock path")) == 1
    assert len(opened.all(".clock circle")) == 2
    (title,) = opened.all(".clock title")
    assert title.get_attribute("textContent") == (
        "clock n, 2 ms ahead to 2 ms behind: these events move together"
    )
    assert "one clock: these events move together" in opened.text(".legend")


def test_what_was_recorded_of_a_clock_stands_beside_its_event(opened: Page, tmp_path: Path) -> None:
    (tmp_path / "clocks.csv").write_text(
        "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump,source,line\n"
        f"n,0,100000000,1000000,1000000,-2000000,2000000,,1,1,,{INJECTION},5\n"
    )
    model = tmp_path / "model.toml"
    model.write_text('[[rule]]\nclock = { by = "node", from = "clocks.csv" }\n')
    log = "event_id,event_type,time,node\na,A,1970-01-01T00:00:00.010Z,n\nb,B,1970-01-01T00:00:00.020Z,\n"
    opened.browser.get(report(tmp_path, log, "PATTERN SEQ(A a, B b)", "--uncertainty", str(model)))
    opened.all(".opener")[0].click()
    opened.await_count("td.recorded", 2)
    assert [cell.text for cell in opened.all("td.recorded")] == [
        f"n at 00:00:00.010: 1 ms ahead, -1 to 3 ms, {INJECTION} line 5",
        "",
    ]


def test_without_clocks_nothing_is_tied_together(opened: Page, tmp_path: Path) -> None:
    opened.browser.get(report(tmp_path, stream(1, 1)))
    assert opened.all(".clock") == []


def test_a_strip_shows_where_a_sketch_leaves_room_and_where_the_matches_are(
    opened: Page, tmp_path: Path
) -> None:
    (tmp_path / "events.csv").write_text(stream(20, 2), encoding="utf-8")
    cepctl.ingest(tmp_path / "events.csv", tmp_path / "events", sketch_share=1.0)
    output = tmp_path / "report.html"
    query = "PATTERN SEQ(Start a, Load b, Stop c) WITHIN 15 s"
    assert (
        main(["report", query, str(tmp_path / "events"), "-o", str(output), "-q", "--runner", "local"]) == 0
    )
    opened.browser.get(output.as_uri())
    assert opened.text("#strip h2") == "Where matches can be"
    assert opened.text("#strip-told").startswith("By the sketch, in 20 stretches of time, ")
    assert len(opened.all("#strip .stretch")) == 20
    assert len(opened.all("#strip .raw")) == 20
    opened.picture("strip", tmp_path)


def test_a_cell_of_a_notebook_scrolls_in_no_direction(opened: Page, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text(stream(3, 2).replace("load", "load" * 20), encoding="utf-8")
    cell = cepctl.match(QUERY, tmp_path / "events.csv")._repr_html_()
    output = tmp_path / "report.html"
    output.write_text(f'<!doctype html><div id="cell" style="width: 900px; overflow: auto">{cell}</div>')
    opened.browser.get(output.as_uri())
    height = "return document.querySelector('iframe').style.height"
    WebDriverWait(opened.browser, 60).until(lambda each: each.execute_script(height) != "560px")
    box = opened.one("#cell")
    assert box.get_property("scrollWidth") == box.get_property("clientWidth")
    assert box.get_property("scrollHeight") == box.get_property("clientHeight")
    opened.browser.switch_to.frame(opened.one("iframe"))
    opened.await_count("tr.match", 6)
    page = opened.one("html")
    assert page.get_property("scrollHeight") == page.get_property("clientHeight")
    opened.browser.switch_to.default_content()


def test_on_a_laptop_no_column_is_cut_off(opened: Page, tmp_path: Path) -> None:
    page = report(tmp_path, stream(5, 2).replace("load", "a_long_name_of_" * 3))
    laptop = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    opened.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", laptop)
    try:
        opened.browser.get(page)
        opened.await_count("tr.match", 10)
        scroller = opened.one("#scroller")
        assert scroller.get_property("scrollWidth") == scroller.get_property("clientWidth")
    finally:
        opened.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_beneath_several_returned_values_the_events_stand_whole(opened: Page, tmp_path: Path) -> None:
    columns = "a.node, b.value AS peak, b.value * 2 AS twice, duration(a, c) AS lasted"
    named = stream(5, 2).replace("start", "job_1772009204117_0042.jhist#")
    page = report(tmp_path, named, QUERY.replace("b.value AS peak", columns))
    laptop = {"width": 1280, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    opened.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", laptop)
    try:
        opened.browser.get(page)
        opened.await_count("tr.match", 10)
        scroller, events = opened.one("#scroller"), opened.all("tr.beneath > td.ids")
        assert scroller.get_property("scrollWidth") == scroller.get_property("clientWidth")
        assert "job_1772009204117_0042.jhist#3 load3-1 stop3" in [each.text for each in events]
        assert all(each.get_property("scrollWidth") == each.get_property("clientWidth") for each in events)
        assert "match" not in [each.text for each in opened.all("#matches thead th")]
        events[1].click()
        opened.await_count("tr.beneath + tr.detail svg.timeline", 1)
        opened.picture("events-beneath", tmp_path)
        events[1].click()
        opened.await_count("tr.detail", 0)
    finally:
        opened.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_on_a_phone_rows_are_cards_and_nothing_scrolls_aside(opened: Page, tmp_path: Path) -> None:
    page = report(tmp_path, stream(5, 2))
    opened.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        opened.browser.get(page)
        card = opened.one("tr.match")
        assert card.rect["width"] <= PHONE["width"]
        assert opened.one("#matches > thead").rect["height"] < 60, "headings that sort stand on one line"
        confidence = opened.one("tr.match > td[data-name='confidence']")
        assert confidence.rect["x"] + confidence.rect["width"] <= PHONE["width"]
        events = opened.one("tr.match > td[data-name='match']")
        assert events.get_property("scrollWidth") == events.get_property("clientWidth")
        assert events.rect["width"] > PHONE["width"] / 2
        for part in ("document.documentElement", "document.getElementById('scroller')"):
            assert opened.browser.execute_script(f"return {part}.scrollWidth <= {part}.clientWidth")
        opened.one("tr.match .opener").click()
        opened.await_count("tr.detail", 1)
        assert opened.browser.execute_script(
            "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
        opened.picture("phone", tmp_path)
    finally:
        opened.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


CALIBRATED = "event_id,event_type,time,case_id\n" + "".join(
    f"{kind.lower()}{case},{kind},2026-03-02T09:00:{second:02}.5,c{case}\n"
    for case in range(12)
    for kind, second in (("Open", 10), ("Shut", 12 + case))
)


def calibration(folder: Path, *options: str) -> str:
    (folder / "events.csv").write_text(CALIBRATED, encoding="utf-8")
    output = folder / "report.html"
    events = str(folder / "events.csv")
    assert main(["calibrate", *options, events, "--jitter", "6 s", "-o", str(output), "--quiet"]) == 0
    return output.as_uri()


def test_a_calibration_shows_each_decile_and_opens_its_types(opened: Page, tmp_path: Path) -> None:
    opened.browser.get(calibration(tmp_path, "--pairs", "--repeat", "5"))
    assert opened.text("#title") == "Which of two events was first"
    assert opened.text("#headline").startswith(("Calibrated, as far as", "Not calibrated: rows stated "))
    assert opened.text("#scores").startswith("Brier score 0.")
    picture, card = opened.one("#reliability svg").size["width"], opened.one("#picture").size["width"]
    assert card - 60 < picture <= card
    assert opened.text("#facts").startswith("Times hidden by jitter 6 s, seeds 1 to 5. 60 rows: ")
    dots, bars = opened.all("#reliability .dot"), opened.all("#reliability .count")
    assert len(dots) == len(bars) == len(opened.all("#reliability .reach")) > 3
    (kind,) = opened.all("details.type")
    assert kind.find_element(By.CSS_SELECTOR, ".key-name").text == "Open → Shut"
    assert not opened.one("tr.shown").is_displayed()
    kind.find_element(By.CSS_SELECTOR, "summary").click()
    assert opened.one("tr.shown").is_displayed()
    assert len(opened.all("tr.shown")) == 2 * 20
    cells = [each.text for each in opened.one("tr.shown").find_elements(By.TAG_NAME, "td")]
    assert cells[1] == "yes"
    assert cells[4:6] == ["Open", "2026-03-02T09:00:10.500Z"]
    opened.picture("calibration", tmp_path)


def test_a_calibration_of_a_query_shows_it(opened: Page, tmp_path: Path) -> None:
    query = "-- Was it open before?\nPATTERN SEQ(Open a, Shut b) WHERE [case_id] GROUP BY a.case_id"
    opened.browser.get(calibration(tmp_path, query))
    assert opened.text("#title") == "Was it open before?"
    opened.one("#query summary").click()
    assert "GROUP BY a.case_id" in opened.text("#query-text")
    assert [each.text for each in opened.all("details.type .key-name")] == ["All keys"]


def test_a_calibration_on_a_phone_scrolls_in_one_direction(opened: Page, tmp_path: Path) -> None:
    opened.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        opened.browser.get(calibration(tmp_path, "--pairs"))
        opened.one("details.type summary").click()
        wide, seen = opened.browser.execute_script(
            "return [document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert wide <= seen
    finally:
        opened.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

"""What is computed for show never decides the answer: of all side figures each fails once, alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from cepctl import side_figures
from cepctl.cli import main
from cepctl.errors import UnsupportedQueryError
from cepctl.side_figures import SideFigure

ROOT = Path(__file__).resolve().parents[2]
EVENTS = """\
event_type,event_id,time,lower,upper,k,v
A,a1,2,0,4,x,1
N,n1,4,3,8,x,2
B,b1,10,8,12,x,3
B,b2,11,9,13,x,4
A,a2,,20,24,y,1
B,b3,26,22,30,y,3
"""
QUERY = "PATTERN SEQ(A a, !N n, B b) WHERE [k] WITHIN 20 ticks"
NEXT = "PATTERN AND(A a, B b) WHERE [k] WITHIN 20 ticks CONFIDENCE >= 0.1"
GIVEN = "PATTERN SEQ(A a, B b) WITHIN 20 ticks GIVEN SEQ(A a, B b) IF a.k = b.k"
NOWHERE = "PATTERN SEQ(B b, A a) WHERE [k] WITHIN 2 ticks"

MATCH = ("match", QUERY, "events.csv")
INSPECT = ("inspect", "events.csv", "--full")
EXPLAIN = ("explain", QUERY, "events.csv")
REPORT = ("report", QUERY, "events.csv", "-o", "page.html")
SKETCHED = ("match", QUERY, "sketched")
COMMANDS: dict[SideFigure, tuple[str, ...]] = {
    SideFigure.RAW_TIMES: MATCH,
    SideFigure.LIKELIEST_KEY: ("match", f"{QUERY} GROUP BY a.k", "events.csv"),
    SideFigure.SUMMARY: MATCH,
    SideFigure.READING_NOTICES: MATCH,
    SideFigure.QUERY_NOTICES: MATCH,
    SideFigure.KERNEL_HINT: MATCH,
    SideFigure.WHY_NOT: ("match", NOWHERE, "events.csv", "--why-not"),
    SideFigure.LAST_MATCH: MATCH,
    SideFigure.METRICS: (*MATCH, "--metrics", "figures.prom"),
    SideFigure.SKETCH: SKETCHED,
    SideFigure.SKETCH_FACTS: ("inspect", "sketched"),
    SideFigure.ACCOUNTS: ("ingest", "events.csv", "-o", "dataset", "--overwrite"),
    SideFigure.SLICES: EXPLAIN,
    SideFigure.MEMORY: EXPLAIN,
    SideFigure.FORECAST: EXPLAIN,
    SideFigure.TIES: ("explain", GIVEN, "events.csv"),
    SideFigure.ORDERS: (*EXPLAIN, "--laws", "laws.toml"),
    SideFigure.RANGES: ("explain", NEXT, "events.csv"),
    SideFigure.STRIP: REPORT,
    SideFigure.OVERVIEW: REPORT,
    SideFigure.SERIES: INSPECT,
    SideFigure.VALUES: INSPECT,
    SideFigure.KEYS: INSPECT,
    SideFigure.EXAMPLES: INSPECT,
    SideFigure.GRAINS: INSPECT,
    SideFigure.FILE_ORDERS: INSPECT,
    SideFigure.CLOCK_BOUNDS: INSPECT,
    SideFigure.CLOCK_GRAPH: INSPECT,
    SideFigure.DRIFTING_CLOCKS: INSPECT,
    SideFigure.RECORDED_CLOCKS: INSPECT,
    SideFigure.WRITTEN_ORDERS: INSPECT,
    SideFigure.KNOWN_ORDERS: INSPECT,
}
ELSEWHERE = {SideFigure.PROGRESS, SideFigure.TIMELINES, SideFigure.SHOWN_KEYS}
"""Figures that no command of these shows; they have tests of their own below."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the events, and the same as a dataset with a sketch."""
    place = tmp_path_factory.mktemp("events")
    (place / "events.csv").write_text(EVENTS)
    (place / "laws.toml").write_text('[[law]]\nby = "k"\n[law.next."A"]\n"B" = 2')
    dataset = str(place / "sketched")
    assert main(["ingest", str(place / "events.csv"), "-o", dataset, "--sketch", "--runner", "local"]) == 0
    return place


@pytest.fixture(autouse=True)
def folder(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, ...], tuple[int, str]]:
    """Exit code and standard output of commands whose figures are all there, as they are asked for."""
    return {}


def test_every_side_figure_is_tried() -> None:
    assert {*COMMANDS, *ELSEWHERE} == set(SideFigure)


@pytest.mark.parametrize("figure", COMMANDS, ids=lambda figure: figure.name)
def test_a_side_figure_that_fails_is_left_out_and_named(
    figure: SideFigure,
    answers: dict[tuple[str, ...], tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    command = COMMANDS[figure]
    if command not in answers:
        answers[command] = main([*command]), capfd.readouterr().out
    code, rows = answers[command]
    visited = planted(figure, ZeroDivisionError("odd"), monkeypatch)
    assert main([*command]) == code == 0
    said = capfd.readouterr()
    assert visited == {figure}
    assert f"note: left out {figure.value}: ZeroDivisionError: odd; nothing else depends on it" in said.err
    if command[0] == "match":
        assert said.out == rows != ""


class Panic(BaseException):
    """What a defect of compiled code may raise."""


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (UnsupportedQueryError("not supported\nthere"), "not supported"),
        (MemoryError(), "MemoryError"),
        (StopIteration(), "StopIteration"),
        (Panic("lost"), "Panic: lost"),
    ],
)
@pytest.mark.parametrize("figure", [SideFigure.RAW_TIMES, SideFigure.SUMMARY])
def test_whatever_it_fails_of(
    figure: SideFigure,
    problem: BaseException,
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    planted(figure, problem, monkeypatch)
    assert main([*MATCH]) == 0
    said = capfd.readouterr()
    assert f"note: left out {figure.value}: {told};" in said.err
    assert "a1 b1" in said.out


@pytest.mark.parametrize("grouped", ["", " GROUP BY a.k"])
@pytest.mark.parametrize("options", [(), ("--top-k", "1"), ("--engine", "worlds")], ids=str)
def test_rows_are_the_same_without_raw_times(
    grouped: str, options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if grouped and "worlds" in options:
        pytest.skip("groups of the judge are not held to raw times")
    command = ["match", QUERY + grouped, "events.csv", *options]
    assert main([*command, "-q"]) == 0
    rows = capfd.readouterr().out
    planted(SideFigure.RAW_TIMES, ValueError("odd"), monkeypatch)
    assert main(command) == 0
    said = capfd.readouterr()
    assert said.out == rows
    assert said.err.count("ValueError: odd") == 1
    assert "not compared with raw times" in said.err


def planted(figure: SideFigure, problem: BaseException, monkeypatch: pytest.MonkeyPatch) -> set[SideFigure]:
    """Have one figure fail, wherever it is computed; gathers it once that has happened."""
    computed, visited = side_figures.computed, set[SideFigure]()

    def fail(asked: SideFigure, compute: Callable[[], object]) -> object:
        if asked is figure:
            visited.add(asked)
            raise problem
        return computed(asked, compute)

    monkeypatch.setattr(side_figures, "computed", fail)
    return visited


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(143), GeneratorExit()])
def test_what_ends_the_program_passes(end: BaseException) -> None:
    def stop() -> None:
        raise end

    with pytest.raises(type(end)):
        side_figures.beside(SideFigure.SUMMARY, stop, None)


def test_progress_that_fails_once_tells_no_more() -> None:
    from cepctl.engines.runners.progress import RunProgress

    told = []

    def tell(line: str) -> None:
        told.append(line)
        raise OSError(28, "No space left on device")

    progress = RunProgress(tell)
    for done in range(3):
        progress.read(done, 3)
    assert len(told) == 1
    RunProgress(tell).read(1, 0)


def test_timelines_that_fail_leave_the_table_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    import cepctl

    matches = cepctl.match(QUERY, "events.csv", runner="local")
    whole = matches._repr_html_()
    assert "<iframe" in whole
    assert planted(SideFigure.TIMELINES, ValueError("odd"), monkeypatch) == set()
    assert whole.startswith(matches._repr_html_())


def test_keys_that_cannot_be_looked_up_leave_the_rows_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    import cepctl

    matches = cepctl.match(QUERY, "events.csv", runner="local")
    assert repr(matches).split()[:2] == ["k", "confidence"]
    assert planted(SideFigure.SHOWN_KEYS, ValueError("odd"), monkeypatch) == set()
    assert repr(matches).split()[0] == "confidence"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_standard_error_that_takes_nothing_costs_no_row(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*MATCH]) == 0
    expected = capfd.readouterr().out
    kept, full = os.dup(2), os.open("/dev/full", os.O_WRONLY)
    try:
        os.dup2(full, 2)
        code = main([*MATCH])
    finally:
        os.dup2(kept, 2)
        os.close(full)
    assert (code, capfd.readouterr().out) == (0, expected)


def test_side_figures_are_computed_by_one_function_and_named() -> None:
    """No figure is computed beside without its name, and none is named that nobody computes."""
    texts = [
        path.read_text() for place in ("cepctl", "engines", "io") for path in (ROOT / place).rglob("*.py")
    ]
    named = {name for text in texts for name in re.findall(r"SideFigure\.([A-Z_]+)", text)}
    assert named == {figure.name for figure in SideFigure}

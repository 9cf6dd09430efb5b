"""`cepctl sketch`, `probe` and what sketches leave a match to read, as a user calls them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import cepctl
from cepctl.cli import main
from cepctl.datasets.stored_events import StoredEvents
from cepctl.ingestion import ordering, writing
from cepctl.sketches.manifest import FILES, MANIFEST
from tests.calls import called

LOG = "event_id,event_type,lower,upper,task\na1,A,10,12,t1\nb1,B,13,15,t1\na2,A,500,502,t2\nb2,B,900,905,t2\n"
QUERY = "PATTERN SEQ(A a, B b) WITHIN 20 ticks"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a dataset of two row groups."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setattr(writing, "ROW_GROUP_EVENTS", 2)
    (tmp_path / "log.csv").write_text(LOG)
    cepctl.ingest("log.csv", "events", runner="local")
    return tmp_path


def test_a_probe_tells_where_matches_can_be_and_needs_no_events(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, said = called(capsys, "sketch", "events", "--on", "task")
    assert "sketched 4 events by type and task in" in said
    rows, said = called(capsys, "probe", QUERY, "events", "--time", "ticks")
    assert rows.startswith("start,end,at_most,about\n10,15,1,")
    assert said == "note: matches can be in 1 stretch of time, and nowhere else\n"
    (folder / "events").rename(folder / "elsewhere")
    assert called(capsys, "probe", QUERY, "events.sketch", "--time", "ticks")[0] == rows
    chosen = ("probe", QUERY, "events.sketch", "--columns", "at_most", "-q")
    assert called(capsys, *chosen)[0] == "at_most\n1\n"


def test_a_match_reads_less_and_prints_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    without, _ = called(capsys, "match", QUERY, "events")
    called(capsys, "sketch", "events")
    rows, said = called(capsys, "match", QUERY, "events")
    assert rows == without
    assert "note: by the sketch, 1 of 2 row groups can matter\n" in said
    assert "row groups" not in called(capsys, "match", QUERY, "events", "--sketch", "off")[1]
    assert "Sketch      1 of 2 row groups to be read\n" in called(capsys, "explain", QUERY, "events")[0]


def test_an_inspection_says_how_often_a_sketch_takes_another_value_for_one_that_is_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Sketch" not in called(capsys, "inspect", "events")[0]
    called(capsys, "sketch", "events", "--on", "task")
    told = called(capsys, "inspect", "events")[0]
    assert "; at most 2 values of task, another passes for one of them with probability 4.7e-10\n" in told
    (folder / "events.sketch" / "sketch.json").write_text("")
    assert "Sketch: not used: " in called(capsys, "inspect", "events", "--full")[0]


def test_what_is_given_may_tie_any_events_so_all_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    called(capsys, "sketch", "events")
    rows, said = called(capsys, "match", f"{QUERY} GIVEN SEQ(A x, B y) IF x.task = y.task", "events")
    assert len(rows.splitlines()) == 2
    assert "by the sketch" not in said


def test_a_sketch_of_other_events_is_not_used(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    called(capsys, "sketch", "events")
    (folder / "log.csv").write_text(LOG.replace("b2,B,900,905", "b2,B,505,509"))
    called(capsys, "ingest", "log.csv", "-o", "events", "--overwrite")
    out, said = called(capsys, "probe", QUERY, "events", code=3)
    assert out == ""
    assert said == (
        f"error: {folder}/events.sketch: the sketch is not of the events that are in {folder}/events now; "
        f"make it with: cepctl sketch {folder}/events\n"
    )
    rows, said = called(capsys, "match", QUERY, "events")
    assert len(rows.splitlines()) == 3
    assert f"make it with: cepctl sketch {folder}/events; all events are read\n" in said


def test_a_missing_sketch_is_named_with_the_remedy(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = called(capsys, "probe", QUERY, "events", code=3)[1]
    assert said == f"error: {folder}/events has no sketch; make it with: cepctl sketch {folder}/events\n"


def test_a_match_reads_no_footer_of_a_part_that_the_sketch_rules_out(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ordering, "PART_EVENTS", 2)
    called(capsys, "ingest", "log.csv", "-o", "parts", "--sketch")
    assert len(list((folder / "parts").glob("*.parquet"))) == 2
    read: list[int] = []
    footer = StoredEvents._footer

    def noted(events: StoredEvents, part: int) -> list[tuple[int, int, int, int]]:
        read.append(part)
        return footer(events, part)

    monkeypatch.setattr(StoredEvents, "_footer", noted)
    rows = called(capsys, "match", QUERY, "parts")[0]
    assert (read, len(rows.splitlines())) == ([0], 2)
    assert called(capsys, "match", QUERY, "parts", "--sketch", "off")[0] == rows


def test_a_dataset_that_holds_a_part_twice_is_refused_with_a_sketch_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (part,) = (folder / "events").glob("*.parquet")
    shutil.copy(part, part.with_name("part-00001.parquet"))
    called(capsys, "sketch", "events")
    for use in ("auto", "off"):
        said = called(capsys, "match", QUERY, "events", "--sketch", use, code=3)[1]
        assert "the parts of this dataset hold 8 events, but its ingest wrote 4" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--on", "tusk"), "no event has the attribute 'tusk'; did you mean 'task'?"),
        (
            ("--on", "task:range"),
            "--on task:range asks for the least and the largest, and 'task' is text; write",
        ),
        (("--share", "1.5"), "--share 1.5 is not more than 0 and at most 1; 0.125 is usual"),
        (("--share", "nan"), "--share nan is not more than 0 and at most 1"),
        (("--on", "task,,"), "--on needs names of attributes"),
        (("-o", "log.csv"), "is a file, and a sketch is a directory"),
        (("-o", "events"), "-o would overwrite the input events"),
    ],
)
def test_what_cannot_be_sketched_is_refused(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in called(capsys, "sketch", "events", *words, code=2)[1]


def test_an_ingest_sketches_too_and_nobody_takes_a_sketch_for_events(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "logs").mkdir()
    (folder / "log.csv").rename(folder / "logs" / "log.csv")
    called(capsys, "ingest", "logs/log.csv", "-o", "logs/events", "--sketch-on", "task")
    assert (folder / "logs" / "events.sketch").is_dir()
    assert "is a sketch, which holds no events" in called(capsys, "inspect", "logs/events.sketch", code=3)[1]
    called(capsys, "ingest", "logs/*.csv", "-o", "again")
    rows = called(capsys, "match", QUERY, "again")[0]
    called(capsys, "ingest", "logs", "-o", "all", "--report", "report.json")
    assert ".sketch" not in (folder / "report.json").read_text()
    assert rows.count("\n") == 2


def test_a_program_sketches_and_probes(folder: Path) -> None:
    (made,) = cepctl.sketch("events", on="task")
    assert (made.events, made.on, made.path) == (4, ("task",), f"{folder}/events.sketch")
    found = cepctl.probe(f"{QUERY} WHERE [task]", made)
    assert found.rows.select(["start", "end", "at_most"]).to_pylist() == [
        {"start": 10, "end": 15, "at_most": 1}
    ]


def test_a_sketch_of_sketches_is_that_of_their_datasets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "more.csv").write_text(
        "event_id,event_type,lower,upper,task,n\nb3,B,28,29,t1,5\nc3,C,31,31,,6\n"
    )
    called(capsys, "ingest", "more.csv", "-o", "more")
    called(capsys, "sketch", "events", "more", "--on", "task", "-o", "both.sketch")
    called(capsys, "sketch", "events", "--on", "task")
    called(capsys, "sketch", "more", "--on", "task,n,n:range")
    _, said = called(capsys, "sketch", "events.sketch", "more.sketch", "-o", "merged.sketch")
    assert "merged.sketch does not know 'n', which some of its sources lack" in said
    assert "merged.sketch does not know 'n:range', which some of its sources lack" in said
    for name in (MANIFEST, *FILES):
        assert (folder / "merged.sketch" / name).read_bytes() == (folder / "both.sketch" / name).read_bytes()
    asked = f"{QUERY} WHERE [task]", "--time", "ticks", "--columns", "start,end,at_most", "-q"
    rows = called(capsys, "probe", *asked, "merged.sketch")[0]
    assert rows == "start,end,at_most\n10,29,2\n"
    assert called(capsys, "probe", *asked, "events", "more")[0] == rows
    assert called(capsys, "match", QUERY, "events", "more")[1].count("of 3 row groups can matter") == 1
    said = called(capsys, "sketch", "events.sketch", code=2)[1]
    assert "events.sketch is a sketch; name a directory with -o to make one sketch of several" in said


@pytest.mark.parametrize("asked", [["--sketch"], ["--sketch-on", "k"], ["--sketch-share", "0.5"]])
def test_whatever_is_said_of_the_sketch_of_an_ingest_asks_for_it(
    asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text("event_type,time,k\nA,1,p\nB,2,q\n")
    assert main(["ingest", "own.csv", "-o", "own", "--runner", "local", *asked]) == 0
    assert Path("own.sketch").is_dir()

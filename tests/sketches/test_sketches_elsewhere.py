"""Sketches of datasets on other filesystems than this machine's: made, asked and replaced there.

fsspec's own view of the local disk stands for filesystems that need a server.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import cepctl
from cepctl.ingestion import writing
from cepctl.sketches.folder import SketchFolder
from cepctl.sketches.manifest import FILES, MANIFEST, SPANS
from tests.calls import called

LOG = "event_id,event_type,lower,upper,task\na1,A,10,12,t1\nb1,B,13,15,t1\na2,A,500,502,t2\nb2,B,900,905,t2\n"
QUERY = "PATTERN SEQ(A a, B b) WHERE [task] WITHIN 20 ticks"
WHOLE = (MANIFEST, *FILES)


@pytest.fixture(autouse=True)
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URI of a folder with a dataset of two row groups; the working directory is another one."""
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setattr(writing, "ROW_GROUP_EVENTS", 2)
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("log.csv").write_text(LOG)
    uri = f"fsspec+local://{tmp_path}/there"
    cepctl.ingest("log.csv", f"{uri}/events", runner="local")
    return uri


def test_a_sketch_stands_beside_its_dataset_and_has_the_bytes_of_one_here(
    there: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):  # the second one replaces the first
        said = called(capsys, "sketch", f"{there}/events", "--on", "task")[1]
        assert f"sketched 4 events by type and task in {there}/events.sketch" in said
    called(capsys, "sketch", f"{there}/events", "--on", "task", "-o", "mine.sketch")
    called(capsys, "ingest", "log.csv", "-o", f"{there}/again", "--sketch-on", "task")
    for name in WHOLE:
        made = (tmp_path / "there" / "events.sketch" / name).read_bytes()
        assert Path("mine.sketch", name).read_bytes() == made
        assert (tmp_path / "there" / "again.sketch" / name).is_file()
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == [
        "again",
        "again.sketch",
        "events",
        "events.sketch",
    ]


def test_a_probe_and_a_match_ask_the_sketch_there(there: str, capsys: pytest.CaptureFixture[str]) -> None:
    without, _ = called(capsys, "match", QUERY, f"{there}/events")
    (made,) = cepctl.sketch(f"{there}/events", on="task")
    rows = called(capsys, "probe", QUERY, f"{there}/events", "--time", "ticks", "-q")[0]
    assert rows.splitlines()[1].startswith("10,15,1,")
    assert called(capsys, "probe", QUERY, f"{there}/events.sketch", "--time", "ticks", "-q")[0] == rows
    assert cepctl.probe(QUERY, made).rows.column("end").to_pylist() == [15]
    found, said = called(capsys, "match", QUERY, f"{there}/events")
    assert found == without
    assert "by the sketch, 1 of 2 row groups can matter" in said
    assert "1 of 2 row groups to be read" in called(capsys, "explain", QUERY, f"{there}/events")[0]
    assert "at most 2 values of task" in called(capsys, "inspect", f"{there}/events")[0]


def test_sketches_there_make_one_here_and_the_other_way(
    there: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    called(capsys, "sketch", f"{there}/events")
    called(capsys, "sketch", f"{there}/events.sketch", "-o", "one.sketch")
    called(capsys, "sketch", "one.sketch", "-o", f"{there}/other.sketch")
    for name in WHOLE:
        made = (tmp_path / "there" / "other.sketch" / name).read_bytes()
        assert made == (tmp_path / "there" / "events.sketch" / name).read_bytes()
    said = called(capsys, "sketch", f"{there}/events", "-o", f"{there}/events", code=2)[1]
    assert f"{there}/events is not a sketch, so it is not replaced" in said


def test_a_sketch_there_that_is_missing_damaged_or_of_other_events_is_told_of(
    there: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remedy = f"make it with: cepctl sketch {there}/events"
    events = f"{there}/events"
    assert called(capsys, "probe", QUERY, events, code=3)[1] == f"error: {events} has no sketch; {remedy}\n"
    called(capsys, "sketch", events)
    place = tmp_path / "there" / "events.sketch" / SPANS
    whole = place.read_bytes()
    for bad in (b"", whole[:-1], bytes([whole[0] ^ 1]) + whole[1:]):
        place.write_bytes(bad)
        said = called(capsys, "probe", QUERY, events, code=3)[1]
        assert said == f"error: {events}.sketch: the sketch is damaged ({SPANS}); {remedy}\n"
    assert f"{remedy}; all events are read" in called(capsys, "match", QUERY, events)[1]
    called(capsys, "sketch", events)
    Path("log.csv").write_text(LOG.replace("b2,B,900,905", "b2,B,505,509"))
    called(capsys, "ingest", "log.csv", "-o", events, "--overwrite")
    assert "the sketch is not of the events" in called(capsys, "probe", QUERY, events, code=3)[1]


def test_a_sketch_there_that_was_not_written_to_its_end_is_none(
    there: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    events = f"{there}/events"
    called(capsys, "sketch", events)
    copy = SketchFolder.copy

    def full(folder: SketchFolder, file: Path) -> None:
        if file.name == SPANS:
            raise OSError(28, "No space left on device")
        copy(folder, file)

    monkeypatch.setattr(SketchFolder, "copy", full)
    said = called(capsys, "sketch", events, "--on", "task", code=4)[1]
    assert f"cannot write {events}.sketch: No space left on device" in said
    said = called(capsys, "probe", QUERY, events, code=3)[1]
    assert f"sketch is not a sketch: it has no {MANIFEST}; make it with: cepctl sketch {events}" in said
    assert len(called(capsys, "match", QUERY, events)[0].splitlines()) == 2

"""The sketch that a state keeps of all events that its runs have taken in, asked by `cepctl probe`."""

from __future__ import annotations

import csv
import io
import random
import shutil
from pathlib import Path

import pytest

import cepctl
from cepctl.cli import main
from cepctl.library import probe
from cepctl.sketches import joining
from cepctl.sketches.listing import Indexed
from cepctl.sketches.reading import Sketch
from cepctl.state import store
from tests.cli.growing_log import begin_log, log

KEPT = "PATTERN SEQ(A a, B b) WITHIN 4 ticks"
ASKED = "PATTERN SEQ(C c, D d) WHERE [k] AND d.x > 1 WITHIN 9 ticks"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a log that grows."""
    begin_log(tmp_path, monkeypatch, "event_id,event_type,lower,upper,k,x", "c1,C,1,2,p,5", "d1,D,4,5,p,6")
    return tmp_path


def run(*options: str, code: int = 0) -> None:
    assert main(["match", "--state", "S", "-o", "out", "-q", KEPT, "e.csv", *options]) == code


def probed(capsys: pytest.CaptureFixture[str], query: str = ASKED, code: int = 0) -> str:
    """What a probe of the state prints, or says where it fails."""
    capsys.readouterr()
    assert main(["probe", query, "S", "--time", "ticks", "-q"]) == code
    told = capsys.readouterr()
    return told.out if code == 0 else told.err


def segments() -> list[Path]:
    return sorted(Path("S").glob("run-*/segments/*"))


def flip(path: Path) -> None:
    held = bytearray(path.read_bytes())
    held[len(held) // 2] ^= 1
    path.unlink()
    path.write_bytes(held)


def test_a_probe_tells_of_events_that_the_state_no_longer_keeps(capsys: pytest.CaptureFixture[str]) -> None:
    run("--sketch-on", "k,x:range")
    log("c2,C,900,900,p,0", "a2,A,902,903,p,9")
    run()
    log("c3,C,2000,2000,q,0", "d3,D,2003,2004,q,2")
    run("--final")
    rows = [line.split(",")[:2] for line in probed(capsys).splitlines()[1:]]
    assert rows == [["1", "5"], ["2000", "2004"]]
    assert probed(capsys, "PATTERN SEQ(D d, A a) WITHIN 9 ticks") == ""


def test_every_match_of_a_log_in_pieces_lies_in_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(22)
    number = 0
    for piece in range(5):
        count = [30, 2, 1, 12, 1][piece]
        log(
            *(
                f"e{number + at},{chance.choice('ABCD')},{t},{t + chance.randint(0, 6)},"
                f"{chance.choice('pqr')},{chance.randint(0, 3)}"
                for at in range(count)
                for t in [10 + 4 * (number + at)]
            )
        )
        number += count
        run("--slack", "50 ms", *(["--sketch-on", "k,x:range"] if not piece else []))
    assert 1 < len(segments()) < 5
    for query in (ASKED, KEPT, "PATTERN SEQ(A a, C+ c, B b) WITHIN 12 ticks"):
        rows = [
            (int(row["start"]), int(row["end"])) for row in csv.DictReader(io.StringIO(probed(capsys, query)))
        ]
        matches = cepctl.match(query, "e.csv", runner="local").table().select(["start", "end"]).to_pylist()
        assert matches
        for match in matches:
            assert any(start <= match["start"] and match["end"] <= end for start, end in rows)


def test_segments_are_merged_with_what_is_not_much_smaller() -> None:
    run("--keep-sketch")
    for number in range(4):
        log(f"n{number},A,{100 + number},{100 + number},p,1")
        run()
    assert [path.name for path in segments()] == ["000001-000004.sketch", "000005-000005.sketch"]
    run()
    assert [path.parent.parent.name for path in segments()] == ["run-000006"] * 2


def test_parts_of_many_small_runs_become_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "FEW_PARTS", 2)
    run("--sketch-on", "k,x:range")
    for number in range(1, 5):
        at = 100 * number
        log(f"c{at},C,{at},{at},p,0", f"d{at},D,{at + 3},{at + 4},{'pq'[number % 2]},{number}")
        run()
    parts = [part.identity.rows for each in segments() for part in Sketch.at(each).manifest.parts]
    assert parts == [10]
    rows = [
        (int(row["start"]), int(row["end"])) for row in csv.DictReader(io.StringIO(probed(capsys, ASKED)))
    ]
    matches = cepctl.match(ASKED, "e.csv", runner="local").table()
    assert len(matches) == 3
    for match in matches.to_pylist():
        assert any(start <= match["start"] and match["end"] <= end for start, end in rows)
    # What no event of a joined part has is still ruled out.
    assert probed(capsys, ASKED.replace("d.x > 1", "d.x > 9")) == ""
    assert probed(capsys, ASKED.replace("WHERE", "WHERE c.k = 'z' AND")) == ""


def test_a_run_that_is_repeated_joins_parts_to_the_same_bytes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "FEW_PARTS", 0)

    def bytes_of_segments() -> dict[str, bytes]:
        files = folder.glob("S/run-*/segments/*/*")
        return {f"{path.parent.name}/{path.name}": path.read_bytes() for path in files}

    run("--sketch-on", "k,x:range")
    log("c3,C,300,300,p,0", "d3,D,303,304,p,2")
    shutil.copytree(folder / "S", folder / "before")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store, "deliver", interrupted)
        run(code=130)
    assert len(list(folder.glob("S/run-*"))) == 2
    run()
    repeated = bytes_of_segments()
    assert [len(Sketch.at(each).manifest.parts) for each in segments()] == [1]
    shutil.rmtree(folder / "S")
    shutil.rmtree(folder / "out")
    (folder / "before").rename(folder / "S")
    run()
    assert bytes_of_segments() == repeated


def test_an_attribute_that_new_events_lack_stays_known(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("--sketch-on", "k")
    (folder / "more.csv").write_text("event_id,event_type,lower,upper\nc9,C,60,60\nd9,D,61,61\n")
    assert main(["match", "--state", "S", "-o", "out", "-q", KEPT, "e.csv", "more.csv"]) == 0
    keyed = "PATTERN SEQ(C c, D d) WHERE [k] WITHIN 9 ticks"
    assert [line.split(",")[:2] for line in probed(capsys, keyed).splitlines()[1:]] == [["1", "5"]]
    assert "60,61" in probed(capsys, "PATTERN SEQ(C c, D d) WITHIN 9 ticks")


@pytest.mark.parametrize("whole", [False, True])
def test_a_damaged_segment_ends_a_probe_and_no_run(capsys: pytest.CaptureFixture[str], whole: bool) -> None:
    run("--keep-sketch")
    (segment,) = segments()
    for path in segment.iterdir():
        if whole:
            path.unlink()
        else:
            flip(path)
    if whole:
        segment.rmdir()
    said = probed(capsys, code=3)
    assert said.count("\n") == 1
    assert "sketch their logs: cepctl ingest LOGS -o EVENTS --sketch" in said
    log("a8,A,80,80,p,1", "b8,B,82,82,p,1")
    run("--final")
    assert "until then a probe of the state ends with this error" in capsys.readouterr().err
    assert Path("out", "run-000002.csv").read_text().endswith("a8 b8\n")
    assert "sketch their logs" in probed(capsys, code=3)


def test_a_state_of_datasets_with_sketches_keeps_one(capsys: pytest.CaptureFixture[str]) -> None:
    cepctl.ingest("e.csv", "events", runner="local", sketch_on="k,x:range")
    begun = ("match", "--state", "S", "-o", "out", KEPT, "events")
    assert main([*begun, "--sketch", "off"]) == 0
    assert not segments()
    for folder in ("S", "out"):
        shutil.rmtree(folder)
    capsys.readouterr()
    assert main(begun) == 0
    assert (
        "note: the state S keeps a sketch, as its inputs do (--sketch off: none)\n" in capsys.readouterr().err
    )
    assert [row.split(",")[:2] for row in probed(capsys).splitlines()[1:]] == [["1", "5"]]
    assert Sketch.at(segments()[0]).manifest.indexed == Indexed(("k",), ("x",))
    run("--sketch-on", "k,x:range")  # a log as well
    shutil.rmtree("S")
    shutil.rmtree("out")
    assert main([*begun, "e.csv", "-q"]) == 0
    assert not segments()


def test_a_sketch_cannot_begin_after_the_state(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    run("--keep-sketch", code=2)
    assert "S was begun without a sketch, which would lack the events up to now" in capsys.readouterr().err
    assert "S is a state without a sketch; --keep-sketch begins one with it" in probed(capsys, code=3)


def test_a_sketch_goes_on_with_the_attributes_that_it_was_begun_with(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("--sketch-on", "nobody", code=2)
    assert "no event has the attribute 'nobody'" in capsys.readouterr().err
    run("--sketch-on", "k")
    run("--sketch-on", "x", code=2)
    assert "begun with a sketch of other attributes" in capsys.readouterr().err
    run("--sketch-on", "k")
    assert main(["state", "show", "S"]) == 0
    assert "sketch            of 2 events, " in capsys.readouterr().out


def test_an_attribute_of_the_sketch_stays_what_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    run("--sketch-on", "x")
    log("c7,C,70,70,p,2.5", "d7,D,71,71,p,7")
    run()
    halves = "PATTERN SEQ(C c, D d) WHERE c.x = 2.5 WITHIN 9 ticks"
    assert "70,71" in probed(capsys, halves)
    assert "1,5" in probed(capsys, "PATTERN SEQ(C c, D d) WHERE c.x = 5 WITHIN 9 ticks")


def test_a_probe_begins_again_where_a_run_has_replaced_what_it_reads(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("--keep-sketch")
    opened = probe._sketch
    ran: list[str] = []

    def overtaken(path: str) -> object:
        if not ran:
            ran.append(path)
            log("c2,C,900,900,p,0", "d2,D,902,903,q,9")
            run()
        return opened(path)

    monkeypatch.setattr(probe, "_sketch", overtaken)
    rows = probed(capsys, "PATTERN SEQ(C c, D d) WITHIN 9 ticks").splitlines()
    assert [row.split(",")[0] for row in rows] == ["start", "1", "900"]

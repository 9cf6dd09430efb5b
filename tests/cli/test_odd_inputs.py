"""Inputs with nothing in them, or what nobody expects: every command says one clear line, or is right."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.cli import main

QUERY = "PATTERN SEQ(A a, B b)"
NEVER = "PATTERN SEQ(A a, B b) WITHIN 1 ticks"
LONG = "n" * 5_000
HEADER = "event_type,event_id,lower,upper,x\n"
PAIR = "A,a,1,3,1\nB,b,2,4,1\n"
NANOSECONDS = pa.array([1, 2], pa.timestamp("ns"))
COLUMNS = {"event_type": pa.array(["A", "B"]), "lower": pa.array([1, 2]), "upper": pa.array([3, 4])}


@dataclass(frozen=True)
class Odd:
    """An input, in a file of this name, and what is to come of it.

    With `refused` every command that reads it ends with 3 and says so; else there are so many `events`
    and matches of QUERY, and an ingest says `notes`.
    """

    name: str
    content: bytes | Callable[[Path], None]
    refused: str = ""
    events: int = 0
    matches: int = 0
    notes: tuple[str, ...] = ()


def table(**columns: pa.Array) -> Callable[[Path], None]:
    return lambda path: pq.write_table(pa.table(COLUMNS | columns), path)


def without_row_groups(path: Path) -> None:
    with pq.ParquetWriter(path, pa.table(COLUMNS).schema):
        pass


def two_columns_of_one_name(path: Path) -> None:
    values = [*COLUMNS.values(), pa.array([1, 1]), pa.array([2, 2])]
    pq.write_table(pa.Table.from_arrays(values, [*COLUMNS, "x", "x"]), path)


def nothing_usable(path: Path) -> None:
    path.mkdir()
    (path / "README.md").write_text("hello\n")


NO_RECORDS = "note: the input has no records: the dataset has no events"
INPUTS = [
    Odd("one.csv", (HEADER + "A,a,1,3,1\n").encode(), events=1),
    Odd("header.csv", HEADER.encode(), notes=(NO_RECORDS,)),
    Odd("empty.csv", b"", notes=("note: empty.csv: the file is empty", NO_RECORDS)),
    Odd("nothing.gz", gzip.compress(b""), notes=("note: nothing.gz: the file is empty", NO_RECORDS)),
    Odd("groups.parquet", without_row_groups, notes=(NO_RECORDS,)),
    Odd("nulls.csv", b"event_type,lower,upper,x,y\nA,1,3,,\nB,2,4,,\n", events=2, matches=1),
    Odd("nulls.parquet", table(x=pa.nulls(2), time=pa.nulls(2), pmf=pa.nulls(2)), events=2, matches=1),
    Odd("times.csv", b"event_type,time\nA,\nB,\n", refused="2 of 2 records are bad, and there is no event"),
    Odd("folder", nothing_usable, refused="no file could be read"),
    Odd("ids.csv", (HEADER + 3 * "A,a,1,3,1\n").encode(), refused="2 of 3 records are bad"),
    Odd("twice.csv", b"event_type,lower,upper,x,x\nA,1,2,3,4\n", refused="two columns are named 'x'"),
    Odd("twice.parquet", two_columns_of_one_name, refused="two columns are named 'x'"),
    Odd("cut.csv", b'event_type,lower,upper,"a\nb"\nA,1,2,3\n', refused=":1: a quote is opened"),
    Odd("lists.parquet", table(event_type=pa.array([["A"], ["B"]])), refused="not all text"),
    Odd("bytes.parquet", table(event_type=pa.array([b"\xff", b"B"])), refused="not all text"),
    Odd("bad.parquet", table(event_type=pa.nulls(2), x=NANOSECONDS), refused="no event type"),
    Odd("long.csv", f"{HEADER[:-1]},{LONG}\nA,{LONG},1,3,1,y\nB,b,2,4,1,z\n".encode(), events=2, matches=1),
    Odd("ünï 😀.csv", f"{HEADER[:-1]},größe\nA,ä,1,3,1,ß\nB,😀 +,2,4,1,ß\n".encode(), events=2, matches=1),
    Odd("source.csv", b"event_type,lower,upper,source,number\nA,1,3,s,1\nB,2,4,s,2\n", events=2, matches=1),
    Odd("odd.parquet", table(x=NANOSECONDS), events=2, matches=1),
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    Path("model.toml").write_text("[[rule]]\ninterval = { before = '1 s', after = '1 s' }\n")


def made(odd: Odd) -> str:
    if callable(odd.content):
        odd.content(Path(odd.name))
    else:
        Path(odd.name).write_bytes(odd.content)
    return odd.name


@pytest.mark.parametrize("odd", [each for each in INPUTS if each.refused], ids=lambda odd: odd.name)
def test_what_cannot_be_read_is_refused(odd: Odd, capsys: pytest.CaptureFixture[str]) -> None:
    name = made(odd)
    for command in (["ingest", name, "-o", "out"], ["match", QUERY, name]):
        assert main(command) == 3
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("error: ")
        assert odd.refused in captured.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "command",
    [
        ["inspect", "times.csv"],
        ["explain", QUERY, "times.csv"],
        ["match", QUERY, "times.csv", "--state", "st"],
        ["show", QUERY, "times.csv", "--match", "a b"],
        ["report", QUERY, "times.csv", "-o", "page.html"],
    ],
    ids=lambda command: command[0],
)
def test_every_command_refuses_what_holds_no_event(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = made(next(odd for odd in INPUTS if odd.name == "times.csv"))
    assert main(command) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "error: 2 of 2 records are bad" in captured.err
    assert f"{name}:2: no time: A," in captured.err
    assert not Path("page.html").exists()


@pytest.mark.parametrize("odd", [each for each in INPUTS if not each.refused], ids=lambda odd: odd.name)
def test_what_is_odd_is_read(odd: Odd, capsys: pytest.CaptureFixture[str]) -> None:
    name = made(odd)

    def done(*command: str) -> tuple[str, str]:
        assert main([*command]) == 0
        captured = capsys.readouterr()
        assert "error" not in captured.err
        return captured.out, captured.err

    ingested = done("ingest", name, "-o", "out")[1].splitlines()
    assert tuple(line for line in ingested if line.startswith("note")) == odd.notes
    assert f"{odd.events} event{'s' if odd.events != 1 else ''} of " in done("inspect", "out")[0]
    done("assign", "out", "-o", "wide", "--uncertainty", "model.toml")
    for events in (name, "wide"):
        assert len(done("match", QUERY, events)[0].splitlines()) == 1 + odd.matches
    assert len(done("match", NEVER, "out", "--why-not")[0].splitlines()) == 1
    if odd.events < 2:
        assert f"all {odd.events} events in one task" in done("explain", QUERY, "out")[0]
        done("report", QUERY, "out", "-o", "page.html")
        done("match", QUERY, name, "--state", "st", "--final")


def test_a_header_alone_says_which_attributes_there_are() -> None:
    """An hour without records is not an hour in which every query is wrong."""
    Path("hour.csv").write_text(HEADER)
    assert main(["match", "PATTERN SEQ(A a, B b) WHERE a.x = b.x", "hour.csv"]) == 0
    assert main(["match", "PATTERN SEQ(A a, B b) WHERE a.y = b.y", "hour.csv"]) == 2
    pq.write_table(pa.table(COLUMNS | {"x": pa.array([1, 1])}).slice(0, 0), "hour.parquet")
    assert main(["match", "PATTERN SEQ(A a, B b) WHERE a.x = b.x", "hour.parquet"]) == 0

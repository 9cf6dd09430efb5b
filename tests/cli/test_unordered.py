"""`cepctl match --unordered`: the rows of the same match as they are found, the first at once, none held."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow.parquet as pq
import pytest

from cepctl.cli import main
from cepctl.cli.match import unordered
from cepctl.cli.output import rows as output
from cepctl.engines.columns import joins
from cepctl.engines.event import match
from cepctl.engines.rows import number_order
from cepctl.engines.runners import local
from cepctl.engines.search import search

CHAIN = "PATTERN SEQ(A a, B b, C c) WITHIN 60 ticks"
QUERIES = {
    "chain": CHAIN,
    "returned": f"{CHAIN} RETURN a.x, b.x + c.x AS sum, b.time",
    "probability": f"{CHAIN} RETURN prob(a.time < b.time) AS p, a.x",
    "reached": f"{CHAIN} RETURN reached(0.5) AS decided, a.x",
    "negation": "PATTERN SEQ(A a, !B b, C c) WITHIN 60 ticks",
    "next": f"{CHAIN} STRATEGY skip_till_next_match",
    "group": "PATTERN SEQ(A a, B+ b[], C c) WITHIN 20 ticks RETURN count(b[]) AS n",
    "alternatives": "PATTERN OR(SEQ(A a, B b), SEQ(A a, B b, C c)) WITHIN 30 ticks",
    "threshold": f"{CHAIN} CONFIDENCE >= 0.3",
    "nothing": "PATTERN SEQ(A a, B b, Z z) WITHIN 60 ticks",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a log of 60 events, searched in small parts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setattr(search, "FEWEST_STARTS", 3)
    monkeypatch.setattr(search, "FEWEST_COSTLY_STARTS", 3)
    monkeypatch.setattr(joins, "PAIRS_AT_ONCE", 8)
    lines = [f"{'ABC'[i % 3]},e {i},{4 * i},{4 * i + 5 + i % 7},{i}" for i in range(60)]
    (tmp_path / "log.csv").write_text("\n".join(["event_type,event_id,lower,upper,x", *lines]))
    return tmp_path


def written(capsys: pytest.CaptureFixture[str], query: str, *arguments: str) -> str:
    assert main(["match", query, "log.csv", "--quiet", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_are_those_of_the_ordered_match(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = written(capsys, QUERIES[name]).splitlines()
    found = written(capsys, QUERIES[name], "--unordered").splitlines()
    assert found[:1] == wanted[:1]
    assert sorted(found) == sorted(wanted)
    assert (len(wanted) > 1) == (name != "nothing")


def test_a_summary_of_groups_has_the_same_rows(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(A a, B+ b[], C c) WITHIN 20 ticks"
    wanted, found = (
        written(capsys, query, "--kleene", "summary", *more).splitlines() for more in ([], ["--unordered"])
    )
    assert sorted(found) == sorted(wanted)


def test_rows_that_start_between_two_ticks_are_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    between = ("--since", "1970-01-01T00:00:00.050Z", "--until", "1970-01-01T00:00:00.100Z")
    wanted, found = (written(capsys, CHAIN, *between, *more).splitlines() for more in ([], ["--unordered"]))
    assert sorted(found) == sorted(wanted)
    assert 1 < len(wanted) < len(written(capsys, CHAIN).splitlines())


@pytest.mark.parametrize(
    "name", ["rows.tsv", "rows.jsonl.gz", "rows.json", "rows.md", "rows.parquet", "rows.arrow", "ROWS/"]
)
def test_every_form_of_file_has_all_rows(name: str, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    written(capsys, QUERIES["returned"], "-o", "ordered.parquet")
    written(capsys, QUERIES["returned"], "-o", name, "--unordered")
    wanted = pq.read_table("ordered.parquet")
    if name.endswith((".parquet", "/")):
        found = pq.read_table(name)
        assert found.schema.equals(wanted.schema)
        assert found.sort_by("match").equals(wanted.sort_by("match"))
    elif name == "rows.json":
        assert len(json.loads((folder / name).read_text())) == wanted.num_rows


def test_on_a_terminal_rows_are_csv(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert written(capsys, CHAIN, "--unordered").startswith("confidence,start,end,match\n")


def test_the_summary_comes_after_the_rows_and_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for more in ([], ["--unordered"]):
        assert main(["match", CHAIN, "log.csv", *more]) == 0
        told.append(capsys.readouterr().err.split(" s; "))
    assert told[0][0].rsplit(", ", 1)[0] == told[1][0].rsplit(", ", 1)[0]
    assert told[0][1:] == told[1][1:]
    assert main(["show", "--last", "--rank", "1"]) == 0


def test_the_first_rows_are_written_before_the_others_are_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search goes on only when some rows have been written."""
    found, has_written = match.found_batches, Event()

    def waiting(*arguments: Any, **more: Any) -> Iterator[Any]:
        batches = found(*arguments, **more)
        yield next(batches)
        assert has_written.wait(30)
        yield from batches

    class Watched:
        def __init__(self, stream: Any) -> None:
            self.buffer, self._stream = self, stream

        def write(self, piece: bytes) -> None:
            self._stream.write(bytes(piece).decode())
            if b"e%2" in bytes(piece):
                has_written.set()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._stream, name)

    monkeypatch.setattr(local, "found_batches", waiting)
    monkeypatch.setattr(sys, "stdout", Watched(sys.stdout))
    rows = written(capsys, CHAIN, "--unordered").splitlines()
    assert has_written.is_set()
    assert len(rows) > 50


def test_few_rows_are_held_however_many_there_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are numbers or bytes for as long as it takes to write a few pieces."""
    monkeypatch.setattr(number_order, "ROWS_OF_PIECE", 4)
    made = handed = most = 0
    write, rows_of = output.write_rows, number_order.OrderedNumbers.made

    def counting(self: Any, first: int, last: int, **more: Any) -> Any:
        nonlocal made, most
        table = rows_of(self, first, last, **more)
        made += table.num_rows
        most = max(most, made - handed)
        return table

    def watched(blocks: Any, *arguments: Any, **more: Any) -> None:
        pass_on = output.write_pieces

        def written_pieces(encoded: Any, *rest: Any) -> None:
            def handing() -> Iterator[Any]:
                nonlocal handed
                for piece in encoded:
                    yield piece
                    handed += bytes(piece).count(b"\n")

            pass_on(handing(), *rest)

        monkeypatch.setattr(output, "write_pieces", written_pieces)
        write(blocks, *arguments, **more)

    monkeypatch.setattr(number_order.OrderedNumbers, "made", counting)
    monkeypatch.setattr(unordered, "write_rows", watched)
    written(capsys, CHAIN, "--unordered")
    assert made > 100
    assert most <= 4 * 16


def test_more_matches_than_allowed_leave_no_file(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    arguments = ["match", CHAIN, "log.csv", "--unordered", "--max-matches", "5", "-o", "rows.csv"]
    assert main(arguments) == 2
    assert "more than 5 matches" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["log.csv"]


@pytest.mark.parametrize(
    ("arguments", "because"),
    [
        (("--top-k", "3"), "with --top-k 3: the best rows are known only when all are found"),
        (("--limit", "3"), "with --limit 3: the first rows are known only when all are found"),
        (("--state", "S"), "with --state S: it emits rows in the order in which they are decided"),
        (("--engine", "point"), "with --engine point: it gives rows only when all are found"),
        (("--format", "table"), "with --format table: it is drawn only when all rows are found"),
        (
            ("--json",),
            "with --json: its answer begins with facts that are known only when all rows are found",
        ),
        (("--format", "trace"), "with --format trace: it is drawn only when all rows are found"),
        (("--runner", "spark"), "with --runner spark: its tasks give rows when they have ended; "),
    ],
)
def test_what_needs_an_order_is_refused(
    arguments: tuple[str, ...], because: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["match", CHAIN, "log.csv", "--unordered", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert f"--unordered cannot apply {because}" in captured.err


def test_groups_by_key_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", f"{CHAIN} GROUP BY a.x", "log.csv", "--unordered"]) == 2
    assert "--unordered cannot apply with GROUP BY: the row of a key" in capsys.readouterr().err

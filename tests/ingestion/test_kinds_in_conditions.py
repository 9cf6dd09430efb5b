"""Rules read an attribute as what it is in the whole file, however the file is cut into chunks or parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeAlias

import pytest

from cepctl.errors import UncertaintyModelError
from cepctl.ingestion import reading
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.formats import OpenLog, open_log
from cepctl.io.source.locations import FilePart, Location
from cepctl.runners import apart
from cepctl.runners.local import LocalRunner
from cepctl.uncertainty.model import parse_model

Value: TypeAlias = int | float | str | None
WIDE = "interval = { before = '2 s', after = '3 s' }"
BELOW_TEN = f'rule = [{{ where = "load < 10", {WIDE} }}]'
BELOW_TEN_AS_TEXT = f"""rule = [{{ where = "load < '10'", {WIDE} }}]"""
CLOCKS = "rule = [{ clock = { by = 'load', offset = '1 s' } }]"
NO_RULE = ""


def csv(loads: Sequence[Value]) -> str:
    rows = [f"A,{1_000 * each},{'' if load is None else load}" for each, load in enumerate(loads)]
    return "\n".join(["event_type,time,load", *rows, "B,never,3", ""])


def json_lines(loads: Sequence[Value]) -> str:
    values: list[dict[str, Value]] = [{} if load is None else {"load": load} for load in loads]
    records = [{"event_type": "A", "time": 1_000 * each, **value} for each, value in enumerate(values)]
    return "".join(json.dumps(record) + "\n" for record in [*records, {"event_type": "B", "time": "never"}])


def taken_in(folder: Path, model: str, runner: LocalRunner | None = None) -> dict[str, bytes]:
    """All that an ingest of the log beside a folder writes there, and its rejects."""
    folder.mkdir()
    options = IngestOptions(model=parse_model(model), rejects=str(folder / "rejects"))
    ingest([str(folder.parent / "log")], str(folder / "events"), options, runner)
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of readers of one row or two, in this process."""
    monkeypatch.setattr(apart, "can_fork", lambda: False)
    monkeypatch.setattr("cepctl.io.tabular.delimited._BLOCK_BYTES", 24)
    monkeypatch.setattr("cepctl.io.tabular.json_lines._BLOCK_BYTES", 1)


@pytest.mark.parametrize(
    ("model", "loads"),
    [
        (BELOW_TEN_AS_TEXT, [9, 10, 8, 95, "x", 11]),
        (BELOW_TEN_AS_TEXT, [9, 9.5, "x", 10]),
        (BELOW_TEN, [9, 10, 8, 1, 9.5, 11]),
        (BELOW_TEN, [None, None, 9, 10]),
        (CLOCKS, [9, 10, 9.5, 9]),
    ],
    ids=["text", "numbers and text", "numbers", "missing at first", "names of clocks"],
)
@pytest.mark.parametrize("log", [csv, json_lines])
def test_a_rule_fits_the_same_events_in_chunks_of_any_size(
    log: Callable[[Sequence[Value]], str],
    model: str,
    loads: Sequence[Value],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "log").write_text(log(loads))
    whole = taken_in(tmp_path / "whole", model)
    assert taken_in(tmp_path / "in parts", model, LocalRunner(block_bytes=30)) == whole
    monkeypatch.setattr(reading, "CHUNK_EVENTS", 1)
    assert taken_in(tmp_path / "in chunks", model) == whole


def test_a_rule_that_does_not_fit_the_whole_file_is_refused_also_in_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").write_text(csv([9, 10, 8, 95, "x", 11]))
    for rows in (100, 1):
        monkeypatch.setattr(reading, "CHUNK_EVENTS", rows)
        with pytest.raises(UncertaintyModelError, match="rule 1: where cannot be evaluated: cannot compare"):
            taken_in(tmp_path / f"chunks of {rows}", BELOW_TEN)


def test_a_file_is_read_once_where_rules_read_nothing_that_its_chunks_show_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").write_text(csv([9, 10, "x", 11]))
    monkeypatch.setattr(reading, "CHUNK_EVENTS", 1)
    opened: list[Location] = []

    def noting(location: Location, part: FilePart | None = None) -> AbstractContextManager[OpenLog]:
        opened.append(location)
        return open_log(location, part)

    monkeypatch.setattr(reading, "open_log", noting)
    taken_in(tmp_path / "events", f"""rule = [{{ where = "event_id LIKE '%1'", {WIDE} }}]""")
    assert len(opened) == 1


@pytest.mark.parametrize("last", ["x", 2.5, 1])
def test_numbers_beside_floats_are_the_same_in_blocks_of_any_size(
    last: Value, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block of integers and floats is of floats, unless a text in the next makes both texts."""
    (tmp_path / "log").write_text(json_lines([9_007_199_254_740_993, 0.5, 10_000_000_000, last]))
    in_rows = taken_in(tmp_path / "in rows", NO_RULE)
    monkeypatch.setattr("cepctl.io.tabular.json_lines._BLOCK_BYTES", 1 << 20)
    assert taken_in(tmp_path / "in one block", NO_RULE) == in_rows


@pytest.mark.parametrize("block", [1, 1 << 20], ids=["in blocks of a row", "in one block"])
@pytest.mark.parametrize("log", [csv, json_lines])
def test_whole_numbers_that_a_float_rounds_are_counted_in_a_note(
    log: Callable[[Sequence[Value]], str], block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepctl.io.tabular.delimited._BLOCK_BYTES", max(block, 24))
    monkeypatch.setattr("cepctl.io.tabular.json_lines._BLOCK_BYTES", block)
    wide = [2**53 + 1, 2**53 + 2, 2**63 - 1, -(2**53) - 1]
    (tmp_path / "whole").write_text(log(wide))
    (tmp_path / "mixed").write_text(log([*wide, 0.5]))

    def notes(name: str) -> list[str]:
        summary = ingest([str(tmp_path / name)], str(tmp_path / f"{name} events"), IngestOptions())
        return [notice for notice in summary.notices if "'load'" in notice]

    assert notes("whole") == []
    assert notes("mixed") == [
        "attribute 'load' holds int and float; its column is float, in which 3 whole numbers beyond 2^53 "
        "became the nearest it holds"
    ]

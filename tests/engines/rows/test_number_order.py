"""Rows as numbers come in the order of their texts, and are made the rows that texts would have given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch
from cepctl.engines.rows import number_order
from cepctl.engines.rows.kept import KeptRows, RowCounts
from cepctl.engines.rows.number_order import OrderedNumbers
from cepctl.engines.rows.numbers import NumberedRows, RowMaker
from cepctl.engines.rows.order import ordered
from cepctl.engines.rows.sorted import SortedRows, WantedRows
from cepctl.numeric.arrays import Reals
from cepctl.numeric.precision import CONFIDENCE_DECIMALS
from cepctl.process.memory import PROGRAM_BYTES, MemoryBudget

SCHEMA = pa.schema(
    [
        pa.field("signature", pa.list_(pa.list_(pa.string()))),
        *(pa.field(name, pa.int64()) for name in ("start", "end")),
        pa.field("confidence", pa.float64()),
        pa.field("first", pa.string()),
    ]
)
# What stands before, between and after the blank and the plus, and what is encoded.
LETTERS = "ab\t!)*,%+ \x01é\U0001f600"
IDS = st.lists(st.text(LETTERS, max_size=4), min_size=1, max_size=9, unique=True)
CLOSE = 0.1 + 0.2
CONFIDENCES = st.sampled_from(
    [0.3, CLOSE, 0.94, 0.9400000000000001, 0.3 + 4e-10, 0.3 + 6e-10, 1.0, 5e-324, 1e-9, 0.25, 1 / 3, 0.7]
)
STARTS = st.sampled_from([0, 1, 2, -3, 5, 1 << 40, -(1 << 62), 1 << 62])


def maker_of(ids: Sequence[str]) -> RowMaker:
    names = pa.array(ids, pa.string())

    def returned(matches: MatchBatch) -> Mapping[str, pa.Array]:
        first = matches.bound[0]
        return {
            "first": names.take(
                pa.array(first.members[first.offsets[:-1]] if isinstance(first, Group) else first)
            )
        }

    return RowMaker(names, SCHEMA, returned)


@st.composite
def numbered(draw: st.DrawFn, ids: Sequence[str], *, groups: bool) -> NumberedRows:
    """Some rows of different signatures; `groups`: of one or more events each."""
    events = st.integers(0, len(ids) - 1)
    group = st.lists(events, min_size=1, max_size=3 if groups else 1).map(tuple)
    length = draw(st.integers(1, 3))
    found = draw(st.lists(st.tuples(*[group] * length), min_size=1, max_size=12, unique=True))
    bound: list[Bindings] = []
    for at in range(length):
        members = np.array([event for row in found for event in row[at]], dtype=np.int64)
        offsets = np.concatenate([[0], np.cumsum([len(row[at]) for row in found])]).astype(np.int64)
        bound.append(Group(offsets, members) if groups else members)
    start, end = (np.array([draw(STARTS) for _ in found], dtype=np.int64) for _ in range(2))
    confidence: Reals = np.array([draw(CONFIDENCES) for _ in found])
    return NumberedRows(maker_of(ids), MatchBatch(tuple(bound), start, end, confidence))


@st.composite
def several(draw: st.DrawFn) -> list[NumberedRows]:
    """Rows of one maker or two, whose ids differ so that no signature comes twice."""
    groups, ids = draw(st.booleans()), draw(IDS)
    found = [draw(numbered(ids, groups=groups))]
    if draw(st.booleans()):
        found.append(draw(numbered([f"{name}'" for name in ids], groups=draw(st.booleans()))))
    return found


def in_order(rows: pa.Table) -> pa.Table:
    """Rows by what the contract says, compared one by one."""
    rank = [round(each, CONFIDENCE_DECIMALS) for each in rows.column("confidence").to_pylist()]
    start, match = rows.column("start").to_pylist(), rows.column("match").to_pylist()
    return rows.take(sorted(range(len(rank)), key=lambda row: (-rank[row], start[row], match[row])))


def made(rows: OrderedNumbers) -> pa.Table:
    return pa.concat_tables(piece() for piece in rows.pieces())


@given(several(), st.integers(1, 5), st.integers(1, 5))
def test_numbers_are_ordered_as_their_texts_are(
    held: list[NumberedRows], at_once: int, rows_of_piece: int
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(number_order, "_AT_ONCE", at_once)
        patched.setattr(number_order, "ROWS_OF_PIECE", rows_of_piece)
        found = made(OrderedNumbers.of(held))
    wanted = ordered(pa.Table.from_batches([rows.batch() for rows in held]))
    assert wanted.equals(in_order(wanted))
    assert found.schema == wanted.schema
    assert found.equals(wanted)


@given(several(), st.sampled_from([1, 300, 10**6]), st.integers(1, 4), st.none() | st.integers(0, 9))
def test_sorted_rows_are_the_same_in_memory_and_on_disk(
    held: list[NumberedRows], size: int, at_once: int, limit: int | None
) -> None:
    wanted = ordered(pa.Table.from_batches([rows.batch() for rows in held]))
    with TemporaryDirectory() as folder:
        found = SortedRows(SCHEMA, WantedRows(), MemoryBudget(PROGRAM_BYTES + 16 * size), Path(folder))
        for rows in held:
            for first in range(0, rows.num_rows, at_once):
                found.add(rows.take(np.arange(first, min(first + at_once, rows.num_rows))))
        assert found.spilled or size > 1
        assert pa.concat_tables(found.blocks()).equals(wanted)
        some = pa.concat_tables(piece() for piece in found.pieces(limit))
        assert some.equals(wanted.slice(0, limit))
        assert found.counts == RowCounts.of(wanted)
        if not found.spilled:
            flat = pa.concat_tables(piece() for piece in found.pieces(nested=False))
            assert flat.equals(wanted.drop_columns(["signature"]))
            assert found.table().equals(wanted)


@given(several(), STARTS, STARTS)
def test_rows_that_start_at_other_times_are_left_out(held: list[NumberedRows], first: int, last: int) -> None:
    for rows in held:
        start = rows.matches.start
        wanted = rows.batch().filter(pa.array((start >= first) & (start <= last)))
        assert WantedRows(None, KeptRows(first, last)).of(rows).batch().equals(wanted)


def test_long_ids_are_made_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of strings holds 2 GB."""
    monkeypatch.setattr(number_order, "_MOST_TEXT", 100)
    ids = [f"{number:030d}" for number in range(8)]
    matches = MatchBatch((np.arange(8),), np.zeros(8, np.int64), np.zeros(8, np.int64), np.ones(8))
    rows = OrderedNumbers.of([NumberedRows(maker_of(ids), matches)])
    assert [piece().num_rows for piece in rows.pieces()] == [2, 2, 2, 2]

"""Rows in their one order, in memory and on disk: how they came and how little was held changes nothing."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from cepctl.engines.rows import runs, sorted
from cepctl.engines.rows.kept import KeptRows, RowCounts
from cepctl.engines.rows.order import ordered
from cepctl.engines.rows.sorted import SortedRows, WantedRows
from cepctl.errors import JobError, QueryTooLargeError
from cepctl.process.memory import PROGRAM_BYTES, MemoryBudget

AMPLE = MemoryBudget(10**9)
ROWS = 1_500


def random_rows(seed: int = 1) -> pa.Table:
    """Rows with many ties in confidence and start; confidences differ beyond the ninth decimal, too."""
    random = np.random.default_rng(seed)
    confidence = random.integers(1, 6, ROWS) / 5 - random.random(ROWS) * 1e-11
    signature = [[[f"a{i % 70}"], [f"b{i}", f"c{i}"][: 1 + i % 2]] for i in random.permutation(ROWS)]
    return pa.table(
        {
            "signature": pa.array(signature, pa.list_(pa.list_(pa.string()))),
            "start": random.integers(0, 9, ROWS),
            "end": random.integers(10, 19, ROWS),
            "confidence": confidence,
        }
    )


def budget_for_rows(size: int) -> MemoryBudget:
    return MemoryBudget(PROGRAM_BYTES + 16 * size)


def gathered(
    rows: pa.Table, memory: MemoryBudget, folder: Path, wanted: WantedRows | None = None, at_once: int = 90
) -> SortedRows:
    found = SortedRows(rows.schema, wanted or WantedRows(), memory, folder)
    for batch in rows.to_batches(max_chunksize=at_once):
        found.add(batch)
    return found


def in_one(rows: SortedRows) -> pa.Table:
    return pa.concat_tables(rows.blocks()).combine_chunks()


@pytest.mark.parametrize(
    ("size", "batch_bytes"), [(2_000, 100), (5_000, 300), (40_000, 2_000), (5_000, 1 << 18)]
)
def test_rows_from_disk_are_those_that_memory_would_have_given(
    size: int, batch_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "BATCH_BYTES", batch_bytes)
    rows = random_rows()
    found = gathered(rows, budget_for_rows(size), tmp_path)
    assert found.spilled
    assert in_one(found).equals(ordered(rows).combine_chunks())
    assert in_one(found).num_rows == found.found == ROWS


def test_runs_beyond_what_is_merged_at_once_become_longer_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorted, "FAN_IN", 3)
    rows = random_rows()
    found = gathered(rows, budget_for_rows(1), tmp_path)
    assert len(list(tmp_path.iterdir())) < 12
    assert in_one(found).equals(ordered(rows).combine_chunks())


def test_a_merge_takes_one_block_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "BATCH_BYTES", 1_000)
    found = gathered(random_rows(), budget_for_rows(10_000), tmp_path)
    assert max(block.num_rows for block in found.blocks()) < ROWS // 4


def test_rows_that_fit_touch_no_disk(tmp_path: Path) -> None:
    rows = random_rows()
    found = gathered(rows, AMPLE, tmp_path)
    assert in_one(found).equals(ordered(rows).combine_chunks())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("top", [1, 7, 400, ROWS, 2 * ROWS])
@pytest.mark.parametrize("size", [1, 20_000, 10**8])
def test_the_best_rows_are_the_first_of_all(top: int, size: int, tmp_path: Path) -> None:
    rows = random_rows()
    found = gathered(rows, budget_for_rows(size), tmp_path, WantedRows(top))
    assert in_one(found).equals(ordered(rows, top).combine_chunks())
    assert found.counts == RowCounts.of(ordered(rows, top))


def test_few_best_rows_need_no_disk(tmp_path: Path) -> None:
    gathered(random_rows(), budget_for_rows(20_000), tmp_path, WantedRows(5))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [1, 10**8])
def test_rows_that_start_too_early_or_too_late_are_found_and_not_kept(size: int, tmp_path: Path) -> None:
    rows = random_rows()
    found = gathered(rows, budget_for_rows(size), tmp_path, WantedRows(None, KeptRows(3, 5)))
    starts = rows.column("start").to_numpy()
    wanted = rows.filter(pa.array((starts >= 3) & (starts <= 5)))
    assert in_one(found).equals(ordered(wanted).combine_chunks())
    assert (found.found, found.counts) == (ROWS, RowCounts.of(wanted))


def test_what_tasks_have_gathered_is_merged(tmp_path: Path) -> None:
    rows = random_rows()
    whole = gathered(rows.slice(0, 100), budget_for_rows(5_000), tmp_path)
    for start in range(100, ROWS, 500):
        task = gathered(rows.slice(start, 500), budget_for_rows(9_000), tmp_path)
        whole.adopt(task.gathered())
    assert in_one(whole).equals(ordered(rows).combine_chunks())
    assert (whole.found, whole.counts) == (ROWS, RowCounts.of(rows))


def test_what_must_see_all_rows_is_refused_with_their_size(tmp_path: Path) -> None:
    found = gathered(random_rows(), budget_for_rows(5_000), tmp_path)
    with pytest.raises(QueryTooLargeError, match=r"1,500 matches take \d+ kB of memory, where 5 kB"):
        found.table()


def test_no_rows_are_an_empty_block(tmp_path: Path) -> None:
    nothing = random_rows().slice(0, 0)
    found = gathered(nothing, AMPLE, tmp_path)
    assert [block.num_rows for block in found.blocks()] == [0]
    assert found.counts == RowCounts()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named_with_what_helps(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(JobError, match=r"cannot write rows that do not fit in memory to .*TMPDIR"):
        gathered(random_rows(), budget_for_rows(5_000), tmp_path)


@pytest.mark.parametrize("rows_of_part", [20, 100, 499, ROWS, 10 * ROWS])
def test_parts_merged_one_by_one_are_in_sequence_the_rows_in_their_order(
    rows_of_part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "BATCH_BYTES", 1_000)
    rows = random_rows(3)
    found = gathered(rows, budget_for_rows(5_000), tmp_path)
    parts = pickle.loads(pickle.dumps(found.parts(rows_of_part)))
    tables = [pa.concat_tables(part.blocks(2_000)) for part in reversed(parts)][::-1]
    assert [table.num_rows for table in tables[:-1]] == [rows_of_part] * (len(tables) - 1)
    assert pa.concat_tables(tables).combine_chunks().equals(ordered(rows).combine_chunks())


def test_a_part_reads_little_of_what_comes_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "BATCH_BYTES", 1_000)
    found = gathered(random_rows(4), budget_for_rows(20_000), tmp_path)
    openings = found.parts(100)[-1].openings
    assert sum(opening.rows_before for opening in openings) > ROWS // 2

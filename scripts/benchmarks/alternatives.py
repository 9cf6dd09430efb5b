"""Other ways to the same confidences: an expert's SQL in DuckDB, and sampled worlds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from any_match import stored_five_percent, whole_size
from engine import matches_of
from judge import check_periodic
from measuring import once
from peers import duckdb_confidences, duckdb_connection, has
from results import CheckFailed, Goal, Row, Setup, left_out
from workloads import FIVE_PERCENT, SEED, appendix_c, stored

WORLDS = 1_000


def sql(setup: Setup) -> Iterator[Row]:
    """The confidences of an expert's SQL, compared match by match.

    Seconds are those per match: DuckDB's on events few enough for it, ours on as many as `any_match` takes.
    """
    for half_width, full, quick, least in ((10, 100_000, 10_000, 100), (50, 10_000, 2_000, 300)):
        case = f"3 components, d = {half_width}"
        if not has("duckdb"):
            yield left_out(case, "duckdb")
            continue
        size = setup.events(full, quick)
        path = stored(setup.folder, f"sql_{half_width}", appendix_c(size, half_width))
        _, matches = matches_of(replace(setup, repeats=1), FIVE_PERCENT.plan, path)
        check_periodic(matches, FIVE_PERCENT, half_width, size)
        connection = duckdb_connection(setup.cores)
        theirs, found = once(partial(duckdb_confidences, connection, path, FIVE_PERCENT))
        _compare(matches, found)
        path = stored_five_percent(setup, half_width)
        timing, all_matches = matches_of(setup, FIVE_PERCENT.plan, path)
        check_periodic(all_matches, FIVE_PERCENT, half_width, whole_size(setup))
        own = Row(case, timing, all_matches.num_rows, checked="each confidence that DuckDB finds")
        yield replace(
            own, ratio=theirs.seconds / matches.num_rows / own.seconds_each,
            against="how many times longer DuckDB takes, per match", goal=Goal("at least", least),
            note=f"DuckDB: {theirs.seconds:.1f} s for {matches.num_rows:,} matches",
        )  # fmt: skip


def _compare(matches: pa.Table, found: pa.Table) -> None:
    """Raise CheckFailed unless both have the same matches with the same confidences."""
    own = {
        tuple(name for (name,) in row["signature"]): row["confidence"]
        for row in matches.select(["signature", "confidence"]).to_pylist()
    }
    theirs = {(row["id0"], row["id1"], row["id2"]): row["confidence"] for row in found.to_pylist()}
    if own.keys() != theirs.keys():
        raise CheckFailed(f"cepctl has {len(own)} matches, DuckDB {len(theirs)}")
    worst = max(abs(own[key] - theirs[key]) / theirs[key] for key in own)
    if worst > 1e-9:
        raise CheckFailed(f"some confidence differs from DuckDB's by {worst}")


def monte_carlo(setup: Setup) -> Iterator[Row]:
    """A thousand sampled worlds, each joined over whole columns: what they take and what they never see."""
    size = setup.events(10_000, 2_000)
    for half_width in (10, 50):
        path = stored(setup.folder, f"worlds_{half_width}", appendix_c(size, half_width))
        timing, matches = matches_of(setup, FIVE_PERCENT.plan, path)
        check_periodic(matches, FIVE_PERCENT, half_width, size)
        table = pq.read_table(path)
        sampling, seen = once(partial(_matches_seen, table))
        missed = 1 - seen / matches.num_rows
        yield Row(
            f"{WORLDS:,} worlds, d = {half_width}", timing, matches.num_rows,
            ratio=sampling.seconds / timing.seconds, against="how many times longer sampling takes",
            checked="count and sum", note=f"sampling never sees {missed:.1%} of the matches",
        )  # fmt: skip


def _matches_seen(table: pa.Table) -> int:
    """Number of distinct matches in `WORLDS` sampled worlds."""
    random = np.random.default_rng(SEED)
    lower, upper, value = (table.column(name).to_numpy() for name in ("lower", "upper", "val"))
    parts = [np.flatnonzero(value % FIVE_PERCENT.modulus == each) for each in FIVE_PERCENT.values]
    seen = np.zeros(0, dtype=np.int64)
    held: list[np.ndarray] = []
    for world in range(WORLDS):
        first, middle, last = (random.integers(lower[part], upper[part] + 1) for part in parts)
        held.append(_matches_in_world(first, middle, last, FIVE_PERCENT.window))
        if world % 50 == 49:
            seen = np.unique(np.concatenate([seen, *held]))
            held = []
    return len(seen)


def _matches_in_world(first: np.ndarray, middle: np.ndarray, last: np.ndarray, window: int) -> np.ndarray:
    """Numbers that stand for the matches at these ticks."""
    by_middle, by_last = np.argsort(middle, kind="stable"), np.argsort(last, kind="stable")
    row, at = _pairs(first, first + window, middle[by_middle])
    held, third = _pairs(middle[by_middle][at], first[row] + window, last[by_last])
    number: np.ndarray = (row[held] * len(middle) + by_middle[at[held]]) * len(last) + by_last[third]
    return number


def _pairs(after: np.ndarray, before: np.ndarray, ticks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of a row and a place in sorted `ticks` strictly between its two limits."""
    begin = np.searchsorted(ticks, after, side="right")
    count = np.maximum(np.searchsorted(ticks, before, side="left") - begin, 0)
    row = np.repeat(np.arange(len(after)), count)
    number = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, begin[row] + number

"""Which rows are kept is one answer, whoever holds them: as matches, as numbers or as columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns.bindings import MatchBatch
from cepctl.engines.rows.kept import ALL_ROWS, KeptRows

TICK = st.none() | st.integers(-3, 6)


@given(st.lists(st.integers(-4, 7)), TICK, TICK)
def test_rows_that_start_at_other_times_are_left_out_of_matches_and_columns(
    starts: list[int], first: int | None, last: int | None
) -> None:
    start = np.array(starts, dtype=np.int64)
    wanted = [each for each in starts if (first is None or each >= first) and (last is None or each <= last)]
    kept = KeptRows(first, last)
    matches = MatchBatch((np.arange(len(start)),), start, start + 1, np.ones(len(start)))
    assert kept.matches(matches).start.tolist() == wanted
    assert kept.rows(pa.table({"start": start})).column("start").to_pylist() == wanted
    assert kept.all_are == (first is None and last is None)


def test_where_nothing_is_asked_for_nothing_is_copied() -> None:
    matches = MatchBatch((np.arange(2),), np.arange(2), np.arange(2), np.ones(2))
    assert ALL_ROWS.matches(matches) is matches

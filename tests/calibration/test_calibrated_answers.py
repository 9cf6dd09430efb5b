"""Rows of queries: what is stated is what the judge says of the blurred events, and truth is by hand."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cepctl
from cepctl.calibration.result import Calibration, ShownRow
from cepctl.calibration.scores import wilson

Drawn = list[dict[str, Any]]
Row = tuple[str, ...]
events = st.lists(
    st.fixed_dictionaries(
        {
            "event_type": st.sampled_from("ABC"),
            "key": st.sampled_from(["k1", "k2"]),
            "lower": st.integers(0, 7),
        }
    ),
    min_size=2,
    max_size=6,
)
blurs = st.sampled_from(
    [{"coarsen": "3 ms"}, {"coarsen": "5 ms"}, {"jitter": "1 ms"}, {"clock": "by=key 2 ms"}]
)


def table_of(drawn: Drawn) -> pa.Table:
    named = [{**each, "upper": each["lower"], "event_id": f"e{at}"} for at, each in enumerate(drawn)]
    return pa.Table.from_pylist(named)


def calibrated(query: str, drawn: Drawn, **options: Any) -> Calibration:
    return cepctl.calibrate(query, table_of(drawn), **options)


def shown(found: Calibration) -> dict[Row, ShownRow]:
    return {tuple(each.event_id for each in row.events): row for rows in found.shown for row in rows}


def in_order(types: str, drawn: Drawn) -> Callable[[str], bool]:
    """Whether SEQ of some types, all of one key, is true of a row, told by its ids."""

    def holds(row: str) -> bool:
        bound = [drawn[int(each[1:])] for each in row.split()]
        ticks = [each["lower"] for each in bound]
        right = [each["event_type"] for each in bound] == list(types)
        return right and all(a < b for a, b in pairwise(ticks))

    return holds


def tied(row: str, drawn: Drawn) -> bool:
    bound = [drawn[int(each[1:])] for each in row.split()]
    return any(a["lower"] == b["lower"] for a, b in combinations(bound, 2))


@given(events, blurs, st.sampled_from(["AB", "BA", "ABC"]), st.integers(1, 3))
def test_stated_is_what_the_judge_says_and_happened_what_is_true(
    drawn: Drawn, blur: dict[str, str], types: str, seed: int
) -> None:
    components = ", ".join(f"{kind} x{at}" for at, kind in enumerate(types))
    query = f"PATTERN SEQ({components}) WHERE [key]"
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder, "kept")
        try:
            found = calibrated(query, drawn, by="key", seed=seed, blurred=kept, **blur)
        except cepctl.CepctlError as problem:
            assert "hides nothing" in str(problem)
            return
        judged = cepctl.match(query, kept, engine="worlds", runner="local").polars()
    stated = dict(zip(judged.get_column("match"), judged.get_column("confidence"), strict=True))
    holds = in_order(types, drawn)
    open_rows = {
        row: s for row, s in stated.items() if 1e-9 < s < 1 - 1e-9 and (holds(row) or not tied(row, drawn))
    }
    assert found.rows == len(stated)
    assert found.tied == sum(tied(row, drawn) and not holds(row) for row in stated)
    assert found.impossible_happened == 0
    assert {" ".join(ids): (round(row.stated, 9), row.happened) for ids, row in shown(found).items()} == {
        row: (round(s, 9), holds(row)) for row, s in open_rows.items()
    }


# a1, b1 and b2 within one unit of 4 ticks: a1 < b1 in truth, and b2 is at the tick of a1.
DRAWN = [
    {"event_type": "A", "key": "k1", "lower": 1},
    {"event_type": "B", "key": "k1", "lower": 2},
    {"event_type": "B", "key": "k1", "lower": 1},
]


def test_a_row_whose_events_are_truly_at_one_tick_is_left_out() -> None:
    found = calibrated("PATTERN SEQ(A a, B b)", DRAWN, coarsen="4 ms")
    assert (found.rows, found.tied, found.open) == (2, 1, 1)
    assert [(row.stated, row.happened) for row in shown(found).values()] == [(6 / 16, True)]
    assert found.scores.brier == pytest.approx((10 / 16) ** 2)


def test_events_that_need_no_order_may_be_at_one_tick() -> None:
    found = calibrated("PATTERN AND(A a, B b) WITHIN 1 ticks", DRAWN, coarsen="4 ms")
    assert (found.rows, found.tied) == (2, 0)
    assert {ids: (round(row.stated, 9), row.happened) for ids, row in shown(found).items()} == {
        ("e0", "e1"): (0.25, False),
        ("e0", "e2"): (0.25, True),
    }


def test_a_condition_on_times_may_ask_for_order_too() -> None:
    found = calibrated("PATTERN AND(A a, B b) WHERE a.time < b.time", DRAWN, coarsen="4 ms")
    assert (found.rows, found.tied, found.open) == (2, 1, 1)


def test_members_of_a_set_may_be_at_one_tick_but_not_its_neighbours() -> None:
    drawn = [
        {"event_type": "A", "key": "k", "lower": 0},
        {"event_type": "B", "key": "k", "lower": 1},
        {"event_type": "B", "key": "k", "lower": 1},
        {"event_type": "C", "key": "k", "lower": 3},
    ]
    query = "PATTERN SEQ(A a, B+ b[], C c)"
    found = calibrated(query, drawn, coarsen="4 ms")
    assert (found.rows, found.tied, found.open) == (3, 0, 3)
    assert [each.steps for each in found.types] == [("A", "B", "C")]
    drawn[0]["lower"] = 1
    assert calibrated(query, drawn, coarsen="4 ms").tied == 3


def test_the_part_of_an_or_that_binds_a_row_says_whether_it_needs_order() -> None:
    query = "PATTERN OR(SEQ(A a, B b), AND(C c, B d)) WITHIN 1 minute"
    drawn = [{"event_type": kind, "key": "k", "lower": 1} for kind in "ABC"]
    assert calibrated(query, drawn, coarsen="4 ms").tied == 1


def test_an_order_that_another_part_of_the_or_asks_for_ties_nothing() -> None:
    """C and B are at one tick, as they may be; that A comes before them tells that the row did not happen."""
    query = "PATTERN OR(SEQ(A x, B y, D z), SEQ(AND(C c, B b), A a))"
    drawn = [{"event_type": kind, "key": "k", "lower": at} for kind, at in (("C", 1), ("B", 1), ("A", 0))]
    found = calibrated(query, drawn, coarsen="4 ms")
    assert (found.rows, found.tied, found.open, found.scores.happened) == (1, 0, 1, 0.0)


def test_members_of_a_sequence_are_tied_at_one_tick() -> None:
    """Either alone is a row that happened; together, in either order, nobody knows."""
    query = "PATTERN SEQ(A a, B+ b[]) WHERE b[i].key = b[i-1].key"
    drawn = [{"event_type": kind, "key": "k", "lower": at} for kind, at in (("A", 0), ("B", 1), ("B", 1))]
    found = calibrated(query, drawn, coarsen="4 ms")
    assert (found.rows, found.tied, found.open, found.scores.happened) == (4, 2, 2, 1.0)


def test_a_row_that_happened_is_not_tied() -> None:
    """One part of the OR asks for an order that nobody knows, the other for none."""
    query = "PATTERN OR(SEQ(A a, B b), AND(A c, B d)) WITHIN 2 ticks"
    drawn = [{"event_type": kind, "key": "k", "lower": 1} for kind in "AB"]
    found = calibrated(query, drawn, coarsen="4 ms")
    assert (found.tied, found.open, found.scores.happened) == (0, 1, 1.0)
    assert shown(found)["e0", "e1"].stated == 10 / 16


def test_a_threshold_of_the_query_leaves_nothing_out() -> None:
    query = "PATTERN SEQ(A a, B b) CONFIDENCE >= 0.9"
    assert calibrated(query, DRAWN, coarsen="4 ms").open == 1


def test_negation_and_next_match_speak_of_all_true_events() -> None:
    drawn = [
        {"event_type": "A", "key": "k", "lower": 0},
        {"event_type": "B", "key": "k", "lower": 1},
        {"event_type": "C", "key": "k", "lower": 2},
    ]
    found = calibrated("PATTERN SEQ(A a, !B b, C c)", drawn, jitter="2 ms")
    assert [(row.happened, row.stated < 1) for row in shown(found).values()] == [(False, True)]


def test_keys_are_stated_with_their_occurrence() -> None:
    """Of k1 the first of two events is at 6/16 and the second tied; k2 is of one row."""
    drawn = [
        *DRAWN,
        {"event_type": "A", "key": "k2", "lower": 9},
        {"event_type": "B", "key": "k2", "lower": 8},
    ]
    query = "PATTERN SEQ(A a, B b) WHERE [key] GROUP BY a.key"
    found = calibrated(query, drawn, coarsen="4 ms", by="key")
    assert (found.rows, found.tied, found.open, found.types) == (2, 0, 2, ())
    stated = cepctl.match(query, blurred_by_hand(drawn), runner="local").polars()
    assert sorted(round(each.stated, 9) for (each,) in zip(found.shown[0], strict=True)) == sorted(
        round(each, 9) for each in stated.get_column("occurrence")
    )
    assert sorted(row.happened for row in found.shown[0]) == [False, True]


def blurred_by_hand(drawn: Drawn) -> pl.DataFrame:
    return pl.DataFrame(
        [{**each, "lower": each["lower"] // 4 * 4, "upper": each["lower"] // 4 * 4 + 3} for each in drawn]
    )


def test_a_key_of_which_a_row_is_tied_is_left_out_unless_it_happened() -> None:
    drawn = [
        {"event_type": "A", "key": "k1", "lower": 2},
        {"event_type": "B", "key": "k1", "lower": 1},
        {"event_type": "B", "key": "k1", "lower": 2},
    ]
    query = "PATTERN SEQ(A a, B b) GROUP BY a.key"
    assert calibrated(query, drawn, coarsen="4 ms").tied == 1
    drawn[1]["lower"] = 3
    found = calibrated(query, drawn, coarsen="4 ms")
    assert (found.tied, found.open, found.scores.happened) == (0, 1, 1.0)


def test_the_whole_input_is_one_key() -> None:
    found = calibrated("PATTERN SEQ(A a, B b) GROUP BY ()", DRAWN, coarsen="4 ms")
    assert (found.rows, found.open, found.scores.happened) == (1, 1, 1.0)


def test_seeds_are_pooled_and_one_row_of_several_is_one_cluster() -> None:
    drawn = [{"event_type": "A", "key": "k", "lower": 5}, {"event_type": "B", "key": "k", "lower": 6}]
    parts = [calibrated("PATTERN SEQ(A a, B b)", drawn, jitter="20 ms", seed=seed) for seed in (4, 5, 6)]
    pooled = calibrated("PATTERN SEQ(A a, B b)", drawn, jitter="20 ms", seed=4, repeat=3)
    assert pooled.rows == sum(each.rows for each in parts) == 3
    assert pooled.scores.brier == pytest.approx(
        sum(each.open * (each.scores.brier or 0.0) for each in parts) / pooled.open
    )
    assert {row.seed for row in pooled.shown[0]} <= {4, 5, 6}


def test_a_row_that_happened_and_is_not_stated_is_counted() -> None:
    """Its condition reads the interval, and so holds of the true events alone."""
    found = calibrated("PATTERN SEQ(A a, B b) WHERE a.upper = 1", DRAWN, coarsen="4 ms")
    assert found.impossible_happened == 1


# Of k1 both rows happened, of k2 none, and each is stated at 45/100.
TWO_KEYS = [
    {"event_type": kind, "key": key, "lower": tick}
    for key, rows in (("k1", {"A": (1,), "B": (5, 6)}), ("k2", {"A": (8,), "B": (5, 6)}))
    for kind, ticks in rows.items()
    for tick in ticks
]


@pytest.mark.parametrize(
    ("query", "options", "rows", "independent"),
    [
        ("PATTERN SEQ(A a, B b) WHERE [key]", {}, 4, 4),
        ("PATTERN SEQ(A a, B b) WHERE [key]", {"by": "key"}, 4, 2),
        ("PATTERN SEQ(A a, B b) WHERE [key]", {"repeat": 3}, 12, 4),
        ("PATTERN SEQ(A a, B b) WHERE [key]", {"repeat": 3, "by": "key"}, 12, 2),
        (None, {"by": "key"}, 4, 2),
        (None, {"by": "key", "repeat": 5}, 20, 2),
    ],
)
def test_rows_that_come_out_together_count_as_one(
    query: str | None, options: dict[str, Any], rows: int, independent: int
) -> None:
    found = cepctl.calibrate(query, table_of(TWO_KEYS), coarsen="10 ms", **options)
    decile = found.scores.deciles[4]
    assert (decile.rows, decile.happened) == (rows, 0.5)
    assert (decile.low, decile.high) == pytest.approx(wilson(0.5, independent))


def test_keys_of_group_by_come_out_together_by_key_too() -> None:
    """Each event of B is a key, with one row."""
    query = "PATTERN SEQ(A a, B b) WHERE [key] GROUP BY b"
    alone = cepctl.calibrate(query, table_of(TWO_KEYS), coarsen="10 ms", repeat=2).scores.deciles[4]
    by_key = cepctl.calibrate(query, table_of(TWO_KEYS), coarsen="10 ms", repeat=2, by="key").scores.deciles[
        4
    ]
    assert alone.rows == by_key.rows == 8
    assert alone.low == pytest.approx(wilson(0.5, 4)[0])
    assert by_key.low == pytest.approx(wilson(0.5, 2)[0])

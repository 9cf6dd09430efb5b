"""Masses read from an event table: buckets, normalisation, and what is refused with the event's name."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cepctl.engines.columns.masses import Masses, masses_of, ticks_between
from cepctl.errors import EventSchemaError
from tests.plans import Event, event_table, histogram


def buckets(masses: Masses, event: int) -> list[tuple[int, int, float]]:
    """(first tick, last tick, probability) of one event's buckets."""
    part = slice(int(masses.starts[event]), int(masses.starts[event + 1]))
    lo, hi = masses.lo[part], masses.hi[part]
    return list(
        zip(lo.tolist(), hi.tolist(), (masses.density[part] * ticks_between(lo, hi)).tolist(), strict=True)
    )


def test_uniform_and_histogram_events_beside_each_other() -> None:
    masses = masses_of(
        event_table(
            [Event("u", "A", 3, 6), histogram("h", "A", (1, 2, 0.25), (5, 5, 0.75)), Event("c", "A", 7, 7)]
        )
    )
    assert [buckets(masses, i) for i in range(3)] == [
        [(3, 6, 1.0)],
        [(1, 2, 0.25), (5, 5, 0.75)],
        [(7, 7, 1.0)],
    ]
    assert not masses.uniform


def test_buckets_are_put_in_order_and_renormalised() -> None:
    masses = masses_of(event_table([histogram("h", "A", (5, 5, 0.75), (1, 2, 0.2500005))]))
    (first, second) = buckets(masses, 0)
    assert (first[:2], second[:2]) == ((1, 2), (5, 5))
    assert first[2] + second[2] == pytest.approx(1.0, abs=1e-15)


def test_empty_buckets_are_dropped_and_the_interval_with_them() -> None:
    masses = masses_of(event_table([histogram("h", "A", (0, 3, 0.0), (4, 5, 1.0), (8, 9, 0.0))]))
    assert buckets(masses, 0) == [(4, 5, 1.0)]
    assert (masses.lower.tolist(), masses.upper.tolist()) == ([4], [5])


def test_without_histograms_every_event_has_one_bucket() -> None:
    assert masses_of(event_table([Event("a", "A", 1, 5), Event("b", "A", 2, 2)])).uniform


def test_a_column_of_pmfs_may_be_missing_or_in_pieces() -> None:
    table = event_table(
        [Event("a", "A", 1, 5), histogram("h", "A", (1, 2, 0.5), (4, 4, 0.5)), Event("b", "A", 2, 2)]
    )
    assert masses_of(table.slice(0, 1).drop_columns(["pmf"])).uniform
    whole, pieces = masses_of(table), masses_of(pa.concat_tables([table.slice(0, 1), table.slice(1)]))
    assert [buckets(pieces, i) for i in range(3)] == [buckets(whole, i) for i in range(3)]
    assert buckets(masses_of(table.slice(1)), 0) == [(1, 2, 0.5), (4, 4, 0.5)]


def test_events_are_certain_where_each_has_one_tick() -> None:
    certain = event_table([Event("a", "A", 1, 1), Event("b", "B", 4, 4)])
    assert masses_of(certain).are_certain
    assert not masses_of(event_table([Event("a", "A", 1, 1), Event("b", "B", 4, 5)])).are_certain


def test_mirrored_time_turns_every_bucket_round() -> None:
    mirror = masses_of(
        event_table([histogram("h", "A", (1, 2, 0.25), (5, 5, 0.75)), Event("u", "A", 3, 6)])
    ).mirrored
    assert [buckets(mirror, i) for i in range(2)] == [[(-5, -5, 0.75), (-2, -1, 0.25)], [(-6, -3, 1.0)]]


def test_counts_of_ticks_beyond_int64() -> None:
    lo, hi = np.array([-(2**63), 0, 5]), np.array([2**63 - 1, 4, 5])
    assert ticks_between(lo, hi).tolist() == [2.0**64, 5.0, 1.0]


@pytest.mark.parametrize(
    ("pmf", "complaint"),
    [
        (((0, 1, 0.5), (3, 4, 0.4)), "whose probabilities do not sum to 1"),
        (((0, 3, 0.5), (3, 4, 0.5)), "with overlapping buckets"),
        (((3, 2, 1.0),), "with a bucket whose end is before its start"),
        (((0, 1, -0.5), (2, 3, 1.5)), "with a probability that is negative or not a number"),
        (((0, 1, float("nan")),), "with a probability that is negative or not a number"),
    ],
)
def test_a_wrong_pmf_is_refused_with_the_name_of_the_event(
    pmf: tuple[tuple[int, int, float], ...], complaint: str
) -> None:
    wrong = Event("e1", "A", 0, 9, pmf)
    with pytest.raises(EventSchemaError, match=f"event 'e1' has a pmf {complaint}"):
        masses_of(event_table([Event("fine", "A", 0, 3), wrong]))


def test_a_reversed_interval_is_refused_with_the_name_of_the_event() -> None:
    with pytest.raises(EventSchemaError, match="'e1'"):
        masses_of(event_table([Event("fine", "A", 0, 3), Event("e1", "A", 5, 4)]))


def test_a_missing_bound_is_refused() -> None:
    table = event_table([Event("e1", "A", 0, 3)])
    table = table.set_column(table.column_names.index("upper"), "upper", pa.nulls(1, pa.int64()))
    with pytest.raises(EventSchemaError, match="'e1'"):
        masses_of(table)

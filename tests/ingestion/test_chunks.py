"""The order of events in chunks and parts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cepctl.ingestion.chunks import sorted_events


def ordered(*keys: tuple[int, str]) -> list[tuple[int, str]]:
    lower, names = (
        pa.array([key[0] for key in keys], pa.int64()),
        pa.array([key[1] for key in keys], pa.string()),
    )
    table = pa.table({"lower": lower, "event_id": names})
    rows = sorted_events(table).to_pylist()
    return [(row["lower"], row["event_id"]) for row in rows]


@pytest.mark.parametrize(
    "keys",
    [
        [(1, "b"), (2, "a"), (3, "c")],
        [(2, "a"), (1, "b"), (3, "c")],
        [(1, "b"), (1, "a"), (2, "c")],
        [(1, "a"), (1, "b"), (1, "b"), (0, "z")],
        [(1, "Z"), (1, "a"), (1, "é"), (1, "😀")],
        [(1, "😀"), (1, "é")],
        [],
    ],
)
def test_events_are_in_order_of_time_and_then_of_ids_by_code_point(keys: list[tuple[int, str]]) -> None:
    assert ordered(*keys) == sorted(keys)


def test_what_is_in_order_already_is_not_moved() -> None:
    table = pa.table({"lower": [1, 1, 2], "event_id": ["a", "b", "a"]})
    assert sorted_events(table) is table

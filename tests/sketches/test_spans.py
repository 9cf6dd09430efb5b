"""How events are cut into spans, and what a place tells of its type."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cepctl.event_table import FIXED_COLUMNS
from cepctl.sketches import spans
from cepctl.sketches.listing import Indexed
from cepctl.sketches.places import places_of
from cepctl.sketches.spans import spans_of


def test_a_very_wide_event_blurs_no_span(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "SPAN_EVENTS", 4)
    lower = np.arange(0, 80, 10)
    upper = lower.copy()
    upper[[2, 5]] = 1_000_000
    found, of_event = spans_of(lower, upper, 7)
    assert found.last.tolist() == [40, 70, 1_000_000]
    assert (found.row_group == 7).all()
    assert of_event.tolist() == [0, 0, 2, 0, 0, 2, 1, 1]


def test_every_event_lies_in_its_span() -> None:
    rng = np.random.default_rng(5)
    lower = rng.integers(-(2**62), 2**62, 5_000)
    upper = np.minimum(lower + rng.integers(0, 2**61, 5_000), 2**62)
    found, of_event = spans_of(lower, upper, 0)
    assert (found.first[of_event] <= lower).all()
    assert (upper <= found.last[of_event]).all()
    assert found.events.tolist() == np.bincount(of_event).tolist()
    assert found.events.max() <= spans.SPAN_EVENTS


def test_no_events_have_no_spans() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert [len(each) for each in spans_of(nothing, nothing, 0)] == [0, 0]


def test_an_interval_event_reaches_to_its_end() -> None:
    events = pa.table(
        {
            name: pa.array(values, FIXED_COLUMNS[name])
            for name, values in {
                "event_type": ["A", "B"],
                "lower": [0, 1],
                "upper": [2, 3],
                "end_upper": [None, 90],
            }.items()
        }
    )
    found = places_of([(0, events)], Indexed(), 0.125)
    assert max(found.spans.column("last").to_pylist()) == 90

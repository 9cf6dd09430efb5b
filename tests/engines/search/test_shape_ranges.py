"""The ranges of PTJ06's join: which pairs can reach a threshold, told from their shapes alone."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.masses import shapes_of
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.event.match import match_events
from cepctl.engines.search.threshold import PairRange, pair_range
from tests.plans import Event, event_table, histogram, plan_of

# Example 3: of the stamps 60, 110 and 210 the bucket (x, y] is the ticks x + 1 to y.
H1 = histogram("a1", "A", (21, 40, 0.1), (41, 50, 0.3), (51, 60, 0.6))
H2 = histogram("b2", "B", (71, 80, 0.15), (81, 90, 0.3), (91, 100, 0.4), (101, 110, 0.15))


def found(one: Event, other: Event, bounds: tuple[int, int], confidence: float) -> PairRange:
    shapes = shapes_of(events_of(event_table([one, other])).masses)
    first = 0 if one.lower <= other.lower else 1
    return pair_range(shapes, first, 1 - first, bounds, confidence)


@pytest.mark.parametrize(("confidence", "expected"), [(0.5, PairRange(-30, 50)), (0.8, PairRange(-20, 39))])
def test_the_ranges_of_the_examples(confidence: float, expected: PairRange) -> None:
    assert found(H1, H2, (-40, 40), confidence) == expected


def test_the_satisfaction_time_of_the_paper_is_the_end_of_a_range() -> None:
    """stime(H3, H2, 0.8) is printed as 208.59: with ticks of 1 it is 110 + 99."""
    assert found(H1, H2, (FIRST, 0), 0.8) == PairRange(FIRST, -1)
    # H3 has the shape of H1 and the stamp 210: 210 - 110 + (-1) = 99.


def test_what_is_bounded_on_one_side_has_one_end() -> None:
    assert found(H1, H2, (0, LAST), 0.5).most == LAST
    assert found(H1, H2, (5, 4), 0.5) == PairRange(LAST, FIRST)


HISTOGRAMS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.sampled_from([1, 2, 5])), min_size=1, max_size=3
)


def event(name: str, drawn: list[tuple[int, int, int]]) -> Event:
    at, buckets = 0, []
    whole = sum(weight for _, _, weight in drawn)
    for hole, width, weight in drawn:
        buckets.append((at + hole, at + hole + width, weight / whole))
        at += hole + width + 1
    return histogram(name, name.upper(), *buckets)


@given(
    HISTOGRAMS,
    HISTOGRAMS,
    st.integers(-6, 6),
    st.integers(0, 12),
    st.sampled_from([0.05, 0.2, 0.4, 0.7, 0.95]),
)
def test_the_range_is_the_smallest_that_holds_all_that_reach_the_threshold(
    one: list[tuple[int, int, int]], other: list[tuple[int, int, int]], least: int, wide: int, asked: float
) -> None:
    a, b = event("a", one), event("b", other)
    most = least + wide
    masses = [
        {
            t - each.upper: Fraction(p) / (hi - lo + 1)
            for lo, hi, p in each.pmf or ()
            for t in range(lo, hi + 1)
        }
        for each in (a, b)
    ]
    reaching = [
        u
        for u in range(-60, 61)
        if sum(
            p * q
            for (x, p), (y, q) in product(masses[0].items(), masses[1].items())
            if least <= y + u - x <= most
        )
        >= asked - Fraction(1, 10**12)
    ]
    shapes = shapes_of(events_of(event_table([a, b])).masses)
    names = events_of(event_table([a, b])).ids.to_list()
    got = pair_range(shapes, names.index("a"), names.index("b"), (least, most), asked - 1e-12)
    assert (got.least, got.most) == ((reaching[0], reaching[-1]) if reaching else (LAST, FIRST))


def test_pairs_outside_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    from cepctl.engines.event.alternative import PreparedAlternative

    measured = []
    judged = PreparedAlternative.judged

    def counted(self: PreparedAlternative, bound: dict[int, np.ndarray]) -> object:
        measured.append(len(next(iter(bound.values()))))
        return judged(self, bound)  # type: ignore[arg-type]

    monkeypatch.setattr(PreparedAlternative, "judged", counted)
    events = event_table(
        [Event("a", "A", 0, 9), *(Event(f"b{k}", "B", k - 9, k) for k in range(100, -60, -1))]
    )
    query = "PATTERN AND(A a, B b) WITHIN 11 ticks"
    every = match_events(plan_of(query), events)
    assert sum(measured) == every.num_rows == 39
    measured.clear()
    rows = match_events(plan_of(f"{query} CONFIDENCE >= 0.7"), events)
    assert rows.num_rows == pc.sum(pc.greater_equal(every.column("confidence"), 0.7 - 1e-9)).as_py()
    assert sum(measured) == rows.num_rows < 20

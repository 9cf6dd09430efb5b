"""Chains whose rivals stay out of several gaps: carried densities against nested sums."""

from __future__ import annotations

import math

import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import METHODS
from cepctl.engines.solve.points import Found
from cepctl.numeric.arrays import Indexes
from tests.engines.agreement import RARE_EXAMPLES, check, rows_by_signature
from tests.engines.changed_methods import change, measure_nothing
from tests.plans import Event, event_table, plan_of

NAME = "density carried over several gaps"
COMPONENTS = ("A a{}", "* a{}", "A|B a{}", "A+ a{}[]")


@st.composite
def long_chains(draw: st.DrawFn) -> tuple[str, tuple[Event, ...]]:
    """A chain under a strategy that asks for others, groups of it in order, and a few wide events."""
    drawn = draw(st.lists(st.sampled_from(COMPONENTS), min_size=3, max_size=4))
    parts = [each.format(i) for i, each in enumerate(drawn)]
    groups = [i for i, each in enumerate(parts) if each.endswith("[]")]
    where = " AND ".join(f"a{i}[i].x >= a{i}[i-1].x" for i in groups)
    strategy = draw(st.sampled_from(["skip_till_next_match", "strict_contiguity"]))
    window = f" WITHIN {draw(st.integers(2, 12))} ticks"
    needed = len(parts) - 1 in groups or draw(st.booleans())
    query = f"PATTERN SEQ({', '.join(parts)}){' WHERE ' + where if where else ''} STRATEGY {strategy}"
    lowers = draw(st.lists(st.integers(0, 5), min_size=4, max_size=5))
    events = tuple(
        Event(
            f"e{i}",
            draw(st.sampled_from("AAB")),
            low,
            low + draw(st.integers(2, 6)),
            x=draw(st.integers(0, 2)),
        )
        for i, low in enumerate(lowers)
    )
    return query + (window if needed else ""), events


def test_they_agree_with_nested_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    (carried,) = (each.measure for each in METHODS if each.name == NAME)
    counted: list[int] = []

    def counting(batch: Batch, rows: Indexes) -> Found:
        found = carried(batch, rows)
        counted.append(len(found[0]))
        return found

    def agree(case: tuple[str, tuple[Event, ...]]) -> None:
        query, events = case
        plan, table = plan_of(query), event_table(events)
        with monkeypatch.context() as patch:
            patch.setattr("cepctl.engines.solve.methods.METHODS", METHODS)
            change(patch, NAME, counting)
            found = rows_by_signature(match_events(plan, table, MatchOptions()))
        with monkeypatch.context() as patch:
            measure_nothing(patch, NAME)
            wanted = rows_by_signature(match_events(plan, table, MatchOptions()))
        assert found.keys() == wanted.keys()
        for signature, row in wanted.items():
            own = found[signature]
            assert (own["start"], own["end"]) == (row["start"], row["end"])
            assert math.isclose(own["confidence"], row["confidence"], rel_tol=1e-11, abs_tol=1e-13)

    check(long_chains(), agree, RARE_EXAMPLES // 2)
    assert sum(counted) > 5

"""Absence at an edge of the window is a gap of the ring that order and window make."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from cepctl.engines.confidence.gaps.opened_rings import OpenedRing, opened_ring
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.event.match import match_events
from cepctl.engines.pattern.shapes import shape_of
from tests.absent_together_cases import absent_together_cases
from tests.engines.agreement import EXAMPLES, check, rows_by_signature
from tests.plans import event_table, plan_of
from tests.strategies import Case, negation_cases, next_match_cases

FACTOR = 701
"""Makes intervals wide, so that they are not tabulated tick by tick."""


def ring_of(pattern: str, rest: str = "WITHIN 10 ticks") -> OpenedRing | None:
    plan = plan_of(f"PATTERN SEQ({pattern}) STRATEGY skip_till_any_match {rest}")
    return opened_ring(shape_of(plan, plan.alternatives[0]))


@pytest.mark.parametrize(
    ("pattern", "order", "moved", "gaps"),
    [
        ("A a, !B n, C c", [0, 1], [0, 0], [0]),
        ("!B n, A a, C c", [1, 0], [-10, 0], [0]),
        ("A a, C c, !B n", [1, 0], [0, 10], [0]),
        ("!B n, A a, C c, D d", [2, 0, 1], [-10, 0, 0], [0]),
        ("!B n, A a, C c, !E m, D d", [1, 2, 0], [-10, -10, 0], [1, 0]),
        ("A a, !E m, C c, D d, !B n", [2, 0, 1], [0, 10, 10], [1, 0]),
    ],
)
def test_a_chain_is_opened_where_nothing_is_absent(
    pattern: str, order: list[int], moved: list[int], gaps: list[int]
) -> None:
    ring = ring_of(pattern)
    assert ring is not None
    assert ring.order.tolist() == order
    assert ring.moved.tolist() == moved
    assert list(ring.gaps.values()) == gaps


@pytest.mark.parametrize(
    ("pattern", "rest"),
    [
        ("!B n, A a", "WITHIN 10 ticks"),  # one event: nowhere to open
        ("!B n, A a, !D m, C c", "WITHIN 10 ticks"),  # every gap is spoken of
        ("!B n, A a, C c, !D m", "WITHIN 10 ticks"),  # both edges
        ("!B n, A a, C c", "WHERE a.time - n.time <= 3 ticks WITHIN 10 ticks"),  # not the whole gap
        ("!B n, A a, C c", "WHERE c.time - a.time <= 3 ticks WITHIN 10 ticks"),  # more than order and window
        ("!B n, A a, C+ c, D d", "WITHIN 10 ticks"),  # a group
    ],
)
def test_other_rules_are_left(pattern: str, rest: str) -> None:
    plan = plan_of(f"PATTERN SEQ({pattern}) {rest} STRATEGY skip_till_any_match")
    assert opened_ring(shape_of(plan, plan.alternatives[0])) is None


def test_a_gap_may_hold_the_tick_of_the_event_behind_it() -> None:
    """Of two x at one tick that with the smaller id is the first one."""
    plan = plan_of("PATTERN SEQ(A a, !N n, C c)")
    shape = shape_of(plan, plan.alternatives[0])
    (rule,) = shape.rules
    region = tuple(end if end.is_lower else replace(end, constant=0) for end in rule.regions[0])
    ring = opened_ring(replace(shape, rules=(rule, replace(rule, regions=(region,)))))
    assert ring is not None
    assert ring.gaps == {rule.regions[0]: 0, region: 0}
    assert ring.closed == {region}


@pytest.mark.parametrize("factor", [1, FACTOR])
@pytest.mark.parametrize("cases", [negation_cases, next_match_cases, absent_together_cases])
def test_opened_chains_have_the_confidence_of_nested_sums(cases: Any, factor: int) -> None:
    """And their time ranges."""

    def same(case: Case) -> None:
        plan = plan_of(re.sub(r"\d+(?= ticks)", lambda found: str(int(found[0]) * factor), case.query))
        rows = [_finer(row, factor) for row in case.table.to_pylist()]
        table = event_table([]).from_pylist(rows, case.table.schema)
        opened = rows_by_signature(match_events(plan, table))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Measure, "opened", None)
            nested = rows_by_signature(match_events(plan, table))
        assert opened.keys() == nested.keys()
        for signature, row in nested.items():
            found = opened[signature]
            assert (found["start"], found["end"]) == (row["start"], row["end"])
            assert found["confidence"] == pytest.approx(row["confidence"], rel=1e-10, abs=1e-15)

    check(cases(), same, EXAMPLES)


def _finer(row: dict[str, Any], factor: int) -> dict[str, Any]:
    """The same event on ticks that are so much finer."""
    finer = dict(row, lower=row["lower"] * factor, upper=row["upper"] * factor + factor - 1)
    if row["pmf"] is not None:
        finer["pmf"] = [
            dict(each, lo=each["lo"] * factor, hi=each["hi"] * factor + factor - 1) for each in row["pmf"]
        ]
    return finer

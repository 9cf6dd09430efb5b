"""Groups in order beside what may be absent; `test_engines_agree` has random ones of each alone."""

from __future__ import annotations

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from tests.engines.agreement import assert_same_rows
from tests.plans import Event, event_table, plan_of
from tests.random_patterns import NEXT


@pytest.mark.parametrize(
    ("pattern", "types"),
    [("SEQ(C a, A{1} b[], A? c) WITHIN 3 ticks", "CA"), ("SEQ(A? a, A{1} b[])", "AA")],
)
def test_a_counted_group_beside_what_may_be_absent(pattern: str, types: str) -> None:
    plan = plan_of(f"PATTERN {pattern} STRATEGY {NEXT}")
    table = event_table(Event(f"e{at}", kind, 2 * at, 2 * at) for at, kind in enumerate(types))
    rows = match_events(plan, table)
    assert rows.num_rows
    assert_same_rows(match_table(plan, table), rows)

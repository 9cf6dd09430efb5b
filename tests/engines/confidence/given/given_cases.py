"""Random queries of which something is given, and what it means that an engine agrees with the judge."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import ContradictionError
from cepctl.plan.plan import Plan
from tests.engines.agreement import assert_same_rows
from tests.engines.confidence.occurrence.groups_agree import assert_same_groups, by_key
from tests.plans import plan_of
from tests.strategies import Case

CLAUSES = (
    "SEQ(* p, * q) IF p.g = q.g AND p.lower < q.lower",
    "SEQ(* p, * q) IF p.event_id < q.event_id AND p.k = q.k",
    "SEQ(A p, B q) IF p.lower <= q.lower AND p.upper < q.upper",
    "SEQ(A|B p, C q) WITHIN 6 ticks IF p.event_id < q.event_id",
    "AND(A p, * q) WITHIN 4 ticks IF p.x = q.x AND abs(p.lower - q.lower) < 3",
    "SEQ(* p, * q, * r) WITHIN 8 ticks IF p.event_id < q.event_id AND q.event_id < r.event_id AND p.g <> r.g",
    "SEQ(B p, A q) IF p.k = q.k",
)


def with_given(cases: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    """Cases of which one or two clauses are given."""
    clauses = st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=2, unique=True)
    return st.builds(
        lambda case, given: replace(case, query=case.query + "".join(f" GIVEN {each}" for each in given)),
        cases,
        clauses,
    )


def agrees(case: Case) -> None:
    """The rows, or groups, or the contradiction of the judge, who decides every occurrence."""
    assert_judged(plan_of(case.query), case.table)


def assert_judged(plan: Plan, table: pa.Table, may_refuse: bool = False) -> None:
    """Same rows, or groups, or the same contradiction; what never matches is not held to what is given.

    With `may_refuse`, occurrences that the engine leaves open are not looked at.
    """
    if plan.never is not None:
        assert not match_events(plan, table).num_rows
        return
    judged = match_table if plan.group_by is None else group_table
    try:
        expected = judged(plan, table)
    except ContradictionError:
        with pytest.raises(ContradictionError):
            match_events(plan, table)
        return
    found = match_events(plan, table)
    if plan.group_by is None:
        assert_same_rows(expected, found)
        return
    left_open = [key for key, row in by_key(found, plan).items() if may_refuse and row["occurrence"] is None]
    assert_same_groups(plan, expected, found, left_open)

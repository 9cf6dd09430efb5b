"""What it means that GROUP BY returns what the judge says, and random cases of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.rows.groups import groups_in_order
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import QuerySemanticError, QueryTooLargeError
from cepctl.plan.plan import Plan
from tests.engines.agreement import CONFIDENCE_ERROR
from tests.plans import plan_of
from tests.strategies import Case

_EXACT = ("matches", "start", "end")
_PROBABILITIES = ("occurrence", "expected", "confidence")


@st.composite
def grouped(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> Case:
    """A case with GROUP BY: all matches as one group, or by attributes of events that every match binds."""
    case = draw(cases)
    query = case.query.split(" RETURN")[0]
    alternatives = plan_of(query).alternatives
    names = set.intersection(
        *(
            {each.variable for i in alternative.positive if not (each := alternative.components[i]).kleene}
            for alternative in alternatives
        )
    )
    keys = [f"{name}.{attribute}" for name in sorted(names) for attribute in "kgx"]
    chosen = draw(st.lists(st.sampled_from(keys), max_size=2, unique=True)) if keys else []
    asked = f"{query} GROUP BY {', '.join(chosen) or '()'}"
    try:
        plan_of(asked)
    except QuerySemanticError:
        # The plan has no part of an OR that can never match, and a key is asked of every part.
        asked = f"{query} GROUP BY ()"
    return replace(case, query=asked)


def by_key(groups: pa.Table, plan: Plan) -> Mapping[tuple[Any, ...], Mapping[str, Any]]:
    """Rows by their key, which no two share."""
    keys = [column.name for column in plan.group_by or ()]
    rows = groups.to_pylist()
    found = {tuple(row[key] for key in keys): row for row in rows}
    assert len(found) == len(rows), "a key was returned twice"
    return found


def assert_same_groups(
    plan: Plan, expected: pa.Table, actual: pa.Table, refused: Collection[tuple[Any, ...]] = ()
) -> None:
    """Same keys, ranges and counts; probabilities that differ by at most 1e-9; bounds that always hold.

    The occurrence of `refused` keys is not looked at.
    """
    wanted, got = by_key(expected, plan), by_key(actual, plan)
    assert set(got) == set(wanted)
    for key, row in wanted.items():
        for name in _EXACT:
            assert got[key][name] == row[name], f"{name} of {key}: {got[key][name]} instead of {row[name]}"
        for name in _PROBABILITIES[1:] if key in refused else _PROBABILITIES:
            assert abs(got[key][name] - row[name]) <= CONFIDENCE_ERROR, (
                f"{name} of {key}: {got[key][name]!r} instead of {row[name]!r}"
            )
        assert got[key]["best"] == row["best"]
        own = got[key]
        assert key in refused or own["confidence"] <= own["occurrence"] <= min(1.0, own["expected"])


def all_of_them_agree(case: Case) -> None:
    """All matches of a query as one group."""
    groups_agree(replace(case, query=f"{case.query.partition(' RETURN ')[0]} GROUP BY ()"))


def groups_agree(case: Case) -> None:
    """The event engine's groups are the judge's."""
    assert groups_agree_or_refused(case), "an occurrence is refused"


def groups_agree_or_refused(case: Case) -> bool:
    """The same, where no occurrence is refused; of one that is all else is the judge's.  Whether none is."""
    plan = plan_of(case.query)
    expected = group_table(plan, case.table)
    try:
        actual = match_events(plan, case.table)
    except QueryTooLargeError:
        # Without a key there is nothing beside it that could be lost.
        assert not plan.group_by
        return False
    refused = [key for key, row in by_key(actual, plan).items() if row["occurrence"] is None]
    assert_same_groups(plan, expected, actual, refused)
    return not refused


def in_order(groups: pa.Table, plan: Plan) -> list[Mapping[str, Any]]:
    """Rows in the order of the output."""
    rows: list[Mapping[str, Any]] = groups_in_order(groups, len(plan.group_by or ())).to_pylist()
    return rows

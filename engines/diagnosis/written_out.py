"""A match of `SEQ(...)+` as one of a pattern that writes each of its repetitions.

SEQ(A a, SEQ(B b[], C c[])+), a1 b1+c1+b3+c2     SEQ(A a, B b[1], C c[1], B b[2], C c[2])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import bound_by_component, group_link_holds
from cepctl.engines.diagnosis.conditions import link_condition
from cepctl.engines.diagnosis.failed_conditions import Reason
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Alternative, Plan
from cepctl.plan.unrolled import unrolled

Rows = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class WrittenOut:
    """The plan and the events of single components, and which conditions of the query these fail."""

    plan: Plan
    rows: Rows
    reasons: tuple[Reason, ...]


def has_form(alternative: Alternative, parts: Sequence[int]) -> bool:
    """Whether parts of so many events can be those of a match: of repetitions all components in one part."""
    turns = [alternative.turn(i) for i in alternative.positive if i == alternative.turn(i)[0]]
    return len(turns) == len(parts) and all(
        count % len(turn) == 0 if turn in alternative.repeated else count == 1
        for turn, count in zip(turns, parts, strict=True)
    )


def written_out(plan: Plan, fitting: Sequence[Alternative], events: Events, rows: Rows) -> WrittenOut:
    """The match of one alternative, which alone is `fitting`; `rows`: its events, part by part.

    Raises
    ------
    UnsupportedQueryError
        If conditions say what must not be there, or several alternatives fit.
    """
    alternative = fitting[0]
    if len(fitting) > 1:
        raise UnsupportedQueryError(
            "not supported yet: a match that several readings of a pattern with SEQ(...)+ may give; write "
            "each reading as a query"
        )
    if any(alternative.components[link.decides].negated for link in alternative.links):
        raise UnsupportedQueryError(
            "not supported yet: a match of SEQ(...)+ beside a condition on what is absent; write each of its "
            "repetitions"
        )
    turns = [alternative.turn(i) for i in alternative.positive if i == alternative.turn(i)[0]]
    sizes = {turn[0]: len(part) // len(turn) for turn, part in zip(turns, rows, strict=True)}
    form = unrolled(alternative, sizes)
    seen: dict[int, int] = {}
    components = []
    for i in form.origin[: len(form.origin) - len(form.rivals)]:
        component, seen[i] = alternative.components[i], seen.get(i, 0) + 1
        name = f"{component.variable}[{seen[i]}]" if component.kleene else component.variable
        components.append(replace(component, variable=name, kleene=False, ordered=False))
    single = replace(form.alternative, components=tuple(components), equalities=())
    return WrittenOut(
        replace(plan, alternatives=(single,)),
        [(event,) for part in rows for event in part],
        tuple(_unlinked(alternative, events, rows)),
    )


def _unlinked(alternative: Alternative, events: Events, rows: Rows) -> list[Reason]:
    """The conditions of the query that the events fail."""
    parts = [Group(np.array([0, len(part)]), np.array(part, dtype=np.int64)) for part in rows]
    bound = bound_by_component(alternative, parts)
    for i, each in bound.items():
        if isinstance(each, Group) and not alternative.components[i].kleene:
            bound[i] = each.members
    return [
        Reason(link_condition(link))
        for link in alternative.links
        if not group_link_holds(events, alternative, link, {i: bound[i] for i in link.components})[0]
    ]

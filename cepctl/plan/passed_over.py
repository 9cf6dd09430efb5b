"""The readings of a pattern in which next match passes over some of what may be absent.

    SEQ(A a, B* b[], C c)       SEQ(A a, B+ b[], C c)     the first C after a, and every B between them
                                SEQ(A a, !B b, C c)       the first C after a, and no B between them

What is passed over is a negated component, which fits by what was taken before it.  Which component takes
next follows from what was taken, so two readings bind the same events only where their first components
differ.

    SEQ(B? x, B? y, C c)        b1 c1: x alone, or y alone
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from cepctl.plan.plan import Alternative, AnyTiming, Plan, Scope


def readings_apart(plan: Plan, *, of_runs: bool = False) -> tuple[Alternative, ...]:
    """The alternatives of a plan, in place of each that leaves out sets all of its readings.

    `of_runs`: also of those whose matches take one event after the other.
    """
    found: list[Alternative] = []
    for each in plan.alternatives:
        apart = each.leaves_out_sets or (of_runs and each.passes_over)
        found += [_passing_over(each, out) for out in each.left_out] if apart else [each]
    return tuple(found)


def may_meet(plan: Plan) -> bool:
    """Whether one row may be of several readings."""
    return len(plan.alternatives) > 1 or any(map(_may_start_alike, plan.alternatives))


def _may_start_alike(alternative: Alternative) -> bool:
    """Whether one event may be the first of a match by each of two components."""
    types: list[set[str]] = []
    for component in (alternative.components[i] for i in alternative.positive):
        types.append({*component.event_types})
        if component.least or not alternative.passes_over:
            break
    return any(not (one and other) or bool(one & other) for one, other in combinations(types, 2))


def negated(alternative: Alternative, out: Sequence[int]) -> Alternative:
    """The alternative in which some components are negated; nothing that was asked of them is."""
    gone = set(out)

    def of_others(timings: Sequence[AnyTiming]) -> tuple[AnyTiming, ...]:
        return tuple(each for each in timings if not gone & {each.left, each.right})

    return replace(
        alternative,
        components=tuple(
            replace(each, negated=True, kleene=False, ordered=False) if i in gone else each
            for i, each in enumerate(alternative.components)
        ),
        links=tuple(each for each in alternative.links if not gone & {*each.components}),
        equalities=tuple(each for each in alternative.equalities if not gone & {each.left, each.right}),
        timings=of_others(alternative.timings),
        member_timings=of_others(alternative.member_timings),
    )


def _passing_over(alternative: Alternative, out: Sequence[int]) -> Alternative:
    """The reading in which these components take nothing; which events fit them is still asked."""
    taken = {i for i in alternative.positive if i not in out}
    links = tuple(
        link
        for link in alternative.links
        if not {*link.components} & {*out}
        or (
            link.decides in out and link.scope is Scope.EVENT and {*link.components} <= {*taken, link.decides}
        )
    )
    equalities = tuple(
        each
        for each in alternative.equalities
        if not {each.left, each.right} & {*out}
        or (max(each.left, each.right) in out and min(each.left, each.right) in taken)
    )
    return replace(
        negated(alternative, out),
        links=links,
        equalities=equalities,
        absent=tuple(alternative.components[i].variable for i in out),
        passes_over=False,
        passed_over=tuple(out),
    )

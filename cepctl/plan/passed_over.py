"""The readings of a pattern in which next match passes over some of what may be absent.

    SEQ(A a, B* b[], C c)       SEQ(A a, B+ b[], C c)     the first C after a, and every B between them
                                SEQ(A a, !B b, C c)       the first C after a, and no B between them

What is passed over is a negated component, which fits by what was taken before it.  No two readings bind the
same events.
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
        found += _readings(each) if apart else [each]
    return tuple(found)


def _readings(alternative: Alternative) -> list[Alternative]:
    optional = [i for i in alternative.positive if not alternative.components[i].least]
    most = min(len(optional), len(alternative.positive) - 1)
    return [_without(alternative, out) for size in range(most + 1) for out in combinations(optional, size)]


def _without(alternative: Alternative, out: Sequence[int]) -> Alternative:
    """The reading in which these components take nothing."""
    components = tuple(
        replace(each, kleene=False, negated=True) if i in out else each
        for i, each in enumerate(alternative.components)
    )
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

    def of_taken(timings: Sequence[AnyTiming]) -> tuple[AnyTiming, ...]:
        return tuple(each for each in timings if not {each.left, each.right} & {*out})

    return replace(
        alternative,
        components=components,
        links=links,
        equalities=equalities,
        timings=of_taken(alternative.timings),
        member_timings=of_taken(alternative.member_timings),
        absent=tuple(alternative.components[i].variable for i in out),
        passes_over=False,
        passed_over=tuple(out),
    )

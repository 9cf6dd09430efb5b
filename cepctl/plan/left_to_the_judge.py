"""What of a plan the event engine leaves to the worlds engine, though it runs each of its constructs."""

from __future__ import annotations

from collections.abc import Iterator

from cepctl.language.strategies import Absent
from cepctl.plan.plan import Alternative, Plan
from cepctl.plan.read_sets import sets_without_order


def left_to_the_judge(plan: Plan) -> Iterator[str]:
    """Its names, for a message; some may come twice."""
    yield from _sets_beside_runs(plan)
    for alternative in plan.alternatives:
        yield from _groups_in_and(alternative)


def _groups_in_and(alternative: Alternative) -> Iterator[str]:
    """What the event engine does not run beside a group inside AND."""
    for block in alternative.positive_blocks:
        for component in (alternative.components[i] for i in block if len(block) > 1):
            if component.kleene and alternative.reads_ends:
                yield f"{component.variable}[] inside AND beside conditions on the ends of events"


def _sets_beside_runs(plan: Plan) -> Iterator[str]:
    """The groups without order that are not run where matches take one event after the other."""
    runs = [each for each in plan.alternatives if each.in_runs(plan.strategy)]
    if plan.strategy.absent is Absent.NEARER:
        for name in dict.fromkeys(name for each in runs for name in sets_without_order(each)):
            yield f"{name}[] without order (a condition on {name}[..i] or {name}[last] gives it one)"

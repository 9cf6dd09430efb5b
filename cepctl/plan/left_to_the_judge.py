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
    for alternative in plan.alternatives:
        yield from _one_for_another(alternative)


def _one_for_another(alternative: Alternative) -> Iterator[str]:
    """Components of which either may be passed over and the other take the same events: one row for both."""
    components = [alternative.components[i] for i in alternative.positive]
    optional = [each for each in components if not each.least] if alternative.passes_over else []
    for one in optional if len(optional) > 1 else ():
        for other in components:
            alike = set(one.event_types) & set(other.event_types)
            if one is not other and (alike or not (one.event_types and other.event_types)):
                yield f"{one.variable}, which may be absent, beside {other.variable} of the same type"


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

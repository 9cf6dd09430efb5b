"""What of a plan the event engine leaves to the worlds engine, though it runs each of its constructs."""

from __future__ import annotations

from collections.abc import Iterator

from cepctl.plan.plan import Plan


def left_to_the_judge(plan: Plan) -> Iterator[str]:
    """Its names, for a message; some may come twice."""
    for alternative in plan.alternatives:
        for block in alternative.positive_blocks if alternative.reads_ends else ():
            for component in (alternative.components[i] for i in block if len(block) > 1):
                if component.kleene:
                    yield f"{component.variable}[] inside AND beside conditions on the ends of events"

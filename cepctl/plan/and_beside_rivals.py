"""Where AND may stand under a strategy by which other events decide a match."""

from __future__ import annotations

from collections.abc import Iterator

from cepctl.language.ast import Composite, Pattern
from cepctl.language.strategies import SKIP_TILL_ANY_MATCH, Absent, Strategy
from cepctl.plan.plan import Alternative, Component
from cepctl.plan.problems import QueryProblems

_ANY = SKIP_TILL_ANY_MATCH.word


def check_and(
    pattern: Pattern, alternative: Alternative, strategy: Strategy, problems: QueryProblems
) -> None:
    """Refuse by name what no engine runs of AND and ISEQ under `strategy`."""
    for what in _refused(pattern, alternative, strategy):
        problems.refuse(pattern.span, what)


def _refused(pattern: Pattern, alternative: Alternative, strategy: Strategy) -> Iterator[str]:
    if _has_iseq(pattern):
        yield f"ISEQ(...) under {strategy.word}; it runs under {_ANY}, and AND(...) of points here"
    components, before = alternative.components, list[Component]()
    for block in alternative.positive_blocks:
        members = [components[i] for i in block]
        if len(block) > 1:
            for each in members:
                if each.kleene:
                    yield f"{each.variable}[] inside AND under {strategy.word}; it runs under {_ANY}"
                elif not each.least and strategy.absent is Absent.NEARER:
                    yield (
                        f"{each.variable}, which may be absent, inside AND under {strategy.word}; "
                        "write an OR of two patterns"
                    )
            if strategy.absent is Absent.NEARER and any(each.kleene or not each.least for each in before):
                yield (
                    f"AND behind a group, or behind what may be absent, under {strategy.word}; "
                    f"it runs under {_ANY}"
                )
        # Where what is taken depends on what was, a group further ahead decides the AND, too.
        before = [*before, *members] if alternative.reads_taken else members


def _has_iseq(pattern: Pattern) -> bool:
    if not isinstance(pattern, Composite):
        return False
    return pattern.operator == "ISEQ" or any(map(_has_iseq, pattern.parts))

"""Where AND may stand under a strategy by which other events decide a match."""

from __future__ import annotations

from collections.abc import Iterator

from cepctl.language.ast import Composite, Pattern
from cepctl.language.strategies import SKIP_TILL_ANY_MATCH, Absent, Strategy
from cepctl.plan.plan import Alternative, Component
from cepctl.plan.problems import Problems

_ANY = SKIP_TILL_ANY_MATCH.word


def check_and(pattern: Pattern, alternative: Alternative, strategy: Strategy, problems: Problems) -> None:
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
            if strategy.absent is Absent.NEARER and any(i.kleene or not i.least for i in before):
                yield (
                    f"AND behind a group, or behind what may be absent, under {strategy.word}; "
                    f"it runs under {_ANY}"
                )
        before = members
    together = any(len(block) > 1 for block in alternative.positive_blocks)
    if together and strategy.absent is Absent.NEARER and alternative.reads_taken:
        what = "AND beside groups in order, or what may be absent,"
        yield f"{what} under {strategy.word}; it runs under {_ANY}"


def _has_iseq(pattern: Pattern) -> bool:
    if not isinstance(pattern, Composite):
        return False
    return pattern.operator == "ISEQ" or any(map(_has_iseq, pattern.parts))

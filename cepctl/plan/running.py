"""Where `RUNNING B+ b[]` and `SEQ(B b[], C c[])+` may stand: under which strategy, and in which place."""

from __future__ import annotations

from cepctl.language.strategies import Absent, Strategy
from cepctl.plan.or_free_patterns import OrFreePattern
from cepctl.plan.plan import Alternative
from cepctl.plan.problems import QueryProblems


def check_running(
    pattern: OrFreePattern, alternative: Alternative, strategy: Strategy, problems: QueryProblems
) -> None:
    """RUNNING stands before the last group, where a component takes the nearest event."""
    for i, (component, written) in enumerate(zip(alternative.components, pattern.components, strict=True)):
        if not component.running:
            continue
        if strategy.absent is not Absent.NEARER:
            problems.error(
                written.span,
                f"RUNNING has no meaning under {strategy.word}: write STRATEGY skip_till_next_match, or "
                "leave RUNNING out",
            )
        elif i != alternative.positive[-1]:
            behind = alternative.components[alternative.positive[-1]].variable
            problems.error(
                written.span,
                f"RUNNING stands before the last component, and {behind} comes after "
                f"{component.variable}[]: leave RUNNING or what follows out",
            )


def check_repetitions(
    pattern: OrFreePattern, alternative: Alternative, strategy: Strategy, problems: QueryProblems
) -> None:
    """SEQ(...)+ has no meaning yet where a component takes the nearest event."""
    if alternative.repeated and strategy.absent is Absent.NEARER:
        message = f"SEQ(...)+ under {strategy.word}; it runs under skip_till_any_match and contiguity"
        problems.refuse(pattern.components[alternative.repeated[0][0]].span, message)

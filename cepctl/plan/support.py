"""What runs where: constructs that are refused by name, and errors that a strategy decides.

One list serves the analyzer, the table in the documentation and `explain`.
"""

from __future__ import annotations

from cepctl.language.ast import NOWHERE, Query, Span, Strategy
from cepctl.plan.plan import Alternative, Scope
from cepctl.plan.problems import Problems
from cepctl.plan.readings import Reading


def check_support(
    reading: Reading,
    alternative: Alternative,
    strategy: Strategy,
    window: int | None,
    query: Query,
    problems: Problems,
) -> None:
    """Collect what this strategy does not run, and what it needs but the query lacks."""
    any_match = strategy is Strategy.SKIP_TILL_ANY_MATCH
    name = strategy.value
    if strategy is Strategy.PARTITION_CONTIGUITY and not query.partition_by:
        at = query.strategy.span if query.strategy else NOWHERE
        problems.error(at, "partition_contiguity needs [attr], the key that makes the partitions")
    if not any_match:
        for block in alternative.blocks:
            if len(block) > 1:
                problems.refuse(
                    query.pattern.span, f"AND(...) under {name}; it runs under skip_till_any_match"
                )
        for component, written in zip(alternative.components, reading.components, strict=True):
            if component.ordered:
                problems.refuse(
                    _order_span(alternative, written.span),
                    f"a predicate over the order of {component.variable}[] under {name}; "
                    "it runs under skip_till_any_match",
                )
    if window is None:
        _check_edges(reading, alternative, strategy, problems)
    if strategy is Strategy.SKIP_TILL_NEXT_MATCH:
        _check_after_group(alternative, problems)


def _check_edges(reading: Reading, alternative: Alternative, strategy: Strategy, problems: Problems) -> None:
    first, last = alternative.components[0], alternative.components[-1]
    for edge, component, where in ((0, first, "leading"), (-1, last, "trailing")):
        if component.negated:
            problems.error(
                reading.components[edge].span,
                f"a {where} negation needs WITHIN: without a window it looks at all time",
            )
    if last.kleene and strategy is Strategy.SKIP_TILL_NEXT_MATCH:
        problems.error(
            reading.components[-1].span,
            "a trailing Type+ under skip_till_next_match needs WITHIN, which ends it",
        )


def _check_after_group(alternative: Alternative, problems: Problems) -> None:
    for link in alternative.links:
        decided = alternative.components[link.decides]
        groups = [i for i in link.components if alternative.components[i].kleene and i < link.decides]
        if groups and not decided.negated:
            group = alternative.components[groups[0]].variable
            problems.refuse(
                link.expression.span,
                f"under skip_till_next_match, a component after {group}[] whose predicate reads {group}[]",
            )


def _order_span(alternative: Alternative, default: Span) -> Span:
    for link in alternative.links:
        if link.scope is Scope.ORDER:
            return link.expression.span
    return default

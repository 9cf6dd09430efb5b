"""What runs where: constructs refused by name, what a strategy needs, and the table of support.

One list serves the analyzer, the engines, `explain` and the table in the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import EventSchemaError, UnsupportedQueryError
from cepctl.language.ast import NOWHERE, Query, ReachedTick, Span
from cepctl.language.strategies import STRATEGIES, Absent, Strategy
from cepctl.language.traversal import walk
from cepctl.plan.or_free_patterns import OrFreePattern
from cepctl.plan.plan import Alternative, Component, Plan, Scope
from cepctl.plan.problems import Problems
from cepctl.schema import CLOCK

Engine = Literal["event", "point", "worlds"]
ENGINES: tuple[Engine, ...] = ("event", "point", "worlds")


class Construct(Enum):
    """A construct of the language, as the table of support names it."""

    SEQUENCE = "SEQ of single events"
    AND_GROUP = "AND groups"
    NEGATION = "negation"
    KLEENE = "Kleene groups"
    KLEENE_ORDER = "predicates over the order of a group"
    KLEENE_AGGREGATE = "aggregates over a group"
    TIMING = "timing constraints"
    OR = "OR"
    REACHED = "reached(...)"
    REACHED_CLOCKS = "reached(...) of events that share clocks"
    REACHED_GIVEN = "reached(...) beside GIVEN"
    CLOCKS = "shared clocks"
    GROUP_BY = "GROUP BY"
    GROUPED_CLOCKS = "GROUP BY of events that share clocks"
    GIVEN = "GIVEN"
    GIVEN_CLOCKS = "GIVEN of events that share clocks"
    GIVEN_GROUPED_CLOCKS = "GROUP BY beside GIVEN of events that share clocks"
    INTERVALS = "interval events"
    INTERVALS_NEGATION = "negation beside interval events"
    INTERVALS_KLEENE = "Kleene groups beside interval events"
    INTERVALS_WITH_KLEENE = "reached(...) beside Kleene groups and interval events"
    INTERVALS_OR = "OR of interval events"
    INTERVALS_CLOCKS = "interval events that share clocks"
    INTERVALS_ON_CLOCKS = "GIVEN beside interval events that share clocks"
    INTERVALS_GROUP_BY = "GROUP BY of interval events"
    INTERVALS_GIVEN = "GIVEN beside interval events"


_BESIDE_REACHED = {
    Construct.CLOCKS: Construct.REACHED_CLOCKS,
    Construct.GIVEN: Construct.REACHED_GIVEN,
}
"""What a construct is called where RETURN has `reached(...)`."""
_BESIDE_INTERVALS = {
    Construct.NEGATION: Construct.INTERVALS_NEGATION,
    Construct.KLEENE: Construct.INTERVALS_KLEENE,
    Construct.OR: Construct.INTERVALS_OR,
    Construct.CLOCKS: Construct.INTERVALS_CLOCKS,
    Construct.GROUP_BY: Construct.INTERVALS_GROUP_BY,
    Construct.GIVEN: Construct.INTERVALS_GIVEN,
}
"""What a construct is called where matches depend on the ends of events."""
_INTERVALS_TOGETHER = frozenset({Construct.INTERVALS_ON_CLOCKS, Construct.INTERVALS_WITH_KLEENE})
_OF_INTERVALS = frozenset({Construct.INTERVALS, *_INTERVALS_TOGETHER, *_BESIDE_INTERVALS.values()})
_WITHOUT_OTHERS = frozenset({Construct.AND_GROUP, Construct.KLEENE_ORDER, *_OF_INTERVALS})
"""What is defined where no other event decides a match, and refused where one does."""

_GROUPS = frozenset({Construct.KLEENE, Construct.KLEENE_ORDER, Construct.KLEENE_AGGREGATE})

_OF_GROUP_BY = frozenset({Construct.GROUP_BY, Construct.GROUPED_CLOCKS})

_OF_GIVEN = frozenset({Construct.GIVEN, Construct.GIVEN_CLOCKS, Construct.GIVEN_GROUPED_CLOCKS})

_OF_REACHED = frozenset({Construct.REACHED, Construct.REACHED_CLOCKS, Construct.REACHED_GIVEN})


_LACKING: Mapping[Engine, frozenset[Construct]] = {
    "event": (
        frozenset({*_INTERVALS_TOGETHER, *_BESIDE_INTERVALS.values()})
        - {
            Construct.INTERVALS_NEGATION,
            Construct.INTERVALS_KLEENE,
            Construct.INTERVALS_WITH_KLEENE,
            Construct.INTERVALS_OR,
            Construct.INTERVALS_CLOCKS,
            Construct.INTERVALS_GROUP_BY,
            Construct.INTERVALS_GIVEN,
            Construct.INTERVALS_ON_CLOCKS,
        }
    ),
    "point": (
        _GROUPS
        | _OF_GROUP_BY
        | _OF_GIVEN
        | _OF_REACHED
        | (_OF_INTERVALS - {Construct.INTERVALS, Construct.INTERVALS_NEGATION})
    ),
    "worlds": frozenset(),
}
"""The constructs that an engine runs under no strategy: refused by name."""


def runs(engine: Engine, construct: Construct, strategy: Strategy) -> bool:
    """Whether an engine runs a construct under a strategy."""
    return construct not in _LACKING[engine] and _is_defined(construct, strategy)


def _is_defined(construct: Construct, strategy: Strategy) -> bool:
    return construct not in _WITHOUT_OTHERS or not strategy.asks_others


def constructs_of(plan: Plan, *, lasting: bool = False) -> tuple[Construct, ...]:
    """The constructs that a plan uses, in the order of the table.

    `lasting` says that some event which fits a component has an end.
    """
    found = {Construct.SEQUENCE}
    if len(plan.alternatives) > 1:
        found.add(Construct.OR)
    if plan.clocks:
        found.add(Construct.CLOCKS)
    if plan.group_by is not None:
        found.add(Construct.GROUP_BY)
        if plan.clocks:
            found.add(Construct.GROUPED_CLOCKS)
    if plan.given:
        found.update(_with_given(plan))
    for alternative in plan.alternatives:
        scopes = {link.scope for link in alternative.links}
        found.update(
            construct
            for construct, used in (
                (Construct.AND_GROUP, any(len(block) > 1 for block in alternative.blocks)),
                (Construct.NEGATION, len(alternative.positive) < len(alternative.components)),
                (Construct.KLEENE, any(each.kleene for each in alternative.components)),
                (Construct.KLEENE_ORDER, any(each.ordered for each in alternative.components)),
                (Construct.KLEENE_AGGREGATE, Scope.GROUP in scopes),
                (Construct.TIMING, bool(alternative.timings or alternative.choices)),
            )
            if used
        )
    if any(isinstance(e, ReachedTick) for column in plan.returns for e in walk(column.expression)):
        found.add(Construct.REACHED)
        found.update(beside for construct, beside in _BESIDE_REACHED.items() if construct in found)
    if lasting or any(each.reads_ends for each in plan.alternatives):
        found.add(Construct.INTERVALS)
        found.update(beside for construct, beside in _BESIDE_INTERVALS.items() if construct in found)
        if plan.clocks and Construct.GIVEN in found:
            found.add(Construct.INTERVALS_ON_CLOCKS)
        if {Construct.KLEENE, Construct.REACHED} <= found:
            found.add(Construct.INTERVALS_WITH_KLEENE)
    return tuple(construct for construct in Construct if construct in found)


def _with_given(plan: Plan) -> Iterator[Construct]:
    yield Construct.GIVEN
    if plan.clocks:
        yield Construct.GIVEN_CLOCKS
        if plan.group_by is not None:
            yield Construct.GIVEN_GROUPED_CLOCKS


def engine_refusals(plan: Plan, engine: Engine, *, lasting: bool = False) -> tuple[str, ...]:
    """The constructs of a plan that an engine does not run under the plan's strategy."""
    lacking = [
        construct.value
        for construct in constructs_of(plan, lasting=lasting)
        if not runs(engine, construct, plan.strategy)
    ]
    return tuple(lacking)


def require_engine(plan: Plan, engine: Engine, *, lasting: bool = False) -> None:
    """Raise UnsupportedQueryError, naming the constructs, unless the engine runs the plan.

    `lasting` says that some event which fits a component has an end.
    """
    lacking = engine_refusals(plan, engine, lasting=lasting)
    if not lacking:
        return
    others = [other for other in ENGINES if not engine_refusals(plan, other, lasting=lasting)]
    remedy = f"; --engine {others[0]} runs it" if others else ""
    under = f"under {plan.strategy.word}"
    raise UnsupportedQueryError(
        f"not supported yet: {', '.join(lacking)} {under} in the {engine} engine{remedy}"
    )


def refuse_lasting_groups(component: Component) -> None:
    """Raise UnsupportedQueryError if the component, which events with an end fit, is a Kleene group."""
    if component.kleene:
        raise UnsupportedQueryError(
            f"not supported yet: interval events in the Kleene group {component.variable}[]; "
            "bind them one by one, or ingest without --intervals"
        )


def support_table() -> str:
    """The table of support in Markdown: which engine runs which construct under which strategy."""
    strategies = STRATEGIES.values()
    lines = [
        "| construct | " + " | ".join(each.title for each in strategies) + " |",
        "|---|" + "---|" * len(strategies),
    ]
    for construct in Construct:
        cells = []
        for strategy in strategies:
            engines = [each for each in ENGINES if runs(each, construct, strategy)]
            refused = "none yet" if _is_defined(construct, strategy) else "refused"
            cells.append(", ".join(engines) or refused)
        lines.append(f"| {construct.value} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


# --- what the analyzer refuses, whichever engine -----------------------------------------


def check_support(
    pattern: OrFreePattern,
    alternative: Alternative,
    strategy: Strategy,
    query: Query,
    problems: Problems,
) -> None:
    """Collect what no engine runs under this strategy, and what it needs but the query lacks."""
    name = strategy.word
    if strategy.by_key and not query.partition_by:
        at = query.strategy.span if query.strategy else NOWHERE
        problems.error(at, f"{name} needs [attr], the key that makes the partitions")
    if strategy.asks_others:
        if any(len(block) > 1 for block in alternative.blocks):
            message = f"AND(...) under {name}; it runs under skip_till_any_match"
            problems.refuse(query.pattern.span, message)
        for component, written in zip(alternative.components, pattern.components, strict=True):
            if component.ordered:
                problems.refuse(
                    _order_span(alternative, written.span),
                    f"a predicate over the order of {component.variable}[] under {name}; "
                    "it runs under skip_till_any_match",
                )
    if query.within is None:
        _check_edges(pattern, alternative, strategy, problems)
    if strategy.absent is Absent.NEARER:
        _check_after_group(alternative, strategy, problems)


def _check_edges(
    pattern: OrFreePattern, alternative: Alternative, strategy: Strategy, problems: Problems
) -> None:
    first, last = alternative.components[0], alternative.components[-1]
    anywhere = {alternative.components[i].variable for i in alternative.absent_anywhere}
    for edge, component, where in ((0, first, "leading"), (-1, last, "trailing")):
        if component.negated and component.variable not in anywhere:
            problems.error(
                pattern.components[edge].span,
                f"a {where} negation needs WITHIN: without a window it looks at all of time",
            )
    if last.kleene and strategy.fills_window:
        message = f"a trailing Type+ under {strategy.word} needs WITHIN, which ends it"
        problems.error(pattern.components[-1].span, message)


def _check_after_group(alternative: Alternative, strategy: Strategy, problems: Problems) -> None:
    for link in alternative.links:
        decided = alternative.components[link.decides]
        groups = [i for i in link.components if alternative.components[i].kleene and i < link.decides]
        if groups and not decided.negated:
            group = alternative.components[groups[0]].variable
            problems.refuse(
                link.expression.span,
                f"under {strategy.word}, a component after {group}[] whose predicate reads {group}[]; "
                "it runs under skip_till_any_match",
            )


def _order_span(alternative: Alternative, default: Span) -> Span:
    for link in alternative.links:
        if link.scope is Scope.ORDER:
            return link.expression.span
    return default


def refuse_clocks(plan: Plan, what: str) -> None:
    """Raise UnsupportedQueryError, naming `what` was asked, where the events of a plan share clocks."""
    if not plan.clocks:
        return
    names = sorted(plan.clocks)
    more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    raise UnsupportedQueryError(
        f"not supported yet: {what} for events that share clocks ('{names[0]}'{more}); leave it out, or give "
        "the events intervals without `clock`: cepctl assign"
    )


def require_known_clocks(plan: Plan, table: pa.Table) -> None:
    """Raise EventSchemaError where an event has a clock whose offset the plan does not know."""
    if CLOCK not in table.column_names:
        return
    for name in pc.unique(table.column(CLOCK)).drop_null().to_pylist():
        if name not in plan.clocks:
            raise EventSchemaError(
                f"clock '{name}' has no offset in the metadata of its dataset; ingest the events again"
            )


def refuse_intervals(what: str) -> None:
    """Raise UnsupportedQueryError, naming `what` was asked."""
    raise UnsupportedQueryError(
        f"not supported yet: {what} for interval events; leave it out, or ingest without --intervals"
    )


def refuse_conditions_on_ends(plan: Plan, what: str) -> None:
    """The same where the query itself speaks of ends."""
    if any(each.reads_ends for each in plan.alternatives):
        refuse_intervals(what)


def refuse_lasting_events(plan: Plan, events: pa.Table, what: str) -> None:
    """The same where some of the events that matter to a plan lasts.

    Under contiguity such an event may be a rival alone, by its start; where it fits, the engine refuses it.
    """
    if plan.strategy.asks_all:
        return
    if "end_lower" in events.column_names and events.column("end_lower").null_count < len(events):
        refuse_intervals(what)

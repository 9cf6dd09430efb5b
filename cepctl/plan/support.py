"""What runs where: constructs refused by name, what a strategy needs, and the table of support.

One list serves the analyzer, the engines, `explain` and the table in the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import EventSchemaError, UnsupportedQueryError
from cepctl.language.ast import NOWHERE, Query, ReachedTick
from cepctl.language.strategies import STRATEGIES, Absent, Strategy
from cepctl.language.traversal import walk
from cepctl.plan.and_beside_rivals import check_and
from cepctl.plan.choices import ENGINES, Engine
from cepctl.plan.laws import law_name
from cepctl.plan.or_free_patterns import OrFreePattern
from cepctl.plan.plan import Alternative, Component, Plan, Scope
from cepctl.plan.problems import QueryProblems
from cepctl.plan.running import check_repetitions, check_running
from cepctl.schema import CLOCK

SUMMARY = "--kleene summary"
"""The option of `match` that writes one row for all groups between the same events."""


class Construct(Enum):
    """A construct of the language, as the table of support names it."""

    SEQUENCE = "SEQ of single events"
    AND_GROUP = "AND groups"
    NEGATION = "negation"
    ABSENT_TOGETHER = "!SEQ and !AND"
    KLEENE = "Kleene groups"
    KLEENE_ORDER = "predicates over the order of a group"
    KLEENE_AGGREGATE = "aggregates over a group"
    RUNNING = "RUNNING groups"
    REPEATED = "SEQ(...)+"
    TIMING = "timing constraints"
    OR = "OR"
    REACHED = "reached(...)"
    CLOCKS = "shared clocks"
    GROUP_BY = "GROUP BY"
    GIVEN = "GIVEN"
    INTERVALS = "interval events"


_WITHOUT_OTHERS = frozenset({Construct.INTERVALS})
"""What is defined where no other event decides a match, and refused where one does."""
_NO_RIVALS: Mapping[Engine, frozenset[Construct]] = {"point": frozenset({Construct.AND_GROUP})}
"""What an engine runs only where no other event decides a match."""
_LACKING: Mapping[Engine, frozenset[Construct]] = {
    "event": frozenset(),
    "point": frozenset(
        {
            *(Construct.KLEENE, Construct.KLEENE_ORDER, Construct.KLEENE_AGGREGATE),
            *(Construct.REACHED, Construct.GROUP_BY, Construct.GIVEN, Construct.ABSENT_TOGETHER),
            *(Construct.RUNNING, Construct.REPEATED),
        }
    ),
    "worlds": frozenset(),
}
"""The constructs that an engine runs under no strategy: refused by name."""
_APART: Mapping[Engine, Mapping[Construct, frozenset[Construct]]] = {
    "point": {Construct.INTERVALS: frozenset({Construct.OR, Construct.CLOCKS})},
}
"""What an engine runs, but not beside others that it runs as well."""
_UNDER_A_LAW: Mapping[Engine, frozenset[Construct]] = {
    "event": frozenset({Construct.SEQUENCE, Construct.NEGATION, Construct.GROUP_BY}),
    "point": frozenset(),
    "worlds": frozenset(Construct),
}
"""The constructs that an engine runs under a law of order."""
_CONTIGUOUS_UNDER_A_LAW: frozenset[Engine] = frozenset({"worlds"})
"""The engines that run a strategy there which asks every event."""


def runs(engine: Engine, construct: Construct, strategy: Strategy) -> bool:
    """Whether an engine runs a construct under a strategy."""
    beside_rivals = not strategy.asks_others or construct not in _NO_RIVALS.get(engine, ())
    return construct not in _LACKING[engine] and beside_rivals and _is_defined(construct, strategy)


def _is_defined(construct: Construct, strategy: Strategy) -> bool:
    if construct is Construct.RUNNING:
        return strategy.absent is Absent.NEARER
    if construct is Construct.REPEATED:
        return strategy.absent is not Absent.NEARER
    return construct not in _WITHOUT_OTHERS or not strategy.asks_others


def constructs_of(plan: Plan, *, lasting: bool = False) -> tuple[Construct, ...]:
    """The constructs that a plan uses, in the order of the table.

    `lasting` says that some event which fits a component has an end.
    """
    scopes = {link.scope for alternative in plan.alternatives for link in alternative.links}
    components = [each for alternative in plan.alternatives for each in alternative.components]
    used = {
        Construct.SEQUENCE: True,
        Construct.AND_GROUP: any(
            len(block) > 1 for each in plan.alternatives for block in each.positive_blocks
        ),
        Construct.NEGATION: any(each.negated for each in components),
        Construct.ABSENT_TOGETHER: any(each.absent_together for each in plan.alternatives),
        Construct.KLEENE: any(each.kleene for each in components),
        Construct.KLEENE_ORDER: any(each.ordered for each in components),
        Construct.KLEENE_AGGREGATE: Scope.GROUP in scopes,
        Construct.RUNNING: any(each.running for each in components),
        Construct.REPEATED: any(each.repeated for each in plan.alternatives),
        Construct.TIMING: any(
            each.timings or each.choices or each.member_timings for each in plan.alternatives
        ),
        Construct.OR: len(plan.alternatives) > 1,
        Construct.REACHED: any(
            isinstance(part, ReachedTick) for column in plan.returns for part in walk(column.expression)
        ),
        Construct.CLOCKS: bool(plan.clocks),
        Construct.GROUP_BY: plan.group_by is not None,
        Construct.GIVEN: bool(plan.given),
        Construct.INTERVALS: lasting or any(each.reads_ends for each in plan.alternatives),
    }
    return tuple(construct for construct in Construct if used[construct])


def engine_refusals(plan: Plan, engine: Engine, *, lasting: bool = False) -> tuple[str, ...]:
    """What of a plan an engine does not run under the plan's strategy: constructs, alone or beside others."""
    return (*_lacking(plan, engine, lasting=lasting), *_lacking_under_law(plan, engine, lasting=lasting))


def _lacking(plan: Plan, engine: Engine, *, lasting: bool) -> tuple[str, ...]:
    used = constructs_of(plan, lasting=lasting)
    lacking = [construct.value for construct in used if not runs(engine, construct, plan.strategy)]
    if engine == "point" and any(each.passes_over for each in plan.alternatives):
        lacking.append("what may be absent")
    for construct, others in _APART.get(engine, {}).items():
        if construct in used and runs(engine, construct, plan.strategy):
            lacking += [f"{other.value} beside {construct.value}" for other in used if other in others]
    return tuple(lacking)


def _lacking_under_law(plan: Plan, engine: Engine, *, lasting: bool) -> tuple[str, ...]:
    """The constructs that an engine does not run under the law of order of a plan, naming that law."""
    if not plan.laws:
        return ()
    used = constructs_of(plan, lasting=lasting)
    known = [each for each in used if runs(engine, each, plan.strategy)]
    lacking = [each.value for each in known if each not in _UNDER_A_LAW[engine]]
    if plan.strategy.asks_all and engine not in _CONTIGUOUS_UNDER_A_LAW:
        lacking.append(plan.strategy.word)
    return tuple(f"{each} under {law_name(plan.laws[0])}" for each in lacking)


def require_engine(plan: Plan, engine: Engine, *, lasting: bool = False) -> None:
    """Raise UnsupportedQueryError, naming the constructs, unless the engine runs the plan.

    `lasting` says that some event which fits a component has an end.
    """
    lacking = _lacking(plan, engine, lasting=lasting)
    others = [other for other in ENGINES if not engine_refusals(plan, other, lasting=lasting)]
    remedy = f"; --engine {others[0]} runs it" if others else ""
    if not lacking:
        unlawful = _lacking_under_law(plan, engine, lasting=lasting)
        if unlawful:
            raise UnsupportedQueryError(
                f"not supported yet: {', '.join(unlawful)} in the {engine} engine{remedy}, or "
                "leave the law out (--no-laws leaves out that of the dataset)"
            )
        return
    under = f"under {plan.strategy.word}"
    raise UnsupportedQueryError(
        f"not supported yet: {', '.join(lacking)} {under} in the {engine} engine{remedy}"
    )


def refuse_lasting_groups(component: Component) -> None:
    """Raise UnsupportedQueryError if the component, which events with an end fit, is quantified."""
    if component.kleene or not component.least:
        what = f"in the Kleene group {component.variable}[]" if component.kleene else "that may be absent"
        raise UnsupportedQueryError(
            f"not supported yet: interval events {what}; "
            f"{'bind them one by one' if component.least else 'write an OR of two patterns'}, "
            "or leave out what has an end"
        )


def support_table() -> str:
    """In Markdown which engine runs which construct under which strategy, and what not together."""
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
    lines += ["", "Constructs combine: a query runs where each of its constructs does."]
    for engine, pairs in _APART.items():
        for construct, others in pairs.items():
            without = " and without ".join(each.value for each in Construct if each in others)
            lines.append(f"The {engine} engine runs {construct.value} without {without}.")
    lines += [
        "",
        f"{SUMMARY} runs in the event and the worlds engine under every strategy.",
        f"{SUMMARY} runs without OR, interval events, shared clocks, GIVEN, laws and GROUP BY.",
        "",
        *_lawful_lines(),
    ]
    return "\n".join(lines)


def _lawful_lines() -> Iterator[str]:
    """What runs under a law of order, a line for each engine."""
    for engine in ENGINES:
        if set(Construct) <= _UNDER_A_LAW[engine]:
            yield f"Under a law of order the {engine} engine runs all of them."
            continue
        constructs = ", ".join(each.value for each in Construct if each in _UNDER_A_LAW[engine])
        strategies = ", ".join(
            each.title
            for each in STRATEGIES.values()
            if engine in _CONTIGUOUS_UNDER_A_LAW or not each.asks_all
        )
        runs_what = f"{constructs}; under {strategies}" if constructs else "nothing"
        yield f"Under a law of order the {engine} engine runs {runs_what}."


# --- what the analyzer refuses, whichever engine -----------------------------------------


def check_support(
    pattern: OrFreePattern,
    alternative: Alternative,
    strategy: Strategy,
    query: Query,
    problems: QueryProblems,
) -> None:
    """Collect what no engine runs under this strategy, and what it needs but the query lacks."""
    name = strategy.word
    if strategy.by_key and not query.partition_by:
        at = query.strategy.span if query.strategy else NOWHERE
        problems.error(at, f"{name} needs [attr], the key that makes the partitions")
    if strategy.asks_others:
        check_and(query.pattern, alternative, strategy, problems)
    check_running(pattern, alternative, strategy, problems)
    check_repetitions(pattern, alternative, strategy, problems)
    _check_times_of_parts(alternative, query, problems)
    if query.within is None:
        _check_edges(pattern, alternative, strategy, problems)


def _check_times_of_parts(alternative: Alternative, query: Query, problems: QueryProblems) -> None:
    parts = {i for block in alternative.absent_together for i in block}
    cases = [case for cases in alternative.choices for case in cases]
    timings = [*alternative.timings, *alternative.member_timings]
    timings += (timing for case in cases for timing in case)
    if any({each.left, each.right} & parts for each in timings):
        problems.refuse(
            query.pattern.span,
            "a condition on the time of a part of !SEQ or !AND; one on its attributes runs, and one on the "
            "time of a single absent component, as in !N n",
        )


def _check_edges(
    pattern: OrFreePattern, alternative: Alternative, strategy: Strategy, problems: QueryProblems
) -> None:
    last = alternative.components[-1]
    anywhere = {alternative.components[i].variable for i in alternative.absent_anywhere}
    sure = [i for i in alternative.positive if alternative.components[i].least or not alternative.passes_over]
    for place, (component, written) in enumerate(
        zip(alternative.components, pattern.components, strict=True)
    ):
        where = "leading" if place < sure[0] else "trailing" if place > sure[-1] else ""
        if where and component.negated and component.variable not in anywhere:
            problems.error(
                written.span,
                f"a {where} negation needs WITHIN: without a window it looks at all of time",
            )
    if alternative.passes_over and not last.least:
        message = f"what may be absent at the end needs WITHIN under {strategy.word}, until when it may come"
        problems.error(pattern.components[-1].span, message)
    elif last.kleene and last.most != last.least and last.fills_window(strategy):
        message = f"a trailing Type+ under {strategy.word} needs WITHIN, which ends it"
        problems.error(pattern.components[-1].span, message)


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
        f"not supported yet: {what} for interval events; leave it out, or bind no event that has an end"
    )


def refuse_conditions_on_ends(plan: Plan, what: str) -> None:
    """Refuse a query that itself speaks of ends."""
    if any(each.reads_ends for each in plan.alternatives):
        refuse_intervals(what)


def refuse_lasting_events(plan: Plan, events: pa.Table, what: str) -> None:
    """Refuse a plan to which an event matters that lasts.

    Under contiguity such an event may be a rival alone, by its start; where it fits, the engine refuses it.
    """
    if plan.strategy.asks_all:
        return
    if "end_lower" in events.column_names and events.column("end_lower").null_count < len(events):
        refuse_intervals(what)

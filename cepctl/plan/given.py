"""GIVEN: what query and dataset say that every world satisfies, resolved as an engine checks it.

A clause is a pattern of single events in order, or of an AND within a window, and a condition on them.  It
says of every combination of events that fit the condition that they are in order and in the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cepctl.errors import CepctlError, UnsupportedQueryError
from cepctl.language.ast import (
    Attribute,
    ComponentPattern,
    Composite,
    Duration,
    Expression,
    GivenClause,
    Query,
)
from cepctl.language.messages import QueryProblem
from cepctl.language.parser import parse_given
from cepctl.language.traversal import conjuncts, walk
from cepctl.plan.checking import Checker
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.or_free_patterns import VariableNames, or_free_patterns
from cepctl.plan.plan import Given, Plan
from cepctl.plan.predicates import Conjunct, alternative_of, with_usable_keys
from cepctl.plan.problems import QueryProblems
from cepctl.plan.timings import in_ticks, is_timing, window_ticks
from cepctl.schema import WRITTEN_ORDERS, TimeUnit

_FORM = "as in GIVEN SEQ(A a, B b) IF a.id = b.id"


def given_of(
    query: Query, schema: EventSchema | None, unit: TimeUnit, problems: QueryProblems
) -> tuple[Given, ...]:
    """What query and dataset say; problems of the query are collected.

    Raises
    ------
    CepctlError
        If what the dataset says does not fit its events; names `[[given]]` of the model.
    """
    found = [_resolved(clause, schema, unit, problems) for clause in query.given]
    for text in schema.given if schema else ():
        try:
            found.append(stated(text, schema, unit))
        except CepctlError as problem:
            raise type(problem)(
                f"conditions of the dataset on every world, from [[given]] of its model:\n{problem}\n"
                "ingest the events again with another model, or leave it out with --no-given"
            ) from None
    return tuple(each for each in found if each is not None)


def stated(text: str, schema: EventSchema | None, unit: TimeUnit) -> Given:
    """A clause that stands alone, such as one of a dataset.

    Raises
    ------
    CepctlError
        If it cannot be parsed, or does not fit the events.
    """
    problems = QueryProblems(text)
    found = _resolved(parse_given(text), schema, unit, problems)
    problems.raise_if_any()
    assert found is not None
    return found


def attributes_read(given: Sequence[Given]) -> Iterator[Expression]:
    """The expressions that say which events are meant."""
    for each in given:
        for component in each.alternative.components:
            yield from component.filters
        for link in each.alternative.links:
            yield link.expression


def attribute_names(given: Sequence[Given]) -> set[str]:
    """The attributes that these expressions read, whether events have them or not."""
    parts = (part for expression in attributes_read(given) for part in walk(expression))
    return {part.name for part in parts if isinstance(part, Attribute)}


def is_order(clause: Given) -> bool:
    """Whether a clause says that some events come before others."""
    return len(clause.alternative.blocks) > 1


def without_written_order(plan: Plan) -> Plan:
    """The plan with what else is given than the order in which writers wrote their records."""
    return replace(plan, given=tuple(each for each in plan.given if each.text not in WRITTEN_ORDERS))


def refuse_given(plan: Plan, what: str) -> None:
    """Raise UnsupportedQueryError, naming `what` was asked, where something is given."""
    if plan.given:
        raise UnsupportedQueryError(
            f"not supported yet: GIVEN with {what}; leave one of them out (--no-given leaves out that "
            "of the dataset)"
        )


def _resolved(
    clause: GivenClause, schema: EventSchema | None, unit: TimeUnit, problems: QueryProblems
) -> Given | None:
    """A clause resolved, None where its pattern cannot be given."""
    if not _has_form(clause, problems):
        return None
    (pattern,) = or_free_patterns(clause.pattern, problems)
    checker = Checker(VariableNames([pattern], problems), schema, problems, "WHERE")
    conditions = []
    for each in conjuncts(clause.condition):
        if is_timing(each):
            problems.error(
                each.span,
                "IF says which events are meant and reads no times, for their order is what GIVEN says; it "
                "may read attributes, a.lower and a.upper",
            )
            continue
        counted = in_ticks(each, unit, problems)
        checker.condition(counted)
        conditions.append(Conjunct(counted))
    alternative = with_usable_keys(alternative_of(pattern, conditions, frozenset(), problems), schema)
    return Given(clause.text, alternative, _window(clause.within, unit, problems))


def _has_form(clause: GivenClause, problems: QueryProblems) -> bool:
    pattern, before = clause.pattern, len(problems.errors) + len(problems.refusals)
    if not isinstance(pattern, Composite) or pattern.operator not in ("SEQ", "AND"):
        problems.refuse(pattern.span, "GIVEN of anything but SEQ(...) or AND(...) of single events")
        return False
    if pattern.negated or pattern.kleene:
        what = "negation" if pattern.negated else "Kleene plus"
        problems.refuse(pattern.span, f"{what} in GIVEN")
    for part in pattern.parts:
        if not isinstance(part, ComponentPattern):
            problems.refuse(part.span, f"{part.operator} inside GIVEN; write one clause for each")
        elif part.negated or part.kleene:
            problems.refuse(part.span, f"{'negation' if part.negated else 'Kleene plus'} in GIVEN")
        elif part.optional:
            problems.refuse(
                part.span,
                "a component that may be absent in GIVEN; write one clause with it, and one without it",
            )
    if len(pattern.parts) < 2:
        problems.error(pattern.span, f"GIVEN ties two or more events, {_FORM}")
    if pattern.operator == "AND" and clause.within is None:
        problems.error(
            pattern.span, "AND without WITHIN says nothing of events; write GIVEN AND(...) WITHIN d IF ..."
        )
    return len(problems.errors) + len(problems.refusals) == before


def _window(within: Duration | None, unit: TimeUnit, problems: QueryProblems) -> int | None:
    if within is None:
        return None
    try:
        ticks = window_ticks(within, unit)
    except QueryProblem as problem:
        problems.error(problem.problem.span, problem.problem.message)
        return None
    if ticks is not None and ticks < 1:
        problems.error(within.span, f"WITHIN needs at least one tick, which is {unit}")
    return ticks

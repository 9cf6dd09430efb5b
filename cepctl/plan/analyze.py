"""A query resolved against an event schema: the plan that engines run and `explain` prints.

All problems of a query come in one error.  A predicate that names a variable which one branch of
an OR lacks does not apply to the readings without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cepctl.errors import QueryTooLargeError
from cepctl.language.ast import (
    NOWHERE,
    Aggregate,
    Allen,
    Attribute,
    ComponentPattern,
    EventTime,
    Expression,
    Query,
    Span,
)
from cepctl.language.messages import QueryProblem, line_and_column, nearest_names
from cepctl.language.strategies import SKIP_TILL_ANY_MATCH, Absent, Strategy
from cepctl.language.tokens import tokenize
from cepctl.language.traversal import components_of, conjuncts, walk
from cepctl.laws.law import OrderLaw
from cepctl.plan.checking import READABLE_COLUMNS, Checker
from cepctl.plan.contradictions import never_matches
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.given import attributes_read, given_of
from cepctl.plan.grouping import group_columns
from cepctl.plan.laws import laws_of
from cepctl.plan.or_free_patterns import MAX_READINGS, OrFreePattern, VariableNames, or_free_patterns
from cepctl.plan.plan import Alternative, Given, Plan, ReturnColumn
from cepctl.plan.predicates import Conjunct, alternative_of, in_cases, ordered_variables, with_usable_keys
from cepctl.plan.probabilities import with_probabilities
from cepctl.plan.problems import QueryProblems
from cepctl.plan.relations import related
from cepctl.plan.returned_items import written_out
from cepctl.plan.returns import return_columns
from cepctl.plan.support import check_support
from cepctl.plan.timing_cases import timing_cases
from cepctl.plan.timings import RefusedTimingError, in_ticks, is_timing, window_ticks
from cepctl.schema import (
    ATTRIBUTE_PREFIX,
    IN_WRITTEN_ORDER,
    MILLISECOND,
    RECORD,
    SOURCE,
    WRITER,
    TimeUnit,
)

_ORIGINS = {
    SOURCE: "the file that the event came from",
    RECORD: "the number of its record in its file",
    WRITER: "who wrote it, where that is known",
}
"""What queries read by these names, whatever attributes the log has."""


def analyze(query: Query, schema: EventSchema | None = None) -> Plan:
    """Resolve a query.

    `query`: from `cepctl.language.parser.parse`.  `schema`: what is known of the events; None checks neither
    attributes nor types and counts in ticks of 1 ms, as `explain` does without events.

    Raises
    ------
    QuerySemanticError
        If names, types or times in it do not fit together or do not fit the events.
    UnsupportedQueryError
        If it uses a construct that is refused by name.
    QueryTooLargeError
        If its ORs multiply beyond a bound.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> plan = analyze(parse("PATTERN SEQ(A a, B b) WHERE a.x > 5 AND a.k = b.k WITHIN 2 s"))
    >>> plan.window, plan.attributes, len(plan.alternatives[0].components[0].filters)
    (2000, ('k', 'x'), 1)
    """
    problems = QueryProblems(query.text)
    unit = schema.time_unit if schema else MILLISECOND
    written, query = query, with_probabilities(query, unit, problems)
    analysis = _Analysis(query, schema, unit, problems)
    strategy, patterns = analysis.patterns()
    names = VariableNames(patterns, problems)
    where = tuple(analysis.conjuncts(names))
    analysis.check_clauses(names)
    window = analysis.window()
    query = query if query.group_by is not None else written_out(query, schema, unit, window, problems)
    keys, columns = _columns(query, patterns, Checker(names, schema, problems, "RETURN"))
    given, laws = given_of(query, schema, unit, problems), laws_of(schema, columns)
    problems.raise_if_any()
    read = [*(each.expression for each in where), *(each.expression for each in (*columns, *(keys or ())))]
    ordered = ordered_variables(read) | _counted_in_order(query, strategy)
    every = analysis.alternatives(patterns, where, ordered, strategy)
    problems.raise_if_any()
    possible, reasons = _possible(every, query, window, given)
    return Plan(
        query=written,
        time_unit=analysis.unit,
        alternatives=possible or every,
        strategy=strategy,
        window=window,
        partition_by=query.partition_by,
        minimum_confidence=query.confidence,
        returns=columns,
        group_by=keys,
        attributes=_attributes(query, [*read, *attributes_read(given)], laws),
        warnings=(*analysis.warnings(), *_impossible(every, reasons, bool(possible))),
        never=None if possible else reasons[0],
        clocks={} if schema is None else schema.clocks,
        given=given,
        lasting=schema is not None and schema.lasting,
        laws=laws,
        in_units=_in_units(schema, given),
    )


def _columns(
    query: Query, patterns: Sequence[OrFreePattern], checker: Checker
) -> tuple[tuple[ReturnColumn, ...] | None, tuple[ReturnColumn, ...]]:
    """The keys of GROUP BY, None without it, and what RETURN shows of each match."""
    keys = group_columns(query, patterns, checker)
    return keys, return_columns(query, checker) if keys is None else ()


def _in_units(schema: EventSchema | None, given: tuple[Given, ...]) -> bool:
    """Whether what is given ties events of the same interval alone: the order of records in their units."""
    if schema is None or not schema.in_units or schema.clocks or schema.lasting:
        return False
    return all(each.text == IN_WRITTEN_ORDER for each in given)


def _possible(
    alternatives: Sequence[Alternative], query: Query, window: int | None, given: tuple[Given, ...]
) -> tuple[tuple[Alternative, ...], list[str | None]]:
    """The alternatives that may match, and why each of all never does."""
    reasons = [
        None if each.passes_over or each.repeated else never_matches(each, query.partition_by, window, given)
        for each in alternatives
    ]
    return tuple(each for each, why in zip(alternatives, reasons, strict=True) if why is None), reasons


@dataclass(frozen=True)
class _Analysis:
    """One run of the analyzer: the query, what is known of the events, the problems so far."""

    query: Query
    schema: EventSchema | None
    unit: TimeUnit
    problems: QueryProblems

    def patterns(self) -> tuple[Strategy, Sequence[OrFreePattern]]:
        """The strategy, and the pattern without OR, read in each of its ways."""
        asked = self.query.strategy
        strategy = asked.strategy if asked else SKIP_TILL_ANY_MATCH
        passed_over = strategy.absent is Absent.NEARER
        return strategy, or_free_patterns(self.query.pattern, self.problems, passed_over=passed_over)

    def conjuncts(self, names: VariableNames) -> Iterator[Conjunct]:
        """The conjuncts of WHERE, checked; timing constraints with what they say in ticks."""
        checker = Checker(names, self.schema, self.problems, "WHERE")
        for expression in conjuncts(self.query.where):
            if not is_timing(expression):
                counted = in_ticks(expression, self.unit, self.problems)
                checker.condition(counted)
                yield Conjunct(counted)
                continue
            for each in walk(expression):
                if isinstance(each, EventTime | Allen):
                    checker.value(each)
            try:
                if isinstance(expression, Allen):
                    cases = related(expression, self.unit)
                    yield (
                        Conjunct(expression, cases[0]) if len(cases) == 1 else Conjunct(expression, (), cases)
                    )
                else:
                    found = timing_cases(expression, self.unit)
                    yield (
                        Conjunct(expression, found[0])
                        if len(found) == 1
                        else Conjunct(expression, (), readings=found)
                    )
            except RefusedTimingError as refused:
                self.problems.refuse(refused.problem.span, refused.problem.message)
            except QueryProblem as problem:
                self.problems.error(problem.problem.span, problem.problem.message)

    def check_clauses(self, names: VariableNames) -> None:
        """[attr] against the schema, and the variables that a strategy lists."""
        checker = Checker(names, self.schema, self.problems, "WHERE")
        for name in self.query.partition_by:
            checker.attribute(name, _key_span(self.query.text, name))
        strategy = self.query.strategy
        for variable in strategy.variables if strategy else ():
            assert strategy is not None
            names.resolve(variable, strategy.span, self.problems)

    def alternatives(
        self,
        patterns: Sequence[OrFreePattern],
        where: Sequence[Conjunct],
        ordered: frozenset[str],
        strategy: Strategy,
    ) -> tuple[Alternative, ...]:
        """Every reading of the pattern; what is refused of it goes to the problems."""
        found = []
        for pattern in patterns:
            for case in in_cases(pattern, where, self.problems):
                read = alternative_of(
                    *(pattern, case, ordered, self.problems),
                    lasting=self._lasting,
                    passed_over=strategy.absent is Absent.NEARER,
                )
                check_support(pattern, read, strategy, self.query, self.problems)
                found.append(with_usable_keys(read, self.schema))
        if len(found) > MAX_READINGS:
            raise QueryTooLargeError(
                f"the cases of conditions on times, for each reading of the pattern, are over {MAX_READINGS}"
            )
        return tuple(found)

    @property
    def _lasting(self) -> bool:
        return self.schema is not None and self.schema.lasting

    def window(self) -> int | None:
        if self.query.within is None:
            return None
        try:
            ticks = window_ticks(self.query.within, self.unit)
        except QueryProblem as problem:
            self.problems.error(problem.problem.span, problem.problem.message)
            return None
        if ticks is not None and ticks < 1:
            message = f"WITHIN needs at least one tick, which is {self.unit}: within 0 ticks nothing happens"
            self.problems.error(self.query.within.span, message)
        return ticks

    def warnings(self) -> Iterator[str]:
        """What may not be meant: attributes that a time hides, types that no event has."""
        yield from self._hidden_attributes()
        yield from self._unknown_types()

    def _hidden_attributes(self) -> Iterator[str]:
        """`a.timestamp` is the time of the event, `a.source` its file, whatever attribute is called so."""
        seen: set[str] = set()
        items = (*self.query.returns, *(self.query.group_by or ()))
        expressions = [self.query.where, *(item.expression for item in items)]
        for each in (each for expression in expressions if expression for each in walk(expression)):
            if self.schema is None or not isinstance(each, EventTime | Attribute):
                continue
            written = self.query.text[each.span.start : each.span.end].rpartition(".")[2].strip()
            if isinstance(each, EventTime):
                means, own = "the time of the event", written
            else:
                means, own = _ORIGINS.get(each.name, ""), ATTRIBUTE_PREFIX + each.name
            name = f"{each.variable}.{written}"
            if means and own in self.schema.attributes and name not in seen:
                seen.add(name)
                line, column = line_and_column(self.query.text, each.span.start)
                yield (
                    f"line {line}, column {column}: {name} is {means}; "
                    f"the attribute of that name is {each.variable}.`{own}`"
                )

    def _unknown_types(self) -> Iterator[str]:
        """Types that no event has, with the existing types nearest to them."""
        counts = self.schema.type_counts if self.schema else None
        if counts is None:
            return
        seen: set[str] = set()
        patterns = (self.query.pattern, *(clause.pattern for clause in self.query.given))
        for component in (each for pattern in patterns for each in components_of(pattern)):
            for name in component.event_types:
                if name not in counts and name not in seen:
                    seen.add(name)
                    yield self._unknown_type(name, component, list(counts))

    def _unknown_type(self, name: str, component: ComponentPattern, known: list[str]) -> str:
        line, column = line_and_column(self.query.text, component.span.start)
        nearest = nearest_names(name, known)
        if name.upper() == "ANY":
            return f"line {line}, column {column}: no event has the type '{name}'; any type is written *"
        hint = (
            f"; the nearest {'type is' if len(nearest) == 1 else 'types are'} {', '.join(nearest)}"
            if nearest
            else ""
        )
        return f"line {line}, column {column}: no event has the type '{name}'{hint}"


def _counted_in_order(query: Query, strategy: Strategy) -> frozenset[str]:
    """Groups written `{m,n}` are taken one event after the other where the nearest event is the next."""
    if strategy.absent is not Absent.NEARER:
        return frozenset()
    components = components_of(query.pattern)
    return frozenset(each.name.lower() for each in components if each.how_many.braces)


def _key_span(text: str, name: str) -> Span:
    """Where `[attr]` or PARTITION BY names an attribute."""
    tokens, _ = tokenize(text)
    for before, token in pairwise(tokens):
        if token.value == name and (before.is_symbol("[", ",") or before.is_word("BY")):
            return token.span
    return NOWHERE


def _attributes(query: Query, read: list[Expression], laws: Sequence[OrderLaw]) -> tuple[str, ...]:
    names = {*query.partition_by, *(name for law in laws for name in (law.by, *law.step))}
    for expression in read:
        for each in walk(expression):
            if isinstance(each, Attribute | Aggregate) and each.name is not None:
                names.add(each.name)
    return tuple(sorted(names - set(READABLE_COLUMNS)))


def _impossible(
    alternatives: tuple[Alternative, ...], reasons: list[str | None], others: bool
) -> Iterator[str]:
    for alternative, why in zip(alternatives, reasons, strict=True):
        if why is not None and others:
            shown = ", ".join(component.variable for component in alternative.components)
            yield f"the reading ({shown}) of the pattern can never match: {why}"

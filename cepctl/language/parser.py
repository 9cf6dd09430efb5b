"""Query text to the frozen values of cepctl.language.ast.

A problem gives up one clause; the parser goes on at the next clause keyword, so that one message
shows the problems of all clauses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from cepctl.errors import QuerySyntaxError
from cepctl.language.ast import (
    Binary,
    Call,
    Duration,
    Expression,
    GivenClause,
    Pattern,
    Query,
    ReturnItem,
    Span,
    StrategyClause,
    Variable,
)
from cepctl.language.expressions import ExpressionParser
from cepctl.language.habits import ParserPlace
from cepctl.language.keywords import CLAUSES, OTHER_LANGUAGES
from cepctl.language.literals import window
from cepctl.language.messages import Problem, QueryProblem, render
from cepctl.language.patterns import PatternParser
from cepctl.language.strategies import STRATEGIES
from cepctl.language.stream import TokenStream, found_text
from cepctl.language.tokens import MAX_QUERY_LENGTH, TokenKind, tokenize
from cepctl.language.traversal import without_conjuncts
from cepctl.numeric.exact_numbers import exact_number


def parse(text: str) -> Query:
    """Parse one query.

    Raises
    ------
    QuerySyntaxError
        If it does not parse; the message names every clause's first problem with line and column.

    Examples
    --------
    >>> parse("PATTERN SEQ(A a, B b) WITHIN 5 ticks").within
    Duration(microseconds=None, ticks=5)
    """
    return _QueryParser(text, *_tokens(text)).query()


def parse_expression(text: str) -> Expression:
    """Parse a condition on one event, as the uncertainty model writes it in `where`.

    There are no variables: `node` is `Attribute("", "node")`.

    Raises
    ------
    QuerySyntaxError
        If it does not parse.

    Examples
    --------
    >>> parse_expression("node = 'n7'").right
    Constant(value='n7')
    """
    stream, problems = _tokens(text)
    try:
        result = ExpressionParser(stream, bare_attributes=True).expression()
        if stream.current.kind is not TokenKind.END:
            stream.fail("AND, OR, an operator or the end")
    except QueryProblem as problem:
        problems.append(problem.problem)
    if problems:
        raise QuerySyntaxError(render(text, problems))
    return result


def parse_given(text: str) -> GivenClause:
    """Parse what every world must satisfy, as the uncertainty model writes it in `holds`.

    Raises
    ------
    QuerySyntaxError
        If it does not parse.

    Examples
    --------
    >>> parse_given("SEQ(A a, B b) IF a.k = b.k").within is None
    True
    """
    parser = _QueryParser(text, *_tokens(text))
    clause = parser.given_alone()
    if parser.problems or clause is None:
        raise QuerySyntaxError(render(text, parser.problems))
    return clause


def _tokens(text: str) -> tuple[TokenStream, list[Problem]]:
    if len(text) > MAX_QUERY_LENGTH:
        raise QuerySyntaxError(
            f"the query has {len(text):,} characters; at most {MAX_QUERY_LENGTH:,} are read"
        )
    tokens, problems = tokenize(text)
    return TokenStream(tokens), problems


_GIVEN_FORM = "SEQ(...) or AND(...) after GIVEN, as in GIVEN SEQ(A a, B b) IF a.id = b.id"


class _QueryParser:
    """One query: the clauses met so far."""

    def __init__(self, text: str, stream: TokenStream, problems: list[Problem]) -> None:
        self.text = text
        self.stream = stream
        self.problems = problems
        self.seen: set[str] = set()
        self.pattern: Pattern | None = None
        self.conditions: list[Expression] = []
        self.keys: list[str] = []
        self.strategy: StrategyClause | None = None
        self.within: Duration | None = None
        self.confidence: float | None = None
        self.group_by: tuple[ReturnItem, ...] | None = None
        self.returns: tuple[ReturnItem, ...] = ()
        self.given: list[GivenClause] = []

    def query(self) -> Query:
        self._refuse_other_languages()
        self._attempt(self._opening)
        while self.stream.current.kind is not TokenKind.END:
            self._attempt(self._clause)
        if self.pattern is None and not self.problems:
            self.problems.append(Problem(Span(0, 0), "a query needs a pattern, as in PATTERN SEQ(A a, B b)"))
        if self.problems or self.pattern is None:
            raise QuerySyntaxError(render(self.text, self.problems))
        where = (
            reduce(lambda left, right: Binary("AND", left, right), self.conditions)
            if self.conditions
            else None
        )
        return Query(
            self.pattern,
            where,
            tuple(dict.fromkeys(self.keys)),
            self.strategy,
            self.within,
            self.confidence,
            self.group_by,
            self.returns,
            tuple(self.given),
            self.text,
            Span(0, len(self.text)),
        )

    def _refuse_other_languages(self) -> None:
        """Say once what is wrong, not at every word of a query that was meant for another program."""
        word = self.stream.current
        language = OTHER_LANGUAGES.get(word.value.upper()) if word.kind is TokenKind.WORD else None
        if language is not None:
            message = (
                f"this is {language}; here it is written PATTERN SEQ(A a, B b) WHERE [key] WITHIN 10 s "
                "(the page 'Coming from SQL and EQL' shows both side by side)"
            )
            raise QuerySyntaxError(render(self.text, [Problem(word.span, message)]))

    def _attempt(self, part: Callable[[], None]) -> None:
        try:
            part()
        except QueryProblem as problem:
            self.problems.append(problem.problem)
            self.stream.depth = 0
            self.stream.place = ParserPlace()
            self.stream.skip_to_clause()

    # --- clauses ------------------------------------------------------------------------

    def _opening(self) -> None:
        """Li10 writes a pattern without PATTERN before it."""
        if PatternParser(self.stream).at_composite():
            self.seen.add("PATTERN")
            self.stream.place = ParserPlace("PATTERN")
            self._pattern()
            self._expect_clause_end()
        elif not self.stream.at_clause():
            self.stream.fail("PATTERN and a pattern, such as PATTERN SEQ(A a, B b)", CLAUSES)

    def _clause(self) -> None:
        word = self.stream.take()
        name = "PATTERN" if word.is_word("EVENT") else word.value.upper()
        if name in self.seen and name != "GIVEN":
            raise QueryProblem(word.span, f"a second {name} clause; a query has one")
        self.seen.add(name)
        self.stream.place = ParserPlace(name)
        clauses: dict[str, Callable[[], None]] = {
            "PATTERN": self._pattern,
            "WHERE": self._where,
            "PARTITION": self._partition,
            "STRATEGY": self._strategy,
            "WITHIN": self._within,
            "CONFIDENCE": self._confidence,
            "GROUP": self._group,
            "GIVEN": self._given,
            "RETURN": self._return,
        }
        clauses[name]()
        self._expect_clause_end()

    def _expect_clause_end(self) -> None:
        if self.stream.current.is_word("GROUP") and not self.stream.at_clause():
            self.stream.take()
            self.stream.fail("BY after GROUP")
        if self.stream.current.is_word("GIVEN") and not self.stream.at_clause():
            self.stream.take()
            self.stream.fail(_GIVEN_FORM)
        if not self.stream.at_clause():
            self.stream.fail("the next clause, such as WHERE or WITHIN, or the end", CLAUSES)

    def _pattern(self) -> None:
        parser = PatternParser(self.stream)
        self.pattern = parser.whole()
        self.conditions[:0] = parser.conditions
        for found in parser.windows:
            self._set_window(found)

    def _set_window(self, found: Duration) -> None:
        if self.within is not None:
            raise QueryProblem(found.span, "a second window; a query has one")
        self.within = found

    def _where(self) -> None:
        parser = ExpressionParser(self.stream)
        parser.takes_asides = True
        condition = parser.expression()
        asides = dict(parser.asides)
        kept = without_conjuncts(condition, asides)
        for marker, _ in asides.values():
            raise QueryProblem(
                marker.span, "[attr] and the strategy are not conditions: join them to the others by AND"
            )
        for _, clause in parser.asides.values():
            if isinstance(clause, StrategyClause):
                self._set_strategy(clause)
            else:
                self.keys.extend(clause)
        if kept is not None:
            self.conditions.append(kept)

    def _set_strategy(self, clause: StrategyClause) -> None:
        if self.strategy is not None:
            raise QueryProblem(clause.span, "a second strategy; a query has one")
        self.strategy = clause

    def _partition(self) -> None:
        if not self.stream.accept_word("BY"):
            self.stream.fail("BY after PARTITION")
        names = ExpressionParser(self.stream)
        self.keys.append(names.attribute_name())
        while self.stream.accept_symbol(","):
            self.keys.append(names.attribute_name())
        if self.stream.current.is_symbol("."):
            self.stream.fail_because(
                "PARTITION BY names an attribute that all events share, without a variable, as in "
                f"PARTITION BY {self.stream.ahead().value or 'x'}"
            )

    def _strategy(self) -> None:
        word = self.stream.current
        if word.kind is not TokenKind.WORD or word.value.lower() not in STRATEGIES:
            self.stream.fail("one of " + ", ".join(STRATEGIES), STRATEGIES)
        if self.stream.ahead().is_symbol("("):
            parser = ExpressionParser(self.stream)
            self._set_strategy(parser.strategy_call())
            return
        self.stream.take()
        self._set_strategy(StrategyClause(STRATEGIES[word.value.lower()], (), word.span))

    def _within(self) -> None:
        self._set_window(window(self.stream))

    def _confidence(self) -> None:
        if not self.stream.accept_symbol(">="):
            self.stream.fail("'>=' and the least confidence, as in CONFIDENCE >= 0.6")
        token = self.stream.current
        if token.kind is not TokenKind.NUMBER:
            self.stream.fail("a number from 0 to 1, or a percentage, as in 60%")
        self.stream.take()
        number = float(token.value)
        if self.stream.accept_symbol("%") and number <= 100:
            number = float(exact_number(token.value) / 100)
        if not 0 <= number <= 1:
            percent = f"; {token.value} percent is {token.value}%" if number <= 100 else ""
            message = f"found {found_text(token)}, expected a confidence from 0 to 1{percent}"
            raise QueryProblem(token.span, message)
        self.confidence = number

    # --- GIVEN --------------------------------------------------------------------------

    def given_alone(self) -> GivenClause | None:
        """A clause without the word GIVEN, which is all of the text."""
        self._attempt(self._given_to_the_end)
        return self.given[0] if self.given else None

    def _given_to_the_end(self) -> None:
        self._given()
        if self.stream.current.kind is not TokenKind.END:
            self.stream.fail("AND, OR, an operator or the end")

    def _given(self) -> None:
        stream = self.stream
        start = stream.current.span.start
        parser = PatternParser(stream)
        if not parser.at_composite():
            stream.fail(_GIVEN_FORM)
        pattern = parser.whole()
        within = window(stream) if stream.accept_word("WITHIN") else None
        if stream.accept_word("IF") is None:
            stream.fail(
                "IF and the events for which it holds, as in GIVEN SEQ(A a, B b) IF a.id = b.id"
                + ("" if within is not None else ", or WITHIN and a duration before it")
            )
        condition = ExpressionParser(stream).expression()
        text = " ".join(self.text[start : stream.previous_end].split())
        self.given.append(GivenClause(pattern, condition, within, text, stream.span_from(start)))

    # --- GROUP BY and RETURN ------------------------------------------------------------

    def _group(self) -> None:
        if not self.stream.accept_word("BY"):
            self.stream.fail("BY after GROUP")
        if self.stream.current.is_symbol("["):
            name = self.stream.ahead().value or "x"
            self.stream.fail_because(f"a key of GROUP BY is read of a variable, as in GROUP BY a.{name}")
        if self.stream.current.is_symbol("(") and self.stream.ahead().is_symbol(")"):
            self.stream.take()
            self.stream.take()
            self.group_by = ()
            return
        if self.stream.current.is_symbol("*"):
            self.stream.fail_because("GROUP BY names its keys, as in GROUP BY a.x")
        self.group_by = self._items()
        for item in self.group_by:
            if item.alias is not None:
                raise QueryProblem(item.span, "a key of GROUP BY is named in RETURN: RETURN a.x AS name")

    def _return(self) -> None:
        self.returns = self._items()

    def _items(self) -> tuple[ReturnItem, ...]:
        items = self._return_items()
        while self.stream.accept_symbol(","):
            items += self._return_items()
        return tuple(items)

    def _return_items(self) -> list[ReturnItem]:
        stream = self.stream
        start = stream.current.span.start
        parser = ExpressionParser(stream)
        if stream.accept_symbol("*"):
            return [ReturnItem(Call("*", ()), None, "*", stream.span_from(start))]
        is_name = stream.current.kind in (TokenKind.WORD, TokenKind.QUOTED_NAME)
        if is_name and stream.ahead().is_symbol(".") and stream.ahead(2).is_symbol("*"):
            variable = Variable(stream.take().value)
            stream.take()
            stream.take()
            return [ReturnItem(Call("*", (variable,)), None, f"{variable.name}.*", stream.span_from(start))]
        if is_name and stream.ahead().is_symbol(".") and stream.ahead(2).is_symbol("("):
            return self._attribute_list(parser)
        expression = parser.expression()
        text = " ".join(self.text[start : stream.previous_end].split())
        alias = parser.attribute_name("a column name after AS") if stream.accept_word("AS") else None
        return [ReturnItem(expression, alias, text, stream.span_from(start))]

    def _attribute_list(self, parser: ExpressionParser) -> list[ReturnItem]:
        variable = self.stream.take()
        self.stream.take()
        self.stream.take()
        items: list[ReturnItem] = []
        while not items or self.stream.accept_symbol(","):
            expression = parser.attribute_of(variable)
            text = f"{variable.value}.{self.text[self.stream.previous_start : self.stream.previous_end]}"
            items.append(ReturnItem(expression, None, text, expression.span))
        self.stream.expect_symbol(")", "',' or ')'")
        return items

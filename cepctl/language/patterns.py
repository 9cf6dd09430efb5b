"""Parser for patterns: SEQ, AND, OR and ISEQ over components, nested, each possibly negated."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, cast

from cepctl.language.ast import Allen, ComponentPattern, Composite, Duration, Expression, Pattern, Span
from cepctl.language.expressions import ExpressionParser
from cepctl.language.habits import ParserPlace, habit
from cepctl.language.keywords import MATCH_FIELDS, PATTERN_OPERATORS, RESERVED
from cepctl.language.literals import iseq_window
from cepctl.language.messages import QueryProblem
from cepctl.language.quantifiers import quantifier, running
from cepctl.language.relations import (
    at_relation,
    refinement,
    refuse_misspelt_between_components,
    relations,
)
from cepctl.language.stream import TokenStream
from cepctl.language.tokens import Token, TokenKind

_TYPE_KINDS = (TokenKind.WORD, TokenKind.QUOTED_NAME, TokenKind.STRING)


@dataclass
class PatternParser:
    """Parses one pattern; `conditions` and `windows` collect what ISEQ's brackets say beside it.

    `members`: problems of components written as groups, which they are only if their SEQ is repeated.
    """

    stream: TokenStream
    conditions: list[Expression] = field(default_factory=list)
    windows: list[Duration] = field(default_factory=list)
    members: list[QueryProblem] = field(default_factory=list)

    def whole(self) -> Pattern:
        """The pattern of a clause.

        Raises
        ------
        QueryProblem
            If a component is written as a group and is none.
        """
        found = self.pattern()
        if self.members:
            raise self.members[0]
        return found

    def pattern(self) -> Pattern:
        """One pattern, or several of which one occurs: `P ∪ Q` is `OR(P, Q)`."""
        start = self.stream.current.span.start
        parts = [self._pattern()]
        while self.stream.accept_symbol("∪"):
            parts.append(self._pattern())
        if len(parts) == 1:
            return parts[0]
        return Composite("OR", tuple(parts), span=self.stream.span_from(start))

    def patterns(self) -> list[Pattern]:
        """What stands between two commas of a composite: one pattern, or the several of `NOT(B b, D d)`."""
        stream = self.stream
        start = stream.current.span.start
        if not (self._at_negation() and stream.ahead().is_symbol("(")):
            return [self.pattern()]
        stream.take()
        stream.take()
        stream.enter()
        negated = [self._negated(start)]
        while stream.accept_symbol(","):
            negated.append(self._negated(stream.current.span.start))
        stream.depth -= 1
        stream.expect_symbol(")", "',' or ')'")
        return negated

    def _negated(self, start: int) -> Pattern:
        part = self._pattern()
        if part.negated:
            raise QueryProblem(part.span, "this is absent already: write it without the second negation")
        return replace(part, negated=True, span=self.stream.span_from(start))

    def _at_negation(self) -> bool:
        return self.stream.current.is_symbol("!", "~") or self.stream.current.is_word("NOT")

    def _pattern(self) -> Pattern:
        stream = self.stream
        start = stream.current.span.start
        negated = bool(stream.accept_symbol("!", "~") or stream.accept_word("NOT"))
        if self.at_composite():
            return self._composite(negated, start)
        if stream.current.kind not in _TYPE_KINDS and not stream.current.is_symbol("*"):
            stream.fail("an event type, or SEQ, AND or OR")
        if stream.current.kind is TokenKind.WORD and stream.ahead().is_symbol("("):
            stream.fail("an event type, or SEQ, AND or OR", PATTERN_OPERATORS)
        component = self._component(negated, start)
        if at_relation(stream, in_pattern=True):
            return self._related(component, start)
        refuse_misspelt_between_components(stream)
        return component

    def _related(self, left: ComponentPattern, start: int) -> Composite:
        """`A a DURING B b`: both in any order, and the relation as a condition."""
        stream = self.stream
        found = relations(stream)
        second = stream.current.span.start
        negated = bool(stream.accept_symbol("!", "~") or stream.accept_word("NOT"))
        right = self._component(negated, second)
        tolerance, by = refinement(stream, found)
        span = stream.span_from(start)
        self.conditions.append(Allen(found, left.name, right.name, tolerance, by, span))
        return Composite("ISEQ", (left, right), span=span)

    def at_composite(self) -> bool:
        after = self.stream.ahead()
        opens = after.is_symbol("(") or (self.stream.current.is_word("ISEQ") and after.is_symbol("["))
        return self.stream.current.is_word(*PATTERN_OPERATORS) and opens

    def _composite(self, negated: bool, start: int) -> Composite:
        stream = self.stream
        stream.enter()
        word = stream.take()
        operator = cast(Literal["SEQ", "AND", "OR", "ISEQ"], word.value.upper())
        if stream.accept_symbol("["):
            bracket = ExpressionParser(stream)
            bracket.takes_chains = True
            self.conditions.append(bracket.expression())
            stream.expect_symbol("]", "']' after the condition of ISEQ")
        stream.expect_symbol("(")
        outside, stream.place = stream.place, ParserPlace(stream.place.clause, in_pattern=True)
        before, self.members = self.members, []
        parts = self.patterns()
        while stream.accept_symbol(","):
            parts += self.patterns()
        if operator == "ISEQ" and stream.accept_symbol(";"):
            self.windows.append(iseq_window(stream))
        if not stream.current.is_symbol(")"):
            self._fail_after_component(parts[-1])
        stream.take()
        stream.place = outside
        kleene = stream.accept_symbol("+") is not None
        stream.depth -= 1
        if kleene and operator == "SEQ" and not negated:
            parts = [_repeated(part) for part in parts]
            self.members = []
        self.members = before + self.members
        return Composite(operator, tuple(parts), negated, kleene, stream.span_from(start))

    def _fail_after_component(self, part: Pattern) -> None:
        expected = "',' or ')'"
        token = self.stream.current
        words = self.stream.words_from(part.span.start)
        several = isinstance(part, ComponentPattern) and token.kind is TokenKind.WORD and len(words) > 2
        if several and habit(token, self.stream.place) is None:
            *named, variable = words
            expected += (
                f"; a type of several words is written in quotes, as in '{' '.join(named)}' {variable}"
            )
        if isinstance(part, ComponentPattern) and self.stream.current.is_symbol("-", ".", "/", "*", "%", "="):
            expected += "; a type that is not a plain word is written in quotes"
        self.stream.fail(expected)

    def _component(self, negated: bool, start: int) -> ComponentPattern:
        stream = self.stream
        each_tick = running(stream)
        types: list[str] = []
        if not stream.accept_symbol("*"):
            types.append(self._event_type().value)
            while stream.accept_symbol("|"):
                types.append(self._event_type().value)
        plus = stream.accept_symbol("+")
        counted = None if plus else quantifier(stream)
        kleene = plus is not None or (counted is not None and (counted.braces or counted.most is None))
        variable = self._variable()
        if opening := stream.accept_symbol("["):
            closing = stream.expect_symbol("]")
            if variable is None or not kleene:
                shown, sign = variable or "b", "*" if counted else "+"
                problem = QueryProblem(
                    Span(opening.span.start, closing.span.end),
                    f"{shown}[] is a Kleene variable and needs a {sign} after its type: Type{sign} {shown}[]",
                )
                if variable is None or counted or negated:
                    raise problem
                self.members.append(problem)
        span = stream.span_from(start)
        return ComponentPattern(tuple(types), variable, kleene, negated, span, counted, each_tick)

    def _event_type(self) -> Token:
        if self.stream.current.kind not in _TYPE_KINDS:
            self.stream.fail("an event type")
        token = self.stream.take()
        if not token.value:
            raise QueryProblem(token.span, "an event type must not be empty")
        return token

    def _variable(self) -> str | None:
        token = self.stream.current
        if token.kind is TokenKind.QUOTED_NAME:
            return self.stream.take().value
        if token.kind is not TokenKind.WORD or self.stream.at_clause():
            return None
        if at_relation(self.stream, in_pattern=True):
            return None
        word = token.value.lower()
        if word in MATCH_FIELDS and self.stream.ahead().is_symbol(",", ")", "["):
            raise QueryProblem(
                token.span,
                f"'{token.value}' means a column of the match; choose another variable, and write a type of "
                "several words in quotes",
            )
        return self.stream.take().value if word not in RESERVED else None


def _repeated(part: Pattern) -> Pattern:
    """A component of a repeated SEQ; what else stands there is refused later, by name."""
    if not isinstance(part, ComponentPattern) or part.negated or part.kleene or part.quantifier:
        return part
    return replace(part, kleene=True, repeated=True)

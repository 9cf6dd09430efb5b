"""Parser for names in expressions: `a.x`, `b[i-1].x`, `a.time`, `avg(b[].x)`, function calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, cast

from cepctl.language.aggregates import AGGREGATES
from cepctl.language.ast import (
    Aggregate,
    Attribute,
    Call,
    EventTime,
    Expression,
    MatchField,
    MemberIndex,
    Span,
    Variable,
)
from cepctl.language.keywords import EVENT_TIMES, FUNCTIONS, MATCH_FIELDS, RESERVED
from cepctl.language.messages import QueryProblem
from cepctl.language.stream import TokenStream
from cepctl.language.tokens import Token, TokenKind

_LOOSEST = 1
_Many = Literal["all", "before", "up to"]
_Index = MemberIndex | _Many
_MOST_BACK = 1_000_000
_MANY: dict[_Many, str] = {"all": "", "before": "1..i-1", "up to": "1..i"}
"""What stands for many members, as it is written in the brackets."""
_NAMES = (TokenKind.WORD, TokenKind.QUOTED_NAME)


@dataclass(frozen=True)
class _Reference:
    """`variable[index].attribute` before its place says what it means."""

    variable: str
    index: _Index | None
    attribute: Token | None
    span: Span
    back: int = 1


class ReferenceParser:
    """The part of the expression parser that reads names.

    With `bare_attributes` a name without a variable is an attribute of the one event at hand, as in
    the conditions of an uncertainty model.
    """

    def __init__(self, stream: TokenStream, bare_attributes: bool = False) -> None:
        self.stream = stream
        self.bare_attributes = bare_attributes

    def variable_name(self, expected: str = "a variable") -> str:
        """The name of a variable; reserved words need backticks."""
        token = self.stream.current
        if token.kind is TokenKind.WORD and token.value.lower() not in RESERVED:
            return self.stream.take().value
        if token.kind is TokenKind.QUOTED_NAME:
            return self.stream.take().value
        return self.stream.fail(expected).value

    def attribute_name(self, expected: str = "the name of an attribute") -> str:
        """The name of an attribute: any word, or a name in backticks."""
        if self.stream.current.kind not in _NAMES:
            self.stream.fail(f"{expected}; a name that is not a plain word is written in backticks")
        return self.stream.take().value

    def reference_expression(self) -> Expression:
        """A name used as a value."""
        token = self.stream.current
        if token.kind is TokenKind.WORD and self._is_misplaced_keyword(token):
            self.stream.fail("a value, such as a.value, 95 or 'text'")
        if self.stream.ahead().is_symbol("^-", "^+"):
            return self._endpoint()
        reference = self._reference()
        if reference.index in _MANY:
            shape = f"b[{_MANY[reference.index]}].x"
            raise QueryProblem(
                reference.span, f"{shape} stands for many values: put it into avg, sum, min, max or count"
            )
        index = cast(MemberIndex | None, reference.index)
        if reference.attribute is None:
            return self._bare_name(reference, token)
        found = _attribute_or_time(reference.variable, index, reference.attribute, reference.span)
        return replace(found, back=reference.back)

    def _endpoint(self) -> EventTime:
        """Li10's `A^-` and `A^+`: start and end."""
        variable, sign = self.stream.take(), self.stream.take()
        which: Literal["start", "end"] = "start" if sign.value == "^-" else "end"
        return EventTime(variable.value, which, None, self.stream.span_from(variable.span.start))

    def attribute_of(self, variable: Token) -> Attribute | EventTime:
        """One name of the list in `a.(x, y)`."""
        if self.stream.current.kind not in _NAMES:
            self.attribute_name()
        token = self.stream.take()
        return _attribute_or_time(variable.value, None, token, token.span)

    def _is_misplaced_keyword(self, token: Token) -> bool:
        word = token.value.lower()
        return (
            word in RESERVED
            and word not in MATCH_FIELDS
            and not self.stream.ahead().is_symbol(".", "[")
            and not self.bare_attributes
        )

    def _bare_name(self, reference: _Reference, token: Token) -> Expression:
        if reference.index is not None:
            raise QueryProblem(
                reference.span, "an event has no value of its own: name an attribute, as in b[i].value"
            )
        if self.bare_attributes:
            return Attribute("", reference.variable, None, reference.span)
        if token.kind is TokenKind.WORD and token.value.lower() in MATCH_FIELDS:
            field = cast(Literal["start", "end", "confidence"], token.value.lower())
            return MatchField(field, reference.span)
        return Variable(reference.variable, reference.span)

    def _reference(self) -> _Reference:
        variable = self.stream.take()
        index, back = None, 1
        if self.stream.current.is_symbol("["):
            index, back = self._index(variable.value)
        attribute = None
        if self.stream.current.is_symbol(".") and not self.stream.ahead().is_symbol("("):
            self.stream.take()
            if self.stream.current.is_symbol("*"):
                self.stream.fail_because(f"attributes are named one by one, as in {variable.value}.(x, y)")
            if self.stream.current.kind not in _NAMES:
                self.attribute_name("the name of an attribute after '.'")
            attribute = self.stream.take()
        span = self.stream.span_from(variable.span.start)
        return _Reference(variable.value, index, attribute, span, back)

    def _index(self, variable: str) -> tuple[_Index, int]:
        start = self.stream.take()
        if self.stream.current.is_word("I") and self.stream.ahead().is_symbol("+"):
            shown = variable if len(variable) <= 40 else "b"
            self.stream.take()
            self.stream.fail_because(
                f"a group is read backwards: write {shown}[i] for the later one, {shown}[i-1] for the earlier"
            )
        result, back = self._index_inside(variable)
        if result is None or not self.stream.current.is_symbol("]"):
            raise QueryProblem(
                Span(start.span.start, self.stream.current.span.end),
                "the members of a Kleene variable b are b[i], b[i-1], b[i-2], b[1], b[first], b[last], "
                "b[b.LEN], and inside an aggregate b[], b[1..i-1] and b[1..i]",
            )
        self.stream.take()
        return result, back

    def _index_inside(self, variable: str) -> tuple[_Index | None, int]:
        """Which members are meant, None where that is no such word, and the k of `b[i-k]`."""
        stream = self.stream
        if stream.current.is_symbol("]"):
            return "all", 1
        if stream.accept_symbol(".."):
            return self._up_to(), 1
        if stream.accept_word("FIRST"):
            return "first", 1
        if stream.accept_word("LAST"):
            return "last", 1
        if stream.accept_word("I"):
            return self._so_far_back() if stream.accept_symbol("-") else ("each", 1)
        if self._one():
            return (self._up_to() if stream.accept_symbol("..") else "first"), 1
        name = stream.current
        if name.kind in _NAMES and name.value.lower() == variable.lower():
            stream.take()
            return ("last" if stream.accept_symbol(".") and stream.accept_word("LEN") else None), 1
        return None, 1

    def _so_far_back(self) -> tuple[_Index | None, int]:
        """The `k` of `b[i-k]`, a whole number from 1."""
        token = self.stream.current
        if token.kind is not TokenKind.NUMBER or not token.value.isascii() or not token.value.isdigit():
            return None, 1
        self.stream.take()
        back = int(token.value)
        return ("previous" if 1 <= back <= _MOST_BACK else None), back

    def _up_to(self) -> _Index | None:
        """The `i` of `b[1..i]`, or the `i-1` of `b[1..i-1]`; ZDI14 writes `b[..i]` and `b[..i-1]`."""
        if not self.stream.accept_word("I"):
            return None
        if not self.stream.accept_symbol("-"):
            return "up to"
        return "before" if self._one() else None

    def _one(self) -> bool:
        is_one = self.stream.current.kind is TokenKind.NUMBER and self.stream.current.value == "1"
        if is_one:
            self.stream.take()
        return is_one

    # --- calls --------------------------------------------------------------------------

    def call(self, argument: Callable[[int], Expression]) -> Expression:
        """A function or an aggregate; `argument` parses one argument."""
        word = self.stream.current
        name = word.value.lower()
        if name in AGGREGATES:
            return self._aggregate()
        if name in ("first", "last"):
            return self._of_one_member()
        if name not in FUNCTIONS:
            known = (*FUNCTIONS, *(word for word in AGGREGATES if " " not in word), "first", "last")
            self.stream.fail("a value or one of the functions " + ", ".join(known), known)
        self.stream.take()
        self.stream.take()
        arguments: list[Expression] = []
        while not self.stream.current.is_symbol(")"):
            arguments.append(argument(_LOOSEST))
            if not self.stream.accept_symbol(","):
                break
        self.stream.expect_symbol(")", "',' or ')'")
        return Call(name, tuple(arguments), self.stream.span_from(word.span.start))

    def _aggregate(self) -> Expression:
        word = self.stream.take()
        self.stream.expect_symbol("(")
        name = word.value.lower() + self._distinct(word)
        reference = self._members(word, *_MANY)
        attribute = reference.attribute.value if reference.attribute else None
        if attribute is None and name != "count":
            shown = "count(distinct ...)" if name == "count distinct" else name
            raise QueryProblem(reference.span, f"{shown} needs an attribute, as in b[].value")
        if self.stream.current.is_symbol(","):
            self.stream.fail_because(
                f"an aggregate is of one attribute: write one {word.value.lower()} for each"
            )
        self.stream.expect_symbol(")", "')'")
        before, own = reference.index != "all", reference.index == "up to"
        span = self.stream.span_from(word.span.start)
        return Aggregate(name, reference.variable, attribute, before, span, own)

    def _distinct(self, word: Token) -> str:
        """The second word of `count(distinct b[].x)`."""
        if not self.stream.current.is_word("DISTINCT") or self.stream.ahead().is_symbol("["):
            return ""
        distinct = self.stream.take()
        if f"{word.value.lower()} distinct" not in AGGREGATES:
            raise QueryProblem(distinct.span, "only count takes distinct values, as in count(distinct b[].x)")
        return " distinct"

    def _of_one_member(self) -> Expression:
        """`first(b[].x)` is `b[first].x`, and `last(b[].x)` is `b[last].x`."""
        word = self.stream.take()
        self.stream.expect_symbol("(")
        reference = self._members(word, "all")
        if reference.attribute is None:
            raise QueryProblem(
                reference.span, f"{word.value.lower()} needs an attribute, as in {reference.variable}[].x"
            )
        self.stream.expect_symbol(")", "')'")
        member = cast(MemberIndex, word.value.lower())
        span = self.stream.span_from(word.span.start)
        return _attribute_or_time(reference.variable, member, reference.attribute, span)

    def _members(self, word: Token, *indexes: _Many) -> _Reference:
        """The members of a group that a function is of, in its parentheses."""
        inside, function = self.stream.current, word.value.lower()
        if inside.is_symbol("*"):
            self.stream.fail_because(
                "the matches of each key are counted by GROUP BY a.x, the members of a group by count(b[])"
            )
        if inside.kind not in _NAMES:
            self.stream.fail(f"the members of a Kleene variable, as in {function}(b[].value)")
        reference = self._reference()
        if reference.index not in indexes:
            variable = reference.variable if len(reference.variable) <= 40 else "b"
            forms = " or ".join(f"{variable}[{_MANY[each]}].x" for each in indexes)
            raise QueryProblem(reference.span, f"{function} takes all members: write {forms}")
        return reference


def _attribute_or_time(
    variable: str, member: MemberIndex | None, name: Token, span: Span
) -> Attribute | EventTime:
    if name.kind is TokenKind.WORD and name.value.lower() in EVENT_TIMES:
        return EventTime(variable, EVENT_TIMES[name.value.lower()], member, span)
    return Attribute(variable, name.value, member, span)

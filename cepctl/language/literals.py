"""Numbers, durations and windows, from the tokens that spell them."""

from __future__ import annotations

from fractions import Fraction

from cepctl.language.ast import Duration, Span
from cepctl.language.messages import QueryProblem
from cepctl.language.stream import TokenStream, found_text
from cepctl.language.tokens import Token, TokenKind
from cepctl.numeric.exact_numbers import exact_number
from cepctl.schema import MICROSECONDS, unit_hint

_LARGEST_INTEGER = 2**63 - 1


def duration(amount: Token, unit: Token) -> Duration:
    """A number (or the string of an INTERVAL) with its unit."""
    span = Span(amount.span.start, unit.span.end)
    try:
        length = exact_number(amount.value)
    except ValueError:
        raise QueryProblem(amount.span, f"found {found_text(amount)}, expected a number") from None
    if len(amount.value) > 40 or length > 10**30:
        raise QueryProblem(amount.span, "this duration is too long")
    if unit.value.lower() in ("tick", "ticks"):
        if length.denominator != 1:
            raise QueryProblem(span, "a number of ticks must be whole")
        return Duration(None, int(length), span)
    return Duration(length * MICROSECONDS[unit.value.lower()], None, span)


def number(token: Token) -> int | float:
    if token.value.isdigit():
        if len(token.value) > 30 or int(token.value) > _LARGEST_INTEGER:
            raise QueryProblem(token.span, "this number does not fit 64 bits; write it with a point")
        return int(token.value)
    number = float(token.value)
    if number == float("inf"):
        raise QueryProblem(token.span, "this number is too large")
    return number


def iseq_window(stream: TokenStream) -> Duration:
    """The window inside ISEQ's parentheses; Li10 writes it without a unit, in ticks."""
    amount = stream.current
    if amount.kind is not TokenKind.NUMBER:
        stream.fail("the window of ISEQ, as in ISEQ(A a, B b; 30)")
    unit = stream.ahead()
    if unit.kind is TokenKind.WORD:
        return window(stream)
    stream.take()
    if not amount.value.isdigit() or len(amount.value) > 30:
        raise QueryProblem(amount.span, "a window without a unit is a whole number of ticks")
    return Duration(None, int(amount.value), amount.span)


def window(stream: TokenStream) -> Duration:
    """The duration of WITHIN: `15 seconds`, `15s`, `2001 ticks` or `INTERVAL '15' SECOND`."""
    units = "ns, us, ms, s, min, h, day, week or ticks"
    interval = stream.accept_word("INTERVAL")
    amount = stream.current
    if amount.kind is not (TokenKind.STRING if interval else TokenKind.NUMBER):
        stream.fail(
            "a duration, such as INTERVAL '15' SECOND" if interval else "a duration, such as 15 seconds"
        )
    stream.take()
    unit = stream.current
    names = MICROSECONDS if interval else (*MICROSECONDS, "tick", "ticks")
    if unit.kind is TokenKind.WORD and unit.value.lower() not in names and not stream.at_clause():
        nearest = unit_hint(unit.value, names)
        raise QueryProblem(unit.span, f"'{unit.value}' is not a unit of time; the units are {units}{nearest}")
    if unit.kind is not TokenKind.WORD or stream.at_clause():
        raise QueryProblem(amount.span, f"a duration needs a unit: {units}")
    stream.take()
    result = duration(amount, unit)
    if (result.microseconds or Fraction(result.ticks or 0)) < 0:
        raise QueryProblem(amount.span, "a window cannot be negative")
    return result

"""Numbers and durations, from the tokens that spell them."""

from __future__ import annotations

from fractions import Fraction

from cepctl.language.ast import Duration, Span
from cepctl.language.messages import QueryProblem
from cepctl.language.stream import found_text
from cepctl.language.tokens import Token
from cepctl.schema import MICROSECONDS

_LARGEST_INTEGER = 2**63 - 1


def duration(amount: Token, unit: Token) -> Duration:
    """A number (or the string of an INTERVAL) with its unit."""
    span = Span(amount.span.start, unit.span.end)
    try:
        length = Fraction(amount.value)
    except (ValueError, ZeroDivisionError):
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

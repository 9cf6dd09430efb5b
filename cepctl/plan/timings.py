"""Timing constraints: comparisons of uncertain times become difference constraints in ticks.

`b.time - a.time <= 5 s` is t(b) - t(a) <= 5000 where a tick is 1 ms.  Strict comparisons and
constants between two ticks are rounded to the whole tick that means the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias

from cepctl.language.ast import (
    COMPARISONS,
    Allen,
    Between,
    Binary,
    Constant,
    Duration,
    EndpointDifference,
    EventTime,
    Expression,
    MemberIndex,
    Span,
    Unary,
)
from cepctl.language.messages import QueryProblem
from cepctl.language.printer import duration_text
from cepctl.language.traversal import rewrite, walk
from cepctl.plan.problems import QueryProblems
from cepctl.schema import (
    EARLIEST_TICK,
    LATEST_TICK,
    MICROSECONDS,
    TICK_MAX,
    TimeUnit,
)

FARTHEST = LATEST_TICK - EARLIEST_TICK - 2
"""Durations saturate here, the most that fits int64 with one tick to spare: beyond are only the very ends of
time."""
_UNCERTAIN = ("time", "start", "end")
_FRACTION = re.compile(r"(?<=:\d\d)[.,](\d{1,30})(?!\d)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


class RefusedTimingError(QueryProblem):
    """A timing constraint that has a meaning, but that nothing runs yet; the message names it."""


Difference: TypeAlias = EndpointDifference
"""What a timing constraint says of two times."""
_Time: TypeAlias = tuple[str, bool, MemberIndex | None]
Side: TypeAlias = tuple[str, bool]
"""A variable, and whether the end of its event is meant."""


@dataclass
class _Sum:
    """A linear form: times with their sign, ISO constants counted, and ticks."""

    times: Counter[_Time] = field(default_factory=Counter)
    instants: int = 0
    ticks: Fraction = Fraction(0)


def is_timing(expression: Expression) -> bool:
    """Whether an expression reads an uncertain tick of an event."""
    return any(
        isinstance(each, Allen) or (isinstance(each, EventTime) and each.which in _UNCERTAIN)
        for each in walk(expression)
    )


def differences(expression: Expression, unit: TimeUnit) -> tuple[Difference, ...]:
    """The difference constraints that one conjunct of WHERE stands for.

    A conjunct that always holds gives none; one that never holds gives `0 - 0 <= -1`.

    Raises
    ------
    RefusedTimingError
        If it stands where no timing constraint may, or reads one member of a group.
    QueryProblem
        If it is not a timing constraint, or a duration is not a whole number of ticks.
    """
    match expression:
        case Binary(operator, left, right, span) if operator in COMPARISONS:
            return tuple(_compare(left, operator, right, span, unit))
        case Between(operand, low, high, False, span):
            return (*_compare(operand, ">=", low, span, unit), *_compare(operand, "<=", high, span, unit))
        case _:
            raise RefusedTimingError(
                expression.span,
                "a relation or other condition on times inside OR, NOT or IN, which comparisons of times may "
                "be joined by; write an OR of two patterns",
            )


def duration_ticks(duration: Duration, unit: TimeUnit) -> int:
    """Length in ticks; raises QueryProblem unless it is a whole number."""
    if duration.microseconds is None:
        return duration.ticks or 0
    ticks = duration.microseconds / unit.microseconds
    if ticks.denominator != 1:
        raise QueryProblem(
            duration.span,
            f"{duration_text(duration)} is not a whole number of ticks: one tick is {unit}"
            f"{_remedy(duration.microseconds)}",
        )
    return int(ticks)


def _remedy(microseconds: Fraction) -> str:
    """Which ticks a duration is a whole number of."""
    for name in ("s", "ms", "us", "ns"):
        if (microseconds / MICROSECONDS[name]).denominator == 1:
            return f"; read the logs with --time-unit '1 {name}'"
    return ""


def in_ticks(expression: Expression, unit: TimeUnit, problems: QueryProblems) -> Expression:
    """The expression in which beside `a.lower` and `a.upper`, which are ticks, a duration is their number."""
    if not any(isinstance(each, EventTime) and each.which in ("lower", "upper") for each in walk(expression)):
        return expression

    def change(each: Expression) -> Expression:
        if not isinstance(each, Duration):
            return each
        try:
            return Constant(min(duration_ticks(each, unit), TICK_MAX), each.span)
        except QueryProblem as problem:
            problems.error(problem.problem.span, problem.problem.message)
            return Constant(0, each.span)

    return rewrite(expression, change)


def window_ticks(duration: Duration, unit: TimeUnit) -> int | None:
    """The window in ticks, None where it is too long to say anything; raises QueryProblem as above."""
    ticks = duration_ticks(duration, unit)
    return ticks if ticks <= FARTHEST + 1 else None


def _compare(
    left: Expression, operator: str, right: Expression, span: Span, unit: TimeUnit
) -> Iterator[Difference]:
    total = _Sum()
    _add(left, 1, total, unit)
    _add(right, -1, total, unit)
    signs = {side: sign for side, sign in total.times.items() if sign}
    if sum(signs.values()) + total.instants != 0 or len(signs) > 2 or any(abs(s) > 1 for s in signs.values()):
        raise QueryProblem(
            span,
            "a time may only be compared with another time or an ISO constant, plus or minus a duration, "
            "as in b.time - a.time <= 5 s",
        )
    later = next((side for side, sign in signs.items() if sign > 0), None)
    earlier = next((side for side, sign in signs.items() if sign < 0), None)
    yield from _bounded(later, earlier, operator, -total.ticks)


def _bounded(
    later: _Time | None, earlier: _Time | None, operator: str, bound: Fraction
) -> Iterator[Difference]:
    """`t(later) - t(earlier) operator bound` in whole ticks."""
    if later is None and earlier is None:
        holds = {"<": bound > 0, "<=": bound >= 0, ">": bound < 0, ">=": bound <= 0,
                 "=": bound == 0, "<>": bound != 0}[operator]  # fmt: skip
        if not holds:
            yield Difference(None, None, -1)
        return
    if operator == "<>":
        if bound.denominator == 1 and abs(bound) <= FARTHEST:
            yield _difference(later, earlier, int(bound), not_equal=True)
        return
    if operator in ("<", "<=", "="):
        yield from _at_most(later, earlier, ceil(bound) - 1 if operator == "<" else floor(bound))
    if operator in (">", ">=", "="):
        yield from _at_most(earlier, later, ceil(-bound) - 1 if operator == ">" else floor(-bound))


def _at_most(left: _Time | None, right: _Time | None, bound: int) -> Iterator[Difference]:
    """`t(left) - t(right) <= bound`: nothing where it always holds, `0 - 0 <= -1` where it never does."""
    if bound < EARLIEST_TICK - LATEST_TICK:
        yield Difference(None, None, -1)
    elif bound <= FARTHEST:
        yield _difference(left, right, max(bound, -FARTHEST - 1))


def _difference(
    left: _Time | None, right: _Time | None, bound: int, *, not_equal: bool = False
) -> Difference:
    one, left_end, left_member = left or (None, False, None)
    other, right_end, right_member = right or (None, False, None)
    return Difference(one, other, bound, not_equal, left_end, right_end, left_member, right_member)


def _add(expression: Expression, sign: int, total: _Sum, unit: TimeUnit) -> None:
    match expression:
        case EventTime(variable, "time" | "start" | "end" as which, member, span, back):
            if member == "previous":
                raise RefusedTimingError(
                    span,
                    f"{variable}[i-{back}].time in a timing constraint: write {variable}[first].time, "
                    f"{variable}[last].time, or {variable}[i].time for each of its members",
                )
            total.times[variable.lower(), which == "end", None if member == "each" else member] += sign
        case Duration():
            total.ticks += sign * duration_ticks(expression, unit)
        case Constant(str() as text):
            total.instants += sign
            total.ticks += sign * _instant(text, expression.span) / unit.microseconds
        case Binary("+" | "-" as operator, left, right):
            _add(left, sign, total, unit)
            _add(right, sign if operator == "+" else -sign, total, unit)
        case Unary("+" | "-" as operator, operand):
            _add(operand, sign if operator == "+" else -sign, total, unit)
        case Constant(int() | float()):
            raise QueryProblem(
                expression.span, "this number needs a unit, as in 5 s or 5 ticks, to be compared with times"
            )
        case _:
            raise QueryProblem(
                expression.span, "a.time can only be combined with times, ISO constants and durations"
            )


def _instant(text: str, span: Span) -> Fraction:
    """Microseconds since the epoch of an ISO 8601 constant; without a zone it is UTC."""
    found = _FRACTION.search(text)
    whole = text[: found.start()] + text[found.end() :] if found else text
    try:
        moment = datetime.fromisoformat(whole.strip())
    except (ValueError, OverflowError):
        raise QueryProblem(
            span, f"'{text[:40]}' is not an ISO 8601 time, such as '2015-10-18T18:01:47Z'"
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    elapsed = aware - _EPOCH
    rest = Fraction(int(found[1]), 10 ** len(found[1])) if found else Fraction(0)
    return (elapsed.days * 86_400 + elapsed.seconds + rest) * 1_000_000 + elapsed.microseconds

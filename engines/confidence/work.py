"""What is known of each way to measure something, and how much work it may take: one bound, and one refusal.

Lists of methods say which is asked when, and why.  The scale of work is nanoseconds of one core.  Every
method counts its products of probabilities before it takes them; how long one takes is told here.  What is
beyond the bound is left to the methods that follow; what none of them measures is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, ParamSpec, TypeAlias, TypeVar

from cepctl.errors import QueryTooLargeError

MOST_NANOSECONDS = 4_000_000_000
"""What one confidence may take of one core with one method."""

GAPS, BOTH_ENDS, SET = "table for each gap", "sum over both ends", "sum over both ends of a set"
CARRIED = "density carried over several gaps"
NESTED, BESIDE_GIVEN = "nested sums", "nested sums beside what is given"
AT_OFFSETS = "sum over few offsets of clocks"
NESTED_ENDS = "nested sums over starts and ends"
ENDS = "sums over starts and ends"
UNIONS, COUNTS = "union over shared events", "counts of members"
ORDERS = "orders of keys under their law"
TIED_OFFSETS = "sum over offsets of tied clocks"

NANOSECONDS = {GAPS: 1.0, CARRIED: 1.0, BOTH_ENDS: 5.0, SET: 2.5, NESTED: 80.0,
               BESIDE_GIVEN: 80.0, NESTED_ENDS: 80.0, UNIONS: 4.0, COUNTS: 2.5,
               ORDERS: 0.5, TIED_OFFSETS: 200.0}  # fmt: skip
"""How long one of its products takes, by method."""

NARROW = "narrow the pattern (WITHIN, [attr], tighter predicates)"
SAY_MORE = "say more in IF so that it ties fewer events"
ALLOW = "allow an error with --approximate"
LEAVE_OUT = "leave it out (--no-given; the order of records, --no-writer)"
BY_EPOCH = 'write residual = "epoch" in the rule of the clock'


def most_products(method: str) -> int:
    """How many products of a method are within the bound.

    Examples
    --------
    >>> most_products("nested sums")
    50000000
    """
    return int(MOST_NANOSECONDS / NANOSECONDS[method])


def too_costly(what: str, method: str, most: str, why: str, *remedies: str) -> QueryTooLargeError:
    """That something is refused: by which method it would be measured, and what makes that too much.

    Examples
    --------
    >>> print(too_costly("a confidence", NESTED, "20 products", "it couples 9 events", "ask less", "wait"))
    a confidence takes more than 20 products by nested sums: it couples 9 events; ask less, or wait
    """
    *others, last = remedies
    advice = f"{', '.join(others)}, or {last}" if others else last
    return QueryTooLargeError(f"{what} takes more than {most} by {method}: {why}; {advice}")


class Guarantee(Enum):
    """How near a confidence is to the probability."""

    EXACT = "exact to rounding"
    AGREED = "exact to 34 bits"
    PARTS = "as exact as what it sums"
    ESTIMATED = "within the error allowed"


Heard: TypeAlias = Callable[[str], None]
"""Hears the name of each method that measures some."""


def nobody(name: str) -> None:
    """Nobody hears it."""


_Asked = TypeVar("_Asked")
_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Method(Generic[_Asked, _Given, _Found]):
    """One way to measure matches, keys, or what connects some endpoints.

    `takes`: whether it is asked at all, told by what all of them have in common; `measure`: what it finds.
    `why`: what makes them so that it measures them.
    """

    name: str
    takes: Callable[[_Asked], bool]
    guarantee: Guarantee
    measure: Callable[_Given, _Found]
    why: str

    @property
    def most_products(self) -> int | None:
        """So many products are the most that it takes; None where what it sums has a bound."""
        return most_products(self.name) if self.name in NANOSECONDS else None

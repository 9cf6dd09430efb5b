"""How much work a confidence may take: one bound, in one scale, and one refusal.

The scale is nanoseconds of one core.  Every method counts its products of probabilities before it takes them;
how long one of them takes is told here.  What is beyond the bound is left to the methods that follow; what
none of them measures is refused.
"""

from __future__ import annotations

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

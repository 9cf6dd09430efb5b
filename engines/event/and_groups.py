"""AND groups whose matches are too many to measure: counted before the first is measured.

A match of n events without an order is a sum over which of them is first and which last: n (n - 1) sums, but
for groups between two single events, which are one.  To list a match takes a thousand times less, so that
matches are counted by listing them, up to the bound; under a threshold that rises, while they are measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

from cepctl.engines.search.search import Search
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes

MOST_SUMS = 5_000_000
"""Sums that the matches of an AND group may take together: some minutes of one core."""
_ANY = 1 << 62
_FEWEST_COMPONENTS = 5
"""Smaller groups are joins, of which few matches are many sums."""


def few_matches(
    search: Search,
    parts: Sequence[Callable[[], Iterator[Indexes]]],
    max_matches: int | None,
    *,
    in_one_sum: bool,
) -> Sequence[Callable[[], Iterator[Indexes]]]:
    """The parts of a search, refused where a large AND group has more matches than may be measured.

    A threshold that rises says only on the way which matches are measured, so that these are counted on the
    way.  `max_matches`: how many the options allow, None for any number.  `in_one_sum`: whether a match is
    one sum.

    Raises
    ------
    QueryTooLargeError
        If there are more, now or when the parts that are returned find them.
    """
    size = max(map(len, search.alternative.blocks))
    if size < _FEWEST_COMPONENTS:
        return parts
    each = 1 if in_one_sum else size * (size - 1)
    allowed = min(MOST_SUMS // each if each > 1 else _ANY, _ANY if max_matches is None else max_matches)
    if prod(len(search.candidates[i]) for i in search.singles) <= allowed:
        return parts
    count = _Count(allowed, _refusal(size, allowed, each))
    if search.push_down is not None and search.push_down.threshold.rises:
        return [partial(_counted, part, count) for part in parts]
    for part in parts:
        for rows in part():
            count.add(len(rows))
    return parts


@dataclass
class _Count:
    """How many matches all parts found so far; of threads a few may be counted late."""

    allowed: int
    refusal: str
    found: int = 0

    def add(self, found: int) -> None:
        self.found += found
        if self.found > self.allowed:
            raise QueryTooLargeError(self.refusal)


def _counted(part: Callable[[], Iterator[Indexes]], count: _Count) -> Iterator[Indexes]:
    for rows in part():
        count.add(len(rows))
        yield rows


def _refusal(size: int, allowed: int, each: int) -> str:
    cost = f", each measured by {each:,} sums, one for each pair of its events that may be first and last"
    return (
        f"the AND group of {size} components of this query has more than {allowed:,} matches"
        f"{cost if each > 1 else ''}; narrow it (WITHIN, [attr], predicates that tell its components apart, "
        "CONFIDENCE), or bind alike components as a Kleene group, as in A+ a[]"
    )

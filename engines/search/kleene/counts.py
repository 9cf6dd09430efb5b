"""How many groups a Kleene component can bind, known without listing them; more than allowed are refused.

Where nothing but order and window limits sets they are counted without making any.  A member must lie between
ticks that its neighbours fix, s < t_x < t with both ends moved by the window and by timing constraints; so a
set of events is possible iff some world puts s before the earliest end of their intervals and t after the
latest beginning.  Let y be the member whose interval ends first.  Among the worlds in which y is a member
there is one in which every other tick is the latest possible (the greatest solution of the difference
constraints).  There t is at its latest, `reach`, while s still lies before the end of y, hence before the
ends of all others: together with y goes exactly what begins no later than `reach`, in any combination.  So
with the candidates in order of their ends

    groups  =  sum over y of 2 ** (number of candidates after y that begin at or before reach(y))

Where a threshold limits sets, they are tried (`count_tries`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, valid_bounds
from cepctl.engines.search.kleene.candidates import GroupChoices
from cepctl.engines.search.search import Search
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.plan.plan import Component

_SAFE_BITS = 62
"""Sums of this many smaller powers of two fit an int64."""


def latest_beginnings(lower: Ticks, upper: Ticks, system: Ticks, member: int) -> Ticks:
    """Latest tick that any member can have beside the one bound, shape (n,).

    `lower`, `upper`: intervals of the bound events with one member among them, shape (n, l).  `system`:
    closed system of the l variables (`cepctl.engines.pattern.difference_constraints.closed_system`).
    `member`: the column of the member.

    Examples
    --------
    >>> from cepctl.engines.pattern.difference_constraints import closed_system
    >>> system = closed_system([0, 1, 2], window=5)
    >>> latest_beginnings(np.array([[0, 2, 6]]), np.array([[9, 3, 9]]), system, 1).tolist()
    [5]
    """
    _, latest = valid_bounds(lower, upper, system)
    reach = np.full(len(lower), UNBOUNDED, dtype=np.int64)
    for column in range(system.shape[0]):
        if column != member and system[member, column] < UNBOUNDED:
            reach = np.minimum(reach, shifted(latest[:, column], int(system[member, column])))
    return reach


def count_sets(
    row: Indexes, count: int, lower: Ticks, upper: Ticks, reach: Ticks, most: int | None = None
) -> list[int]:
    """Number of possible non-empty sets per row, of at most `most` members if it says so, exact.

    `row`: the row of every candidate, ascending, shape (m,); each candidate alone must be possible.  `lower`,
    `upper`: intervals of the candidates, shape (m,).  `reach`: latest tick of a member beside each candidate,
    from `latest_beginnings`.

    Examples
    --------
    >>> row, lower, upper = np.array([0, 0, 1]), np.array([1, 7, 2]), np.array([3, 9, 2])
    >>> count_sets(row, 2, lower, upper, np.array([9, 9, 9])), count_sets(row, 2, lower, upper, lower)
    ([3, 1], [2, 1])
    """
    order = np.lexsort((upper, row))
    offsets = np.searchsorted(row, np.arange(count + 1))
    exponents = np.empty(len(row), dtype=np.int64)
    _company(offsets, lower[order], reach[order], exponents)
    sizes = np.diff(offsets)
    totals = np.zeros(count, dtype=object)
    if most is not None:
        for at in np.flatnonzero(sizes):
            totals[at] = _sum_of_few(exponents[offsets[at] : offsets[at + 1]], most)
        return list(totals)
    small = np.flatnonzero((sizes > 0) & (sizes <= _SAFE_BITS))
    if len(small):
        powers = np.where(np.repeat(sizes, sizes) <= _SAFE_BITS, 1 << np.minimum(exponents, _SAFE_BITS), 0)
        totals[small] = np.add.reduceat(powers, offsets[small])
    for at in np.flatnonzero(sizes > _SAFE_BITS):
        totals[at] = _sum_of_powers(exponents[offsets[at] : offsets[at + 1]])
    return list(totals)


def _sum_of_powers(exponents: Indexes) -> int:
    """Sum of 2 ** e, in time linear in the number and size of the exponents."""
    bits = np.bincount(exponents, minlength=int(exponents.max()) + _SAFE_BITS)
    _carry(bits)
    return int.from_bytes(np.packbits(bits.astype(np.uint8), bitorder="little").tobytes(), "little")


def _sum_of_few(exponents: Indexes, most: int) -> int:
    """How many sets there are of a member and fewer than `most` of those that may go with it, for each."""
    others, times = np.unique(exponents, return_counts=True)
    return sum(
        number * sum(comb(of, few) for few in range(min(most - 1, of) + 1))
        for of, number in zip(others.tolist(), times.tolist(), strict=True)
    )


@kernel
def _carry(bits):
    for i in range(len(bits) - 1):
        bits[i + 1] += bits[i] >> 1
        bits[i] &= 1


@kernel
def _company(offsets, lower, reach, exponents):
    """For every candidate how many after it, in its row, may go with it.

    Candidates are entered from the last to the first, at the rank of their beginning, into a Fenwick tree,
    which tells how many of those entered begin at or before a tick in logarithmic time.
    """
    for row in range(len(offsets) - 1):
        start, count = offsets[row], offsets[row + 1] - offsets[row]
        order = np.argsort(lower[start : start + count])
        beginnings = lower[start : start + count][order]
        rank = np.empty(count, dtype=np.int64)
        for i in range(count):
            rank[order[i]] = i
        entered = np.zeros(count + 1, dtype=np.int64)
        for i in range(count - 1, -1, -1):
            together = 0
            at = np.searchsorted(beginnings, reach[start + i], side="right")
            while at > 0:
                together += entered[at]
                at -= at & -at
            exponents[start + i] = together
            at = rank[i] + 1
            while at <= count:
                entered[at] += 1
                at += at & -at


_ASTRONOMICAL = 10**18
_LOG10_2 = 0.30103


@dataclass
class GroupBudget:
    """How many groups may still be enumerated; shared by all batches of a query."""

    allowed: int
    made: int = 0
    summary: bool = True
    """Whether one row for all groups would make none."""

    @property
    def left(self) -> int:
        """How many groups may still be made."""
        return self.allowed - self.made

    def spend(self, groups: int, most_candidates: int, component: Component) -> None:
        """Account for groups that are about to be made; raises QueryTooLargeError beyond the cap."""
        self.made += groups
        self._require(self.made, "would be tried by now", most_candidates, component)

    def foresee(self, groups: int, most_candidates: int, component: Component) -> None:
        """Raises QueryTooLargeError where `groups` more, none of them made yet, exceed the cap."""
        self._require(self.made + groups, "are possible", most_candidates, component)

    def _require(self, groups: int, what: str, most_candidates: int, component: Component) -> None:
        if groups <= self.allowed:
            return
        summary = "ask for one row for all with --kleene summary, " if self.summary else ""
        raise QueryTooLargeError(
            f"the Kleene groups {component.variable}[] of this query are too many to list: {_shown(groups)} "
            f"{what}, where {self.allowed:,} are allowed, since up to {most_candidates:,} events can be in "
            "one group and each may be in it or not; narrow it (WITHIN, [attr], predicates on the group's "
            f"events, CONFIDENCE), {summary}or raise the cap with --max-matches"
        )


def _shown(number: int) -> str:
    """A number in full while its digits can be taken in at a glance."""
    return f"{number:,}" if number < _ASTRONOMICAL else f"about 10^{int(number.bit_length() * _LOG10_2)}"


_TOO_MANY_TO_COUNT_EXACTLY = 1000
"""Events whose sets need not be told apart from those of more."""
_SLACK = 1e-8
"""Share of a threshold by which bounds that are added up in another order may differ."""


def subsets_of(optional: Group) -> float:
    """How many sets the events of all rows form, whatever limits them."""
    return float(np.exp2(np.minimum(optional.sizes, _TOO_MANY_TO_COUNT_EXACTLY)).sum())


def foresee_sets(
    search: Search, masses: Masses, rows: Indexes, optional: Group, component: int, window: int | None,
    budget: GroupBudget,
) -> None:  # fmt: skip
    """Where nothing else limits them, count the sets between their neighbours before any is made.

    Raises
    ------
    QueryTooLargeError
        If there are more than the budget allows.
    """
    components = search.alternative.components
    alone = sum(components[i].kleene for i in search.singles) == 1
    if not alone or components[component].ordered or subsets_of(optional) <= budget.left:
        return
    column = search.singles.index(component)
    bound = rows[optional.owner]
    bound[:, column] = optional.members
    lower, upper = masses.lower[bound], masses.upper[bound]
    reach = latest_beginnings(lower, upper, search.system, column)
    if window is not None:
        # Members of one group share a window, also where no neighbour does.
        reach = np.minimum(reach, shifted(upper[:, column], window - 1))
    sets = count_sets(optional.owner, len(rows), lower[:, column], upper[:, column], reach)
    budget.foresee(sum(sets), int(optional.sizes.max(initial=0)), components[component])


def can_be_tried(search: Search, choices: GroupChoices) -> bool:
    """Whether neighbours, window and threshold are all that limits these sets."""
    few = choices.optional.sizes.max(initial=0) <= _TOO_MANY_TO_COUNT_EXACTLY
    free = not choices.component.ordered and not choices.whole and not search.partition_by
    return bool(choices.bounds is not None and free and few)


def try_sets(
    search: Search, choices: GroupChoices, states: Indexes, weights: Reals, window: int | None,
    budget: GroupBudget,
) -> None:  # fmt: skip
    """Try the sets that grow from some of the choices, none of which is kept.

    `weights`: what they carry along, as `CellBounds.started` says.

    Raises
    ------
    QueryTooLargeError
        If more are tried than the budget allows.
    """
    assert choices.bounds is not None
    assert search.push_down is not None
    least = search.push_down.threshold.least * (1.0 - _SLACK)
    tries = choices.bounds.tries(
        choices.row[states], weights, choices.optional.take(states), window, least, budget.left
    )
    budget.spend(tries, int(choices.optional.sizes.max(initial=0)), choices.component)

"""Rows under laws of order: which of them a law touches, and how probable they are by it.

Rows that are others moved in time, in whatever key, are measured once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.confidence.orders.key_orders import KeyOrders
from cepctl.engines.confidence.orders.row_tables import Budget, TooManyStepsError, total
from cepctl.engines.confidence.orders.rows import AskedRows, Row
from cepctl.errors import QueryTooLargeError
from cepctl.order_laws.choices import Beyond

MOST_EVENTS = 1_000
"""Of one cluster: each row passes through all of it."""
_MOST_KEPT = 1 << 16


@dataclass(frozen=True)
class LawfulOrders:
    """Events under laws of order, and what is done with a key of which more than `limit` sets are alive."""

    orders: KeyOrders
    limit: int
    beyond: Beyond
    _wholes: dict[int, tuple[float, int]] = field(default_factory=dict, compare=False, repr=False)
    _known: dict[bytes, float] = field(default_factory=dict, compare=False, repr=False)

    def probabilities(
        self, asked: Sequence[tuple[Row, ...]], window: int | None, *, every: bool = False
    ) -> tuple[Reals, Flags]:
        """P(some row of each holds), NaN where no law says anything of it; and where a key is beyond.

        `every`: also where no law says anything.

        Raises
        ------
        QueryTooLargeError
            If a key is beyond the limit and that is refused, or an answer takes too much work.
        """
        found, beyond = np.full(len(asked), np.nan), np.zeros(len(asked), dtype=bool)
        for place, rows in enumerate(asked):
            numbers = self._clusters_of(rows)
            if not (numbers or every):
                continue
            large = next((each for each in numbers if self._is_beyond(each)), None)
            if large is None:
                found[place] = self._probability(rows, window, numbers)
            elif self.beyond == "lawless":
                beyond[place] = True
            else:
                raise self._refused(large)
        return found, beyond

    def unions(self, rows: Sequence[Row], of: Indexes, count: int, window: int | None) -> tuple[Reals, Flags]:
        """P(some row of each of `count` groups holds), NaN where that takes too much work.

        `of`: the group of each row.  Also of which groups a key is beyond: they are NaN as well.
        """
        missing, beyond = np.ones(count), np.zeros(count, dtype=bool)
        for part in self._parts(rows, of):
            group = int(of[part[0]])
            try:
                found, large = self.probabilities([tuple(rows[i] for i in part)], window, every=True)
            except TooManyStepsError:
                missing[group] = np.nan
                continue
            beyond[group] |= large[0]
            missing[group] *= 1.0 - found[0]
        return 1.0 - missing, beyond

    def _parts(self, rows: Sequence[Row], of: Indexes) -> list[list[int]]:
        """Rows of one group that share an uncertain event, or a cluster."""
        parts: dict[int, list[int]] = {}
        owner: dict[tuple[int, bool, int], int] = {}
        part_of = list(range(len(rows)))
        for number, row in enumerate(rows):
            parts[number] = [number]
            for shared in self._shared(row):
                other = part_of[owner.setdefault((int(of[number]), *shared), number)]
                own = part_of[number]
                if other != own:
                    for each in parts[own]:
                        part_of[each] = other
                    parts[other] += parts.pop(own)
        return [sorted(each) for each in parts.values()]

    def _shared(self, row: Row) -> set[tuple[bool, int]]:
        events = [*row.events, *(each for each, _ in row.rivals)]
        lower, upper = self.orders.masses.lower, self.orders.masses.upper
        clusters = {(True, int(self.orders.cluster[event])) for event in events} - {(True, -1)}
        return clusters | {(False, event) for event in events if lower[event] < upper[event]}

    def beyond_of(self, rows: Sequence[Row]) -> Flags:
        """Which rows have a key that is beyond the limit."""
        found = [any(map(self._is_beyond, self._clusters_of((each,)))) for each in rows]
        return np.array(found, dtype=bool)

    def _clusters_of(self, rows: tuple[Row, ...]) -> list[int]:
        """The clusters of the events that decide, of those in which an order has more weight than another."""
        events = {event for row in rows for event in (*row.events, *(each for each, _ in row.rivals))}
        numbers = {int(self.orders.cluster[event]) for event in events} - {-1}
        return [each for each in sorted(numbers) if not self.orders.cluster_of(each).says_nothing]

    def _is_beyond(self, number: int) -> bool:
        many = len(self.orders.cluster_of(number).events) > MOST_EVENTS
        return many or bool(self.orders.sets[number] > self.limit)

    def _whole(self, number: int) -> tuple[float, int]:
        found = self._wholes.get(number)
        if found is None:
            found = self._wholes[number] = total(self.orders.cluster_of(number), self.orders.masses)
        return found

    def _probability(self, rows: tuple[Row, ...], window: int | None, numbers: Sequence[int]) -> float:
        clusters = tuple(map(self.orders.cluster_of, numbers))
        asked = AskedRows(self.orders.masses, rows, window or 0, clusters, Budget())
        text = asked.text
        found = self._known.get(text)
        if found is None:
            whole, exponent = 1.0, 0
            for each in numbers:
                factor, shift = self._whole(each)
                whole, exponent = whole * factor, exponent + shift
            held, held_exponent = asked.summed()
            found = min(held / whole * 2.0 ** max(held_exponent - exponent, -2000), 1.0)
            if len(self._known) < _MOST_KEPT:
                self._known[text] = found
        return found

    def _refused(self, number: int) -> QueryTooLargeError:
        sets, events = self.orders.sets[number], len(self.orders.cluster_of(number).events)
        excess = (
            f"{events:,} of its events may each be in either order with another, {MOST_EVENTS:,} are taken "
            "together; "
        )
        if sets > self.limit:
            some = f"{sets:,.0f}" if np.isfinite(sets) else "more than 2^62"
            excess = (
                f"{some} sets of its events may have happened in one cell of time, {self.limit:,} are "
                "allowed; raise --law-limit, "
            )
        return QueryTooLargeError(
            f"the law of order of {self.orders.name_of(number)}: {excess}compute such keys without the law "
            "(--beyond lawless), or leave the law out (--no-laws leaves out that of the dataset)"
        )

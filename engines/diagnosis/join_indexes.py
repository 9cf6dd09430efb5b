"""Candidates of joins, indexed by key and time: pairs are counted by binary search, and listed in order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.join_keys import JoinKey, join_key
from cepctl.engines.columns.range_join import IntervalIndex, interval_index
from cepctl.engines.diagnosis.conditions import Conditions
from cepctl.engines.kernels.kernel import kernel
from cepctl.plan.plan import Equality

_KEPT = 16


@dataclass(frozen=True)
class JoinIndex:
    """The candidates of a join, ready; `ends` are their upper bounds, sorted within each key."""

    candidates: Indexes
    interval: IntervalIndex
    key: JoinKey
    ends: Ticks

    def pair_counts(self, key: Indexes, first: Ticks, last: Ticks) -> Indexes:
        """Per query the events of its key whose interval overlaps its own, counted without listing them."""
        interval = self.interval
        counts: Indexes = _overlap_counts(interval.key_starts, interval.lower, self.ends, key, first, last)
        return counts


class JoinIndexes:
    """The candidates of joins over some events, indexed; the last few are kept for those that share them.

    Keys of long columns cost most of a join.
    """

    def __init__(self, events: Events) -> None:
        self.events = events
        self._kept: dict[tuple[int, tuple[str, ...], tuple[Equality, ...]], JoinIndex] = {}

    def of(self, conditions: Conditions, column: int) -> JoinIndex:
        """The index of the join that binds a column."""
        candidates = conditions.candidates[conditions.columns[column]]
        name = (column, conditions.partition_by, conditions.alternative.equalities)
        kept = self._kept.get(name)
        if kept is not None and kept.candidates is candidates:
            return kept
        self._kept.pop(name, None)
        self._kept[name] = found = self._built(conditions, column, candidates)
        while len(self._kept) > _KEPT:
            del self._kept[next(iter(self._kept))]
        return found

    def _built(self, conditions: Conditions, column: int, candidates: Indexes) -> JoinIndex:
        component, known = conditions.columns[column], set(conditions.columns[:column])
        alternative, masses = conditions.alternative, self.events.masses
        key = join_key(alternative, conditions.partition_by, self.events, component, known, candidates)
        usable = key.candidate_codes >= 0
        event = candidates[usable]
        interval = interval_index(
            event, key.candidate_codes[usable], masses.lower[event], masses.upper[event]
        )
        keys = np.repeat(np.arange(len(interval.key_starts) - 1), np.diff(interval.key_starts))
        return JoinIndex(candidates, interval, key, interval.upper[np.lexsort((interval.upper, keys))])


@kernel
def _overlap_counts(key_starts, lower, ends, key, first, last):
    """`lower` and `ends` are sorted within each key: what neither starts too late nor ends too early."""
    counts = np.zeros(len(key), dtype=np.int64)
    for i in range(len(key)):
        if 0 <= key[i] < len(key_starts) - 1:
            start, stop = key_starts[key[i]], key_starts[key[i] + 1]
            begun = np.searchsorted(lower[start:stop], last[i], side="right")
            counts[i] = max(begun - np.searchsorted(ends[start:stop], first[i]), 0)
    return counts

"""A match on shared clocks, or of tied events, that costs too much to be exact: it is sampled, or refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.confidence.coupled.problem import Problems, Tied, clauses_of
from cepctl.engines.confidence.coupled.sampling import Sampling
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.occurrence.ends import NEVER, ends_of
from cepctl.engines.confidence.occurrence.rows import shown_events
from cepctl.engines.confidence.work import AT_OFFSETS, BY_EPOCH, NARROW, too_costly
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes

MOST_NODES = 200_000
"""Combinations of offsets at which one match may be measured.

Not products: at each of them a whole match is measured, and all are in memory at once.  Chains of sharp
events take products alone: 20,000,000 of them, one for each offset at each combination (tied_sums.py).
"""
MOST_SEGMENTS = 6
"""Clocks of one chain whose offsets are summed over."""


def too_many_offsets(
    levels: int, chain: tuple[int, str] = (0, ""), nodes: int = MOST_NODES
) -> QueryTooLargeError:
    """Why a match is refused that needs its measure at more than so many combinations of offsets, `nodes`.

    `chain`: how many clocks are tied in one chain, and which.
    """
    most = f"{nodes:,} combinations of offsets"
    return refused_at_offsets("the exact confidence of a match", most, levels, chain)


def refused_at_offsets(
    what: str, most: str, levels: int, chain: tuple[int, str], *remedies: str
) -> QueryTooLargeError:
    """Why something is refused that needs its measure at too many offsets of so many clocks."""
    segments, names = chain
    if segments > MOST_SEGMENTS:
        most = f"{MOST_SEGMENTS} segments of one clock"
    why = f"it sums over {levels} clocks of its events and of those that could break it"
    tied = f", {segments} of which, {names}, are segments tied by `jump`" if segments else ""
    by_epoch = [BY_EPOCH] if segments else []
    return too_costly(what, AT_OFFSETS, most, why + tied, *by_epoch, NARROW, *remedies)


def measured_or_estimated(
    exact: Callable[[Indexes], Measured], estimate: Callable[[Indexes], Measured], count: int
) -> Measured:
    """Measure `count` matches; those are estimated one by one of which `exact` knows no confidence.

    Those that it refuses to measure together are found by halving.
    """
    found = impossible(count)
    waiting = [np.arange(count)] if count else []
    while waiting:
        rows = waiting.pop()
        try:
            measured = exact(rows)
            found.put(rows, measured)
            for row in rows[np.isnan(measured.confidence)]:
                found.put(row[None], estimate(row[None]))
        except QueryTooLargeError:
            if len(rows) == 1:
                found.put(rows, estimate(rows))
            else:
                waiting += [rows[len(rows) // 2 :], rows[: len(rows) // 2]]
    return found


def estimated_match(
    clocks: EventClocks,
    sampling: Sampling,
    groups: Sequence[Group],
    problems: Sequence[Problems],
    tied: Callable[[Problems], Tied] | None = None,
) -> Measured:
    """One match, from sampled worlds; whether it is possible, and its time range, are exact.

    `tied` tells what is given of the events of problems, each of which is its own `match`.

    Raises
    ------
    QueryTooLargeError
        If the search for its range takes too long.
    """
    start, end, possible = NEVER, -NEVER, []
    for each in problems:
        if not len(each.match):
            continue
        alone = Problems(each.structure, np.arange(len(each.match)), each.variables, each.factors)
        known = () if tied is None else (tied(alone),)
        clauses = clauses_of([alone], len(alone.match), limited=True, tied=known)
        first, last = ends_of(clocks, clauses, *shown_events(each))
        happens = np.flatnonzero(first != NEVER)
        if len(happens):
            start, end = min(start, int(first.min())), max(end, int(last[happens].max()))
            possible.append(each.taken(happens))
    if not possible:
        return impossible(1)
    _, estimate = sampling.probabilities(groups, possible)
    return Measured(
        estimate, np.full(1, sampling.error), np.full(1, start, np.int64), np.full(1, end, np.int64)
    )

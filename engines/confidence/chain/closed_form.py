"""Confidence of chains: P(t_1 < t_2 < ... < t_l and t_l - t_1 < W), in closed form.

A chain is opened where order or window holds anyway (ring.py), so that it is a product over runs of events
in order (runs.py), or a sum of such products; what is left is summed with its window (window_sums.py).  All
terms are positive, so that nothing cancels, and the cost depends on the number of buckets, never on their
width.  What a chain is found to be depends on nothing but its masses and their distances in time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.chain.ring import MOST_PARTS, NO_WINDOW, open_rings
from cepctl.engines.confidence.chain.runs import (
    Runs,
    copy_buckets,
    find_runs,
    room_for_runs,
    sum_more,
    sum_ones,
    sum_threes,
    sum_twos,
)
from cepctl.engines.confidence.chain.window_sums import sum_windowed
from cepctl.engines.kernels.kernel import kernel

_BUCKETS_AT_ONCE = 1 << 11
"""Buckets, at most, of the chains that are summed at a time: what they take stays in the cache of a core."""


def chain_confidence(
    masses: Masses, matches: Indexes, valid_lower: Ticks, valid_upper: Ticks, window: int | None
) -> Reals:
    """Confidence of every match of a batch.

    Parameters
    ----------
    masses
        Masses of all events.
    matches
        Shape (n, l): the events of each match in chain order.
    valid_lower, valid_upper
        Shape (n, l): valid intervals; ticks outside contribute nothing and are left out.
    window
        W in ticks, None for none.

    Returns
    -------
    Shape (n,), in [0, 1]; relative error below 1e-12 for chains of up to 8 events.

    Examples
    --------
    ZDI10, Fig. 1: a1 = [1, 5], b3 = [3, 5], c2 = [3, 5], window 4.

    >>> import pyarrow as pa
    >>> from cepctl.engines.columns.masses import masses_of
    >>> events = pa.table({"event_id": ["a1", "b3", "c2"], "lower": [1, 3, 3], "upper": [5, 5, 5]})
    >>> bounds = np.array([[1, 3, 4]]), np.array([[3, 4, 5]])
    >>> result = chain_confidence(masses_of(events), np.array([[0, 1, 2]]), *bounds, window=4)
    >>> round(float(result[0]) * 225, 9)
    25.0
    """
    result = np.zeros(len(matches))
    if not len(matches):
        return result
    width = np.int64(NO_WINDOW if window is None else window)
    most_buckets = masses.most_buckets * matches.shape[1]
    at_once = min(max(_BUCKETS_AT_ONCE // most_buckets, 1), len(matches))
    space = workspace(at_once, matches.shape[1], most_buckets)
    sum_chains(masses.buckets, matches, valid_lower, valid_upper, width, space, result)
    return result


class Workspace(NamedTuple):
    """What summing chains writes to, `chains` of them at a time."""

    chains: int
    runs: Runs
    row: Indexes
    cuts: Ticks
    refined: Ticks
    per_tick: Reals
    placed: Reals


@kernel
def workspace(chains, positions, most_buckets):
    """Room for chains of `positions` events with at most `most_buckets` buckets together."""
    parts = chains * MOST_PARTS
    cuts = 2 * (most_buckets + 1)
    return Workspace(
        chains,
        room_for_runs(parts, positions, most_buckets),
        np.empty(parts, dtype=np.int64),
        np.empty(cuts, dtype=np.int64),
        np.empty(2 * cuts, dtype=np.int64),
        np.empty((positions, cuts)),
        np.empty(positions + 1),
    )


@kernel
def sum_chains(buckets, matches, valid_lower, valid_upper, window, space, result):
    """Fill `result` as `chain_confidence`; exactly 1 where a chain is certain."""
    runs = space.runs
    for begin in range(0, len(result), space.chains):
        end = min(begin + space.chains, len(result))
        parts, events = open_rings(matches, valid_lower, valid_upper, window, begin, end, runs, space.row)
        copy_buckets(buckets, runs, events)
        find_runs(runs, events)
        sum_ones(runs)
        sum_twos(runs)
        sum_threes(runs)
        sum_more(runs, space.per_tick, space.placed)
        sum_windowed(runs, window, space.cuts, space.refined, space.per_tick, space.placed)
        result[begin:end] = 0.0
        for part in range(parts):
            result[space.row[part]] += runs.product[part]

"""Which events have the very same mass, or the same at another time: coarse clocks give many one interval."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.masses import Masses
from cepctl.engines.kernels.kernel import inner, kernel


def alike_events(masses: Masses) -> Indexes:
    """For every event the first one with its mass, shape (n,).

    Examples
    --------
    >>> lower, upper = np.array([1, 1, 1]), np.array([5, 4, 5])
    >>> density = 1.0 / (upper - lower + 1)
    >>> alike_events(Masses(lower, upper, np.arange(4), lower, upper, density)).tolist()
    [0, 1, 0]
    """
    size = 1 << max(int(2 * len(masses.lower)).bit_length(), 1)
    first = np.empty(len(masses.lower), dtype=np.int64)
    _fill(masses.buckets, np.full(size, -1, dtype=np.int64), first)
    return first


def shapes_of(masses: Masses) -> Masses:
    """The masses of events, all ticks counted from the latest of each."""
    owner = np.repeat(np.arange(len(masses.lower)), np.diff(masses.starts))
    latest = masses.upper[owner]
    return Masses(
        masses.lower - masses.upper,
        np.zeros_like(masses.upper),
        masses.starts,
        masses.lo - latest,
        masses.hi - latest,
        masses.density,
    )


@inner
def mixed(value):
    """The finaliser of splitmix64."""
    value += np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@inner
def mass_digest(buckets, event):
    """A number that is the same for the same mass, and nearly always another one for another mass."""
    digest = mixed(np.uint64(buckets.lower[event]))
    digest = mixed(digest ^ np.uint64(buckets.upper[event]))
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        # One after the other: side by side, the ends of a single bucket would cancel those of the event.
        digest = mixed(digest ^ np.uint64(buckets.lo[b]))
        digest = mixed(digest ^ np.uint64(buckets.hi[b]))
    return digest


@kernel
def _fill(buckets, table, first):
    """Look every event up in a hash table of those before it, of which half at least is free."""
    for event in range(len(first)):
        place = np.int64(mass_digest(buckets, event) & np.uint64(len(table) - 1))
        while table[place] >= 0 and not same_mass(buckets, table[place], event):
            place = (place + 1) & (len(table) - 1)
        if table[place] < 0:
            table[place] = event
        first[event] = table[place]


@inner
def same_mass(buckets, one, other):
    """Whether two events have the very same mass."""
    starts = buckets.starts
    size = starts[one + 1] - starts[one]
    same = starts[other + 1] - starts[other] == size
    same = same and buckets.lower[one] == buckets.lower[other] and buckets.upper[one] == buckets.upper[other]
    for i in range(size if same else 0):
        a, b = starts[one] + i, starts[other] + i
        same = same and buckets.lo[a] == buckets.lo[b] and buckets.hi[a] == buckets.hi[b]
        same = same and buckets.density[a] == buckets.density[b]
    return same

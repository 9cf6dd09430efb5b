"""When each event happened, as columns: its interval and its piecewise uniform mass.

Every mass is a list of buckets (lo, hi, density), both ends included, in time order, `density`
being the probability of each single tick in it.  A uniform event has one bucket.  All buckets of
all events lie in three flat arrays; event e owns those from starts[e] to starts[e + 1].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.laws import Buckets, Laws, even_laws
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.errors import EventSchemaError
from cepctl.event_table import PMF_TYPE
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.numeric.precision import MASS_TOLERANCE
from cepctl.schema import EARLIEST_TICK, LATEST_TICK

_FARTHEST = 1 << 60
"""Ticks up to here, before or after tick 0, have sums and differences that int64 holds."""
_MANY = 1 << 14
"""Of so many events histograms are read by a kernel."""


@dataclass(frozen=True)
class Masses:
    """Uncertainty intervals and masses of n events.

    `lower`, `upper`: shape (n,).  `starts`: shape (n + 1,), offsets into `lo`, `hi`, `density`.
    """

    lower: Ticks
    upper: Ticks
    starts: Indexes
    lo: Ticks
    hi: Ticks
    density: Reals

    def __post_init__(self) -> None:
        """Make the arrays read-only: Numba compiles a kernel anew for arrays that may be written."""
        for name in Buckets._fields:
            array = getattr(self, name).view()
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @classmethod
    def of_buckets(cls, starts: Indexes, lo: Ticks, hi: Ticks, density: Reals) -> Masses:
        """Events that happen from the begin of their first bucket to the end of their last."""
        return cls(lo[starts[:-1]], hi[starts[1:] - 1], starts, lo, hi, density)

    @classmethod
    def at(cls, ticks: Ticks) -> Masses:
        """Events that happen at these ticks."""
        return cls(ticks, ticks, np.arange(len(ticks) + 1), ticks, ticks, np.ones(len(ticks)))

    @cached_property
    def buckets(self) -> Buckets:
        """All arrays, for a kernel."""
        return Buckets(*(getattr(self, name) for name in Buckets._fields))

    @property
    def laws(self) -> Laws:
        """The laws of all events."""
        return even_laws(self.buckets)

    @property
    def uniform(self) -> bool:
        """True when every event has a single bucket."""
        return len(self.lo) == len(self.lower)

    @cached_property
    def are_certain(self) -> bool:
        """Whether each event has one tick."""
        return bool((self.lower == self.upper).all())

    @cached_property
    def most_buckets(self) -> int:
        """Largest number of buckets of an event."""
        return 1 if self.uniform else int(np.diff(self.starts).max(initial=1))

    @cached_property
    def has_hole(self) -> Flags:
        """Events with ticks of no mass inside their interval, shape (n,)."""
        inner = np.ones(len(self.lo), dtype=bool)
        inner[self.starts[:-1]] = False
        gaps = np.flatnonzero(inner[1:] & (self.lo[1:] != self.hi[:-1] + 1)) + 1
        holes = np.zeros(len(self.lower), dtype=bool)
        holes[np.searchsorted(self.starts, gaps, side="right") - 1] = True
        return holes

    @cached_property
    def can_be_moved(self) -> bool:
        """Whether distances are all that counts: near the ends of int64 sums of ticks stop."""
        return bool(self.lower.min(initial=0) >= -_FARTHEST and self.upper.max(initial=0) <= _FARTHEST)

    @cached_property
    def numbers(self) -> Indexes:
        """For every event the first one with its mass, shape (n,)."""
        return alike_events(self)

    @cached_property
    def shape_numbers(self) -> Indexes:
        """For every event the first one with its mass, if it were moved in time; shape (n,)."""
        return alike_events(shapes_of(self))

    @cached_property
    def mirrored(self) -> Masses:
        """The masses with time reversed: every tick changes its sign."""
        owner = np.repeat(np.arange(len(self.lower)), np.diff(self.starts))
        mirror = self.starts[owner] + self.starts[owner + 1] - 1 - np.arange(len(owner))
        return Masses(
            -self.upper, -self.lower, self.starts, -self.hi[mirror], -self.lo[mirror], self.density[mirror]
        )

    def moved(self, by: int) -> Masses:
        """The masses so many ticks later."""
        return Masses(self.lower + by, self.upper + by, self.starts, self.lo + by, self.hi + by, self.density)

    def take(self, events: Indexes) -> Masses:
        """Those of some events, in this order."""
        sizes = np.diff(self.starts)[events]
        row, place = places_in_runs(sizes)
        bucket = self.starts[events][row] + place
        starts = np.concatenate([[0], np.cumsum(sizes)])
        ends = self.lower[events], self.upper[events]
        return Masses(*ends, starts, self.lo[bucket], self.hi[bucket], self.density[bucket])

    def followed_by(self, others: Masses) -> Masses:
        """These masses, and after them others."""
        joined = {
            name: np.concatenate([getattr(self, name), getattr(others, name)])
            for name in Buckets._fields
            if name != "starts"
        }
        return Masses(starts=np.concatenate([self.starts, others.starts[1:] + self.starts[-1]]), **joined)


def ticks_between(lo: Ticks, hi: Ticks) -> Reals:
    """Number of ticks in [lo, hi] as floats, right even where the difference exceeds int64."""
    difference = hi - lo
    counted: Reals = difference.astype(np.float64)
    if difference.min(initial=0) < 0:
        wide = difference < 0
        counted[wide] = hi[wide].astype(np.float64) - lo[wide].astype(np.float64)
    counted += 1.0
    return counted


def masses_of(events: pa.Table) -> Masses:
    """Read the masses of an event table.

    Zero-probability buckets are dropped and the rest renormalised; `lower` and `upper` then are
    the extremes of what remains.

    Raises
    ------
    EventSchemaError
        If an interval is missing or reversed, or a pmf is unsorted, overlapping or does not sum
        to 1 within MASS_TOLERANCE, or an event lies beyond the ends of time; the message names the event.
    """
    found = _masses_of(events)
    _refuse_beyond_time(events, found)
    return found


def _refuse_beyond_time(events: pa.Table, found: Masses) -> None:
    if found.lower.min(initial=0) < EARLIEST_TICK or found.upper.max(initial=0) > LATEST_TICK:
        row = int(np.flatnonzero((found.lower < EARLIEST_TICK) | (found.upper > LATEST_TICK))[0])
        raise EventSchemaError(
            f"event {_name(events, row)} reaches from tick {found.lower[row]} to {found.upper[row]}, "
            "beyond the range of ticks, -2^62 to 2^62; ingest it with a coarser time_unit"
        )


def _masses_of(events: pa.Table) -> Masses:
    lower, upper = _ends(events)
    pmf = events.column("pmf").combine_chunks() if "pmf" in events.column_names else None
    if pmf is None or pmf.null_count == len(pmf):
        starts = np.arange(len(lower) + 1, dtype=np.int64)
        ticks = ticks_between(lower, upper)
        return Masses(lower, upper, starts, lower, upper, np.divide(1.0, ticks, out=ticks))
    return _with_histograms(events, lower, upper, pmf)


def _ends(events: pa.Table) -> tuple[Ticks, Ticks]:
    for name in ("lower", "upper"):
        if events.column(name).null_count:
            row = pc.index(pc.is_null(events.column(name)), True).as_py()
            raise EventSchemaError(f"event {_name(events, row)} has no `{name}`")
    lower = events.column("lower").to_numpy().astype(np.int64, copy=False)
    upper = events.column("upper").to_numpy().astype(np.int64, copy=False)
    is_reversed = lower > upper
    if is_reversed.any():
        row = int(np.flatnonzero(is_reversed)[0])
        raise EventSchemaError(f"event {_name(events, row)} has lower {lower[row]} after upper {upper[row]}")
    return lower, upper


def _with_histograms(events: pa.Table, lower: Ticks, upper: Ticks, pmf: pa.Array) -> Masses:
    if isinstance(pmf, pa.ChunkedArray):
        pmf = pa.concat_arrays(pmf.chunks) if pmf.num_chunks else pa.array([], PMF_TYPE)
    lengths = pc.fill_null(pc.list_value_length(pmf), 0).to_numpy().astype(np.int64)
    flat = pmf.flatten()
    flat_lo, flat_hi, flat_p = (flat.field(i).to_numpy(zero_copy_only=False) for i in range(3))
    if len(lower) >= _MANY:
        found = histograms_in_order(lower, upper, lengths, flat_lo, flat_hi, flat_p)
        if found is not None:
            starts, lo, hi, density = found
            return Masses.of_buckets(starts, lo, hi, density)
    owner = np.repeat(np.arange(len(lower)), lengths)
    _check_histograms(events, lengths, owner, flat_lo, flat_hi, flat_p)
    total = np.bincount(owner, weights=flat_p, minlength=len(lower))
    plain = np.flatnonzero(lengths == 0)
    positive = flat_p > 0
    owner = np.concatenate([owner[positive], plain])
    lo = np.concatenate([flat_lo[positive], lower[plain]])
    hi = np.concatenate([flat_hi[positive], upper[plain]])
    mass = np.concatenate([flat_p[positive] / total[owner[: positive.sum()]], np.ones(len(plain))])
    order = np.lexsort((lo, owner))
    owner, lo, hi, mass = owner[order], lo[order], hi[order], mass[order]
    starts = np.searchsorted(owner, np.arange(len(lower) + 1))
    return Masses.of_buckets(starts, lo, hi, mass / ticks_between(lo, hi))


def _check_histograms(
    events: pa.Table, lengths: Indexes, owner: Indexes, lo: Ticks, hi: Ticks, p: Reals
) -> None:
    def refuse(wrong: Flags, reason: str) -> None:
        if wrong.any():
            row = int(owner[np.flatnonzero(wrong)[0]])
            raise EventSchemaError(f"event {_name(events, row)} has a pmf {reason}")

    refuse(~(np.isfinite(p) & (p >= 0)), "with a probability that is negative or not a number")
    refuse(lo > hi, "with a bucket whose end is before its start")
    together = np.zeros(len(lo), dtype=bool)
    order = np.lexsort((lo, owner))
    together[order[1:]] = (owner[order[1:]] == owner[order[:-1]]) & (lo[order[1:]] <= hi[order[:-1]])
    refuse(together, "with overlapping buckets")
    total = np.bincount(owner, weights=p, minlength=len(lengths))
    wrong_sum = (np.abs(total - 1.0) > MASS_TOLERANCE) & (lengths > 0)
    refuse(wrong_sum[owner], "whose probabilities do not sum to 1")


def _name(events: pa.Table, row: int) -> str:
    return repr(events.column("event_id")[row].as_py())


_TOLERANCE = MASS_TOLERANCE


def histograms_in_order(
    lower: Ticks, upper: Ticks, lengths: Indexes, lo: Ticks, hi: Ticks, p: Reals
) -> tuple[Indexes, Ticks, Ticks, Reals] | None:
    """The buckets of n events, as `Masses` takes them: `starts`, `lo`, `hi` and `density`.

    `lengths`, shape (n,): how many of the buckets `lo`, `hi`, `p` an event has; one without is uniform.
    None where a bucket is wrong, has no probability or stands before an earlier one: then one has to
    look closer.

    Examples
    --------
    >>> ticks = np.array([1, 4]), np.array([3, 8]), np.array([0.5, 0.5])
    >>> found = histograms_in_order(np.array([0, 1]), np.array([9, 8]), np.array([0, 2]), *ticks)
    >>> [each.tolist() for each in found]
    [[0, 1, 3], [0, 1, 4], [9, 3, 8], [0.1, 0.16666666666666666, 0.1]]
    """
    count = len(lo) + int((lengths == 0).sum())
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    found = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), np.empty(count)
    return (starts, *found) if _read(lower, upper, lengths, lo, hi, p, starts, *found) else None


@kernel
def _read(lower, upper, lengths, lo, hi, p, starts, first, last, density):
    """Fill `starts`, `first`, `last` and `density`; False where something is wrong or out of order."""
    begin, at = 0, 0
    for event in range(len(lengths)):
        if lengths[event] == 0:
            first[at], last[at] = lower[event], upper[event]
            density[at] = 1.0 / tick_count(lower[event], upper[event])
            at += 1
        else:
            stop, total = begin + lengths[event], 0.0
            for b in range(begin, stop):
                if not 0.0 < p[b] < np.inf or lo[b] > hi[b] or (b > begin and lo[b] <= hi[b - 1]):
                    return False
                total += p[b]
            if abs(total - 1.0) > _TOLERANCE:
                return False
            for b in range(begin, stop):
                first[at], last[at] = lo[b], hi[b]
                density[at] = p[b] / total / tick_count(lo[b], hi[b])
                at += 1
            begin = stop
        starts[event + 1] = at
    return True


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

"""When interval events start and end: both endpoints of n events as one list of masses.

The endpoints 0 to n - 1 are the starts. The ends of interval events follow; the end of any other event is
its start. The law of an event is P(start) P(end) given that its length lies within its bounds; the
probability of that, `whole`, is what every sum over its endpoints is divided by. Masses can be cut to what
lies between two ticks.

The law of the start alone is that of both ends, added up over the end:

    P(s) = p_start(s) P(L0 <= t - s <= L1) / Z          source: docs/what-lasts.md

From one tick to the next the probability of the end changes by p_end(s + 1 + L1) - p_end(s + L0).  Where that
is 0 a bucket of the start stays one; where it is not, each of its ticks becomes a bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.masses import Masses, masses_of, ticks_between
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.tick_masses import difference_probability, mass_on
from cepctl.engines.columns.tick_sums import LAST, apart, plus, tick_count
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.errors import EventSchemaError, QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.schema import CLOCK, END_PMF, LENGTH_LOWER, LENGTH_UPPER


def cut_masses(masses: Masses, event: Indexes, first: Ticks, last: Ticks) -> tuple[Masses, Reals]:
    """The masses of n rows, each of an event given that it happens from `first` to `last`, shape (n,).

    Returns
    -------
    The masses, and how probable each condition is, shape (n,).  Where that is 0 the mass is one bucket that
    means nothing.
    """
    row, place = places_in_runs(np.diff(masses.starts)[event])
    bucket = masses.starts[event][row] + place
    lo, hi = np.maximum(masses.lo[bucket], first[row]), np.minimum(masses.hi[bucket], last[row])
    kept = lo <= hi
    found = np.bincount(row[kept], minlength=len(event))
    bare = np.flatnonzero(found == 0)
    row, lo, hi, density = row[kept], lo[kept], hi[kept], masses.density[bucket[kept]]
    mass = density * ticks_between(lo, hi)
    whole: Reals = np.bincount(row, weights=mass, minlength=len(event)).astype(np.float64)
    # What is not cut keeps its digits.
    whole[(first <= masses.lower[event]) & (masses.upper[event] <= last)] = 1.0
    if len(bare):
        row = np.concatenate([row, bare])
        order = np.argsort(row, kind="stable")
        row, density = row[order], np.concatenate([density, np.ones(len(bare))])[order]
        lo, hi = (np.concatenate([each, masses.lower[event[bare]]])[order] for each in (lo, hi))
    density = density / np.where(whole > 0, whole, 1.0)[row]
    starts = np.searchsorted(row, np.arange(len(event) + 1))
    return Masses.of_buckets(starts, lo, hi, density), whole


UNBOUNDED_LENGTH = 2**63 - 1


@dataclass(frozen=True)
class Endpoints:
    """Endpoints of n events, of which k last.

    `masses`: of n starts and k ends.  `end`: which of them is each event's end, shape (n,).
    `shortest`, `longest`: bounds of the length, shape (n,), 0 and UNBOUNDED_LENGTH where there are none.
    `whole`: the probability that the stamps of an event agree with its length, shape (n,); 1 for points.
    """

    masses: Masses
    end: Indexes
    shortest: Ticks
    longest: Ticks
    whole: Reals

    def __len__(self) -> int:
        return len(self.end)

    @property
    def lasting(self) -> Indexes:
        """The events that have an end of their own."""
        return np.flatnonzero(self.end >= len(self))

    @cached_property
    def owner(self) -> Indexes:
        """The event of each endpoint, shape (n + k,)."""
        return np.concatenate([np.arange(len(self)), self.lasting])

    @property
    def hulls(self) -> Masses:
        """All ticks from the first possible start to the last possible end; only these two are meant."""
        lower, upper = self.masses.lower[: len(self)], self.masses.upper[self.end]
        count = len(lower)
        return Masses(lower, np.maximum(lower, upper), np.arange(count + 1), lower, lower, np.ones(count))

    def lasting_among(self, events: Indexes) -> Indexes:
        """Where some events have an end of their own."""
        return np.flatnonzero(self.end[events] != events)

    def copies(self, events: Indexes, masses: Masses) -> Endpoints:
        """Copies of events with other masses: of all starts, then of the ends of those that have one."""
        lasting, end = self.lasting_among(events), np.arange(len(events))
        end[lasting] = len(events) + np.arange(len(lasting))
        return Endpoints(masses, end, self.shortest[events], self.longest[events], self.whole[events])

    def places(self, matches: Indexes) -> Indexes:
        """Start and end of each event of matches, shape (n, l), in turn: (n, 2 l); a point has one tick."""
        return np.stack([matches, self.end[matches]], axis=2).reshape(len(matches), 2 * matches.shape[1])

    def lengths(self, matches: Indexes) -> Ticks:
        """What `start - end` and `end - start` of each event are at most, in turn: shape (n, 2 l)."""
        bounds = np.stack([-self.shortest[matches], self.longest[matches]], axis=2)
        return bounds.reshape(len(matches), 2 * matches.shape[1])


def of_points(masses: Masses) -> Endpoints:
    """Events none of which lasts."""
    count = len(masses.lower)
    longest = np.full(count, UNBOUNDED_LENGTH)
    return Endpoints(masses, np.arange(count), np.zeros(count, np.int64), longest, np.ones(count))


def has_ends(table: pa.Table) -> bool:
    """Whether some event of a table lasts."""
    names = table.column_names
    return "end_lower" in names and table.column("end_lower").null_count < len(table)


def endpoints_of(table: pa.Table, starts: Masses) -> Endpoints:
    """Read the ends of an event table whose starts are known.

    Raises
    ------
    EventSchemaError
        If an end is missing or reversed, or its pmf is wrong; the message names the event.
    """
    points = of_points(starts)
    if not has_ends(table):
        return points
    count, end, shortest, longest, whole = (
        len(table),
        points.end,
        *(
            points.shortest,
            points.longest,
            points.whole,
        ),
    )
    rows = np.flatnonzero(pc.is_valid(table.column("end_lower")).to_numpy())
    lasting = table.take(rows)
    ends = masses_of(_as_starts(lasting))
    masses = starts.followed_by(ends)
    end[rows] = count + np.arange(len(rows))
    for name, bounds in ((LENGTH_LOWER, shortest), (LENGTH_UPPER, longest)):
        if name in lasting.column_names:
            bounds[rows] = pc.fill_null(lasting.column(name), int(bounds[0])).to_numpy()
    shortest = np.maximum(shortest, 0)
    whole[rows] = agreeing(masses, rows, end[rows], shortest[rows], longest[rows])
    return Endpoints(masses, end, shortest, longest, whole)


def own_endpoints(table: pa.Table, clocks: EventClocks) -> Endpoints:
    """The own parts of the ends of events that share clocks, whose starts are known.

    Raises
    ------
    EventSchemaError
        As `endpoints_of`, or if the interval of an end is narrower than the offset of its clock.
    """
    stamped = clocks.clock != NO_CLOCK
    ends = [pc.fill_null(table.column(name), 0).to_numpy().copy() for name in ("end_lower", "end_upper")]
    for ticks, by in zip(ends, (clocks.offsets.lower, clocks.offsets.upper), strict=True):
        ticks[stamped] -= by[clocks.clock[stamped]]
    lasts = pc.is_valid(table.column("end_lower")).to_numpy()
    raw = [pc.fill_null(table.column(name), 0).to_numpy() for name in ("end_lower", "end_upper")]
    empty = np.flatnonzero(lasts & stamped & (ends[0] > ends[1]) & (raw[0] <= raw[1]))
    for row in empty[:1].tolist():
        event, name = table.column("event_id")[row].as_py(), table.column(CLOCK)[row].as_py()
        offset = int(clocks.offsets.lower[clocks.clock[row]]), int(clocks.offsets.upper[clocks.clock[row]])
        raise EventSchemaError(
            f"event '{event}' has an end in {int(raw[0][row])}..{int(raw[1][row])}, narrower than the offset "
            f"{offset[0]}..{offset[1]} of its clock '{name}'; widen it or narrow the offset"
        )
    for name, ticks in zip(("end_lower", "end_upper"), ends, strict=True):
        column = pa.array(ticks, mask=~lasts)
        table = table.set_column(table.column_names.index(name), name, column)
    return endpoints_of(table, clocks.own)


def _as_starts(lasting: pa.Table) -> pa.Table:
    columns = {
        "event_id": lasting.column("event_id"),
        "lower": lasting.column("end_lower"),
        "upper": lasting.column("end_upper"),
    }
    if END_PMF in lasting.column_names:
        columns["pmf"] = lasting.column(END_PMF)
    return pa.table(columns)


def agreeing(masses: Masses, start: Indexes, end: Indexes, shortest: Ticks, longest: Ticks) -> Reals:
    """P(shortest <= end - start <= longest) of independent endpoints, exactly 1 where it is certain."""
    certain = _certainly(masses, start, end, shortest, longest)
    pairs = np.stack([start, end], axis=1)
    found = difference_probability(masses, pairs, masses.lower[pairs], masses.upper[pairs], shortest, longest)
    return np.where(certain, 1.0, found)


def certainly_agreeing(ends: Endpoints) -> Flags:
    """The events whose stamps agree with their length wherever they are, shape (n,); so does every point."""
    found = np.ones(len(ends), dtype=bool)
    lasting = ends.lasting
    bounds = ends.shortest[lasting], ends.longest[lasting]
    found[lasting] = _certainly(ends.masses, lasting, ends.end[lasting], *bounds)
    return found


def _certainly(masses: Masses, start: Indexes, end: Indexes, shortest: Ticks, longest: Ticks) -> Flags:
    longest_possible = masses.upper[end] - masses.lower[start]
    return (masses.lower[end] - masses.upper[start] >= shortest) & (longest_possible <= longest)


def mass_between(masses: Masses, which: Indexes, lower: Ticks, upper: Ticks) -> Reals:
    """P(lower <= tick <= upper), shape (n,)."""
    row, place = places_in_runs(np.diff(masses.starts)[which])
    bucket = masses.starts[which][row] + place
    first, last = np.maximum(masses.lo[bucket], lower[row]), np.minimum(masses.hi[bucket], upper[row])
    inside = np.where(first <= last, masses.density[bucket] * ticks_between(first, last), 0.0)
    return np.asarray(np.bincount(row, weights=inside, minlength=len(which)), dtype=np.float64)


MOST_BUCKETS = 1 << 24
"""Buckets of all starts together, which take 400 MB."""


def masses_of_starts(ends: Endpoints, starts: Masses) -> Masses:
    """The masses of starts, with those of events that last given how long these may last.

    `ends`: of all events.  `starts`: the masses of events that do not last.

    Raises
    ------
    QueryTooLargeError
        If starts have more than MOST_BUCKETS probabilities.
    """
    undecided = (ends.whole > 0.0) & ~certainly_agreeing(ends)
    if not undecided.any():
        return starts
    law = ends.masses.buckets, ends.end, ends.shortest, ends.longest, ends.whole
    offsets = np.zeros(len(ends) + 1, dtype=np.int64)
    if not _fill(starts.buckets, *law, undecided, offsets, _room(0), False):
        raise QueryTooLargeError(
            f"events that last start at more than {MOST_BUCKETS:,} ticks of different probability, since how "
            "long they may last depends on that; ingest them with a coarser time unit, or narrower ends"
        )
    lo, hi, density = found = _room(int(offsets[-1]))
    _fill(starts.buckets, *law, undecided, offsets, found, True)
    return Masses.of_buckets(offsets, lo, hi, density)


def _room(count: int) -> tuple[Ticks, Ticks, Reals]:
    """First and last tick of so many buckets, and their densities."""
    return np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64), np.empty(count)


@kernel
def _fill(starts, ends, end, shortest, longest, whole, undecided, offsets, found, filling):
    """Count the buckets of every event, or fill them; whether there are not too many."""
    count = 0
    for event in range(len(end)):
        for b in range(starts.starts[event], starts.starts[event + 1]):
            at, last, share = starts.lo[b], starts.hi[b], starts.density[b]
            if not undecided[event]:
                count = _put(found, count, at, last, share, filling)
                continue
            while at <= last:
                until, level = _alike(ends, end[event], shortest[event], longest[event], at, last)
                if not level and count + tick_count(at, until) > MOST_BUCKETS:
                    return False
                while at <= until:
                    to = until if level else at
                    mass = mass_on(ends, end[event], plus(at, shortest[event]), plus(at, longest[event]))
                    if mass > 0.0:
                        count = _put(found, count, at, to, share * mass / whole[event], filling)
                    at = to + 1
        offsets[event + 1] = count
        if count > MOST_BUCKETS:
            return False
    return True


@inner
def _put(found, count, first, last, density, filling):
    """Count a bucket, and fill it; returns how many there are now."""
    if filling:
        lo, hi, densities = found
        lo[count], hi[count], densities[count] = first, last, density
    return count + 1


@inner
def _alike(ends, end, shortest, longest, at, last):
    """Up to which tick the probability of the end changes as from `at` on, and whether it does not change."""
    entering, leaving = plus(plus(at, longest), 1), plus(at, shortest)
    more, more_steps = _piece(ends, end, entering)
    less, less_steps = _piece(ends, end, leaving)
    # It changes alike from each of these ticks to the next, so that the one after them belongs to them.
    return min(last, plus(plus(at, min(more_steps, less_steps)), 1)), more == less


@inner
def _piece(buckets, event, tick):
    """The mass at a tick, and for how many more ticks it is the same."""
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        if tick < buckets.lo[b]:
            return 0.0, apart(tick, buckets.lo[b] - 1)
        if tick <= buckets.hi[b]:
            return buckets.density[b], apart(tick, buckets.hi[b])
    return 0.0, LAST

"""What is given of events that share clocks narrows offsets, and the ticks of events without a clock."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.arrays import Flags
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.ties import distinct
from cepctl.engines.given.closing import intervals_left
from cepctl.engines.given.contradictions import contradicted
from cepctl.engines.given.cutting import cut
from cepctl.engines.given.edges import NO_CLAUSE, Differences
from cepctl.plan.plan import Given


def _same_clock(found: Differences, clocks: EventClocks) -> Flags:
    return np.asarray(clocks.clock[found.left] == clocks.clock[found.right])


def implied_on_clocks(found: Differences, clocks: EventClocks) -> Flags:
    """Those that hold wherever own ticks and offsets are."""
    return np.where(
        _same_clock(found, clocks), found.implied(clocks.own), found.implied(clocks.envelopes)
    ).astype(bool)


def refuse_impossible(
    given: Sequence[Given], found: Differences, events: Events, clocks: EventClocks
) -> None:
    """Raise ContradictionError where own parts of one clock's events contradict what is given."""
    own = clocks.own
    never = _same_clock(found, clocks) & (own.lower[found.left] - own.upper[found.right] > found.bound)
    for first in np.flatnonzero(never)[:1].tolist():
        clauses = [given[int(found.clause[first])]]
        raise contradicted(clauses, [int(found.left[first]), int(found.right[first])], events)


def offsets_left(
    given: Sequence[Given], found: Differences, events: Events, clocks: EventClocks
) -> EventClocks:
    """The clocks with the offsets, and the events without a clock, that are left: offsets follow events."""
    count, own = len(events), clocks.own
    tied = distinct(np.concatenate([found.left, found.right]), count)
    tied = tied[clocks.clock[tied] != NO_CLOCK]
    offset = count + clocks.clock[tied]
    nothing = np.full(2 * len(tied), NO_CLAUSE)
    whole = Differences(
        np.concatenate([found.left, tied, offset]),
        np.concatenate([found.right, offset, tied]),
        np.concatenate([found.bound, own.upper[tied], -own.lower[tied]]),
        np.concatenate([found.clause, nothing]),
    )
    lower, upper = intervals_left(given, whole, events, clocks.envelopes.followed_by(clocks.offsets))
    stamped = clocks.clock != NO_CLOCK
    return EventClocks(
        clocks.clock,
        cut(own, np.where(stamped, own.lower, lower[:count]), np.where(stamped, own.upper, upper[:count])),
        cut(clocks.offsets, lower[count:], upper[count:]),
    )

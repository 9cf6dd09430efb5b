"""The probability that all ties of a component hold: found once for each component that a match touches.

Two pieces of components are alike where their ties are between events at the same places, with the same
bounds; alike pieces are solved together. Confidences are divided by these probabilities, the share of all
worlds in which GIVEN holds for the events.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.clauses import Clauses
from cepctl.engines.confidence.coupled.problem import (
    owned,
)
from cepctl.engines.confidence.given.series import series_of
from cepctl.engines.confidence.given.work import require_few, too_many_together
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.numeric.arrays import Flags, Indexes, Reals


@dataclass(frozen=True)
class Sections:
    """What is needed of components: of a series the events from one to another, of others all; shape (p,).

    `first`: the rank of the first event needed, `size`: how many are.
    """

    component: Indexes
    first: Indexes
    size: Indexes

    @classmethod
    def whole(cls, ties: EventTies, components: Indexes) -> Sections:
        """All of some components."""
        return cls(components, np.zeros(len(components), np.int64), ties.sizes[components])

    @classmethod
    def between(cls, ties: EventTies, components: Indexes, first: Indexes, last: Indexes) -> Sections:
        """What is needed of components that are touched at ranks from `first` to `last`."""
        serial = ties.serial[components]
        sizes = ties.sizes[components]
        return cls(components, np.where(serial, first, 0), np.where(serial, last - first + 1, sizes))

    def taken(self, which: Indexes) -> Sections:
        """Some of the pieces."""
        return Sections(self.component[which], self.first[which], self.size[which])

    def follow(self) -> Flags:
        """Which pieces have events of their series before them."""
        return np.asarray(self.first > 0)

    def lead(self, ties: EventTies) -> Flags:
        """Which have some after them."""
        return np.asarray(self.first + self.size < ties.sizes[self.component])


def share_of_worlds(events: Events, known: Events, chosen: Indexes) -> float:
    """The probability that what is given holds of some events and of all that are tied to them.

    Parameters
    ----------
    events, known
        All events, none of which has a clock, and the same in the worlds that remain.
    chosen
        Row numbers; each counts once.

    Raises
    ------
    QueryTooLargeError
        If some of them are tied to too many others.
    """
    ties, rows = known.tied, np.unique(chosen)
    components = np.unique(ties.component[rows])
    components = components[components >= 0]
    rows = np.union1d(rows, ties.members[owned(ties.member_offsets, components)[0]])
    share = float(np.prod(component_probability(ties, known.masses, components))) if len(components) else 1.0
    masses = events.masses
    at, offsets = owned(masses.starts, rows)
    owner = np.repeat(np.arange(len(rows)), np.diff(offsets))
    lo = np.maximum(masses.lo[at], known.masses.lower[rows][owner])
    hi = np.minimum(masses.hi[at], known.masses.upper[rows][owner])
    ticks = np.where(lo <= hi, ticks_between(lo, np.maximum(lo, hi)), 0.0)
    left = np.bincount(owner, ticks * masses.density[at], len(rows))
    return share * float(np.prod(np.minimum(left, 1.0)))


def component_probability(ties: EventTies, masses: Masses, components: Indexes) -> Reals:
    """The probability that all ties of each of these components hold, shape of `components`.

    Raises
    ------
    QueryTooLargeError
        If one needs more products than the bound on the work.
    """
    series_of(ties)
    require_few(ties.sizes[components[~ties.serial[components]]])
    unknown = np.unique(components[np.isnan(ties.probability[components])])
    if len(unknown):
        found = Rows(masses, _clauses(ties, unknown)).probability()
        if np.isnan(found).any():
            raise too_many_together(int(ties.sizes[unknown[np.isnan(found)]].max()))
        ties.probability[unknown] = found
    return np.asarray(ties.probability[components])


def _clauses(ties: EventTies, components: Indexes) -> Clauses:
    """Each of some components as a row that asks for its ties."""
    at, offsets = owned(ties.tie_offsets, components)
    count = np.arange(len(components) + 1), np.arange(len(at) + 1)
    flags = np.zeros(len(at), dtype=bool)
    return Clauses(count[0], offsets, flags, count[1], ties.left[at], ties.right[at], ties.bound[at])

"""The probability that all ties of a component hold: found once for each component that a match touches.

Two pieces of components are alike where their ties are between events at the same places, with the same
bounds; alike pieces are solved together. Confidences are divided by these probabilities, the share of all
worlds in which GIVEN holds for the events.

Of a series only the events that are touched are needed.  One that no problem speaks of, between two that some
do, is *hidden*.  Where hidden events can be anywhere between these, only their number counts
(`occurrence.counted_records`); else they are summed, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.ties import EventTies, Units
from cepctl.engines.confidence.coupled.problem import (
    Clauses,
    owned,
)
from cepctl.engines.confidence.given.series import series_of
from cepctl.engines.confidence.given.units import scale_of_ends, typical_spare, unit_shares, ways
from cepctl.engines.confidence.given.work import require_few, too_many_together
from cepctl.engines.confidence.occurrence.counted_records import Links
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.numeric.logarithms import Logarithms, logarithms, raised


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


@dataclass(frozen=True)
class NeededRanks:
    """Ties and links of p pieces of components, as nested offsets; events by row number.

    `touched_offsets`, `rank`: the touched events.  `variables`, shape (p,): how many events of each are
    summed.  `scale`, shape (p,): the logarithm of what the weights of its links are to be multiplied by.
    """

    touched_offsets: Indexes
    rank: Indexes
    tie_offsets: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks
    link_offsets: Indexes
    links: Links
    variables: Indexes
    scale: Logarithms


@dataclass(frozen=True)
class _Stretches:
    """Neighbours among the touched events of series: their piece, and both ranks; shape (s,)."""

    piece: Indexes
    first: Indexes
    last: Indexes
    linked: Flags


def needed_of(
    ties: EventTies, masses: Masses, pieces: Sections, offsets: Indexes, rank: Indexes, *, scaled: bool = True
) -> NeededRanks:
    """What is needed of pieces whose touched events have these ranks, ascending, as nested offsets.

    `scaled`: whether weights are asked for, and not ties alone.
    """
    stretches = _stretches(ties, masses, pieces, offsets, rank)
    component, serial = pieces.component, ties.serial[pieces.component]
    whole = np.flatnonzero(~serial)
    all_ties, all_offsets = owned(ties.tie_offsets, component[whole])
    steps = np.where(stretches.linked, 1, stretches.last - stretches.first)
    own, own_offsets = _ranges(ties.tie_offsets[component[stretches.piece]] + stretches.first, steps)
    piece = np.concatenate([np.repeat(whole, np.diff(all_offsets)), np.repeat(stretches.piece, steps)])
    at = np.concatenate([all_ties, own])
    left, right, bound = ties.left[at], ties.right[at], ties.bound[at]
    some = np.flatnonzero(stretches.linked)
    hidden = (stretches.last - stretches.first - 1)[some]
    begin = ties.member_offsets[component[stretches.piece[some]]]
    ends = ties.members[begin + stretches.first[some]], ties.members[begin + stretches.last[some]]
    place = len(all_ties) + own_offsets[:-1][some]
    right[place], bound[place] = ends[1], -(hidden + 1)
    order = np.argsort(piece, kind="stable")
    count = np.arange(len(component) + 1)
    size = ties.sizes[component[stretches.piece[some]]]
    typical = typical_spare(masses.upper[ends[1]] - masses.lower[ends[0]] - 1 - hidden, size, hidden)
    variables = np.where(serial, 1, ties.sizes[component])
    np.add.at(variables, stretches.piece, steps)
    scale = np.zeros(len(component), np.longdouble)
    if scaled:
        np.add.at(scale, stretches.piece[some], ways(hidden, typical))
    if scaled and len(some):
        outside = np.flatnonzero(~series_of(ties).units.are(component[stretches.piece[some]]))
        densities = _densities(ties, masses, (begin + stretches.first[some])[outside], hidden[outside])
        np.add.at(scale, stretches.piece[some[outside]], densities)
    return NeededRanks(
        offsets, rank, np.searchsorted(piece[order], count).astype(np.int64), left[order], right[order],
        bound[order], np.searchsorted(stretches.piece[some], count).astype(np.int64),
        Links(*ends, hidden, typical), variables, scale,
    )  # fmt: skip


def _stretches(
    ties: EventTies, masses: Masses, pieces: Sections, offsets: Indexes, rank: Indexes
) -> _Stretches:
    owner = np.repeat(np.arange(len(pieces.component)), np.diff(offsets))
    at = np.flatnonzero((np.diff(owner) == 0) & ties.serial[pieces.component[owner[:-1]]])
    piece, first, last = owner[at], rank[at], rank[at + 1]
    return _Stretches(piece, first, last, _linked(ties, masses, pieces.component[piece], first, last))


def _linked(ties: EventTies, masses: Masses, component: Indexes, first: Indexes, last: Indexes) -> Flags:
    """Whether what is hidden is uniform, and can be wherever the two leave room for it in order.

    The interval of each event is cut to what its neighbours leave: so both ends rise by one tick at least
    from one to the next, and by no more where one unit holds all.
    """
    members, begin = ties.members, ties.member_offsets[component]
    a, b = members[begin + first], members[begin + last]
    inner, other = members[begin + np.minimum(first + 1, last)], members[begin + np.maximum(last - 1, first)]
    hidden = last - first - 1
    found = hidden > 0
    found &= masses.lower[other] - masses.lower[a] == hidden
    found &= masses.upper[b] - masses.upper[inner] == hidden
    found &= masses.upper[a] - masses.lower[b] > -(hidden + 1)
    some = np.flatnonzero(found)
    at, offsets = _ranges(ties.tie_offsets[component[some]] + first[some], hidden[some] + 1)
    odd = ties.bound[at] != -1
    if not masses.uniform:
        event = ties.right[at]
        odd |= masses.starts[event + 1] - masses.starts[event] != 1
        odd[offsets[1:] - 1] &= ties.bound[at[offsets[1:] - 1]] != -1
    owner = np.repeat(some, np.diff(offsets))
    found[owner[odd]] = False
    return found


def _densities(ties: EventTies, masses: Masses, begin: Indexes, hidden: Indexes) -> Logarithms:
    """The logarithm of the densities of hidden events, one after the other; not of units."""
    at, offsets = _ranges(begin + 1, hidden)
    terms = logarithms(masses.density[masses.starts[ties.members[at]]])
    return np.add.reduceat(terms, offsets[:-1]) if len(hidden) else terms


def _ranges(begin: Indexes, sizes: Indexes) -> tuple[Indexes, Indexes]:
    """Numbers from each `begin` on, one range after the other, and their offsets."""
    run, place = places_in_runs(sizes)
    return begin[run] + place, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def piece_probability(ties: EventTies, masses: Masses, pieces: Sections, needed: NeededRanks) -> Reals:
    """What a match that needs these pieces is divided by, shape of `pieces`.

    Of a piece of a series it is the probability that its ties hold, its first event being given all before
    it, and its last one all after it; of a single event, whose mass is given both, it is 1.

    Raises
    ------
    QueryTooLargeError
        If one needs more products than the bound on the work.
    """
    series = series_of(ties)
    serial, unit = ties.serial[pieces.component], series.units.are(pieces.component)
    found = np.ones(len(pieces.size))
    found[~serial] = component_probability(ties, masses, pieces.component[~serial])
    some = np.flatnonzero(serial & ~unit & (pieces.size > 1))
    if len(some):
        begin = ties.member_offsets[pieces.component[some]] + pieces.first[some]
        first = series.place[ties.members[begin]]
        last = first + pieces.size[some] - 1
        at, offsets = _ranges(first + 1, pieces.size[some] - 1)
        in_order = np.add.reduceat(logarithms(series.ratio[at]), offsets[:-1])
        found[some] = raised(in_order - needed.scale[some]) * series.meeting[last]
    some = np.flatnonzero(unit & (pieces.size > 1))
    if len(some):
        found[some] = raised(_in_units(series.units, pieces.taken(some), needed, some))
    return found


def _in_units(units: Units, pieces: Sections, needed: NeededRanks, which: Indexes) -> Logarithms:
    """The logarithm of the weights of all that is written in units, summed as `needed` says."""
    component = pieces.component
    records = units.records[component]
    after = records - pieces.first - pieces.size
    touched = np.diff(needed.touched_offsets)[which]
    ends = scale_of_ends(units, component, pieces.first) + scale_of_ends(units, component, after)
    even = touched * logarithms(records + units.spare[component])
    return unit_shares(units, component) - ends - needed.scale[which] - even

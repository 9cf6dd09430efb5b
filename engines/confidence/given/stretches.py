"""What is needed of components: of a series the events that are touched, and links over what is hidden.

An event of a series that no problem speaks of, between two that some do, is *hidden*.  Where hidden events
can be anywhere between these, only their number counts (`occurrence.links`); else they are summed, too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.ties import EventTies, Units
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.confidence.given.components import Sections, component_probability
from cepctl.engines.confidence.given.series import series_of
from cepctl.engines.confidence.given.units import scale_of_ends, typical_spare, unit_shares, ways
from cepctl.engines.confidence.occurrence.links import Links
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks


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
    scale: Reals


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
    scale = np.zeros(len(component))
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


def _densities(ties: EventTies, masses: Masses, begin: Indexes, hidden: Indexes) -> Reals:
    """The logarithm of the densities of hidden events, one after the other; not of units."""
    at, offsets = _ranges(begin + 1, hidden)
    terms = np.log(masses.density[masses.starts[ties.members[at]]])
    return np.add.reduceat(terms, offsets[:-1]) if len(hidden) else np.zeros(0)


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
        with np.errstate(divide="ignore"):
            in_order = np.add.reduceat(np.log(series.ratio[at]), offsets[:-1])
        found[some] = np.exp(in_order - needed.scale[some]) * series.meeting[last]
    some = np.flatnonzero(unit & (pieces.size > 1))
    if len(some):
        found[some] = np.exp(_in_units(series.units, pieces.taken(some), needed, some))
    return found


def _in_units(units: Units, pieces: Sections, needed: NeededRanks, which: Indexes) -> Reals:
    """The logarithm of the weights of all that is written in units, summed as `needed` says."""
    component = pieces.component
    records = units.records[component]
    after = records - pieces.first - pieces.size
    touched = np.diff(needed.touched_offsets)[which]
    ends = scale_of_ends(units, component, pieces.first) + scale_of_ends(units, component, after)
    even = touched * np.log(1.0 * records + units.spare[component])
    return np.asarray(unit_shares(units, component) - ends - needed.scale[which] - even)

"""The probability that all ties of a component hold: found once for each component that a match touches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import (
    Problems,
    Structure,
    Variables,
    breakpoints,
)
from cepctl.engines.given.separators import no_factors, tied_probability
from cepctl.engines.given.series import series_of
from cepctl.engines.given.structures import Pieces, structure_texts, ties_between_ranks
from cepctl.engines.given.work import require_few, within_bound
from cepctl.engines.pattern.difference_constraints import closure, valid_bounds


def component_probability(ties: EventTies, masses: Masses, components: Indexes) -> Reals:
    """The probability that all ties of each of these components hold, shape of `components`.

    Raises
    ------
    QueryTooLargeError
        If one needs more products than the bound on the work.
    """
    series = series_of(ties)
    require_few(ties.sizes[components[~ties.serial[components]]])
    unknown = np.unique(components[np.isnan(ties.probability[components])])
    for problems, alike in alike_components(ties, masses, unknown):
        ties.probability[alike] = within_bound(lambda some: tied_probability(series.laws, some), problems)
    return np.asarray(ties.probability[components])


def alike_components(
    ties: EventTies, masses: Masses, components: Indexes
) -> Iterator[tuple[Problems, Indexes]]:
    """Components as problems, those together whose ties are the same; and which these are."""
    if not len(components):
        return
    texts = structure_texts(ties, Pieces.whole(ties, components)).rank("dense").to_numpy()
    for text in np.unique(texts):
        alike = components[texts == text]
        yield _problems(ties, masses, alike), alike


def piece_probability(ties: EventTies, masses: Masses, pieces: Pieces) -> Reals:
    """What a match that needs these pieces is divided by, shape of `pieces`.

    Of a piece of a series it is the probability that its ties hold, its first event being given all before
    it, and its last one all after it; of a single event, whose mass is given both, it is 1.

    Raises
    ------
    QueryTooLargeError
        If one needs more products than the bound on the work.
    """
    serial = ties.serial[pieces.component]
    found = np.ones(len(pieces.size))
    found[~serial] = component_probability(ties, masses, pieces.component[~serial])
    some = np.flatnonzero(serial & (pieces.size > 1))
    if len(some):
        series = series_of(ties)
        begin = ties.member_offsets[pieces.component[some]] + pieces.first[some]
        first = series.place[ties.members[begin]]
        last = first + pieces.size[some] - 1
        steps = pieces.size[some] - 1
        offsets = np.concatenate([[0], np.cumsum(steps)])
        at = np.repeat(first + 1 - offsets[:-1], steps) + np.arange(offsets[-1])
        found[some] = np.multiply.reduceat(series.ratio[at], offsets[:-1]) * series.meeting[last]
    return found


def _problems(ties: EventTies, masses: Masses, components: Indexes) -> Problems:
    """Alike components as problems: all of their events are variables, in order."""
    size = int(ties.sizes[components[0]])
    event = ties.members[ties.member_offsets[components][:, None] + np.arange(size)]
    edges = tuple(ties_between_ranks(ties, Pieces.whole(ties, components), 0))
    system = closure(size, edges)
    structure = Structure(system, edges, (), breakpoints(size, edges, system, ()))
    variables = Variables(event, *valid_bounds(masses.lower[event], masses.upper[event], system))
    return Problems(structure, np.arange(len(components)), variables, no_factors(len(components)))

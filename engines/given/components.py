"""How probable it is that all ties of a component hold: found once for each component that a match touches.

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import (
    Problems,
    Structure,
    Variables,
    breakpoints,
)
from cepctl.engines.given.contradictions import contradicted
from cepctl.engines.given.separators import no_factors, tied_probability
from cepctl.engines.given.structures import structure_texts, ties_between_ranks
from cepctl.engines.given.work import require_few, within_bound
from cepctl.engines.pattern.difference_constraints import closure, valid_bounds
from cepctl.plan.plan import Given


def component_probability(ties: EventTies, masses: Masses, components: Indexes) -> Reals:
    """The probability that all ties of each of these components hold, shape of `components`.

    Raises
    ------
    QueryTooLargeError
        If one needs more products than the bound on the work.
    """
    require_few(ties, components)
    unknown = np.unique(components[np.isnan(ties.probability[components])])
    if len(unknown):
        texts = structure_texts(ties, unknown).rank("dense").to_numpy()
        for text in np.unique(texts):
            alike = unknown[texts == text]
            problems = _problems(ties, masses, alike)
            ties.probability[alike] = within_bound(lambda some: tied_probability(masses, some), problems)
    return np.asarray(ties.probability[components])


def require_possible(given: Sequence[Given], events: Events) -> None:
    """Raise ContradictionError where histograms with holes leave a component without a world."""
    masses, ties = events.masses, events.ties
    if masses.uniform or ties is None:
        return
    gap = masses.lo[1:] > masses.hi[:-1] + 1
    inner = np.ones(len(masses.lo), dtype=bool)
    inner[masses.starts[:-1]] = False
    owner = np.repeat(np.arange(len(masses.lower)), np.diff(masses.starts))
    holes = np.unique(ties.component[owner[1:][gap & inner[1:]]])
    holes = holes[holes >= 0]
    if len(holes):
        never = holes[component_probability(ties, masses, holes) == 0.0]
        if len(never):
            at = slice(int(ties.member_offsets[never[0]]), int(ties.member_offsets[never[0] + 1]))
            raise contradicted(given, ties.members[at].tolist(), events)


def _problems(ties: EventTies, masses: Masses, components: Indexes) -> Problems:
    """Alike components as problems: all of their events are variables, in order."""
    size = int(ties.sizes[components[0]])
    event = ties.members[ties.member_offsets[components][:, None] + np.arange(size)]
    edges = tuple(ties_between_ranks(ties, int(components[0])))
    system = closure(size, edges)
    structure = Structure(system, edges, (), breakpoints(size, edges, system, ()))
    variables = Variables(event, *valid_bounds(masses.lower[event], masses.upper[event], system))
    return Problems(structure, np.arange(len(components)), variables, no_factors(len(components)))

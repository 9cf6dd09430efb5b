"""Components of events that last: what is given of the events of one, and how probable that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.lasting_ties import LastingTies, event_of_endpoint
from cepctl.engines.given.edges import contradicted
from cepctl.engines.given.on_clocks import have_holes
from cepctl.engines.intervals.conditions import Case
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.engines.intervals.on_clocks import measured_without_ties
from cepctl.plan.plan import Given


def component_probability(measure: IntervalMeasure, ties: LastingTies, components: Indexes) -> Reals:
    """The probability that all ties of components hold, shape of `components`.

    Raises
    ------
    QueryTooLargeError
        If one needs too much work.
    """
    unknown = np.unique(components[np.isnan(ties.probability[components])])
    structure = structures(ties, measure.endpoints, unknown)
    for number in np.unique(structure):
        alike = unknown[structure == number]
        events = ties.members[ties.member_offsets[alike][:, None] + np.arange(int(ties.sizes[alike[0]]))]
        case = case_of(ties, measure.endpoints, int(alike[0]))
        own = replace(measure, cases=(case,), rivals=None, counted=None)
        ties.probability[alike] = measured_without_ties(own, events).confidence
    return np.asarray(ties.probability[components])


def require_worlds(given: Sequence[Given], events: Events) -> None:
    """Raise ContradictionError where masses with holes leave a component on clocks no world."""
    ties, clocks = events.lasting_ties, events.endpoint_clocks
    if ties is None or clocks is None:
        return
    owner = event_of_endpoint(events.endpoints)
    holed = np.unique(owner[np.flatnonzero(have_holes(clocks.own))])
    found = ties.component[holed]
    components = np.unique(found[found >= 0])
    measure = IntervalMeasure((), events.endpoints, clocks=clocks)
    for each in components[component_probability(measure, ties, components) == 0.0].tolist():
        members = ties.members[slice(*ties.member_offsets[each : each + 2])]
        raise contradicted(given, members.tolist(), events)


def structures(ties: LastingTies, endpoints: Endpoints, components: Indexes) -> Indexes:
    """A number for each of some components, equal where their ties are between alike places."""
    begin, end = ties.tie_offsets[components], ties.tie_offsets[components + 1]
    owner = np.repeat(np.arange(len(components)), end - begin)
    at = np.arange(len(owner)) + np.repeat(begin - np.cumsum(end - begin) + end - begin, end - begin)
    left, right = _places_of_ties(ties, endpoints, at)
    told = pl.DataFrame({"owner": owner, "left": left, "right": right, "bound": ties.bound[at]})
    text = pl.format("{},{},{}", "left", "right", "bound").str.join(";").alias("text")
    texts = told.group_by("owner", maintain_order=True).agg(text).get_column("text")
    return texts.rank("dense").to_numpy().astype(np.int64)


def case_of(ties: LastingTies, endpoints: Endpoints, component: int) -> Case:
    """The ties of a component between the places of its events, in the order of their ranks."""
    at = np.arange(*ties.tie_offsets[component : component + 2])
    columns = (*_places_of_ties(ties, endpoints, at), ties.bound[at])
    return tuple(zip(*(each.tolist() for each in columns), strict=True))


def _places_of_ties(ties: LastingTies, endpoints: Endpoints, at: Indexes) -> tuple[Indexes, Indexes]:
    owner, count = event_of_endpoint(endpoints), len(endpoints)
    left, right = (2 * ties.rank[owner[each[at]]] + (each[at] >= count) for each in (ties.left, ties.right))
    return left, right

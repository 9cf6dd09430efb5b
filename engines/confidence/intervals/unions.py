"""The probability that some match of a key holds, where matches bind interval events."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.coupled.clauses import Clauses
from cepctl.engines.confidence.intervals.clauses import AskedEndpoints, GroupedMatches
from cepctl.engines.confidence.intervals.measure import IntervalMeasure
from cepctl.engines.confidence.occurrence.occurrence import Occurrences
from cepctl.numeric.arrays import Indexes

_AFTER_ITS_START = "\0"
"""Follows the id of an event in that of its end."""


def occurrences_of_intervals(
    events: Events,
    found: Sequence[GroupedMatches],
    groups: int,
    measuring: Callable[[Events, Clauses], Occurrences],
) -> Occurrences:
    """Measure the groups of these matches; `measuring` is how clauses between endpoints are.

    Raises
    ------
    QueryTooLargeError
        If a match has too many cases.
    """
    asked = AskedEndpoints.of(IntervalMeasure.of(events), found, groups)
    # Every endpoint is an event; an end stands after its start.
    ends = events.ids.gather(events.endpoints.lasting) + _AFTER_ITS_START
    of_endpoints = Events(events.endpoints.masses, pl.DataFrame({"event_id": pl.concat([events.ids, ends])}))
    return asked.occurrences(lambda clauses: measuring(of_endpoints, clauses))


def with_rivals(measure: IntervalMeasure, matches: Indexes, group: Indexes) -> GroupedMatches:
    """Matches of groups with all that must not happen beside them."""
    return GroupedMatches(measure, matches, group, measure.broken_by(matches))

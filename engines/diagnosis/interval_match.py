"""One match of interval events: the ticks that their starts and ends can use, and its confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.engines.columns.bindings import Bindings, events_in
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.intervals.rows import measured, valid
from cepctl.engines.confidence.intervals.search import IntervalSearch, by_size
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.failed_conditions import Reason, reasons_against
from cepctl.engines.diagnosis.posteriors import bin_ticks, endpoint_spans, shares_under_way
from cepctl.engines.diagnosis.shown import (
    BoundMember,
    EventShown,
    Factor,
    OneMatch,
    TickSpan,
    bin_edges,
    event_shown,
    logged_nanoseconds,
)
from cepctl.engines.diagnosis.worlds_left import WorldsLeft, clauses_against, given_shown
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.solve.stated import methods_named
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.plan.relations import relations_in_words
from cepctl.schema import END_TIME

_TIMES = Condition("timing", "the conditions on starts and ends, their order and the window")
_NOBODY = Condition("absence", "nothing happens that must be absent")
_RIVAL = Condition("absence", "an event that must be absent")


def interval_match(
    prepared: PreparedAlternative, bound: dict[int, Bindings], bins: int, stamped: Events
) -> OneMatch:
    """Explain a match some of whose events are interval events, or whose ends are compared.

    `stamped` are the events in all worlds, of which what is given may leave some.

    Raises
    ------
    QueryTooLargeError
        If the match needs more work than is allowed.
    """
    events, alternative = prepared.events, prepared.alternative
    (search,) = prepared.lasting
    ((search, matches, _),) = by_size(search, list(bound.values()))
    event = matches[0]
    variables = [alternative.components[i].variable for i in bound for _ in events_in(bound[i])]
    lower, upper = valid(search.measure, matches)
    alone = measured(replace(search.measure, rivals=None), matches)
    names: list[str] = []
    found = prepared.decided(bound, [], names.append)
    reasons = reasons_against(prepared, bound)
    if not reasons and alone.start[0] > alone.end[0]:
        reasons = _times_against(prepared, stamped, list(bound.values()))
    elif not reasons and found.start[0] > found.end[0]:
        reasons = (Reason(_RIVAL),)
    edges = bin_edges(*_hull(stamped, event), bins)
    members = tuple(
        _member(stamped, variable, int(event[at]), edges, lower[0], upper[0], at)
        for at, variable in enumerate(variables)
    )
    words = relations_in_words(prepared.plan.query)
    shown = OneMatch(prepared.plan, alternative, events, members, edges, tuple(reasons), relations=words)
    if reasons:
        return shown
    factors = [Factor(_TIMES, float(alone.confidence[0]))]
    if search.measure.rivals is not None:
        factors.append(Factor(_NOBODY, float(found.confidence[0])))
    return replace(
        shown,
        start=int(found.start[0]),
        end=int(found.end[0]),
        confidence=float(found.confidence[0]),
        factors=tuple(factors),
        methods=methods_named(names),
        given=given_shown(prepared, stamped, bound),
    )


def _times_against(
    prepared: PreparedAlternative, stamped: Events, bound: Sequence[Bindings]
) -> tuple[Reason, ...]:
    """Why no world holds the times of one match: they, or each clause that alone is enough, else all."""
    if not _happens(prepared, stamped, bound):
        return (Reason(_TIMES),)
    left = WorldsLeft(prepared.plan, stamped).alone
    return clauses_against(prepared.plan.given, lambda at: _happens(prepared, left[at], bound))


def _happens(prepared: PreparedAlternative, events: Events, bound: Sequence[Bindings]) -> bool:
    """Whether one match has a world among those of some events, if nothing must be absent."""
    search, matches = _search(prepared, events, bound)
    found = measured(replace(search.measure, rivals=None), matches)
    return bool(found.start[0] <= found.end[0])


def _search(
    prepared: PreparedAlternative, events: Events, bound: Sequence[Bindings]
) -> tuple[IntervalSearch, Indexes]:
    """How one match is found among events of which nothing more is given; and the match, shape (1, l)."""
    plan = replace(prepared.plan, given=())
    (search,) = prepared_alternative(
        plan, prepared.alternative, events, prepared.options, of_intervals=True
    ).lasting
    ((search, matches, _),) = by_size(search, bound)
    return search, matches


def _member(
    events: Events, variable: str, event: int, edges: Reals, lower: Indexes, upper: Indexes, at: int
) -> BoundMember:
    shown = interval_shown(events, event, edges)
    valid = [(int(lower[place]), int(upper[place])) for place in (2 * at, 2 * at + 1)]
    return BoundMember(variable, shown, *valid[0], None, None if shown.until is None else TickSpan(*valid[1]))


def interval_shown(events: Events, event: int, edges: Reals) -> EventShown:
    """An event; of one that lasts each bin says how probable it is to be under way, times its ticks."""
    ends = events.endpoints
    shown = event_shown(events, event, edges)
    if ends.end[event] == event:
        return shown
    first, last = bin_ticks(edges)
    middle = (first & last) + ((first ^ last) >> 1)
    inside = shares_under_way(events, event, middle) * np.maximum(last - first + 1, 1)
    spans = endpoint_spans(events)
    until = TickSpan(int(spans.lower[ends.end[event]]), int(spans.upper[ends.end[event]]))
    raw = logged_nanoseconds(events, END_TIME, event)
    return replace(shown, prior=inside, until=until, raw_end_nanoseconds=raw)


def _hull(events: Events, event: Indexes) -> tuple[int, int]:
    hulls = events.hulls
    return int(hulls.lower[event].min()), int(hulls.upper[event].max())

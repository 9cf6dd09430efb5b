"""What is shown of one match: its events, their bins, its rivals, and how its confidence comes about.

    factor                  probability that
    order                   the events come in the order of the pattern, groups between their neighbours
    window, timing          that holds and so do these, one after the other
    absences                that holds and no rival lies where none may: the confidence

The probability that a rival breaks the match is that of lying in its gap, given that everything but the
absences holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import Bindings, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.diagnosis.binding_checks import absence_condition, together_condition, without_together
from cepctl.engines.diagnosis.conditions import Condition, window_condition
from cepctl.engines.diagnosis.failed_conditions import Reason
from cepctl.engines.diagnosis.valid_intervals import OffsetShown, time_shares
from cepctl.engines.diagnosis.worlds_left import GivenShown, LawShown
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.pattern.blocks import Rivals
from cepctl.engines.solve.stated import StatedMethod, methods_named
from cepctl.errors import QueryTooLargeError
from cepctl.language.strategies import SKIP_TILL_ANY_MATCH
from cepctl.numeric.arrays import Reals
from cepctl.plan.plan import Alternative, Plan

_ERROR = 0.01
MOST_RIVALS = 1_000
"""How many rivals of one rule are measured one by one."""


@dataclass(frozen=True)
class TickSpan:
    """Ticks from one to another, both included; none where they are reversed."""

    lower: int
    upper: int


@dataclass(frozen=True)
class EventShown:
    """An event: id, type, raw time in nanoseconds, interval in ticks, and how probable each bin is.

    Of one that lasts they are of its start; `until` and `raw_end_nanoseconds` are of its end, and each bin
    says how probable it is that the event is under way, times the ticks of the bin.
    """

    event_id: str
    event_type: str
    raw_nanoseconds: int | None
    lower: int
    upper: int
    prior: Reals
    until: TickSpan | None = None
    raw_end_nanoseconds: int | None = None


@dataclass(frozen=True)
class BoundMember:
    """A bound event, its valid interval in ticks (empty where reversed), and the probability of each bin
    given the match, None where that is not known.  `valid_until` is that of its end, if it lasts.
    """

    variable: str
    event: EventShown
    valid_lower: int
    valid_upper: int
    posterior: Reals | None
    valid_until: TickSpan | None = None


@dataclass(frozen=True)
class Factor:
    """The probability that this condition holds together with those above it."""

    condition: Condition
    probability: float


@dataclass(frozen=True)
class RivalShown:
    """An event that breaks the match where it lies in a gap: how probable that is, were it the only rival."""

    condition: Condition
    event: EventShown
    probability: float


class AllReadings(NamedTuple):
    """Time range, in ticks, and confidence of a signature that some of its readings by OR returns."""

    start: int
    end: int
    confidence: float


@dataclass(frozen=True)
class OneMatch:
    """Everything about one signature; with `reasons` it is not a match, and only members are told.

    `bins`: edges of the drawing's bins in ticks.  `error` bounds the error of the probabilities; 0 where
    they are exact.  `methods`: by which the confidence was measured.  `offsets` are those of clocks that its
    events share.  `other_readings` bind the same events, and `whole` is the row that all of them have
    together, where it is known; all else is of the first.  `relations` says what the query asks of
    interval events, in words.  `given`: what is given, where something is; intervals of events are those of
    all worlds, and what of them is valid, the confidence, its factors and the rivals are of the worlds that
    remain.  `law`: what a law of order makes of the confidence, where it says something of these events; all
    that is told of how the confidence comes about is then without it.
    """

    plan: Plan
    alternative: Alternative
    events: Events
    members: tuple[BoundMember, ...]
    bins: Reals
    reasons: tuple[Reason, ...] = ()
    start: int = 0
    end: int = 0
    confidence: float = 0.0
    error: float = 0.0
    factors: tuple[Factor, ...] = ()
    methods: tuple[StatedMethod, ...] = ()
    rivals: tuple[RivalShown, ...] = ()
    offsets: tuple[OffsetShown, ...] = ()
    other_readings: int = 0
    whole: AllReadings | None = None
    relations: tuple[str, ...] = ()
    given: GivenShown | None = None
    law: LawShown | None = None


def event_shown(events: Events, event: int, edges: Reals) -> EventShown:
    """An event, with how probable it is to lie in each bin."""
    row = events.frame.row(event, named=True)
    raw = logged_nanoseconds(events, "time", event)
    lower, upper = int(events.masses.lower[event]), int(events.masses.upper[event])
    shares = time_shares(events, event, edges)
    return EventShown(row["event_id"], row["event_type"], raw, lower, upper, shares)


def logged_nanoseconds(events: Events, column: str, event: int) -> int | None:
    """The logged time of an event since the epoch, which 64 bits need not hold; None where it has none."""
    if column not in events.frame.columns:
        return None
    times = events.frame.get_column(column)
    count = times.to_physical()[event]
    per_count = 1 if times.dtype == pl.Datetime("ns", "UTC") else 1_000
    return None if count is None else int(count) * per_count


def bin_edges(first: int, last: int, bins: int) -> Reals:
    """Edges of the bins from one tick to another, none of which is narrower than a tick."""
    count = int(min(bins, float(last) - float(first) + 1))
    return np.linspace(float(first) - 0.5, float(last) + 0.5, count + 1)


def with_confidence(
    shown: OneMatch, prepared: PreparedAlternative, bound: dict[int, Bindings], rivals: list[Rivals]
) -> OneMatch:
    """A match, measured with ever more conditions; estimated where it is too much work exactly."""
    try:
        return _measured(shown, prepared, bound, rivals)
    except QueryTooLargeError:
        estimated = replace(prepared, options=replace(prepared.options, approximate=_ERROR))
        return replace(_measured(shown, estimated, bound, rivals), error=_ERROR)


def _measured(
    shown: OneMatch, prepared: PreparedAlternative, bound: dict[int, Bindings], rivals: list[Rivals]
) -> OneMatch:
    factors = [
        Factor(condition, _probability(limited.decided(bound, [])))
        for condition, limited in _growing(prepared)
    ]
    names: list[str] = []
    found = prepared.decided(bound, rivals, names.append)
    shown = replace(shown, start=int(found.start[0]), end=int(found.end[0]))
    if shown.start > shown.end:
        return replace(shown, reasons=_broken(prepared, bound, rivals))
    confidence = _probability(found)
    if prepared.shape.together:
        without = _probability(prepared.decided(bound, _without_rivals(rivals)))
        factors.append(Factor(together_condition(prepared.shape.alternative), without))
    alone: list[RivalShown] = []
    if rivals:
        factors.append(Factor(Condition("absence", "no rival in its gap"), confidence))
        free = _probability(prepared.decided(bound, _without_rivals(rivals)))
        for at in range(len(rivals)):
            alone += _rivals_alone(shown, prepared, bound, rivals, at, free)
    alone.sort(key=lambda rival: -rival.probability)
    return replace(
        shown,
        confidence=confidence,
        factors=tuple(factors),
        rivals=tuple(alone),
        methods=methods_named(names),
    )


def _growing(prepared: PreparedAlternative) -> list[tuple[Condition, PreparedAlternative]]:
    """The alternative with order alone, then with the window, then with all constraints on times."""
    plan, alternative, shape = prepared.plan, prepared.alternative, prepared.shape
    single = len(shape.blocks) == 1 and shape.only_single
    untimed = replace(alternative, timings=(), member_timings=())
    text = "the event happens" if single else "the order of the pattern"
    stages = [(Condition("order", text), replace(plan, window=None), untimed)]
    if plan.window is not None:
        stages.append((window_condition(plan), plan, untimed))
    if shape.timings or shape.member_timings:
        stages.append((Condition("timing", "constraints on times"), plan, alternative))
    found = []
    for condition, limited, bare in stages:
        # Absences may need the window, and are asked last.
        positive = prepared_alternative(
            replace(limited, strategy=SKIP_TILL_ANY_MATCH), _positive_only(bare),
            prepared.events, prepared.options,
        )  # fmt: skip
        found.append((condition, positive))
    return found


def _positive_only(alternative: Alternative) -> Alternative:
    """Without negated components, which keep their numbers but stand in no block."""
    blocks = tuple(block for block in alternative.blocks if not alternative.components[block[0]].negated)
    return replace(alternative, blocks=blocks)


def _probability(found: Measured) -> float:
    return float(found.confidence[0]) if found.start[0] <= found.end[0] else 0.0


def _without_rivals(rivals: Sequence[Rivals]) -> list[Rivals]:
    return [replace(each, row=each.row[:0], event=each.event[:0]) for each in rivals]


def _rivals_alone(
    shown: OneMatch,
    prepared: PreparedAlternative,
    bound: dict[int, Bindings],
    rivals: list[Rivals],
    at: int,
    free: float,
) -> list[RivalShown]:
    """The rivals of one rule, each measured as if it were the only one."""
    chosen = rivals[at].event[:MOST_RIVALS]
    if not len(chosen) or free <= 0:
        return []
    copies = take_matches(bound, np.zeros(len(chosen), dtype=np.int64))
    alone = _without_rivals(rivals)
    alone[at] = replace(alone[at], row=np.arange(len(chosen)), event=chosen)
    found = prepared.decided(copies, alone)
    spared = np.where(found.start <= found.end, found.confidence, 0.0)
    condition = absence_condition(prepared, rivals[at].rule)
    return [
        RivalShown(
            condition,
            event_shown(shown.events, int(event), shown.bins),
            float(np.clip(1 - left / free, 0.0, 1.0)),
        )
        for event, left in zip(chosen, spared, strict=True)
    ]


def _broken(
    prepared: PreparedAlternative, bound: dict[int, Bindings], rivals: list[Rivals]
) -> tuple[Reason, ...]:
    """Why no world returns a match whose valid intervals are not empty."""
    without_rivals = _without_rivals(rivals)
    if _probability(without_together(prepared).decided(bound, without_rivals)) <= 0:
        return (Reason(Condition("timing", "<> between times, or the gaps in histograms")),)
    found = []
    if prepared.shape.together and _probability(prepared.decided(bound, without_rivals)) <= 0:
        found.append(Reason(together_condition(prepared.shape.alternative)))
    for at, each in enumerate(rivals):
        alone = [*without_rivals[:at], each, *without_rivals[at + 1 :]]
        measured = without_together(prepared).decided(bound, alone)
        if measured.start[0] > measured.end[0]:
            events = tuple(int(event) for event in each.event[:3])
            found.append(Reason(absence_condition(prepared, each.rule), events=events))
    return tuple(found) or (Reason(Condition("absence", "several absences together")),)

"""Confidence and time range of matches whose events are tied: P(match and what is given) / P(what is given).

Only the components that a problem touches count: of all others the probability cancels.  The first and the
last event that a match shows are variables of its problems: to cut these to a span of ticks cuts all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, TickSpans
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.clauses import Clauses, Tied, clauses_of, with_present
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.given.counted import counted_of
from cepctl.engines.confidence.given.groups import GroupComponents, ties_of_problems
from cepctl.engines.confidence.given.known_order import contradict_order, without_known_order
from cepctl.engines.confidence.given.parts_of_units import by_units
from cepctl.engines.confidence.given.work import refused_beyond, searched
from cepctl.engines.confidence.measured import Measured, Total, impossible
from cepctl.engines.confidence.occurrence.ends import NEVER
from cepctl.engines.confidence.occurrence.rows import Rows, own_limits, shown_events, within_spans
from cepctl.engines.confidence.occurrence.sure import NEARLY, surely_hold
from cepctl.engines.confidence.points.rival_blocks import BlockMemory, coupled_blocks
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

_BLOCK_BYTES = 128 << 20
"""Of more at once, a third of the time would go by in which the system hands out memory."""


def tied_matches(
    matches: CoupledMatches,
    ties: EventTies,
    memory: BlockMemory,
    spans: TickSpans | None = None,
    affordable: int | None = None,
) -> Measured:
    """Measure matches that bind tied events, or that such events could break, in blocks that fit in memory.

    With `spans` the confidence is that of a match within its span; its time range then means nothing.
    Where it takes more products than are `affordable` it is NaN.

    Raises
    ------
    QueryTooLargeError
        If the events that are tied to a match need too much work.
    """
    found = impossible(len(matches))
    memory = BlockMemory(min(memory.block, _BLOCK_BYTES), memory.most)
    for begin, end in coupled_blocks(matches.shape, matches.groups, matches.rivals, memory):
        block = np.arange(begin, end)
        within = None if spans is None else spans.take(block)
        found.put(block, given_confidences(matches.taken(block), ties, within, affordable))
    return found


def are_tied(ties: EventTies, bound: dict[int, Bindings], rivals: list[Rivals], count: int) -> Flags:
    """Which of `count` matches bind an event that is tied, or have such a rival."""
    found = np.zeros(count, dtype=bool)
    for each in bound.values():
        if isinstance(each, Group):
            found[each.owner[ties.touches(each.members)]] = True
        else:
            found |= ties.touches(each)
    for rival in rivals:
        found[rival.row[ties.touches(rival.event)]] = True
    return found


def given_confidences(
    matches: CoupledMatches, ties: EventTies, spans: TickSpans | None = None, affordable: int | None = None
) -> Measured:
    """Measure matches, as `cepctl.engines.confidence.points.confidences` does, in the worlds that remain.

    With `spans` the confidence is that of a match within its span; its time range then means nothing.
    Where it takes more products than are `affordable` it is NaN.
    """
    total = Total(len(matches))
    for problems in coupled_problems(matches):
        if len(problems.match):
            total.add(problems.match, *_of_problems(matches.masses, ties, problems, spans, affordable))
    found = total.measured()
    if spans is not None:
        return found
    tied = partial(ties_of_problems, ties, matches.masses)
    return with_sure_ones(found, matches, EventClocks.none(matches.masses), tied)


def with_sure_ones(
    found: Measured,
    matches: CoupledMatches,
    clocks: EventClocks,
    tied: Callable[[Problems], Tied] | None = None,
) -> Measured:
    """Confidences that miss 1 by what sums are rounded, of matches that are sure, are 1.

    `tied` tells what is given of the events of problems, each of which is its own `match`.
    """
    near = np.flatnonzero((found.confidence != 1.0) & (np.abs(found.confidence - 1.0) < NEARLY))
    if not len(near):
        return found
    some, count = matches.taken(near), 0
    numbered, limits, match = [], [], []
    given: list[Tied] = []
    for problems in coupled_problems(some):
        alone = replace(problems, match=np.arange(len(problems.match)))
        numbered.append(replace(problems, match=count + alone.match))
        limits.append(own_limits(some.masses, problems))
        if tied is not None:
            of, left, right, bound = tied(alone)
            given.append((problems.match[of], left, right, bound))
        match.append(problems.match)
        count += len(problems.match)
    clauses = clauses_of(numbered, count, limited=False, tied=limits)
    sure = surely_hold(clocks, clauses, np.concatenate(match), len(near), given)
    confidence = found.confidence.copy()
    confidence[near[sure]] = 1.0
    return replace(found, confidence=confidence)


def _of_problems(
    masses: Masses, ties: EventTies, problems: Problems, spans: TickSpans | None, affordable: int | None
) -> tuple[Reals, Ticks, Ticks]:
    """Each problem in the worlds that remain; the range and spans are those of what it shows.

    The rest of a series can always be in order, wherever in their intervals its other events are: it changes
    no range.
    """
    count = len(problems.match)
    first, last = shown_events(problems)
    besides = [] if spans is None else [within_spans(spans.take(problems.match), first, last)]
    rows = Rows.of(masses, problems, *besides)
    rows = Rows(masses, without_known_order(rows.clauses, ties, masses))
    impossible = contradict_order(rows.clauses)
    every, confidence = np.arange(count), np.where(impossible, 0.0, 1.0)
    # What the order decides alone asks for nothing, or for what no world has.
    open_still = np.flatnonzero((np.diff(rows.clauses.clause_offsets) > 0) & ~impossible)
    if len(open_still):
        confidence[open_still] = open_confidences(
            masses, ties, rows.clauses.of_groups(open_still), affordable
        )
    if affordable is None:
        refused_beyond(confidence, problems)
    if spans is not None:
        never: Indexes = (confidence <= 0.0).astype(np.int64)
        return confidence, never, np.zeros(count, dtype=np.int64)
    problem, event = rows.clauses.events()
    shown = np.concatenate([problem, every, every]), np.concatenate([event, first, last])
    known = GroupComponents.touching(*shown, ties, masses, scaled=False).tied(every)
    start, end = searched(lambda: Rows(masses, with_present(rows.clauses, known)).ends(first, last), problems)
    return np.where(start == NEVER, 0.0, confidence), start, end


def open_confidences(masses: Masses, ties: EventTies, clauses: Clauses, affordable: int | None) -> Reals:
    """The probability of each group, of one problem, that asks for something, in the worlds that remain."""
    found, rest = by_units(clauses, ties, masses)
    summed = np.flatnonzero(np.diff(rest.clause_offsets) > 0)
    if len(summed):
        found[summed] *= _summed(masses, ties, rest.of_groups(summed), affordable)
    return found


def _summed(masses: Masses, ties: EventTies, clauses: Clauses, affordable: int | None) -> Reals:
    """The probability of each group by sums over ticks."""
    counted, count = counted_of(clauses, ties), clauses.groups
    components = GroupComponents.of(counted.clauses, ties, masses)
    tied = Rows(masses, with_present(counted.clauses, components.tied(np.arange(count))))
    weighted = components.weighted(ties, count)._replace(counted=counted.records)
    return tied.under(weighted, affordable) / components.probability(ties, masses, count)

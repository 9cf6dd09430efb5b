"""Confidence and time range of matches whose events are tied in any way: their problems solved and added up.

The problems of one match are mutually exclusive, so their probabilities add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import TickSpans
from cepctl.engines.columns.numbering import occur_in
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.problem import CoupledMatches, Problems
from cepctl.engines.confidence.coupled.sampling import Sampling
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.engines.confidence.needless_sums import always_in_one_order, certainly_in_order
from cepctl.engines.confidence.occurrence.ends import NEVER
from cepctl.engines.confidence.occurrence.rows import Rows, shown_events, within_spans
from cepctl.numeric.arrays import Flags, Reals, Ticks

RowsOf: TypeAlias = Callable[..., Rows]
"""Makes rows of masses, problems, and what is asked besides."""


def coupled_confidences(
    matches: CoupledMatches,
    sampling: Sampling | None = None,
    spans: TickSpans | None = None,
    rows_of: RowsOf = Rows.of,
    *,
    keeps_unknown: bool = False,
) -> Measured:
    """Measure matches.

    With `spans` the confidence is that of a match within its span; its time range then means nothing.
    `keeps_unknown`: one that takes too many products is NaN and not refused.

    Raises
    ------
    QueryTooLargeError
        If a problem exceeds the bound on its work; with `sampling` only if the search for its range does.
    """
    masses, total = matches.masses, Total(len(matches))
    error = np.zeros(len(matches))
    given_up: list[Problems] = []
    certain = certainly_in_order(matches.shape, masses, matches.groups)
    rivals_of_own = np.zeros(len(matches), dtype=bool)
    for each in matches.rivals:
        if each.rule.members_too:
            rivals_of_own[each.row] = True
    # Which of its own events break a match depends on their order.
    certain &= ~rivals_of_own | always_in_one_order(masses, matches.groups)
    for problems in coupled_problems(matches):
        if not len(problems.match):
            continue
        shown = shown_events(problems)
        besides = [] if spans is None else [within_spans(spans.take(problems.match), *shown)]
        rows = rows_of(masses, problems, *besides)
        first = last = np.zeros(len(problems.match), dtype=np.int64)
        if spans is None:
            first, last = rows.ends(*shown)
        # Matches that are sampled anyway are not summed any further.
        part = _summed(rows, error[problems.match] == 0.0)
        if spans is not None:
            first = np.where(part <= 0.0, NEVER, first)
        unknown = np.isnan(part) & (first != NEVER)
        if unknown.any() and not keeps_unknown:
            if sampling is None:
                raise rows.refusal(problems, int(np.flatnonzero(unknown)[0]))
            part = np.where(unknown, 0.0, part)
            given_up.append(problems.taken(np.flatnonzero(unknown)))
            error[problems.match[unknown]] = sampling.error
        certain[problems.match[_with_rivals(matches, problems, rivals_of_own)]] = False
        total.add(problems.match, part, first, last)
    if sampling is not None and given_up:
        sampled, estimate = sampling.probabilities(matches.groups, given_up)
        total.confidence[sampled] = np.minimum(total.confidence[sampled] + estimate, 1.0)
    if spans is None:
        total.confidence[certain], error[certain] = 1.0, 0.0
    return replace(total.measured(), error=error)


def _summed(rows: Rows, chosen: Flags) -> Reals:
    """The probability of some rows, NaN of the others."""
    if chosen.all():
        return rows.probability()
    found = np.full(len(chosen), np.nan)
    found[chosen] = rows.taken(np.flatnonzero(chosen)).probability()
    return found


def _with_rivals(matches: CoupledMatches, problems: Problems, rivals_of_own: Flags) -> Flags:
    """Problems with a rival that can decide: an event that must be outside of some region.

    Of events that are bound, `<>` leaves such regions; whether that can fail is known without a sum.  Rules
    of absence do so only in matches whose own events are their rivals, too: `rivals_of_own`.
    """
    factors, count = problems.factors, len(matches.masses.lower)
    outside = np.concatenate([[0], np.cumsum(~factors.inside)])
    some = np.flatnonzero(np.diff(outside[factors.region_offsets]) > 0)
    problem = np.searchsorted(factors.offsets, some, side="right") - 1
    bound = np.concatenate([group.owner * count + group.members for group in matches.groups])
    others = rivals_of_own[problems.match[problem]]
    others |= ~occur_in(problems.match[problem] * count + factors.event[some], bound)
    found = np.zeros(len(problems.match), dtype=bool)
    found[problem[others]] = True
    return found


def shown_range(matches: CoupledMatches) -> tuple[Ticks, Ticks]:
    """First and last tick of what matches show, which need not be that of their first and last events.

    Matches that cannot happen start after their end.
    """
    total = Total(len(matches))
    for problems in coupled_problems(matches):
        if len(problems.match):
            ends = Rows.of(matches.masses, problems).ends(*shown_events(problems))
            possible = np.flatnonzero(ends[0] != NEVER)
            total.widen(problems.match[possible], ends[0][possible], ends[1][possible])
    return total.start, total.end

"""Confidence and time range of matches of events that share clocks, of which something is given.

    P(match | given) = P(match and given) / P(given)

Of both only the wholes count that a match touches (`on_clocks`).  Each is a row of clauses, summed over few
offsets of clocks (`clocks.unions`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from cepctl.engines.columns.bindings import TickSpans
from cepctl.engines.confidence.clocks.rows import RowsOnClocks, events_of_rows
from cepctl.engines.confidence.clocks.unions import OF_ROWS, occurrences_on_clocks
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.clauses import Tied
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.given.confidences import with_sure_ones
from cepctl.engines.confidence.given.groups import GroupWholes
from cepctl.engines.confidence.given.on_clocks import GivenOnClocks
from cepctl.engines.confidence.given.work import refused_beyond
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.engines.confidence.occurrence.ends import NEVER
from cepctl.engines.confidence.occurrence.occurrence import occurrences
from cepctl.engines.confidence.occurrence.rows import shown_events, within_spans


def given_on_clocks(
    known: GivenOnClocks, matches: CoupledMatches, spans: TickSpans | None = None
) -> Measured:
    """Measure matches in the worlds that remain; of those that have spans the time range means nothing.

    The masses of `matches` say where events can be.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many tied events, or its measure at too many offsets, or too many products.
    """
    masses, total = matches.masses, Total(len(matches))
    events = events_of_rows(masses)
    measuring = partial(occurrences_on_clocks, known.clocks, occurrences, refusing=OF_ROWS)
    for problems in coupled_problems(matches):
        count = len(problems.match)
        if not count:
            continue
        alone = replace(problems, match=np.arange(count))
        wholes = GroupWholes.of(known, [alone], count)
        besides, (first, last) = [wholes.tied(alone)], shown_events(problems)
        if spans is not None:
            besides.append(within_spans(spans.take(problems.match), first, last))
        rows = RowsOnClocks.on(known.clocks, masses, problems, *besides)
        confidence = rows.probability() / wholes.given(events, measuring)
        refused_beyond(confidence, problems)
        if spans is not None:
            start, end = (confidence <= 0.0).astype(np.int64), np.zeros(count, dtype=np.int64)
        else:
            start, end = rows.ends(first, last)
        total.add(problems.match, np.where(start == NEVER, 0.0, confidence), start, end)
    found = total.measured()
    if spans is not None:
        return found

    def tied(alone: Problems) -> Tied:
        return GroupWholes.of(known, [alone], len(alone.match)).tied(alone)

    return with_sure_ones(found, matches, known.clocks, tied)

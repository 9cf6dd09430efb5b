"""The time range of matches that do not show their first or last events: that of those which they show."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.bindings import Group
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import Problems, reordered
from cepctl.engines.confidence.coupled.solve import tick_range
from cepctl.engines.confidence.measured import Total


def shown_range(matches: CoupledMatches) -> tuple[Ticks, Ticks]:
    """First and last tick of what matches show; those that cannot happen start after their end."""
    total = Total(len(matches))
    for problems in coupled_problems(matches):
        if len(problems.match):
            start, end = tick_range(matches.masses, *shown_at_ends(matches, problems))
            total.widen(problems.match, start, end)
    return total.start, total.end


def shown_at_ends(matches: CoupledMatches, problems: Problems) -> tuple[Problems, Problems]:
    """The same problems, of which the first variable is shown, and of which the last one is.

    The smallest possible tick is that of the first variable of a problem, the largest that of the last one.
    """
    before, after = _hidden(matches, problems)
    shown = np.flatnonzero(~(before | after)).tolist()
    early, late = np.flatnonzero(before).tolist(), np.flatnonzero(after).tolist()
    if len(shown) == 1:
        hidden = [*early, *late]
        return reordered(problems, [*shown, *hidden]), reordered(problems, [*hidden, *shown])
    both = reordered(problems, [shown[0], *early, *shown[1:-1], *late, shown[-1]])
    return both, both


def _hidden(matches: CoupledMatches, problems: Problems) -> tuple[Flags, Flags]:
    """Which variables of alike problems are hidden events before and after all else."""
    shape, match = matches.shape, int(problems.match[0])
    count = len(shape.blocks)
    # Several at one tick are one variable, so that variables are told by their events.
    events = problems.variables.event[0]
    before = _events_of(matches.groups[: shape.hidden_before], match)
    after = _events_of(matches.groups[count - shape.hidden_after :], match)
    return np.isin(events, before), np.isin(events, after)


def _events_of(groups: Sequence[Group], match: int) -> Indexes:
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate(
        [none, *(each.members[each.offsets[match] : each.offsets[match + 1]] for each in groups)]
    )

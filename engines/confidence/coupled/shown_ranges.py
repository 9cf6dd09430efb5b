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
            both = with_ends(problems, shown_ends(matches, problems))
            total.widen(problems.match, *tick_range(matches.masses, *both))
    return total.start, total.end


def with_ends(problems: Problems, ends: tuple[int, int]) -> tuple[Problems, Problems]:
    """The same problems with one variable first, and with another one last.

    The smallest possible tick is that of the first variable of a problem, the largest that of the last one.
    """
    first, last = ends
    places = range(problems.variables.event.shape[1])
    return (
        reordered(problems, [first, *(i for i in places if i != first)]),
        reordered(problems, [*(i for i in places if i != last), last]),
    )


def shown_ends(matches: CoupledMatches, problems: Problems) -> tuple[int, int]:
    """The first and the last variable of alike problems, at least one, that matches show."""
    before, after = _hidden(matches, problems)
    shown = np.flatnonzero(~(before | after))
    return int(shown[0]), int(shown[-1])


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

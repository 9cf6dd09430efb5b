"""The time range of matches that do not show their first or last events: that of those which they show."""

from __future__ import annotations

from cepctl.arrays import Ticks
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
            both = with_ends(problems, problems.structure.ends)
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

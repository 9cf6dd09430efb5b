"""Events that one writer wrote stand in a known order: they are searched as if each had one tick.

Their earliest ticks are a world that satisfies what is given, and in it they stand in the order that they
have in every such world.  So two events are found in order there just where they always are, and a rival lies
between them there just where it always does.  How far apart they are is not the same in every world: what a
pattern asks of that is asked less of them by the widest interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.arrays import Ticks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.plan.plan import Given
from cepctl.schema import IN_WRITTEN_ORDER, RECORD, WRITER


def at_earliest_ticks(given: Sequence[Given], events: Events) -> Events | None:
    """The events at the earliest tick of each; None unless one writer wrote all, one record each."""
    if events.ties is None or all(clause.text != IN_WRITTEN_ORDER for clause in given):
        return None
    if events.depends.on_clocks or events.ends is not None:
        return None
    record = events.frame.get_column(RECORD)
    if (events.codes_of(WRITER) != 0).any() or record.null_count():
        return None
    lower = events.masses.lower
    in_order = lower[np.argsort(record.to_numpy(), kind="stable")]
    if (np.diff(in_order) <= 0).any():
        return None
    masses = Masses(lower, lower, np.arange(len(lower) + 1), lower, lower, np.ones(len(lower)))
    return replace(events, masses=masses)


def loosened_window(window: int | None, masses: Masses) -> int | None:
    """The window of events at their earliest ticks, which can be further apart by the widest interval."""
    return None if window is None else window + _widest(masses)


def loosened(system: Ticks, masses: Masses) -> Ticks:
    """What a pattern asks of how far apart events are, asked of their earliest ticks.

    Of t_i - t_j <= c with c < 0 the order is kept.

    >>> three = np.array([0, 5, 9])
    >>> masses = Masses(three, three + 4, np.arange(4), three, three + 4, np.full(3, 0.2))
    >>> loosened(np.array([[0, -1], [7, 0]]), masses).tolist()
    [[0, -1], [11, 0]]
    """
    widest = _widest(masses)
    bounded = system < UNBOUNDED - widest
    looser = np.where(bounded, system + np.where(bounded, widest, 0), UNBOUNDED)
    found = np.where(system < 0, np.minimum(looser, -1), looser)
    np.fill_diagonal(found, np.diag(system))
    return found


def _widest(masses: Masses) -> int:
    return int((masses.upper - masses.lower).max(initial=0))

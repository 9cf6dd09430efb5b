"""Events of which something is given: where they can be at all, and which of them are tied.

Where what is given narrows the interval of an event by itself, its mass is cut and the rest renormalised.
That is exact: given all cuts, events are independent but for the ties that remain between them.

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from cepctl.arrays import Ticks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.columns.ties import event_ties
from cepctl.engines.given.closing import intervals_left
from cepctl.engines.given.components import require_possible
from cepctl.engines.given.edges import Differences, differences_of
from cepctl.engines.given.series import with_series
from cepctl.plan.plan import Plan
from cepctl.plan.support import require_engine

_MOST_WAYS = 50_000_000


def known_events(plan: Plan, events: Events) -> Events:
    """The events as they are in the worlds that satisfy what is given.

    Raises
    ------
    ContradictionError
        If there is no such world.
    QueryTooLargeError
        If what is given speaks of too many combinations of events.
    UnsupportedQueryError
        If it speaks of events that last.
    """
    named = (fitting_events(events, one) for each in plan.given for one in each.alternative.components)
    if events.last(named):
        require_engine(plan, "event", lasting=True)
    found = differences_of(plan.given, events)
    if not len(found):
        return events
    if events.clocks is not None:
        from cepctl.engines.given.known_on_clocks import known_on_clocks

        return known_on_clocks(plan.given, found, events, events.clocks)
    masses = cut(events.masses, *intervals_left(plan.given, found, events, events.masses))
    left = without_ways_round(found.taken(np.flatnonzero(~found.implied(masses))))
    if not len(left):
        return replace(events, masses=masses)
    ties = with_series(event_ties(len(events), left.left, left.right, left.bound), masses)
    known = replace(events, masses=masses, ties=ties)
    require_possible(plan.given, known)
    return known


def without_ways_round(found: Differences) -> Differences:
    """What says that one event comes before another is left out where one between them says so already."""
    order = np.flatnonzero(found.bound == -1)
    degree = np.bincount(found.right[order], minlength=int(found.left.max(initial=0)) + 1)
    if int(degree[found.left[order]].sum()) > _MOST_WAYS:
        return found
    first = pl.DataFrame({"from": found.left[order], "to": found.right[order]})
    ways = first.join(first.rename({"from": "to", "to": "end"}), on="to").select("from", "end").unique()
    ways = ways.rename({"end": "to"})
    implied = first.with_row_index("row").join(ways, on=["from", "to"], how="semi")
    kept = np.ones(len(found), dtype=bool)
    kept[order[implied.get_column("row").to_numpy()]] = False
    return found.taken(np.flatnonzero(kept))


def cut(masses: Masses, lower: Ticks, upper: Ticks) -> Masses:
    """Masses within these ends, renormalised."""
    changed = (lower > masses.lower) | (upper < masses.upper)
    if not changed.any():
        return masses
    owner = np.repeat(np.arange(len(lower)), np.diff(masses.starts))
    lo, hi = np.maximum(masses.lo, lower[owner]), np.minimum(masses.hi, upper[owner])
    kept = lo <= hi
    owner, lo, hi, density = owner[kept], lo[kept], hi[kept], masses.density[kept].copy()
    total = np.bincount(owner, weights=density * ticks_between(lo, hi), minlength=len(lower))
    narrowed = changed[owner]
    density[narrowed] /= total[owner[narrowed]]
    return Masses(lower, upper, np.searchsorted(owner, np.arange(len(lower) + 1)), lo, hi, density)

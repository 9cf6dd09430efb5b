"""Rows whose absences reach beyond what was observed: an event that came later could have decided them.

What must not happen after the last event of a match, or what a group at its end still takes, may happen until
the window ends.  In a world it ends W - 1 ticks after the first event; so a row is open if in some of its
worlds that lies behind the tick until which the events tell what happened: the last one of all events, unless
a model says otherwise.  Where it is an earlier one, what must not happen between two events is open, too.

    name here       meaning
    observed        the last tick until which the events tell what happened
    open_until      first + W - 1, with the latest tick that the first event of a match may have;
                    or the tick before the last that the match may have, whatever is later

Of one event that tick is the end of the row; of several, no later than what their intervals and their order
leave it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.numeric.arrays import Ticks
from cepctl.plan.open_rows import OPEN, OPEN_UNTIL, rests_on_absences
from cepctl.plan.plan import Plan


def tells_open(plan: Plan, options: MatchOptions) -> bool:
    """Whether rows say if they are open."""
    asked = options.observed is not None and options.kleene == "groups" and not options.exists
    # Keys are about many matches.
    return asked and plan.group_by is None


def open_until(source: PreparedAlternative, matches: MatchBatch) -> Ticks:
    """Until which tick absences of matches reach that nobody has observed so far; `observed` of others."""
    window, observed = source.plan.window, source.options.observed
    until = np.full(len(matches), observed or 0)
    if observed is None:
        return until
    if rests_on_absences(source.plan):
        until = np.maximum(until, matches.end - 1)
    if window is None or not source.decided_by_window:
        return until
    return np.asarray(np.maximum(until, _latest_beginning(source, matches) + (window - 1)))


def closed(source: PreparedAlternative, matches: MatchBatch) -> MatchBatch:
    """The matches that are not open, where these alone are wanted."""
    observed = source.options.observed
    if not source.options.closed or observed is None or not len(matches):
        return matches
    return matches.filter(open_until(source, matches) <= observed)


def open_columns(source: PreparedAlternative, matches: MatchBatch) -> dict[str, pa.Array]:
    """The columns that say which matches are open, and until when; none where rows do not say it."""
    observed = source.options.observed
    if observed is None or not tells_open(source.plan, source.options):
        return {}
    until = open_until(source, matches)
    is_open = until > observed
    return {OPEN: pa.array(is_open), OPEN_UNTIL: pa.array(until, mask=~is_open)}


def _latest_beginning(source: PreparedAlternative, matches: MatchBatch) -> Ticks:
    """The latest tick of the first event of each match, shape (n,)."""
    # Runs are bound one event after the other until they are shown.
    unfolded = len(source.alternative.positive) == len(matches.bound)
    alternative = source.alternative if unfolded else source.shown
    latest = matches.end - (len(alternative.positive_blocks) - 1)
    bound = dict(zip(alternative.positive, matches.bound, strict=True))
    for place, block in enumerate(alternative.positive_blocks):
        for component in block:
            latest = np.minimum(latest, _last_ticks(source, bound[component]) - place)
    return np.asarray(latest)


def _last_ticks(source: PreparedAlternative, bound: Bindings) -> Ticks:
    """The earliest last tick of what each match binds; the end of time where it binds nothing."""
    upper = source.events.masses.upper
    if not isinstance(bound, Group):
        return np.asarray(upper[bound])
    least = np.full(len(bound.sizes), np.iinfo(np.int64).max)
    np.minimum.at(least, bound.owner, upper[bound.members])
    return least

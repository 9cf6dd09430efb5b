"""Interval events given that both of their endpoints lie in a span of ticks, and how probable that is."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.endpoints import Endpoints, agreeing, cut_masses, joined_masses
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_spans import TickSpans


def cut_endpoints(endpoints: Endpoints, event: Indexes, spans: TickSpans) -> tuple[Endpoints, Reals]:
    """Copies of events, each with both endpoints within a span, and how probable that is, shape (n,)."""
    first, last = spans.first, spans.last
    lasts = np.flatnonzero(endpoints.end[event] != event)
    starts, inside = cut_masses(endpoints.masses, event, first, last)
    ends, ended = cut_masses(endpoints.masses, endpoints.end[event[lasts]], first[lasts], last[lasts])
    masses: Masses = joined_masses(starts, ends) if len(lasts) else starts
    end = np.arange(len(event))
    end[lasts] = len(event) + np.arange(len(lasts))
    shortest, longest, whole = endpoints.shortest[event], endpoints.longest[event], endpoints.whole[event]
    # The law of an event that is not cut keeps its digits.
    cut = lasts[(inside[lasts] < 1.0) | (ended < 1.0)]
    whole[cut] = agreeing(masses, cut, end[cut], shortest[cut], longest[cut])
    inside[lasts] *= ended
    inside[cut] *= whole[cut] / endpoints.whole[event[cut]]
    return Endpoints(masses, end, shortest, longest, whole), inside

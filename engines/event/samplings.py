"""Which worlds are sampled where an error is allowed: of independent, clocked or tied events."""

from __future__ import annotations

from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.coupled.sampling import Sampling


def sampling_of(error: float, events: Events) -> Sampling:
    """That confidences of these events may be sampled, with this error."""
    if events.depends.given:
        from cepctl.engines.confidence.given.sampled_worlds import TiedSampling

        return TiedSampling(error, events)
    if events.depends.on_clocks:
        from cepctl.engines.confidence.clocks.estimates import ClockSampling

        return ClockSampling(error, events)
    return Sampling(error, events)

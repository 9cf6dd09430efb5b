"""A law of order as a value: factors of what comes next and of what comes before, for the events of a key.

The weight of an order x1, ..., xn of a key's events is following(^, x1) following(x1, x2) ...
following(xn, $) times before(xi, xj)^(1/m) for all i < j.  A factor that is not named is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BEGIN = "^"
END = "$"


@dataclass(frozen=True)
class OrderLaw:
    """What one `[[law]]` says.

    Attributes
    ----------
    by
        The attribute whose value makes a key; an event without one is under no law.
    step
        The attributes whose texts, joined by `+`, are an event's step; a null is empty.
    following
        (step, next step) -> factor > 0; `^` before the first event and `$` after the last.
    before
        (step, later step) -> factor > 0.
    """

    by: str
    step: tuple[str, ...] = ("event_type",)
    following: Mapping[tuple[str, str], float] = field(default_factory=dict)
    before: Mapping[tuple[str, str], float] = field(default_factory=dict)

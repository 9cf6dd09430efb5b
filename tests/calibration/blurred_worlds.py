"""An oracle for calibrations: every combination of own ticks and offsets of two events, in fractions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from typing import Any

Mass = dict[int, Fraction]


def spread(buckets: list[tuple[int, int, float]]) -> Mass:
    """The mass of each tick of some buckets, renormalised as masses are on reading."""
    total = sum((Fraction(p) for *_, p in buckets), Fraction(0))
    return {
        tick: Fraction(p) / total / (hi - lo + 1) for lo, hi, p in buckets for tick in range(lo, hi + 1) if p
    }


def own_mass(event: Mapping[str, Any], clocks: Mapping[str, Any]) -> Mass:
    """The mass of an event's own tick: its interval is that of own part and offset together."""
    lower, upper = event["lower"], event["upper"]
    offset = clocks[event["clock"]] if event.get("clock") else ((0, 0, 1.0),)
    lower, upper = lower - offset[0][0], upper - offset[-1][1]
    if event["pmf"] is None:
        return spread([(lower, upper, 1.0)])
    return spread([(each["lo"], each["hi"], each["p"]) for each in event["pmf"]])


def before(one: Mapping[str, Any], other: Mapping[str, Any], clocks: Mapping[str, Any]) -> Fraction:
    """P(one happens before the other); what one clock stamped shares its offset."""
    names = sorted({each["clock"] for each in (one, other) if each.get("clock") is not None})
    offsets = [list(spread(list(clocks[name])).items()) for name in names]
    total = Fraction(0)
    own = [list(own_mass(each, clocks).items()) for each in (one, other)]
    for chosen in product(*offsets):
        offset = {name: tick for name, (tick, _) in zip(names, chosen, strict=True)}
        weight = Fraction(1)
        for _, mass in chosen:
            weight *= mass
        for (s, p), (t, q) in product(*own):
            if s + offset.get(one.get("clock"), 0) < t + offset.get(other.get("clock"), 0):
                total += weight * p * q
    return total


def pairs(events: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Two events of one key with different steps, the smaller step first."""
    for one, other in combinations(events, 2):
        if one["key"] == other["key"] and one["event_type"] != other["event_type"]:
            yield (one, other) if one["event_type"] < other["event_type"] else (other, one)

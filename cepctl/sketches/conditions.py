"""How many events of a place can satisfy a condition on one event, as far as a sketch can tell.

tested                                    by
`=`, IN                                   how many events of the span have one of the hashes
`<`, `<=`, `>`, `>=`, `=`, BETWEEN        the extremes of the attribute in the place
AND, OR of these                          the smaller number; the sum
anything else                             nothing: all events of the place may satisfy it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.arrays import Hashes, Indexes, Numbers
from cepctl.language.ast import Attribute, Between, Binary, Constant, Expression, In
from cepctl.sketches.hashing import order_codes, value_hashes

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
SpanCounts = tuple[Indexes, Numbers]
"""Numbers of spans, each once and ascending, and how many events of each are meant."""


@dataclass(frozen=True)
class Places:
    """Places of one component: spans, how many events, and of attributes the least and the largest code.

    `with_values` tells of an attribute and hashes which spans hold how many of these; None where it cannot.
    """

    span: Indexes
    events: Numbers
    extremes: Mapping[str, tuple[Numbers, Numbers]]
    with_values: Callable[[str, Hashes], SpanCounts | None]


def satisfying(places: Places, condition: Expression) -> Numbers:
    """How many events of each place can satisfy a condition, at most."""
    match condition:
        case Binary("AND", left, right):
            return np.asarray(np.minimum(satisfying(places, left), satisfying(places, right)))
        case Binary("OR", left, right):
            either = satisfying(places, left) + satisfying(places, right)
            return np.asarray(np.minimum(either, places.events))
        case Binary(sign, Attribute() as attribute, Constant(value)) if sign in _MIRRORED:
            return _compared(places, attribute.name, sign, value)
        case Binary(sign, Constant(value), Attribute() as attribute) if sign in _MIRRORED:
            return _compared(places, attribute.name, _MIRRORED[sign], value)
        case In(Attribute() as attribute, choices, negated=False):
            values = [each.value for each in choices if isinstance(each, Constant)]
            if len(values) == len(choices):
                return _one_of(places, attribute.name, values)
        case Between(Attribute() as attribute, Constant(low), Constant(high), negated=False):
            above = _compared(places, attribute.name, ">=", low)
            return np.asarray(np.minimum(above, _compared(places, attribute.name, "<=", high)))
    return places.events


def _compared(places: Places, name: str, sign: str, value: object) -> Numbers:
    if value is None:
        return np.zeros_like(places.events)  # a comparison with null is never true
    counts = _one_of(places, name, [value]) if sign == "=" else places.events
    if name not in places.extremes or not isinstance(value, int | float):
        return counts
    try:
        code = int(order_codes(np.array([float(value)]))[0])
    except OverflowError:
        return counts
    least, largest = places.extremes[name]
    possible = least <= largest
    if sign in ("<", "<=", "="):
        possible &= least <= code
    if sign in (">", ">=", "="):
        possible &= largest >= code
    return np.where(possible, counts, 0)


def _one_of(places: Places, name: str, values: Sequence[object]) -> Numbers:
    """How many events of each place can have one of some values."""
    known = [each for each in values if each is not None]
    if not known:
        return np.zeros_like(places.events)
    hashes = constant_hashes(known)
    found = None if hashes is None else places.with_values(name, hashes)
    if found is None:
        return places.events
    spans, events = found
    at = np.searchsorted(spans, places.span)
    held = np.append(spans, -1)[at] == places.span
    return np.asarray(np.minimum(np.where(held, np.append(events, 0)[at], 0), places.events))


def constant_hashes(values: Sequence[object]) -> Hashes | None:
    """Hashes of constants of one kind; None where they cannot be told."""
    if all(isinstance(each, str) for each in values):
        return value_hashes(pa.array(values, pa.string()))[0]
    if all(isinstance(each, bool | int | float) for each in values):
        try:
            return value_hashes(pa.array([float(each) for each in values], pa.float64()))[0]  # type: ignore[arg-type]
        except OverflowError:
            return None
    return None

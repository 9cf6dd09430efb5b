"""How many events of a place can satisfy a condition on one event, as far as a sketch can tell.

tested                                    by
`=`, IN                                   how many events of the span have one of the hashes; bits of
                                          the hash of a listed event
`<`, `<=`, `>`, `>=`, `=`, BETWEEN        bits of the number of a listed event
AND, OR of these                          the smaller number; the sum
anything else                             nothing: all events of the place may satisfy it
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.language.ast import Attribute, Between, Binary, Constant, Expression, In
from cepctl.numeric.arrays import Hashes, Numbers
from cepctl.sketches.hashing import order_codes, value_hashes
from cepctl.sketches.listing import above, below, number_bits

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
Conjunct = tuple[str, Callable[[int], int], np.uint64]
"""An attribute, the list of its extremes that can hold all events which satisfy something, and its code."""


@dataclass(frozen=True)
class CountedPlaces:
    """Places of one component, or listed events: how many events each holds, and what tells which they are.

    `numbers` has of attributes the least and the largest bits of codes, crossed where all are null.
    `with_values` tells of an attribute and hashes how many events of each place have one of these; None where
    it cannot.
    """

    events: Numbers
    numbers: Mapping[str, tuple[Numbers, Numbers]]
    with_values: Callable[[str, Hashes], Numbers | None]


def satisfying(places: CountedPlaces, condition: Expression) -> Numbers:
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


def _compared(places: CountedPlaces, name: str, sign: str, value: object) -> Numbers:
    if value is None:
        return np.zeros_like(places.events)  # a comparison with null is never true
    counts = _one_of(places, name, [value]) if sign == "=" else places.events
    code = _code(value)
    if name not in places.numbers or code is None:
        return counts
    bits = int(number_bits(code)[0])
    least, largest = places.numbers[name]
    possible = least <= largest
    if sign in ("<", "<=", "="):
        possible &= least <= bits
    if sign in (">", ">=", "="):
        possible &= largest >= bits
    return np.where(possible, counts, 0)


def _code(value: object) -> Hashes | None:
    """The code of a constant that is a number."""
    if not isinstance(value, int | float):
        return None
    try:
        return order_codes(np.array([float(value)]))
    except OverflowError:
        return None


def extremes_asked(conditions: Iterable[Expression]) -> Iterator[Conjunct]:
    """What conditions, which hold together, ask of numbers, as far as lists of extremes may tell."""
    for condition in conditions:
        match condition:
            case Binary("AND", left, right):
                yield from extremes_asked((left, right))
            case Binary(sign, Attribute() as attribute, Constant(value)) if sign in _MIRRORED:
                yield from _extreme(attribute.name, sign, value)
            case Binary(sign, Constant(value), Attribute() as attribute) if sign in _MIRRORED:
                yield from _extreme(attribute.name, _MIRRORED[sign], value)
            case Between(Attribute() as attribute, Constant(low), Constant(high), negated=False):
                yield from _extreme(attribute.name, ">=", low)
                yield from _extreme(attribute.name, "<=", high)


def _extreme(name: str, sign: str, value: object) -> Iterator[Conjunct]:
    code = _code(value)
    if code is not None:
        if sign in ("<", "<=", "="):
            yield name, below, code[0]
        if sign in (">", ">=", "="):
            yield name, above, code[0]


def values_asked(conditions: Iterable[Expression], name: str) -> Iterator[Hashes]:
    """The hashes that an attribute can have, of each of the conditions that fixes it to constants."""
    for condition in conditions:
        values: list[object] = []
        match condition:
            case Binary("AND", left, right):
                yield from values_asked((left, right), name)
            case Binary("=", Attribute() as attribute, Constant(value)) if attribute.name == name:
                values = [value]
            case Binary("=", Constant(value), Attribute() as attribute) if attribute.name == name:
                values = [value]
            case In(Attribute() as attribute, choices, negated=False) if attribute.name == name:
                values.extend(each.value for each in choices if isinstance(each, Constant))
                values = values if len(values) == len(choices) else []
        hashes = constant_hashes([each for each in values if each is not None])
        if values and hashes is not None:
            yield hashes


def _one_of(places: CountedPlaces, name: str, values: Sequence[object]) -> Numbers:
    """How many events of each place can have one of some values."""
    known = [each for each in values if each is not None]
    if not known:
        return np.zeros_like(places.events)
    hashes = constant_hashes(known)
    found = None if hashes is None else places.with_values(name, hashes)
    return places.events if found is None else np.asarray(np.minimum(found, places.events))


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

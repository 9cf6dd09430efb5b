"""How a kernel reads and writes elements of arrays: as Numba does, in fewer instructions.

To find one number Numba puts the whole of an array into a place of its own, from which it reads where its
numbers are, how many, and how far apart.  Here these are taken out of the array where it stands.  Negative
places count from the end, as ever, but where a place is known to be natural nobody asks.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from importlib import import_module
from typing import Any

from cepctl.engines.kernels.loops import is_natural, natural_if

# Without types, since Numba gives some to few of its functions.
arrays: Any = import_module("numba.np.arrayobj")
cgutils: Any = import_module("numba.core.cgutils")
slicing: Any = import_module("numba.cpython.slicing")
types: Any = import_module("numba.core.types")

_Form = Callable[[Any, Any, Any, Any], Any]
_NUMBERS = (types.Number, types.Boolean)


def form_of(function: Any, signature: Any) -> _Form | None:
    """What makes code of a call, where it is of an element or of a length of an array."""
    asked = getattr(function, "typing_key", None)
    kinds = signature.args
    if asked is len and type(kinds[0]) is types.Array and kinds[0].ndim > 0:
        return _length
    if asked is operator.getitem and _is_element(*kinds):
        return _read
    if asked is operator.setitem and _is_element(*kinds[:2]) and isinstance(kinds[2], _NUMBERS):
        return _write
    return None


def _is_element(array: Any, place: Any) -> bool:
    """Whether a place in an array is of one number."""
    if type(array) is not types.Array or not isinstance(array.dtype, _NUMBERS) or array.layout not in "CA":
        return False
    places = place.types if isinstance(place, types.BaseTuple) else (place,)
    return array.ndim == len(places) and all(isinstance(each, types.Integer) for each in places)


def _length(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return natural_if(part_of(context, builder, signature.args[0], arguments[0], "shape", 0))


def _read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = signature.args[0]
    return arrays.load_item(context, builder, kind, _address(context, builder, signature.args, arguments))


def _write(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    kind, _, given = signature.args
    address = _address(context, builder, signature.args, arguments)
    value = context.cast(builder, arguments[2], given, kind.dtype)
    arrays.store_item(context, builder, kind, value, address)


def _address(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
    """Where an element of an array is."""
    (kind, asked), (array, place) = kinds[:2], arguments[:2]
    several = isinstance(asked, types.BaseTuple)
    places = cgutils.unpack_tuple(builder, place, len(asked)) if several else [place]
    sizes = [part_of(context, builder, kind, array, "shape", axis) for axis in range(kind.ndim)]
    numbers = [
        number if _is_whole(number) else arrays.fix_integer_index(context, builder, each, number, size)
        for each, number, size in zip(asked.types if several else [asked], places, sizes, strict=True)
    ]
    data = part_of(context, builder, kind, array, "data")
    if kind.layout == "C":
        number = numbers[0]
        for size, inner in zip(sizes[1:], numbers[1:], strict=True):
            number = builder.add(builder.mul(number, size), inner)
        return builder.gep(data, [number])
    steps = [part_of(context, builder, kind, array, "strides", axis) for axis in range(kind.ndim)]
    offset = builder.mul(steps[0], numbers[0])
    for step, number in zip(steps[1:], numbers[1:], strict=True):
        offset = builder.add(offset, builder.mul(step, number))
    return cgutils.pointer_add(builder, data, offset)


def _is_whole(number: Any) -> bool:
    """Whether a place counts from the beginning, and is as wide as an address."""
    return bool(number.type == cgutils.intp_t) and is_natural(number)


def part_of(context: Any, builder: Any, kind: Any, array: Any, name: str, *axis: int) -> Any:
    """A part of an array: a field, or the number that it has for an axis."""
    position = context.data_model_manager[kind].get_field_position(name)
    return builder.extract_value(array, [position, *axis])

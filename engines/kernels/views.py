"""How a kernel takes a row or a stretch of an array: as Numba does, in fewer instructions.

Numba puts a slice and the array that it makes into places of their own, asks for the sign of its step, and
divides by it.  Here a slice is three numbers, one without a step takes as many as its ends are apart, and
what is taken is an array put together where it stands.  An end that is left out, or known to be natural, is
not counted from the end of the array.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from cepctl.engines.kernels.elements import part_of
from cepctl.engines.kernels.loops import is_natural, natural_if

# Without types, since Numba gives some to few of its functions.
cgutils: Any = import_module("numba.core.cgutils")
slicing: Any = import_module("numba.cpython.slicing")
types: Any = import_module("numba.core.types")

_Form = Callable[[Any, Any, Any, Any], Any]
_LAST = 2**63 - 1
"""The end of a slice whose end is left out."""


def form_of(function: Any, signature: Any) -> _Form | None:
    """What makes code of a call, where it is of a slice without a step, or takes part of an array by one."""
    asked, kinds = getattr(function, "typing_key", None), signature.args
    if asked is slice and len(kinds) == 2 and all(each in (types.intp, types.none) for each in kinds):
        return _slice
    return _taken if asked is operator.getitem and _is_part(signature.return_type, *kinds) else None


def _is_part(taken: Any, array: Any, place: Any) -> bool:
    """Whether what is taken of an array is an array, by numbers and by slices without steps."""
    if type(array) is not types.Array or type(taken) is not types.Array or array.layout not in "CA":
        return False
    places = place.types if isinstance(place, types.BaseTuple) else (place,)
    return len(places) <= array.ndim and all(map(_is_place, places))


def _is_place(kind: Any) -> bool:
    return kind == types.intp or (isinstance(kind, types.SliceType) and not kind.has_step)


def _slice(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    first, last = (
        context.get_constant(types.intp, default) if kind is types.none else given
        for kind, given, default in zip(signature.args, arguments, (0, _LAST), strict=True)
    )
    made = context.get_constant_undef(signature.return_type)
    for at, part in enumerate((first, last, context.get_constant(types.intp, 1))):
        made = builder.insert_value(made, part, at)
    return made


def _taken(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The part of an array that is taken, which is counted as another reference."""
    (kind, asked), (array, place) = signature.args, arguments
    several = isinstance(asked, types.BaseTuple)
    places = cgutils.unpack_tuple(builder, place, len(asked)) if several else [place]
    part = partial(part_of, context, builder, kind, array)
    data, sizes, steps = part("data"), list[Any](), list[Any]()
    for axis in range(kind.ndim):
        size, step = natural_if(part("shape", axis)), part("strides", axis)
        if axis >= len(places):
            sizes.append(size)
            steps.append(step)
            continue
        number = places[axis]
        if isinstance((asked.types if several else [asked])[axis], types.SliceType):
            number, length = _stretch(builder, number, size)
            sizes.append(length)
            steps.append(step)
        elif not is_natural(number):
            number = slicing.fix_index(builder, number, size)
        if kind.ndim == 1 and kind.layout == "C":
            data = builder.gep(data, [number])
        else:
            data = cgutils.pointer_add(builder, data, builder.mul(step, number))
    made = _array(context, builder, signature.return_type, sizes, steps, part, data)
    context.nrt.incref(builder, signature.return_type, made)
    return made


def _stretch(builder: Any, asked: Any, size: Any) -> tuple[Any, Any]:
    """Where a slice begins among so many, and how many it takes."""
    first, last = (_end(builder, builder.extract_value(asked, at), size) for at in (0, 1))
    if is_natural(first) and _is(first, 0):
        return first, last
    apart, zero = builder.sub(last, first), size.type(0)
    length = builder.select(builder.icmp_signed(">", apart, zero), apart, zero)
    length.natural = True
    return first, length


def _end(builder: Any, end: Any, size: Any) -> Any:
    """An end of a slice, among so many."""
    if _is(end, 0):
        return end
    if _is(end, _LAST):
        return size
    if not is_natural(end):
        end = slicing.fix_index(builder, end, size)
        end = builder.select(builder.icmp_signed("<", end, size.type(0)), size.type(0), end)
    found = builder.select(builder.icmp_signed("<", end, size), end, size)
    found.natural = True
    return found


def _is(value: Any, number: int) -> bool:
    return getattr(value, "constant", None) == number


def _array(
    context: Any, builder: Any, kind: Any, sizes: list[Any], steps: list[Any], part: Any, data: Any
) -> Any:
    """An array of these sizes in the memory of another one, of which `part` gives the parts."""
    count = sizes[0]
    for size in sizes[1:]:
        count = builder.mul(count, size, flags=["nsw"])
    made, fields = context.get_constant_undef(kind), context.data_model_manager[kind]
    own = {"nitems": count, "data": data, **{name: part(name) for name in ("meminfo", "parent", "itemsize")}}
    for name, value in own.items():
        made = builder.insert_value(made, value, fields.get_field_position(name))
    for name, values in (("shape", sizes), ("strides", steps)):
        for axis, value in enumerate(values):
            made = builder.insert_value(made, value, [fields.get_field_position(name), axis])
    return made

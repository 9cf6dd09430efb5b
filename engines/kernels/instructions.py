"""How a kernel calls another, counts through a range and reads arrays: as Numba does, in fewer instructions.

Numba gives each call a place for what went wrong, clears it, and passes on what it finds there.  Here whoever
is called tells it where its caller tells it, so that nothing has to be passed on.  A place for what is given
back is not cleared either: nobody reads it after a failure.

    Numba's                              where
    calls of one that may give None      its answer tells the two apart
    calls within `try`                   what went wrong is asked for
    calls from Python                    there is no caller that tells it

Numba puts a range and what runs through it into places of their own, and divides by the step to find out how
often the loop runs.  Here a range is three numbers, and one whose step is 1 or -1 runs as often as its ends
are apart.  Numbers that a loop counts from 0 are known to be natural, and so are their sums: as places in an
array they are not counted from its end.

To find one number Numba puts the whole of an array into a place of its own, from which it reads where its
numbers are, how many, and how far apart.  Here these are taken out of the array where it stands.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from importlib import import_module
from typing import Any

# Without types, since Numba gives some to few of its functions.
arrays: Any = import_module("numba.np.arrayobj")
callconv: Any = import_module("numba.core.callconv")
cgutils: Any = import_module("numba.core.cgutils")
debuginfo: Any = import_module("numba.core.debuginfo")
llvm_ir: Any = import_module("llvmlite.ir")
types: Any = import_module("numba.core.types")

_Form = Callable[[Any, Any, Any, Any], Any]
_TOLD_AT = llvm_ir.PointerType(callconv.excinfo_ptr_t)
_FALSE = llvm_ir.Constant(llvm_ir.IntType(1), 0)
_NUMBERS = (types.Number, types.Boolean)
_START, _STOP, _STEP = range(3)


def new_place(builder: Any, kind: Any, name: str = "") -> Any:
    """A place in memory for a value of a type, with nothing in it yet."""
    with debuginfo.suspend_emission(builder), builder.goto_entry_block():
        return builder.alloca(kind, name=name)


class KernelCalls(callconv.CPUCallConv):  # type: ignore[misc]
    """Calls of kernels, and of what Numba offers them."""

    def call_function(
        self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None
    ) -> tuple[Any, Any]:
        """Call what Numba compiled; how that went, and what it gave."""
        if attrs is not None or isinstance(resty, types.Optional) or not _tells_its_caller(builder):
            return super().call_function(builder, callee, resty, argtys, args, attrs)  # type: ignore[no-any-return]
        given = new_place(builder, self.get_return_type(resty).pointee)
        arguments = self._get_arg_packer(argtys).as_arguments(builder, args)
        told_at = self._get_excinfo_argument(builder.function)
        code = builder.call(callee, [given, told_at, *arguments])
        value = self.context.get_returned_value(builder, resty, builder.load(given))
        return _went(builder, code), value

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Leave a kernel, since one that it called failed."""
        if status.excinfoptr is None:
            self._return_errcode_raw(builder, status.code)
        else:
            super().return_status_propagate(builder, status)


def _tells_its_caller(builder: Any) -> bool:
    """Whether what is being made is a function without `try` that a kernel calls, or a kernel."""
    arguments = builder.function.args
    return not getattr(builder, "tries", True) and len(arguments) > 1 and arguments[1].type == _TOLD_AT


def _went(builder: Any, code: Any) -> Any:
    """How a call went, whose failure the caller's caller is told already."""
    return callconv.Status(
        code=code,
        is_ok=builder.icmp_signed("==", code, callconv.RETCODE_OK),
        is_none=_FALSE,
        is_error=builder.icmp_signed("!=", code, callconv.RETCODE_OK),
        is_stop_iteration=builder.icmp_signed("==", code, callconv.RETCODE_STOPIT),
        is_python_exc=builder.icmp_signed("==", code, callconv.RETCODE_EXC),
        is_user_exc=builder.icmp_signed(">=", code, callconv.RETCODE_USEREXC),
        excinfoptr=None,
    )


def form_of_range(function: Any, signature: Any) -> _Form | None:
    """What makes code of a call, where it is of a range, or of what runs through one.

    It gives NotImplemented, and makes nothing, where only Numba's own form will do.
    """
    if function == "getiter":
        return _begun if isinstance(signature.args[0], types.RangeType) else None
    if function == "iternext":
        return _next if isinstance(signature.args[0], types.RangeIteratorType) else None
    return _range if getattr(function, "typing_key", None) is range else None


def form_of_element(function: Any, signature: Any) -> _Form | None:
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


def is_natural(value: Any) -> bool:
    """Whether a number is known not to be negative."""
    if isinstance(value, llvm_ir.Constant):
        return isinstance(value.constant, int) and value.constant >= 0
    return getattr(value, "natural", False)


def natural_if(value: Any, *others: Any) -> Any:
    """A number, which is natural if others are."""
    if all(map(is_natural, others)) and isinstance(value, llvm_ir.Instruction):
        value.natural = True
    return value


def _range(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = signature.return_type
    if any(each != kind.dtype for each in signature.args):
        return NotImplemented
    constant = context.get_constant
    start, stop = (constant(kind.dtype, 0), *arguments) if len(arguments) == 1 else arguments[:2]
    step = arguments[2] if len(arguments) == 3 else constant(kind.dtype, 1)
    return context.make_tuple(builder, kind, (start, stop, step))


def _begun(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """What runs through a range from its start."""
    start, stop, step = (builder.extract_value(arguments[0], each) for each in (_START, _STOP, _STEP))
    if not isinstance(step, llvm_ir.Constant) or step.constant not in (1, -1):
        return NotImplemented
    zero = start.type(0)
    low, high = (start, stop) if step.constant == 1 else (stop, start)
    apart = high if isinstance(low, llvm_ir.Constant) and low.constant == 0 else builder.sub(high, low)
    at, left = new_place(builder, start.type), new_place(builder, start.type)
    builder.store(start, at)
    at.natural = step.constant == 1 and is_natural(start)
    builder.store(builder.select(builder.icmp_signed(">", apart, zero), apart, zero), left)
    kind = signature.return_type
    parts = {"iter": at, "stop": stop, "step": step, "count": left}
    begun = context.get_constant_undef(kind)
    for name, value in parts.items():
        begun = builder.insert_value(begun, value, _position(context, kind, name))
    return begun


def _next(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The number that a loop is at, and whether there is one; then it is at the one after."""
    kind = signature.args[0]
    at, step, left = (
        builder.extract_value(arguments[0], _position(context, kind, name))
        for name in ("iter", "step", "count")
    )
    count, found = builder.load(left), natural_if(builder.load(at), at)
    builder.store(builder.sub(count, count.type(1), flags=["nsw"]), left)
    builder.store(builder.add(found, step), at)
    is_there = builder.icmp_signed(">", count, count.type(0))
    pair = context.get_constant_undef(signature.return_type)
    return builder.insert_value(builder.insert_value(pair, found, 0), is_there, 1)


def _position(context: Any, kind: Any, name: str) -> int:
    position: int = context.data_model_manager[kind].get_field_position(name)
    return position


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

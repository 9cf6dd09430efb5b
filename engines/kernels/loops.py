"""How a kernel counts through a range: as Numba does, in fewer instructions.

Numba puts a range and what runs through it into places of their own, and divides by the step to find out how
often the loop runs.  Here a range is three numbers, and one whose step is 1 or -1 runs as often as its ends
are apart.  Numbers that a loop counts from 0 are known to be natural, and so are their sums: as places in an
array they are not counted from its end.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from cepctl.engines.kernels.calls import new_place

# Without types, since Numba gives some to few of its functions.
llvm_ir: Any = import_module("llvmlite.ir")
types: Any = import_module("numba.core.types")

_Form = Callable[[Any, Any, Any, Any], Any]
_START, _STOP, _STEP = range(3)


def form_of(function: Any, signature: Any) -> _Form | None:
    """What makes code of a call, where it is of a range, or of what runs through one.

    It gives NotImplemented, and makes nothing, where only Numba's own form will do.
    """
    if function == "getiter":
        return _begun if isinstance(signature.args[0], types.RangeType) else None
    if function == "iternext":
        return _next if isinstance(signature.args[0], types.RangeIteratorType) else None
    return _range if getattr(function, "typing_key", None) is range else None


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

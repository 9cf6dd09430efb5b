"""The processor as kernels are compiled for it: as Numba has it, with fewer instructions.

To count the references of an array, Numba takes it apart down to the number of each of its strides; of
kernels over tuples of twenty arrays that was a third of what was translated.  Here only what counts
references is taken out.  An optimiser leaves the same of both.

Arguments are taken apart as Numba does it: kernels that got arrays whole compiled a fifth faster, and ran a
tenth more slowly.  But Numba hands over seven values for an array of one axis; of one whose rows lie one
after the other most of them follow, so that it is handed over as its memory, its place and its shape.

A slice is three numbers here, one without a step takes as many as its ends are apart, and what is taken is an
array put together where it stands: Numba asks for the sign of the step, and divides by it.  An end that is
left out, or known to be natural, is not counted from the end of the array.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from cepctl.engines.kernels.instructions import (
    KernelCalls,
    form_of_element,
    form_of_range,
    is_natural,
    natural_if,
    part_of,
)
from cepctl.engines.kernels.lowering import leave_out_unused

# Without types, since Numba gives some to few of its functions.
datamodel: Any = import_module("numba.core.datamodel")
models: Any = import_module("numba.core.datamodel.models")
supported: Any = import_module("numba.np.numpy_support")
cgutils: Any = import_module("numba.core.cgutils")
slicing: Any = import_module("numba.cpython.slicing")
types: Any = import_module("numba.core.types")

_HANDED = ("meminfo", "data", "shape")


class _Array(models.ArrayModel):  # type: ignore[misc]
    """How an array stands for kernels."""

    @property
    def _follows(self) -> bool:
        """Whether all but `_HANDED` follows from it."""
        kind = self.fe_type
        return bool(kind.layout == "C" and kind.ndim) and isinstance(kind.dtype, types.Number | types.Boolean)

    def _handed(self) -> list[tuple[int, Any]]:
        return [(place, self._models[place]) for place in map(self.get_field_position, _HANDED)]

    def get_argument_type(self) -> tuple[Any, ...]:
        """The types of what is handed over."""
        if not self._follows:
            return tuple(super().get_argument_type())
        return tuple(model.get_argument_type() for _, model in self._handed())

    def as_argument(self, builder: Any, value: Any) -> tuple[Any, ...]:
        """What is handed over."""
        if not self._follows:
            return tuple(super().as_argument(builder, value))
        return tuple(model.as_argument(builder, self.get(builder, value, at)) for at, model in self._handed())

    def from_argument(self, builder: Any, value: Any) -> Any:
        """An array of what was handed over."""
        if not self._follows:
            return super().from_argument(builder, value)
        given = zip(_HANDED, self._handed(), value, strict=True)
        parts = {name: model.from_argument(builder, part) for name, (_, model), part in given}
        number = self._models[self.get_field_position("nitems")].get_value_type()
        width = number(supported.as_dtype(self.fe_type.dtype).itemsize)
        sizes = [builder.extract_value(parts["shape"], axis) for axis in range(self.fe_type.ndim)]
        count, step, steps = sizes[0], width, [width]
        for size in sizes[1:]:
            count = builder.mul(count, size, flags=["nsw"])
        for size in sizes[:0:-1]:
            step = builder.mul(step, size, flags=["nsw"])
            steps.insert(0, step)
        parent = self._models[self.get_field_position("parent")].get_value_type()
        strides = self._models[self.get_field_position("strides")].get_value_type()(models.ir.Undefined)
        for axis, each in enumerate(steps):
            strides = builder.insert_value(strides, each, axis)
        parts |= {"nitems": count, "itemsize": width, "strides": strides, "parent": parent(None)}
        array = models.ir.Constant(self.get_value_type(), models.ir.Undefined)
        for name in self._fields:
            array = self.set(builder, array, parts[name], name)
        return array


MODELS = datamodel.DataModelManager().chain(datamodel.default_manager)
"""How values of all types stand for kernels."""
MODELS.register(types.Array, _Array)


# Without types, since Numba gives some to few of its functions.
cpu: Any = import_module("numba.core.cpu")
references: Any = import_module("numba.core.runtime.context")

_counted: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
_as_it_is: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def for_kernels(target: Any, of_numba: bool = False) -> Any:
    """The target that a function is compiled for, as one for kernels; it is of this function alone.

    A function of Numba's own (`of_numba`) may call what is offered only since its compilation began.
    """
    target.__class__ = _NumbasTarget if of_numba else _KernelTarget
    target.nrt = _References(target, target.enable_nrt)
    target.data_model_manager = MODELS
    return target


class _References(references.NRTContext):  # type: ignore[misc]
    """What counts references."""

    def get_meminfos(self, builder: Any, ty: Any, val: Any) -> list[tuple[Any, Any]]:
        """As Numba finds them, but for looking into what holds none."""
        models = self._context.data_model_manager
        if not _is_counted(models, ty):
            return []
        model = models[ty]
        found = [(ty, model.get_nrt_meminfo(builder, val))] if model.has_nrt_meminfo() else []
        for kind, piece_of in model.traverse(builder):
            if _is_counted(models, kind):
                found += self.get_meminfos(builder, kind, piece_of(val))
        return found


def _is_counted(models: Any, kind: Any) -> bool:
    """Whether a value of a type holds anything whose references are counted."""
    found = _counted.get(kind)
    if found is None:
        found = _counted[kind] = models[kind].contains_nrt_meminfo()
    return found


class _KernelTarget(cpu.CPUContext):  # type: ignore[misc]
    """The processor, for kernels."""

    _looks_again = False
    """Whether registries are looked through once more for what is not found."""

    @property
    def call_conv(self) -> Any:
        """How kernels call each other."""
        return KernelCalls(self)

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """What makes code of a call; its registries were looked through when this compilation began."""
        form = form_of_range(fn, sig)
        if form is None and not self.enable_boundscheck:
            form = form_of_element(fn, sig) or _form_of_view(fn, sig)
        if form is None:
            return super().get_function(fn, sig, _firstcall=_firstcall and self._looks_again)
        return _Call(form, self, fn, sig)

    def get_numbas(self, function: Any, signature: Any) -> Any:
        """What makes code of a call of a range as Numba does; its registries offer that from the start."""
        return super().get_function(function, signature, _firstcall=False)

    def pair_first(self, builder: Any, val: Any, ty: Any) -> Any:
        """The first of a pair."""
        return builder.extract_value(val, 0)

    def pair_second(self, builder: Any, val: Any, ty: Any) -> Any:
        """The second of a pair."""
        return builder.extract_value(val, 1)

    def get_return_value(self, builder: Any, ty: Any, val: Any) -> Any:
        """What a kernel gives back, as it stands in memory."""
        return val if self._stands_as_it_is(ty) else super().get_return_value(builder, ty, val)

    def get_returned_value(self, builder: Any, ty: Any, val: Any) -> Any:
        """What a kernel gave back."""
        return val if self._stands_as_it_is(ty) else super().get_returned_value(builder, ty, val)

    def _stands_as_it_is(self, kind: Any) -> bool:
        found = _as_it_is.get(kind)
        if found is None:
            model = self.data_model_manager[kind]
            found = _as_it_is[kind] = model.get_value_type() == model.get_return_type()
        return found

    def post_lowering(self, mod: Any, library: Any) -> None:
        """Finish what was translated."""
        leave_out_unused(mod)
        super().post_lowering(mod, library)


class _NumbasTarget(_KernelTarget):
    """The processor, for what Numba offers kernels."""

    _looks_again = True


class _Call:
    """What makes code of a call."""

    libs = ()

    def __init__(self, form: Any, target: Any, function: Any, signature: Any) -> None:
        self._form = form
        self._target = target
        self._function = function
        self._signature = signature

    def __call__(self, builder: Any, arguments: Any, location: Any = None) -> Any:
        made = self._form(self._target, builder, self._signature, arguments)
        if made is NotImplemented:
            return self._target.get_numbas(self._function, self._signature)(builder, arguments)
        return made


_Form = Callable[[Any, Any, Any, Any], Any]
_LAST = 2**63 - 1
"""The end of a slice whose end is left out."""


def _form_of_view(function: Any, signature: Any) -> _Form | None:
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

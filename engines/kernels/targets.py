"""The processor as kernels are compiled for it: as Numba has it, with fewer instructions.

To count the references of an array, Numba takes it apart down to the number of each of its strides; of
kernels over tuples of twenty arrays that was a third of what was translated.  Here only what counts
references is taken out.  An optimiser leaves the same of both.

Arguments are taken apart as Numba does it, but for what follows of arrays (`handed_arrays.py`): kernels that
got them whole compiled a fifth faster, and ran a tenth more slowly.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from cepctl.engines.kernels import elements, loops, views
from cepctl.engines.kernels.calls import KernelCalls
from cepctl.engines.kernels.handed_arrays import MODELS
from cepctl.engines.kernels.lowering import leave_out_unused

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
        for kind, part_of in model.traverse(builder):
            if _is_counted(models, kind):
                found += self.get_meminfos(builder, kind, part_of(val))
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
        form = loops.form_of(fn, sig)
        if form is None and not self.enable_boundscheck:
            form = elements.form_of(fn, sig) or views.form_of(fn, sig)
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

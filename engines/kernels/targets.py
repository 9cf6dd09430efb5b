"""How a kernel counts references: as Numba does, in a fraction of the instructions.

To count the references of an array, Numba takes it apart down to the number of each of its strides; of
kernels over tuples of twenty arrays that was a third of what was translated.  Here only what counts
references is taken out.  An optimiser leaves the same of both.

Arguments are taken apart as Numba does it, too: kernels that got them whole compiled a fifth faster, and ran
a tenth more slowly.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from cepctl.engines.kernels.elements import form_of
from cepctl.engines.kernels.lowering import leave_out_unused

# Without types, since Numba gives some to few of its functions.
cpu: Any = import_module("numba.core.cpu")
references: Any = import_module("numba.core.runtime.context")

_counted: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def for_kernels(target: Any) -> Any:
    """The target that a function is compiled for, as one for kernels; it is of this function alone."""
    target.__class__ = _KernelTarget
    target.nrt = _References(target, target.enable_nrt)
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

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """What makes code of a call; its registries were looked through when this compilation began."""
        form = None if self.enable_boundscheck else form_of(fn, sig)
        if form is None:
            return super().get_function(fn, sig, _firstcall=False)
        return _Call(form, self, sig)

    def post_lowering(self, mod: Any, library: Any) -> None:
        """Finish what was translated."""
        leave_out_unused(mod)
        super().post_lowering(mod, library)


class _Call:
    """What makes code of a call."""

    libs = ()

    def __init__(self, form: Any, target: Any, signature: Any) -> None:
        self._form = form
        self._target = target
        self._signature = signature

    def __call__(self, builder: Any, arguments: Any, location: Any = None) -> Any:
        return self._form(self._target, builder, self._signature, arguments)

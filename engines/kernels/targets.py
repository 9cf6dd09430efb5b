"""How a kernel gets its arguments and counts references: as Numba does, in a fraction of the instructions.

Numba takes an argument apart, down to each number of each array in a tuple, and puts it together again in
what is called; to count the references of an array it takes all of that apart once more.  An optimiser leaves
little of this, but of kernels over tuples of twenty arrays it was more than half of what was translated.

    of an inner kernel   arguments are passed whole
    of any kernel        only what counts references is taken out to count them

Of what is called from Python the arguments are those that Numba's way in from Python passes on.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

# Without types, since Numba gives some to few of its functions.
callconv: Any = import_module("numba.core.callconv")
cpu: Any = import_module("numba.core.cpu")
references: Any = import_module("numba.core.runtime.context")

_inner: set[tuple[str, str]] = set()
_whole: set[str] = set()
"""Names of functions, as they are linked, whose arguments are whole."""
_counted: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def takes_whole_arguments(function: Any) -> None:
    """Have whatever this function becomes take its arguments whole."""
    _inner.add((function.__module__, function.__qualname__))


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

    @property
    def call_conv(self) -> Any:
        """How kernels call each other."""
        return _KernelCalls(self)

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """What makes code of a call; its registries were looked through when this compilation began."""
        return super().get_function(fn, sig, _firstcall=False)

    def declare_function(self, module: Any, fndesc: Any) -> Any:
        """Declare what is called; of inner kernels with whole arguments."""
        if (fndesc.modname, fndesc.qualname) not in _inner:
            return super().declare_function(module, fndesc)
        _whole.add(fndesc.mangled_name)
        calls = _WholeCalls(self)
        kind = calls.get_function_type(fndesc.restype, fndesc.argtypes)
        cgutils: Any = import_module("numba.core.cgutils")
        function = cgutils.get_or_insert_function(module, kind, fndesc.mangled_name)
        calls.decorate_function(function, fndesc.args, fndesc.argtypes, noalias=fndesc.noalias)
        return function


class _KernelCalls(callconv.CPUCallConv):  # type: ignore[misc]
    """Calls between kernels, and of what Numba offers."""

    def decode_arguments(self, builder: Any, argtypes: Any, func: Any) -> Any:
        """The arguments of a function."""
        calls: Any = _WholeCalls(self.context) if func.name in _whole else super()
        return calls.decode_arguments(builder, argtypes, func)

    def call_function(
        self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None
    ) -> Any:
        """Call a function."""
        calls: Any = _WholeCalls(self.context) if callee.name in _whole else super()
        return calls.call_function(builder, callee, resty, argtys, args, attrs)


class _WholeCalls(callconv.CPUCallConv):  # type: ignore[misc]
    """Calls of inner kernels."""

    def _get_arg_packer(self, argtypes: Sequence[Any]) -> _Whole:
        return _Whole(self.context.data_model_manager, argtypes)


class _Whole:
    """The arguments of a function, each in one piece; what has no parts at all is left out."""

    def __init__(self, models: Any, kinds: Sequence[Any]) -> None:
        self._models = [models[kind] for kind in kinds]
        self._parts = [model.get_argument_type() for model in self._models]
        self.argument_types = tuple(
            model.get_value_type() if _has_parts(parts) else parts
            for model, parts in zip(self._models, self._parts, strict=True)
            if parts != ()
        )

    def as_arguments(self, builder: Any, values: Sequence[Any]) -> tuple[Any, ...]:
        """What is passed for some values."""
        return tuple(
            value if _has_parts(parts) else model.as_argument(builder, value)
            for model, parts, value in zip(self._models, self._parts, values, strict=True)
            if parts != ()
        )

    def from_arguments(self, builder: Any, args: Iterable[Any]) -> list[Any]:
        """The values that were passed."""
        passed = iter(args)
        found = []
        for model, parts in zip(self._models, self._parts, strict=True):
            if _has_parts(parts):
                found.append(next(passed))
            else:
                found.append(model.from_argument(builder, () if parts == () else next(passed)))
        return found

    def assign_names(self, args: Iterable[Any], names: Sequence[str]) -> None:
        """Give arguments names, for who reads what was translated."""
        passed = iter(args)
        for parts, name in zip(self._parts, names, strict=True):
            if parts != ():
                next(passed).name = name


def _has_parts(kind: Any) -> bool:
    return isinstance(kind, (tuple, list)) and len(kind) > 0

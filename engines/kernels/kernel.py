"""Kernels: functions over columns that run as they stand, or compiled, with the same bits.

Compiling costs seconds, once for each machine; what it saves is a hundredth of a second for a small log.  So
a kernel is a function of Python first.  Its compiled form is made of a copy whose names mean the compiled
forms of other kernels: neither world knows the other, and one that is interpreted asks nothing while it runs.

Same bits is a promise of whoever writes a kernel: sums stand in the order in which they are taken, no option
lets the compiler change it, and whole numbers wrap.

    decorator       for
    kernel          what is called from Python
    inner           what only kernels call: becomes machine code with its callers (linking.py)
    inlined         what is too small to be called
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar

from cepctl.engines.kernels.stages import INSIDE, run

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

_COMPILED: dict[str, Any] = {"nogil": True, "cache": True, "no_cfunc_wrapper": True}
_INNER: dict[str, Any] = {"no_cpython_wrapper": True}
_compiled_names: dict[int, dict[str, Any]] = {}


class Kernel(Generic[Arguments, Answer]):
    """A function over columns, and its compiled form."""

    def __init__(self, function: Callable[Arguments, Answer], options: dict[str, Any]) -> None:
        self.function = function
        self.options = options
        self.name = f"{function.__module__}.{function.__qualname__}"
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.compiled: Any = None
        """Numba's form, once it was asked for."""

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        if INSIDE.kernel or named or self.options:
            return self.function(*arguments, **named)
        answer: Answer = run(self, arguments)
        return answer

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.__module__, self.__name__)

    def load(self, arguments: tuple[Any, ...]) -> bool:
        """Load what is kept of it for arguments of these types; False where nothing is, or nothing fits."""
        dispatcher = self.dispatcher()
        import numba
        from numba.core.compiler_lock import global_compiler_lock

        type_of: Any = numba.typeof
        types = tuple(type_of(each) for each in arguments)
        with global_compiler_lock:
            if types in dispatcher.overloads:
                return True
            target = dispatcher.targetctx
            kept = dispatcher._cache.kept(types, target)
            if kept is None:
                return False
            target.insert_user_function(kept.entry_point, kept.fndesc, [kept.library])
            dispatcher.add_overload(kept)
            return True

    def dispatcher(self) -> Any:
        """Numba's form of this kernel, which compiles what it has not kept."""
        if self.compiled is None:
            import numba

            from cepctl.engines.kernels.linking import CalledCompiler, InnerCompiler, compiled_once

            function = self.function
            assert isinstance(function, FunctionType)
            copy = FunctionType(
                function.__code__,
                _names_of(function.__globals__),
                function.__name__,
                function.__defaults__,
                function.__closure__,
            )
            copy.__kwdefaults__ = function.__kwdefaults__
            copy.__qualname__ = function.__qualname__
            # Names lead back here where kernels call each other.
            if self.compiled is None:
                compiler = InnerCompiler if self.options else CalledCompiler
                compile_later: Any = numba.njit(pipeline_class=compiler, **(_COMPILED | self.options))
                self.compiled = compiled_once(compile_later(copy))
        return self.compiled


def kernel(function: Callable[Arguments, Answer]) -> Kernel[Arguments, Answer]:
    """Make a kernel that is called from Python."""
    return Kernel(function, {})


def inner(function: Callable[Arguments, Answer]) -> Kernel[Arguments, Answer]:
    """Make a kernel that only kernels call: it is optimised where it is linked, not by itself."""
    return Kernel(function, _INNER)


def inlined(function: Callable[Arguments, Answer]) -> Kernel[Arguments, Answer]:
    """Make a kernel whose text takes the place of calls."""
    return Kernel(function, {"inline": "always"})


def _named(module: str, name: str) -> Any:
    from importlib import import_module

    return getattr(import_module(module), name)


def _names_of(interpreted: dict[str, Any]) -> dict[str, Any]:
    """What the names of a module mean to a compiled kernel."""
    names = _compiled_names.get(id(interpreted))
    if names is None:
        names = _compiled_names[id(interpreted)] = dict(interpreted)
        for name, value in interpreted.items():
            if isinstance(value, Kernel):
                names[name] = value.dispatcher()
    return names

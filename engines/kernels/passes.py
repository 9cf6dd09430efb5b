"""The passes of Numba over a kernel, without what no kernel needs, and what is known of types by then.

Most of the time that it takes to compile a kernel is Numba's own, in Python.  Here it does not look for what
no kernel has, such as closures and contexts; it tells nobody of each pass or lock; it finds out how long
variables live once, before code is made of them; of which type a sum of two whole numbers is it asks once in
a process; and where a slice is filled it makes no code that writes a message about two shapes.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from cepctl.engines.kernels.lowering import KernelLowering

# Without types, since Numba gives some to few of its functions.
arrays: Any = import_module("numba.np.arrayobj")
builder: Any = import_module("numba.core.compiler").DefaultPassBuilder
events: Any = import_module("numba.core.event")
extending: Any = import_module("numba.core.extending")
ir: Any = import_module("numba.core.ir")
machinery: Any = import_module("numba.core.compiler_machinery")
postproc: Any = import_module("numba.core.postproc")
transforms: Any = import_module("numba.core.transforms")
typed_passes: Any = import_module("numba.core.typed_passes")
types: Any = import_module("numba.core.types")
universal: Any = import_module("numba.np.ufunc.dufunc")

_UNIVERSAL = (np.ufunc, universal.DUFunc)
_UNUSED = frozenset(
    {
        "AnnotateTypes",
        "DumpParforDiagnostics",
        "FindLiterallyCalls",
        "InlineClosureLikes",
        "InlineOverloads",
        "LiteralPropagationSubPipelinePass",
        "LiteralUnroll",
        "MakeFunctionToJitFunction",
        "NoPythonSupportedFeatureValidation",
        "RewriteDynamicRaises",
        "WithLifting",
    }
)
"""For people, closures, contexts, literals that types follow from, messages of run time, parallel loops."""
_TOLD_TO_PEOPLE = frozenset({"AnnotateTypes", "DumpParforDiagnostics", "NoPythonSupportedFeatureValidation"})
"""What no function of Numba's own needs, either; of the others, some need each."""


class _Passes(machinery.PassManager):  # type: ignore[misc]
    """Runs passes, one after the other."""

    def _runPass(self, index: int, pss: Any, internal_state: Any) -> None:  # noqa: N802
        pss.analysis = self._analysis
        pss.run_initialization(internal_state)
        pss.run_pass(internal_state)
        pss.run_finalizer(internal_state)
        if machinery._pass_registry.get(type(pss)).mutates_CFG:
            _tidy(internal_state.func_ir)


def _tidy(function: Any) -> None:
    """Bring the blocks of a function into order; how long variables live is found when somebody asks."""
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = postproc.VariableLifetime(function.blocks)


def tidy_kernels() -> None:
    """Have Numba find out how long the variables of kernels live only where that is used."""
    processor = postproc.PostProcessor
    process = processor.run

    def run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        if emit_dels or not is_translating() or self.func_ir.is_generator:
            process(self, emit_dels, extend_lifetimes)
        else:
            _tidy(self.func_ir)

    processor.run = run


def tell_nothing_of_kernels() -> None:
    """Have Numba tell nobody of the locks that it takes for a kernel, one for every call of LLVM."""
    for name in ("start_event", "end_event"):
        setattr(events, name, _silent_while_translating(getattr(events, name)))


def _silent_while_translating(tell: Any) -> Any:
    def called(*arguments: Any, **named: Any) -> None:
        if not is_translating():
            tell(*arguments, **named)

    return called


def _shapes_differ(source: Any, target: Any) -> None:
    """What Numba calls where a slice and what it is filled with have different shapes."""
    raise NotImplementedError


@extending.overload(_shapes_differ)  # type: ignore[untyped-decorator]
def _raise_shapes_differ(source: Any, target: Any) -> Any:
    def called(source: Any, target: Any) -> None:
        raise ValueError("a slice is filled with an array of another shape")

    return called


_raised_by_numba = getattr(arrays, "raise_with_shape_context", None)  # Numba 0.61 and later
_translates = [False]


@contextmanager
def translating(whether: bool) -> Iterator[None]:
    """Meanwhile what Numba compiles is for a kernel, or is not; it compiles in one thread at a time."""
    _translates.append(whether)
    _choose_message()
    try:
        yield
    finally:
        _translates.pop()
        _choose_message()


def _choose_message() -> None:
    """Have a slice that does not fit reported as Numba does, but for kernels."""
    arrays.raise_with_shape_context = _shapes_differ if is_translating() else _raised_by_numba


def is_translating() -> bool:
    """Whether what Numba compiles now is for a kernel."""
    return _translates[-1]


def passes_of_kernels(state: Any) -> Any:
    """The passes over a kernel: the same ones for each."""
    return _passes("kernel", _UNUSED, state)


def passes_of_numbas(state: Any) -> Any:
    """The passes over a function of Numba's own that a kernel calls."""
    return _passes("numba", _TOLD_TO_PEOPLE, state)


@machinery.register_pass(mutates_CFG=True, analysis_only=False)
class KernelRewrites(typed_passes.NopythonRewrites):  # type: ignore[misc]
    """Puts sums of whole arrays together, if there are any: to look for some takes Numba long."""

    _name = "kernel_rewrites"

    def run_pass(self, state: Any) -> bool:
        """Whether anything may have changed."""
        return _has_whole_arrays(state) and bool(super().run_pass(state))


def _has_whole_arrays(state: Any) -> bool:
    """Whether a function calculates with whole arrays, makes a list, or knows a text."""
    kinds = state.typemap
    if any(isinstance(each, types.StringLiteral) for each in kinds.values()):
        return True
    for block in state.func_ir.blocks.values():
        for each in block.find_insts(ir.Assign):
            op = getattr(each.value, "op", None)
            if op == "build_list":
                return True
            if op in ("unary", "binop", "call") and isinstance(kinds.get(each.target.name), types.Array):
                called = kinds.get(each.value.func.name) if op == "call" else None
                if op != "call" or isinstance(getattr(called, "typing_key", None), _UNIVERSAL):
                    return True
    return False


_OWN = {"NativeLowering": KernelLowering, "NopythonRewrites": KernelRewrites}
_defined: dict[str, _Passes] = {}


def _passes(name: str, unused: frozenset[str], state: Any) -> _Passes:
    """All passes of Numba but some, defined once."""
    found = _defined.get(name)
    if found is None:
        found = _defined[name] = _Passes(name)
        for each, description in builder.define_nopython_pipeline(state).passes:
            if each.__name__ not in unused:
                found.add_pass(_OWN.get(each.__name__, each), description)
        found.finalize()
    return found


_known: dict[Any, Any] = {}


def know_calls_of_kernels() -> None:
    """Have Numba find out once of which type a call of one of its own functions is, and by which code."""
    function = types.Function
    find = function.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if not is_translating() or not all(map(_is_plain, (*args, *kws.values()))):
            return find(self, context, args, kws)
        key = self, tuple(args), tuple(kws.items())
        found = _known.get(key)
        if found is None:
            found = _known[key] = find(self, context, args, kws)
        return found

    function.get_call_type = get_call_type


def _is_plain(kind: Any) -> bool:
    """Whether a type says all that the type of a call follows from."""
    plain = _plain_by_class(kind.__class__)
    return all(map(_is_plain, kind.types)) if plain is None else plain


@cache
def _plain_by_class(kind: Any) -> bool | None:
    """Whether a class of types says it; None where it depends on what each of them is made of."""
    return None if issubclass(kind, types.BaseTuple) else issubclass(kind, _PLAIN)


_PLAIN = (types.Array, types.Boolean, types.NoneType, types.Number, types.NumberClass, types.SliceType)

tidy_kernels()
tell_nothing_of_kernels()
know_calls_of_kernels()

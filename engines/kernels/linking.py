"""How Numba makes machine code of kernels: each piece is optimised once, where it is called from Python.

Numba would optimise each kernel and make machine code of it, link all of that into every kernel that calls
it, and optimise it there again: in a tower of four, four times.  Nobody runs what only kernels call, so that
such a kernel stays as it was translated until it is linked.

    kernel          translated    linked with all that it calls    optimised    machine code
    called          yes           yes                              yes          yes
    inner           yes           no: it only names it             no           no

So does what Numba offers, such as the making of an array, where a kernel is the first to call it.  A kernel
is compiled once, whether it is called with constants or with variables; it counts references as `targets.py`
has it, and goes through the passes of `passes.py`.

What an optimiser does changes no bit of a result: none of its liberties with numbers is ever given.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any
from weakref import WeakValueDictionary

from cepctl.engines.kernels.passes import is_translating, passes_of_kernels, passes_of_numbas, translating
from cepctl.engines.kernels.targets import for_kernels

# Without types, since it gives some to few of its functions.
codegen: Any = import_module("numba.core.codegen")
compiler: Any = import_module("numba.core.compiler")
cpu: Any = import_module("numba.core.cpu")
environments: Any = import_module("numba.core.environment")
llvm: Any = import_module("llvmlite.binding")
types: Any = import_module("numba.core.types")

_TRANSLATED = "translated"
_ENVIRONMENT = "_ZN08NumbaEnv"
_OLD_NAMES = {"add_global_dead_code_eliminate_pass": "add_global_dce_pass"}


class _WithoutEnvironments:
    """A code generator for what is not there to be run: nothing of it is told where globals are."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def set_env(self, name: str, environment: object) -> None:
        """Nothing: whoever links the kernel tells it (`CalledLibrary`)."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)


class _Kept:
    """Code that was translated before and is kept, with a kernel that calls it."""

    _linking_libraries: tuple[Any, ...] = ()
    _reload_init: frozenset[str] = frozenset()

    def __init__(self, name: str, code: bytes) -> None:
        self.name = name
        self.code = code
        self._module: Any = None

    def _get_module_for_linking(self) -> Any:
        if self._module is None:
            self._module = llvm.parse_bitcode(self.code)
        return self._module


_kept: WeakValueDictionary[bytes, _Kept] = WeakValueDictionary()


class InnerLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that only kernels call, for them to link with that of all that it calls."""

    _shared_module: Any
    code: bytes | None = None
    """What `_get_module_for_linking` gives, as it is written."""

    @property
    def codegen(self) -> Any:
        """What makes machine code of others."""
        return _WithoutEnvironments(self._codegen)

    @property
    def has_dynamic_globals(self) -> bool:
        """Whether it holds addresses of this process, or calls what does."""
        return any(getattr(each, "_dynamic_globals", ()) for each in reached((self,)))

    def add_llvm_module(self, module: Any) -> None:
        """Take what was translated, without what is put into variables that nobody reads.

        That holds addresses of this process, such as of each kernel that is called; with one of them no
        code could be kept.
        """
        run_passes(self._codegen, module, "add_sroa_pass", "add_dead_code_elimination_pass")
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Take no more."""
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """The module itself: no machine code is made of it, so that nobody needs it otherwise."""
        self._ensure_finalized()
        if self._shared_module is None:
            for function in self._final_module.functions:
                if not function.is_declaration and function.linkage == llvm.Linkage.external:
                    function.linkage = llvm.Linkage.linkonce_odr
            self._shared_module = self._final_module
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        """None is there."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, list[tuple[str, bytes]]]:
        """What `read` reads: its own code and that of all that it calls, each with a name."""
        return self.name, _TRANSLATED, [(each.name, _code_of(each)) for each in reached((self,))]

    @classmethod
    def read(cls, generator: Any, parts: list[tuple[str, bytes]]) -> InnerLibrary:
        """What was translated before; of what several kernels call there is one in a process."""
        (name, code), *others = parts
        library = cls(generator, name)
        library._final_module = library._shared_module = llvm.parse_bitcode(code)
        library.code = code
        library._linking_libraries = [_kept.setdefault(part[1], _Kept(*part)) for part in others]
        library._finalized = True
        return library


def reached(libraries: Iterable[Any]) -> list[Any]:
    """Libraries, and all that they call, each once."""
    found: dict[Any, None] = {}
    waiting = list(libraries)[::-1]
    while waiting:
        library = waiting.pop()
        if library not in found:
            found[library] = None
            if isinstance(library, InnerLibrary):  # another is linked already with what it calls
                waiting += library._linking_libraries[::-1]
    return list(found)


def _code_of(library: Any) -> bytes:
    code: bytes | None = getattr(library, "code", None)
    if code is None:
        code = library._get_module_for_linking().as_bitcode()
        if isinstance(library, InnerLibrary):
            library.code = code
    return code


def run_passes(generator: Any, module: Any, *names: str) -> None:
    """Run passes of LLVM over a module."""
    last = (generator._pass_builder(opt=0),) if hasattr(generator, "_pass_builder") else ()
    if last:
        passes = llvm.newpassmanagers.create_new_module_pass_manager()
    else:  # llvmlite before 0.45
        passes = llvm.create_module_pass_manager()
    for name in names:
        getattr(passes, _OLD_NAMES.get(name, name) if not last else name)()
    passes.run(module, *last)


class CalledLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that is called from Python, with all that it calls."""

    def _optimize_final_module(self) -> None:
        """Optimise what is called alone: Numba's own functions come with ways in from Python.

        Loops stay as they are written: unrolled, or with several turns at once, no query was faster, and half
        of the time that LLVM takes went into that.
        """
        run_passes(self._codegen, self._final_module, "add_global_dead_code_eliminate_pass")
        if not hasattr(self._codegen, "_pass_builder"):  # llvmlite before 0.45
            super()._optimize_final_module()
            return
        few = {"opt": self._codegen._opt_level, "loop_vectorize": False, "slp_vectorize": False}
        passes, builder = self._codegen._module_pass_manager(cost="cheap", **few)
        passes.run(self._final_module, builder)
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
        builder = llvm.create_pass_builder(self._codegen._tm, options)
        passes = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(self._final_module, builder)

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                environment = environments.lookup_environment(variable.name)
                if environment is not None:
                    self._codegen.set_env(variable.name, environment)


class CalledCompiler(compiler.Compiler):  # type: ignore[misc]
    """Compiles what is called from Python."""

    library: type[Any] = CalledLibrary

    def compile_extra(self, func: Any) -> Any:
        """As Numba does, into a library of this kind."""
        generator = self.state.targetctx.codegen()
        self.state.targetctx = for_kernels(self.state.targetctx)
        self.state.library = self.library(generator, func.__qualname__)
        self.state.library.enable_object_caching()
        with translating(True):
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """The passes over what is compiled."""
        return [passes_of_kernels(self.state)]


class InnerCompiler(CalledCompiler):
    """Compiles what only kernels call."""

    library = InnerLibrary


def translate_for_kernels() -> None:
    """Have Numba make no machine code of its own functions that kernels link, and few instructions."""
    generator = codegen.JITCPUCodegen
    create = generator.create_library

    def create_library(self: Any, name: str, **options: Any) -> Any:
        return InnerLibrary(self, name) if is_translating() else create(self, name, **options)

    generator.create_library = create_library
    define = compiler.Compiler.define_pipelines

    def define_pipelines(self: Any) -> list[Any]:
        if not is_translating():
            return list(define(self))
        for_kernels(self.state.targetctx, of_numba=True)
        return [passes_of_numbas(self.state)]

    compiler.Compiler.define_pipelines = define_pipelines


def make_no_way_into_inner_code() -> None:
    """Have Numba make no way in from Python, or from C, for what only kernels call."""
    for name in ("create_cfunc_wrapper", "create_cpython_wrapper"):
        setattr(cpu.CPUContext, name, _unless_inner(getattr(cpu.CPUContext, name)))


def _unless_inner(make: Any) -> Any:
    def made(self: Any, library: Any, *arguments: Any, **named: Any) -> None:
        if not isinstance(library, InnerLibrary):
            make(self, library, *arguments, **named)

    return made


def link_all_that_is_called() -> None:
    """Have Numba link what is called at whatever depth, where the first that is called only names it."""

    def add_linking_library(self: Any, library: Any) -> None:
        library._ensure_finalized()
        self._linking_libraries += (library,) if isinstance(self, InnerLibrary) else reached((library,))

    codegen.CPUCodeLibrary.add_linking_library = add_linking_library


def compiled_once(dispatcher: Any) -> Any:
    """A kernel that has one form for constants and variables among its arguments.

    Numba would compile it again for each constant that it is called with, and all that it calls with that.
    """
    template = dispatcher.get_call_template

    def of_variables(arguments: Any, named: Any) -> Any:
        plain = {name: _variable(each) for name, each in named.items()}
        return template(tuple(map(_variable, arguments)), plain)

    dispatcher.get_call_template = of_variables
    return dispatcher


def _variable(given: Any) -> Any:
    """The type of a variable that may hold a constant."""
    return given.literal_type if isinstance(given, types.Literal) else given


def read_translated() -> None:
    """Have Numba read kernels that were kept without machine code."""
    code = codegen.CPUCodeLibrary
    read = code._unserialize.__func__

    def unserialize(cls: Any, generator: Any, state: Any) -> Any:
        if state[1] == _TRANSLATED:
            return InnerLibrary.read(generator, state[2])
        with translating(False):
            return read(cls, generator, state)

    code._unserialize = classmethod(unserialize)


link_all_that_is_called()
make_no_way_into_inner_code()
read_translated()
translate_for_kernels()

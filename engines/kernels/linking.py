"""How Numba makes machine code of kernels: each piece is optimised once, where it is called from Python.

Numba would optimise each kernel and make machine code of it, link all of that into every kernel that calls
it, and optimise it there again: in a tower of four, four times.  Nobody runs what only kernels call, so that
such a kernel stays as it was translated until it is linked.

    kernel          translated    linked with what it calls    optimised    machine code
    called          yes           yes                          yes          yes
    inner           yes           yes                          no           no

So does what Numba offers, such as the making of an array, where a kernel is the first to call it.  A kernel
is compiled once, whether it is called with constants or with variables; it counts references as `targets.py`
has it, and goes through the passes of `passes.py`.

What an optimiser does changes no bit of a result: none of its liberties with numbers is ever given.

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cepctl.engines.kernels.passes import is_translating, passes_of_kernels, translating, typing_of_kernels
from cepctl.engines.kernels.targets import for_kernels

# Without types, since it gives some to few of its functions.
codegen: Any = import_module("numba.core.codegen")
compiler: Any = import_module("numba.core.compiler")
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


class InnerLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that only kernels call, and of what it calls, for them to link."""

    _shared_module: Any

    @property
    def codegen(self) -> Any:
        """What makes machine code of others."""
        return _WithoutEnvironments(self._codegen)

    def add_llvm_module(self, module: Any) -> None:
        """Take what was translated, without what is put into variables that nobody reads.

        That holds addresses of this process, such as of each kernel that is called; with one of them no
        code could be kept.
        """
        self._run(module, "add_sroa_pass", "add_dead_code_elimination_pass")
        self._final_module.link_in(module)

    def finalize(self) -> None:
        """Link what it calls, without the ways in from Python that come with what Numba offers."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(self, "_reload_init"):  # Numba 0.61 and later
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._run(self._final_module, "add_global_dead_code_eliminate_pass")
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

    def _run(self, module: Any, *names: str) -> None:
        """Run passes of LLVM over a module."""
        last = (self._codegen._pass_builder(opt=0),) if hasattr(self._codegen, "_pass_builder") else ()
        if last:
            passes = llvm.newpassmanagers.create_new_module_pass_manager()
        else:  # llvmlite before 0.45
            passes = llvm.create_module_pass_manager()
        for name in names:
            getattr(passes, _OLD_NAMES.get(name, name) if not last else name)()
        passes.run(module, *last)

    def get_pointer_to_function(self, name: str) -> int:
        """None is there."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What `_read` reads."""
        return self.name, _TRANSLATED, self._get_module_for_linking().as_bitcode()

    @classmethod
    def read(cls, generator: Any, name: str, code: bytes) -> InnerLibrary:
        """What was translated before."""
        library = cls(generator, name)
        library._final_module = library._shared_module = llvm.parse_bitcode(code)
        library._finalized = True
        return library


class CalledLibrary(codegen.JITCodeLibrary):  # type: ignore[misc]
    """The code of a kernel that is called from Python, with all that it calls."""

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
        self.state.typingctx = typing_of_kernels(self.state.typingctx)
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
    """Have Numba make no machine code of its own functions that kernels link."""
    generator = codegen.JITCPUCodegen
    create = generator.create_library

    def create_library(self: Any, name: str, **options: Any) -> Any:
        return InnerLibrary(self, name) if is_translating() else create(self, name, **options)

    generator.create_library = create_library


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
            return InnerLibrary.read(generator, state[0], state[2])
        with translating(False):
            return read(cls, generator, state)

    code._unserialize = classmethod(unserialize)


read_translated()
translate_for_kernels()

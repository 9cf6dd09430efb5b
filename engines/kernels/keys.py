"""What a compiled kernel is found by: all that its machine code follows from, wherever it lies.

    content      the byte code of the kernel and of every kernel that it calls, however far, the constants
                 that they close over, the fields of their named tuples, and how each is compiled
    compilers    versions of Python, NumPy, Numba and LLVM, their settings that change code, and the modules
                 here that make it
    processor    its platform, name and features
    signature    the types of the arguments

Paths and times are not among it: a kernel that was copied to another machine is found there if all this
holds, and one that was compiled for any processor of a platform (`NUMBA_CPU_NAME=generic`) is found on all
machines of that platform, where none is kept for their own.  A kernel whose code follows from something that
is not known here has no key, and is not kept.

Runs before Numba is imported: imports the standard library only.

Names of compiled functions are no other process's.  Numba numbers the functions that it compiles, 1, 2, 3 in
each process, because functions of one name and one type may differ in what they close over: sorting and
finding an order are both "run_quicksort1".  Kernels that several processes compiled meet in one.  There a
name means one function, the first of that name, so that a kernel would call the function of another, and
compute wrong numbers without an error.  So each process counts from a random number of 64 bits on.
"""

from __future__ import annotations

import hashlib
import os
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import metadata
from itertools import count
from types import CodeType, ModuleType
from typing import Any

_COMPILERS = ("llvmlite", "numba", "numpy")
_SETTINGS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE", "USING_SVML")
_MAKERS = ("instructions", "linking", "lowering", "passes", "targets")
"""The modules beside this one that make code of kernels: by one of them kernels can call each other."""
OWN, ANY, OTHERS = "for this processor", "for any processor of the platform", "for other machines or versions"
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))
_DECORATORS = "cepctl.engines.kernels.kernel"
"""No compiled code can call what decorates it: where it is named, a field has the same name."""
_VERSIONED = ("numpy", "math", "builtins")
"""Whatever these modules offer follows from the versions of the compilers."""


class UnknownContentError(Exception):
    """A kernel uses something whose content is not known here."""


def key_of(kernel: Any, signature: Any, processor: Iterable[object]) -> str:
    """What a kernel, a dispatcher of Numba, is found by for arguments of some types.

    Raises
    ------
    UnknownContentError
        If its machine code may follow from more than that.
    """
    return "\n".join(
        [
            name_of(kernel),
            f"content {content_of(kernel)}",
            *_machine(processor),
            f"signature {_signature(signature)}",
        ]
    )


def any_processor(processor: Sequence[object]) -> tuple[object, str, str]:
    """What stands for all processors of the platform of one: its name and its features are not used."""
    return processor[0], "generic", ""


def use_of(key: str) -> str:
    """On which machines what has this key is found.

    Returns
    -------
    str
        OWN where it was compiled for the processor of this one, ANY for whatever processor of its platform,
        and OTHERS where it is not found here.
    """
    from numba.core.registry import cpu_target

    processor = cpu_target.target_context.codegen().magic_tuple()
    machine = key.split("\n")[2:4]
    if machine == _machine(any_processor(processor)):
        return ANY
    return OWN if machine == _machine(processor) else OTHERS


def _machine(processor: Iterable[object]) -> list[str]:
    """The lines of a key that say what compiles, and for what."""
    return [f"compilers {compilers()}", f"processor {' '.join(map(str, processor))}"]


def name_of(kernel: Any) -> str:
    """Module and name of a kernel, without the package that all of them are in."""
    function = kernel.py_func
    return f"{function.__module__.removeprefix('cepctl.engines.')}.{function.__qualname__}"


def content_of(kernel: Any) -> str:
    """A digest of the code and constants that a kernel reaches, each as it was when first asked for.

    A kernel is compiled with the constants of that moment; those that call it later hold a copy of that.
    """
    own, *reached = (_own_content(each)[0] for each in _reached(kernel))
    text = "\0".join([own, *sorted(reached)])
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=32).hexdigest()


def is_unchanged(kernel: Any) -> bool:
    """Whether what a kernel reaches still is what it was when its content was first asked for."""
    return all(_own_content.__wrapped__(each) == _own_content(each) for each in _reached(kernel))


def _reached(kernel: Any) -> list[Any]:
    """A kernel, and those that it calls, however far."""
    reached = [kernel]
    for each in reached:
        reached += [callee for callee in _own_content(each)[1] if callee not in reached]
    return reached


@cache
def compilers() -> str:
    """What compiles here."""
    from numba.core import config

    versions = [f"{package} {metadata.version(package)}" for package in _COMPILERS]
    settings = [f"{name}={getattr(config, name, None)}" for name in _SETTINGS]
    return ", ".join([str(sys.implementation.cache_tag), *versions, *settings, SCHEME, made_by()])


@cache
def made_by() -> str:
    """A digest of what makes code of kernels here."""
    digest = hashlib.blake2b(digest_size=16)
    for name in _MAKERS:
        digest.update(pkgutil.get_data(__package__, f"{name}.py") or b"")
    return f"made by {digest.hexdigest()}"


@cache
def _own_content(kernel: Any) -> tuple[str, tuple[Any, ...]]:
    """The content of one kernel, and the kernels that it calls."""
    function, called = kernel.py_func, list[Any]()
    options = sorted((name, _described(value, called)) for name, value in kernel.targetoptions.items())
    closed_over = [cell.cell_contents for cell in function.__closure__ or ()]
    bound = [function.__defaults__, function.__kwdefaults__, *closed_over]
    known = {
        name: function.__globals__[name]
        for code in _codes(function.__code__)
        for name in code.co_names
        if name in function.__globals__
    }
    constants = [f"{name} {_described(value, called)}" for name, value in sorted(known.items())]
    values = [_described(value, called) for value in (*bound, function.__code__)]
    return repr((name_of(kernel), options, values, constants)), tuple(dict.fromkeys(called))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of those that are defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _described(value: Any, called: list[Any]) -> str:
    """A value that machine code may hold, in words that no other value has."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, _PLAIN):
        return f"{kind} {value!r}"
    if isinstance(value, CodeType):
        return _described_code(value, called)
    if isinstance(value, (tuple, list)):
        return f"{kind} [{', '.join(_described(each, called) for each in value)}]"
    if isinstance(value, (set, frozenset)):
        return f"{kind} {sorted(_described(each, called) for each in value)}"
    if isinstance(value, dict):
        return (
            f"{kind} {[(_described(name, called), _described(each, called)) for name, each in value.items()]}"
        )
    if hasattr(value, "py_func"):
        called.append(value)
        return f"kernel {name_of(value)}"
    if isinstance(value, type):
        return _described_class(value, called)
    if hasattr(value, "tobytes") and not value.dtype.hasobject:
        return f"{kind} {value.dtype.str} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, ModuleType) and value.__name__ in _VERSIONED:
        return f"module {value.__name__}"
    if callable(value) and (_is_versioned(value) or value.__module__ == _DECORATORS):
        return f"{value.__module__}.{value.__qualname__}"
    raise UnknownContentError(f"a {kind}")


def _described_code(code: CodeType, called: list[Any]) -> str:
    """Byte code without what tells where it stands: its file and its lines."""
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    constants = [_described(constant, called) for constant in code.co_consts]
    return repr(("code", code.co_name, code.co_code, names, counts, constants, code.co_exceptiontable))


def _described_class(value: type, called: list[Any]) -> str:
    """A class by its name: a named tuple with its fields, or one whose version is known."""
    name = f"class {value.__module__}.{value.__qualname__}"
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return f"{name} {value._fields} {_described(value._field_defaults, called)}"  # type: ignore[attr-defined]
    if _is_versioned(value):
        return name
    raise UnknownContentError(name)


def _is_versioned(value: Any) -> bool:
    module = getattr(value, "__module__", None) or ""
    return hasattr(value, "__qualname__") and module.partition(".")[0] in _VERSIONED


def _signature(signature: Any) -> str:
    """The types of arguments, and of the result where that is asked for."""
    returned = getattr(signature, "return_type", None)
    types = ", ".join(_type(each) for each in getattr(signature, "args", signature))
    return f"({types})" if returned is None else f"({types}) -> {_type(returned)}"


def _type(given: Any) -> str:
    """A type of Numba; one that is made of others names them, and named tuples their fields."""
    if hasattr(given, "dispatcher"):
        raise UnknownContentError("a function as an argument")
    parts = [_type(each) for each in getattr(given, "types", ())]
    fields = getattr(given, "fields", ())
    if not parts:
        return f"{type(given).__name__} {given}"
    named = getattr(given, "instance_class", tuple)
    return f"{type(given).__name__} {named.__module__}.{named.__qualname__} {fields} ({', '.join(parts)})"


SCHEME = "names of one process each"
"""Tells kernels whose functions are named so from older ones."""
_COUNTED = 32  # bits: what one process compiles is numbered within these
_counters: list[Any] = []


def name_uniquely(identity: Any) -> None:
    """Have Numba's identities of functions, a class, count so, in this process and in those it forks."""
    if not _counters:
        os.register_at_fork(after_in_child=_begin_anew)
    if identity not in _counters:
        _counters.append(identity)
    _begin_anew()


def _begin_anew() -> None:
    for identity in _counters:
        identity._unique_ids = count(int.from_bytes(os.urandom(8), "little") << _COUNTED)

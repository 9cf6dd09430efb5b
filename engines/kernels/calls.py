"""How a kernel calls another: as Numba does, in a fraction of the instructions.

Numba gives each call a place for what went wrong, clears it, and passes on what it finds there.  Here whoever
is called tells it where its caller tells it, so that nothing has to be passed on.  A place for what is given
back is not cleared either: nobody reads it after a failure.

    Numba's                              where
    calls of one that may give None      its answer tells the two apart
    calls within `try`                   what went wrong is asked for
    calls from Python                    there is no caller that tells it

Imported with Numba, when the first compiled form is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Without types, since Numba gives some to few of its functions.
callconv: Any = import_module("numba.core.callconv")
debuginfo: Any = import_module("numba.core.debuginfo")
llvm_ir: Any = import_module("llvmlite.ir")
types: Any = import_module("numba.core.types")

_TOLD_AT = llvm_ir.PointerType(callconv.excinfo_ptr_t)
_FALSE = llvm_ir.Constant(llvm_ir.IntType(1), 0)


def new_place(builder: Any, kind: Any, name: str = "") -> Any:
    """A place in memory for a value of a type, with nothing in it yet."""
    with debuginfo.suspend_emission(builder), builder.goto_entry_block():
        return builder.alloca(kind, name=name)


class KernelCalls(callconv.CPUCallConv):  # type: ignore[misc]
    """Calls of kernels, and of what Numba offers them."""

    def call_function(
        self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None
    ) -> tuple[Any, Any]:
        """Call what Numba compiled; how that went, and what it gave."""
        if attrs is not None or isinstance(resty, types.Optional) or not _tells_its_caller(builder):
            return super().call_function(builder, callee, resty, argtys, args, attrs)  # type: ignore[no-any-return]
        given = new_place(builder, self.get_return_type(resty).pointee)
        arguments = self._get_arg_packer(argtys).as_arguments(builder, args)
        told_at = self._get_excinfo_argument(builder.function)
        code = builder.call(callee, [given, told_at, *arguments])
        value = self.context.get_returned_value(builder, resty, builder.load(given))
        return _went(builder, code), value

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        """Leave a kernel, since one that it called failed."""
        if status.excinfoptr is None:
            self._return_errcode_raw(builder, status.code)
        else:
            super().return_status_propagate(builder, status)


def _tells_its_caller(builder: Any) -> bool:
    """Whether what is being made is a function without `try` that a kernel calls, or a kernel."""
    arguments = builder.function.args
    return not getattr(builder, "tries", True) and len(arguments) > 1 and arguments[1].type == _TOLD_AT


def _went(builder: Any, code: Any) -> Any:
    """How a call went, whose failure the caller's caller is told already."""
    return callconv.Status(
        code=code,
        is_ok=builder.icmp_signed("==", code, callconv.RETCODE_OK),
        is_none=_FALSE,
        is_error=builder.icmp_signed("!=", code, callconv.RETCODE_OK),
        is_stop_iteration=builder.icmp_signed("==", code, callconv.RETCODE_STOPIT),
        is_python_exc=builder.icmp_signed("==", code, callconv.RETCODE_EXC),
        is_user_exc=builder.icmp_signed(">=", code, callconv.RETCODE_USEREXC),
        excinfoptr=None,
    )

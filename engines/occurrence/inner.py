"""Options of kernels that only kernels call: without a way in from Python they compile in half the time."""

from __future__ import annotations

from typing import Any

INNER: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

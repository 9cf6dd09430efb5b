"""Names of compiled functions that no other process gives to another function.

Numba numbers the functions that it compiles, 1, 2, 3 in each process, because functions of one name and one
type may differ in what they close over: sorting and finding an order are both "run_quicksort1".
Kernels that several processes compiled meet in one.  There a name means one function, the first of that name,
so that a kernel would call the function of another, and compute wrong numbers without an error.

So each process counts from a random number of 64 bits on.
"""

from __future__ import annotations

import os
from itertools import count
from typing import Any

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

"""What compiling costs the first query of its kind on a machine, in seconds of one core.

Every kernel that the query calls is compiled, in a process of its own that finds none kept.  A first match
asks for less: it interprets what takes no time, and has the others compiled beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

from first_once import QUERIES
from measuring import in_process
from results import CheckFailed, Goal, Row, Setup, Timing

_MOST = {"next match": 15.0, "GROUP BY": 8.0}


def first_answers(setup: Setup) -> Iterator[Row]:
    """One row for each query; of a quick bench, for those that have a goal."""
    for query in QUERIES:
        if setup.quick and query not in _MOST:
            continue
        folder = setup.folder / f"kernels of {query}"
        told = in_process("first_once.py", query, folder)
        if not told["same"]:
            raise CheckFailed(f"{query}: rows of three keys differ from those that are interpreted")
        seconds, most = told["seconds"], _MOST.get(query)
        yield Row(
            query, Timing(seconds, seconds, 1), told["kernels"], "compiled functions",
            ratio=None if most is None else seconds / most, against="" if most is None else f"{most:g} s",
            goal=None if most is None else Goal("at most", 1), checked="three keys interpreted",
        )  # fmt: skip

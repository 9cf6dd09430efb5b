"""The hint after a match that had to compile kernels: how nobody has to wait for them."""

from __future__ import annotations

import sys

from cepctl.cli.output.notices import say
from cepctl.matching.execution import Execution
from cepctl.render.counting import counted


def hint_at_kernels(execution: Execution) -> None:
    """Tell a person who had to wait for kernels to be compiled how nobody has to."""
    if execution.runner.on_spark or not sys.stderr.isatty():
        return
    from cepctl.process.doctor.warming import compiled_here

    compiled = compiled_here()
    if compiled:
        kernels = counted(compiled, "kernel")
        say(
            "hint",
            f"{kernels} had to be compiled, and are kept; cepctl doctor --warm compiles all at once",
        )

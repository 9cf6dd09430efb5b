"""Hints after a match that took longer than it had to: what would have been quicker."""

from __future__ import annotations

import sys

import click
from click.core import ParameterSource

from cepctl.cli.output.notices import say
from cepctl.errors import CepctlError
from cepctl.matching.run import LOCAL_EVENTS, Execution
from cepctl.render.counting import counted


def hint_at_runner(execution: Execution, events: int) -> None:
    """Name `auto` where Spark was only the default, and the archive that lets Spark start sooner."""
    on_spark = execution.runner.on_spark and execution.engine == "event"
    asked = click.get_current_context().get_parameter_source("runner") is not ParameterSource.DEFAULT
    if asked or not on_spark or events > LOCAL_EVENTS:
        return
    hint = (
        f"{events:,} events need no Spark: --runner auto (CEPCTL_RUNNER=auto) takes it above "
        f"{LOCAL_EVENTS:,}, and writes the same bytes"
    )
    say("hint", hint if _starts_warm() else f"{hint}; cepctl doctor --warm makes Spark start sooner")


def _starts_warm() -> bool:
    from cepctl.spark.java import find_java
    from cepctl.spark.java_classes import archives_of

    try:
        return bool(archives_of(find_java()))
    except CepctlError:
        return True


def hint_at_kernels(execution: Execution) -> None:
    """Tell a person who had to wait for kernels to be compiled how nobody has to."""
    if execution.runner.on_spark or not sys.stderr.isatty():
        return
    from cepctl.doctor.warming import compiled_here

    compiled = compiled_here()
    if compiled:
        kernels = counted(compiled, "kernel")
        say(
            "hint",
            f"{kernels} had to be compiled, and are kept; cepctl doctor --warm compiles all at once",
        )

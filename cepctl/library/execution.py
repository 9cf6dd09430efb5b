"""Where the work of a call is done: this process, or Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cepctl.errors import UsageError
from cepctl.library.options import require_choice
from cepctl.matching.execution import AUTO, Execution, RunnerChoice
from cepctl.plan.choices import Engine
from cepctl.runners.kinds import RUNNERS
from cepctl.runners.spark.session import session_runs
from cepctl.runners.spark.settings import DEFAULT_MASTER, require_master

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def execution_of(
    engine: Engine,
    runner: str,
    spark: SparkSession | None,
    master: str | None,
    conf: Mapping[str, str] | None,
) -> Execution:
    """By which engine a query is run, and where; raises as `runner_of` does."""
    return Execution(engine, runner_of(runner, spark, master, conf), verbose=False)


def runner_of(
    runner: str, spark: SparkSession | None, master: str | None, conf: Mapping[str, str] | None
) -> RunnerChoice:
    """Where the work is done: on Spark where a session runs, unless the user says otherwise.

    Raises
    ------
    UsageError
        If the options do not fit together, or the session does not run.
    """
    require_choice("runner", runner, (AUTO, *RUNNERS))
    named = RUNNERS.get(runner)
    if named is not None and not named.of_spark and (spark, master, conf) != (None, None, None):
        raise UsageError(f"spark, master and conf are for Spark; with runner={runner!r} none is used")
    if spark is not None:
        _require_running(spark)
    wanted = runner
    if named is None:
        wanted = "spark" if spark is not None or session_runs() else "local"
    on_spark = RUNNERS[wanted].of_spark
    if not on_spark and not (master is None and conf is None):
        raise UsageError("master and conf say how Spark is started; add runner='spark'")
    if on_spark and session_runs() and not (master is None and conf is None):
        raise UsageError(
            "a Spark session runs already, with its own master and settings; leave out master, conf"
        )
    chosen = require_master(master or DEFAULT_MASTER)
    return RunnerChoice(wanted, chosen, tuple((conf or {}).items()))


def _require_running(spark: SparkSession) -> None:
    context = getattr(type(spark), "sparkContext", None)
    if context is None or type(spark).__module__.startswith("pyspark.sql.connect"):
        raise UsageError(
            "spark is not a session of this process, such as SparkSession.builder.getOrCreate() gives; with "
            "Spark Connect use runner='local'"
        )
    if not session_runs():
        raise UsageError("the Spark session was stopped; start it again, or leave spark out")

"""The Spark session: started quietly, with this interpreter as worker and standard output kept clean.

The Java process writes to its standard output, and a match prints its rows to ours: whatever the
Java process says is sent to standard error instead, without the lines that only make noise.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

from cepctl.atomic.folders import temporary_folder
from cepctl.errors import JobError
from cepctl.runners.spark.interrupts import interrupts_held_back, own_interrupts
from cepctl.runners.spark.java import Java, find_java
from cepctl.runners.spark.java_classes import using_options
from cepctl.runners.spark.java_output import JavaOutput
from cepctl.runners.spark.settings import (
    DEFAULT_MASTER,
    JAVA_OPTIONS,
    QUIET,
    is_local,
    require_master,
    require_reachable,
    settings,
)

if TYPE_CHECKING:
    from pyspark import SparkConf, SparkContext


_LOGGING = """
rootLogger.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
appender.console.type = Console
appender.console.name = stderr
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c{{1}}: %m%n%ex
"""

_GATEWAY_OF_SUBMIT = "PYSPARK_GATEWAY_PORT"


def tasks_at_once(context: SparkContext) -> int:
    """Tasks that share the memory of one machine."""
    if is_local(str(context.master)):
        return int(context.defaultParallelism)
    return int(context.getConf().get("spark.executor.cores", str(os.cpu_count())) or 1)


def require_startable(master: str) -> None:
    """Raise UsageError or JobError where no session can be started on a master; quick.

    Under spark-submit the master is that of the submitted program.
    """
    _require_pyspark()
    if _GATEWAY_OF_SUBMIT not in os.environ:
        require_reachable(require_master(master))


def why_not_startable() -> str | None:
    """Why no session can be started here, in one line; None where one can."""
    from cepctl.runners.spark.java import find_java

    try:
        _require_pyspark()
        find_java()
    except JobError as problem:
        return str(problem)
    return None


def _require_pyspark() -> None:
    """Raise JobError where PySpark is not installed, which an installation may do without."""
    if find_spec("pyspark") is None:
        raise JobError(
            "PySpark is not installed here; install it (pip install pyspark), or do without it: "
            "--runner local"
        )


def session_runs() -> bool:
    """Whether this process has a Spark context, other than one that is being stopped; imports no PySpark."""
    _wait_until_stopped()
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return context is not None and context._active_spark_context is not None


class HasContext(Protocol):
    """What tasks are run by: a SparkSession of PySpark, or a `Session`."""

    @property
    def sparkContext(self) -> SparkContext: ...  # noqa: N802  (PySpark's name)


@dataclass(frozen=True)
class Session:
    """A Spark context where PySpark has a session: without Spark SQL, half of what Java would load."""

    sparkContext: SparkContext  # noqa: N815  (PySpark's name)

    @property
    def version(self) -> str:
        """The version of Spark."""
        return str(self.sparkContext.version)


@contextmanager
def spark_session(
    master: str = DEFAULT_MASTER, conf: Sequence[tuple[str, str]] = (), *, verbose: bool = False
) -> Iterator[Session]:
    """A Spark session for one command, stopped at its end; one that is already active is used as it is.

    Under spark-submit it is that of the submitted program.

    `master`: URL of the Spark master.  `conf`: settings of the user.  `verbose`: whether warnings are shown,
    not only its fatal errors.

    Raises
    ------
    UsageError
        If the master is badly written.
    JobError
        If there is no suitable Java (the message says how to get one), the master cannot be reached, or Spark
        does not start.
    """
    _require_pyspark()
    from pyspark import SparkContext

    _wait_until_stopped()
    active = SparkContext._active_spark_context
    if active is not None:
        yield Session(active)
        return
    if _GATEWAY_OF_SUBMIT in os.environ:
        context = _submitted(master, conf)
    else:
        require_startable(master)
        context = _start(master, settings(master, conf), verbose=verbose)
    try:
        yield Session(context)
    except BaseException:
        # What ends this process may have ended Java, too, and is what is to be told.
        with suppress(Exception):
            context.stop()
        raise
    if is_local(str(context.master)):
        _stop_aside(context)
    else:
        context.stop()


_stopping: list[threading.Thread] = []
_ONLY_ONE = "Only one SparkContext"
_LEFT_SECONDS, _LOOK_SECONDS = 60.0, 0.1


def _stop_aside(context: SparkContext) -> None:
    """Stop a context of this machine while rows are written; with the process it ends in any case."""

    def stop() -> None:
        with suppress(Exception):
            context.stop()

    thread = threading.Thread(target=stop, daemon=True)
    _stopping.append(thread)
    thread.start()


def _wait_until_stopped() -> None:
    for thread in [*_stopping]:
        # It stays in the list until it is over: other threads of this process wait for it, too.
        thread.join()
        with suppress(ValueError):
            _stopping.remove(thread)


def _gateway_left() -> Any:
    """The way to the Java process of earlier sessions of this process; None where none runs."""
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is not None and process.poll() is not None:
        gateway = SparkContext._gateway = SparkContext._jvm = None
    return gateway


def _new_context(conf: SparkConf, gateway: Any) -> SparkContext:
    """A context; what Java still has of an earlier session of this process is stopped first.

    Java can have one at a time.  Where Python knows of none, its stop was cut short or is not over yet.
    """
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkContext

    until = time.monotonic() + _LEFT_SECONDS
    while True:
        try:
            return SparkContext(conf=conf, gateway=gateway)
        except Py4JJavaError as problem:
            if _ONLY_ONE not in str(problem) or time.monotonic() > until:
                raise
        gateway.jvm.org.apache.spark.SparkContext.getOrCreate().stop()
        time.sleep(_LOOK_SECONDS)


def _submitted(master: str, conf: Sequence[tuple[str, str]]) -> SparkContext:
    """The context of a program that spark-submit has started: its master, its archives, its Java process."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    launch: Callable[..., Any] = launch_gateway
    gateway = SparkContext._gateway or launch()
    chosen = SparkConf(loadDefaults=True, _jvm=gateway.jvm)
    given = chosen.get("spark.master", DEFAULT_MASTER)
    if master not in (DEFAULT_MASTER, given):
        raise JobError(f"--master {master} disagrees with spark-submit, which runs on {given}; leave one out")
    chosen.setAll([*QUIET.items(), *conf])
    return SparkContext(conf=chosen, gateway=gateway)


def _start(master: str, chosen: dict[str, str], *, verbose: bool) -> SparkContext:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf

    java = find_java()
    with _environment(java, master, chosen), temporary_folder() as directory:
        logging = directory / "log4j2.properties"
        logging.write_text(_LOGGING.format(level="warn" if verbose else "fatal"))
        # The user's options come last, so that they win.
        shared = using_options(java) if is_local(master) else ""
        options = f"{shared} {chosen[JAVA_OPTIONS]} -Dlog4j2.configurationFile={logging.as_uri()}".strip()
        left = _gateway_left()
        conf = SparkConf(loadDefaults=False).setAll([*(chosen | {JAVA_OPTIONS: options}).items()])
        # A process has one Java process for all its sessions.
        gateway = left or _gateway(conf)
        try:
            with own_interrupts():
                return _new_context(conf, gateway)
        except Py4JError as problem:
            raise JobError(f"Spark did not start on master '{master}': {_java_cause(problem)}") from problem


def _gateway(conf: SparkConf) -> Any:
    """Start the Java process, its output led away from ours."""
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    launch: Callable[..., Any] = launch_gateway
    output = JavaOutput()
    try:
        with interrupts_held_back():
            gateway = launch(conf, output.popen_arguments())
    except PySparkException as problem:
        raise JobError(f"Spark did not start: {output.complaint() or problem}") from problem
    output.forward()
    return gateway


@contextmanager
def _environment(java: Java, master: str, chosen: dict[str, str]) -> Iterator[None]:
    """What Java and the workers that it starts find in their environment; this process' is as it was then."""
    # Workers start as `python -m`, which would import from the working directory first.
    wanted = {"JAVA_HOME": str(java.home), "PYTHONSAFEPATH": "1"}
    if is_local(master):
        wanted |= {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
        wanted["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
    else:
        own = os.environ.get("PYSPARK_PYTHON", sys.executable)
        wanted["PYSPARK_PYTHON"] = chosen.get("spark.pyspark.python", own)
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _java_cause(problem: Exception) -> str:
    exception = getattr(problem, "java_exception", None)
    message = str(problem if exception is None else exception.getMessage())
    return message.strip().splitlines()[0]

"""The runners there are, by the names that users give them: one line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepctl.runners.runner import Runner

Conf = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RunnerSettings:
    """What a runner may be told: the master and the settings of Spark, and whether to say more."""

    master: str
    conf: Conf = ()
    verbose: bool = False


@dataclass(frozen=True)
class RunnerKind:
    """A runner that can be chosen; `opened` gives one that ends with the context.

    `of_spark` says that it takes master and conf, and needs a Java; `here` that it is `Runner.here`.
    """

    opened: Callable[[RunnerSettings], AbstractContextManager[Runner]]
    here: bool = False
    of_spark: bool = False


@contextmanager
def _spark(settings: RunnerSettings) -> Iterator[Runner]:
    from cepctl.runners.spark import SparkRunner
    from cepctl.spark.session import spark_session

    with spark_session(settings.master, settings.conf, verbose=settings.verbose) as session:
        yield SparkRunner(session)


@contextmanager
def _local(settings: RunnerSettings) -> Iterator[Runner]:
    from cepctl.runners.local import LocalRunner

    yield LocalRunner()


RUNNERS: dict[str, RunnerKind] = {
    "spark": RunnerKind(_spark, of_spark=True),
    "local": RunnerKind(_local, here=True),
}

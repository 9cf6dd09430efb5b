"""The runners there are, by the names that users give them: one line each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
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
    """A runner that can be chosen.

    `place` names the function that opens it, as `module:function`; `of_spark` says that it takes master and
    conf, and needs a Java; `here` that it is `Runner.here`.
    """

    place: str
    here: bool = False
    of_spark: bool = False

    def opened(self, settings: RunnerSettings) -> AbstractContextManager[Runner]:
        """The runner, for as long as the context lasts; raises what its function raises."""
        module, _, function = self.place.partition(":")
        opens: Callable[[RunnerSettings], AbstractContextManager[Runner]]
        opens = getattr(import_module(module), function)
        return opens(settings)


RUNNERS: dict[str, RunnerKind] = {
    "spark": RunnerKind("cepctl.runners.spark.runner:opened", of_spark=True),
    "local": RunnerKind("cepctl.runners.local:opened", here=True),
}

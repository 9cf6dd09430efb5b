"""By which engine a plan is run, and where: what a user chooses, before anything is read."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cepctl.notices import READING, tell
from cepctl.plan.choices import Engine
from cepctl.runners.kinds import RUNNERS, Conf, RunnerSettings

if TYPE_CHECKING:
    from cepctl.runners.runner import Runner

AUTO = "auto"
LOCAL_EVENTS = 5_000_000
LOCAL_BYTES = 256 << 20
"""What `auto` does in this process: so many events of a dataset, or so many bytes of logs."""


@dataclass(frozen=True)
class RunnerChoice:
    """Where the work is done; `master` and `conf` are Spark's, `auto` is decided when the size is known."""

    runner: str
    master: str
    conf: Conf

    @property
    def here(self) -> bool:
        """Whether this process does it; true as long as that is not decided."""
        return self.runner == AUTO or RUNNERS[self.runner].here

    @property
    def on_spark(self) -> bool:
        """Whether Spark does it; false as long as that is not decided."""
        return self.runner != AUTO and RUNNERS[self.runner].of_spark

    @property
    def may_need_java(self) -> bool:
        """Whether Spark does it, or would do what is large."""
        return self.runner == AUTO or RUNNERS[self.runner].of_spark

    def opened(self, *, verbose: bool = False) -> AbstractContextManager[Runner]:
        """The runner, for as long as the context lasts; raises as `spark_session` does."""
        return RUNNERS[self.runner].opened(RunnerSettings(self.master, self.conf, verbose))

    def on_spark_where_open(self) -> RunnerChoice:
        """The choice of who says how Spark runs, and so wants it."""
        return replace(self, runner="spark") if self.runner == AUTO else self

    def for_events(self, count: int) -> RunnerChoice:
        """The choice for so many events of datasets."""
        return self._decided(small=count <= LOCAL_EVENTS)

    def for_bytes(self, size: int) -> RunnerChoice:
        """The choice for logs of so many bytes."""
        return self._decided(small=size <= LOCAL_BYTES)

    def _decided(self, *, small: bool) -> RunnerChoice:
        if self.runner != AUTO:
            return self
        if small:
            return replace(self, runner="local")
        from cepctl.runners.spark.session import why_not_startable

        because = why_not_startable()
        if because is None:
            return replace(self, runner="spark")
        tell(READING, "note", f"one process does all of it, although it is large: {because}")
        return replace(self, runner="local")


@dataclass(frozen=True)
class Execution:
    """Which engine runs a plan, and where; changes no row."""

    engine: Engine
    runner: RunnerChoice
    verbose: bool

    def require_startable(self) -> None:
        """Raise JobError where Spark is to run the plan and cannot; asked before anything is read."""
        if self.runner.on_spark and self.engine == "event":
            from cepctl.runners.spark.session import require_startable

            require_startable(self.runner.master)

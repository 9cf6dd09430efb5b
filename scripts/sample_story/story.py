"""The story that all sample logs tell: a job on six nodes, and one task that maxed out its node.

The planted cause is the map task CULPRIT on node04: while it runs, samples of cpu_user are above
95, after it below 70.  Two other tasks overlap it on that node.  node02 is as busy, but with
tasks that each take more than a minute.  The first attempt of map task 5 fails on node05, whose
disk is full.
"""

from __future__ import annotations

from dataclasses import dataclass

EPOCH = 1_772_528_400  # 2026-03-03T09:00:00Z; all other times are seconds after it
CLUSTER_START = 1_772_009_204_117
JOB = f"job_{CLUSTER_START}_0042"
CULPRIT = 11

NODES = ("node01", "node02", "node03", "node04", "node05", "node06")
IDLE_LOAD, MAP_LOAD, REDUCE_LOAD, CULPRIT_LOAD = 8.0, 30.0, 20.0, 95.0


@dataclass(frozen=True)
class Task:
    """One task: `m` or `r`, its number, where it ran and when, in seconds after EPOCH."""

    kind: str
    number: int
    node: str
    start: float
    finish: float
    failed_on: str | None = None

    @property
    def load(self) -> float:
        if self.kind == "r":
            return REDUCE_LOAD
        return CULPRIT_LOAD if self.number == CULPRIT else MAP_LOAD

    def named(self, what: str) -> str:
        return f"{what}_{JOB.removeprefix('job_')}_{self.kind}_{self.number:06d}"


TASKS = (
    Task("m", 0, "node01", 8.213, 41.870),
    Task("m", 1, "node01", 8.226, 39.402),
    Task("m", 2, "node02", 8.241, 68.115),
    Task("m", 3, "node02", 8.257, 70.934),
    Task("m", 4, "node03", 8.270, 44.655),
    Task("m", 5, "node03", 8.284, 62.308, failed_on="node05"),
    Task("m", 6, "node04", 8.299, 47.121),
    Task("m", 7, "node04", 8.311, 50.046),
    Task("m", 8, "node05", 8.330, 43.577),
    Task("m", 9, "node06", 8.345, 49.201),
    Task("m", 10, "node04", 82.104, 99.018),
    Task("m", CULPRIT, "node04", 90.052, 123.071),
    Task("m", 12, "node04", 116.133, 133.225),
    Task("m", 13, "node02", 12.402, 75.660),
    Task("m", 14, "node01", 46.518, 80.249),
    Task("m", 15, "node06", 52.097, 88.812),
    Task("r", 0, "node01", 135.310, 165.742),
    Task("r", 1, "node03", 135.322, 170.236),
    Task("r", 2, "node06", 135.335, 158.904),
)
JOB_SUBMIT, JOB_INIT, JOB_FINISH = 1.004, 8.120, 171.305
FAILED_ATTEMPT_SECONDS = 14.2


def millis(seconds: float) -> int:
    """Milliseconds since 1970 of a moment of the story, which is in seconds after EPOCH."""
    return EPOCH * 1000 + round(seconds * 1000)

"""Processes that judge cases: each gets numbers, draws their cases, and makes smaller what fails.

A process that takes too long over a case, or ends by itself, costs that case, which has failed, and is
replaced.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from tests.fuzzing.drawing import drawn_case
from tests.fuzzing.queries import Case
from tests.fuzzing.shrinking import smallest
from tests.fuzzing.verdicts import Verdict, verdict_on

SECONDS_PER_CASE = 300.0
"""What takes longer has failed; kernels may have to be compiled first."""
_SECONDS_OF_SHRINKING = 30.0


@dataclass(frozen=True)
class Judged:
    """What became of one case.  One that failed comes twice: as it was drawn, and made `smaller`."""

    number: int
    case: Case
    verdict: Verdict
    smaller: bool = False

    @property
    def is_last(self) -> bool:
        """Whether nothing more comes of this number."""
        return self.smaller or self.verdict.outcome != "failed"


@dataclass(frozen=True)
class _Cases:
    """Which cases are wanted, and until when new ones are begun."""

    seed: str
    only: frozenset[str]
    numbers: Iterator[int]
    until: float

    def following(self) -> int | None:
        return next(self.numbers, None) if time.monotonic() < self.until else None


@dataclass
class _Worker:
    """A process, its case and since when it is at it; no case where it has nothing left to do."""

    process: BaseProcess
    connection: Connection
    number: int | None = None
    since: float = 0.0
    failed: bool = False

    def give(self, cases: _Cases) -> None:
        """The next case, if there is one."""
        self.number, self.since, self.failed = cases.following(), time.monotonic(), False
        if self.number is not None:
            self.connection.send(self.number)

    @property
    def late(self) -> bool:
        return time.monotonic() - self.since > SECONDS_PER_CASE

    def end(self) -> None:
        self.process.kill()
        self.process.join()


def judged_cases(
    seed: str, only: frozenset[str], processes: int, seconds: float, most: int | None
) -> Generator[Judged]:
    """Each case's verdict as it comes, for so many seconds, or until `most` cases have been judged."""
    numbers = iter(range(10**12 if most is None else most))
    cases = _Cases(seed, only, numbers, time.monotonic() + seconds)
    workers = [_started(cases) for _ in range(processes)]
    try:
        while busy := [worker for worker in workers if worker.number is not None]:
            ready = wait([worker.connection for worker in busy], timeout=1.0)
            for worker in busy:
                if worker.connection in ready:
                    yield from _answered(worker, cases, workers)
                elif worker.late:
                    why = f"does not end within {SECONDS_PER_CASE:.0f} s"
                    yield from _replaced(worker, cases, workers, why)
    finally:
        for worker in workers:
            worker.end()


def _started(cases: _Cases) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, cases.seed, cases.only), daemon=True)
    with _without_interrupts():
        process.start()
    theirs.close()
    worker = _Worker(process, ours)
    worker.give(cases)
    return worker


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """What is started meanwhile never sees Ctrl-C; this process answers it, also one that comes meanwhile."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _answered(worker: _Worker, cases: _Cases, workers: list[_Worker]) -> Iterator[Judged]:
    try:
        judged: Judged = worker.connection.recv()
    except (EOFError, ConnectionError):
        worker.process.join()
        why = f"the process ended by itself, exit code {worker.process.exitcode}"
        yield from _replaced(worker, cases, workers, why)
        return
    if judged.is_last:
        worker.give(cases)
    else:
        worker.failed, worker.since = True, time.monotonic()
    yield judged


def _replaced(worker: _Worker, cases: _Cases, workers: list[_Worker], why: str) -> Iterator[Judged]:
    """The failure of a case that its process did not survive; another process goes on."""
    worker.end()
    number = worker.number
    workers[workers.index(worker)] = _started(cases)
    if number is not None:
        case = drawn_case(cases.seed, number, cases.only)
        judged = Judged(number, case, Verdict("failed", why, expected="an answer", found=why))
        if not worker.failed:
            yield judged
        yield Judged(number, case, judged.verdict, smaller=True)


# --- in the process of a worker --------------------------------------------------------------


def _work(connection: Connection, seed: str, only: frozenset[str]) -> None:
    while True:
        try:
            number = connection.recv()
        except EOFError:
            return
        case = drawn_case(seed, number, only)
        verdict = verdict_on(case)
        connection.send(Judged(number, case, verdict))
        if verdict.outcome == "failed":
            small = smallest(case, partial(_fails_alike, verdict), _SECONDS_OF_SHRINKING)
            connection.send(Judged(number, small, verdict_on(small), smaller=True))


def _fails_alike(verdict: Verdict, case: Case) -> bool:
    other = verdict_on(case)
    return other.outcome == "failed" and other.reason == verdict.reason

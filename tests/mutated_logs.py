"""Small logs with something wrong, in great number: readers survive them, in time, in memory, in truth.

    python -m tests.mutated_logs --count 1000000 --processes 2 --state /tmp/mutated

Input number n is the same in every run: a small log (small_logs.py) after some changes that follow from n.
Each is read in the process that made it, and judged (reader_account.py):

    crash    any exception but those that a user can mend, or the death of the process
    hang     more than SECONDS of processor time
    memory   more than MEMORY_BYTES beyond what the process had when it began
    loss     fewer events than the true log has, nothing said, and another count finds more records

A process takes every k-th number, and notes in the folder of the state at which it is, so that a run that
was stopped goes on there.  What one dies of is the number that it noted last: the process that started it
says so, and starts it again behind.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import IO

from tests.mutations import NASTY
from tests.reader_account import Account, account_of, lost_in_silence
from tests.small_logs import SMALL_LOGS

SECONDS = 5
MEMORY_BYTES = 1 << 30
_NAMES = tuple(SMALL_LOGS)
_LONG = (b" " * 3_000, b"\n" * 3_000, b"[" * 3_000, b"<a>" * 1_000, b"9" * 3_000, b'"' * 3_000, b"(" * 3_000)


@dataclass(frozen=True)
class Finding:
    """What was wrong with the reading of one input."""

    number: int
    log: str
    kind: str
    said: str


def mutated_log(number: int) -> tuple[str, bytes, bool]:
    """The name of the log that input `number` is made of, its bytes, and whether its format is told."""
    random = Random(number)
    name = _NAMES[number % len(_NAMES)]
    data = SMALL_LOGS[name][1]
    for _ in range(random.choice((1, 1, 1, 2, 3, 5))):
        data = _changed(data, random)
    return name, data, random.random() < 0.5


def _changed(data: bytes, random: Random) -> bytes:
    start = random.randrange(len(data) + 1)
    stop = min(len(data), start + random.choice((1, 2, 5, 20, 100)))
    kind = random.randrange(8)
    if kind == 0 and data:
        place = random.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]
    if kind == 1:
        return data[:start] + data[stop:]
    if kind == 2:
        return data[:stop] + data[start:stop] * random.choice((1, 2, 50)) + data[stop:]
    if kind == 3:
        return data[:start] if random.random() < 0.3 else data[:start] + random.randbytes(4) + data[stop:]
    if kind == 4:
        other = SMALL_LOGS[random.choice(_NAMES)][1]
        begin = random.randrange(len(other))
        return data[:start] + other[begin : begin + random.choice((5, 50, 500))] + data[start:]
    if kind == 5:
        return data[:start] + random.choice(_LONG) + data[start:]
    piece = random.choice(NASTY)
    return data[:start] + piece + data[start + (len(piece) if kind == 6 else 0) :]


class _HangError(BaseException):
    """The input took too long; no reader may catch this."""


def judged(number: int, true: dict[str, Account]) -> Finding | None:
    """Read one input; returns what was wrong, None where nothing was."""
    name, data, told = mutated_log(number)
    format_name = SMALL_LOGS[name][0]
    try:
        with _limited():
            account = account_of(data, format_name if told else None)
    except _HangError:
        return Finding(number, name, "hang", f"more than {SECONDS} s")
    except MemoryError as problem:
        return Finding(number, name, "memory", str(problem))
    except Exception as problem:
        return Finding(number, name, "crash", f"{type(problem).__name__}: {problem}"[:500])
    lost = lost_in_silence(true[name], account, data, format_name) if told else None
    return None if lost is None or "None records" in lost else Finding(number, name, "loss", lost)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def hang(*_: object) -> None:
        raise _HangError

    signal.signal(signal.SIGPROF, hang)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def true_accounts() -> dict[str, Account]:
    return {name: account_of(data, format_name) for name, (format_name, data) in SMALL_LOGS.items()}


def work(share: int, processes: int, count: int, state: Path, logs: str = "") -> None:
    """Judge the numbers of one share that are left, of logs whose names hold `logs`, and note them."""
    true = true_accounts()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, used + MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    noted = state / f"at-{share}"
    begin = _next_of(noted, share)
    with (state / f"findings-{share}").open("a") as findings, _in_place(noted) as place:
        for number in range(begin, count, processes):
            if logs not in _NAMES[number % len(_NAMES)]:
                continue
            # In place and of one length: whenever the process dies, a number stands there.
            os.pwrite(place.fileno(), b"%018d" % number, 0)
            finding = judged(number, true)
            if finding is not None:
                findings.write(json.dumps(asdict(finding)) + "\n")
                findings.flush()
    noted.write_text(str(count + share))


def _in_place(noted: Path) -> IO[bytes]:
    noted.touch()
    return noted.open("r+b", buffering=0)


def _next_of(noted: Path, share: int) -> int:
    return int(noted.read_text()) if noted.exists() and noted.read_text() else share


def supervise(processes: int, count: int, state: Path, nice: int = 0, logs: str = "") -> list[Finding]:
    """Run all shares to their end; one that dies is a finding, and goes on behind the input it died of."""
    state.mkdir(parents=True, exist_ok=True)
    running = {_started(share, processes, count, state, nice, logs): share for share in range(processes)}
    while running:
        child, status = os.wait()
        share = running.pop(child)
        noted = state / f"at-{share}"
        number = _next_of(noted, share)
        if status and number < count:
            code = os.waitstatus_to_exitcode(status)
            finding = Finding(number, _NAMES[number % len(_NAMES)], "crash", f"the process died: {code}")
            with (state / f"findings-{share}").open("a") as findings:
                findings.write(json.dumps(asdict(finding)) + "\n")
            noted.write_text(str(number + processes))
            running[_started(share, processes, count, state, nice, logs)] = share
    return [
        Finding(**json.loads(line))
        for path in sorted(state.glob("findings-*"))
        for line in path.read_text().splitlines()
    ]


def _started(share: int, processes: int, count: int, state: Path, nice: int, logs: str) -> int:
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        os.nice(nice)
        work(share, processes, count, state, logs)
        status = 0
    finally:
        os._exit(status)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutated_logs", description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--logs", default="", help="only logs with this in their names, as csv or ocel")
    chosen = parser.parse_args(arguments)
    begun = time.monotonic()
    findings = supervise(chosen.processes, chosen.count, chosen.state, chosen.nice, chosen.logs)
    for finding in findings:
        sys.stdout.write(f"{finding.kind}  {finding.number}  {finding.log}: {finding.said}\n")
    took = time.monotonic() - begun
    judged_inputs = sum(chosen.logs in _NAMES[number % len(_NAMES)] for number in range(chosen.count))
    sys.stdout.write(f"{judged_inputs:,} inputs, {len(findings):,} findings, {took:,.0f} s\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""SIGKILL at every system call that changes the disk: after a rerun all is as if nothing had happened.

Each command runs in a folder of its own, once undisturbed and recorded, and then once for each of its system
calls that change the disk, at which it is killed; where there is no strace, at random moments.  At once after
the kill an old dataset, or the new one, is whole.  Then the command is run again, and what lies in the
folder, and among the temporary files, is held to what the undisturbed run has left.

Where the kill meets the process that reads for a command, the command itself says so and fails.

CEPCTL_KILLS is how many kills there are in all, spread over the calls of all commands.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Commands

KILLS = int(os.environ.get("CEPCTL_KILLS", "500"))
UNREADABLE = 3
ENDS = {0: "ended before", -signal.SIGKILL: "killed", UNREADABLE: "its reader killed"}
QUERY = "PATTERN SEQ(A a, !N n, B b) WITHIN 40 ticks"
HEADER = "confidence,start,end,match\n"
MODEL = "rule = [{ interval = { before = '2 ms', after = '1 ms' } }]\n"
CALLS = (
    *("openat", "mkdir", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir"),
    *("write", "pwrite64", "writev", "ftruncate", "fsync", "flock", "fchmod", "chmod"),
)
# All of these are killed at, before the others have their turn.
CHANGING_NAMES = ("rename", "unlink", "mkdir", "rmdir", "ftruncate", "fsync")
# Files that differ from run to run: when it was, and how long it took.
DIFFERING = {"figures.prom", "manifest.json"}


@dataclass(frozen=True)
class Job:
    """A command whose words are given, in a folder that `prepare` fills; `state` is what is compared."""

    name: str
    words: tuple[str, ...]
    prepare: Callable[[Commands, Path], None]
    state: Callable[[Path], object]
    dataset: bool


def log(first: int, count: int, *, with_times: bool = False) -> str:
    """Events of three types, some close to one another, one record that is none."""
    chance = random.Random(first)
    time = "time" if with_times else "lower,upper"
    lines = [f"event_id,event_type,{time}"]
    for number in range(first, first + count):
        tick = 5 * number + chance.randint(0, 9)
        end = "" if with_times else f",{tick + chance.randint(0, 15)}"
        lines.append(f"e{number},{'ABN'[number % 3]},{tick}{end}")
    return "\n".join([*lines, "bad,A,?" + ("" if with_times else ",?")]) + "\n"


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder, hidden ones, too; of those that differ from run to run the names alone."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    return {
        name: b"" if path.name in DIFFERING else b"a directory" if path.is_dir() else path.read_bytes()
        for name, path in found.items()
    }


def rows_and_runs(folder: Path) -> object:
    """The rows of all runs in their order, the sketch, and what else there is.

    A repeated run may add an empty file.
    """
    files = sorted((folder / "out").iterdir())
    assert [path.name for path in files] == [f"run-{n:06d}.csv" for n in range(1, len(files) + 1)]
    rows = [row for path in files for row in path.read_text().removeprefix(HEADER).splitlines()]
    kept = Counter(re.sub(r"\d{6}", "N", path.name) for path in (folder / "S").iterdir())
    rest = sorted(path.name for path in folder.iterdir())
    (run,) = (path for path in (folder / "S").iterdir() if path.name.startswith("run-"))
    return rows, kept, rest, [*(folder / "tmp").iterdir()], tree(run / "segments")


def with_log(commands: Commands, folder: Path) -> None:
    (folder / "e.csv").write_text(log(0, 40))


def with_dataset(commands: Commands, folder: Path) -> None:
    (folder / "old.csv").write_text(log(100, 30, with_times=True))
    (folder / "e.csv").write_text(log(0, 40, with_times=True))
    (folder / "model.toml").write_text(MODEL)
    (folder / "bad.jsonl").write_text("old\n")
    assert commands.run(["ingest", "old.csv", "-o", "events", "-q"], folder) == 0


def with_state(commands: Commands, folder: Path) -> None:
    (folder / "e.csv").write_text(log(0, 20))
    assert commands.run(STATE, folder) == 0
    with (folder / "e.csv").open("a") as file:
        file.writelines(log(20, 30).splitlines(keepends=True)[1:])


STATE = (
    *("match", "--state", "S", "--keep-sketch", "-o", "out", "--slack", "10 ms", "--time", "ticks", "-q"),
    *(QUERY, "e.csv"),
)
INGEST = ("ingest", "e.csv", "-o", "events", "--overwrite", "--rejects", "bad.jsonl")
MATCH = ("match", QUERY, "e.csv", "-o", "rows.csv", "--metrics", "figures.prom", "--time", "ticks", "-q")
JOBS = (
    Job("ingest", (*INGEST, "--report", "report.json", "-q"), with_log, tree, False),
    Job("ingest in little memory", (*INGEST, "--max-memory", "300MB", "-q"), with_log, tree, False),
    Job("ingest over a dataset", (*INGEST, "--metrics", "figures.prom", "-q"), with_dataset, tree, True),
    Job(
        "assign",
        ("assign", "events", "-o", "events", "--overwrite", "--uncertainty", "model.toml", "-q"),
        with_dataset,
        tree,
        True,
    ),
    Job("match", MATCH, with_log, tree, False),
    Job("match --state", STATE, with_state, rows_and_runs, False),
)


@dataclass(frozen=True)
class Undisturbed:
    """The folder before a command; what is compared after it, its datasets before and after, its calls."""

    before: Path
    after: object
    datasets: tuple[dict[str, bytes], dict[str, bytes]]
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Call:
    """A system call that changes the disk: its name, and the how many-th of that name in its thread."""

    name: str
    number: int
    in_first_thread: bool

    @property
    def killing(self) -> tuple[str, ...]:
        """Options of strace that kill at this call; the readers and other threads are followed for theirs."""
        inject = f"inject={self.name}:signal=KILL:when={self.number}"
        follow = () if self.in_first_thread else ("-f",)
        return (*follow, "-e", f"trace={self.name}", "-e", inject, "-o", "/dev/null")


def recorded(file: Path) -> tuple[Call, ...]:
    """The system calls that strace has seen."""
    counts: Counter[tuple[str, str]] = Counter()
    found: dict[Call, None] = {}
    first = file.read_text(errors="replace").partition(" ")[0]
    for line in file.read_text(errors="replace").splitlines():
        match = re.match(r"(\d+) +(\w+)\((.*)", line)
        if match is None:
            continue
        thread, name, rest = match.groups()
        counts[thread, name] += 1
        if name != "openat" or re.search(r"O_(CREAT|WRONLY|RDWR|TRUNC)", rest):
            found[Call(name, counts[thread, name], thread == first)] = None
    return tuple(found)


def undisturbed(job: Job, commands: Commands, place: Path) -> Undisturbed:
    before, folder = place / "before", place / "undisturbed"
    before.mkdir(parents=True)
    (before / "tmp").mkdir()
    job.prepare(commands, before)
    shutil.copytree(before, folder)
    calls = place / "calls"
    strace = ("-f", "-e", f"trace={','.join(CALLS)}", "-o", str(calls)) if shutil.which("strace") else ()
    assert commands.run(job.words, folder, strace=strace) == 0
    datasets = tuple(tree(each / "events") if job.dataset else {} for each in (before, folder))
    return Undisturbed(
        before, job.state(folder), (datasets[0], datasets[1]), recorded(calls) if strace else ()
    )


def kills(calls: tuple[Call, ...], count: int) -> Iterator[dict[str, Any]]:
    """How a command is killed, so many times: at its calls one after the other, else at random moments."""
    chance = random.Random(count)
    names = [call for call in calls if call.name.startswith(CHANGING_NAMES)]
    others = [call for call in calls if call not in names]
    room = max(count - len(names), 0)
    if len(others) > room:
        others = [others[len(others) * n // room] for n in range(room)]
    chosen = [*names[:count], *others]
    yield from ({"strace": call.killing} for call in chosen)
    yield from ({"killed_after": chance.uniform(0, 0.5)} for _ in range(count - len(chosen)))


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS, ids=[job.name for job in JOBS])
def test_after_any_kill_and_a_rerun_all_is_as_if_nothing_had_happened(job: Job, tmp_path: Path) -> None:
    said = tmp_path / "said.txt"
    commands = Commands(said)
    wanted = undisturbed(job, commands, tmp_path / "first")
    killed: Counter[str] = Counter()
    for number, how in enumerate(kills(wanted.calls, KILLS // len(JOBS))):
        folder = tmp_path / f"killed-{number}"
        shutil.copytree(wanted.before, folder)
        said.write_bytes(b"")
        code = commands.run(job.words, folder, **how)
        assert code in ENDS, how
        if code == UNREADABLE:
            assert b"the process that read it died (SIGKILL" in said.read_bytes()
        killed[ENDS[code]] += 1
        if job.dataset:
            assert tree(folder / "events") in wanted.datasets, how
        assert commands.run(job.words, folder) == 0, how
        assert job.state(folder) == wanted.after, how
        shutil.rmtree(folder)
    commands.end()
    print(f"{job.name}: {len(wanted.calls)} calls, {dict(killed)}")  # noqa: T201
    assert killed["ended before"] <= KILLS // len(JOBS) // 2

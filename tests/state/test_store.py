"""The state on disk: wherever a run dies, the next one goes on as if it had never begun, or had ended."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cepctl.errors import JobError, StateError, StateHeldError, UsageError
from cepctl.schema import MILLISECOND
from cepctl.state import store
from cepctl.state.lock import held
from cepctl.state.progress import Counts, beginning
from cepctl.state.sources import Source
from cepctl.state.store import (
    Saved,
    clean,
    deliver,
    load,
    prepare,
    require_deliverable,
    run_name,
    segments_of,
)
from tests.plans import Event, event_table, histogram, plan_of


class KilledError(BaseException):
    """Stands for SIGKILL: nothing that catches errors catches it."""


@contextmanager
def killed_before(step: int | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything that changes the disk counts as a step; the process dies before the given one."""
    done = 0

    def counting(function: Any) -> Any:
        def counted(*arguments: Any, **named: Any) -> Any:
            nonlocal done
            if done == step:
                raise KilledError
            done += 1
            return function(*arguments, **named)

        return counted

    with monkeypatch.context() as patch:
        for name in ("rename", "unlink", "mkdir", "write_text"):
            patch.setattr(Path, name, counting(getattr(Path, name)))
        patch.setattr(os, "link", counting(os.link))
        patch.setattr(pq, "write_table", counting(pq.write_table))
        patch.setattr(store, "_force", counting(store._force))
        # A directory disappears file by file.
        patch.setattr(os, "unlink", counting(os.unlink))
        patch.setattr(os, "rmdir", counting(os.rmdir))
        yield


def saved_after(run: int) -> Saved:
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 5 ticks")
    events = event_table([Event(f"e{run}", "A", run, run), histogram("h", "B", (1, 2, 0.5), (4, 4, 0.5))])
    progress = replace(beginning(plan, events.schema), events=events, newest=run, watermark=run - 1)
    source = Source("/logs/a.csv", 10 * run, 1, "a.csv", offset=10 * run)
    return Saved(
        run, {"query": "q"}, MILLISECOND, {"A": run}, (source,), progress, "2026-01-01T00:00:00+00:00"
    )


def segments(directory: Path, number: int) -> dict[str, Path]:
    """The last segment of the run before, and one that this run has made."""
    before = sorted(segments_of(directory, number - 1).glob("*"))[-1:]
    new = directory.with_name(f"{number:03}.sketch")
    new.mkdir(exist_ok=True)
    (new / "spans.parquet").write_text(f"events of {number}")
    return {path.name: path for path in [*before, new]}


def sketched(directory: Path, number: int) -> list[str]:
    """What is in the segments of a run."""
    return [path.read_text() for path in sorted(segments_of(directory, number).rglob("*.parquet"))]


def one_run(directory: Path, outdir: Path | None) -> int:
    """What a run does with the state; its rows say which state it began with."""
    before = load(directory)
    clean(directory)
    number = before.run + 1 if before else 1
    place = prepare(
        directory, saved_after(number), [f"after {number - 1}".encode()], segments(directory, number)
    )
    deliver(place, outdir and outdir / f"{run_name(number)}.csv")
    clean(directory)
    return number


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


@pytest.fixture
def outdir(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_a_state_comes_back_as_it_was(directory: Path) -> None:
    deliver(prepare(directory, saved_after(3), []), None)
    found = load(directory)
    assert found is not None
    assert replace(found, progress=saved_after(3).progress) == saved_after(3)
    assert found.progress.events.equals(saved_after(3).progress.events)
    assert (found.progress.newest, found.progress.watermark, found.progress.closed) == (3, 2, False)


def test_wherever_a_run_is_killed_nothing_is_lost_and_nothing_said_twice(
    directory: Path, outdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_run(directory, outdir)
    step, expected = 0, 2
    while True:
        with killed_before(step, monkeypatch):
            try:
                assert one_run(directory, outdir) == expected
                break
            except KilledError:
                pass
        saved = load(directory)
        assert saved is not None
        # The files shown and the state agree at every moment.
        assert len(list(outdir.iterdir())) == saved.run
        assert saved.run in (expected - 1, expected)
        assert sketched(directory, saved.run) == [f"events of {n}" for n in (saved.run - 1, saved.run) if n]
        if saved.run == expected - 1:
            assert one_run(directory, outdir) == expected
        expected += 1
        step += 1
    assert step > 20
    files = sorted(outdir.iterdir())
    assert [path.name for path in files] == [f"{run_name(i)}.csv" for i in range(1, expected + 1)]
    assert [path.read_text() for path in files] == [f"after {i}" for i in range(expected)]
    assert [path.name for path in directory.iterdir()] == [run_name(expected)]


def test_a_run_killed_while_an_earlier_one_is_thrown_away_is_thrown_away_whole(
    directory: Path, outdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_run(directory, outdir)
    for step in range(12):
        prepare(directory, saved_after(2), [b"never said"])
        with killed_before(step, monkeypatch), pytest.raises(KilledError):
            clean(directory)
            raise KilledError
        saved = load(directory)
        assert saved is not None
        assert saved.run == 1
        clean(directory)
    assert [path.name for path in outdir.iterdir()] == ["run-000001.csv"]


def test_without_rows_to_rename_a_run_is_valid_once_it_has_said_so(directory: Path) -> None:
    place = prepare(directory, saved_after(1), [])
    assert load(directory) is None
    deliver(place, None)
    assert load(directory) is not None


@pytest.mark.parametrize("name", ["manifest.json", "events.parquet", "late.parquet", "provisional.parquet"])
@pytest.mark.parametrize("damage", ["truncated", "gone", "changed"])
def test_a_damaged_state_is_refused_with_the_remedy(directory: Path, name: str, damage: str) -> None:
    one_run(directory, None)
    file = directory / "run-000001" / name
    data = file.read_bytes()
    file.unlink()
    if damage != "gone":
        file.write_bytes(data[: len(data) // 2] if damage == "truncated" else data[:-9] + b"x" + data[-8:])
    with pytest.raises(StateError, match=rf"{name} is damaged or missing; restore .* or start a new one"):
        load(directory)


def test_a_directory_with_something_else_is_no_state(directory: Path) -> None:
    (directory / "thesis.tex").write_text("")
    with pytest.raises(StateError, match=r"holds thesis.tex, so it is not a state directory"):
        load(directory)


def test_a_full_disk_changes_nothing(directory: Path, outdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one_run(directory, outdir)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store, "_force", full)
        with pytest.raises(JobError, match=r"No space left on device; nothing has changed"):
            one_run(directory, outdir)
    assert [path.name for path in directory.iterdir()] == ["run-000001"]
    assert one_run(directory, outdir) == 2


def test_rows_that_cannot_be_renamed_leave_the_state_as_it_was(directory: Path, outdir: Path) -> None:
    one_run(directory, outdir)
    place = prepare(directory, saved_after(2), [b"rows"])
    with pytest.raises(JobError, match=r"nothing has changed"):
        deliver(place, outdir / "no such directory" / "x.csv")
    saved = load(directory)
    assert saved is not None
    assert saved.run == 1


def test_rows_and_state_on_two_filesystems_are_refused(directory: Path) -> None:
    other = Path("/dev/shm")
    if not other.is_dir() or other.stat().st_dev == directory.stat().st_dev:
        pytest.skip("there is no second filesystem here")
    with pytest.raises(UsageError, match=r"lie on different filesystems"):
        require_deliverable(directory, other)


def test_a_second_run_ends_at_once_and_says_who_holds_the_state(directory: Path) -> None:
    with (
        held(directory),
        pytest.raises(StateHeldError, match=rf"process {os.getpid()} on \S+ since 20") as told,
        held(directory),
    ):
        pass
    assert told.value.exit_code == 5
    with held(directory):
        pass


def test_a_state_that_cannot_be_written_is_refused_with_the_remedy() -> None:
    remedy = r"cannot write the state .*name another directory with --state"
    with pytest.raises(JobError, match=remedy), held(Path("/proc/cepctl-state")):
        pass


@pytest.mark.parametrize("foreign", ["a link", "a link to nothing", "a pipe", "a twin"])
def test_a_lock_that_no_run_has_made_is_refused_and_not_written_to(tmp_path: Path, foreign: str) -> None:
    directory, other = tmp_path / "state", tmp_path / "other"
    directory.mkdir()
    other.write_text("of value")
    if foreign == "a pipe":
        os.mkfifo(directory / "lock")
    elif foreign == "a twin":
        os.link(other, directory / "lock")
    else:
        (directory / "lock").symlink_to(other if foreign == "a link" else tmp_path / "nowhere")
    refused = pytest.raises(StateError, match="lock is a link, a pipe or the like, which no run has made")
    with refused, held(directory):
        pytest.fail("held")
    assert other.read_text() == "of value"
    assert not (tmp_path / "nowhere").exists()


def test_a_new_state_is_private(tmp_path: Path) -> None:
    with held(tmp_path / "deep" / "state"):
        assert (tmp_path / "deep" / "state").stat().st_mode & 0o777 == 0o700


def test_what_a_run_keeps_is_private_also_in_a_directory_that_was_there(directory: Path) -> None:
    directory.chmod(0o755)
    place = prepare(directory, saved_after(1), [])
    assert place.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("number", [1, 2])
def test_a_state_of_a_format_before_is_read(directory: Path, number: int) -> None:
    """Its tables and numbers had other names; what was on disk of its inputs may be unknown."""
    saved = saved_after(1)
    progress = replace(saved.progress, finalized_before=-7, counts=Counts(events=4, emitted=3, retracted=2))
    deliver(prepare(directory, replace(saved, progress=progress), []), None)
    state = directory / "run-000001"
    (state / "provisional.parquet").rename(state / "standing.parquet")
    _, text = (state / "manifest.json").read_text().removesuffix("\n").split("\n", 1)
    text = text.replace('"format": 3', f'"format": {number}').replace('"finalized_before": ', '"settled": ')
    text = text.replace('"emitted": ', '"said": ').replace('"retracted": ', '"taken_back": ')
    text = text.replace('"provisional.parquet"', '"standing.parquet"')
    digest = hashlib.sha256(text.encode()).hexdigest()
    (state / "manifest.json").write_text(f"{digest}\n{text}\n")
    found = load(directory)
    assert found is not None
    assert (found.run, found.sources) == (1, saved.sources)
    assert (found.progress.finalized_before, found.progress.counts) == (-7, progress.counts)
    assert found.progress.provisional.equals(progress.provisional)

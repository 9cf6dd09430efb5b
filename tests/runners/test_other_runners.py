"""A runner that is added to the list ingests and matches like those that are there: the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

import cepctl
from cepctl.datasets.row_groups import row_groups
from cepctl.engines.concurrency import OnProgress, concurrently, telling
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.runners.progress import RunProgress
from cepctl.engines.runners.slices import Slicing, choose_slicing
from cepctl.engines.runners.stored import run
from cepctl.errors import QueryTooLargeError, UsageError
from cepctl.io.rows.folder import row_folder
from cepctl.io.rows.shown import PresentedRows
from cepctl.language.parser import parse
from cepctl.library.row_parts import write_parts
from cepctl.matching.execution import Execution, RunnerChoice
from cepctl.matching.inputs import open_events
from cepctl.plan.analyze import analyze
from cepctl.runners.kinds import RUNNERS, RunnerKind, RunnerSettings
from cepctl.runners.local import LocalRunner
from cepctl.runners.runner import Item, Runner, Task

LOG = "event_type,lower,upper,k\n" + "".join(
    f"{'AB'[at % 2]},{7 * at},{7 * at + at % 9},{at % 3}\n" for at in range(120)
)
QUERY = "PATTERN SEQ(A a, B b) WITHIN 30 ticks CONFIDENCE >= 0.1 RETURN a.k"
MODEL = "rule = [{ event_type = 'A', interval = { before = '2 ms' } }]"


@dataclass(frozen=True)
class Threads(Runner):
    """All that a runner needs to be: tasks in three threads, which notes how many it ran."""

    ran: list[int] = field(default_factory=list)
    shares_disk: bool = True

    @property
    def parallelism(self) -> int:
        return 3

    def stream(
        self,
        function: Callable[[Task], Iterable[Item]],
        tasks: Sequence[Task],
        on_progress: OnProgress | None = None,
    ) -> Iterator[Item]:
        self.ran.append(len(tasks))
        parts = [partial(_items, function, task) for task in tasks]
        return concurrently(telling(parts, on_progress), self.parallelism)


def _items(function: Callable[[Task], Iterable[Item]], task: Task) -> Iterator[Item]:
    yield from function(task)


THREADS = Threads()


@contextmanager
def threads(settings: RunnerSettings) -> Iterator[Runner]:
    yield THREADS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two logs; the runner is the one line that a new one takes."""
    monkeypatch.setitem(RUNNERS, "threads", RunnerKind(f"{__name__}:threads"))
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    Path("logs/a.csv").write_text(LOG)
    Path("logs/b.csv").write_text(LOG.replace("A,", "C,"))
    Path("model.toml").write_text(MODEL)
    return tmp_path


def ingested(runner: str, chosen: str) -> dict[str, bytes]:
    cepctl.ingest("logs", chosen, uncertainty="model.toml", runner=runner)
    return {each.name: each.read_bytes() for each in sorted(Path(chosen).iterdir())}


def test_an_ingest_writes_the_same_bytes() -> None:
    before = len(THREADS.ran)
    assert ingested("threads", "there") == ingested("local", "here")
    assert THREADS.ran[before:]


@pytest.mark.parametrize("query", [QUERY, f"{QUERY} GROUP BY a.k".replace(" RETURN a.k", "")])
def test_a_match_returns_the_same_rows(query: str) -> None:
    events = cepctl.ingest("logs", "events", uncertainty="model.toml")
    expected = cepctl.match(query, events, runner="local")
    before = len(THREADS.ran)
    found = cepctl.match(query, events, runner="threads")
    assert len(found) == len(expected) > 2
    assert found.arrow().equals(expected.arrow())
    assert THREADS.ran[before:]


def rows_in_a_folder(runner: str) -> list[bytes]:
    matches = cepctl.match(QUERY, "events", runner=runner)
    shown = PresentedRows(matches.found.plan.time_unit, "iso", "parquet")
    execution = Execution("event", RunnerChoice(runner, "", ()), verbose=False)
    with row_folder(Path(runner), overwrite=False) as made:
        made.publish(write_parts(matches, made, shown, execution, None, RunProgress()))
    return [each.read_bytes() for each in sorted(Path(runner).glob("*.parquet"))]


def test_rows_in_a_folder_are_the_same_bytes() -> None:
    cepctl.ingest("logs", "events", uncertainty="model.toml")
    assert rows_in_a_folder("threads") == rows_in_a_folder("local") != []


@pytest.mark.parametrize("shares_disk", [True, False])
@pytest.mark.parametrize("sent", [False, True])
def test_slices_and_events_that_are_sent_give_the_same_rows(shares_disk: bool, sent: bool) -> None:
    cepctl.ingest("logs", "events", uncertainty="model.toml")
    with open_events(["events"]) as inputs:
        plan = analyze(parse(QUERY.replace("WITHIN", "WHERE [k] WITHIN")), inputs.schema)
        sources = inputs.sources(plan.attributes)
        cut = choose_slicing(row_groups(sources), plan, 3, 100)
        assert len(cut.slices) > 5
        slicing = Slicing(cut.slices, cut.events, cut.most_read, 2, sent=True) if sent else cut
        runner = Threads(shares_disk=shares_disk)
        found = run(plan, sources, runner, slicing=slicing)
        assert found.equals(run(plan, sources, LocalRunner()))
        assert found.num_rows > 20
        assert runner.ran == ([1, 1, slicing.tasks] if sent else [len(cut.slices)])
        with pytest.raises(QueryTooLargeError, match="more than 3 matches"):
            run(plan, sources, runner, MatchOptions(max_matches=3), slicing=slicing)


def test_a_runner_that_is_not_in_the_list_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match="choose one of 'auto', 'spark', 'local', 'threads'"):
        cepctl.match(QUERY, "logs/a.csv", runner="cluster")


def test_spark_settings_are_for_spark() -> None:
    with pytest.raises(UsageError, match="spark, master and conf are for Spark"):
        cepctl.match(QUERY, "logs/a.csv", runner="threads", master="local[1]")

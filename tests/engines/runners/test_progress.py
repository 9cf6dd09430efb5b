"""What a run tells of itself: per cent of the parts, rows so far, and the time left at this pace."""

from __future__ import annotations

from threading import Event

import pyarrow as pa
import pytest

from cepctl.engines.concurrency import concurrently, telling
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.runners import progress as progresses
from cepctl.engines.runners.local import batches
from cepctl.engines.runners.progress import RunProgress
from cepctl.engines.runners.slices import Slicing, TimeSlice
from cepctl.runners.runner import Count
from cepctl.runners.spark import runner as spark
from tests.plans import plan_of


def test_each_part_that_is_done_is_told_once() -> None:
    heard: list[tuple[int, int]] = []
    parts = [lambda: iter("a"), lambda: iter("bc"), lambda: iter("")]
    found = concurrently(telling(parts, lambda done, of: heard.append((done, of))), threads=2)
    assert sorted(found) == ["a", "b", "c"]
    assert heard == [(1, 3), (2, 3), (3, 3)]


@pytest.fixture(autouse=True)
def _nothing_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever other tests of this machine have compiled beside them."""
    monkeypatch.setattr(progresses, "compiling_beside", lambda: None)


@pytest.mark.parametrize("query", ["PATTERN SEQ(A a, B b)", "PATTERN OR(SEQ(A a, B b), SEQ(B c, A d))"])
def test_matching_tells_how_far_it_is(query: str) -> None:
    events = pa.table(
        {
            "event_id": ["a", "b"],
            "event_type": ["A", "B"],
            "lower": [1, 3],
            "upper": [1, 3],
            "pmf": pa.nulls(2, pa.list_(pa.struct({"lo": pa.int64(), "hi": pa.int64(), "p": pa.float64()}))),
        }
    )
    heard: list[tuple[int, int]] = []
    rows = batches(plan_of(query), events, MatchOptions(), lambda *far: heard.append(far))
    assert sum(batch.num_rows for batch in rows) == 1
    assert heard
    assert heard[-1][0] == heard[-1][1]


def test_the_line_has_per_cent_rows_and_from_two_seconds_on_the_time_left() -> None:
    lines: list[str] = []
    seconds = iter([100.0, 101.0, 110.0, 120.0])
    progress = RunProgress(lines.append, relevant=7, clock=lambda: next(seconds))
    progress.matching()
    progress.matched(1, 4)
    progress.found = 1_200
    progress.matched(2, 4)
    progress.matched(4, 4)
    assert lines == [
        "matching: 7 events that can matter",
        "matching: 25 %, 0 rows so far",
        "matching: 50 %, about 10 s left, 1,200 rows so far",
        "matching: 100 %, 1,200 rows so far",
    ]


def test_while_kernels_are_compiled_the_line_says_so() -> None:
    lines: list[str] = []
    RunProgress(lines.append).compiling(12, 41.7)
    assert lines == ["compiling kernels, which later runs find: 12 so far, 42 s"]


def test_while_a_process_beside_compiles_the_last_line_says_so_until_it_has_done_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines: list[str] = []
    alone = Event()
    stands = iter([None, (0, 2, 3.0), (1, 2, 8.2)])

    def tell(line: str) -> None:
        lines.append(line)
        if len(lines) > 1 and "(" not in line:
            alone.set()

    monkeypatch.setattr(progresses, "_LOOK_SECONDS", 0.01)
    progress = RunProgress(tell, relevant=7)
    monkeypatch.setattr(progresses, "compiling_beside", lambda: next(stands, None))
    progress.matching()
    with progress.watching_compiler():
        assert alone.wait(30)
    said = "matching: 7 events that can matter"
    assert lines == [said, f"{said} (compiling kernels beside it: 1 of 2, 8 s)", said]


class _Tracker:
    """One stage of one task on Spark, which is not done."""

    numCompletedTasks, numTasks = 0, 1  # noqa: N815  (PySpark's names)

    def statusTracker(self) -> _Tracker:  # noqa: N802
        return self

    def getActiveStageIds(self) -> list[int]:  # noqa: N802
        return [1]

    def getStageInfo(self, _: int) -> _Tracker:  # noqa: N802
        return self


@pytest.mark.parametrize(("kept", "said"), [(3, "compiling kernels"), (0, "0 of 1 tasks")])
def test_while_workers_of_this_machine_compile_kernels_no_tasks_are_counted(
    kept: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = Event()
    lines: list[str] = []

    def tell(line: str) -> None:
        lines.append(line)
        heard.set()

    monkeypatch.setattr(spark, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(progresses, "kernels_written_since", lambda moment: kept)
    progress = RunProgress(tell, slicing=Slicing((TimeSlice(),), events=8_000, most_read=2_000))
    with spark._watched(_Tracker(), progress.of_tasks(Count())):
        assert heard.wait(30)
    assert lines[0].startswith(said)


def test_writing_says_how_much_is_written_of_how_many_rows() -> None:
    lines: list[str] = []
    seconds = iter([100.0, 101.0, 110.0])
    progress = RunProgress(lines.append, clock=lambda: next(seconds))
    progress.writing(12_000)
    progress.wrote(1, 4)
    progress.wrote(2, 4)
    assert lines == [
        "writing: 12,000 rows",
        "writing: 25 %, 12,000 rows",
        "writing: 50 %, about 10 s left, 12,000 rows",
    ]


def test_nobody_is_told_where_nobody_looks() -> None:
    progress = RunProgress()
    progress.matching()
    progress.matched(1, 2)
    assert progress.tell is None

"""`match -o ROWS/`: a folder of Parquet files with the rows in order, there whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from cepctl.cli import main
from cepctl.engines.runners.progress import RunProgress
from cepctl.errors import UsageError
from cepctl.io.rows import folder as row_folders
from cepctl.library import row_parts
from cepctl.library.question import Question
from cepctl.process.memory import MemoryBudget

if TYPE_CHECKING:
    from cepctl.runners.spark.session import Session

EVENTS = 60
ROWS = EVENTS * (EVENTS + 1) // 2
QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with pairs of events: each A can have been before its own B and all later ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setattr(row_parts, "ROWS_OF_PART", 500)
    events = []
    for number in range(EVENTS):
        begin = {"event_id": f"a{number}", "event_type": "A", "lower": 10 * number, "upper": 10 * number + 4}
        events += [begin, begin | {"event_id": f"b{number}", "event_type": "B", "upper": 10 * number + 6}]
    pq.write_table(pa.Table.from_pylist(events), "events.parquet")
    return tmp_path


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is hardly any memory for rows."""
    monkeypatch.setattr(MemoryBudget, "rows", 5_000)


def match(*arguments: str, code: int = 0) -> None:
    assert main(["match", QUERY, "events.parquet", "--quiet", *arguments]) == code


def read(folder: str) -> pa.Table:
    """The rows of a folder as a reader of datasets has them: files in the order of their names."""
    return pyarrow.dataset.dataset(folder, format="parquet").to_table()


def in_one_file(*arguments: str) -> pa.Table:
    match("-o", "one.parquet", *arguments)
    return pq.read_table("one.parquet")


def sizes(folder: str) -> list[int]:
    return [pq.read_metadata(each).num_rows for each in sorted(Path(folder).glob("part-*.parquet"))]


def test_the_parts_have_in_sequence_the_rows_of_one_file() -> None:
    match("-o", "rows/", "--format", "parquet")
    assert read("rows").equals(in_one_file())
    assert sizes("rows") == [500, 500, 500, ROWS - 1_500]
    assert json.loads(Path("rows/_SUCCESS").read_text()) == {
        "cepctl": "rows of matches",
        "rows": ROWS,
        "parts": 4,
    }


def test_rows_beyond_memory_make_the_same_bytes() -> None:
    match("-o", "held/")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MemoryBudget, "rows", 5_000)
        match("-o", "spilled/")
    parts = [sorted(Path(name).glob("part-*")) for name in ("spilled", "held")]
    assert [each.read_bytes() for each in parts[0]] == [each.read_bytes() for each in parts[1]]
    assert len(parts[0]) == 4


@pytest.mark.parametrize(("memory", "shares"), [(5_000, [25, 50, 75, 100]), (50_000_000, [27, 54, 81, 100])])
def test_each_part_that_is_written_is_told_on_a_terminal(
    memory: int, shares: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []

    @contextmanager
    def shown(*, quiet: bool) -> Iterator[RunProgress]:
        yield RunProgress(lines.append)

    monkeypatch.setattr("cepctl.cli.match.whole_run.shown_progress", shown)
    monkeypatch.setattr(MemoryBudget, "rows", memory)
    match("-o", "rows/")
    told = [line for line in lines if line.startswith("writing: ")]
    assert told[0] == "writing: 1,830 rows"
    assert [line.partition(",")[0] for line in told[1:]] == [f"writing: {share} %" for share in shares]


@pytest.mark.parametrize("arguments", [["--limit", "700"], ["--columns", "match,start"], ["--time", "ticks"]])
def test_what_is_asked_of_rows_holds_for_parts(arguments: list[str], on_disk: None) -> None:
    match("-o", "rows/", *arguments)
    assert read("rows").equals(in_one_file(*arguments))


def test_the_best_rows_go_to_parts(on_disk: None) -> None:
    match("-o", "rows/", "--top-k", "600")
    assert read("rows").equals(in_one_file("--top-k", "600"))


def test_no_rows_are_one_empty_part() -> None:
    match("-o", "rows/", "--min-confidence", "1", "--since", "2020-01-01T00:00:00Z")
    assert sizes("rows") == [0]


def test_the_default_cap_does_not_hold_where_rows_go_to_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    from cepctl.cli.commands import match as command

    monkeypatch.setattr(command, "MATCHES_IN_PARTS", ROWS - 1)
    match("-o", "rows/", code=2)
    match("-o", "rows/", "--max-matches", str(ROWS))
    match("-o", "others/", "--max-matches", str(ROWS - 1), code=2)
    assert not Path("others").exists()


def test_groups_are_held_to_the_default_cap_in_folders_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def find(question: Question, *_: object, **__: object) -> None:
        seen.append(question.matching.max_matches)
        raise UsageError("enough")

    monkeypatch.setattr("cepctl.cli.match.whole_run.find_matches", find)
    for pattern in ("SEQ(A a, B+ b[])", QUERY.removeprefix("PATTERN ")):
        assert main(["match", f"PATTERN {pattern}", "events.parquet", "-o", "rows/"]) == 2
    assert seen == [10_000_000, 10_000_000_000]


def test_what_is_there_is_kept_unless_it_is_to_be_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    match("-o", "rows/")
    match("-o", "rows/", "--limit", "3", code=2)
    assert "exists; choose another output, or replace it with --overwrite" in capsys.readouterr().err
    assert sum(sizes("rows")) == ROWS
    match("-o", "rows", "--limit", "3", "--overwrite")
    assert sizes("rows") == [3]


@pytest.mark.parametrize("marker", [None, "", '{"rows": 3}'])
def test_what_we_have_not_written_is_never_replaced(
    marker: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rows").mkdir()
    Path("rows/part-00000.parquet").write_text("mine")
    if marker is not None:
        Path("rows/_SUCCESS").write_text(marker)
    match("-o", "rows/", "--overwrite", code=2)
    assert "is not a folder of rows, so --overwrite does not replace it" in capsys.readouterr().err
    assert Path("rows/part-00000.parquet").read_text() == "mine"


def test_a_folder_of_rows_with_another_file_is_not_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    match("-o", "rows/")
    Path("rows/notes.txt").write_text("mine")
    match("-o", "rows/", "--overwrite", code=2)
    assert "rows holds notes.txt, which cepctl has not written" in capsys.readouterr().err
    assert Path("rows/notes.txt").read_text() == "mine"


def test_a_run_that_fails_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, folder: Path, on_disk: None
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(row_folders.RowFolder, "publish", full)
    match("-o", "rows/", code=4)
    assert sorted(path.name for path in folder.iterdir()) == ["events.parquet"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "rows/", "--format", "csv"], "--format csv cannot apply to -o rows/, a folder"),
        (["-o", "no/rows/"], "there is no directory no"),
        (["-o", "rows.csv", "--overwrite"], "--overwrite cannot apply without a folder of rows"),
        (["--overwrite"], "--overwrite cannot apply without a folder of rows"),
        (["-o", "./", "--overwrite"], "would overwrite the input events.parquet"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    match(*arguments, code=2)
    assert said in capsys.readouterr().err
    assert not Path("rows").exists()


@pytest.mark.spark
def test_tasks_of_spark_write_the_same_bytes(on_disk: None, spark: Session) -> None:
    match("-o", "here/")
    match("-o", "there/", "--runner", "spark", "--master", "local[2]")
    parts = [sorted(Path(name).glob("part-*")) for name in ("here", "there")]
    assert [each.read_bytes() for each in parts[0]] == [each.read_bytes() for each in parts[1]]

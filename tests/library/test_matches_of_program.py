"""`cepctl.match` in a program: events in any form give the rows that the command line writes."""

from __future__ import annotations

import gc
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

import cepctl
from cepctl.cli import main
from cepctl.errors import CepctlError, QuerySyntaxError, UsageError

QUERY = "PATTERN SEQ(A a, B b) WITHIN 20 ticks RETURN a.task"
EVENTS = pa.table(
    {
        "event_type": ["A", "A", "B"],
        "lower": [1, 30, 3],
        "upper": [4, 31, 6],
        "task": ["t1", "t2", "t3"],
    }
)


def test_rows_are_a_table_with_the_columns_of_the_command_line() -> None:
    matches = cepctl.match(QUERY, EVENTS)
    assert matches.arrow().column_names == ["a.task", "confidence", "start", "end", "match", "signature"]
    assert list(matches) == [
        {
            "match": "table#1 table#3",
            "signature": [["table#1"], ["table#3"]],
            "start": datetime(1970, 1, 1, 0, 0, 0, 1000, UTC),
            "end": datetime(1970, 1, 1, 0, 0, 0, 6000, UTC),
            "confidence": 13 / 16,
            "a.task": "t1",
        }
    ]
    assert len(matches) == matches.polars().height == 1


def test_times_can_be_ticks() -> None:
    (row,) = cepctl.match(QUERY, EVENTS, time="ticks")
    assert (row["start"], row["end"]) == (1, 6)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_temporary_files_are_gone_after_the_block(temporary: Path) -> None:
    with cepctl.match(QUERY, EVENTS) as matches:
        assert list(temporary.iterdir()) != []
    assert list(temporary.iterdir()) == []
    assert [row["match"] for row in matches] == ["table#1 table#3"]  # few rows were held in memory


def test_temporary_files_are_gone_with_the_matches(temporary: Path) -> None:
    matches = cepctl.match(QUERY, EVENTS)
    assert list(temporary.iterdir()) != []
    del matches
    gc.collect()
    assert list(temporary.iterdir()) == []


def test_temporary_files_are_gone_after_an_error(temporary: Path) -> None:
    with pytest.raises(CepctlError, match="tsk"):
        cepctl.match("PATTERN SEQ(A a, B b) WHERE a.tsk = b.tsk", EVENTS)
    assert list(temporary.iterdir()) == []


def test_a_summary_says_what_the_command_line_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "events.csv"
    file.write_text("event_type,time,lower,upper\nA,5,1,9\nB,6,2,9\nB,4,1,9\n")
    summary = cepctl.match("PATTERN SEQ(A a, B b)", file).summary
    assert (summary.found, summary.rows, summary.events, summary.counts.missed) == (2, 2, 3, 1)
    assert main(["match", "PATTERN SEQ(A a, B b)", str(file), "--runner", "local"]) == 0
    told = capsys.readouterr().err.strip()
    assert str(summary).split(" s; ")[1] == told.split(" s; ")[1]
    assert str(summary).startswith("2 matches in 3 events, 3 after filters, ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "evnt"}, "engine cannot be 'evnt'; choose one of 'event', 'point', 'worlds'"),
        ({"top_k": 0}, "top_k cannot be 0; it is at least 1"),
        ({"min_confidence": float("nan")}, "min_confidence cannot be nan; it is between 0.0 and 1.0"),
        ({"since": "soon"}, "since: 'soon' is not an ISO 8601 time"),
        ({"max_memory": "2 apples"}, "'2 apples' is not a size of memory"),
        ({"runner": "cluster"}, "runner cannot be 'cluster'"),
        ({"runner": "local", "master": "yarn"}, "spark, master and conf are for Spark"),
        ({"epoch_unit": "h"}, "epoch_unit cannot be 'h'"),
    ],
)
def test_options_that_cannot_be_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as problem:
        cepctl.match(QUERY, EVENTS, **options)  # type: ignore[arg-type]
    assert str(problem.value).startswith(message)


def test_an_option_that_does_not_exist_is_a_mistake_of_the_program() -> None:
    with pytest.raises(TypeError, match="there is no option 'tzz'; did you mean 'tz'"):
        cepctl.match(QUERY, EVENTS, tzz="UTC")  # type: ignore[call-arg]


def test_a_query_is_text_or_the_path_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "query.cep"
    file.write_text(QUERY)
    assert len(cepctl.match(file, EVENTS)) == 1
    with pytest.raises(UsageError, match="to read the file give pathlib"):
        cepctl.match("@query.cep", EVENTS)
    with pytest.raises(QuerySyntaxError):
        cepctl.match("PATTERN", EVENTS)


def test_what_is_not_events_is_named() -> None:
    with pytest.raises(UsageError, match="int is not events"):
        cepctl.match(QUERY, 7)
    with pytest.raises(UsageError, match="there are no events"):
        cepctl.match(QUERY, [])


def test_nothing_is_printed_and_notes_are_records(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "cepctl")
    cepctl.match(QUERY, EVENTS, name={"C": "D"})
    assert capfd.readouterr() == ("", "")
    assert [(record.name, record.levelname) for record in caplog.records] == [("cepctl.reading", "WARNING")]
    assert "--name" in caplog.records[0].getMessage()
    assert vars(caplog.records[0])["notice"].kind == "warning"


def test_without_pandas_the_other_forms_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(UsageError, match="pandas is not installed"):
        cepctl.match(QUERY, EVENTS).pandas()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "worlds", "approximate": 0.1}, "approximate cannot apply with engine='worlds'"),
        ({"engine": "point", "order": "sort"}, "order cannot apply with engine='point'"),
        ({"kleene": "summary", "approximate": 0.1}, "approximate cannot apply with kleene='summary'"),
        ({"epoch_unit": "s", "time_format": "%H"}, "epoch_unit cannot apply with time_format='%H'"),
    ],
)
def test_options_that_cannot_apply_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as problem:
        cepctl.match(QUERY, EVENTS, **options)  # type: ignore[arg-type]
    assert str(problem.value).startswith(message)


def test_options_for_logs_are_refused_for_a_dataset(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    dataset = cepctl.ingest(EVENTS, tmp_path / "events")
    for call in (cepctl.match, cepctl.explain):
        with pytest.raises(UsageError, match="tz cannot apply to the dataset"):
            call(QUERY, dataset, tz="UTC")
    with pytest.raises(UsageError, match="tz cannot apply to the dataset"):
        cepctl.inspect(dataset, tz="UTC")
    with pytest.raises(UsageError, match="tz cannot apply without events"):
        cepctl.explain(QUERY, tz="UTC")
    others = pa.table({"event_type": ["B"], "event_id": ["b9"], "lower": [8], "upper": [8], "task": ["t9"]})
    caplog.set_level("INFO", "cepctl")
    assert len(cepctl.match(QUERY, [dataset, others], tz="UTC")) == 2
    assert "tz applies to the other inputs, not to the dataset" in caplog.text

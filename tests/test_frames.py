"""`frame.cep` of Polars and pandas, `%%cep`, and what else hands over Arrow."""

from __future__ import annotations

import importlib
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cepctl
import cepctl.frames
from cepctl.cli import main
from cepctl.errors import CepctlError, EventSchemaError

IN_A_LINE: type[Exception] = (
    CepctlError if find_spec("IPython") is None else importlib.import_module("IPython.core.error").UsageError
)
"""What a notebook shows as a line."""
QUERY = "PATTERN SEQ(A a, B b) WHERE [key] RETURN a.key, b.x AS x"
COLUMNS: dict[str, list[Any]] = {
    "event_id": ["a1", "b1"], "event_type": ["A", "B"], "lower": [1, 3], "upper": [4, 6],
    "key": [7, 7], "x": [0.5, 1.5],
}  # fmt: skip


@pytest.fixture
def polars() -> Any:
    return pl.DataFrame(COLUMNS)


def test_matches_of_a_frame_have_the_types_of_the_parquet_of_the_command(
    polars: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    polars.write_parquet("events.parquet")
    assert main(["match", QUERY, "events.parquet", "--runner", "local", "-o", "rows.parquet"]) == 0
    written = pq.read_table("rows.parquet")
    found = polars.cep.match(QUERY)
    assert isinstance(found, pl.DataFrame)
    read = pl.from_arrow(written)
    assert isinstance(read, pl.DataFrame)
    assert found.equals(read)
    assert found.schema == read.schema
    assert found["confidence"].to_list() == [0.8125]


def test_a_lazy_frame_can_be_asked_too(polars: Any) -> None:
    assert polars.lazy().cep.match(QUERY).equals(polars.cep.match(QUERY))


def test_a_frame_of_pandas_gives_one_of_pandas(polars: Any) -> None:
    frame = cast(Any, pd.DataFrame(COLUMNS))
    found = frame.cep.match(QUERY, time="ticks")
    assert isinstance(found, pd.DataFrame)
    assert found[["a.key", "x", "confidence", "start", "end"]].to_numpy().tolist() == [[7, 1.5, 0.8125, 1, 6]]


def test_a_program_gets_the_matches_themselves(polars: Any) -> None:
    assert str(polars.cep.matches(QUERY).summary).startswith("1 match in 2 events")


def test_what_follows_is_a_frame_of_the_same_library(polars: Any) -> None:
    assert polars.cep.follows(by="key").rows()[0][:3] == ("A", "B", 0)
    assert list(cast(Any, pd.DataFrame(COLUMNS)).cep.follows(by="key")["greatest"]) == [1, 1]


def test_a_frame_without_times_says_what_events_need() -> None:
    frames: list[Any] = [pl.DataFrame({"event_type": ["A"]}), pd.DataFrame({"event_type": ["A"]})]
    for frame in frames:
        with pytest.raises(EventSchemaError, match=r"no column of times \(columns: event_type\)"):
            frame.cep.match("PATTERN A a")


def test_of_two_columns_of_times_neither_is_guessed() -> None:
    times = {"started": [datetime(2026, 1, 1)], "ended": [datetime(2026, 1, 2)]}
    frames: list[Any] = [
        pl.DataFrame({"event_type": ["A"], **times}),
        pd.DataFrame({"event_type": ["A"], **times}),
    ]
    for frame in frames:
        with pytest.raises(
            EventSchemaError, match=r"columns of times are started, ended.*map=\{'time': 'started'\}"
        ):
            frame.cep.match("PATTERN A a")
        assert len(frame.cep.match("PATTERN A a", map={"time": "ended"})) == 1


class Shell:
    """As much of a notebook's shell as a magic needs."""

    def __init__(self, **names: object) -> None:
        self.user_ns: dict[str, Any] = dict(names)
        self.magics: dict[str, Any] = {}

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        assert kind == "cell"
        self.magics[name] = function


def test_a_cell_is_a_query_and_its_matches_are_kept(polars: Any, tmp_path: Path) -> None:
    shell = Shell(events=polars)
    cepctl.frames.load_ipython_extension(shell)
    shown = shell.magics["cep"]("events -o found top_k=1 time=ticks", QUERY)
    assert shell.user_ns["found"] is shown
    assert [row["confidence"] for row in shown] == [0.8125]
    polars.write_parquet(tmp_path / "e.parquet")
    assert len(shell.magics["cep"](str(tmp_path / "e.parquet"), QUERY)) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "name a variable that holds events"),
        ("events top_k", "option=value"),
        ("events -o", "-o takes the name"),
        ("events topk=1", "there is no option 'topk'"),
        ("events engine=best", "engine"),
        ("nowhere.csv", "nowhere.csv"),
    ],
)
def test_a_wrong_line_of_the_magic_is_told(line: str, said: str, polars: Any) -> None:
    shell = Shell(events=polars)
    cepctl.frames.load_ipython_extension(shell)
    with pytest.raises(IN_A_LINE, match=said):
        shell.magics["cep"](line, QUERY)


def test_the_magic_is_known_to_ipython(polars: Any) -> None:
    testing = pytest.importorskip("IPython.testing.globalipapp")
    shell = testing.start_ipython() or testing.get_ipython()
    shell.run_line_magic("load_ext", "cepctl.frames")
    shell.user_ns["events"] = polars
    assert len(shell.run_cell_magic("cep", "events", QUERY)) == 1


def test_a_relation_of_duckdb_is_events() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select 'A' as event_type, 1 as lower, 4 as upper union all select 'B', 3, 6")
    assert [row["confidence"] for row in cepctl.match("PATTERN SEQ(A a, B b)", relation)] == [0.8125]


class Stream:
    """Something that hands over Arrow, and of which nothing else is known."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return pa.table(COLUMNS).__arrow_c_stream__(requested_schema)


def test_anything_that_hands_over_arrow_is_events() -> None:
    assert len(cepctl.match(QUERY, Stream())) == 1


def test_a_wrong_option_is_an_error_of_cepctl(polars: Any) -> None:
    with pytest.raises((CepctlError, TypeError)):
        polars.cep.match(QUERY, top_kk=3)

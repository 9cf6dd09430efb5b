"""Slow logs of MySQL as files: records of several lines, when statements were over and how long they took."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.errors import LogFormatError

TIME = "# Time: 2026-06-14T08:15:04.978001Z\n"
USER = "# User@Host: shop[shop] @ web1 [10.0.0.7]  Id:    17\n"
COST = "# Query_time: 2.500000  Lock_time: 0.000120 Rows_sent: 1  Rows_examined: 400000\n"


def taken(folder: Path, text: str, **options: Any) -> tuple[list[dict[str, Any]], Any]:
    (folder / "slow.log").write_text(text)
    made = cepctl.ingest(folder / "slow.log", folder / "events", overwrite=True, **options)
    return pq.read_table(folder / "events").sort_by("lower").to_pylist(), made.summary


def test_a_statement_is_an_event_when_it_was_over(tmp_path: Path) -> None:
    ((row,), summary) = taken(
        tmp_path, f"{TIME}{USER}{COST}use shop;\nSET timestamp=1781424902;\nselect *\n  from x;\n"
    )
    assert (summary.accounts[0].format, summary.type_counts, summary.rejected) == (
        "mysql-slow",
        {"Query": 1},
        {},
    )
    assert str(row["time"]) == "2026-06-14 08:15:04.978001+00:00"
    told = {name: row[name] for name in ("user", "host", "address", "Id", "Query_time", "Rows_sent", "verb")}
    assert told == {
        "user": "shop", "host": "web1", "address": "10.0.0.7", "Id": 17,
        "Query_time": 2.5, "Rows_sent": 1, "verb": "SELECT",
    }  # fmt: skip
    assert row["statement"] == "select *\n  from x;"


def test_with_intervals_it_lasts_from_its_beginning_on(tmp_path: Path) -> None:
    ((row,), _) = taken(tmp_path, f"{TIME}{USER}{COST}select 1;\n", intervals=True)
    assert row["end_lower"] - row["lower"] == 2_500_000


def test_records_below_one_time_all_have_it(tmp_path: Path) -> None:
    rows, summary = taken(tmp_path, f"{TIME}{USER}{COST}select 1;\n{USER}{COST}delete from x;\n")
    assert summary.records == 2
    assert [(row["verb"], str(row["time"])[11:19]) for row in rows] == [
        ("SELECT", "08:15:04"),
        ("DELETE", "08:15:04"),
    ]


def test_older_servers_write_the_time_otherwise(tmp_path: Path) -> None:
    rows, _ = taken(tmp_path, f"# Time: 260614  8:15:04\n{USER}{COST}select 1;\n", tz="Europe/Berlin")
    assert (str(rows[0]["time"]), rows[0]["upper"] - rows[0]["lower"]) == ("2026-06-14 06:15:04+00:00", 999)


def test_a_record_without_its_length_or_time_is_rejected(tmp_path: Path) -> None:
    good = f"{TIME}{USER}{COST}select 1;\n" * 9
    _, summary = taken(tmp_path, f"{good}{TIME}{USER}select 2;\n# Time: ?\n{USER}{COST}select 3;\n")
    assert dict(summary.rejected) == {"the record has no Query_time": 1, "no time": 1}


def test_a_statement_of_a_million_lines_is_cut_and_that_is_said(tmp_path: Path) -> None:
    rows, summary = taken(
        tmp_path, f"{TIME}{USER}{COST}" + "select 1 +\n" * 200_000 + f"{TIME}{USER}{COST}x;\n"
    )
    assert [len(row["statement"]) > 1_000_000 for row in rows] == [True, False]
    assert len(rows[0]["statement"]) < 1_200_000
    assert any("statements longer than 1 MiB" in each for each in summary.notices)


def test_other_text_with_comments_is_no_slow_log(tmp_path: Path) -> None:
    with pytest.raises(LogFormatError, match="of no known format"):
        taken(tmp_path, "# Time: none\n# a script\necho hello\n")


@pytest.mark.parametrize("length", ["9" * 400 + ".5", "9" * 30])
def test_a_length_beyond_all_time_costs_its_record(tmp_path: Path, length: str) -> None:
    good = f"{TIME}{USER}{COST}select 1;\n" * 9
    _, summary = taken(tmp_path, f"{good}{TIME}{USER}{COST.replace('2.500000', length)}x;\n", intervals=True)
    assert dict(summary.rejected) == {"the record has no Query_time": 1}


def test_a_changed_line_before_the_length_costs_itself_alone(tmp_path: Path) -> None:
    changed = USER.replace("# U", "#\0U")
    ((row, _), summary) = taken(tmp_path, f"{TIME}{changed}{COST}select 1;\n{TIME}{USER}{COST}select 2;\n")
    assert (row["statement"], row["verb"], row["user"]) == ("select 1;", "SELECT", None)
    assert summary.rejected == {"a line before Query_time that is no statement": 1}


def test_a_record_of_which_no_line_is_known_is_rejected(tmp_path: Path) -> None:
    changed = (USER + COST).replace("# ", "#\0")
    (rows, summary) = taken(tmp_path, f"{TIME}{changed}select 1;\n{TIME}{USER}{COST}select 2;\n")
    assert [row["statement"] for row in rows] == ["select 2;"]
    assert sum(summary.rejected.values()) == 1

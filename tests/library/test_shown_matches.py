"""Matches as a terminal and a notebook show them: few rows of many, and nothing of a log is obeyed."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import cepctl
from cepctl.cli import main
from cepctl.library.matches import Matches
from cepctl.process.memory import MemoryBudget

MARKUP = "<script>alert(1)</script>"
FRAME = re.compile(r'<iframe data-cepctl sandbox="allow-scripts"[^>]* srcdoc="([^"]*)"')


def matches_of(
    task: str = "t1", rows: int = 1, query: str = "PATTERN SEQ(A a, B b) RETURN a.task"
) -> Matches:
    """So many matches; the task of their first event is given."""
    starts = pa.table(
        {"event_type": ["A"] * rows, "event_id": [f"a{n}" for n in range(rows)], "lower": range(rows)}
    )
    ends = pa.table({"event_type": ["B"], "event_id": ["b"], "lower": [rows + 1]})
    events = pa.concat_tables([starts, ends])
    return cepctl.match(
        query,
        events.append_column("upper", events.column("lower")).append_column(
            "task", pa.array([task] * (rows + 1))
        ),
    )


def test_a_terminal_gets_a_table_and_the_summary() -> None:
    shown = repr(matches_of())
    assert shown.splitlines()[0].split() == ["a.task", "confidence", "start", "end", "match"]
    assert shown.splitlines()[1].split()[:2] == ["t1", "1.000000"]
    assert shown.splitlines()[1].endswith("  a0 b")
    assert shown.splitlines()[-1].startswith("1 match in 2 events, 2 after filters, ")


JOINED = pa.table(
    {
        "event_type": ["A", "B", "C", "A", "D", "B"],
        "event_id": [f"e{n}" for n in range(6)],
        "lower": [1, 3, 5, 7, 9, 11],
        "upper": [2, 4, 6, 8, 10, 12],
        "host": ["n1", "n1", "n1", "n2", "n2", "n2"],
        "task": [7, 7, 8, 9, 9, None],
    }
)


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, B b) WHERE [host]",
        "PATTERN SEQ(A a, B|C b) WHERE [host] AND a.task <= b.task",
        "PATTERN OR(SEQ(A a, C c), SEQ(A a, D d)) WHERE a.task = c.task AND a.host = d.host",
        "PATTERN SEQ(A a, B+ b[], * c) WHERE [host]",
        "PATTERN SEQ(A A1, D d) WHERE a1.task = d.task",
        "PATTERN SEQ(A a, B b)",
    ],
)
def test_rows_show_what_joins_their_events_as_on_the_command_line(
    query: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = tmp_path / "events.parquet"
    pyarrow.parquet.write_table(JOINED, events)
    assert main(["match", query, str(events), "--format", "table", "--quiet"]) == 0
    shown = capsys.readouterr().out
    matches = cepctl.match(query, events)
    assert repr(matches).splitlines()[:-1] == shown.splitlines()
    assert len(shown.splitlines()) > 1
    assert matches.arrow().column_names == ["confidence", "start", "end", "match", "signature"]


def test_a_notebook_shows_what_joins_the_events() -> None:
    html = cepctl.match("PATTERN SEQ(A a, B b) WHERE [host]", JOINED)._repr_html_()
    assert "<th>host</th><th>confidence</th>" in html
    assert "<td>n2</td>" in html


def test_few_rows_of_many_are_shown() -> None:
    matches = matches_of(rows=25)
    lines = repr(matches).splitlines()
    assert lines[-2] == "... and 5 more rows"
    assert sum(line.count("1.000000") for line in lines) == 20
    html = matches._repr_html_()
    assert html.split("<iframe")[0].count("<tr>") == 21
    assert "<p>... and 5 more rows</p>" in html
    assert matches.head(3).column("match").to_pylist() == ["a0 b", "a1 b", "a2 b"]


def test_no_matches_are_said_in_one_line() -> None:
    matches = matches_of(query="PATTERN SEQ(B b, A a)")
    assert repr(matches).startswith("0 matches in 2 events")
    assert "<table>" not in matches._repr_html_()


def test_a_terminal_shows_control_characters() -> None:
    assert "\x1b" not in repr(matches_of("\x1b[2J"))
    assert "\\x1b[2J" in repr(matches_of("\x1b[2J"))


def test_a_notebook_never_reads_a_log_as_markup() -> None:
    html = matches_of(MARKUP)._repr_html_()
    assert "<script>alert" not in html
    assert ">&lt;script&gt;alert(1)&lt;/script&gt;</td>" in html


def test_a_notebook_gets_the_page_of_the_report_in_a_frame() -> None:
    (page,) = FRAME.findall(matches_of(MARKUP)._repr_html_())
    page = unescape(page)
    assert page.startswith("<!DOCTYPE html>")
    assert "default-src 'none'" in page
    assert MARKUP not in page
    assert not re.search(r"\b(?:src|href)=\"?(?:https?:)?//", page)


def test_what_is_closed_has_no_timelines() -> None:
    matches = matches_of()
    matches.close()
    assert "<td>a0 b</td>" in matches._repr_html_()
    assert "<iframe" not in matches._repr_html_()


def test_a_summary_of_groups_has_no_timelines() -> None:
    events = pa.table({"event_type": ["A", "B", "C"], "lower": [1, 2, 3], "upper": [1, 2, 3]})
    html = cepctl.match("PATTERN SEQ(A a, B+ b[], C c)", events, kleene="summary")._repr_html_()
    assert "<table>" in html
    assert "<iframe" not in html


def test_rows_on_disk_are_read_block_by_block_and_gone_when_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(MemoryBudget, "rows", property(lambda budget: 2_000))
    matches = matches_of(rows=300)
    assert matches.found.rows.spilled
    assert [row["match"] for row in matches] == sorted((f"a{n} b" for n in range(300)), key=_number)
    assert matches.head(2).num_rows == 2
    with pytest.raises(cepctl.CepctlError, match="of memory"):
        matches.arrow()
    matches.close()
    assert repr(matches).endswith("(closed)")
    with pytest.raises(cepctl.CepctlError, match="are closed"):
        list(matches)


def _number(match: str) -> int:
    return int(match[1:-2])


def test_a_notebook_gets_the_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rich, in a notebook, would show what is printed to a file, and write nothing."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "  a0 b\n" in repr(matches_of())

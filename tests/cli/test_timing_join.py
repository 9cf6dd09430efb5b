"""PTJ06's timing join from the command line: its satisfaction times, thresholds and ranges."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from cepctl.cli import cli

# Example 3: of the stamps 60, 110 and 210 the bucket (x, y] is the ticks x + 1 to y.
EVENTS = """event_id,event_type,lower,upper,pmf
a1,A,21,60,21:40:0.1|41:50:0.3|51:60:0.6
b2,B,71,110,71:80:0.15|81:90:0.3|91:100:0.4|101:110:0.15
a3,A,171,210,171:190:0.1|191:200:0.3|201:210:0.6
"""


@pytest.fixture
def events(tmp_path: Path) -> str:
    (tmp_path / "events.csv").write_text(EVENTS)
    return str(tmp_path / "events.csv")


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_row_says_when_it_is_decided(events: str) -> None:
    query = (
        "PATTERN AND(A a, B b) WITHIN 61 ticks RETURN reached(0.1), reached(0.5), reached(0.9), reached(1)"
    )
    rows = printed("match", "--runner", "local", query, events, "--time", "ticks").splitlines()
    assert rows[1:] == ["77,92,108,,0.929,21,110,a1 b2"]
    assert "1970-01-01T00:00:00.092Z" in printed("match", "--runner", "local", query, events)


@pytest.mark.parametrize(("ticks", "rows"), [(99, 1), (100, 0)])
def test_the_satisfaction_time_is_99_ticks_after_the_stamp_of_110(events: str, ticks: int, rows: int) -> None:
    query = f"PATTERN AND(A a, B b) WHERE prob(a.time - b.time >= {ticks} ticks) >= 0.8"
    assert printed("match", "--runner", "local", query, events).count("\n") == 1 + rows


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("AND(A a, B b) WITHIN 41 ticks CONFIDENCE >= 0.5", "upper(b) - upper(a) from -30 to 50"),
        ("AND(A a, B b) WITHIN 41 ticks CONFIDENCE >= 0.8", "upper(b) - upper(a) from -20 to 39"),
        # 110 + 99 = 209 is the satisfaction time; the stamps are 100 apart.
        (
            "AND(B b, A a) WHERE a.time - b.time >= 99 ticks CONFIDENCE >= 0.8",
            "upper(a) - upper(b) at least 100",
        ),
    ],
)
def test_explain_shows_the_ranges(events: str, query: str, line: str) -> None:
    assert f"    {line}: " in printed("explain", f"PATTERN {query}", events)

"""Questions about what lasts on real logs: how many rows there are is counted by Polars as well."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from cepctl.cli import main
from tests.real_cases import first_cases

pytestmark = pytest.mark.realdata

HALF_A_MINUTE = '[[rule]]\ninterval = { before = "30 s", after = "30 s" }\n'
TWO_CASES = """
    PATTERN ISEQ(* a, * b)
    WHERE [`org:resource`] AND a.case_id < b.case_id AND a INTERSECTS b BY 1 min
"""
ORDERS = """
    PATTERN ISEQ('confirm payment' a, 'make delivery' b)
    WHERE [case_id]
    RETURN prob(a BEFORE b) AS before, prob(a OVERLAPS b) AS overlaps, prob(a DURING b) AS during,
           prob(a AFTER b) AS after, prob(a OVERLAPPED_BY b) AS overlapped_by, prob(a CONTAINS b) AS contains
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ingested(log: Path, model: str) -> None:
    Path("model.toml").write_text(model)
    options = ["--uncertainty", "model.toml", "--intervals", "--runner", "local", "--quiet"]
    assert main(["ingest", str(log), "-o", "events", *options]) == 0


def rows(query: str) -> pl.DataFrame:
    assert main(["match", query, "events", "--runner", "local", "--quiet", "-o", "rows.parquet"]) == 0
    return pl.read_parquet("rows.parquet")


def both_last(start: str, end: str) -> pl.Expr:
    """Whether both are under way together for a minute, if they start and end at these times."""
    common = pl.min_horizontal(end, f"{end}_b") - pl.max_horizontal(start, f"{start}_b")
    return common.cast(pl.Int64) >= 60_000


@pytest.mark.parametrize(
    ("cases", "pairs_of_all", "recorded", "probable", "in_doubt"),
    [
        (1_500, 619, 460, 362, 310),
        pytest.param(None, 9_025, 6_634, 5_564, 4_164, marks=pytest.mark.slow),
    ],
)
def test_one_person_works_on_two_cases_at_once(
    cases: int | None,
    pairs_of_all: int,
    recorded: int,
    probable: int,
    in_doubt: int,
    real_logs: Path,
    tmp_path: Path,
) -> None:
    ingested(first_cases(real_logs / "xes" / "bpic2012.xes.gz", cases, tmp_path), HALF_A_MINUTE)
    found = rows(TWO_CASES)
    events = pl.read_parquet("events/*.parquet").filter(pl.col("end_lower").is_not_null())
    times = [pl.col(name).dt.epoch("ms") for name in ("time", "end_time")]
    events = events.select("case_id", "org:resource", "lower", "end_upper", *times)
    pairs = events.join(events, on="org:resource", suffix="_b").filter(
        pl.col("case_id") < pl.col("case_id_b"), both_last("lower", "end_upper")
    )
    assert len(found) == len(pairs) == pairs_of_all
    assert pairs.filter(both_last("time", "end_time")).height == recorded
    assert found.filter(pl.col("confidence") >= 0.9).height == probable
    assert found.filter(pl.col("confidence") < 1.0).height == in_doubt


def test_payment_against_delivery(real_logs: Path) -> None:
    ingested(
        first_cases(real_logs / "xes" / "interval_event_log.xes", None, Path()),
        '[[rule]]\ninterval = { before = "1 min", after = "1 min" }\n',
    )
    found = rows(ORDERS)
    events = pl.read_parquet("events/*.parquet").select("case_id", "event_type")
    payments, deliveries = (
        events.filter(pl.col("event_type") == name) for name in ("confirm payment", "make delivery")
    )
    assert len(found) == len(payments.join(deliveries, on="case_id")) == 1_125
    expected = {
        "before": 217.2,
        "overlaps": 11.1,
        "during": 35.3,
        "after": 851.1,
        "overlapped_by": 7.5,
        "contains": 2.8,
    }
    sums = {name: round(float(found[name].sum()), 1) for name in expected}
    assert sums == expected

"""Which case, which clerk, which host: answers on real logs, with those of the stamps alone beside them."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from cepctl.cli import main

pytestmark = pytest.mark.realdata

HUNDREDTH = '[[rule]]\nsource = "*.json"\ninterval = { before = "10 ms", after = "10 ms" }\n'
SECOND = '[[rule]]\ninterval = { before = "1 s", after = "1 s" }\n'
IN_ORDER = "GIVEN SEQ(* p, * q) IF p.case_id = q.case_id AND p.seq < q.seq"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ingested(log: Path, *options: str) -> pl.DataFrame:
    if not log.exists():
        pytest.skip(f"CEPCTL_REALDATA has no {log.name}")
    assert main(["ingest", str(log), "-o", "events", "--runner", "local", "--quiet", *options]) == 0
    return pl.read_parquet("events/*.parquet")


def rows(query: str, events: str = "events") -> pl.DataFrame:
    assert main(["match", query, events, "--runner", "local", "--quiet", "-o", "rows.parquet"]) == 0
    return pl.read_parquet("rows.parquet")


def answers(query: str) -> dict[str, float]:
    found = rows(query)
    return dict(zip(found.get_column("key"), found.get_column("occurrence"), strict=True))


def of_type(events: pl.DataFrame, name: str, *columns: str) -> pl.DataFrame:
    chosen = events.filter(pl.col("event_type") == name)
    return chosen.select("case_id", pl.col("time").alias(name), *columns)


def test_which_cases_were_paid_before_the_penalty(real_logs: Path) -> None:
    events = ingested(real_logs / "xes" / "roadtraffic100traces.xes")
    found = answers(
        'PATTERN SEQ(Payment p, "Add penalty" q) WHERE [case_id] GROUP BY q.case_id RETURN q.case_id AS key'
    )
    both = of_type(events, "Payment").join(of_type(events, "Add penalty"), on="case_id")
    by_stamps = set(both.filter(pl.col("Payment") < pl.col("Add penalty")).get_column("case_id"))
    assert {key for key, chance in found.items() if chance == 1.0} == by_stamps
    assert len(by_stamps) == 5
    # Payment and penalty on one day.
    assert {key: chance for key, chance in found.items() if chance < 1.0} == {
        "A43678": pytest.approx(0.5, abs=1e-5)
    }


def test_which_clerks_made_fines_that_were_paid_before_the_penalty(real_logs: Path) -> None:
    events = ingested(real_logs / "xes" / "roadtraffic100traces.xes")
    found = answers(
        'PATTERN SEQ("Create Fine" c, Payment p, "Add penalty" q) WHERE [case_id] '
        "GROUP BY c.`org:resource` RETURN c.`org:resource` AS key"
    )
    made = of_type(events, "Create Fine", "org:resource")
    paid = made.join(of_type(events, "Payment"), on="case_id").join(
        of_type(events, "Add penalty"), on="case_id"
    )
    in_order = (pl.col("Create Fine") < pl.col("Payment")) & (pl.col("Payment") < pl.col("Add penalty"))
    by_stamps = set(paid.filter(in_order).get_column("org:resource"))
    assert by_stamps == {"49", "541", "554", "555", "559"}
    assert found == {**dict.fromkeys(by_stamps, 1.0), "561": pytest.approx(0.5, abs=1e-5)}


def test_on_which_hosts_three_tasks_finished_at_once(real_logs: Path) -> None:
    """Within ten milliseconds, stamped to the millisecond by a clock that may be ten off for each record."""
    Path("model.toml").write_text(HUNDREDTH)
    log = real_logs / "hadoop" / "rumen" / "2jobs2min-rumen-jh.json"
    events = ingested(log, "--uncertainty", "model.toml")
    found = answers(
        "PATTERN SEQ(TaskFinish f, TaskFinish g, TaskFinish h) WHERE [node] WITHIN 10 ms "
        "GROUP BY f.node RETURN f.node AS key"
    )
    expected = {"a2118": 0.497529322, "a2115": 0.399778847, "a2117": 0.100734776, "a2116": 0.058417018}
    assert found == {
        f"{host}.smile.com": pytest.approx(chance, abs=1e-9) for host, chance in expected.items()
    }
    stamps = events.filter(pl.col("event_type") == "TaskFinish").select("node", "time").sort("node", "time")
    third = (pl.col("time") - pl.col("time").shift(2)).over("node") < pl.duration(milliseconds=10)
    times = stamps.unique().sort("node", "time")
    assert not times.filter(third).height


def test_the_order_of_a_trace_decides_what_day_stamps_leave_open(real_logs: Path) -> None:
    events = ingested(real_logs / "xes" / "roadtraffic100traces.xes")
    number = pl.col("event_id").str.split("#").list.last().cast(pl.Int64)
    events.with_columns(seq=number).write_parquet("in-order.parquet")
    query = "PATTERN SEQ(* a, * b) WHERE [case_id]"
    by_days = rows(query, "in-order.parquet").get_column("confidence")
    certain = 1 - 1e-12
    assert (len(by_days), (by_days < certain).sum()) == (715, 32)
    in_order = rows(f"{query} {IN_ORDER}", "in-order.parquet").get_column("confidence")
    assert (len(in_order), (in_order < certain).sum()) == (699, 0)


def test_which_tasks_were_retried_until_they_worked(real_logs: Path) -> None:
    """What the page shows of this log, and what its stamps alone say."""
    page = (Path(__file__).parent.parent / "docs" / "asked-retried.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^(task_200904\w+),.*,([\d.]+)$", page, re.MULTILINE))
    Path("model.toml").write_text(SECOND)
    log = real_logs / "hadoop" / "history-v20" / "dispatch-sample-v20-jt-log.gz"
    events = ingested(log, "--uncertainty", "model.toml")
    found = rows(
        "PATTERN SEQ(AttemptFail|AttemptKill+ f[], MapAttemptFinish s) WHERE [task_id] WITHIN 1 h "
        "STRATEGY skip_till_next_match RETURN s.task_id AS task"
    )
    chances = dict(found.select("task", "confidence").iter_rows())
    assert {task: f"{chance:.10g}"[: len(shown[task].rstrip("."))] for task, chance in chances.items()} == {
        task: chance.rstrip(".").removesuffix(".0") for task, chance in shown.items()
    }
    failed = events.filter(pl.col("event_type").is_in(["AttemptFail", "AttemptKill"]))
    done = events.filter(pl.col("event_type") == "MapAttemptFinish")
    both = failed.join(done, on="task_id", suffix="_done")
    by_stamps = set(both.filter(pl.col("time") < pl.col("time_done")).get_column("task_id"))
    assert len(by_stamps) == 7
    assert set(chances) - by_stamps == {"task_200904211745_0004_m_000045"}


@pytest.mark.parametrize(
    ("log", "tasks"), [("job_2.4.0-FAILED", 1), ("job_2.0.3-alpha-FAILED", 1), ("job_0.23.9-FAILED", 2)]
)
def test_three_failed_attempts_and_then_no_success(log: str, tasks: int, real_logs: Path) -> None:
    """A fourth one fails, or is killed, with the task; by the stamps alone it does not come into question."""
    Path("model.toml").write_text(SECOND)
    ingested(real_logs / "hadoop" / "jhist" / f"{log}.jhist", "--uncertainty", "model.toml")
    three = "WHERE [task_id] WITHIN 1 h STRATEGY skip_till_next_match"
    assert rows(f"PATTERN SEQ(AttemptFail{{3}} f[], MapAttemptFinish s) {three}").is_empty()
    chances = rows(f"PATTERN SEQ(AttemptFail{{3}} f[], TaskFail s) {three}").get_column("confidence")
    assert chances.filter(chances == 1.0).len() == tasks
    assert chances.filter(chances < 1.0).is_close(0.49975, abs_tol=1e-5).all()

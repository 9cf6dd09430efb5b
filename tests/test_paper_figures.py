"""The papers' experiments: their events, and what holds their results."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cepctl.engines.event.match import match_events

BENCHMARKS = Path(__file__).resolve().parent.parent / "scripts" / "benchmarks"


@pytest.fixture(autouse=True)
def modules_of_the_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.mark.parametrize(
    ("condition", "counted"),
    [
        ("", "groups_of"),
        ("WHERE b[i].val > max(b[..i-1].val)", "rising_groups_of"),
        ("WHERE c.val < max(b[..i].val)", "topped_groups_of"),
    ],
)
def test_groups_are_counted_as_the_engine_lists_them(condition: str, counted: str) -> None:
    import paper_judge
    from paper_events import of_types
    from workloads import plan_for

    events = of_types(300, 0, {"A": 0.1, "B": 0.3, "C": 0.1})
    plan = plan_for(f"PATTERN SEQ(A a, B+ b[], C c) {condition} WITHIN 15 ticks")
    found = match_events(plan, events).num_rows
    assert found == getattr(paper_judge, counted)(events, 15) > 50


def test_a_cluster_has_the_same_day_again_with_keys_of_its_own(tmp_path: Path) -> None:
    from cluster_events import APART_MILLISECONDS, cluster_dataset

    path, size = cluster_dataset(tmp_path, 400)
    events = pq.read_table(path).to_pylist()
    first, second = events[: size // 2], events[size // 2 :]
    assert len(events) == size >= 400
    for one, other in zip(first, second, strict=True):
        assert other["lower"] - one["lower"] == other["upper"] - one["upper"] == APART_MILLISECONDS
        assert (one["event_type"], one["node"], one["value"]) == (
            *(other["event_type"], other["node"], other["value"]),
        )
        assert one["job_id"] is None or one["job_id"] != other["job_id"]
    assert {each["lower"] for each in second}.isdisjoint(each["lower"] for each in first)


def test_a_query_is_told_with_rows_and_peak_by_a_process_of_its_own(tmp_path: Path) -> None:
    from cluster_events import cluster_dataset
    from cluster_queries import CLUSTER_QUERIES, NEXT
    from paper_figures import Asked, Events

    path, size = cluster_dataset(tmp_path, 400)
    asked = Asked("Q2", CLUSTER_QUERIES[1].under(NEXT), Events.once(path, size), above=(0.5,))
    told = asked.told()
    assert (told["rows"], told["total"], told["above"]) == (2, 2.0, {"0.5": 2})
    assert told["measured"] == 2
    row = asked.row(told)
    assert row.count == size
    assert row.note.startswith("2 rows, peak ")
    assert asked.row({"refused": "too much; ask for less"}).note == "refused: too much"

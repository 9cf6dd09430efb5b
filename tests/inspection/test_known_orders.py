"""Orders that formats guarantee: offered where intervals leave them open, with what contradicts them."""

from __future__ import annotations

import tomllib
from dataclasses import replace

from cepctl.inspection.known_orders import KnownOrder, known_orders
from cepctl.inspection.sampling import sampled_series
from cepctl.inspection.suggestion import suggested_model
from cepctl.schema import TimeUnit
from cepctl.uncertainty.model import parse_model
from tests.inspection.observations import observed
from tests.inspection.test_suggestion import inspected

UNIT = TimeUnit.parse("1 ms")


def stamped(name: str, event_type: str, task: str, time: int, lower: int, upper: int) -> dict[str, object]:
    """An event of a task; the time in milliseconds."""
    return {
        "event_id": name,
        "event_type": event_type,
        "task_id": task,
        "time": 1_000 * time,
        "lower": lower,
        "upper": upper,
    }


TASKS = [
    stamped("s1", "TaskStart", "t1", 1_000, 900, 1_100),
    stamped("f1", "TaskFinish", "t1", 990, 950, 1_200),
    stamped("s2", "TaskStart", "t2", 5_000, 4_900, 5_100),
    stamped("f2", "TaskFinish", "t2", 9_000, 8_000, 9_000),
]
CLAUSE = "SEQ(TaskStart p, TaskFinish q) IF p.task_id = q.task_id"


def test_a_task_starts_before_it_finishes() -> None:
    (found,) = known_orders(observed(TASKS), ())
    reason = "a task starts before it finishes"
    assert found == KnownOrder(CLAUSE, reason, 2, 1, 1, 0, ("s1 and f1",))


def test_an_order_that_intervals_imply_is_not_offered() -> None:
    assert known_orders(observed(TASKS[2:]), ()) == ()


def test_samples_follow_those_logged_before_them() -> None:
    samples = [
        {"event_type": "CPU", "node": "n", "time": 15_000_000 * i, "lower": 15_000 * i - 16_000,
         "upper": 15_000 * i + 2_000, "value": 1.0}
        for i in range(1, 41)
    ]  # fmt: skip
    events = observed(samples)
    (found,) = known_orders(events, sampled_series(events, UNIT))
    assert found.holds == "SEQ(CPU p, CPU q) IF p.node = q.node AND p.lower < q.lower"
    assert (found.pairs, found.overlapping, found.contradicted) == (39, 39, 0)


def test_the_events_of_a_case_are_in_order() -> None:
    rows = [
        {"event_type": "A", "case_id": "c", "time": 1_000_000 * i, "lower": i, "upper": i + 5}
        for i in (1, 3, 9)
    ]
    (found,) = known_orders(observed(rows), ())
    assert found.holds == "SEQ(* p, * q) IF p.case_id = q.case_id AND p.lower < q.lower"
    assert (found.pairs, found.overlapping) == (2, 1)


def test_the_model_offers_them_with_evidence() -> None:
    events = observed(TASKS)
    offered = replace(inspected(events), orders_known=known_orders(events, ()))
    text = suggested_model(offered)
    assert parse_model(text).given == (CLAUSE,)
    assert "1 of 2 pairs leave both orders open." in text
    assert "The stamps of 1 are the other way round: s1 and f1." in text


def test_what_leaves_no_world_is_offered_in_comments() -> None:
    turned = [{**TASKS[2], "lower": 9_500, "upper": 9_600}, TASKS[3]]
    events = observed(turned)
    text = suggested_model(replace(inspected(events), orders_known=known_orders(events, ())))
    assert parse_model(text).given == ()
    assert f'# holds = "{CLAUSE}"' in text
    assert "The intervals of 1 leave no possible world" in text
    assert tomllib.loads(text)["time_unit"] == "1 ms"

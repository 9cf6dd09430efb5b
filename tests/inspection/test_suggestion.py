"""The suggested uncertainty model: it loads, fits what it was made from, and nothing else."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.inspection.clocks import clock_bounds
from cepctl.inspection.disorder import SharedTimes
from cepctl.inspection.granularity import granularities
from cepctl.inspection.overview import Inspection
from cepctl.inspection.sampling import sampled_series
from cepctl.inspection.suggestion import suggested_model
from cepctl.schema import TimeUnit
from cepctl.uncertainty.assign import rows_of_rules
from cepctl.uncertainty.clock_rules import OffsetRange
from cepctl.uncertainty.model import parse_model
from cepctl.uncertainty.shapes import Granularity, Interval
from tests.inspection.observations import observed

Row = dict[str, Any]
SECOND, HOUR, DAY = 1_000_000, 3_600_000_000, 86_400_000_000


def inspected(events: pl.DataFrame, unit: str = "1 ms") -> Inspection:
    tick = TimeUnit.parse(unit)
    return Inspection(
        events=events.height,
        time_unit=unit,
        first=None,
        last=None,
        uncertain=0,
        ties=SharedTimes(0, 0),
        types=(),
        attributes=(),
        orders=(),
        grains=granularities(events, tick),
        series=sampled_series(events, tick),
        clocks=clock_bounds(events, tick),
    )


def suggested(rows: list[Row]) -> str:
    return suggested_model(inspected(observed(rows)))


def won(text: str, rows: list[Row]) -> list[list[int]]:
    """For each rule of the model the rows that it fits before any other."""
    events = observed(rows)
    columns = {name: events[name].to_arrow() for name in events.columns}
    known = events["time"].is_not_null().to_numpy()
    return [flags.nonzero()[0].tolist() for flags in rows_of_rules(parse_model(text).rules, columns, known)]


def every(step: int, count: int = 40, **more: Any) -> list[Row]:
    return [{"time": number * step, **more} for number in range(1, count + 1)]


def test_a_coarse_source_gets_one_rule_with_its_evidence() -> None:
    text = suggested(every(SECOND, source="a.log") + every(SECOND, source="a.log", event_type="B"))
    assert 'source = "a.log"\ngranularity = "1 s"\n' in text
    assert "# 100.0% of 80 times are multiples of 1 s in UTC\n# (A, B).\n" in text
    (rule,) = parse_model(text).rules
    assert rule.shape == Granularity(SECOND)


def test_types_that_are_finer_or_unknown_are_left_out_of_the_rule() -> None:
    coarse = every(SECOND, source="x") + every(SECOND, source="x", event_type="B")
    rows = (
        coarse + every(1_000, source="x", event_type="fine") + every(SECOND, 3, source="x", event_type="few")
    )
    assert won(suggested(rows), rows) == [list(range(len(coarse)))]


def test_sources_that_are_alike_share_a_rule() -> None:
    rows = every(SECOND, source="x") + every(SECOND, source="y") + every(60 * SECOND, source="z")
    assert won(suggested(rows), rows) == [list(range(80)), list(range(80, 120))]


def test_what_is_as_fine_as_a_tick_or_covered_already_gets_no_rule() -> None:
    wide = [{**row, "lower": 0, "upper": 10**9} for row in every(SECOND)]
    for rows in (every(1_000), wide, every(DAY, 5)):
        text = suggested(rows)
        assert parse_model(text).rules == ()
        assert "# No rule" in text


@pytest.mark.parametrize(
    ("zone", "shift", "meaning"),
    [
        (0, 0, Granularity(DAY)),
        (2 * HOUR, -2 * HOUR, Granularity(DAY)),
        (2 * HOUR, 0, Interval(Fraction(0), Fraction(DAY - 1_000))),
    ],
)
def test_days_of_utc_written_elsewhere_become_an_interval(zone: int, shift: int, meaning: object) -> None:
    rows = [{**row, "zone": zone, "time": row["time"] + shift} for row in every(DAY)]
    (rule,) = parse_model(suggested(rows)).rules
    assert (rule.shape or rule.interval) == meaning


def test_a_sampled_type_gets_its_step_and_no_granularity() -> None:
    rows = every(15 * SECOND, node="n1", value=1.0)
    model = parse_model(suggested(rows))
    (rule,) = model.rules
    assert rule.interval == Interval(Fraction(15 * SECOND), Fraction(0))


def test_nodes_are_named_where_only_some_are_steady() -> None:
    irregular = [{"time": n * n * SECOND + 1_000, "node": "n3", "value": 1.0} for n in range(1, 40)]
    rows = every(15 * SECOND, node="n1", value=1.0) + every(15 * SECOND, node="it's", value=1.0) + irregular
    assert won(suggested(rows), rows) == [list(range(80))]


def attempt(node: str, start: int, finish: int, number: int = 0) -> list[Row]:
    ids = {"node": node, "task_id": f"t{node}{number}", "source": "h"}
    own = {**ids, "attempt_id": f"a{node}{number}"}
    return [
        {**ids, "event_type": "TaskStart", "time": 100 * SECOND},
        {**own, "event_type": "MapAttemptStart", "time": start},
        {**own, "event_type": "MapAttemptFinish", "time": finish},
        {**ids, "event_type": "TaskFinish", "time": 200 * SECOND},
    ]


def test_a_wrong_clock_shifts_what_its_node_stamped_and_nothing_else() -> None:
    rows = attempt("slow", 98 * SECOND, 150 * SECOND) + attempt("right", 101 * SECOND, 199 * SECOND)
    text = suggested(rows)
    assert "# Clock of node slow, behind: offset of -50 s to -2 s (pairs of attempt and task: 1)." in text
    assert won(text, rows) == [[1, 2]]
    (rule,) = parse_model(text).rules
    assert rule.clock is not None and rule.clock.by == "node"
    offset = rule.clock.offset
    assert isinstance(offset, OffsetRange)
    assert (offset.before, offset.after) == (Fraction(-2 * SECOND), Fraction(50 * SECOND))


def test_a_clock_that_was_set_is_told_without_a_rule() -> None:
    rows = attempt("n", 98 * SECOND, 150 * SECOND) + attempt("n", 120 * SECOND, 210 * SECOND, number=1)
    text = suggested(rows)
    assert "no constant offset" in text
    assert parse_model(text).rules == ()


@settings(deadline=None)
@given(st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8))
def test_any_name_can_stand_in_a_rule(source: str, event_type: str, node: str) -> None:
    rows = every(SECOND, source=source, event_type=event_type)
    rows += every(1_000, source=source, event_type=event_type + "!")
    rows += attempt(node, 98 * SECOND, 150 * SECOND)
    clock, granularity = won(suggested(rows), rows)
    assert clock == [81, 82]
    assert granularity == list(range(40))

"""The mean of estimates over many seeds is the exact number, for every construct that is estimated.

One estimate is off by chance, and a wrong weight may stay within the error that is allowed.  The mean of many
is off by six times its standard deviation once in fifty million times, or else it is wrong.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

from cepctl.engines.confidence.coupled.sampling import Sampling, sample_size
from cepctl.engines.confidence.occurrence import group_estimates, occurrence, rows
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.kernels.stages import only
from cepctl.errors import QueryTooLargeError
from tests.engines.agreement import FEW_EXAMPLES, check, rows_by_signature
from tests.engines.confidence.occurrence.groups_agree import by_key, grouped
from tests.plans import Event, plan_of
from tests.strategies import LEVELS, Case

ALLOWED, SEEDS = 0.1, 8
OFF = 6 * 0.5 / (SEEDS * sample_size(ALLOWED)) ** 0.5
"""How far the mean of shares of worlds may be off, relative to what is shared out."""
MANY_ROWS = Case(
    "PATTERN SEQ(A a, A b, B c) WITHIN 3 ticks GROUP BY ()",
    (
        Event("a0", "A", 0, 6), Event("a1", "A", 2, 8), Event("a2", "A", 1, 7),
        Event("b0", "B", 5, 5), Event("b1", "B", 5, 5), Event("b2", "B", 2, 9),
    ),
)  # fmt: skip


def estimates(case: Case, monkeypatch: pytest.MonkeyPatch) -> list[pa.Table]:
    """The answer where nothing is summed, by different seeds."""
    plan, tables, seed = plan_of(case.query), [], Sampling.seed
    with monkeypatch.context() as patched:
        patched.setattr(rows, "WORK_BOUND", 0)
        patched.setattr(Measure, "opened", None)
        patched.setattr(occurrence, "WORK_BOUND", 0)
        for salt in range(SEEDS):
            patched.setattr(Sampling, "seed", lambda *given, salt=salt: seed(*given) ^ (salt * 0x5DEECE66D))
            tables.append(match_events(plan, case.table, MatchOptions(approximate=ALLOWED)))
    return tables


def groups_on_average(case: Case, monkeypatch: pytest.MonkeyPatch) -> int:
    """Hold the occurrences of keys to exact ones; returns how many were estimates."""
    plan = plan_of(case.query)
    try:
        exact = by_key(match_events(plan, case.table), plan)
    except QueryTooLargeError:
        return 0
    found = [by_key(each, plan) for each in estimates(case, monkeypatch)]
    count = 0
    for key, row in exact.items():
        told = [each[key] for each in found]
        # What no seed changes is the middle of certain bounds.
        if row["occurrence"] is None or len({each["occurrence"] for each in told}) == 1:
            continue
        mean = sum(each["occurrence"] for each in told) / SEEDS
        shared = min(1.0, told[0]["occurrence_error"] / ALLOWED)
        assert abs(mean - row["occurrence"]) <= OFF * shared + 1e-9, (key, mean, row["occurrence"])
        count += 1
    return count


def rows_on_average(case: Case, monkeypatch: pytest.MonkeyPatch) -> int:
    """Hold the confidences of rows to exact ones; returns how many were estimates."""
    exact = rows_by_signature(match_events(plan_of(case.query), case.table))
    found = [rows_by_signature(each) for each in estimates(case, monkeypatch)]
    count = 0
    for signature, row in exact.items():
        told = [each[signature] for each in found]
        if all(each["confidence_error"] > 0 for each in told):
            mean = sum(each["confidence"] for each in told) / SEEDS
            assert abs(mean - row["confidence"]) <= OFF + 1e-9, (signature, mean, row["confidence"])
            count += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_occurrences_are_right_on_average(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def holds(case: Case) -> None:
        groups_on_average(case, monkeypatch)

    check(grouped(LEVELS[level]), holds, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_confidences_are_right_on_average(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def holds(case: Case) -> None:
        rows_on_average(case, monkeypatch)

    check(LEVELS[level], holds, FEW_EXAMPLES)


def test_rows_that_fill_their_boxes_are_not_favoured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three of them bind events of one tick, others such whose boxes are mostly empty."""
    assert groups_on_average(MANY_ROWS, monkeypatch) == 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["problems are drawn alike", "ticks are too early"])
def test_a_planted_weight_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "problems are drawn alike":
        monkeypatch.setattr(group_estimates, "_chosen", lambda weights, unit: int(unit * len(weights)))
    else:
        monkeypatch.setattr(
            group_estimates, "_drawn_between", lambda unit, event, buckets, lower, upper: lower
        )
    with only("interpreted"), pytest.raises((AssertionError, ZeroDivisionError)):
        groups_on_average(MANY_ROWS, monkeypatch)

"""What it means that two engines return the same rows, and how many random cases say so."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import hypothesis
import pyarrow as pa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cepctl.plan.plan import Plan

Engine: TypeAlias = Callable[[Plan, pa.Table], pa.Table]
Row: TypeAlias = Mapping[str, Any]

EVERYDAY_EXAMPLES = 8
MOST_EVERYDAY_EXAMPLES = 50
"""Of some tests, whose cases are small."""
EXAMPLES = int(os.environ.get("CEPCTL_EXAMPLES", EVERYDAY_EXAMPLES))
MANY_EXAMPLES = int(os.environ.get("CEPCTL_EXAMPLES", "2000"))
DOZEN = 12
FEW_EXAMPLES = max(EXAMPLES // 4, 1)
"""For what follows from the agreement of the engines, or costs much for each case."""
RARE_EXAMPLES = max(EXAMPLES, 20)
"""For what few cases reach."""
CONFIDENCE_ERROR = 1e-9


def rows_by_signature(matches: pa.Table) -> dict[tuple[tuple[str, ...], ...], Row]:
    """The rows of an engine; no signature may stand in two of them."""
    rows = matches.to_pylist()
    found = {tuple(map(tuple, row["signature"])): row for row in rows}
    assert len(found) == len(rows), "a signature was returned twice"
    return found


def assert_same_rows(expected: pa.Table, actual: pa.Table) -> None:
    """Same signatures, ranges and RETURN columns; confidences that differ by at most 1e-9."""
    assert actual.column_names == expected.column_names
    wanted, got = rows_by_signature(expected), rows_by_signature(actual)
    assert sorted(got) == sorted(wanted)
    for signature, row in wanted.items():
        for name, value in row.items():
            assert _same(value, got[signature][name]), (
                f"{name} of {signature}: {got[signature][name]!r} instead of {value!r}"
            )


def assert_equal_rows(expected: pa.Table, actual: pa.Table) -> None:
    """Same rows, each number to the last bit."""
    assert actual.column_names == expected.column_names
    assert rows_by_signature(actual) == rows_by_signature(expected)


def _same(expected: object, actual: object) -> bool:
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual, rel_tol=0, abs_tol=CONFIDENCE_ERROR)
    return expected == actual


def check(
    cases: st.SearchStrategy[Any],
    test: Callable[[Any], None],
    examples: int = EXAMPLES,
    *,
    shrink: bool = True,
    seed: int | None = None,
) -> None:
    """Run `test` on random cases; raises its AssertionError with the smallest case that it found.

    Everyday runs draw the same cases each time, so that what passed once does not fail a change that has
    nothing to do with it; runs of more examples draw fresh ones.  A failure that is expected needs no small
    case, and has to come every time: `shrink=False` saves the time.  Where few cases show it, twelve come
    first that are drawn with a `seed` under which one is among them.
    """
    fresh = shrink and examples > MOST_EVERYDAY_EXAMPLES
    phases = [Phase.generate, Phase.shrink] if shrink else [Phase.generate]
    drawn = settings(
        max_examples=examples,
        phases=phases,
        deadline=None,
        database=None,
        derandomize=not fresh,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )

    def each(case: Any) -> None:
        test(case)

    if seed is not None:
        hypothesis.seed(seed)(settings(drawn, max_examples=DOZEN)(given(cases)(each)))()
    drawn(given(cases)(each))()

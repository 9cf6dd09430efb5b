"""Drawn cases have the same rows, to the last bit, with kernels interpreted and with kernels compiled."""

from __future__ import annotations

import pyarrow as pa
import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.kernels.stages import Mode, only
from cepctl.errors import CepctlError
from tests.fuzzing.drawing import drawn_case
from tests.fuzzing.queries import Case

FEW, MANY = 16, 400


def answered(case: Case, mode: Mode) -> pa.Table | str:
    """The rows, or what is said instead of them."""
    try:
        plan = case.plan
        with only(mode):
            return match_events(plan, case.table)
    except CepctlError as problem:
        return f"{type(problem).__name__}: {problem}"


def told(rows: pa.Table) -> list[str]:
    """Rows in one order; the text of a number tells all its bits, and not a number is the same as itself."""
    return sorted(map(repr, rows.to_pylist()))


def require_same_bits(numbers: range) -> None:
    compared = 0
    for number in numbers:
        case = drawn_case("both ways", number)
        interpreted, compiled = answered(case, "interpreted"), answered(case, "compiled")
        if isinstance(interpreted, str) or isinstance(compiled, str):
            assert interpreted == compiled, f"case {number}"
            continue
        assert told(interpreted) == told(compiled), f"case {number}: {case.query}"
        compared += interpreted.num_rows > 0
    assert compared > len(numbers) // 4


def test_some_drawn_cases_have_the_same_bits_both_ways() -> None:
    require_same_bits(range(FEW))


@pytest.mark.slow
def test_many_drawn_cases_have_the_same_bits_both_ways() -> None:
    require_same_bits(range(FEW, FEW + MANY))

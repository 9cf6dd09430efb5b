"""PTJ06, Example 4, as a timing check: how probable is X3 - d >= X2 for two detection templates?

H3 is ((0,20,.1), (20,30,.3), (30,40,.6)) ending at 210 and H2 is ((0,10,.15), (10,20,.3),
(20,30,.4), (30,40,.15)) ending at 110.  The paper counts continuous time: 0.925 for d = 90 and
0.769 for d = 100; ticks that divide its unit finely agree to three digits.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from tests.engines.agreement import Engine
from tests.engines.exact_chain import Mass, chain_confidence
from tests.plans import event_table, histogram, plan_of

H3 = [(0, 20, "0.1"), (20, 30, "0.3"), (30, 40, "0.6")]
H2 = [(0, 10, "0.15"), (10, 20, "0.3"), (20, 30, "0.4"), (30, 40, "0.15")]
PRINTED = [(90, 0.925), (100, 0.769)]


def mass(template: list[tuple[int, int, str]], ending_at: int, ticks_per_unit: int) -> Mass:
    """A template of 40 units, laid so that it ends at a time; its buckets are half open."""
    start = ending_at - 40
    return [
        ((start + lo) * ticks_per_unit, (start + hi) * ticks_per_unit - 1, Fraction(p))
        for lo, hi, p in template
    ]


def confidence(engine: Engine, distance: int, ticks_per_unit: int) -> float:
    x3 = histogram("x3", "X3", *((lo, hi, float(p)) for lo, hi, p in mass(H3, 210, ticks_per_unit)))
    x2 = histogram("x2", "X2", *((lo, hi, float(p)) for lo, hi, p in mass(H2, 110, ticks_per_unit)))
    query = f"PATTERN AND(X2 b, X3 c) WHERE c.time - {distance * ticks_per_unit} ticks >= b.time"
    rows = engine(plan_of(query), event_table([x2, x3])).to_pylist()
    return float(rows[0]["confidence"])


@pytest.mark.parametrize(("distance", "printed"), PRINTED)
def test_exact_polynomials(distance: int, printed: float) -> None:
    unit = 1_000_000
    shifted = [(lo + distance * unit - 1, hi + distance * unit - 1, p) for lo, hi, p in mass(H2, 110, unit)]
    assert float(chain_confidence([shifted, mass(H3, 210, unit)])) == pytest.approx(printed, abs=5e-4)


@pytest.mark.parametrize(("distance", "printed"), PRINTED)
def test_the_judge_on_coarse_ticks(distance: int, printed: float) -> None:
    assert confidence(match_table, distance, ticks_per_unit=5) == pytest.approx(printed, abs=5e-3)


@pytest.mark.parametrize(("distance", "printed"), PRINTED)
def test_the_event_engine_on_fine_ticks(distance: int, printed: float) -> None:
    assert confidence(match_events, distance, ticks_per_unit=1_000) == pytest.approx(printed, abs=5e-4)

"""The event engine and what is given, against worlds counted by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.errors import ContradictionError
from tests.engines.confidence.given.worked_given import IMPOSSIBLE, STARTS_FIRST, WORKED, Worked
from tests.plans import event_table, plan_of


@pytest.mark.parametrize("worked", WORKED, ids=lambda worked: worked.query)
def test_worked_numbers(worked: Worked) -> None:
    rows = match_events(plan_of(worked.query, worked.clocks), event_table(worked.events)).to_pylist()
    found = {" ".join(i for ids in row["signature"] for i in ids): row for row in rows}
    assert set(found) == set(worked.returned)
    for signature, wanted in worked.returned.items():
        row = found[signature]
        confidence = wanted if isinstance(wanted, Fraction) else wanted[2]
        assert row["confidence"] == pytest.approx(float(confidence), rel=1e-12)
        if not isinstance(wanted, Fraction):
            assert (row["start"], row["end"]) == wanted[:2]


def test_events_that_contradict_each_other_are_named() -> None:
    with pytest.raises(ContradictionError, match=r"GIVEN SEQ\(S s, F f\) IF s.k = f.k.*s in 5..6, f in 2..4"):
        match_events(plan_of(f"PATTERN SEQ(S s, F f) {STARTS_FIRST}"), event_table(IMPOSSIBLE))

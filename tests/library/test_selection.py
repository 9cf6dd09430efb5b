"""What a match can be asked for: values are checked, and a state is bound to what changes its rows."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from cepctl.errors import UsageError
from cepctl.library.laws import LawChoice
from cepctl.library.selection import Matching
from cepctl.process.memory import MemoryBudget

UNUSUAL: dict[str, Any] = {
    "engine": "worlds",
    "order": "sort",
    "min_confidence": 0.5,
    "top_k": 1,
    "max_matches": 1,
    "approximate": 0.1,
    "since": 0,
    "until": 0,
    "memory": MemoryBudget(10**9),
    "no_given": True,
    "exists": True,
    "closed": True,
    "under": LawChoice(no_laws=True),
}
BOUND = {"min_confidence"}


@pytest.mark.parametrize("name", [each.name for each in fields(Matching)])
def test_a_state_is_bound_to_what_changes_its_rows(name: str) -> None:
    unusual = Matching(**{name: UNUSUAL[name]})
    assert (unusual.binding() != Matching().binding()) == (name in BOUND)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("engine", "fast", "engine cannot be 'fast'; choose one of 'event', 'point', 'worlds'"),
        ("order", "any", "order cannot be 'any'"),
        ("min_confidence", 1.5, "min_confidence cannot be 1.5; it is between 0.0 and 1.0"),
        ("approximate", 0.6, "approximate cannot be 0.6; it is between 0.0001 and 0.5"),
        ("top_k", 0, "top_k cannot be 0; it is at least 1"),
        ("max_matches", 0, "max_matches cannot be 0; it is at least 1"),
    ],
)
def test_a_choice_that_cannot_be_is_refused_by_its_name(name: str, value: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Matching(**{name: value})

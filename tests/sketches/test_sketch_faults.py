"""The promises of sketches are broken by each of these faults, and the random cases find every one.

That what decides is read beyond the match itself is held by an example in test_probing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cepctl.plan.plan import Alternative, Plan
from cepctl.sketches import conditions, places, skipping, survivors
from cepctl.sketches.archive import Archive
from cepctl.sketches.constraints import Bounds, bounds_of
from cepctl.sketches.hashing import order_codes
from cepctl.sketches.spans import spans_of
from cepctl.sketches.survivors import Survivors
from cepctl.sketches.survivors import survivors as all_survivors
from tests.engines.agreement import MANY_EXAMPLES, check
from tests.sketches.test_no_match_is_missed import holds, sketched_cases

Planted = tuple[Any, str, Callable[..., Any]]


def _shorter_window(plan: Plan, alternative: Alternative) -> Bounds:
    shorter = None if plan.window is None else max(plan.window - 1, 1)
    return bounds_of(replace(plan, window=shorter), alternative)


def _single_member(plan: Plan, alternative: Alternative) -> Bounds:
    single = tuple(replace(each, kleene=False) for each in alternative.components)
    return bounds_of(plan, replace(alternative, components=single))


def _ordered_groups(plan: Plan, alternative: Alternative) -> Bounds:
    blocks = tuple((member,) for block in alternative.blocks for member in block)
    return bounds_of(plan, replace(alternative, blocks=blocks))


def _shorter_stretch(*arguments: Any) -> Any:
    lower, upper = _STRETCH(*arguments)
    return lower, np.maximum(upper - 1, lower)


def _one_key_less(*arguments: Any) -> Any:
    found = _KEYED(*arguments)
    return None if found is None else found.where(np.arange(max(len(found) - 1, 0)))


def _rarest_alone(plan: Plan, archive: Archive) -> Iterator[Survivors]:
    for found in all_survivors(plan, archive):
        rarest = min(found.items, key=len)
        nothing = np.zeros(0, dtype=np.int64)
        yield replace(
            found, items=tuple(each if each is rarest else each.where(nothing) for each in found.items)
        )


_STRETCH, _KEYED, _COUNTED = Archive._stretch, Archive.keyed, places._counted
FAULTS: dict[str, Planted] = {
    "a window is a tick shorter": (survivors, "bounds_of", _shorter_window),
    "a group is one member": (survivors, "bounds_of", _single_member),
    "the members of AND are in order": (survivors, "bounds_of", _ordered_groups),
    "a span ends where its last event begins": (
        places,
        "spans_of",
        lambda lower, upper, number: spans_of(lower, lower, number),
    ),
    "a type ends a tick early": (Archive, "_stretch", _shorter_stretch),
    "the last value of a row group is forgotten": (
        places,
        "_counted",
        lambda hashes, of_event, before: _COUNTED(hashes[:-1], of_event[:-1], before),
    ),
    "the last key is forgotten": (Archive, "keyed", _one_key_less),
    "a range excludes its bound": (conditions, "order_codes", lambda values: order_codes(values) + 1),
    "only the rarest component is read": (skipping, "survivors", _rarest_alone),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_sketches_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError):
        check(sketched_cases(), holds, MANY_EXAMPLES, shrink=False)

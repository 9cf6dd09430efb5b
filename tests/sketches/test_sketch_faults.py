"""The promises of sketches are broken by each of these faults, and the random cases find every one.

That what decides is read beyond the match itself is held by an example in test_probing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cepctl.plan.plan import Alternative, Plan
from cepctl.sketches import archive, conditions, joining, listing, places, skipping, survivors
from cepctl.sketches.archive import SketchArchive
from cepctl.sketches.conditions import extremes_asked
from cepctl.sketches.listing import below, number_bits
from cepctl.sketches.spans import spans_of
from cepctl.sketches.survivors import Bounds, Survivors, bounds_of
from cepctl.sketches.survivors import survivors as all_survivors
from tests.engines.agreement import MANY_EXAMPLES, check
from tests.sketches.test_no_match_is_missed import as_joined, asked_cases, holds, sketched_cases

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


def _one_key_less(*arguments: Any, **named: Any) -> Any:
    found = _KEYED(*arguments, **named)
    return None if found is None else found.where(np.arange(max(len(found) - 1, 0)))


def _narrower(*arguments: Any) -> Any:
    rows = _ROWS(*arguments)
    width = pc.max_element_wise(pc.subtract(rows.column("width"), 1), 0)
    return rows.set_column(rows.column_names.index("width"), "width", width)


def _one_event_less(*arguments: Any) -> Any:
    found = _LISTED(*arguments)
    return type(found)(*(column[:-1] for column in vars(found).values()))


def _all_told(conditions: Any) -> Iterator[Any]:
    for name, side, _ in extremes_asked(conditions):
        yield name, side, np.uint64(0 if side is below else 2**64 - 1)


def _rarest_alone(plan: Plan, asked: SketchArchive, effort: float) -> Iterator[Survivors]:
    for found in all_survivors(plan, asked, effort):
        rarest = min(found.items, key=len)
        nothing = np.zeros(0, dtype=np.int64)
        yield replace(
            found, items=tuple(each if each is rarest else each.where(nothing) for each in found.items)
        )


_STRETCH, _KEYED, _COUNTED = SketchArchive._stretch, SketchArchive.keyed, places._counted
_ROWS, _LISTED = listing._rows, SketchArchive._listed_items
_JOINED_LISTS, _JOINED_TYPES = joining._lists, joining._types


def _last_bounds(lists: Any) -> Any:
    """Of several bounds of a joined list the last one."""
    found = _JOINED_LISTS(lists)
    named = zip(lists.column("type").to_pylist(), lists.column("which").to_pylist(), strict=True)
    last = dict(zip(named, lists.column("bound").to_pylist(), strict=True))
    names = zip(found.column("type").to_pylist(), found.column("which").to_pylist(), strict=True)
    bound = pa.array([last[name] for name in names], pa.uint64())
    return found.set_column(found.column_names.index("bound"), "bound", bound)


def _first_steps(types: Any, of_span: Any, before: Any, after: Any) -> Any:
    """Of a type in a joined span only where it begins."""
    found = _JOINED_TYPES(types, of_span, before, after)
    return found.set_column(found.column_names.index("last"), "last", found.column("first"))


FAULTS: dict[str, Planted] = {
    "a window is a tick shorter": (survivors, "bounds_of", _shorter_window),
    "a group is one member": (survivors, "bounds_of", _single_member),
    "the members of AND are in order": (survivors, "bounds_of", _ordered_groups),
    "a span ends where its last event begins": (
        places,
        "spans_of",
        lambda lower, upper, number: spans_of(lower, lower, number),
    ),
    "a type ends a tick early": (SketchArchive, "_stretch", _shorter_stretch),
    "the last value of a row group is forgotten": (
        places,
        "_counted",
        lambda hashes, of_event, before: _COUNTED(hashes[:-1], of_event[:-1], before),
    ),
    "the last key is forgotten": (SketchArchive, "keyed", _one_key_less),
    "a range excludes its bound": (
        conditions,
        "number_bits",
        lambda codes: number_bits(codes) + np.uint64(1),
    ),
    "a listed event ends a tick early": (listing, "_rows", _narrower),
    "a listed event is forgotten": (SketchArchive, "_listed_items", _one_event_less),
    "a list of extremes is taken for complete": (archive, "extremes_asked", _all_told),
    "a value is sought by other bits than are listed": (
        archive,
        "value_bits",
        lambda hashes: hashes & np.uint64(0xFFFF),
    ),
    "of the bounds of joined lists the last one holds": (joining, "_lists", _last_bounds),
    "a type in a joined span ends where it begins": (joining, "_types", _first_steps),
    "only the rarest component is read": (skipping, "survivors", _rarest_alone),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_sketches_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    cases = asked_cases() | sketched_cases()
    if FAULTS[fault][0] is joining:
        cases = cases.map(as_joined)
    with pytest.raises(AssertionError):
        check(cases, holds, MANY_EXAMPLES, shrink=False)

"""A file by itself needs no sum: what the order of its records says of matches and rivals is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.given import known_order
from cepctl.engines.confidence.given.known_order import places_between
from cepctl.engines.confidence.points import confidences
from cepctl.engines.event.match import match_events
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.engines.confidence.given.test_parts_of_units import of_one_unit, plan, rows_agree

IN_ORDER = (
    "SEQ(A a, B b) STRATEGY skip_till_next_match",
    "SEQ(A a, B b, C c) STRATEGY skip_till_next_match",
    "SEQ(A a, B b) STRATEGY strict_contiguity",
    "SEQ(A a, !C n, B b)",
    "SEQ(A a, B b, C c)",
)
LINES = [(kind, "w") for kind in "ABCABBCAC"]


@pytest.mark.parametrize("pattern", IN_ORDER)
def test_rows_of_one_writer_are_those_of_exact_stamps(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confidences, "coupled_confidences", None)
    found = match_events(plan(pattern), of_one_unit(LINES, 1_000)).to_pylist()
    exact = of_one_unit(LINES, 1_000)
    for end in ("lower", "upper"):
        exact = exact.set_column(exact.column_names.index(end), end, [np.arange(len(LINES)) * 10])
    wanted = match_events(plan(pattern), exact).to_pylist()
    assert [row["signature"] for row in found] == [row["signature"] for row in wanted]
    assert {row["confidence"] for row in found} == {1.0}


def test_rows_beside_a_second_writer_are_those_of_the_judge() -> None:
    lines = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from("wwwv")), min_size=3, max_size=6)
    drawn = st.tuples(st.sampled_from(IN_ORDER), lines.map(of_one_unit))
    check(drawn, rows_agree, FEW_EXAMPLES)


BROKEN = [("A", "w"), ("B", "w"), ("B", "w"), ("B", "v"), ("C", "v"), ("A", "w")]


def test_what_a_rival_breaks_in_every_world_asks_for_no_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, measured = plan("SEQ(A a, B b) STRATEGY skip_till_next_match"), list[int]()
    measure = confidences.coupled_confidences

    def counting(matches: Any, *others: Any, **options: Any) -> Any:
        measured.append(len(matches))
        return measure(matches, *others, **options)

    monkeypatch.setattr(confidences, "coupled_confidences", counting)
    match_events(asked, of_one_unit(BROKEN))
    # The first A with the nearest B of its host and the one of the other, and this one with the last A.
    assert sum(measured) == 3


def _breaks_whatever_is_near(end: Any, rivals: Any, *_: Any) -> Any:
    return np.ones(len(rivals.row), dtype=bool)


def _no_rivals(rivals: Any, *_: Any) -> Any:
    return [each.taken(np.zeros(0, np.int64)) for each in rivals]


def _in_any_order(ties: Any, left: Any, right: Any) -> Any:
    apart, known = places_between(ties, left, right)
    return np.abs(apart), known


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("rivals_left", _no_rivals),
        ("places_between", _in_any_order),
        ("_reaches", _breaks_whatever_is_near),
    ],
    ids=["rivals are forgotten", "what is before counts as after", "what is near breaks"],
)
def test_a_planted_fault_is_seen(name: str, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [("A", "w"), ("B", "w"), ("B", "v"), ("B", "v"), ("A", "v")]
    case = "SEQ(A a, B b) STRATEGY skip_till_next_match", of_one_unit(lines)
    rows_agree(case)
    monkeypatch.setattr(known_order, name, fault)
    with pytest.raises(AssertionError):
        rows_agree(case)

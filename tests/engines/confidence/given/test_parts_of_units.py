"""Records of writers in one unit are counted by how they interleave, and the judge agrees."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.coupled.problem import Clauses
from cepctl.engines.confidence.given import (
    confidences,
    one_distance,
    parts_of_units,
    units,
)
from cepctl.engines.confidence.given.confidences import open_confidences
from cepctl.engines.confidence.given.known import known_events
from cepctl.engines.confidence.occurrence import occurrence
from cepctl.engines.confidence.occurrence.occurrence import Occurrences
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import QueryTooLargeError
from cepctl.language.parser import parse
from cepctl.numeric.arrays import Indexes
from cepctl.plan.analyze import analyze
from cepctl.plan.plan import Plan
from cepctl.schema import IN_WRITTEN_ORDER, RECORD, WRITER
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.confidence.given.test_written_order import SCHEMA
from tests.engines.confidence.occurrence.groups_agree import assert_same_groups
from tests.plans import Event, event_table

TICKS = 6
PATTERNS = (
    "SEQ(A a, B b)",
    "SEQ(A a, B b) STRATEGY skip_till_next_match",
    "SEQ(A a, B b, C c) STRATEGY skip_till_next_match",
    "SEQ(A a, B b) STRATEGY strict_contiguity",
    "SEQ(A a, !C n, B b)",
    "SEQ(A a, B b, C c)",
    "SEQ(A a, B b, !C n, A c)",
    "AND(A a, B b) WITHIN 3 ticks",
    "SEQ(A a, AND(B b, C c))",
    "SEQ(A a, B+ b, C c)",
)
GROUPED = ("SEQ(A a, B b)", "SEQ(A a, B b) STRATEGY skip_till_next_match", "SEQ(A a, !C n, B b)")


def of_one_unit(lines: list[tuple[str, str]], ticks: int = TICKS) -> pa.Table:
    """Events of such types and writers, each of which may be on any of the ticks."""
    events = [
        Event(f"e{i:03}", kind, 0, ticks - 1, k="pq"[i % 2], x=i % 3) for i, (kind, _) in enumerate(lines)
    ]
    table = event_table(events).append_column(WRITER, pa.array([writer for _, writer in lines]))
    return table.append_column(RECORD, pa.array(range(1, len(lines) + 1), pa.int64()))


def plan(pattern: str) -> Plan:
    pattern, _, group = pattern.partition(" GROUP BY ")
    asked = f"PATTERN {pattern} GIVEN {IN_WRITTEN_ORDER}{group and f' GROUP BY {group}'}"
    return replace(analyze(parse(asked), SCHEMA), returns=())


@st.composite
def drawn(draw: st.DrawFn, patterns: tuple[str, ...]) -> tuple[str, pa.Table]:
    writers = draw(st.sampled_from(("wv", "wv", "wvu")))
    lines = draw(
        st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(writers)), min_size=3, max_size=6)
    )
    return draw(st.sampled_from(patterns)), of_one_unit(lines)


@st.composite
def over_units(draw: st.DrawFn) -> tuple[str, pa.Table]:
    """Records of several units of five ticks, beside a window that may cut any of these."""
    begins = st.sampled_from(draw(st.sampled_from([(0,), (0, 5), (0, 5, 10)])))
    units = sorted(draw(st.lists(begins, min_size=3, max_size=5)))
    kinds = st.tuples(st.sampled_from("ABC"), st.sampled_from("wwv"))
    table = of_units([draw(kinds) for _ in units], units, 5)
    pattern, _, strategy = draw(st.sampled_from(PATTERNS[:6])).partition(" STRATEGY")
    within = f"{pattern} WITHIN {draw(st.integers(2, 14))} ticks"
    return f"{within} STRATEGY{strategy}" if strategy else within, table


@st.composite
def in_windows(draw: st.DrawFn) -> tuple[str, pa.Table]:
    """Records of two or three writers in one unit, or of two units, beside a window that cuts one of them."""
    kinds = st.tuples(st.sampled_from("AABBC"), st.sampled_from(draw(st.sampled_from(("wv", "wvu")))))
    begins, window = draw(st.sampled_from([((0,), 5), ((0, 6), 11), ((0, 12), 17)]))
    units = sorted(draw(st.lists(st.sampled_from(begins), min_size=4, max_size=6)))
    table = of_units([draw(kinds) for _ in units], units, TICKS)
    pattern, _, strategy = draw(st.sampled_from(PATTERNS[:6])).partition(" STRATEGY")
    within = f"{pattern} WITHIN {draw(st.integers(2, window))} ticks"
    return f"{within} STRATEGY{strategy}" if strategy else within, table


def of_units(lines: list[tuple[str, str]], units: list[int], ticks: int) -> pa.Table:
    """The same, each on any of some ticks from that of its unit on."""
    table = of_one_unit(lines, ticks)
    for end in ("lower", "upper"):
        column = table.column_names.index(end)
        moved = [tick + unit for tick, unit in zip(table.column(end).to_pylist(), units, strict=True)]
        table = table.set_column(column, end, pa.array(moved, pa.int64()))
    return table


def rows_agree(case: tuple[str, pa.Table]) -> None:
    pattern, table = case
    assert_same_rows(match_table(plan(pattern), table), match_events(plan(pattern), table))


def keys_agree(case: tuple[str, pa.Table]) -> None:
    pattern, table = case
    for group in ("()", "a.k", "b.k", "a.x, b.k"):
        grouped = plan(f"{pattern} GROUP BY {group}")
        assert_same_groups(grouped, group_table(grouped, table), match_events(grouped, table))


def test_rows_are_those_of_the_judge() -> None:
    check(drawn(PATTERNS), rows_agree, FEW_EXAMPLES)


def test_rows_of_several_units_are_those_of_the_judge() -> None:
    check(over_units(), rows_agree, EXAMPLES)


def test_rows_of_units_in_windows_are_those_of_the_judge() -> None:
    check(in_windows(), rows_agree, EXAMPLES)


def test_keys_are_those_of_the_judge() -> None:
    check(drawn(GROUPED), keys_agree, FEW_EXAMPLES)


@pytest.mark.slow
def test_rows_and_keys_are_those_of_the_judge_in_many_cases() -> None:
    check(drawn(PATTERNS), rows_agree, MANY_EXAMPLES)
    check(over_units(), rows_agree, MANY_EXAMPLES)
    check(in_windows(), rows_agree, MANY_EXAMPLES)
    check(drawn(GROUPED), keys_agree, MANY_EXAMPLES)


def log(writers: str, lines: int) -> pa.Table:
    random = Random(writers)
    return of_one_unit([(random.choice("ABC"), random.choice(writers)) for _ in range(lines)], 100_000)


@pytest.mark.parametrize(
    "pattern",
    (
        *(*PATTERNS[:2], *PATTERNS[3:5]),
        "SEQ(A a, B b) WITHIN 30000 ticks STRATEGY skip_till_next_match",
        "SEQ(A a, !C n, B b) WITHIN 50 ms",
    ),
)
@pytest.mark.parametrize(("writers", "lines"), [("wv", 30), ("wvu", 21)])
def test_counting_says_what_sums_over_ticks_say(
    writers: str, lines: int, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, asked, counted = log(writers, lines), plan(pattern), list[int]()
    for module, name, asks in (
        (units, "interleaved_as_asked", "ticks"),
        (one_distance, "pair_probability", "left"),
        (one_distance, "apart_as_asked", "bound"),
    ):
        monkeypatch.setattr(parts_of_units, name, _counting(getattr(module, name), asks, counted))
    found = match_events(asked, table)
    assert sum(counted) > 10
    monkeypatch.setattr(confidences, "by_units", by_no_unit)
    summed = match_events(asked, table)
    assert found.column("signature") == summed.column("signature")
    one, other = (each.column("confidence").to_numpy() for each in (found, summed))
    assert np.allclose(one, other, rtol=1e-9, atol=1e-13)


def _counting(measure: Any, asks: str, counted: list[int]) -> Any:
    def counting(*questions: Any) -> Any:
        counted.append(len(getattr(questions[-1], asks)))
        return measure(*questions)

    return counting


def by_no_unit(clauses: Any, ties: Any, masses: Any) -> Any:
    """What is left where units decide nothing alone: everything."""
    return np.ones(clauses.groups), clauses


Written = tuple[tuple[str, str], ...]


@cache
def judged(pattern: str, lines: Written, units: tuple[int, ...], ticks: int) -> tuple[pa.Table, pa.Table]:
    """Events, and the rows of the judge, which takes its time: several faults are planted beside the same."""
    table = of_units(list(lines), list(units), ticks)
    return table, match_table(plan(pattern), table)


def assert_judged(pattern: str, lines: Written, units: tuple[int, ...], ticks: int) -> None:
    table, expected = judged(pattern, lines, units, ticks)
    assert_same_rows(expected, match_events(plan(pattern), table))


def _no_meetings(parts: Any, ticks: Any) -> Any:
    return np.zeros(parts.count, dtype=np.int64)


def _of_the_next_record(*arguments: Any) -> Any:
    asked = _asked(*arguments)
    return asked._replace(other_rank=asked.other_rank + 1)


def _all_present(*arguments: Any) -> Any:
    asked = _asked(*arguments)
    return asked._replace(absent=np.zeros(len(asked.absent), dtype=bool))


def _the_other_way(*arguments: Any) -> Any:
    asked = _asked(*arguments)
    return asked._replace(side=-asked.side)


_asked = parts_of_units._asked
TWO_EACH = (("A", "w"), ("B", "v"), ("C", "u"), ("B", "w"), ("B", "v"), ("A", "u"), ("C", "w"))


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("_meetings", _no_meetings),
        ("_asked", _of_the_next_record),
        ("_asked", _all_present),
        ("_asked", _the_other_way),
    ],
    ids=["records never meet", "the next record", "rivals must be there", "the other way round"],
)
def test_a_planted_fault_is_seen(name: str, fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    case = PATTERNS[1], TWO_EACH, (0,) * len(TWO_EACH), 5
    assert_judged(*case)
    monkeypatch.setattr(parts_of_units, name, fault)
    with pytest.raises(AssertionError):
        assert_judged(*case)


def _one_tick_more(pairs: Any) -> Any:
    return one_distance.pair_probability(pairs._replace(bound=pairs.bound + 1))


def _of_the_record_before(pairs: Any) -> Any:
    return one_distance.pair_probability(pairs._replace(right=np.maximum(pairs.right - 1, 0)))


@pytest.mark.parametrize("fault", [_one_tick_more, _of_the_record_before])
def test_a_fault_planted_in_pairs_is_seen(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ("A", "w"), ("C", "v"), ("B", "v"), ("A", "w"), ("B", "v")
    case = "SEQ(A a, B b)", lines, (0,) * len(lines), 5
    assert_judged(*case)
    monkeypatch.setattr(parts_of_units, "pair_probability", fault)
    with pytest.raises(AssertionError):
        assert_judged(*case)


def test_a_key_of_many_rows_asks_for_the_first_and_the_last() -> None:
    """Of two hosts with 60 lines each in a second 900 pairs stand for one: the first A and the last B."""
    lines = [("C", "wv"[i % 2]) for i in range(60)] + [("A", "w")] * 30 + [("B", "v")] * 30
    lines = [lines[i] for i in Random(7).sample(range(len(lines)), len(lines))]
    table = of_one_unit(lines, 1_000_000)
    kinds = [kind for kind, _ in lines]
    ends = f"e{kinds.index('A'):03}", f"e{len(kinds) - 1 - kinds[::-1].index('B'):03}"
    rows = match_events(plan("SEQ(A a, B b)"), table).to_pylist()
    (pair,) = [row for row in rows if tuple(each for (each,) in row["signature"]) == ends]
    for pattern in PATTERNS[:2]:
        (key,) = match_events(plan(f"{pattern} GROUP BY ()"), table).to_pylist()
        assert key["occurrence"] == pytest.approx(pair["confidence"], rel=1e-12)


def test_a_key_that_is_certain_needs_no_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """One host has an A and then a B: some B follows in every world, whatever the nearest is."""
    measured, parts = confidences._of_parts, []

    def counted(clauses: Clauses, sizes: Indexes, *others: Any) -> Occurrences:
        parts.append(len(sizes))
        return measured(clauses, sizes, *others)

    monkeypatch.setattr(confidences, "_of_parts", counted)
    lines = [(kind, writer) for kind in "ABC" for writer in "wv"] * 4
    (row,) = match_events(plan(f"{PATTERNS[1]} GROUP BY ()"), of_one_unit(lines, 1_000)).to_pylist()
    assert row["occurrence"] == 1.0
    assert parts == [0]


def test_rivals_decide_a_key_that_is_of_the_later_event() -> None:
    """That some B of a key follows is not enough: one of another key may be nearer, to either A."""
    keys_agree((PATTERNS[1], of_one_unit([("A", "w"), ("A", "u"), ("B", "v"), ("B", "v"), ("B", "w")])))


def test_a_key_whose_rows_ask_for_too_much_together_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [("A", "w"), ("C", "w"), ("A", "w"), ("B", "v"), ("C", "v"), ("B", "v")]
    asked, table = plan("SEQ(A a, !C n, B b) GROUP BY ()"), of_one_unit(lines, 100)
    assert match_events(asked, table).num_rows == 1
    monkeypatch.setattr(confidences, "MOST_TOGETHER", 1)
    monkeypatch.setattr(confidences, "MOST_DIFFERENCES", 0)
    monkeypatch.setattr(occurrence, "MOST_TOGETHER", 1)
    with pytest.raises(QueryTooLargeError, match="rows share events, where at most 1 are taken together"):
        match_events(asked, table)


def test_what_must_not_hold_is_as_probable_as_what_need_not() -> None:
    """One difference between records of two units, as a clause that is present and as one that is absent."""
    events = known_events(
        plan("SEQ(A a, B b)"), events_of(of_one_unit([("A", "w")] * 3 + [("B", "v")] * 2, 9))
    )
    ties, one = events.ties, np.array([0, 1])
    assert ties is not None
    holds, fails = (
        open_confidences(
            events.masses, ties, Clauses(one, one, np.array([absent]), one, *np.array([[1], [4], [-1]])), None
        )
        for absent in (False, True)
    )
    assert 0.1 < holds[0] < 0.9
    assert holds[0] + fails[0] == pytest.approx(1.0, abs=1e-14)


def _one_tick_wider(asked: Any, distance: Any) -> Any:
    return one_distance.apart_as_asked(asked, distance._replace(bound=distance.bound + 1))


def _to_the_record_before(asked: Any, distance: Any) -> Any:
    return one_distance.apart_as_asked(asked, distance._replace(rank=np.maximum(distance.rank - 1, 0)))


def _from_the_other(asked: Any, distance: Any) -> Any:
    turned = {name: getattr(distance, name)[:, ::-1].copy() for name in ("writer", "rank")}
    return one_distance.apart_as_asked(asked, distance._replace(**turned))


@pytest.mark.parametrize("units", [[0] * 6, [0] * 3 + [6] * 3], ids=["one unit", "two units"])
@pytest.mark.parametrize("fault", [_one_tick_wider, _to_the_record_before, _from_the_other])
def test_a_fault_planted_beside_a_distance_is_seen(
    fault: Any, units: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: Written = ("A", "w"), ("A", "v"), ("B", "w"), ("C", "v"), ("B", "v"), ("B", "w")
    if units[-1]:
        lines = ("C", "w"), ("A", "w"), ("C", "w"), ("B", "v"), ("B", "w"), ("C", "w")
    asked = f"SEQ(A a, B b) WITHIN {units[-1] + 3} ticks STRATEGY skip_till_next_match"
    case = asked, lines, tuple(units), TICKS
    assert_judged(*case)
    monkeypatch.setattr(parts_of_units, "apart_as_asked", fault)
    with pytest.raises(AssertionError):
        assert_judged(*case)


def test_paths_that_are_too_many_between_two_records_are_left_to_sums(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [("A", "w"), ("A", "v"), ("B", "w"), ("C", "v"), ("B", "v"), ("B", "w")]
    case = "SEQ(A a, B b) WITHIN 3 ticks STRATEGY skip_till_next_match", of_one_unit(lines)
    counted = list[int]()
    measure = _counting(one_distance.apart_as_asked, "bound", counted)
    monkeypatch.setattr(parts_of_units, "apart_as_asked", measure)
    rows_agree(case)
    assert sum(counted) > 0
    counted.clear()
    monkeypatch.setattr(parts_of_units, "MOST_BETWEEN", 100)
    rows_agree(case)
    assert not counted

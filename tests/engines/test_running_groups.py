"""`RUNNING B+ b[]`: a match after each tick at which the group at the end took, in every way of asking."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches, match_table
from cepctl.errors import CepctlError, QuerySyntaxError, UnsupportedQueryError
from cepctl.language.parser import parse
from cepctl.language.printer import to_text
from cepctl.plan.summary import require_summary
from cepctl.plan.support import require_engine
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.judged_ways import WAYS, judged
from tests.engines.own_numbers import trials
from tests.engines.test_own_numbers import same_every_way
from tests.plans import Event, event_table, plan_of
from tests.state.test_equivalence import delayed_runs_amount_to_one, deliveries
from tests.strategies import running_cases
from tests.worked_events import PAGE

NEXT = " STRATEGY skip_till_next_match"


def rows_of(query: str) -> dict[str, tuple[int, int, Fraction]]:
    found = exact_matches(plan_of(f"PATTERN {query}"), PAGE)
    return {
        " ".join("+".join(part) for part in ids): (row.start, row.end, row.confidence)
        for ids, row in found.items()
    }


def test_worked_numbers() -> None:
    query = "PATTERN SEQ(A a, RUNNING B+ b[])" + NEXT + " RETURN sum(b[].x) AS queue"
    rows = rows_of(query.removeprefix("PATTERN "))
    assert len(rows) == 7
    assert rows["a1 b1+b2+b3"] == (0, 5, Fraction(5, 6))
    assert rows["a1 b1+b2"] == (0, 4, Fraction(14, 27))
    assert rows["a1 b1"] == (0, 3, Fraction(25, 54))
    found = match_events(plan_of(query), PAGE)
    assert_same_rows(match_table(plan_of(query), PAGE), found)
    queues = {"+".join(row["signature"][1]): row["queue"] for row in found.to_pylist()}
    assert (queues["b1+b2+b3"], queues["b1+b2"], queues["b1"]) == (4, 3, 1)


def test_each_prefix_of_a_group_at_certain_ticks_is_a_row() -> None:
    table = event_table([Event("a", "A", 0, 0), *(Event(f"b{at}", "B", at, at) for at in (2, 4, 6))])
    for returned in ("", " RETURN b[last].x"):
        found = match_events(plan_of(f"PATTERN SEQ(A a, RUNNING B+ b[]){NEXT}{returned}"), table)
        assert sorted("+".join(row["signature"][1]) for row in found.to_pylist()) == [
            "b2",
            "b2+b4",
            "b2+b4+b6",
        ]
        assert [row["end"] for row in sorted(found.to_pylist(), key=lambda row: row["end"])] == [2, 4, 6]


def test_a_running_group_takes_after_the_last_event_of_an_and() -> None:
    table = event_table([Event("c", "C", 0, 2), Event("b", "B", 0, 0), Event("a", "A", 1, 3)])
    plan = plan_of(f"PATTERN SEQ(AND(C c, B b), RUNNING A+ a[]){NEXT}")
    assert exact_matches(plan, table)[("c",), ("b",), ("a",)].confidence == Fraction(2, 3)
    assert_same_rows(match_table(plan, table), match_events(plan, table))


def test_events_of_one_tick_come_into_a_set_together_and_make_sequences_of_their_own() -> None:
    table = event_table([Event("a", "A", 0, 0), Event("b", "B", 2, 2), Event("c", "B", 2, 2)])
    together = match_events(plan_of("PATTERN SEQ(A a, RUNNING B+ b[])" + NEXT), table)
    assert together.column("signature").to_pylist() == [[["a"], ["b", "c"]]]
    apart = match_events(plan_of("PATTERN SEQ(A a, RUNNING B+ b[])" + NEXT + " RETURN b[last].x"), table)
    assert sorted(apart.column("signature").to_pylist()) == [[["a"], ["b"]], [["a"], ["c"]]]


def test_a_filter_leaves_out_rows_and_ends_no_run() -> None:
    """What reads the whole group speaks of the members so far; what reads `b[i]` of who fits."""
    values = (Event(f"b{at}", "B", at, at, x=value) for at, value in ((1, 5), (2, 1), (3, 7)))
    table = event_table([Event("a", "A", 0, 0), *values])

    def groups(where: str) -> list[str]:
        plan = plan_of(f"PATTERN SEQ(A a, RUNNING B+ b[]) WHERE {where}{NEXT}")
        assert_same_rows(match_table(plan, table), match_events(plan, table))
        return sorted("+".join(row["signature"][1]) for row in match_events(plan, table).to_pylist())

    assert groups("b[last].x > 4") == ["b1", "b1+b2+b3"]
    assert groups("sum(b[].x) > 5") == ["b1+b2", "b1+b2+b3"]
    assert groups("b[i].x > 4") == ["b1", "b1+b3"]
    assert groups("b[i].x > b[i-1].x") == ["b1", "b1+b3"]


# --- random cases --------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_running_groups_agree_with_the_judge(way: str) -> None:
    cases, test = judged(way, running_cases())
    check(cases, test, EXAMPLES if way == "rows" else FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_running_groups_agree_with_the_judge_in_many_cases(way: str) -> None:
    cases, test = judged(way, running_cases())
    check(cases, test, MANY_EXAMPLES if way == "rows" else MANY_EXAMPLES // 4)


def test_every_way_to_find_a_running_group_gives_equal_bytes() -> None:
    check(trials(running_cases()), same_every_way, FEW_EXAMPLES // 2)


def test_incremental_runs_give_the_rows_of_one() -> None:
    check(deliveries(running_cases()), delayed_runs_amount_to_one, FEW_EXAMPLES)


def test_planted_faults_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that the window closes, and one whose last tick may hold others, are told apart from it."""
    from cepctl.engines.pattern import shapes

    def found() -> bool:
        try:
            check(*judged("rows", running_cases()), EXAMPLES, shrink=False)
        except Exception:  # whatever an engine with a fault ends with
            return True
        return False

    own = shapes._group_end
    monkeypatch.setattr(shapes, "_group_end", shapes._window_end)
    assert found()
    monkeypatch.setattr(shapes, "_group_end", lambda shape: [replace(end, constant=-1) for end in own(shape)])
    assert found()


# --- language ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "remedy"),
    [
        ("SEQ(A a, RUNNING B+ b[], C c)" + NEXT, "and c comes after b[]: leave RUNNING or what follows out"),
        ("SEQ(A a, RUNNING B+ b[])", "no meaning under skip_till_any_match: write STRATEGY skip_till_next"),
        ("SEQ(A a, RUNNING B+ b[]) STRATEGY strict_contiguity", "no meaning under strict_contiguity"),
        ("SEQ(A a, RUNNING B b)" + NEXT, "a group of at least one event, as in RUNNING B+ b[]"),
        ("SEQ(A a, RUNNING B? b)" + NEXT, "a group of at least one event, as in RUNNING B+ b[]"),
        ("SEQ(A a, RUNNING B* b[])" + NEXT, "a group of at least one event, as in RUNNING B+ b[]"),
        ("SEQ(A a, RUNNING B{0,2} b[])" + NEXT, "a group of at least one event"),
        ("SEQ(A a, !RUNNING B+ b[], C c)" + NEXT, "'+' has no meaning for absent events"),
    ],
)
def test_running_elsewhere_names_place_and_remedy(query: str, remedy: str) -> None:
    with pytest.raises(CepctlError) as refused:
        plan_of(f"PATTERN {query}")
    assert str(refused.value).startswith("line 1, column ")
    assert remedy in str(refused.value)


def test_running_is_not_of_a_whole_pattern() -> None:
    with pytest.raises(QuerySyntaxError, match=r"RUNNING stands before one group.*not before SEQ"):
        parse("PATTERN SEQ(A a, RUNNING SEQ(B b, C c)+)")


@pytest.mark.parametrize(
    "text", ["RUNNING B+ b[]", "RUNNING *+ b[]", "RUNNING 'a b'{2,} b[]", "RUNNING A|B+ b[]"]
)
def test_a_running_group_is_printed_as_it_is_read(text: str) -> None:
    query = parse(f"PATTERN SEQ(A a, {text})")
    assert parse(to_text(query)) == query
    assert "RUNNING" in to_text(query)


@pytest.mark.parametrize("pattern", ["RUNNING", "SEQ(RUNNING r, B b)", "SEQ(RUNNING+ r[], RUNNING|B s)"])
def test_a_type_may_be_called_running(pattern: str) -> None:
    plan = plan_of(f"PATTERN {pattern} WITHIN 5 s")
    assert plan.alternatives[0].components[0].event_types == ("RUNNING",)
    assert not any(each.running for each in plan.alternatives[0].components)


def test_the_other_engine_and_the_summary_refuse_by_name() -> None:
    plan = plan_of("PATTERN SEQ(A a, RUNNING B+ b[])" + NEXT)
    with pytest.raises(UnsupportedQueryError, match="RUNNING groups under skip_till_next_match in the point"):
        require_engine(plan, "point")
    with pytest.raises(UnsupportedQueryError, match="does not run RUNNING, which has a row for each"):
        require_summary(plan)

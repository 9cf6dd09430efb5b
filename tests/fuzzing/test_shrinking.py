"""Cases are made as small as they can be while they fail alike."""

from __future__ import annotations

from tests.fuzzing.drawing import drawn_case
from tests.fuzzing.queries import Case, Group, Query, parts_of
from tests.fuzzing.shrinking import smallest
from tests.plans import Event, lasting
from tests.random_patterns import NEXT, Part

LARGE = Case(
    Query(
        Group("SEQ", (Part("a", "A"), Group("AND", (Part("b", "B"), Part("c", "*"))), Part("n", "N", True))),
        NEXT,
        ("a.x = b.x", "n.k = 'p'"),
        ("k",),
        9,
        ("a.x",),
        None,
        ("SEQ(A p, B q) IF p.x = q.x",),
    ),
    (
        Event("x", "A", 0, 9, x=1, clock="n"),
        lasting("y", "B", (3, 8), (9, 12)),
        Event("z", "N", 5, 5, k="p"),
    ),
    {"n": ((-2, 2, 1.0),)},
    check="threshold",
    setting=0.5,
)


def test_only_what_the_failure_needs_is_left() -> None:
    def fails(case: Case) -> bool:
        absent = [part for part in parts_of(case.query.pattern) if part.negated]
        return bool(absent) and any(event.upper > event.lower for event in case.events)

    small = smallest(LARGE, fails, seconds=60)
    assert str(small.query) == "PATTERN SEQ(B b, !N n) STRATEGY skip_till_any_match"
    assert [(event.event_id, event.upper - event.lower, event.x) for event in small.events] == [
        ("e0", 1, None)
    ]
    assert (small.clocks, small.check) == ({}, "")


def test_what_names_a_component_goes_with_it() -> None:
    pattern = Group("SEQ", (Part("a", "A"), Part("n", "N", negated=True)))
    query = LARGE.query.with_pattern(pattern)
    assert (query.conditions, query.returns) == (("n.k = 'p'",), ("a.x",))
    assert query.with_pattern(Part("a", "A", kleene=True)).returns == ()


def test_every_smaller_case_can_still_be_written() -> None:
    for number in range(30):
        small = smallest(drawn_case("1", number), lambda case: bool(str(case.query)), seconds=60)
        assert len(small.events) == 0
        assert len(parts_of(small.query.pattern)) == 1

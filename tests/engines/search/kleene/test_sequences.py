"""Sequences of members that rise in one value, counted by a table: as many as trying all of them finds."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.search.kleene import sequences
from cepctl.engines.search.kleene.sequences import Members, SequenceRoom
from tests.engines.agreement import EXAMPLES, check

Found = tuple[Members, SequenceRoom]


@st.composite
def found_members(draw: st.DrawFn) -> Found:
    """Up to six members with values and intervals that often meet, and a room with or without a span."""
    size = draw(st.integers(1, 6))
    numbers = st.lists(st.integers(0, 8), min_size=size, max_size=size)
    widths = st.lists(st.sampled_from([0, 0, 1, 2, 3, 5, 8]), min_size=size, max_size=size)
    lower = np.array(draw(numbers))
    upper = lower + np.array(draw(widths))
    value = np.array(draw(numbers)) % 4
    members = Members(value, lower, upper, draw(st.booleans()), draw(st.sampled_from([None, None, 1, 2, 3])))
    begin = draw(st.integers(-2, 6))
    latest = begin + draw(st.sampled_from([0, 1, 2, 5, 8]))
    span = draw(st.sampled_from([UNBOUNDED, 3, 4, 5, 6, 7, 9, 12]))
    return members, SequenceRoom(begin, latest, draw(st.integers(begin + 1, 18)), span)


def possible(members: Members, room: SequenceRoom, sequence: tuple[int, ...]) -> bool:
    """Whether some tick that the members lie after leaves them ticks one after the other."""
    for begin in range(room.begin, room.latest + 1):
        end, until = begin, room.last if room.span == UNBOUNDED else min(room.last, begin + room.span)
        for member in sequence:
            end = max(int(members.lower[member]), end + 1)
            if end > members.upper[member]:
                break
        else:
            if end <= until:
                return True
    return False


def rises(members: Members, sequence: tuple[int, ...]) -> bool:
    pairs = [(members.value[one], members.value[other]) for one, other in pairwise(sequence)]
    return all(one <= other if members.equal else one < other for one, other in pairs)


def counts_what_trying_finds(found: Found) -> None:
    members, room = found
    size = len(members.value)
    sequences = [
        each
        for length in range(1, (size if members.most is None else min(size, members.most)) + 1)
        for each in permutations(range(size), length)
        if rises(members, each) and possible(members, room, each)
    ]
    count = members.count(room)
    # Where a sequence may be as long as the span, windows do not tell which begin where.
    assert count == len(sequences) or (count is None and room.span <= size)


def test_a_table_counts_what_trying_finds() -> None:
    check(found_members(), counts_what_trying_finds, EXAMPLES)


def count(
    *members: tuple[int, int, int],
    last: int,
    span: int = UNBOUNDED,
    equal: bool = False,
    most: int | None = None,
) -> int | None:
    """How many sequences of members (value, first and last tick) there are after 0 or, with a span, later."""
    value, lower, upper = (np.array(each) for each in zip(*members, strict=True))
    room = SequenceRoom(0, 0 if span == UNBOUNDED else last - 1, last, span)
    return Members(value, lower, upper, equal, most).count(room)


A, B, C = (1, 2, 4), (2, 1, 2), (3, 3, 3)


@pytest.mark.parametrize(
    ("last", "most", "found"), [(5, None, 5), (2, None, 2), (5, 1, 3), (5, 2, 5), (1, 2, 1)]
)
def test_sequences_rise_in_value_and_time(last: int, most: int | None, found: int) -> None:
    """These are a, b, c, ac and bc, as b cannot follow a, which is not at 1; until 2 a and b, until 1 b."""
    assert count(A, B, C, last=last, most=most) == found


@pytest.mark.parametrize(
    ("last", "most", "found"), [(9, None, 15), (3, None, 14), (2, None, 10), (9, 2, 10), (3, 3, 14)]
)
def test_so_many_ticks_have_room_for_as_many_members(last: int, most: int | None, found: int) -> None:
    """Of four members 4 sets have one, 6 two, 4 three, and one all four."""
    assert count(*((value, 1, 9) for value in range(4)), last=last, most=most) == found


@pytest.mark.parametrize(("span", "found"), [(4, 4), (5, 5), (6, 5), (7, 7)])
def test_sequences_that_fit_into_a_span(span: int, found: int) -> None:
    """On ticks 1, 3 and 7: of 4 ticks some hold ab, of 5 some hold bc, and 7 hold ac and abc, too."""
    assert count((1, 1, 1), (2, 3, 3), (3, 7, 7), last=7, span=span) == found


@pytest.mark.parametrize(("last", "most", "found"), [(3, None, 9), (2, None, 7), (3, 2, 7), (3, 1, 3)])
def test_equal_values_may_follow_each_other(last: int, most: int | None, found: int) -> None:
    """Of a and b at 1 or 2 and c at 2 or 3: a, b, c, ab, ba, ac, bc, abc and bac; five rise in value."""
    members = (1, 1, 2), (1, 1, 2), (2, 2, 3)
    assert count(*members, last=last, equal=True, most=most) == found
    assert count(*members, last=last, most=most) == min(found, 5)


def test_numbers_have_as_many_digits_as_they_need() -> None:
    """Every set of 200 certain readings that rise is a sequence."""
    ticks = np.arange(200)
    members = Members(ticks, ticks, ticks, equal=False, most=None)
    assert members.count(SequenceRoom(-1, -1, 200, UNBOUNDED)) == 2**200 - 1


def test_equal_values_come_in_each_order_that_time_allows() -> None:
    wide = Members(np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64), np.full(3, 9), True, None)
    assert wide.count(SequenceRoom(-1, -1, 9, UNBOUNDED)) == 3 + 6 + 6
    one_after_the_other = np.arange(90)
    apart = Members(np.zeros(90, dtype=np.int64), one_after_the_other, one_after_the_other, True, None)
    assert apart.count(SequenceRoom(-1, -1, 99, UNBOUNDED)) == 2**90 - 1


@pytest.mark.parametrize("bound", ["_MOST_WORK", "_MOST_ENDS"])
def test_too_much_work_is_left_to_others(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, bound, 1)
    members = Members(np.arange(3), np.zeros(3, dtype=np.int64), np.full(3, 9), True, None)
    assert members.count(SequenceRoom(-1, -1, 9, UNBOUNDED)) is None


def test_as_many_equal_values_as_can_follow_each_other_are_left_to_others() -> None:
    alike = np.zeros(7, dtype=np.int64)
    assert Members(alike, alike, alike + 9, True, None).count(SequenceRoom(-1, -1, 9, UNBOUNDED)) is None

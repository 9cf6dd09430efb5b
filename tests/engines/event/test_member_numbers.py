"""How many groups a row of a summary stands for, by a table or in closed form: what the worlds say."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from cepctl.engines.search.kleene import sequences
from cepctl.errors import QueryTooLargeError
from tests.engines.agreement import EXAMPLES, check
from tests.engines.event.test_kleene_summary import SUMMARY, agrees_with_the_judge, summarised
from tests.plans import Event
from tests.random_events import streams
from tests.strategies import Case

ORDERS = (
    "{g}[i].x > {g}[i-1].x",
    "{g}[i-1].x <= {g}[i].x",
    "{g}[i].x < {g}[i-1].x",
    "{g}[i].x <= {g}[i-1].x",
    "{g}[i].x > max({g}[1..i-1].x)",
    "{g}[i].x <= min({g}[1..i-1].x)",
    "",
)
LIMITS = (
    "",
    "",
    "{g}[i].time - {o}.time <= 2 ticks AND {o}.time - {g}[i].time <= 2 ticks",
    "{g}[i].time >= '1970-01-01T00:00:00.003Z'",
    "{o}.time <= '1970-01-01T00:00:00.005Z'",
    "count({g}[]) <= 2",
)


@st.composite
def rising_cases(draw: st.DrawFn) -> Case:
    """A group whose members rise or fall, or of a number of members, beside one or two single events."""
    size = draw(st.sampled_from([2, 3, 3]))
    place = draw(st.integers(0, size - 1))
    types = [draw(st.sampled_from(["A", "B", "C", "A|B"])) for _ in range(size)]
    many = draw(st.sampled_from(["+", "+", "{1,2}", "{1,3}", "{1}"]))
    parts = [
        f"{types[i]}{f'{many} {name}[]' if i == place else f' {name}'}" for i, name in enumerate("abc"[:size])
    ]
    group, other = "abc"[place], "abc"[(place + draw(st.integers(1, size - 1))) % size]
    asked = (draw(st.sampled_from(ORDERS)), draw(st.sampled_from(LIMITS)))
    conditions = [each.format(g=group, o=other) for each in asked if each]
    query = f"PATTERN SEQ({', '.join(parts)})"
    query += f" WHERE {' AND '.join(conditions)}" if conditions else ""
    query += draw(st.sampled_from(["", *(f" WITHIN {ticks} ticks" for ticks in (4, 5, 7, 9))]))
    wanted = [each.split("|")[0] for each in types]
    found = draw(streams([*wanted, wanted[place], wanted[place]], 300))
    return Case(query, tuple(replace(each, pmf=None) for each in found) if draw(st.booleans()) else found)


def test_sequences_in_the_order_of_a_value_are_counted_as_the_worlds_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cepctl.engines.event.member_numbers.FEW_MEMBERS", 0)
    check(rising_cases(), agrees_with_the_judge, EXAMPLES)


READINGS = tuple(Event(f"b{i:02}", "B", 10 * i - 15, 10 * i + 15, x=i * 7 % 60) for i in range(60))
AROUND = (Event("a", "A", -50, -50), Event("c", "C", 700, 700))
RISING = "PATTERN SEQ(A a, B+ b[], C c) WHERE b[i].x > b[i-1].x"


def test_sequences_that_nobody_could_list_are_counted() -> None:
    """The number that a dictionary of earliest ends gives, filled by hand in order of values."""
    (row,) = summarised(RISING, *AROUND, *READINGS)
    table = {-50: 1}
    for event in sorted(READINGS, key=lambda each: each.x or 0):
        longer = {end: max(event.lower, end + 1) for end in table}
        for end, later in sorted(longer.items(), reverse=True):
            if later <= event.upper:
                table[later] = table.get(later, 0) + table[end]
    assert row["count"] == str(sum(table.values()) - 1)
    assert int(str(row["count"])) > 500_000


def test_what_a_table_leaves_is_listed_and_refused_above_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequences, "_MOST_WORK", 1)
    with pytest.raises(QueryTooLargeError, match="Kleene group"):
        summarised(RISING, *AROUND, *READINGS, options=replace(SUMMARY, max_matches=1000))


def test_a_number_of_members_limits_sets_and_sequences() -> None:
    sure = [Event(f"b{i:02}", "B", i, i, x=i) for i in range(20)]
    for condition in ("", " WHERE b[i].x > b[i-1].x"):
        (row,) = summarised(f"PATTERN SEQ(A a, B{{1,3}} b[], C c){condition}", *AROUND, *sure)
        assert row["count"] == str(20 + 190 + 1140)

"""Little memory makes small blocks of work, which change no row; what does not fit is refused."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.joins import PAIRS_AT_ONCE
from cepctl.engines.confidence.points import measure
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.pattern.rivals import rivals_of
from cepctl.engines.rows.order import ordered
from cepctl.engines.runners import local
from cepctl.engines.runners.slices import require_room
from cepctl.errors import QueryTooLargeError
from cepctl.process.memory import PROGRAM_BYTES, MemoryBudget
from tests.engines.agreement import FEW_EXAMPLES, assert_same_rows, check
from tests.plans import Event, event_table, plan_of
from tests.strategies import (
    Case,
    and_cases,
    contiguity_cases,
    kleene_cases,
    negation_cases,
    next_match_cases,
    sequence_cases,
)

NEXT = "PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match"


def small_blocks(size: int) -> MatchOptions:
    return MatchOptions(memory=MemoryBudget(PROGRAM_BYTES + 4 * size))


def same_events(count: int) -> pa.Table:
    return event_table([Event(f"e{i}", "AB"[i % 2], 0, 9) for i in range(count)])


@pytest.mark.parametrize(
    "cases",
    [next_match_cases, contiguity_cases, negation_cases, and_cases, kleene_cases, sequence_cases],
)
def test_blocks_change_no_row(
    cases: Callable[[], st.SearchStrategy[Case]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A single match may take more than a block, so that none is refused here.
    monkeypatch.setattr(measure, "_MOST_BLOCKS", 1 << 30)

    def same_in_small_blocks(case: Case) -> None:
        plan = plan_of(case.query)
        assert_same_rows(match_events(plan, case.table), match_events(plan, case.table, small_blocks(1_000)))

    check(cases(), same_in_small_blocks, FEW_EXAMPLES)


def test_pairs_with_rivals_are_listed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty matches with 38 rivals each, which are never all listed at once."""
    listed = []

    def watched(*arguments: object, **named: object) -> object:
        found = rivals_of(*arguments, **named)  # type: ignore[arg-type]
        listed.append(sum(len(each.row) for each in found))
        return found

    monkeypatch.setattr("cepctl.engines.pattern.rivals.rivals_of", watched)
    table = same_events(40)
    plan = plan_of(NEXT)
    wanted = match_events(plan, table)
    whole, listed = listed, []
    found = match_events(plan, table, small_blocks(100_000))
    assert ordered(found).select(["match", "start"]).equals(ordered(wanted).select(["match", "start"]))
    assert max(listed) * measure.PAIR_BYTES <= 100_000 < sum(whole) * measure.PAIR_BYTES
    assert sum(listed) == sum(whole)


def test_a_match_with_too_many_rivals_is_refused_with_their_number() -> None:
    with pytest.raises(
        QueryTooLargeError,
        match=r"^a match of this query has up to 41 events that could break it, .* 10 kB of memory where 4",
    ):
        match_events(plan_of(NEXT), same_events(80), small_blocks(2_000))


def test_little_memory_lets_the_search_list_few_pairs() -> None:
    plan, events = plan_of("PATTERN SEQ(A a, B b, A c)"), events_of(same_events(40))
    few, usual = (
        prepared_alternative(plan, plan.alternatives[0], events, options).search.pairs_at_once
        for options in (small_blocks(50_000), MatchOptions(memory=MemoryBudget(10**12)))
    )
    assert 1 <= few < 100
    assert usual == PAIRS_AT_ONCE


def test_events_beyond_the_memory_are_refused_before_they_are_all_read() -> None:
    memory = MemoryBudget(PROGRAM_BYTES + 2_000_000)
    require_room(300_000, memory)
    with pytest.raises(
        QueryTooLargeError, match=r"take 1 MB of memory or more, where 1 MB are for events; .*--max-"
    ):
        require_room(400_000, memory)


def test_alternatives_are_listed_within_the_memory() -> None:
    plan = plan_of("PATTERN OR(SEQ(A a, B b), SEQ(B b, A a))")
    with pytest.raises(QueryTooLargeError, match=r"the matches of an OR .* memory where 20 kB are allowed"):
        match_events(plan, same_events(80), small_blocks(20_000))
    assert local.run(plan, same_events(80)).num_rows == 3_200

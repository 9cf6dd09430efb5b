"""Slices of time and buckets of keys: what is chosen, and that no match is lost or found twice."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.datasets.row_groups import RowGroup, RowGroups, row_groups
from cepctl.engines.event.match import match_batches, match_events, match_schema
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.order import ordered
from cepctl.engines.rows.sorted import SortedRows, WantedRows
from cepctl.engines.runners.slices import (
    EVENTS_PER_SLICE,
    FEWEST_EVENTS,
    MOST_EVENTS,
    SliceTask,
    Slicing,
    TimeSlice,
    choose_slicing,
    group_slicing,
    growing_slices,
)
from cepctl.engines.runners.stored import sent_events, widest_begin
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.plan import Plan
from cepctl.plan.support import require_engine
from cepctl.process.memory import default_budget
from cepctl.schema import TICK_MAX, TICK_MIN
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.engines.clock_cases import ClockCase, clocked_any_cases
from tests.engines.test_one_for_another import one_for_another
from tests.engines.test_read_sets_in_runs import read_sets
from tests.engines.test_sets_beside_runs import beside_runs
from tests.event_sources import TableSource
from tests.plans import Event, event_table, histogram, lasting, plan_of
from tests.random_patterns import NEXT
from tests.strategies import Case, any_cases, chain_cases, repeated_cases

PLAIN = "PATTERN SEQ(A a, B b) WITHIN 100 ticks"
KEYED = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 100 ticks"


def groups(count: int, *, rows: int = 50_000, ticks: int = 50_000, width: int = 20) -> RowGroups:
    """Row groups one after the other, of so many events over so many ticks."""
    return RowGroups.of(
        RowGroup(0, 0, i, rows, i * ticks, (i + 1) * ticks - 1, (i + 1) * ticks - 1 + width)
        for i in range(count)
    )


def test_few_events_are_not_split() -> None:
    slicing = choose_slicing(groups(5), plan_of(PLAIN), parallelism=2)
    assert slicing.slices == (TimeSlice(),)
    assert slicing.slices[0].owned is None
    assert (slicing.tasks, slicing.sent) == (1, False)


def test_slices_begin_with_row_groups_and_own_all_of_time() -> None:
    slicing = choose_slicing(groups(60), plan_of(PLAIN), parallelism=1)
    assert [each.first for each in slicing.slices] == [TICK_MIN, 1_000_000, 2_000_000]
    assert [each.last for each in slicing.slices] == [999_999, 1_999_999, TICK_MAX]


def test_more_cores_get_more_slices_until_these_are_small() -> None:
    plan = plan_of(PLAIN)
    counts = [len(choose_slicing(groups(60), plan, cores).slices) for cores in (1, 2, 4, 100)]
    assert counts == [3, 4, 8, 12]
    assert FEWEST_EVENTS <= 60 * 50_000 // 12


def test_slices_grow_from_a_row_group_to_the_most_that_is_read_at_once() -> None:
    slices = growing_slices(groups(400), plan_of(PLAIN))
    sizes = [each.last - each.first + 1 for each in slices[1:-1]]
    assert slices[0].last + 1 == 50_000
    assert sizes[:3] == [200_000, 800_000, 3_200_000]
    assert set(sizes[3:]) == {MOST_EVENTS}
    assert (slices[0].first, slices[-1].last) == (TICK_MIN, TICK_MAX)


def test_what_is_given_ties_events_of_any_slice_and_key() -> None:
    keyed = PLAIN.replace(" WITHIN", " WHERE [k] WITHIN")
    for query in (PLAIN, keyed, f"{keyed} GROUP BY a.k"):
        plan = plan_of(f"{query} GIVEN SEQ(A p, B q) IF p.x = q.x")
        for slicing in (choose_slicing(groups(60), plan, 4), group_slicing(groups(60), plan, 4)):
            assert (slicing.slices, slicing.tasks, slicing.sent) == ((TimeSlice(),), 1, False)


def test_a_burst_of_events_gets_slices_of_its_own() -> None:
    quiet, burst = groups(20), groups(40, ticks=500)
    later = 20 * 50_000
    moved = replace(
        burst,
        part=burst.part + 1,
        first_lower=burst.first_lower + later,
        last_lower=burst.last_lower + later,
        last_tick=burst.last_tick + later,
    )
    both = RowGroups.of([*_each(quiet), *_each(moved)])
    slicing = choose_slicing(both, plan_of(PLAIN), parallelism=1)
    assert [each.first for each in slicing.slices] == [TICK_MIN, later, later + 20 * 500]
    assert slicing.most_read <= EVENTS_PER_SLICE + 2 * 50_000


def _each(found: RowGroups) -> list[RowGroup]:
    columns = [getattr(found, name) for name in RowGroup._fields]
    return [RowGroup(*facts) for facts in zip(*columns, strict=True)]


def test_a_slice_owns_several_windows() -> None:
    slicing = choose_slicing(groups(60), plan_of("PATTERN SEQ(A a, B b) WITHIN 400 s"), parallelism=1)
    assert all(each.last - each.first >= 4 * 400_000 for each in slicing.slices)


def test_without_window_keys_alone_split() -> None:
    plain = choose_slicing(groups(60), plan_of("PATTERN SEQ(A a, B b)"), parallelism=1)
    keyed = choose_slicing(groups(60), plan_of("PATTERN SEQ(A a, B b) WHERE [k]"), parallelism=1)
    assert (plain.tasks, plain.sent) == (1, False)
    assert (len(keyed.slices), keyed.buckets, keyed.sent) == (1, 3, True)


def test_strict_contiguity_is_not_split_by_key_because_every_event_can_stand_between() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE [k] STRATEGY strict_contiguity"
    assert choose_slicing(groups(60), plan_of(text), parallelism=1).tasks == 1


def test_a_wide_window_is_split_by_key_as_well() -> None:
    text = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 2000 s"
    slicing = choose_slicing(groups(200), plan_of(text), parallelism=1)
    assert slicing.most_read > MOST_EVENTS
    assert slicing.buckets * EVENTS_PER_SLICE >= slicing.most_read
    assert slicing.sent


def test_where_wide_intervals_would_be_read_by_every_slice_events_are_sent() -> None:
    wide = groups(100, width=10**9)
    assert choose_slicing(wide, plan_of(PLAIN), parallelism=1).sent
    assert not choose_slicing(groups(100), plan_of(PLAIN), parallelism=1).sent


def test_what_is_chosen_is_told_in_words() -> None:
    assert choose_slicing(groups(5), plan_of(PLAIN), 1).text() == "1: all 250,000 events in one task"
    told = choose_slicing(groups(60), plan_of(PLAIN), 1).text()
    assert told == "3 of time: 3,000,000 events, at most 1,100,000 events read for one"
    keyed = choose_slicing(groups(60), plan_of("PATTERN SEQ(A a, B b) WHERE [k]"), 1).text()
    assert keyed == "3 by key: 3,000,000 events, events sent to the slices that need them"


def task_of(plan: Plan, table: pa.Table, size: int = 3) -> SliceTask:
    source = TableSource.of(table, size)
    return SliceTask(plan, MatchOptions(), (source,), row_groups([source]))


def read_by_slice(task: SliceTask, slicing: Slicing) -> pa.Table:
    """The rows that the tasks of all slices give together, put in order as what they are: numbers."""
    rows = SortedRows(match_schema(task.plan), WantedRows(), default_budget(), Path("nowhere"))
    for own in slicing.slices:
        for _, batch in task.run(own):
            if batch is not None:
                rows.add(batch)
    return rows.table()


def sent_to_groups(task: SliceTask, slicing: Slicing) -> pa.Table:
    """The rows of the groups whose events are sent to them."""
    files = list(task.groups.files())
    widest = max(widest_begin(task, *file) for file in files)
    pieces: defaultdict[int, list[pa.Table]] = defaultdict(list)
    for file in files:
        for group, piece in sent_events(task, slicing, widest, *file):
            pieces[group].append(pa.ipc.open_stream(piece).read_all())
    batches: list[pa.RecordBatch] = []
    for group, tables in pieces.items():
        assert 0 <= group < slicing.tasks
        own = slicing.slices[group // slicing.buckets]
        batches += match_batches(task.plan, task.in_order(tables), task.options, own.owned)
    return ordered(pa.Table.from_batches(batches, match_schema(task.plan)))


def can_be_split(case: Case) -> bool:
    plan = plan_of(case.query)
    try:
        require_engine(plan, "event")
    except UnsupportedQueryError:
        return False
    return bool(case.events) and (plan.window is not None or bool(plan.partition_by))


def same_in_slices(values: tuple[Case, int, int, int]) -> None:
    case, length, size, buckets = values
    plan = plan_of(case.query)
    try:
        wanted = ordered(match_events(plan, case.table))
    except UnsupportedQueryError:
        return
    task = task_of(plan, case.table, size)
    slicing = choose_slicing(task.groups, plan, 2, length)
    assert read_by_slice(task, slicing).equals(wanted)
    keyed = bool(plan.partition_by) and "strict" not in case.query
    sent = replace(slicing, buckets=buckets if keyed else 1, sent=True)
    assert sent_to_groups(task, sent).equals(wanted)


def sliced(cases: st.SearchStrategy[Case]) -> st.SearchStrategy[tuple[Case, int, int, int]]:
    lengths = st.sampled_from([1, 2, 3, 7])
    return st.tuples(cases.filter(can_be_split), lengths, st.integers(1, 5), st.integers(1, 3))


def test_slices_of_any_length_give_the_same_rows_read_or_sent() -> None:
    """Every strategy, AND, negation and Kleene; row groups of any size, keys in any number of buckets."""
    check(sliced(chain_cases() | any_cases()), same_in_slices, FEW_EXAMPLES)


def test_a_run_that_begins_with_a_set_belongs_to_the_slice_of_its_first_member() -> None:
    """The names of members say nothing of their times."""
    read = read_sets(("SEQ(B* b[], A? d, C c)", "SEQ(B+ b[], C c)"))
    beside = beside_runs(("SEQ(A+ a[], B{2,3} b[], C c)", "SEQ(A+ a[], RUNNING B+ b[])"), (NEXT,))
    either = one_for_another(("SEQ(B* x[], B{1,2} y[], C c)", "SEQ(B{0,2} x[], B? y, C c)"))
    check(sliced(read | beside | either), same_in_slices, FEW_EXAMPLES)


def test_repetitions_belong_to_the_slice_of_the_member_that_begins_first() -> None:
    """That may be a member of any component that is repeated."""
    query = "PATTERN SEQ(A x[], B y[])+ WITHIN 2 ticks STRATEGY skip_till_any_match"
    same_in_slices((Case(query, (Event("e0", "B", 2, 4), Event("e1", "A", 3, 3))), 1, 5, 1))
    check(sliced(repeated_cases()), same_in_slices, FEW_EXAMPLES)


def test_a_row_of_two_parts_of_an_or_belongs_to_one_slice() -> None:
    """One of them takes members in their order, the other all that fit; the last by name may begin first."""
    either = "OR(RUNNING A+ a[], RUNNING A+ b[]) WHERE count(distinct a[..i-1].x) < 2"
    query = f"PATTERN {either} WITHIN 2 ticks STRATEGY {NEXT}"
    case = Case(query, (Event("e1", "A", 1, 1), Event("e4", "A", -1, 2)))
    for length in (1, 2, 3):
        same_in_slices((case, length, 1, 1))


def test_slices_give_the_same_rows_where_events_share_clocks() -> None:
    """To the last bit: a clock that is cut in two by a slice stays one clock."""

    def can_be(case: ClockCase) -> bool:
        return can_be_split(Case(case.query, case.events))

    drawn = st.tuples(clocked_any_cases().filter(can_be), st.sampled_from([1, 2, 3]), st.integers(1, 5))

    def same(values: tuple[ClockCase, int, int]) -> None:
        case, length, size = values
        plan = plan_of(case.query, case.clocks)
        wanted = ordered(match_events(plan, case.table))
        task = task_of(plan, case.table, size)
        slicing = choose_slicing(task.groups, plan, 2, length)
        assert read_by_slice(task, slicing).equals(wanted)
        assert sent_to_groups(task, replace(slicing, buckets=1, sent=True)).equals(wanted)

    check(drawn, same, FEW_EXAMPLES)


@pytest.mark.parametrize("length", [1, 2, 5, 100])
def test_matches_across_the_edges_of_slices_are_found_once(length: int) -> None:
    events = [Event(f"a{i}", "A", i, i + 3) for i in range(12)] + [
        Event(f"b{i}", "B", i + 1, i + 6) for i in range(0, 12, 2)
    ]
    plan = plan_of("PATTERN SEQ(A a, B b, A c) WITHIN 6 ticks")
    wanted = ordered(match_events(plan, event_table(events)))
    assert wanted.num_rows > 100
    task = task_of(plan, event_table(events))
    assert read_by_slice(task, choose_slicing(task.groups, plan, 2, length)).equals(wanted)


def test_an_event_whose_first_ticks_have_no_mass_belongs_to_the_slice_of_its_first_possible_one() -> None:
    late = histogram("a", "A", (0, 4, 0.0), (9, 9, 1.0))
    events = event_table([late, Event("b", "B", 12, 12), Event("x", "A", 3, 3)])
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 6 ticks")
    wanted = ordered(match_events(plan, events))
    assert wanted.num_rows == 1
    task = task_of(plan, events, size=1)
    for length in (1, 2, 5):
        slicing = choose_slicing(task.groups, plan, 2, length)
        assert read_by_slice(task, slicing).equals(wanted)


def test_a_task_reads_only_the_row_groups_that_its_slice_needs() -> None:
    events = [Event(f"e{i:03}", "AB"[i % 2], i, i + 1) for i in range(100)]
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 3 ticks")
    source = TableSource.of(event_table(events), size=10)
    near = replace(source, table=source.table.slice(0, 100))
    read: list[int] = []
    original = TableSource.read

    class Watched(TableSource):
        def read(self, part, numbers, pushed):  # type: ignore[no-untyped-def]
            read.extend(2 * part + number for number in numbers)
            return original(self, part, numbers, pushed)

    watched = Watched(near.table, 10)
    task = SliceTask(plan, MatchOptions(), (watched,), row_groups([watched]))
    owned = [owned.events for owned, batch in task.run(TimeSlice(40, 59)) if batch is None]
    assert sorted(read) == [3, 4, 5, 6]
    assert owned == [20]


def test_each_event_that_ends_before_its_start_is_counted_in_the_slice_that_owns_it() -> None:
    early = (lasting(f"e{at}", "A", (at, at + 4), (at - 9, at - 2)) for at in (20, 30, 40))
    table = event_table([*early, lasting("w", "A", (30, 34), (33, 38))])
    task = task_of(plan_of("PATTERN SEQ(A a)", lasting=True), table)
    slices = [TimeSlice(last=29), TimeSlice(30, 39), TimeSlice(first=40)]
    assert [task.events(own)[1] for own in slices] == [(1, 1), (2, 1), (1, 1)]

"""The experiments of the papers, each query in a process of its own on one core.

Events per second, rows and peak memory stand in every row; where a paper's figure is known here, it stands
beside with who is ahead.  Of the other experiments the settings are known and not what the papers measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from cluster_events import cluster_dataset
from cluster_queries import ANY, CLUSTER_QUERIES, NEXT, ClusterQuery
from measuring import in_process
from paper_events import dataset, of_histograms, of_types, out_of_order, plain_file, that_last
from paper_judge import groups_of, rising_groups_of, topped_groups_of
from results import Goal, Row, Setup, Timing, check_close, check_equal

PAPER_SLOWEST, PAPER_FASTEST = 300_000, 7_000_000
"""Events a second of ZDI14's six queries on its cluster's logs, from the slowest to the fastest."""
FEW = 300
"""Events of a cluster's logs to begin with."""


def papers(setup: Setup) -> Iterator[Row]:
    """All of them, those of ZDI14 first."""
    parts = (case_study, growing_groups, uncertain_kleene, binding, lasting_patterns, late_events, with_given,
             timing_join, operators)  # fmt: skip
    return chain.from_iterable(part(setup) for part in parts)


@dataclass(frozen=True)
class Events:
    """A dataset, how many events it has, and a small one to begin with."""

    path: Path
    size: int
    small: Path

    @classmethod
    def once(cls, path: Path, size: int) -> Events:
        """Events that are few enough to be run twice."""
        return cls(path, size, path)


@dataclass(frozen=True)
class Asked:
    """A query over events, with choices beside the plan; `above`: confidences of which rows are counted."""

    case: str
    query: str
    events: Events
    options: dict[str, Any] = field(default_factory=dict)
    above: Sequence[float] = ()

    def told(self) -> dict[str, Any]:
        """What a process of its own says of it."""
        wanted = {"query": self.query, "options": self.options, "above": self.above}
        return in_process("paper_once.py", self.events.small, self.events.path, json.dumps(wanted))

    def row(self, told: dict[str, Any], *notes: str) -> Row:
        """The row of what was told; one that is refused says so."""
        if "refused" in told:
            return Row(self.case, note=f"refused: {told['refused'].partition(';')[0]}")
        timing = Timing(told["seconds"], told["cpu_seconds"], 1)
        said = [f"{told['rows']:,} rows", f"peak {told['peak']:,.0f} MB", *notes]
        if told["groups"] != told["rows"]:
            said.insert(1, f"{told['groups']:.3g} groups")
        return Row(self.case, timing, self.events.size, "events", note=", ".join(said))


def case_study(setup: Setup) -> Iterator[Row]:
    """ZDI14, Fig. 7a to 7f: six queries under two strategies on the logs of a cluster."""
    full, quick = 10_000_000, 100_000
    few = cluster_dataset(setup.folder, FEW)
    logs = Events(*cluster_dataset(setup.folder, setup.events(full, quick)), few[0])
    fewer = Events(*cluster_dataset(setup.folder, setup.events(full // 10, quick // 10)), few[0])
    for query in CLUSTER_QUERIES:
        for strategy in (ANY, NEXT):
            yield _of_cluster(query, strategy, fewer if query.run and strategy == NEXT else logs, few[1])
    for query in CLUSTER_QUERIES[-2:]:
        yield from _filtered_late(query, fewer)


def _of_cluster(query: ClusterQuery, strategy: str, logs: Events, few: int) -> Row:
    """One query; every day of the cluster is as the first, so that each must add as many rows."""
    summary = query.summary and strategy == ANY
    asked = Asked(
        f"ZDI14 7, {query.name}, {strategy.removeprefix('skip_till_')}",
        query.under(strategy, summary=summary), logs, {"kleene": "summary"} if summary else {},
    )  # fmt: skip
    told = asked.told()
    row = asked.row(told)
    if row.timing is None:
        return row
    days = logs.size / few
    for what in ("rows", "groups"):
        check_equal(f"{what} of {asked.case}", told[what], round(days * told["small"][what]))
    check_close(f"confidence of {asked.case}", told["total"], days * told["small"]["total"])
    rate = logs.size / row.timing.cpu_seconds
    ahead = "cepctl is ahead" if rate > PAPER_FASTEST else "the paper is ahead"
    ahead = "within the paper's" if PAPER_SLOWEST <= rate <= PAPER_FASTEST else ahead
    return replace(
        row, ratio=rate / 1e6, against="a million events a second of processor time",
        goal=Goal("at least", 1), checked="each day alike",
        note=f"{row.note}; paper 0.3 to 7 million: {ahead}",
    )  # fmt: skip


def _filtered_late(query: ClusterQuery, logs: Events) -> Iterator[Row]:
    """ZDI14, Fig. 7f: with conditions judged while groups grow, and with all groups, as for a late filter."""
    early, late = (
        Asked(f"ZDI14 7f, {query.name}, {how}", text, logs)
        for how, text in (("filtered early", query.under(ANY)), ("filtered late", query.unfiltered(ANY)))
    )
    first = early.told()
    yield early.row(first, f"{first['grown'] / max(first['rows'], 1):.3g} partial groups grown for a row")
    then = late.told()
    row = late.row(then, f"{then['grown'] / max(first['rows'], 1):.3g} grown for a row that is left")
    if row.timing is not None:
        yield replace(row, ratio=then["cpu_seconds"] / first["cpu_seconds"],
                      against="how many times longer than filtered early, processor time")  # fmt: skip
        return
    yield row


def growing_groups(setup: Setup) -> Iterator[Row]:
    """ZDI14, Fig. 5a to 5f: certain times; .0035 to 1.6 rows for an event, then windows of 10^4 to 10^5."""
    size = setup.events(100_000, 10_000)
    for theta, share in ((0.0035, 0.006), (0.05, 0.03), (0.24, 0.05), (1.6, 0.074)):
        table = of_types(size, 0, {"A": 0.01, "B": share, "C": 0.01})
        events = Events.once(dataset(setup.folder, f"theta_{share}", table), size)
        yield from _three_kinds(f"ZDI14 5, θ about {theta}", table, events, 100)
    size = setup.events(10_000_000, 500_000)
    table = of_types(size, 0, dict.fromkeys("ABC", 5e-5))
    events = Events.once(dataset(setup.folder, "wide_windows", table), size)
    for window in (10_000, 50_000, 100_000):
        yield from _three_kinds(f"ZDI14 5, W = {window:,}", table, events, window)


def _three_kinds(case: str, table: Any, events: Events, window: int) -> Iterator[Row]:
    """Without a condition over the group, with one that stays false, with one that may turn true."""
    kinds = (
        ("exact", "", groups_of),
        ("true-consistent", "WHERE b[i].val > max(b[..i-1].val)", rising_groups_of),
        ("false-consistent", "WHERE c.val < max(b[..i].val)", topped_groups_of),
    )
    for name, condition, counted in kinds:
        asked = Asked(
            f"{case}, {name}", f"PATTERN SEQ(A a, B+ b[], C c) {condition} WITHIN {window} ticks", events
        )
        told = asked.told()
        row = asked.row(told, f"{told['grown'] / max(told['rows'], 1):.3g} partial groups grown for a row")
        if row.timing is not None:
            check_equal(f"rows of {asked.case}", told["rows"], counted(table, window))
            row = replace(row, checked="counted in plain Python")
        yield row


def uncertain_kleene(setup: Setup) -> Iterator[Row]:
    """ZDI14, Fig. 6a, 6d, 6e: intervals of 10, thresholds and one row for all, then longer patterns."""
    size = setup.events(2_000_000, 500_000)
    table = of_types(size, 5, {"A": 5e-5, "B": 2e-5, "C": 5e-5})
    events = Events.once(dataset(setup.folder, "uncertain", table), size)
    levels = (0.7, 0.9, 0.99, 0.999)
    for window in (20_000, 100_000, 200_000):
        query = f"PATTERN SEQ(A a, B+ b[], C c) WITHIN {window} ticks"
        whole = Asked(f"ZDI14 6a, W = {window:,}", query, events, above=levels)
        every = whole.told()
        yield whole.row(every)
        for level in levels:
            asked = replace(
                whole, case=f"{whole.case}, CONFIDENCE >= {level}", query=f"{query} CONFIDENCE >= {level}"
            )
            told = asked.told()
            check_equal(f"rows of {asked.case}", told["rows"], every["above"][str(level)])
            yield _beside(asked.row(told), told, every, "without a threshold", "same as filtered")
        asked = replace(whole, case=f"{whole.case}, collapsed", options={"kleene": "summary"})
        told = asked.told()
        check_equal(f"groups of {asked.case}", told["groups"], every["rows"])
        yield _beside(asked.row(told), told, every, "group by group", "counts all groups")
    size = setup.events(100_000, 10_000)
    events = Events.once(
        dataset(setup.folder, "longer", of_types(size, 5, dict.fromkeys("ABCDE", 0.05))), size
    )
    for length in (2, 3, 4, 5):
        names = ["A a", "B+ b[]", "C c", "D d", "E e"][:length]
        asked = Asked(
            f"ZDI14 6e, length {length}", f"PATTERN SEQ({', '.join(names)}) WITHIN 25 ticks", events
        )
        yield asked.row(asked.told())


def _beside(row: Row, told: dict[str, Any], other: dict[str, Any], against: str, checked: str = "") -> Row:
    """A row with its processor time over that of another one."""
    if row.timing is None or "refused" in other:
        return row
    ratio = told["cpu_seconds"] / other["cpu_seconds"]
    return replace(row, ratio=ratio, against=f"{against}, processor time", checked=checked)


def binding(setup: Setup) -> Iterator[Row]:
    """ZDI10, Fig. 4f: its query at four selectivities on logs of Hadoop and Ganglia, three orders."""
    small, _ = cluster_dataset(setup.folder, FEW)
    logs = Events(*cluster_dataset(setup.folder, setup.events(1_000_000, 50_000)), small)
    for name, least in (("S1", 98), ("S2", 90), ("S3", 60), ("S4", 20)):
        query = (
            "PATTERN SEQ(TaskStart a, CPU b, TaskFinish c, CPU d) WHERE a.task_id = c.task_id AND [node] "
            f"AND b.value > {least} AND d.value <= 70 WITHIN 50 s"
        )
        first: dict[str, Any] = {}
        for order in ("sort", "any-state", "selectivity"):
            asked = Asked(f"ZDI10 4f, {name}, b.value > {least}, {order}", query, logs, {"order": order})
            told = asked.told()
            first = first or told
            check_equal(f"rows of {asked.case}", told["rows"], first["rows"])
            yield _beside(asked.row(told), told, first, "order sort", "same as sort")


def lasting_patterns(setup: Setup) -> Iterator[Row]:
    """Li10, 5.4 to 5.11: starts in order, by length of pattern and events, and by events in a window."""
    size = setup.events(20_000, 2_000)
    # length of the pattern, events in a window, how much of a window they may last
    cases = [(length, 50, 20) for length in (2, 4, 6, 10, 18)]
    cases += [(3, 50, share) for share in (100, 10, 5)] + [(3, count, 20) for count in (100, 200, 400, 800)]
    for length, window, share in cases:
        events = dataset(setup.folder, "lasting", that_last(size, 20, max(window // share, 1)))
        names = [f"T{number + 1}" for number in range(length)]
        query = (
            f"PATTERN ISEQ({', '.join(f'{name} {name.lower()}' for name in names)}) WHERE "
            + " AND ".join(f"t{i}.start < t{i + 1}.start" for i in range(1, length))
            + f" WITHIN {window} ticks"
        )
        case = f"Li10 5, {length} events, {window} in a window, lasting up to W/{share}"
        asked = Asked(case, query, Events.once(events, size))
        yield asked.row(asked.told())


def late_events(setup: Setup) -> Iterator[Row]:
    """Li10, 4.8 to 4.11: 30 to 90 % of the events of a plain file are out of order."""
    size = setup.events(1_000_000, 50_000)
    table = of_types(size, 5, dict.fromkeys("ABC", 0.02))
    query = "PATTERN SEQ(A a, B b, !C c) WITHIN 100 ticks"
    first: dict[str, Any] = {}
    for share in (0.0, 0.3, 0.6, 0.9):
        path = plain_file(setup.folder, "late", out_of_order(table, share, 1_000))
        asked = Asked(f"Li10 4, {share:.0%} out of order, a plain file", query, Events.once(path, size))
        told = asked.told()
        first = first or told
        check_equal(f"rows of {asked.case}", told["rows"], first["rows"])
        yield _beside(asked.row(told), told, first, "in order", "same as in order")


def with_given(setup: Setup) -> Iterator[Row]:
    """Li10, 3.6 to 3.8: what is given of the events, by the share of them that it speaks of."""
    size = setup.events(100_000, 10_000)
    table = of_types(size, 5, dict.fromkeys("ABC", 0.02), spacing=2)
    events = Events.once(dataset(setup.folder, "given", table), size)
    query = "PATTERN SEQ(A a, B b, C c) WITHIN 100 ticks"
    first: dict[str, Any] = {}
    for percent in (None, 1, 5, 20):
        given, said = "", "nothing given"
        if percent is not None:
            share = f"x.val <= {10 * percent} AND y.val <= {10 * percent}"
            given, said = f" GIVEN SEQ(A x, C y) IF {share} AND x.lower <= y.lower", f"given of {percent} %"
        asked = Asked(f"Li10 3, {said}", query + given, events)
        told = asked.told()
        first = first or told
        yield _beside(asked.row(told), told, first, "nothing given")


def timing_join(setup: Setup) -> Iterator[Row]:
    """PTJ06, Example 5: histograms, d = 1500 and δ = .8, with ranges of shapes and without."""
    count = 500
    events = Events.once(dataset(setup.folder, "histograms", of_histograms(count, 100)), 2 * count)
    query = "PATTERN AND(A a, B b) WITHIN 1501 ticks"
    without = Asked("PTJ06, Example 5, every pair", query, events, above=(0.8,))
    every = without.told()
    yield without.row(every, f"{every['measured']:,} pairs measured")
    asked = Asked("PTJ06, Example 5, ranges of shapes", f"{query} CONFIDENCE >= 0.8", events)
    told = asked.told()
    check_equal("pairs above 0.8", told["rows"], every["above"]["0.8"])
    row = asked.row(told, f"{told['measured']:,} pairs measured")
    yield _beside(row, told, every, "every pair", "same as filtered")


def operators(setup: Setup) -> Iterator[Row]:
    """B21, 5.5 and 5.6: SEQ, OR, AND and NOT under both strategies."""
    size = setup.events(1_000_000, 50_000)
    events = Events.once(
        dataset(setup.folder, "operators", of_types(size, 5, dict.fromkeys("ABC", 0.02))), size
    )
    kinds = {"SEQ": "SEQ(A a, B b, C c)", "OR": "SEQ(A a, OR(B b, C c))", "AND": "SEQ(A a, AND(B b, C c))",
             "NOT": "SEQ(A a, !B b, C c)"}  # fmt: skip
    for name, pattern in kinds.items():
        for strategy in (ANY, NEXT):
            query = f"PATTERN {pattern} WITHIN 50 ticks STRATEGY {strategy}"
            asked = Asked(f"B21 5.5, {name}, {strategy.removeprefix('skip_till_')}", query, events)
            yield asked.row(asked.told())

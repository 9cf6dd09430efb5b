"""Random questions over every construct, and what it means that a threshold or the best k lose no row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.groups import groups_in_order
from cepctl.engines.rows.order import ordered
from cepctl.errors import ContradictionError, QueryTooLargeError
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.plan import Plan
from cepctl.plan.summary import summary_refusals
from tests.engines.clock_cases import CLOCK_LEVELS, ClockCase
from tests.engines.confidence.given.given_cases import with_given
from tests.engines.confidence.intervals import random_intervals as lasting
from tests.engines.confidence.intervals.given_of_lasting import GIVENS, tied_streams
from tests.engines.confidence.occurrence.groups_agree import grouped
from tests.engines.reached_cases import asking
from tests.plans import Event, event_table, plan_of
from tests.random_events import streams
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT
from tests.strategies import LEVELS, Case, chain_cases, kleene_cases

BESIDE = (0.0, 0.0, 0.0, CONFIDENCE_SLACK, -CONFIDENCE_SLACK, 0.999 * CONFIDENCE_SLACK, 1e-7, -1e-7)
"""How far from a confidence that occurs a threshold is drawn: on it, where the slack ends, and beyond."""
_MOST_THRESHOLDS = 3


@dataclass(frozen=True)
class Question:
    """A query and the events that it runs on; `lasting` where some of them may last."""

    query: str
    events: tuple[Event, ...]
    clocks: tuple[tuple[str, Any], ...] = ()
    lasting: bool = False
    options: MatchOptions = field(default_factory=MatchOptions)

    @property
    def plan(self) -> Plan:
        clocks: Clocks = dict(self.clocks)
        return plan_of(self.query, clocks, lasting=self.lasting)

    @cached_property
    def table(self) -> pa.Table:
        return event_table(self.events)

    def rows(self, minimum: float | None = None, top: int | None = None) -> pa.Table:
        """Its rows in their order; what contradicts what is given, or costs too much, is left to others."""
        plan = self.plan if minimum is None else replace(self.plan, minimum_confidence=minimum)
        try:
            found = match_events(plan, self.table, replace(self.options, top=top))
        except (ContradictionError, QueryTooLargeError):
            assume(condition=False)
        if plan.group_by is None:
            return ordered(found, top)
        return groups_in_order(found, len(plan.group_by), top)


# --- what has to hold ------------------------------------------------------------------------


def a_threshold_leaves_what_a_filter_would(drawn: tuple[Question, float]) -> None:
    """With each of a few thresholds, at the confidences that occur or `beside` them."""
    question, beside = drawn
    every = question.rows()
    column = every.column("confidence" if question.plan.group_by is None else "occurrence")
    known = sorted({each for each in column.to_pylist() if each is not None})
    for confidence in known[:: max(len(known) // _MOST_THRESHOLDS, 1)]:
        least = min(max(confidence + beside, 0.0), 1.0)
        kept = question.rows(least)
        reaching = pc.greater_equal(column, least - CONFIDENCE_SLACK)
        if "expected" in every.column_names:
            # Of what is too costly only what is expected is asked.
            enough = pc.greater_equal(every.column("expected"), least - CONFIDENCE_SLACK)
            reaching = pc.if_else(pc.is_null(column), enough, reaching)
        assert kept.equals(every.filter(reaching)), f"CONFIDENCE >= {least!r}"


def the_best_are_the_first_of_all(drawn: tuple[Question, int]) -> None:
    question, k = drawn
    assert question.rows(top=k).equals(question.rows().slice(0, k)), f"the best {k}"


TIES = Question(
    "PATTERN SEQ(A a, B b) WHERE [k]",
    (
        *(Event(f"a{number}", "A", 0, 0, k="x") for number in (2, 3, 4)),
        Event("b1", "B", 1, 1, k="x"),
        Event("a1", "A", 0, 0, k="y"),
        Event("b2", "B", 1, 1, k="y"),
    ),
    options=MatchOptions("selectivity", {"A": 4, "B": 2}),
)
"""Its first row is found last, and is as good as three before it; B is bound first."""


# --- random questions ------------------------------------------------------------------------


def of_points(cases: st.SearchStrategy[Case]) -> st.SearchStrategy[Question]:
    return cases.map(lambda case: Question(case.query, case.events))


def _of_clocks(cases: st.SearchStrategy[ClockCase]) -> st.SearchStrategy[Question]:
    return cases.map(lambda case: Question(case.query, case.events, tuple(case.clocks.items())))


@st.composite
def beside_groups(draw: st.DrawFn, strategies: tuple[str, ...] = (NEXT, STRICT, PARTITION, ANY)) -> Case:
    """Chains of single events and groups, each of a type of its own: often two groups side by side.

    So that stray events that fit a group lie before and after it, and a far event ends its window.
    """
    strategy = draw(st.sampled_from(strategies))
    size = draw(st.sampled_from([2, 3, 3, 4]))
    kleene = [draw(st.booleans()) for _ in range(size)]
    if not any(kleene):
        kleene[draw(st.integers(0, size - 1))] = True
    kinds = draw(st.permutations("ABCD"))[:size]
    parts = [
        f"{kind}{f'+ {kind.lower()}[]' if group else f' {kind.lower()}'}"
        for kind, group in zip(kinds, kleene, strict=True)
    ]
    keyed = " WHERE [k]" if strategy == PARTITION else ""
    window = draw(st.sampled_from([5, 8, 12, 12]))
    within = f" WITHIN {window} ticks" if draw(st.booleans()) or (strategy == NEXT and kleene[-1]) else ""
    wanted = [*kinds, *(kind for kind, group in zip(kinds, kleene, strict=True) if group)]
    events = draw(streams(wanted, 300))
    if keyed:
        events = tuple(replace(event, k="p") for event in events)
    return Case(f"PATTERN SEQ({', '.join(parts)}){keyed} STRATEGY {strategy}{within}", events)


_NARROW = (
    "A a, B+ b[], C c",
    "A a, D d, B+ b[] WITHIN",
    "D d, A+ a[], B+ b[], C c",
    "A+ a[], B+ b[], C c",
    "A a, B+ b[], D+ d[] WITHIN",
)


@st.composite
def narrow_groups(draw: st.DrawFn, strategies: tuple[str, ...] = (NEXT, STRICT)) -> Case:
    """Groups whose bound is tight: few ticks, neighbours often certain, and no rivals but members."""
    pattern = draw(st.sampled_from(_NARROW))
    strategy = draw(st.sampled_from(strategies))
    within = f" WITHIN {draw(st.sampled_from([9, 12, 5]))} ticks" if pattern.endswith("WITHIN") else ""
    pattern = pattern.removesuffix(" WITHIN")
    last = draw(st.sampled_from([9, 9, 6, 3]))
    places = {"A": 2, "D": 5 if "A a, D d" in pattern else 0, "C": last}
    events = []
    for kind, place in places.items():
        if f"{kind} " in pattern or f"{kind}+" in pattern:
            lower = place + draw(st.integers(-1, 1))
            events.append(Event(kind.lower(), kind, lower, lower + draw(st.sampled_from([0, 0, 1, 3]))))
    for number in range(draw(st.integers(1, 3))):
        lower = draw(st.integers(0, last + 5))
        events.append(Event(f"b{number}", "B", lower, lower + draw(st.integers(0, 4))))
    return Case(f"PATTERN SEQ({pattern}) STRATEGY {strategy}{within}", tuple(events))


@st.composite
def pairs(draw: st.DrawFn) -> Case:
    """An AND of two in a window, where many events of one shape lie at many distances from others."""
    wide, window = draw(st.tuples(st.integers(1, 4), st.integers(2, 5)))
    events = [Event("a", "A", 3, 3 + draw(st.integers(0, 4)))]
    for number, lower in enumerate(draw(st.lists(st.integers(0, 9), min_size=3, max_size=5, unique=True))):
        events.append(Event(f"b{number}", "B", lower, lower + wide))
    return Case(f"PATTERN AND(A a, B b) WITHIN {window} ticks", tuple(events))


@st.composite
def _lasting(draw: st.DrawFn) -> Question:
    """Events that last: relations, absences, groups of points, an OR, what is given, a probability asked."""
    queries, found = draw(
        st.sampled_from(
            [
                (lasting.queries(), lasting.streams()),
                (lasting.negations(), lasting.streams_with_rivals()),
                (lasting.queries_with_groups(), lasting.streams_with_points()),
                (lasting.choices_with_groups(), lasting.streams_with_points_and_rivals()),
                (st.builds(str.__add__, lasting.queries(), GIVENS), tied_streams()),
                (lasting.queries().map(lambda query: f"{query} RETURN prob(a BEFORE b)"), lasting.streams()),
                (lasting.queries().map(lambda query: f"{query} GROUP BY ()"), lasting.streams()),
            ]
        )
    )
    return Question(draw(queries), draw(found), lasting=True)


@st.composite
def _summaries(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> Question:
    """One row for all groups between the same neighbours."""
    case = draw(cases)
    question = Question(case.query, case.events, options=MatchOptions(kleene="summary"))
    assume(not summary_refusals(question.plan))
    return question


def _asked_for(cases: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    """With conditions on a probability in WHERE."""
    asked = st.sampled_from(["prob(a.time < b.time) >= 0.5", "prob(b.time - a.time >= 2 ticks) < 0.7"])
    return st.builds(_with_condition, cases, asked)


def _with_condition(case: Case, asked: str) -> Case:
    if " WHERE " in case.query:
        return replace(case, query=case.query.replace(" WHERE ", f" WHERE {asked} AND "))
    return replace(case, query=case.query.replace(" STRATEGY ", f" WHERE {asked} STRATEGY "))


GROUPS = (
    beside_groups()
    | narrow_groups()
    | kleene_cases()
    | LEVELS["Kleene sequences"]
    | kleene_cases(NEXT)
    | kleene_cases(STRICT, PARTITION)
)
ALONE = (
    chain_cases()
    | LEVELS["next match"]
    | LEVELS["contiguity"]
    | LEVELS["negation"]
    | LEVELS["negation under next match and contiguity"]
    | LEVELS["AND"]
)
TIMED = (
    LEVELS["timing"] | LEVELS["timing of groups"] | LEVELS["timing of groups under next match and contiguity"]
)


def questions(summary_cases: st.SearchStrategy[Case]) -> dict[str, st.SearchStrategy[Question]]:
    """Random questions by what is special of them, a few constructs together."""
    two = chain_cases().filter(lambda case: " a," in case.query and " b" in case.query)
    return {
        "groups": of_points(GROUPS),
        "groups that hold all": of_points(narrow_groups()),
        "sets": of_points(narrow_groups((ANY,))),
        "sequences": of_points(LEVELS["Kleene sequences"]),
        "pairs": of_points(pairs()),
        "single events": of_points(ALONE),
        "OR": of_points(LEVELS["OR"] | LEVELS["OR of whole patterns under next match and contiguity"]),
        "timing": of_points(TIMED),
        "everything": of_points(LEVELS["everything"]),
        "clocks": _of_clocks(CLOCK_LEVELS["chains"] | CLOCK_LEVELS["everything"]),
        "given": of_points(with_given(ALONE | LEVELS["Kleene sets"])),
        "GROUP BY": of_points(grouped(ALONE | GROUPS)),
        "reached and prob": of_points(asking(ALONE) | _asked_for(two)),
        "interval events": _lasting(),
        "summary": _summaries(summary_cases),
    }

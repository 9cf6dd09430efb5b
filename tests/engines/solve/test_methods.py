"""Which method measures which match: a query for each, told by `show` and foretold by `explain`."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.columns.bindings import Bindings, TickSpans
from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.given.known import known_events
from cepctl.engines.confidence.intervals.sums import SUMS
from cepctl.engines.confidence.occurrence.occurrence import Occurrences
from cepctl.engines.confidence.work import MOST_NANOSECONDS, NANOSECONDS
from cepctl.engines.diagnosis.one_match import ids_of, one_match
from cepctl.engines.event import group_occurrences
from cepctl.engines.event.group_occurrences import AskedKeys, KeyMethod, key_methods_of
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import METHODS, measure
from cepctl.engines.solve.stated import methods_of
from cepctl.errors import QueryTooLargeError
from cepctl.laws.law import OrderLaw
from cepctl.plan.plan import Plan
from tests.plans import Event, event_table, lasting, on, plan_of

CLOCKS: Clocks = {"n": ((-9, 9, 1.0),), "m": ((-5, 5, 1.0),)}
A, B, C = Event("a", "A", 0, 8, x=1), Event("b", "B", 5, 20, x=2), Event("c", "C", 15, 30, x=3)
N = Event("n", "N", 12, 25, x=4)
JOB = replace(lasting("a", "A", (0, 8), (30, 38)), x=1)
PAUSE = replace(lasting("b", "B", (5, 20), (22, 34)), x=2)


def stamped(*events: Event) -> tuple[Event, ...]:
    """One clock for the first, another for all others."""
    return tuple(on("m" if i else "n", CLOCKS, each) for i, each in enumerate(events))


class Asked(NamedTuple):
    """A match of a query in events."""

    query: str
    events: tuple[Event, ...]
    ids: str
    laws: tuple[OrderLaw, ...] = ()

    @property
    def plan(self) -> Plan:
        """The plan of the query in these events."""
        clocks = CLOCKS if any(each.clock for each in self.events) else {}
        lasts = any(each.end_lower is not None for each in self.events)
        return replace(plan_of(f"PATTERN {self.query}", clocks, lasting=lasts), laws=self.laws)


A_BEFORE_B, B_BEFORE_C = (f"GIVEN SEQ({p} p, {q} q) IF p.x < q.x" for p, q in ("AB", "BC"))
LAW = OrderLaw("g", before={("A", "B"): 4.0})
IN_ONE_KEY = tuple(replace(each, g="u") for each in (A, B))
MATCHES = {
    "sums over starts and ends": Asked("ISEQ(A a, B b) WHERE b DURING a", (JOB, PAUSE), "a b"),
    "orders of keys under their law": Asked("SEQ(A a, B b)", IN_ONE_KEY, "a b", (LAW,)),
    "as if nothing were given": Asked(f"SEQ(A a, N n) {B_BEFORE_C}", (A, B, C, N), "a n"),
    "as if there were no clocks": Asked("SEQ(A a, N n)", (A, *stamped(B), N), "a n"),
    "sums beside what is given, at few offsets of clocks": Asked(
        f"SEQ(A a, B b) {A_BEFORE_B}", stamped(A, B), "a b"
    ),
    "nested sums beside what is given": Asked(f"SEQ(A a, B b, C c) {A_BEFORE_B}", (A, B, C), "a b c"),
    "chain in closed form, at few offsets of clocks": Asked("SEQ(A a, B b)", stamped(A, B), "a b"),
    "sum over few offsets of clocks": Asked("SEQ(A a, !N n, C c)", stamped(A, N, C), "a c"),
    "chain in closed form": Asked("SEQ(A a, B b, C c)", (A, B, C), "a b c"),
    "table for each gap": Asked("SEQ(A a, !N n, C c)", (A, N, C), "a c"),
    "sum over both ends": Asked(
        "SEQ(A a, A b, A c) STRATEGY skip_till_next_match",
        tuple(Event(f"a{i}", "A", 5 * i, 5 * i + 12) for i in range(4)),
        "a0 a1 a3",
    ),
    "density carried over several gaps": Asked(
        "SEQ(A a, A b, A c, A d) STRATEGY skip_till_next_match",
        tuple(Event(f"a{i}", "A", 500 * i, 500 * i + 1_200) for i in range(5)),
        "a0 a1 a3 a4",
    ),
    "sum over both ends of a set": Asked("SEQ(A a, B+ b[], C c)", (A, B, C), "a b c"),
    "sum over the orders of AND": Asked(
        "SEQ(A a, AND(B b, N n), C c) STRATEGY strict_contiguity", (A, B, N, C), "a b n c"
    ),
    "certain without a sum": Asked(
        "SEQ(A a, B+ b[], C c) WITHIN 41 ticks STRATEGY skip_till_next_match",
        (A, replace(B, lower=9), replace(B, event_id="d", lower=12), replace(C, lower=21, upper=40)),
        "a b+d c",
    ),
    "nested sums": Asked("SEQ(A a, AND(B b, N n)) WITHIN 20 ticks", (A, B, N), "a b n"),
}
OF_ENDS = {
    "difference in closed form": Asked("ISEQ(A a, B b) WHERE b DURING a", (JOB, PAUSE), "a b"),
    "order in closed form": Asked(
        "ISEQ(A a, B b, C c) WHERE a.start < b.start AND b.start < c.start", (JOB, PAUSE, C), "a b c"
    ),
    "nested sums over starts and ends": Asked(
        "ISEQ(A a, !N n, B b) WHERE n.start < b.start", (JOB, PAUSE, N), "a b"
    ),
}
WITHIN = "within a span of ticks"
SAMPLED = "exact sums, or sampled worlds where they cost too much"
BROKEN = Asked("SEQ(A a, !N n, C c)", (A, replace(N, lower=10, upper=12), C), "a c")


@pytest.mark.parametrize("name", [*MATCHES, *OF_ENDS])
def test_show_names_the_method_that_measured_a_match(name: str) -> None:
    asked = MATCHES[name] if name in MATCHES else OF_ENDS[name]
    shown = one_match(asked.plan, event_table(asked.events), ids_of(asked.ids))
    told = [each.method for each in shown.methods]
    assert name in told
    foretold = [each.method for each in methods_of(asked.plan, asked.plan.alternatives[0])]
    assert set(told) <= set(foretold)


def heard_of(asked: Asked, error: float | None = None, spans: TickSpans | None = None) -> list[str]:
    """The methods that measured the bindings of single events, which need not be matches."""
    plan, (alternative,) = asked.plan, asked.plan.alternatives
    events = known_events(plan, events_of(event_table(asked.events), plan.clocks))
    prepared = prepared_alternative(plan, alternative, events, MatchOptions(approximate=error))
    rows = [np.array([events.ids.index_of(each)]) for each in asked.ids.split()]
    bound: dict[int, Bindings] = dict(zip(alternative.positive, rows, strict=True))
    heard: list[str] = []
    measured = replace(prepared.measure, heard=heard.append)
    measure(Batch(measured, bound, prepared.rivals(bound), prepared.lasting, spans))
    return heard


def test_a_match_that_a_rival_breaks_in_every_world_is_not_summed() -> None:
    assert heard_of(BROKEN) == ["nothing to sum"]


def test_a_group_is_not_summed_where_it_is_in_order_in_every_world() -> None:
    asked = MATCHES["certain without a sum"]
    shown = one_match(asked.plan, event_table(asked.events), ids_of(asked.ids))
    assert [each.method for each in shown.methods] == ["certain without a sum"]
    assert (shown.confidence, shown.start, shown.end) == (1.0, 0, 40)


def test_where_an_error_is_allowed_worlds_are_sampled_if_exact_sums_cost_too_much() -> None:
    for name in ("sum over few offsets of clocks", "nested sums beside what is given"):
        assert heard_of(MATCHES[name], error=0.1) == [SAMPLED]


def test_a_match_within_a_span_is_one_of_events_that_are_cut() -> None:
    spans = TickSpans(np.array([3]), np.array([24]))
    assert heard_of(MATCHES["chain in closed form"], spans=spans) == ["chain in closed form", WITHIN]
    at_offsets = heard_of(MATCHES["sum over few offsets of clocks"], spans=spans)
    assert at_offsets == ["sum over few offsets of clocks"]
    beside = heard_of(MATCHES["nested sums beside what is given"], spans=spans)
    assert beside == ["nested sums beside what is given"]


def test_every_method_has_a_query_that_reaches_it() -> None:
    """A new method needs one, too."""
    apart = {"nothing to sum", SAMPLED, WITHIN}
    assert {each.name for each in METHODS} == {*MATCHES, *apart}
    assert {each.name for each in SUMS} == set(OF_ENDS)


def test_a_plain_chain_asks_one_method_alone() -> None:
    asked = MATCHES["chain in closed form"]
    (method,) = methods_of(asked.plan, asked.plan.alternatives[0])
    assert (method.method, method.guarantee) == ("chain in closed form", "exact to rounding")


@pytest.mark.parametrize(
    ("name", "bound", "most", "remedy"),
    [
        ("nested sums", "confidence.occurrence.rows.WORK_BOUND", "0 products", "allow an error"),
        (
            "sum over few offsets of clocks",
            "confidence.clocks.estimates.MOST_NODES",
            "0 combinations of offsets",
            "narrow",
        ),
        (
            "nested sums beside what is given",
            "confidence.given.work.MOST_TIED",
            "0 variables",
            "leave it out",
        ),
    ],
)
def test_a_refusal_names_the_method_its_bound_and_a_remedy(
    name: str, bound: str, most: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = MATCHES[name]
    monkeypatch.setattr(f"cepctl.engines.{bound}", 0)
    with pytest.raises(QueryTooLargeError, match=f"takes more than {most} by {name}: .*; .*{remedy}"):
        match_events(asked.plan, event_table(asked.events))


def test_every_method_has_one_bound_in_one_scale() -> None:
    """Four seconds of one core: the products that this allows differ, since what one takes does."""
    bounds = [(each.name, each.most_products) for each in METHODS]
    bounds += [(each.name, each.most_products) for each in SUMS]
    allowed = {name: most for name, most in bounds if most is not None}
    assert allowed["nested sums"] == 50_000_000
    assert {count * NANOSECONDS[name] for name, count in allowed.items()} == {MOST_NANOSECONDS}


KEYS = {
    "orders of keys under their law": Asked("SEQ(A a, B b)", IN_ONE_KEY, "", (LAW,)),
    "union of sums over starts and ends": Asked("ISEQ(A a, B b) WHERE b DURING a", (JOB, PAUSE), ""),
    "counts of members": Asked("SEQ(A a, B+ b[], C c)", (A, B, C), ""),
    "union at few offsets of clocks, beside what is given": Asked(
        f"SEQ(A a, B b) WITHIN 12 ticks {A_BEFORE_B}", stamped(A, B), ""
    ),
    "union beside what is given": Asked(f"SEQ(A a, B b) WITHIN 12 ticks {A_BEFORE_B}", (A, B), ""),
    "union at few offsets of clocks": Asked("SEQ(A a, B b)", stamped(A, B), ""),
    "union over shared events": Asked("SEQ(A a, B b)", (A, B), ""),
}


@pytest.mark.parametrize("name", KEYS)
def test_each_method_for_keys_has_a_query_that_reaches_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two events of each kind, so that a key has several matches."""
    query, events, _, laws = KEYS[name]
    pattern, *given = query.split(" GIVEN ")
    grouped = " GIVEN ".join([f"{pattern} GROUP BY ()", *given])
    more = (replace(each, event_id=f"{each.event_id}2") for each in events)
    asked = Asked(grouped, (*events, *more), "", laws)
    assert name in [each.method for each in key_methods_of(asked.plan)]
    used: list[str] = []

    def told(method: KeyMethod) -> KeyMethod:
        def measure(keys: AskedKeys) -> Occurrences:
            used.append(method.name)
            return method.measure(keys)

        return replace(method, measure=measure)

    methods = tuple(told(each) for each in group_occurrences.KEY_METHODS)
    monkeypatch.setattr(group_occurrences, "KEY_METHODS", methods)
    match_events(asked.plan, event_table(asked.events))
    assert used == [name]


def test_the_methods_for_keys_are_all_reached() -> None:
    assert {each.name for each in group_occurrences.KEY_METHODS} == set(KEYS)

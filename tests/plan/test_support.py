"""The table of support is honest: what it promises runs and agrees with the judge, the rest is refused."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.point.engine import match_table as match_points
from cepctl.engines.worlds.engine import match_table
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import QuerySemanticError, UnsupportedQueryError
from cepctl.event_table import PMF_TYPE
from cepctl.language.parser import parse
from cepctl.language.strategies import SKIP_TILL_ANY_MATCH, STRATEGIES, Strategy
from cepctl.laws.law import OrderLaw
from cepctl.plan.analyze import analyze
from cepctl.plan.choices import ENGINES, Engine
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.plan.support import (
    Construct,
    constructs_of,
    engine_refusals,
    require_engine,
    runs,
    support_table,
)
from cepctl.schema import MILLISECOND

ROOT = Path(__file__).resolve().parents[2]
PROBES = {
    Construct.SEQUENCE: "SEQ(A a, B b)",
    Construct.AND_GROUP: "SEQ(A a, AND(B b, C c))",
    Construct.NEGATION: "SEQ(A a, !C n, B b)",
    Construct.ABSENT_TOGETHER: "SEQ(A a, !SEQ(B x, C y), C c)",
    Construct.KLEENE: "SEQ(A a, B+ b[], C c)",
    Construct.KLEENE_ORDER: "SEQ(A a, B+ b[], C c) WHERE b[i].x >= b[i-1].x",
    Construct.KLEENE_AGGREGATE: "SEQ(A a, B+ b[], C c) WHERE avg(b[].x) > 1",
    Construct.TIMING: "SEQ(A a, B b) WHERE b.time - a.time <= 4 ticks",
    Construct.OR: "SEQ(A a, OR(B b, C c))",
    Construct.CLOCKS: "SEQ(A a, B b)",
    Construct.GROUP_BY: "SEQ(A a, B b) GROUP BY ()",
    Construct.GIVEN: "SEQ(A a, B b) GIVEN SEQ(B p, B q) IF p.x < q.x",
    Construct.REACHED: "SEQ(A a, B b) RETURN reached(0.2)",
    Construct.INTERVALS: "SEQ(A a, B b) WHERE b.start - a.end <= 4 ticks",
}
# Pairs and more of them, and what they are with clocks.
TOGETHER: dict[tuple[Construct, ...], str] = {
    (Construct.CLOCKS, Construct.GROUP_BY): "SEQ(A a, B b) GROUP BY ()",
    (Construct.CLOCKS, Construct.GIVEN): "SEQ(A a, B b) GIVEN SEQ(B p, B q) IF p.x < q.x",
    (Construct.CLOCKS, Construct.GROUP_BY, Construct.GIVEN): (
        "SEQ(A a, B b) GROUP BY () GIVEN SEQ(B p, B q) IF p.x < q.x"
    ),
    (Construct.REACHED, Construct.CLOCKS): "SEQ(A a, B b) RETURN reached(0.2)",
    (Construct.REACHED, Construct.GIVEN): (
        "SEQ(A a, B b) GIVEN SEQ(B p, B q) IF p.x < q.x RETURN reached(0.2)"
    ),
    (Construct.NEGATION, Construct.INTERVALS): "SEQ(A a, !C n, B b) WHERE b.start - a.end <= 4 ticks",
    (Construct.KLEENE, Construct.INTERVALS): "SEQ(A a, B+ b[], C c) WHERE c.start - a.end <= 6 ticks",
    (Construct.KLEENE, Construct.REACHED, Construct.INTERVALS): (
        "SEQ(A a, B+ b[], C c) WHERE c.start - a.end <= 6 ticks RETURN reached(0.2)"
    ),
    (Construct.ABSENT_TOGETHER, Construct.INTERVALS): (
        "SEQ(A a, !SEQ(B x, C y), C c) WHERE c.start - a.end <= 6 ticks"
    ),
    (Construct.OR, Construct.INTERVALS): "SEQ(A a, OR(B b, C c)) WHERE b.start - a.end <= 4 ticks",
    (Construct.CLOCKS, Construct.INTERVALS): "SEQ(A a, B b) WHERE b.start - a.end <= 4 ticks",
    (Construct.CLOCKS, Construct.GIVEN, Construct.INTERVALS): (
        "SEQ(A a, B b) WHERE b.start - a.end <= 4 ticks GIVEN SEQ(B p, B q) IF p.x < q.x"
    ),
    (Construct.GROUP_BY, Construct.INTERVALS): "SEQ(A a, B b) WHERE b.start - a.end <= 4 ticks GROUP BY ()",
    (Construct.GIVEN, Construct.INTERVALS): (
        "SEQ(A a, B b) WHERE b.start - a.end <= 4 ticks GIVEN SEQ(B p, B q) IF p.x < q.x"
    ),
}
QUERIES: dict[tuple[Construct, ...], str] = {
    **{(construct,): text for construct, text in PROBES.items()},
    **TOGETHER,
}


def judged(plan: Plan, events: pa.Table) -> pa.Table:
    return match_table(plan, events) if plan.group_by is None else group_table(plan, events)


RUN: dict[Engine, Callable[[Plan, pa.Table], pa.Table]] = {
    "event": match_events,
    "point": match_points,
    "worlds": judged,
}
EVENTS = pa.table(
    {
        "event_id": ["a1", "b1", "b2", "c1", "c2"],
        "event_type": ["A", "B", "B", "C", "C"],
        "lower": pa.array([1, 2, 3, 2, 6], pa.int64()),
        "upper": pa.array([3, 4, 6, 5, 8], pa.int64()),
        "pmf": pa.nulls(5, PMF_TYPE),
        "k": ["x"] * 5,
        "x": pa.array([1, 1, 2, 3, 4], pa.int64()),
    }
)
STAMPED = EVENTS.append_column("clock", pa.array(["n", None, "n", "n", None], pa.string()))
SCHEMA = EventSchema({"k": pa.string(), "x": pa.int64()}, MILLISECOND)


def probe(constructs: tuple[Construct, ...], strategy: Strategy) -> Plan:
    text = f"PATTERN {QUERIES[constructs]} PARTITION BY k STRATEGY {strategy.word} WITHIN 20 ticks"
    schema = replace(SCHEMA, clocks={"n": ((-1, 1, 1.0),)}) if Construct.CLOCKS in constructs else SCHEMA
    return analyze(parse(text), schema)


def rows(found: pa.Table) -> list[tuple[str, int, int, float, float]]:
    return sorted(
        (
            *(str(row["signature"]), row["start"], row["end"], round(row["confidence"], 12)),
            round(row.get("occurrence", 0.0), 9),
        )
        for row in found.to_pylist()
    )


CELLS = [
    pytest.param(
        engine,
        constructs,
        strategy,
        id=f"{engine}-{'+'.join(each.name for each in constructs)}-{strategy.word}",
    )
    for engine in ENGINES
    for constructs in QUERIES
    for strategy in STRATEGIES.values()
]
# What an engine runs alone, and not together.
APART: dict[tuple[Engine, tuple[Construct, ...]], str] = {
    ("point", (Construct.OR, Construct.INTERVALS)): "OR beside interval events",
    ("point", (Construct.CLOCKS, Construct.INTERVALS)): "shared clocks beside interval events",
}


@pytest.mark.parametrize(("engine", "constructs", "strategy"), CELLS)
def test_each_query_runs_where_its_constructs_do_or_is_refused_by_name(
    engine: Engine, constructs: tuple[Construct, ...], strategy: Strategy
) -> None:
    lacking = [each for each in constructs if not runs(engine, each, strategy)]
    try:
        plan = probe(constructs, strategy)
    except UnsupportedQueryError as refusal:
        assert "not supported yet" in str(refusal)
        assert lacking
        return
    assert set(constructs) <= set(constructs_of(plan))
    named = lacking[0].value if lacking else APART.get((engine, constructs))
    if named is None:
        require_engine(plan, engine)
        events = STAMPED if plan.clocks else EVENTS
        assert rows(RUN[engine](plan, events)) == rows(judged(plan, events)) != []
    else:
        with pytest.raises(UnsupportedQueryError, match=f"{re.escape(named)}.* in the {engine} engine"):
            require_engine(plan, engine)


def test_the_table_has_a_row_per_construct_and_names_what_is_refused() -> None:
    table = support_table().splitlines()
    assert table[2 + len(Construct) :] == [
        "",
        "Constructs combine: a query runs where each of its constructs does.",
        "The point engine runs interval events without OR and without shared clocks.",
        "",
        "--kleene summary runs in the event and the worlds engine under every strategy.",
        "--kleene summary runs without OR, interval events, shared clocks, GIVEN, laws and GROUP BY.",
        "",
        "Under a law of order the event engine runs SEQ of single events, negation, GROUP BY; under any "
        "match, next match.",
        "Under a law of order the point engine runs nothing.",
        "Under a law of order the worlds engine runs all of them.",
    ]
    assert table[2 + list(Construct).index(Construct.INTERVALS)].endswith("| refused | refused | refused |")


def test_the_page_about_support_holds_the_table() -> None:
    script = ROOT / "scripts" / "make_support_table.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr


# Everything that the semantics name as refused: the query, and what its message says, with what to write
# instead where there is a way.
REFUSED = {
    "AND(A a, B+ b[]) STRATEGY strict_contiguity": "b[] inside AND under strict_contiguity; it runs under",
    "SEQ(A+ a[], AND(B b, C c)) STRATEGY skip_till_next_match": "AND behind a group, or behind what may be",
    "SEQ(A a, B? b, AND(A c, C d)) STRATEGY skip_till_next_match": "AND behind a group, or behind what may",
    "SEQ(A a, AND(B? b, C c)) STRATEGY skip_till_next_match": "b, which may be absent, inside AND under",
    "SEQ(A? a, B b, AND(A c, C d)) STRATEGY skip_till_next_match": "AND behind a group, or behind what may",
    "SEQ(B{2} a[], B b, AND(A c, C d)) STRATEGY skip_till_next_match": "AND behind a group, or behind what",
    "SEQ(A a, B b) WHERE a.x = 1 OR a.time < b.time": "joined by OR or NOT with one on times; write an OR",
    "SEQ(A a, B+ b[]) WHERE b[i].time > a.time OR b[first].time > '2020-01-01'": "in a case of its own",
    "SEQ(A a, !B n, C c) WHERE n.time > a.time OR n.time < c.time": "one absent component for each",
    "SEQ(A a, B+ b[]) WHERE b[i].time - b[i-1].time < 5 s": "b[i-1].time in a timing constraint",
    "AND(A a, !B b)": "negation inside AND but between two of a SEQ there; write it next to the group, as in "
    "SEQ(AND(A a, B b), !N n)",
    "AND(A a, SEQ(!N n, C c))": "negation inside AND but between two of a SEQ there",
    "AND(A a, SEQ(B b, !SEQ(B x, B y), C c))": "!SEQ or !AND inside AND; write it next to the group",
    "SEQ(A a, !SEQ(B b, AND(C c, D d)), A e)": "anything but single events in !SEQ(...)",
    "SEQ(A a, SEQ(B b, C+ c[])+)": "anything but single events in SEQ(...)+; write SEQ of it so many times",
    "SEQ(A a, !AND(B b, C+ c[]), A d)": "anything but single events in !AND(...)",
    "SEQ(A a, AND(B b, C c)+)": "a repeated AND",
    "SEQ(A a, !OR(B b, C c), A d)": "a negated OR: !OR(...); write !A|B x",
    "SEQ(A a, OR(B b, C c)+)": "a repeated OR: OR(...)+; write A|B+ x[]",
    "ISEQ(A a, B b) STRATEGY skip_till_next_match": "ISEQ(...) under skip_till_next_match; it runs under",
    "ISEQ(A a, ISEQ(B b, !C c))": "a nested negation inside ISEQ",
    "ISEQ(A a, B+ b[])": "Kleene plus inside ISEQ",
    "ISEQ(A a, SEQ(B b, C c))": "SEQ inside ISEQ",
    "SEQ(A a, B+ b[]) WHERE a DURING b": "a relation of 'b', which is a group of events",
    "SEQ(A a, B b) WHERE a OVERLAPS b OR a.time < b.time": "a relation or other condition on times inside OR",
    "SEQ(A a, B b) WHERE NOT a OVERLAPS b": "a relation or other condition on times inside OR, NOT or IN",
}

# What stands beside it, and runs.
RUN_BESIDE = (
    "SEQ(AND(A a, B b), B{2} c[], C d) STRATEGY skip_till_next_match",
    "SEQ(AND(A a, B b), C* c[], D? d) WITHIN 9 ticks STRATEGY skip_till_next_match",
    "AND(A a, AND(B b, C c))",
    "AND(A a, OR(B b, C c))",
    "SEQ(AND(A a, B b), !C n) WITHIN 9 ticks",
    "SEQ(A a, B b) WHERE b.time BETWEEN a.time AND a.time + 3 ticks AND b.time <> a.time + 2 ticks",
    "SEQ(A a, B b) WHERE NOT b.time - a.time <= 5 ticks",
    "SEQ(A a, B b) WHERE b.time IN (a.time + 1 ticks) OR b.time NOT BETWEEN a.time AND a.time + 3 ticks",
    "SEQ(A a, B+ b[]) WHERE b[1].time > a.time + 1 ticks AND b[last].time - b[first].time < 9 ticks",
    "SEQ(A a, B+ b[], C c) WHERE c.time - b[i].time <= 5 ticks",
    "SEQ(A a, B+ b[], !A n, C c) WHERE n.time - b[i].time <= 5 ticks AND n.x > avg(b[].x)",
    "SEQ(A a, B+ b[], C c) WHERE avg(b[].x) >= 1 STRATEGY strict_contiguity",
    "SEQ(A a, B+ b[], !A n, C c) WHERE n.x > b[i].x STRATEGY skip_till_next_match",
    "SEQ(A a, B+ b[], C+ c[]) WHERE b[i].x <= c[i].x AND b[last].x <= c[first].x",
    "SEQ(A a, B+ b[], C+ c[]) WHERE b[i].x <= c[i-1].x AND avg(b[].x) <= sum(c[].x)",
    "SEQ(A a, B+ b[], C c) WHERE b[i].x > b[i-1].x STRATEGY skip_till_next_match",
    "SEQ(A a, B+ b[], C c) WHERE b[first].x >= 1 STRATEGY strict_contiguity",
    "SEQ(A a, B+ b[], C c) WHERE [k] AND avg(b[1..i-1].x) >= 1 STRATEGY partition_contiguity",
    "SEQ(A a, B+ b[], C c) STRATEGY strict_contiguity RETURN b[last].x",
    "SEQ(A a, B+ b[], C c) WHERE c.x > max(b[..i].x) STRATEGY skip_till_next_match",
    "OR(SEQ(A a, B b), AND(B c, C d), SEQ(A e, B+ f[]))",
    "ISEQ(A a, B b)",
    "SEQ(A a, B b) WHERE a.start < b.start",
    "A a BEFORE|MEETS|EQUALS B b",
)


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_the_semantics_refuse_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(UnsupportedQueryError) as refusal:
        analyze(parse(f"PATTERN {pattern}"))
    assert "not supported yet: " in str(refusal.value)
    assert REFUSED[pattern] in str(refusal.value)


def test_a_refusal_is_the_fault_of_the_query() -> None:
    assert (UnsupportedQueryError.exit_code, QuerySemanticError.exit_code) == (2, 2)


@pytest.mark.parametrize("pattern", RUN_BESIDE)
def test_what_the_semantics_do_not_refuse_runs(pattern: str) -> None:
    plan = analyze(parse(f"PATTERN {pattern}"), SCHEMA)
    require_engine(plan, "event")
    assert rows(match_events(plan, EVENTS)) == rows(match_table(plan, EVENTS))


ERRORS = {
    "!A a": "no positive component",
    "SEQ(!A a, !B b)": "no positive component",
    "SEQ(A a, B b) WITHIN 0 s": "WITHIN needs at least one tick",
    "SEQ(A a, !B n, !C m) WHERE n.x = m.x WITHIN 5 s": "may name only one negated component",
    "SEQ(A a, !B+ b[])": "'+' has no meaning for absent events",
    "SEQ(A a, B b) STRATEGY partition_contiguity": "partition_contiguity needs [attr]",
    "SEQ(A a, !B b)": "a trailing negation needs WITHIN",
    "SEQ(!A a, B b)": "a leading negation needs WITHIN",
    "SEQ(A a, B+ b[]) STRATEGY skip_till_next_match": "needs WITHIN, which ends it",
}


@pytest.mark.parametrize("pattern", ERRORS)
def test_what_makes_no_sense_is_an_error(pattern: str) -> None:
    with pytest.raises(QuerySemanticError) as problem:
        analyze(parse(f"PATTERN {pattern}"))
    assert ERRORS[pattern] in str(problem.value)


def test_another_engine_is_named_where_one_runs_the_query() -> None:
    plan = probe((Construct.KLEENE,), SKIP_TILL_ANY_MATCH)
    with pytest.raises(UnsupportedQueryError, match="in the point engine; --engine event runs it"):
        require_engine(plan, "point")


@pytest.mark.parametrize("engine", ENGINES)
def test_what_an_engine_does_not_run_under_a_law_is_refused_by_name(engine: Engine) -> None:
    """One list serves `explain`, the engines and the table."""
    law = OrderLaw("k", following={("A", "B"): 2.0})
    for query in ("SEQ(A a, B b)", "SEQ(A a, !C n, B b)", "AND(A a, B b)", "OR(A a, B b)"):
        plan = replace(analyze(parse(f"PATTERN {query}")), laws=(law,))
        refused = engine_refusals(plan, engine)
        runs_it = engine == "worlds" or (engine == "event" and query.startswith("SEQ"))
        assert bool(refused) != runs_it
        assert all(each.endswith(" under the law of order of each k") for each in refused)
        if refused:
            with pytest.raises(UnsupportedQueryError, match=r"of each k in the \w+ engine.*--no-laws"):
                require_engine(plan, engine)

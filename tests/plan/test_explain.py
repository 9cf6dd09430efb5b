"""What `explain` says of a plan, in words and as JSON."""

from __future__ import annotations

import json

from cepctl.clocks.ties import ClockTie, tied
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.explain import to_json, to_text
from tests.plans import plan_of

QUERY = """PATTERN SEQ(TaskStart a, !Error e, CPU+ b[], TaskFinish c)
WHERE [node] AND a.task = c.task AND b[i].value > 95 AND avg(b[].value) > 97 AND c.time - a.time <= 10 s
WITHIN 15 s CONFIDENCE >= 0.6 RETURN a.task, count(b[]) AS samples"""
COUNTS = {"TaskStart": 40, "CPU": 12_000, "TaskFinish": 1}


WORDS = """\
Pattern     SEQ(TaskStart a, !Error e, CPU+ b[], TaskFinish c)
Strategy    skip_till_any_match: every combination that satisfies the query
Window      15 s: first and last event of a match are less than that apart (one tick is 1 ms)
Partition   by node: all components share the value
Confidence  at least 0.6

    TaskStart a ──▶ no Error e ──▶ CPU b+ ──▶ TaskFinish c
    ╰────────────────────── < 15 s ──────────────────────╯

Components
    a: TaskStart      at most 40 events
    absent e: Error   at most 0 events
    b: CPU+ as a set  at most 12,000 events  where b[i].value > 95
    c: TaskFinish     at most 1 event
Predicates between events
    a.task = c.task  checked when c is bound  (join key)
    avg(b[].value) > 97  checked on the finished group
Timing, which selects worlds and not events
    t(c) - t(a) <= 10 s
While a group grows
    b[i].value > 95  is false-value consistent
    avg(b[].value) > 97  is neither true-value nor false-value consistent
Order       c -> a (selectivity): c has the fewest events (1); then the components tied to bound ones

Returns     the signature, and a.task (null), samples (int64)
Reads       node, task, value"""


def test_words() -> None:
    lines = to_text(analyze(parse(QUERY)), COUNTS).splitlines()
    assert [line for line in lines if not line.startswith("Engine ")] == WORDS.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("Engine ")] == [
        "event:",
        "point:",
        "worlds:",
    ]


def test_json_holds_the_same_facts() -> None:
    facts = json.loads(json.dumps(to_json(analyze(parse(QUERY)), COUNTS)))
    (reading,) = facts["alternatives"]
    assert facts["window_ticks"] == 15_000
    assert facts["partition_by"] == ["node"]
    assert [each["events_at_most"] for each in reading["components"]] == [40, 0, 12_000, 1]
    assert reading["timings"] == ["t(c) - t(a) <= 10 s"]
    assert reading["order"]["components"] == ["c", "a"]
    assert set(facts["engines"]) == {"event", "point", "worlds"}
    assert facts["never"] is None


def test_a_query_that_never_matches_says_so_first() -> None:
    text = to_text(analyze(parse("PATTERN A a WHERE a.x > 5 AND a.x < 3")))
    assert text.startswith("NEVER MATCHES  a.x > 5 and a.x < 3 exclude each other\n")


def test_readings_of_an_or_are_shown_one_by_one() -> None:
    text = to_text(analyze(parse("PATTERN SEQ(A a, OR(B b, AND(C c, D d)))")))
    assert "Reading 1 of 2\n    A a ──▶ B b\n" in text
    assert "Reading 2 of 2\n    A a ──▶ { C c, D d in any order }\n" in text
    assert "Window      none: a match may last forever" in text


def test_ties_of_clocks_are_told() -> None:
    offset = ((-2, 2, 1.0),)
    clocks = tied({"n#1": offset, "n#2": offset}, [ClockTie("n#1", "n#2", 1)])
    plan = plan_of("PATTERN SEQ(A a, B b)", clocks)
    told = "Ties        1 between segments of one clock, such as n#1 and n#2: 1 ticks apart at most"
    assert told in to_text(plan)
    assert to_json(plan)["clock_ties"] == (("n#1", "n#2", 1),)

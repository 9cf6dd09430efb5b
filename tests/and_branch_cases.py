"""Hypothesis strategies for AND of sequences and of groups: each keeps its order, nothing orders them."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

from tests.random_events import streams
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT
from tests.strategies import WORLDS, Case

LINKS = ("a.x <= b.x", "b.k = c.k", "a.x + b.x > 1", "a.k <> c.k")


@st.composite
def and_branch_cases(draw: st.DrawFn, *strategies: str) -> Case:
    """AND of two or three branches, perhaps between other components; groups in it under any match alone."""
    strategy = draw(st.sampled_from(strategies or (ANY,)))
    types = st.sampled_from(["A", "B", "C", "B", "*"])
    names, wanted = iter("abcdefghijkl"), list[str]()

    def component(suffix: str = "") -> str:
        kind = draw(types)
        wanted.append(kind.replace("*", "A"))
        members = "[]" if suffix not in ("", "?") else ""
        return f"{kind}{suffix} {next(names)}{members}"

    def branch(form: str) -> str:
        if form == "sequence":
            return f"SEQ({component()}, {component()})"
        if form == "absence":
            first, absent, last = component(), f"!{draw(types)} n", component()
            return f"SEQ({first}, {absent}, {last})"
        if form == "nested":
            return f"SEQ({component()}, AND({component()}, {component()}))"
        return component(form)

    groups = strategy == ANY and draw(st.booleans())
    forms: Iterator[str]
    if groups:
        forms = iter(
            [draw(st.sampled_from(["+", "{2}", "{1,2}", "*"])), draw(st.sampled_from(["", "", "+"]))]
        )
    else:
        plain = [] if strategy == ANY else ["", "", ""]
        form = draw(st.sampled_from(["sequence", "sequence", "absence", "nested", *plain]))
        rest = ["", "", "" if strategy == NEXT else "?", "sequence"]
        forms = iter([form, draw(st.sampled_from(rest))])
    contiguous = strategy in (STRICT, PARTITION)
    before = (
        [component("+" if contiguous and draw(st.integers(0, 4)) == 0 else "")] if draw(st.booleans()) else []
    )
    parts = [branch(form) for form in forms]
    draw(st.randoms(use_true_random=False)).shuffle(parts)
    after = []
    if len(wanted) < 4 and draw(st.booleans()):
        after = [component("+" if strategy != ANY and draw(st.integers(0, 3)) == 0 else "")]
    beside = [part.split()[1].removesuffix("[]") for part in (*before, *after) if part.endswith("[]")]
    single = {*"abcdefghijkl"[: len(wanted)]} - {*beside}
    usable = [each for each in LINKS if {*each} & {*"abc"} <= single and not groups]
    conditions = [link for link in usable if draw(st.integers(0, 5)) == 0]
    if contiguous and draw(st.booleans()):
        conditions += [f"{name}[i].x >= {name}[i-1].x" for name in beside]
    together = f"AND({', '.join(parts)})"
    clauses = [f"PATTERN SEQ({', '.join([*before, together, *after])})"]
    if strategy == PARTITION or draw(st.integers(0, 4)) == 0:
        conditions.append("[k]")
    if conditions:
        clauses.append(f"WHERE {' AND '.join(conditions)}")
    if strategy != ANY:
        clauses.append(f"STRATEGY {strategy}")
    if bool(beside) or draw(st.booleans()):
        clauses.append(f"WITHIN {draw(st.sampled_from([3, 5, 6, 8, 10]))} ticks")
    return Case(" ".join(clauses), draw(streams(wanted, draw(st.sampled_from(WORLDS)))))


RUNS = ("B+ r[]", "B{2} r[]", "A|B{1,2} r[]", "B* r[]", "B? r", "RUNNING B+ r[]", "C+ r[]", "B{0,2} r[]")
READS_ORDER = ("r[i].x >= r[i-1].x", "r[i].x > r[first].x", "count(r[1..i]) <= 2")
READS_SET = ("z.x > min(r[].x)", "z.x <= max(r[].x)")


@st.composite
def and_before_runs_cases(draw: st.DrawFn) -> Case:
    """AND before a group in order, one that is read, or what may be absent, under next match."""
    lead = draw(st.sampled_from(["A a, C c", "A a, C c", "A a, B c", "SEQ(A a, !B n, A b), C c"]))
    run, first = draw(st.sampled_from(RUNS)), draw(st.sampled_from(["", "", "", "A s"]))
    behind = "" if "RUNNING" in run else draw(st.sampled_from(["", "C z", "C z", "A z"]))
    conditions = [draw(st.sampled_from(["a.x <= c.x", "c.x < 2", "[k]"]))] if draw(st.booleans()) else []
    reads = [
        *(READS_ORDER if "[]" in run else ()),
        *(READS_SET if run == "B+ r[]" and behind == "C z" else ()),
    ]
    if draw(st.booleans()) and reads:
        conditions.append(draw(st.sampled_from(reads)))
    parts = [each for each in (first, f"AND({lead})", run, behind) if each]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"PATTERN SEQ({', '.join(parts)}){where} STRATEGY {NEXT} WITHIN {draw(st.integers(5, 9))} ticks"
    return Case(query, draw(streams(["A", "C", "B", "B", "C"], draw(st.sampled_from(WORLDS)))))

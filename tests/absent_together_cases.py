"""Hypothesis strategies for `!SEQ(X x, Y y)` and `!AND(X x, Y y)` among other components."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from tests.plans import Event
from tests.random_events import streams
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT
from tests.strategies import WORLDS, Case

LINKS = (
    "y.x < x.x",
    "y.x >= x.x",
    "y.k = x.k",
    "x.x <= a.x",
    "y.k = a.k",
    "y.x + x.x > a.x",
    "x.k = 'p'",
    "y.x >= 1",
    "z.x < y.x",
    "z.x >= y.x AND y.x >= x.x",
    "z.k = x.k",
    "x.x + z.x = y.x + 1",
    "u.x <= v.x",
)


@st.composite
def absent_together_cases(draw: st.DrawFn, *strategies: str) -> Case:
    """One of them in any gap, also at an edge, often of events that fit other components, too."""
    strategy = draw(st.sampled_from(strategies or (ANY, ANY, NEXT, STRICT, PARTITION)))
    types = st.sampled_from(["A", "B", "C", "B", "*"])
    count = draw(st.sampled_from([1, 2, 2, 2, 3]))
    names = "abc"[:count]
    chosen = [draw(types) for _ in names]
    group = draw(st.sampled_from([None, None, None, *range(count)]))
    parts = [
        f"{kind}+ {name}[]" if place == group else f"{kind} {name}"
        for place, (kind, name) in enumerate(zip(chosen, names, strict=True))
    ]
    gaps = draw(st.lists(st.integers(0, count), min_size=1, max_size=2))
    absent: list[str] = []
    named = {*names} - ({"a"} if group == 0 else set())
    for gap, own in zip(sorted(gaps, reverse=True), ("xyz", "uvw"), strict=False):
        size = draw(st.sampled_from([2, 2, 3]))
        word = draw(st.sampled_from(["SEQ", "SEQ", "AND"]))
        kinds = [draw(types) for _ in range(size)]
        parts.insert(
            gap, f"!{word}({', '.join(f'{kind} {name}' for kind, name in zip(kinds, own, strict=False))})"
        )
        absent += kinds
        named |= {*own[:size]}
    if draw(st.integers(0, 4)) == 0:
        parts.insert(draw(st.integers(0, len(parts))), f"!{draw(types)} n")
    at_edge = any(parts[end].startswith("!") for end in (0, -1))
    last = group == count - 1 and strategy == NEXT
    usable = [link for link in LINKS if {*re.findall(r"(\w)\.", link)} <= named]
    conditions = draw(st.lists(st.sampled_from(usable), max_size=2, unique=True))
    singles = [name for place, name in enumerate(names) if place != group]
    if strategy == ANY and group is not None and singles and draw(st.booleans()):
        member = f"{names[group]}[{draw(st.sampled_from(['first', 'last']))}]"
        sign, ticks = draw(st.sampled_from(["<=", ">=", "<>"])), draw(st.integers(-2, 3))
        conditions.append(f"{member}.time - {draw(st.sampled_from(singles))}.time {sign} {ticks} ticks")
    if strategy == PARTITION or draw(st.integers(0, 4)) == 0:
        conditions.append("[k]")
    clauses = [
        f"PATTERN SEQ({', '.join(parts)})",
        *([f"WHERE {' AND '.join(conditions)}"] if conditions else []),
    ]
    clauses.append(f"STRATEGY {strategy}")
    if at_edge or last or draw(st.booleans()):
        clauses.append(f"WITHIN {draw(st.sampled_from([3, 5, 6, 8, 10]))} ticks")
    wanted = [kind.replace("*", "A") for kind in [*chosen, *absent]]
    return Case(" ".join(clauses), draw(streams(wanted, draw(st.sampled_from(WORLDS)))))


BESIDE_GROUPS = (
    "SEQ(A+ a[], !{}(B x, * y), C c)",
    "SEQ(C b, A+ a[], !{}(B x, B y), * c)",
    "SEQ(A+ a[], !{}(* x, A y), A c)",
    "SEQ(!{}(B x, C y), A+ a[], C c)",
    "SEQ(A+ a[], C c, !{}(B x, A y))",
)
OF_PARTS_OF_SETS = ("", "y.x < x.x", "x.x <= max(a[].x)", "y.x + x.x > c.x", "y.k = x.k")
OF_PARTS = ("", "y.x < x.x", "y.x >= a[last].x", "x.x <= max(a[].x)", "y.x + x.x > c.x", "y.k = x.k")
BESIDE_READ_SETS = (
    "SEQ(A+ a[], !{}(B x, B y), C c)",
    "SEQ(A+ a[], !{}(B x, A y), C c)",
    "SEQ(B b, A+ a[], !{}(* x, B y), C c)",
    "SEQ(!{}(B x, C y), A+ a[], C c)",
    "SEQ(A+ a[], C c, !{}(B x, C y))",
)
OF_READERS = ("c.x < max(a[].x)", "c.x > min(a[].x)", "c.x >= a[i].x", "c.x > max(a[].x)")


@st.composite
def absent_beside_groups(draw: st.DrawFn, *patterns: str, read: bool = False) -> Case:
    """One of them beside a group in order, or one that is `read`, where other events decide."""
    strategy = NEXT if read else draw(st.sampled_from([NEXT, STRICT, PARTITION]))
    of_group = draw(st.sampled_from(OF_READERS)) if read else "a[i].x >= a[i-1].x"
    conditions = [of_group, draw(st.sampled_from(OF_PARTS if not read else OF_PARTS_OF_SETS))]
    conditions += ["[k]"] if strategy == PARTITION else []
    known = BESIDE_READ_SETS if read else BESIDE_GROUPS
    pattern = draw(st.sampled_from(patterns or known)).format(draw(st.sampled_from(["SEQ", "AND"])))
    events = []
    for place, kind in enumerate(draw(st.permutations("AABBC" if draw(st.booleans()) else "AABCC"))):
        lower = place + draw(st.integers(-1, 2))
        x, k = draw(st.integers(0, 2)), draw(st.sampled_from("ppq"))
        events.append(Event(f"e{place}", kind, lower, lower + draw(st.integers(0, 3)), x=x, k=k))
    where = " AND ".join(each for each in conditions if each)
    window = draw(st.sampled_from([6, 9]))
    return Case(f"PATTERN {pattern} WHERE {where} WITHIN {window} ticks STRATEGY {strategy}", tuple(events))


@st.composite
def absent_in_parts_of_or(draw: st.DrawFn) -> Case:
    """Two parts of an OR that give the same rows; in one of them something is absent as a whole, anywhere."""
    strategy = draw(st.sampled_from([ANY, ANY, NEXT]))
    types = st.sampled_from(["A", "B", "C", "B", "*"])
    shown = draw(st.lists(types, min_size=1, max_size=2))
    group = draw(st.sampled_from([None, None, 0, 1]))
    parts, absent = list[str](), list[str]()
    for number, names in enumerate(("ab", "cd")):
        items = [
            f"{kind}+ {name}[]" if place == group else f"{kind} {name}"
            for place, (kind, name) in enumerate(zip(shown, names, strict=False))
        ]
        if strategy == ANY and len(shown) == 2 and group is None and draw(st.integers(0, 3)) == 0:
            items = [f"AND({', '.join(items)})"]
        kinds = [draw(types), draw(types)]
        absent += kinds
        words = ["!SEQ({} x{n}, {} y{n})", "!AND({} x{n}, {} y{n})"] + ["!{} n{n}", ""] * number
        item = draw(st.sampled_from(words)).format(*kinds, n=number)
        if item:
            items.insert(draw(st.integers(0, len(items))), item)
        if draw(st.integers(0, 3)) == 0:
            items.append(f"!{draw(types)} m{number}")
        parts.append(f"SEQ({', '.join(items)})" if len(items) > 1 else f"SEQ({items[0]})")
    window = draw(st.sampled_from([3, 5, 6, 8]))
    ordered = [names[group] for names in ("ab", "cd") if group is not None and group < len(shown)]
    conditions = [f"{name}[i].x >= {name}[i-1].x" for name in ordered if draw(st.booleans())]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    query = f"PATTERN OR({', '.join(parts)}){where} STRATEGY {strategy} WITHIN {window} ticks"
    wanted = [kind.replace("*", "A") for kind in [*shown, *absent]]
    return Case(query, draw(streams(wanted, draw(st.sampled_from(WORLDS)))))


EPOCH = "1970-01-01T00:00:00."
BESIDE_TIMED_NEGATIONS = (
    "SEQ(A a, !B n, !{}(B x, * y), C c)",
    "SEQ(A+ a[], !{}(B x, B y), !B n, C c)",
    "SEQ(A a, !B n, !{}(* x, B y), C+ c[])",
    "SEQ(AND(A a, A b), !* n, !{}(B x, B y), C c)",
    "SEQ(!B n, !{}(B x, A y), A a, C c)",
    "SEQ(A a, C c, !{}(B x, B y), !* n)",
    "SEQ(!{}(A x, B y), A+ a[], C c, !SEQ(B u, B v), !B n)",
)


@st.composite
def absent_beside_timed_negations(draw: st.DrawFn, *patterns: str) -> Case:
    """One of them beside a negation with conditions on its time, where events may fit both."""
    pattern = draw(st.sampled_from(patterns or BESIDE_TIMED_NEGATIONS)).format(
        draw(st.sampled_from(["SEQ", "AND"]))
    )
    names = [
        f"{name}[{draw(st.sampled_from(['i', 'i', 'first', 'last']))}]" if f"{name}[]" in pattern else name
        for name in "ac"
    ]
    conditions = []
    for name in draw(st.sampled_from([names[:1], names[1:], names])):
        sides = draw(st.permutations([f"{name}.time", "n.time"]))
        sign, ticks = draw(st.sampled_from(["<=", ">=", "<>"])), draw(st.integers(-3, 3))
        conditions.append(f"{' - '.join(sides)} {sign} {ticks} ticks")
    if draw(st.integers(0, 3)) == 0:
        conditions.append(
            f"n.time {draw(st.sampled_from(['<=', '>=', '<>']))} '{EPOCH}00{draw(st.integers(1, 5))}Z'"
        )
    events = []
    for place, kind in enumerate(
        draw(st.sampled_from(["ABBC", "ABBBC", "BABCB", "AABBC", "ACBB", "BACBB", "ABCBC"]))
    ):
        lower = place + draw(st.integers(-1, 1))
        events.append(Event(f"e{place}", kind, lower, lower + draw(st.integers(0, 4))))
    strategy, window = draw(st.sampled_from([ANY, ANY, NEXT])), draw(st.sampled_from([5, 7, 9]))
    where = " AND ".join(conditions)
    return Case(f"PATTERN {pattern} WHERE {where} WITHIN {window} ticks STRATEGY {strategy}", tuple(events))

"""Hypothesis strategies for `!SEQ(X x, Y y)` and `!AND(X x, Y y)` among other components."""

from __future__ import annotations

import re

from hypothesis import strategies as st

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


IN_ORDER = ("{0}[i].x >= {0}[i-1].x", "y.x >= {0}[last].x", "x.x <= max({0}[..i].x)", "y.x < x.x")


@st.composite
def absent_together_cases(draw: st.DrawFn, *strategies: str, in_order: bool = False) -> Case:
    """One of them in any gap, also at an edge, often of events that fit other components, too.

    `in_order`: beside a group in order, that conditions on what is absent may read.
    """
    strategy = draw(st.sampled_from(strategies or (ANY, ANY, NEXT, STRICT, PARTITION)))
    types = st.sampled_from(["A", "B", "C", "B", "*"])
    count = draw(st.sampled_from([1, 2, 2, 2, 3]))
    names = "abc"[:count]
    chosen = [draw(types) for _ in names]
    group = draw(st.sampled_from([*([] if in_order else [None, None, None]), *range(count)]))
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
    if in_order and group is not None:
        first, *others = (each.format(names[group]) for each in IN_ORDER)
        conditions += [first, *draw(st.lists(st.sampled_from(others), max_size=1))]
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

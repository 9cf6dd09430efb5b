"""Hypothesis strategies for the conditions and RETURN columns of random queries.

What semantics.md refuses by name is never drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import strategies as st

from tests.random_patterns import ANY, NEXT, PARTITION, Level, Part


@st.composite
def random_conditions(
    draw: st.DrawFn, level: Level, strategy: str, parts: list[Part], choice: list[Part]
) -> list[str]:
    """Conditions over `parts` together, and over the members of an OR one by one."""
    pools = [own_conditions([*parts, *choice]), links(strategy, parts)]
    if level.repeated:
        pools.append(turn_conditions([part for part in parts if part.repeated]))
    if level.kleene:
        pools.append(group_conditions(strategy, parts))
    if level.order:
        pools.append(order_conditions(parts))
    if level.read:
        pools.append(set_reading_conditions(parts))
    if level.runs:
        pools += [run_conditions([part]) for part in parts if part.kleene] + [reading_conditions(parts)]
    if level.timing:
        pools.append(timings(parts))
    conditions = []
    for number, pool in enumerate(pools):
        # Own conditions sometimes, links often, the construct of the level most often.
        always = level.runs and number >= len(pools) - 1 - sum(part.kleene for part in parts)
        if pool and (always or draw(st.integers(0, 3)) < (1, 2, 3, 3, 3)[min(number, 4)]):
            conditions.append(draw(st.sampled_from(pool)))
    return conditions


@st.composite
def keys(draw: st.DrawFn, strategy: str) -> list[str]:
    """`[attr]` where the strategy needs it, and sometimes elsewhere."""
    wanted = strategy == PARTITION or draw(st.integers(0, 3)) == 0
    return [draw(st.sampled_from(["[k]", "[k, g]"]))] if wanted else []


def own_conditions(parts: list[Part]) -> list[str]:
    templates = ("{t}.x >= 1", "{t}.x < 3", "{t}.k = 'p'", "NOT ({t}.x = 0)", "({t}.x IS NULL OR {t}.x = 1)")
    return [template.format(t=part.t) for part in parts for template in templates]


def links(strategy: str, parts: list[Part]) -> list[str]:
    templates = (
        "{a}.x = {b}.x",
        "{a}.k = {b}.k",
        "{a}.x <= {b}.x",
        "{a}.x + 1 > {b}.x",
        "{a}.k <> {b}.k",
        "({a}.x = {b}.x OR {a}.k = {b}.k)",
        "{a}.lower <= {b}.lower",
    )
    return [template.format(a=a.t, b=b.t) for a, b in _pairs(strategy, parts) for template in templates]


def _pairs(strategy: str, parts: list[Part]) -> list[tuple[Part, Part]]:
    """Two components that one predicate may link: not two negated; next-match refuses to read B+ later."""
    return [
        (a, b)
        for a, b in combinations(parts, 2)
        if not (a.negated and b.negated) and not (strategy == NEXT and (a.kleene or (b.kleene and a.negated)))
    ]


def group_conditions(strategy: str, parts: list[Part]) -> list[str]:
    kleene = [part.variable for part in parts if part.kleene]
    alone = (
        *("count({b}[]) <= 2", "count({b}[]) >= 2", "avg({b}[].x) >= 1", "sum({b}[].x) <= 2"),
        *("median({b}[].x) >= 1", "stddev({b}[].x) < 1", "count(distinct {b}[].x) >= 2"),
    )
    linked = ("avg({b}[].x) >= {a}.x", "count({b}[].x) > {a}.x")
    return [template.format(b=b) for b in kleene for template in alone] + [
        template.format(a=a.t, b=b.variable)
        for a, b in _pairs(strategy, parts)
        if b.kleene and not a.kleene
        for template in linked
    ]


def order_conditions(parts: list[Part]) -> list[str]:
    templates = (
        "{b}[i].x >= {b}[i-1].x",
        "{b}[i].x > max({b}[1..i-1].x)",
        "{b}[last].x >= {b}[first].x",
        "{b}[1].x <= avg({b}[].x)",
        "{b}[i].x <= {b}[1].x",
        "last({b}[].x) > first({b}[].x)",
        "{b}[i].x >= median({b}[..i-1].x)",
        "count(distinct {b}[..i-1].x) < 2",
    )
    return [template.format(b=part.variable) for part in parts if part.kleene for template in templates]


def run_conditions(parts: list[Part]) -> list[str]:
    """What makes a group a sequence, for runs of next match and for chains under contiguity."""
    templates = (
        *("{b}[i].x >= {b}[i-2].x", "sum({b}[1..i].x) <= 2", "{b}[i].x <= max({b}[..i].x)"),
        *("{b}[i].x <= {b}[i-1].x", "{b}[i].k = {b}[i-1].k", "{b}[last].x > avg({b}[].x)"),
    )
    return order_conditions(parts) + [
        template.format(b=part.variable) for part in parts for template in templates
    ]


def turn_conditions(parts: list[Part]) -> list[str]:
    """Within a repetition and of the one before it, and of all of them."""
    templates = (
        *("{b}[i].x <= {c}[i].x", "{b}[i].k = {c}[i].k", "{b}[i].x >= {c}[i-1].x", "{c}[i].x > {b}[i-1].x"),
        *("sum({b}[1..i].x) >= sum({c}[1..i-1].x)", "{c}[i].x <= max({b}[..i].x)", "{c}[i].x <= {b}[last].x"),
        *("{b}[first].x <= {c}[last].x", "sum({b}[].x) <= sum({c}[].x)", "count({b}[]) >= 2"),
    )
    return [
        template.format(b=b.variable, c=c.variable)
        for b, c in combinations(parts, 2)
        for template in templates
    ]


def reading_conditions(parts: list[Part]) -> list[str]:
    """What a later component reads of the group before it."""
    templates = (
        *("{c}.x < max({b}[..i].x)", "{c}.x <= {b}[last].x", "{c}.x > {b}[i].x", "{c}.k = {b}[i].k"),
        *("count({b}[]) >= 2 AND {c}.x >= 0", "{c}.x <> {b}[first].x", "{c}.x <= avg({b}[].x)"),
    )
    return _of_groups_and_later(parts, templates)


def set_reading_conditions(parts: list[Part]) -> list[str]:
    """What a later single component, or group of a number, reads of a group without order before it."""
    templates = (
        *("{c}.x < max({b}[].x)", "{c}.x >= max({b}[].x)", "{c}.x > min({b}[].x)", "{c}.x <= {b}[i].x"),
        *("{c}.x <= min({b}[].x)", "{c}.k = {b}[i].k", "{c}.x + 1 > max({b}[].x) AND {c}.x <= max({b}[].x)"),
    )
    return _of_groups_and_later(parts, templates, singles=True)


def _of_groups_and_later(parts: list[Part], templates: Sequence[str], *, singles: bool = False) -> list[str]:
    """Conditions on a group `b` and a later component `c`, which may have to be one event."""
    return [
        template.format(b=group.variable, c=later.t)
        for place, group in enumerate(parts)
        if group.kleene
        for later in parts[place + 1 :]
        if not (singles and later.kleene and not later.how_many.startswith("{"))
        for template in templates
    ]


def timings(parts: list[Part]) -> list[str]:
    alone = ("{a}.time >= '1970-01-01T00:00:00.003Z'", "{a}.time < '1970-01-01T00:00:00.006Z'")
    linked = (
        "{b}.time - {a}.time <= 2 ticks",
        "{b}.time - {a}.time >= 2 ticks",
        "{a}.time < {b}.time",
        "{a}.time + 3 ticks <> {b}.time",
        "{a}.time + 1 ticks = {b}.time",
    )
    return [template.format(a=part.t) for part in parts for template in alone] + [
        template.format(a=a.t, b=b.t) for a, b in _pairs(ANY, parts) for template in linked
    ]


def return_columns(level: Level, parts: list[Part]) -> list[str]:
    """What RETURN may ask of the positive components; to ask for an order makes groups sequences."""
    single = ("{v}.x + 1", "{v}", "{v}.k", "{v}.lower", "{v}.time")
    group = ("count({v}[])", "avg({v}[].x)", "sum({v}[].x)", "max({v}[].k)", "{v}")
    ordered = (*group, "{v}[last].x", "{v}[first].k")
    return [
        template.format(v=part.variable)
        for part in parts
        if not part.negated
        for template in ((ordered if level.order else group) if part.kleene else single)
    ]

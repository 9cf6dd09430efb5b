"""A plan in words and as JSON: what `cepctl explain` prints is what runs.

Both forms hold the same facts; the words are for a terminal, the JSON for machines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from cepctl.clocks.ties import ties_of
from cepctl.language.ast import Duration
from cepctl.language.keywords import GROUP_FIELDS
from cepctl.language.printer import duration_text, expression_to_text, pattern_to_text
from cepctl.language.strategies import Strategy
from cepctl.language.traversal import walk
from cepctl.laws.law import OrderLaw
from cepctl.plan.choices import ENGINES
from cepctl.plan.consistency import consistency
from cepctl.plan.evaluation_order import OrderName, estimated_count, evaluation_order, order_of_runs
from cepctl.plan.laws import law_text
from cepctl.plan.plan import (
    Alternative,
    Component,
    Given,
    Link,
    Plan,
    ReturnColumn,
    Scope,
    Timing,
    members_of_sides,
)
from cepctl.plan.support import engine_refusals
from cepctl.schema import OF_WRITERS, WRITTEN_ORDERS, TimeUnit

_CHECKED = {
    Scope.EVENT: "when {0} is bound",
    Scope.ORDER: "on the order of the group",
    Scope.GROUP: "on the finished group",
}
Counts = Mapping[str, int] | None


def to_json(plan: Plan, counts: Counts = None, order: OrderName = "auto") -> dict[str, Any]:
    """The plan as values that `json.dumps` takes.

    `counts` are the events per type, for the estimates; None leaves these null.
    """
    return {
        "pattern": pattern_to_text(plan.query.pattern),
        "strategy": plan.strategy.word,
        "window_ticks": plan.window,
        "time_unit": str(plan.time_unit),
        "partition_by": list(plan.partition_by),
        "minimum_confidence": plan.minimum_confidence,
        "alternatives": [_alternative(plan, each, counts, order) for each in plan.alternatives],
        "returns": [_column(each) for each in plan.returns],
        **({} if plan.group_by is None else {"group_by": [_column(each) for each in plan.group_by]}),
        "attributes": list(plan.attributes),
        **({"given": [_given(each) for each in plan.given]} if plan.given else {}),
        **({"laws": [_law(each) for each in plan.laws]} if plan.laws else {}),
        "engines": {engine: list(engine_refusals(plan, engine)) or "runs" for engine in ENGINES},
        "warnings": list(plan.warnings),
        "never": plan.never,
        **({"clocks": dict(sorted(plan.clocks.items()))} if plan.clocks else {}),
        **({"clock_ties": ties_of(plan.clocks)} if ties_of(plan.clocks) else {}),
    }


def to_text(plan: Plan, counts: Counts = None, order: OrderName = "auto") -> str:
    """The plan in words, with a drawing of each reading of its pattern."""
    return "\n".join(_lines(plan, counts, order))


def _alternative(plan: Plan, alternative: Alternative, counts: Counts, order: OrderName) -> dict[str, Any]:
    runs = alternative.in_runs(plan.strategy)
    chosen = order_of_runs(alternative) if runs else evaluation_order(alternative, counts, order)
    names = [component.variable for component in alternative.components]
    return {
        "components": [
            {
                "variable": each.variable,
                "types": list(each.event_types),
                "negated": each.negated,
                "kleene": each.kleene,
                "ordered": each.ordered,
                **({"running": True} if each.running else {}),
                **({"repeated": True} if any(i in turn for turn in alternative.repeated) else {}),
                **_members(alternative, each),
                "filters": [expression_to_text(condition) for condition in each.filters],
                "events_at_most": estimated_count(alternative, i, counts),
            }
            for i, each in enumerate(alternative.components)
        ],
        "blocks": [[names[i] for i in block] for block in alternative.blocks],
        **(
            {"sequences": [[names[i] for i in block] for block in alternative.sequences]}
            if alternative.sequences
            else {}
        ),
        "links": [_link(link, names) for link in alternative.links],
        "join_keys": [
            f"{names[each.left]}.{each.left_attribute} = {names[each.right]}.{each.right_attribute}"
            for each in alternative.equalities
        ],
        "timings": [
            _timing(timing, names, plan.time_unit)
            for timing in (*alternative.timings, *alternative.member_timings)
        ],
        **(
            {"choices": [_choice(each, names, plan.time_unit) for each in alternative.choices]}
            if alternative.choices
            else {}
        ),
        **({"absent": list(alternative.absent)} if alternative.absent else {}),
        "kleene_predicates": dict(_kleene_predicates(alternative)),
        "order": {
            "name": chosen.name,
            "components": [names[i] for i in chosen.components],
            "reason": chosen.reason,
        },
    }


def _column(column: ReturnColumn) -> dict[str, str]:
    return {
        "name": column.name,
        "expression": expression_to_text(column.expression),
        "type": str(column.type),
    }


def _given(given: Given) -> dict[str, Any]:
    alternative = given.alternative
    names = [component.variable for component in alternative.components]
    pairs = [f"{names[each.left]}.{each.left_attribute} = {names[each.right]}.{each.right_attribute}"
             for each in alternative.equalities]  # fmt: skip
    return {"holds": given.text, "window_ticks": given.window, "join_keys": pairs}


def _law(law: OrderLaw) -> dict[str, Any]:
    return {
        "by": law.by,
        "step": list(law.step),
        "factors": len(law.following) + len(law.before),
    }


def _link(link: Link, names: list[str]) -> dict[str, Any]:
    return {
        "condition": expression_to_text(link.expression),
        "components": [names[i] for i in link.components],
        "checked": _CHECKED[link.scope].format(names[link.decides]),
    }


def _timing(timing: Timing, names: list[str], unit: TimeUnit) -> str:
    members = members_of_sides(timing)
    sides = (timing.left, timing.left_end), (timing.right, timing.right_end)
    left, right = (
        "0" if component is None else f"{'end' if end else 't'}({names[component]}{f'[{of}]' if of else ''})"
        for (component, end), of in zip(sides, members, strict=True)
    )
    return f"{left} - {right} {'<>' if timing.not_equal else '<='} {_length(timing.bound, unit)}"


def _length(ticks: int, unit: TimeUnit) -> str:
    """A length in people's units; a tick more or less is a matter of order."""
    if abs(ticks) <= 1:
        return f"{ticks} ticks"
    return duration_text(Duration(Fraction(ticks) * Fraction(unit.microseconds)))


def _choice(cases: tuple[tuple[Timing, ...], ...], names: list[str], unit: TimeUnit) -> list[str]:
    """What holds in each case of a relation."""
    return [" AND ".join(_timing(timing, names, unit) for timing in case) for case in cases]


def _kleene_predicates(alternative: Alternative) -> Iterator[tuple[str, str]]:
    """The predicates that read a Kleene group, with their consistency."""
    groups = {each.variable for each in alternative.components if each.kleene}
    filters = [condition for each in alternative.components for condition in each.filters]
    for condition in (*filters, *(link.expression for link in alternative.links)):
        if groups & {getattr(each, "variable", None) for each in walk(condition)}:
            yield expression_to_text(condition), consistency(condition).value


# --- words -------------------------------------------------------------------------------


def _lines(plan: Plan, counts: Counts, order: OrderName) -> Iterator[str]:
    yield from _head(plan)
    for number, alternative in enumerate(plan.alternatives, start=1):
        yield ""
        if len(plan.alternatives) > 1:
            yield f"Reading {number} of {len(plan.alternatives)}"
        yield from _reading(plan, alternative, counts, order)
    yield ""
    yield from _tail(plan)


def _head(plan: Plan) -> Iterator[str]:
    if plan.never is not None:
        yield f"NEVER MATCHES  {plan.never}"
        yield ""
    yield f"Pattern     {pattern_to_text(plan.query.pattern)}"
    yield f"Strategy    {plan.strategy.word}: {plan.strategy.meaning}"
    if plan.window is None:
        yield "Window      none: a match may last forever; events are split by key only"
    else:
        apart = f"first and last event of a match are less than that apart (one tick is {plan.time_unit})"
        yield f"Window      {_window(plan)}: {apart}"
    keys = ", ".join(plan.partition_by)
    yield f"Partition   {f'by {keys}: all components share the value' if keys else 'none'}"
    if plan.group_by is not None:
        yield f"Groups      {_groups(plan.group_by)}"
    for each in plan.given:
        yield f"Given       {each.text}"
        if each.text in WRITTEN_ORDERS:
            yield f"            {OF_WRITERS}"
    if plan.given:
        yield "            confidences refer to the worlds that satisfy these clauses; no others are possible"
    for law in plan.laws:
        yield f"Law         {law_text(law)}"
    if plan.laws:
        yield "            worlds count by their probability times the weight of their orders"
    if plan.minimum_confidence is not None:
        what = "Confidence  at least" if plan.group_by is None else "Occurrence  at least"
        yield f"{what} {plan.minimum_confidence}"


def _groups(keys: tuple[ReturnColumn, ...]) -> str:
    named = ", ".join(expression_to_text(each.expression) for each in keys)
    of = f"by {named}: one row for each key" if keys else "one row for the whole input"
    return f"{of}, with the probability that it matches at all"


def _window(plan: Plan) -> str:
    assert plan.window is not None
    within = plan.query.within
    written = within is not None and within.microseconds is not None
    return duration_text(within) if written and within is not None else f"{plan.window:,} ticks"


def _reading(plan: Plan, alternative: Alternative, counts: Counts, order: OrderName) -> Iterator[str]:
    under = None if plan.window is None else f"< {_window(plan)}"
    yield from (f"    {line}" for line in drawing(alternative, plan.strategy, under).splitlines())
    yield ""
    facts = _alternative(plan, alternative, counts, order)
    yield "Components"
    width = max(len(_component_name(each)) for each in facts["components"])
    for each in facts["components"]:
        count = each["events_at_most"]
        events = "" if count is None else f"  at most {count:,} event{'' if count == 1 else 's'}"
        filters = f"  where {' AND '.join(each['filters'])}" if each["filters"] else ""
        yield f"    {_component_name(each):<{width}}{events}{filters}".rstrip()
    if alternative.absent:
        yield f"Without     {', '.join(alternative.absent)}, which may be absent"
    if facts["links"]:
        yield "Predicates between events"
        for link in facts["links"]:
            key = "  (join key)" if link["condition"] in facts["join_keys"] else ""
            yield f"    {link['condition']}  checked {link['checked']}{key}"
    if facts.get("choices"):
        yield "One of"
        yield from (f"    {' OR '.join(cases)}" for cases in facts["choices"])
    if facts["timings"]:
        yield "Timing, which selects worlds and not events"
        yield from (f"    {timing}" for timing in facts["timings"])
    if facts["kleene_predicates"]:
        yield "While a group grows"
        yield from (f"    {condition}  is {how}" for condition, how in facts["kleene_predicates"].items())
    chosen = facts["order"]
    yield f"Order       {' -> '.join(chosen['components']) or 'none'} ({chosen['name']}): {chosen['reason']}"


def _component_name(component: Mapping[str, Any]) -> str:
    types = "|".join(component["types"]) or "any type"
    kind = "absent " if component["negated"] else ""
    plus = _how_many(*component.get("members", (1, None)), kleene=component["kleene"])
    members = (" in order" if component["ordered"] else " as a set") if component["kleene"] else ""
    if component.get("repeated"):
        plus, members = "", ", one in each repetition"
    members += ", a match after each tick at which it takes" if component.get("running") else ""
    return f"{kind}{component['variable']}: {types}{plus}{members}"


def _members(alternative: Alternative, component: Component) -> dict[str, list[int | None]]:
    """How many events matches bind to a component, where that is neither one nor any number."""
    least = component.least if alternative.passes_over else max(component.least, 1)
    bounded = component.counted or not least
    return {"members": [least, component.most]} if bounded else {}


def _how_many(least: int, most: int | None, *, kleene: bool) -> str:
    """What stands after the type of a component in a reading that has it."""
    if not kleene:
        return "" if least else "?"
    if most is None and least < 2:
        return "+" if least else "*"
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


def _tail(plan: Plan) -> Iterator[str]:
    if plan.group_by is not None:
        keys = "".join(f"{each.name} ({each.type}), " for each in plan.group_by)
        yield f"Returns     {keys}{', '.join(GROUP_FIELDS)}"
    elif plan.returns:
        columns = ", ".join(f"{each.name} ({each.type})" for each in plan.returns)
        yield f"Returns     the signature, and {columns}"
    else:
        yield "Returns     the signature"
    if plan.attributes:
        yield f"Reads       {', '.join(plan.attributes)}"
    if plan.clocks:
        names = sorted(plan.clocks)
        yield f"Clocks      {len(names):,} shared by events, such as {names[0]}: summed over their offsets"
    if ties := ties_of(plan.clocks):
        first = min(ties)
        yield (
            f"Ties        {len(ties):,} between segments of one clock, such as {first.before} and "
            f"{first.after}: {first.ticks} ticks apart at most"
        )
    for engine in ENGINES:
        lacking = engine_refusals(plan, engine)
        yield f"Engine      {engine}: {'does not run ' + ', '.join(lacking) if lacking else 'runs it'}"
    yield from (f"Warning     {warning}" for warning in plan.warnings)


def drawing(alternative: Alternative, strategy: Strategy, window: str | None) -> str:
    """Draw one reading; `window` is the text under it.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> from cepctl.plan.analyze import analyze
    >>> plan = analyze(parse("PATTERN SEQ(A a, !N n, B+ b[], AND(C c, D d)) WITHIN 9 ticks"))
    >>> print(drawing(plan.alternatives[0], plan.strategy, "< 9 ticks"))
    A a ──▶ no N n ──▶ B b+ ──▶ { C c, D d in any order }
    ╰──────────────────── < 9 ticks ────────────────────╯
    """
    line = strategy.arrow.join(_parts(alternative, strategy))
    if window is None:
        return line
    text = f" {window} "
    return f"{line}\n╰{text.center(max(len(line) - 2, len(text)), '─')}╯"


def _parts(alternative: Alternative, strategy: Strategy) -> Iterator[str]:
    """What stands between the arrows; repetitions are in brackets."""
    for block in alternative.blocks:
        turn = next((each for each in alternative.repeated if block[0] in each), ())
        if not turn:
            yield _drawn(alternative, block)
        elif block[0] == turn[0]:
            once = (replace(alternative.components[i], kleene=False) for i in turn)
            yield f"({strategy.arrow.join(map(_component, once))})+"


def _drawn(alternative: Alternative, block: tuple[int, ...]) -> str:
    fewest = 0 if alternative.passes_over else 1
    components = [alternative.components[i] for i in block]
    components = [replace(each, least=max(each.least, fewest)) for each in components]
    if block not in alternative.absent_together:
        return _block(components, list(_orders_in(alternative, block)))
    whole = ", ".join(_component(replace(each, negated=False)) for each in components)
    return f"no {'SEQ' if block in alternative.sequences else 'AND'}({whole})"


def _orders_in(alternative: Alternative, block: tuple[int, ...]) -> Iterator[str]:
    """What of an AND comes before what."""
    for pair in alternative.orders:
        if pair[0] in block:
            yield " before ".join(alternative.components[i].variable for i in pair)


def _block(components: list[Component], orders: list[str]) -> str:
    shown = [_component(component) for component in components]
    if len(shown) == 1:
        return shown[0]
    order = f": {', '.join(orders)}" if orders else " in any order"
    return f"{{ {', '.join(shown)}{order} }}"


def _component(component: Component) -> str:
    types = "|".join(component.event_types) or "*"
    name = "" if component.variable == types else f" {component.variable}"
    members = _how_many(component.least, component.most, kleene=component.kleene)
    kind = "no " if component.negated else "running " if component.running else ""
    return f"{kind}{types}{name}{members}"

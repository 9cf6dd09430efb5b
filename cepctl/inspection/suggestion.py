"""The uncertainty model that an inspection suggests, as TOML with its evidence in comments.

One rule for

    each node whose clock is provably wrong    a clock of its own: t + an offset of [-highest, -lowest]
    each steady sampling step of a type        a value describes the step before its time
    each granularity                           t is worth the whole unit around it
    each order that a format guarantees        GIVEN, in comments where the intervals contradict it

in this order, so that the sharper knowledge wins.  Events whose intervals hold that already get no
rule: applied, and inspected again, the model has nothing left to suggest.  What is known of a clock
without being of use (no constant offset fits) is said in a comment.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from cepctl.inspection.clock_graph import ClockGraph
from cepctl.inspection.clocks import ClockBound
from cepctl.inspection.granularity import STEPS, Grain
from cepctl.inspection.known_orders import KnownOrder
from cepctl.inspection.overview import Inspection
from cepctl.inspection.sampling import SampledSeries
from cepctl.language.ast import Attribute, Binary, Constant, In
from cepctl.language.printer import expression_to_text
from cepctl.schema import TimeUnit

_HEAD = """\
# What the times of {events:,} events say about how far they can be trusted: suggested, not certain.
# Read the evidence above each rule, change what you know better, then
#   cepctl assign EVENTS -o EVENTS2 --uncertainty THIS_FILE
"""
_NOTHING = "\n# No rule: the intervals of the events already hold everything that was found.\n"
_NAMED = 3


def suggested_model(inspection: Inspection) -> str:
    """The text of the model; `cepctl.uncertainty.model.parse_model` reads it."""
    unit = TimeUnit.parse(inspection.time_unit)
    parts = [
        *_clock_rules(inspection.clocks, inspection.grains, inspection.clock_graph),
        *_sampling_rules(inspection.series),
        *_granularity_rules(inspection.grains, inspection.series, unit),
        *_given(inspection.orders_known),
    ]
    head = f'{_HEAD.format(events=inspection.events)}\ntime_unit = "{unit}"\n'
    return head + "".join(f"\n{part}" for part in parts) if parts else head + _NOTHING


def _rule(evidence: Iterable[str], conditions: Iterable[str], meaning: Iterable[str]) -> str:
    comments = [f"# {_one_line(line)}" for line in evidence]
    return "\n".join([*comments, "[[rule]]", *conditions, *meaning]) + "\n"


# --- clocks --------------------------------------------------------------------------------


def _clock_rules(clocks: Sequence[ClockBound], grains: Sequence[Grain], graph: ClockGraph) -> Iterator[str]:
    """Rules for skewed nodes; they take the granularity of what the node wrote with them."""
    coarsest = _coarsest(grain for grain in grains if "Attempt" in grain.event_type)
    shape = [f'granularity = "{coarsest}"'] if coarsest is not None else []
    for clock in clocks:
        lowest, highest = clock.lowest_microseconds, clock.highest_microseconds
        if clock.verdict == "inconsistent":
            yield (
                f"# {_one_line(f'Clock of node {clock.node}')}, inconsistent: no constant offset is both at "
                f"least {length(lowest)} and\n# at most {length(highest)} (pairs of attempt and task: "
                f"{clock.attempts:,}).  {_why_inconsistent(clock, graph)}: no rule.\n"
            )
        if clock.covered or clock.verdict not in ("ahead", "behind"):
            continue
        evidence = (
            f"Clock of node {clock.node}, {clock.verdict}: offset of {length(lowest)} to "
            f"{length(highest)} (pairs of attempt and task: {clock.attempts:,})."
        )
        where = f"attempt_id IS NOT NULL AND {_any_of('node', [clock.node])}"
        offset = f"{{ before = {_text(length(highest))}, after = {_text(length(-lowest))} }}"
        meaning = [f'clock = {{ by = "node", offset = {offset} }}']
        yield _rule([evidence], [f"where = {_text(where)}"], [*shape, *meaning])


def _why_inconsistent(clock: ClockBound, graph: ClockGraph) -> str:
    """Whose fault it is that no offset of a node fits."""
    for each in graph.contradictions:
        if f"node {clock.node}" in each.clocks:
            others = [name for name in each.clocks if name != f"node {clock.node}"]
            if len(others) == 1:
                break
            return _one_line(f"With {', '.join(others)}, one was set, or drifted")
    else:
        if graph.apart:
            far = graph.apart[0]
            return _one_line(f"Masters differ, as those of {far.master} and {far.other} do")
    return "It was set, or drifted"


def _coarsest(grains: Iterable[Grain]) -> str | None:
    steps = [grain.step for grain in grains if grain.step is not None and not grain.covered]
    return max(steps, key=STEPS.__getitem__, default=None)


# --- samples -------------------------------------------------------------------------------


def _sampling_rules(series: Sequence[SampledSeries]) -> Iterator[str]:
    """One rule per type, step and reach; the nodes are named unless it is true of all."""
    steady: dict[tuple[str, int, int], list[SampledSeries]] = defaultdict(list)
    for one in series:
        if one.step_microseconds is not None:
            key = (one.event_type, one.step_microseconds, one.after_microseconds)
            steady[key].append(one)
    for (event_type, step, after), members in steady.items():
        if all(one.covered for one in members):
            continue
        everywhere = len(members) == sum(one.event_type == event_type for one in series)
        conditions = [f"event_type = {_text(_glob(event_type))}"]
        if not everywhere and all(one.node is not None for one in members):
            nodes = [one.node for one in members if one.node is not None]
            conditions.append(f"where = {_text(_any_of('node', nodes))}")
        meaning = f"interval = {{ before = {_text(length(step))}, after = {_text(length(after))} }}"
        yield _rule(_sampling_evidence(event_type, members), conditions, [meaning])


def _sampling_evidence(event_type: str, members: Sequence[SampledSeries]) -> Iterator[str]:
    gaps = sum(one.gaps for one in members)
    near = sum(one.share * one.gaps for one in members) / gaps
    shortest = min(one.shortest_microseconds for one in members)
    longest = max(one.longest_microseconds for one in members)
    nodes = [one.node or "no node" for one in members]
    yield (
        f"{event_type} is sampled every {length(members[0].step_microseconds or 0)}: {near:.1%} of "
        f"{gaps:,} gaps last {length_range(shortest, longest)}"
    )
    yield f"(on {_listed(nodes)})."


# --- granularity ---------------------------------------------------------------------------


def _granularity_rules(
    grains: Sequence[Grain], series: Sequence[SampledSeries], unit: TimeUnit
) -> Iterator[str]:
    """One rule for all sources that are alike: the same types, as coarse as each other.

    A sampled type looks as coarse as its step; its rule stands above, so it gets none here.
    """
    sampled = {one.event_type for one in series if one.step_microseconds is not None}
    types_of: dict[str, set[str]] = defaultdict(set)
    of_source: dict[tuple[str, str], list[Grain]] = defaultdict(list)
    for grain in grains:
        types_of[grain.source].add(grain.event_type)
        if grain.step is not None and not grain.covered and grain.event_type not in sampled:
            of_source[grain.source, _unit_around(grain, unit)].append(grain)
    alike: dict[tuple[str, tuple[str, ...]], list[Grain]] = defaultdict(list)
    for (source, meaning), members in of_source.items():
        names = {grain.event_type for grain in members}
        alike[meaning, () if names == types_of[source] else tuple(sorted(names))].extend(members)
    for (meaning, types), members in alike.items():
        sources = list(dict.fromkeys(grain.source for grain in members))
        yield _rule(_granularity_evidence(members), _granularity_conditions(sources, types), [meaning])


def _granularity_conditions(sources: Sequence[str], names: Sequence[str]) -> list[str]:
    wheres = []
    lines = []
    if len(sources) == 1:
        lines.append(f"source = {_text(_glob(sources[0]))}")
    else:
        wheres.append(_any_of("source", sources))
    if len(names) == 1:
        lines.append(f"event_type = {_text(_glob(names[0]))}")
    elif names:
        wheres.append(_any_of("event_type", names))
    return [*lines, *([f"where = {_text(' AND '.join(wheres))}"] if wheres else [])]


def _granularity_evidence(members: Sequence[Grain]) -> Iterator[str]:
    times = sum(grain.times for grain in members)
    share = sum(grain.share * grain.times for grain in members) / times
    zone = "the zone in which they were written" if members[0].local else "UTC"
    names = list(dict.fromkeys(grain.event_type for grain in members))
    yield f"{share:.1%} of {times:,} times are multiples of {members[0].step} in {zone}"
    yield f"({_listed(names)})."


def _unit_around(grain: Grain, unit: TimeUnit) -> str:
    """A granularity is counted in the written zone; whole UTC days in another zone are no such unit."""
    assert grain.step is not None
    if grain.local or not grain.zoned or STEPS[grain.step] < STEPS["1 h"]:
        return f'granularity = "{grain.step}"'
    rest = Fraction(max(STEPS[grain.step] - unit.nanoseconds, 0), 1_000)
    return f'interval = {{ before = "0 s", after = {_text(length(rest))} }}'


# --- orders --------------------------------------------------------------------------------


def _given(orders: Sequence[KnownOrder]) -> Iterator[str]:
    """What formats guarantee, with the pairs that overlap and those whose stamps contradict it."""
    for order in orders:
        evidence = [
            f"{order.reason}: the intervals of {order.overlapping:,} of {order.pairs:,} pairs leave both "
            "orders open."
        ]
        if order.contradicted:
            evidence.append(
                f"The stamps of {order.contradicted:,} are the other way round: {_listed(order.examples)}"
            )
            evidence[-1] += (
                f" and {rest:,} more." if (rest := order.contradicted - len(order.examples)) else "."
            )
        table = ["[[given]]", f"holds = {_text(order.holds)}"]
        if order.impossible:
            evidence.append(
                f"The intervals of {order.impossible:,} leave no possible world: widen them first, or "
                "correct the clock."
            )
            table = [f"# {line}" for line in table]
        yield "\n".join([*(f"# {_one_line(line)}" for line in evidence), *table]) + "\n"


# --- spelling ------------------------------------------------------------------------------


def length(microseconds: int | Fraction) -> str:
    """A length of time as the model writes it.

    Examples
    --------
    >>> length(-1_500_000), length(0), length(90_000_000)
    ('-1500 ms', '0 s', '90 s')
    """
    if microseconds == 0:
        return "0 s"
    return f"{'-' if microseconds < 0 else ''}{TimeUnit(-microseconds if microseconds < 0 else microseconds)}"


def length_range(shortest: int, longest: int) -> str:
    """Lengths from the shortest to the longest; one of them where they are equal."""
    return length(shortest) if shortest == longest else f"{length(shortest)} to {length(longest)}"


def _any_of(attribute: str, values: Sequence[str]) -> str:
    name, choices = Attribute("", attribute), tuple(Constant(value) for value in values)
    return expression_to_text(In(name, choices) if len(choices) > 1 else Binary("=", name, choices[0]))


def _glob(name: str) -> str:
    """A pattern that fits just this name."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _text(value: str) -> str:
    """A TOML string; JSON's escapes are TOML's but for the delete character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest:,} more" if rest > 0 else "")


def _one_line(text: str) -> str:
    """Without the control characters that would end a comment or that TOML forbids there."""
    return "".join(letter if letter.isprintable() else " " for letter in text)

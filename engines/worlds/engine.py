"""The worlds engine: exact matches by visiting every possible world, in rational arithmetic.

It is the judge of the other engines, so it is obvious and slow.  Every event that can matter and every
clock that stamped one takes each tick of positive mass in turn (cepctl.engines.worlds.one_world); a world's
probability is the product of the masses; the matches of each world (cepctl.engines.worlds.search) are
grouped by signature.  Source: semantics.md, "Time and events" and "Collapsed matches".

GIVEN, too, is read word for word: every combination of distinct events that fits is in order.  Which
combinations fit plays no part in time, so they are found once; each world is then asked about all of them
(semantics.md, "What is known").

Laws of order weigh the worlds that remain: each counts as its probability times how much the law makes of it
(cepctl.engines.worlds.order_weights).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TypeAlias, cast

import pyarrow as pa

from cepctl.engines.worlds.expressions import SLACK, Scene, evaluate
from cepctl.engines.worlds.one_world import (
    Bound,
    Row,
    Stream,
    Times,
    Value,
    VaryingTicks,
    Work,
    can_happen,
    extent,
    in_one_group,
    lasts,
    remembered,
    rows_of,
)
from cepctl.engines.worlds.order_weights import (
    KeyUnderLaw,
    KnownCombinations,
    constrained_rows,
    keys_under_laws,
    no_world_remains,
    under_the_laws_of,
)
from cepctl.engines.worlds.readings import reading
from cepctl.engines.worlds.search import WorldSearch
from cepctl.laws.choices import LAWLESS
from cepctl.plan.open_rows import OPEN, OPEN_UNTIL, rests_on_absences
from cepctl.plan.plan import Plan
from cepctl.plan.support import refuse_lasting_groups, require_engine

SIGNATURE_TYPE = pa.list_(pa.list_(pa.string()))
Signature: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ExactMatch:
    """One collapsed match: its tightest time range in ticks, and its confidence as a fraction.

    `bindings` gives the event ids of each variable, in signature order.  When several alternatives
    of an OR, or readings of what may be absent, produce the signature, these are the variables of the first
    of them; what is absent has none.  `decided` tells how probable the worlds are that return it and decide
    it at each tick.  `awaited`: the last tick at which an event that was still to come could decide it, in
    some of these worlds; None where the window has no say.
    """

    start: int
    end: int
    confidence: Fraction
    bindings: Mapping[str, tuple[str, ...]]
    decided: Mapping[int, Fraction] = field(default_factory=dict)
    awaited: int | None = None


def exact_matches(plan: Plan, events: pa.Table) -> dict[Signature, ExactMatch]:
    """Every signature that some possible world returns, with its exact confidence.

    A signature is a tuple, in pattern order, of the tuple of ids of each positive component.
    CONFIDENCE of the query is honoured.

    Parameters
    ----------
    plan
        The analyzed query; what its WITHIN counts are the ticks of `events`.
    events
        The event table (cepctl.event_table.FIXED_COLUMNS, then attributes), in any order.

    Raises
    ------
    QueryTooLargeError
        If the worlds of the events that can matter exceed MAX_WORLDS, or the search through
        them MAX_WORK steps.
    EventSchemaError
        If an event's histogram has no positive mass or a bucket is upside down.
    """
    rows = rows_of(plan, events)
    found: dict[Signature, ExactMatch] = {}
    for part in independent_parts(plan, rows):
        found.update(enumerate_worlds(plan, part))
    least = plan.minimum_confidence
    if least is None:
        return found
    return {s: m for s, m in found.items() if m.confidence >= Fraction(least) - SLACK}


def match_table(
    plan: Plan, events: pa.Table, *, lawless: bool = False, observed: int | None = None
) -> pa.Table:
    """The matches as rows: `signature`, `start`, `end` (ticks), `confidence`, then RETURN's columns.

    `lawless` adds the column of that name, the confidence without the laws of order; `observed`, the last
    tick of all events, those that say which rows wait for what comes after it.
    Rows stand in the order of the match rows of the command line.  Raises as exact_matches does.
    """
    found = exact_matches(plan, events)
    order = sorted(found, key=lambda s: (-round(float(found[s].confidence), 9), found[s].start, s))
    columns: dict[str, pa.Array] = {
        "signature": pa.array([[list(ids) for ids in s] for s in order], SIGNATURE_TYPE),
        "start": pa.array([found[s].start for s in order], pa.int64()),
        "end": pa.array([found[s].end for s in order], pa.int64()),
        "confidence": pa.array([float(found[s].confidence) for s in order], pa.float64()),
    }
    if observed is not None:
        awaited = [found[s].awaited for s in order]
        is_open = [each is not None and each > observed for each in awaited]
        columns[OPEN] = pa.array(is_open, pa.bool_())
        until = [each if late else None for each, late in zip(awaited, is_open, strict=True)]
        columns[OPEN_UNTIL] = pa.array(until, pa.int64())
    rows = {str(row["event_id"]): row for row in rows_of(plan, events)}
    scenes = [scene_of(found[s], rows) for s in order]
    names, arrays = list(columns), list(columns.values())
    for column in plan.returns:
        names.append(column.name)
        arrays.append(pa.array([evaluate(column.expression, scene) for scene in scenes], column.type))
    if lawless:
        without = exact_matches(replace(plan, laws=(), minimum_confidence=None), events)
        names.append(LAWLESS)
        arrays.append(pa.array([float(without[each].confidence) for each in order], pa.float64()))
    return pa.table(arrays, names=names)


def scene_of(match: ExactMatch, rows: Mapping[str, Row]) -> Scene:
    """What an expression over a match can see."""
    members = {name: tuple(rows[i] for i in ids) for name, ids in match.bindings.items()}
    fields: dict[str, Value] = {
        "start": match.start,
        "end": match.end,
        "confidence": float(match.confidence),
    }
    return Scene(members, match=fields, decided=match.decided)


def independent_parts(plan: Plan, rows: list[Row]) -> Iterable[list[Row]]:
    """The rows of each key when `[attr]` is given: events of other keys never fit beside them.

    Only strict contiguity looks at events of every key, GIVEN may tie events of several, and a law of order
    those of other keys than these, or of none.
    """
    across = plan.given or any(plan.partition_by != (law.by,) for law in plan.laws)
    if not plan.partition_by or reading(plan).counted == "all" or across or (plan.laws and plan.clocks):
        return [rows]
    parts: dict[tuple[Value, ...], list[Row]] = defaultdict(list)
    for row in rows:
        parts[tuple(row[name] for name in plan.partition_by)].append(row)
    return parts.values()


@dataclass(frozen=True)
class Returned:
    """A signature in one world: extent in ticks, when it is decided, the bindings of alternative `search`."""

    start: int
    end: int
    decided: int
    number: int
    search: WorldSearch
    bound: Bound


@dataclass(frozen=True)
class World:
    """One possible world, of probability `weight / whole`, and the signatures that it returns.

    Where something is given, the worlds that contradict it are left out, and `whole` is the weight of the
    others.  Under a law of order weights are fractions.
    """

    weight: int | Fraction
    whole: int | Fraction
    returned: Mapping[Signature, Returned]


def worlds_by_part(plan: Plan, events: pa.Table) -> Iterator[Iterator[World]]:
    """The worlds of each independent part of the events; raises as exact_matches does."""
    for part in independent_parts(plan, rows_of(plan, events)):
        yield _visited(plan, part)


def enumerate_worlds(plan: Plan, rows: Iterable[Row]) -> dict[Signature, ExactMatch]:
    """All signatures of one set of events, by visiting its worlds; raises as exact_matches does."""
    return visited_worlds(plan, rows)[0]


def visited_worlds(
    plan: Plan, rows: Iterable[Row]
) -> tuple[dict[Signature, ExactMatch], dict[frozenset[Signature], Fraction]]:
    """Every match, and how probable it is that a world returns just these signatures."""
    weights: dict[Signature, int | Fraction] = defaultdict(int)
    ranges: dict[Signature, tuple[int, int]] = {}
    bindings: dict[Signature, Returned] = {}
    awaited: dict[Signature, int] = {}
    decided: dict[Signature, dict[int, int | Fraction]] = defaultdict(lambda: defaultdict(int))
    together: dict[frozenset[Signature], int | Fraction] = defaultdict(int)
    whole: int | Fraction = 1
    for world in _visited(plan, rows):
        whole = world.whole
        together[frozenset(world.returned)] += world.weight
        for signature, here in world.returned.items():
            weights[signature] += world.weight
            decided[signature][here.decided] += world.weight
            earliest, latest = ranges.get(signature, (here.start, here.end))
            ranges[signature] = min(here.start, earliest), max(here.end, latest)
            if rests_on_absences(plan):
                awaited[signature] = max(here.end - 1, awaited.get(signature, here.end - 1))
            if plan.window is not None and here.search.alternative.decided_by_window(plan.strategy):
                awaited[signature] = max(here.start + plan.window - 1, awaited.get(signature, here.start))
            known = bindings.setdefault(signature, here)
            if here.bound is not known.bound:
                bindings[signature] = min(known, here, key=_reading)
    found = {
        signature: ExactMatch(
            *ranges[signature],
            Fraction(weight, whole),
            _ids(bindings[signature].search, bindings[signature].bound),
            {tick: Fraction(each, whole) for tick, each in decided[signature].items()},
            awaited.get(signature),
        )
        for signature, weight in weights.items()
    }
    return found, {returned: Fraction(weight, whole) for returned, weight in together.items()}


def _visited(plan: Plan, rows: Iterable[Row]) -> Iterator[World]:
    matter = _that_can_matter(plan, Stream.of(rows, plan.partition_by))
    stream = Stream.of([row for row in matter.rows if can_happen(row, plan.clocks)], plan.partition_by)
    work = Work()
    searches = [WorldSearch(plan, alternative, stream, work) for alternative in plan.alternatives]
    _require_intervals(plan, searches)
    possible = VaryingTicks.of(stream.rows, plan.clocks).worlds()
    known = KnownCombinations.of(plan.given, stream)
    keys = keys_under_laws(plan.laws, stream.rows)
    remaining = [(ticks, _weighed(keys, ticks, weight)) for ticks, weight in possible if known.holds(ticks)]
    whole = sum(weight for _, weight in remaining)
    if not whole:
        raise no_world_remains(plan.given)
    for ticks, weight in remaining:
        returned: dict[Signature, Returned] = {}
        for number, bound in _matches(searches, ticks):
            search = searches[number]
            first, last = extent(ticks, bound)
            decided = search.decided_at(ticks, bound, first, last)
            found = Returned(first, last, decided, number, search, bound)
            signature = remembered(bound, "signature", partial(_signature, search, bound))
            other = returned.setdefault(signature, found)
            if other is not found:
                shown = min(other, found, key=_reading)
                returned[signature] = replace(shown, decided=min(other.decided, decided))
        yield World(weight, whole, returned)


def _reading(returned: Returned) -> tuple[int, list[int]]:
    """Of several readings of a row the smallest shows its events: that which has the earlier component."""
    return returned.number, sorted(returned.bound)


def _weighed(keys: Sequence[KeyUnderLaw], ticks: Times, weight: int) -> int | Fraction:
    return math.prod((key.weight(ticks) for key in keys), start=Fraction(weight)) if keys else weight


def _require_intervals(plan: Plan, searches: Sequence[WorldSearch]) -> None:
    """Raise UnsupportedQueryError where an event that lasts fits what it may not."""
    for search in searches:
        for j, component in enumerate(search.alternative.components):
            rows = (e for e, row in enumerate(search.stream.rows) if lasts(row) and search.can_fit(j, e))
            if next(rows, None) is not None:
                require_engine(plan, "worlds", lasting=True)
                refuse_lasting_groups(component)


def _matches(searches: Sequence[WorldSearch], ticks: Times) -> Iterator[tuple[int, Bound]]:
    for number, search in enumerate(searches):
        for bound in search.matches(ticks):
            yield number, bound


def _that_can_matter(plan: Plan, stream: Stream) -> Stream:
    """Leave out events that no world's answer depends on: they fit no component, and none has to be counted.

    Contiguity counts every event of the input, or of the match's partition.
    """
    counted = reading(plan).counted
    if counted == "all":
        return stream
    kept = constrained_rows(plan.given, stream)
    if counted == "key":
        kept |= {e for e in range(len(stream)) if stream.keys[e] is not None}
    else:
        searches = [WorldSearch(plan, alternative, stream, Work()) for alternative in plan.alternatives]
        kept |= {
            e
            for e in range(len(stream))
            if any(s.can_fit(j, e) for s in searches for j in range(len(s.alternative.components)))
        }
    kept = under_the_laws_of(plan.laws, stream.rows, kept, plan.clocks)
    return Stream.of([stream.rows[e] for e in sorted(kept)], plan.partition_by)


def _signature(search: WorldSearch, bound: Bound) -> Signature:
    groups = in_one_group(search.alternative, bound)
    return tuple(tuple(cast(str, search.stream.rows[e]["event_id"]) for e in group) for group in groups)


def _ids(search: WorldSearch, bound: Bound) -> dict[str, tuple[str, ...]]:
    alternative = search.alternative
    bindings = {
        alternative.components[j].variable: _group_ids(search, bound, j) if j in bound else ()
        for j in alternative.positive
    }
    return dict.fromkeys(alternative.absent, ()) | bindings


def _group_ids(search: WorldSearch, bound: Bound, component: int) -> tuple[str, ...]:
    return tuple(cast(str, search.stream.rows[e]["event_id"]) for e in bound[component])

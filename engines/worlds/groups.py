"""The judge of GROUP BY and of `--kleene summary`: matches gathered world by world, in rational arithmetic.

A match has the key that RETURN would show in its row.  The occurrence of a key is the summed probability of
the worlds that return some match of it.  Parts of the input that share no event are visited on their own, and
a key that several have is missing where all of them miss it.

For a summary matches are gathered by their neighbours, the signature with each group left open; of a group
without neighbours all are one row.  Summed over the worlds this gives the probability that there is any such
match, that an event is in one, and the concrete signatures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import compress
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from cepctl.engines.rows.groups import group_schema
from cepctl.engines.rows.kept import ALL_ROWS, ColumnStarts, KeptRows
from cepctl.engines.rows.order import encoded_ids, match_text
from cepctl.engines.worlds.engine import (
    SIGNATURE_TYPE,
    ExactMatch,
    Signature,
    World,
    independent_parts,
    scene_of,
    visited_worlds,
    worlds_by_part,
)
from cepctl.engines.worlds.expressions import SLACK, Scene, evaluate
from cepctl.engines.worlds.one_world import Row, Value, plain_rows, rows_of
from cepctl.laws.choices import LAWLESS
from cepctl.plan.plan import Plan

Key: TypeAlias = tuple[Value, ...]


@dataclass(frozen=True)
class ExactGroup:
    """One key: P(some match of it), and its matches, the best first."""

    occurrence: Fraction
    matches: Sequence[tuple[Signature, ExactMatch]]

    @property
    def expected(self) -> Fraction:
        """The expected number of matches."""
        return sum((match.confidence for _, match in self.matches), Fraction(0))

    @property
    def start(self) -> int:
        return min(match.start for _, match in self.matches)

    @property
    def end(self) -> int:
        return max(match.end for _, match in self.matches)


def exact_groups(plan: Plan, events: pa.Table, kept: KeptRows = ALL_ROWS) -> dict[Key, ExactGroup]:
    """Every key that some possible world matches; CONFIDENCE of the query, of occurrences, is honoured.

    Only matches that are `kept` count.  Raises as `cepctl.engines.worlds.engine.exact_matches` does.
    """
    rows = rows_of(plan, events)
    missing: dict[Key, Fraction] = defaultdict(lambda: Fraction(1))
    matches: dict[Key, list[tuple[Signature, ExactMatch]]] = defaultdict(list)
    for part in [rows] if plan.clocks else independent_parts(plan, rows):
        found, worlds = visited_worlds(plan, part)
        by_id: dict[str, Row] = {str(row["event_id"]): row for row in part}
        starts = ColumnStarts(np.array([match.start for match in found.values()], dtype=np.int64))
        found = dict(compress(found.items(), kept.among(starts)))
        keys = {each: _key(plan, match, by_id) for each, match in found.items()}
        held: dict[Key, Fraction] = defaultdict(Fraction)
        for returned, probability in worlds.items():
            for key in {keys[each] for each in returned if each in keys}:
                held[key] += probability
        for signature, match in found.items():
            matches[keys[signature]].append((signature, match))
        for key, probability in held.items():
            missing[key] *= 1 - probability
    groups = {key: ExactGroup(1 - missing[key], _in_order(of_key)) for key, of_key in matches.items()}
    least = Fraction(plan.minimum_confidence or 0) - SLACK
    return {key: group for key, group in groups.items() if group.occurrence >= least}


def group_table(
    plan: Plan, events: pa.Table, kept: KeptRows = ALL_ROWS, *, lawless: bool = False
) -> pa.Table:
    """The groups as rows of `group_schema`, in any order; raises as `exact_groups` does.

    `lawless` adds the column of that name, the occurrence without the laws of order.
    """
    groups = exact_groups(plan, events, kept)
    best = [group.matches[0] for group in groups.values()]
    signature = pa.array([[list(ids) for ids in each] for each, _ in best], SIGNATURE_TYPE)
    columns = [
        *([key[i] for key in groups] for i in range(len(plan.group_by or ()))),
        [float(group.occurrence) for group in groups.values()],
        [float(group.expected) for group in groups.values()],
        [len(group.matches) for group in groups.values()],
        match_text(signature),
        signature,
        [float(match.confidence) for _, match in best],
        [group.start for group in groups.values()],
        [group.end for group in groups.values()],
    ]
    if lawless:
        without = exact_groups(replace(plan, laws=(), minimum_confidence=None), events, kept)
        columns.append([float(without[key].occurrence) for key in groups])
    schema = group_schema(plan, of_law=[LAWLESS] if lawless else [])
    arrays = [
        column if isinstance(column, pa.Array) else pa.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _key(plan: Plan, match: ExactMatch, rows: dict[str, Row]) -> Key:
    scene = scene_of(match, rows)
    return tuple(evaluate(column.expression, scene) for column in plan.group_by or ())


def _in_order(matches: list[tuple[Signature, ExactMatch]]) -> list[tuple[Signature, ExactMatch]]:
    """Matches as the command line orders their rows."""
    texts = match_text(
        pa.array([[list(ids) for ids in each] for each, _ in matches], SIGNATURE_TYPE)
    ).to_pylist()
    order = sorted(
        range(len(matches)),
        key=lambda i: (-round(float(matches[i][1].confidence), 9), matches[i][1].start, texts[i]),
    )
    return [matches[i] for i in order]


OPEN = ("*",)
"""What stands for a group in the signature of a summary."""


@dataclass
class ExactSummary:
    """One row: range in ticks, P(at least one match), P(in some match) per member, the signatures."""

    start: int
    end: int
    confidence: Fraction = Fraction(0)
    members: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    signatures: set[Signature] = field(default_factory=set)

    def beside(self, other: ExactSummary) -> ExactSummary:
        """A row of two parts of the input that share no event."""
        return ExactSummary(
            min(self.start, other.start),
            max(self.end, other.end),
            1 - (1 - self.confidence) * (1 - other.confidence),
            self.members | other.members,
            self.signatures | other.signatures,
        )


def exact_summaries(plan: Plan, events: pa.Table) -> dict[Signature, ExactSummary]:
    """A row per binding of the single components, keyed by the signature with `*` for each group.

    Raises as `cepctl.engines.worlds.engine.exact_matches` does.  CONFIDENCE of the query is honoured.
    """
    found: dict[Signature, ExactSummary] = {}
    for part in worlds_by_part(plan, events):
        own: dict[Signature, ExactSummary] = {}
        for world in part:
            _add(plan, own, world)
        for signature, row in own.items():
            found[signature] = row.beside(found[signature]) if signature in found else row
    least = plan.minimum_confidence
    if least is None:
        return found
    return {s: row for s, row in found.items() if row.confidence >= Fraction(least) - SLACK}


def summary_table(plan: Plan, events: pa.Table) -> pa.Table:
    """The rows with the columns of `--kleene summary`, in any order; raises as exact_matches does."""
    found = exact_summaries(plan, events)
    order = sorted(found)
    rows = {str(row["event_id"]): row for row in plain_rows(events)}
    columns: dict[str, pa.Array] = {
        "signature": pa.array([[list(ids) for ids in s] for s in order], SIGNATURE_TYPE),
        "start": pa.array([found[s].start for s in order], pa.int64()),
        "end": pa.array([found[s].end for s in order], pa.int64()),
        "confidence": pa.array([float(found[s].confidence) for s in order], pa.float64()),
        "members": pa.array([_members_text(found[s]) for s in order], pa.string()),
        "count": pa.array([str(len(found[s].signatures)) for s in order], pa.string()),
    }
    scenes = [_scene(plan, signature, found[signature], rows) for signature in order]
    names, arrays = list(columns), list(columns.values())
    for column in plan.returns:
        names.append(column.name)
        arrays.append(pa.array([evaluate(column.expression, scene) for scene in scenes], column.type))
    return pa.table(arrays, names=names)


def _members_text(row: ExactSummary) -> str:
    members = sorted(row.members)
    ids = encoded_ids(pa.array(members, pa.string())).to_pylist()
    return " ".join(f"{name}:{float(row.members[each])}" for name, each in zip(ids, members, strict=True))


def _scene(plan: Plan, signature: Signature, row: ExactSummary, rows: Mapping[str, Row]) -> Scene:
    (alternative,) = plan.alternatives
    fields: dict[str, Value] = {"start": row.start, "end": row.end, "confidence": float(row.confidence)}
    named = zip(alternative.positive, signature, strict=True)
    members = {
        alternative.components[i].variable: (rows[ids[0]],)
        for i, ids in named
        if not alternative.components[i].kleene
    }
    return Scene(members, match=fields)


def _add(plan: Plan, found: dict[Signature, ExactSummary], world: World) -> None:
    (alternative,) = plan.alternatives
    kleene = [alternative.components[i].kleene for i in alternative.positive]
    together: dict[Signature, set[str]] = defaultdict(set)
    for signature, match in world.returned.items():
        row = tuple(OPEN if group else ids for ids, group in zip(signature, kleene, strict=True))
        summary = found.setdefault(row, ExactSummary(match.start, match.end))
        summary.start, summary.end = min(match.start, summary.start), max(match.end, summary.end)
        summary.signatures.add(signature)
        together[row].update(
            event for ids, group in zip(signature, kleene, strict=True) if group for event in ids
        )
    for row, members in together.items():
        found[row].confidence += Fraction(world.weight, world.whole)
        for event in members:
            found[row].members[event] += Fraction(world.weight, world.whole)

"""The judge of `--kleene summary`: all groups between the same neighbours together, world by world.

In every possible world the matches are gathered by their neighbours, the signature with each group left
open.  Summed over the worlds this gives the probability that there is any such match, that an
event is in one, and the concrete signatures.  Rational arithmetic, no cleverness.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import pyarrow as pa

from cepctl.engines.rows.order import encoded_ids
from cepctl.engines.worlds.clocks import plain_rows
from cepctl.engines.worlds.engine import SIGNATURE_TYPE, Signature, World, worlds_of
from cepctl.engines.worlds.expressions import SLACK, Scene, evaluate
from cepctl.engines.worlds.spans import Row, Value
from cepctl.plan.plan import Plan

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


def exact_summaries(plan: Plan, events: pa.Table) -> dict[Signature, ExactSummary]:
    """A row per binding of the single components, keyed by the signature with `*` for each group.

    Raises as `cepctl.engines.worlds.engine.exact_matches` does.  CONFIDENCE of the query is honoured.
    """
    found: dict[Signature, ExactSummary] = {}
    for world in worlds_of(plan, events):
        _add(plan, found, world)
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

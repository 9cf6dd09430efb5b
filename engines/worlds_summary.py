"""The judge of `--kleene summary`: what all groups between the same neighbours come to, world by world.

In every possible world the matches are gathered by their neighbours, the signature with each group left
open.  Summed over the worlds this gives the probability that there is any such match, that an
event is in one, and the concrete signatures.  Rational arithmetic, no cleverness.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

import pyarrow as pa

from cepctl.engines.worlds import CONFIDENCE_SLACK, Signature, World, worlds_of
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

    Raises as `cepctl.engines.worlds.exact_matches` does.  CONFIDENCE of the query is honoured.
    """
    found: dict[Signature, ExactSummary] = {}
    for world in worlds_of(plan, events):
        _add(plan, found, world)
    least = plan.minimum_confidence
    if least is None:
        return found
    return {s: row for s, row in found.items() if row.confidence >= Fraction(least) - CONFIDENCE_SLACK}


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

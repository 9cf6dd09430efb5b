"""Row groups that sketches leave to a query: what else is not read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cepctl.errors import SketchError
from cepctl.matching.inputs import EventInputs
from cepctl.plan.plan import Plan
from cepctl.sketches.archive import Archive
from cepctl.sketches.finding import sketch_of
from cepctl.sketches.skipping import row_groups_to_read

PLACES_PER_ROW_GROUP = 16_384
"""Reading so many places of values costs about what a match spends on a row group."""


@dataclass(frozen=True)
class Narrowed:
    """Inputs of which `read` row groups `of` so many are to be read; `problem` says why all are."""

    inputs: EventInputs
    read: int = 0
    of: int = 0
    problem: str | None = None


def narrowed_by_sketches(plan: Plan, inputs: EventInputs) -> Narrowed | None:
    """The inputs with the row groups that matter to a plan; None where sketches are of no use.

    A match may join events of several inputs, so either all have sketches, or none is of use.  What is given
    may tie any event to those of a match.
    """
    if plan.given:
        return None
    try:
        sketches = [None if each is inputs.temporary else sketch_of(each) for each in inputs.datasets]
        known = tuple(each for each in sketches if each is not None)
        if len(known) < len(sketches):
            return None
        chosen = row_groups_to_read(plan, Archive(known, inputs.schema), PLACES_PER_ROW_GROUP)
    except SketchError as problem:
        return Narrowed(inputs, problem=str(problem))
    return Narrowed(replace(inputs, only=chosen.groups), chosen.read, chosen.of)

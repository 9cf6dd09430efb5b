"""Row groups that sketches leave to a query: what else is not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from cepctl.datasets.marker import check_count
from cepctl.errors import CepctlError, SketchError
from cepctl.matching.inputs import EventInputs
from cepctl.numeric.arrays import Ticks
from cepctl.plan.plan import Plan
from cepctl.side_figures import SideFigure, beside
from cepctl.sketches.archive import SketchArchive
from cepctl.sketches.finding import sketch_of
from cepctl.sketches.probing import probe_rows
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
    may tie any event to those of a match, and so may a law of order.

    Raises
    ------
    EventSchemaError
        If a dataset does not hold what its ingest has written.
    """
    if plan.given or plan.laws:
        return None
    try:
        sketches = [None if each is inputs.temporary else sketch_of(each) for each in inputs.datasets]
        known = tuple(each for each in sketches if each is not None)
        if len(known) < len(sketches):
            return None
        for dataset, sketch in zip(inputs.datasets, known, strict=True):
            check_count(dataset.location, sketch.events, dataset.events)
        archive = SketchArchive(known, inputs.schema)
        choose = partial(row_groups_to_read, plan, archive, PLACES_PER_ROW_GROUP)
        chosen = beside(SideFigure.SKETCH, choose, None, passing=(CepctlError,))
    except SketchError as problem:
        return Narrowed(inputs, problem=str(problem))
    if chosen is None:
        return None
    return Narrowed(replace(inputs, only=chosen.groups), chosen.read, chosen.of)


@dataclass(frozen=True)
class Stretches:
    """Ticks outside of which there is no match, apart and ascending, of the time from `first` to `last`."""

    first: int
    last: int
    start: Ticks
    end: Ticks


def possible_stretches(plan: Plan, inputs: EventInputs) -> Stretches | None:
    """Where matches can be, by the sketches that have narrowed the inputs; None where none has."""
    if inputs.only is None:
        return None
    try:
        sketches = tuple(each for each in map(sketch_of, inputs.datasets) if each is not None)
        archive = SketchArchive(sketches, inputs.schema)
        rows = probe_rows(plan, archive)
    except SketchError:
        return None
    start, end = (rows.column(name).to_numpy() for name in ("start", "end"))
    lower, upper = (
        np.concatenate([of_spans, of_rows])
        for of_spans, of_rows in ((archive.spans.lower, start), (archive.spans.upper, end))
    )
    if not len(lower):
        return None
    return Stretches(int(lower.min()), int(upper.max()), start, end)


@dataclass(frozen=True)
class SketchFacts:
    """The sketch of a dataset: its bits per event, and of attributes how many values they have at most.

    `problem` says why it cannot be used.
    """

    dataset: str
    bits: float = 0.0
    distinct: Mapping[str, int] = field(default_factory=dict)
    problem: str | None = None


def sketch_facts(inputs: EventInputs) -> tuple[SketchFacts, ...]:
    """What the sketches of the inputs are, of those that have one."""
    found = []
    for dataset in inputs.datasets:
        name = dataset.location.uri
        try:
            sketch = None if dataset is inputs.temporary else sketch_of(dataset)
            if sketch is not None:
                size = sum(sketch.folder.files().values())
                events = max(sketch.events, 1)
                found.append(SketchFacts(name, round(8 * size / events, 1), sketch.manifest.distinct))
        except SketchError as problem:
            found.append(SketchFacts(name, problem=str(problem)))
    return tuple(found)

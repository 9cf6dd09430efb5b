"""The sketch that a state keeps: what is asked of it, and what a run adds to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.cli.match.request import MatchRequest
from cepctl.cli.output.notices import say
from cepctl.errors import CepctlError, StateError

if TYPE_CHECKING:
    from cepctl.plan.event_schema import EventSchema
    from cepctl.sketches.listing import Indexed
    from cepctl.state.intake import Arrivals
    from cepctl.state.kept_sketch import Extended, KeptSketch
    from cepctl.state.store import Saved


def sketch_before(request: MatchRequest, saved: Saved | None) -> KeptSketch | None:
    """The sketch that a run goes on with; None where none is kept.

    A state that is begun on datasets which all have sketches keeps one, too, of what these know.

    Raises
    ------
    StateError
        If the state was begun without a sketch, or with one that knows something else.
    """
    from cepctl.sketches.making import parse_on
    from cepctl.state.kept_sketch import KeptSketch

    named = request.incremental.sketch_on
    asked = request.incremental.keep_sketch or bool(named)
    if saved is None:
        indexed = parse_on(named) if asked else _known_to_inputs(request)
        return None if indexed is None else KeptSketch(indexed, {})
    if asked and saved.sketch is None:
        raise StateError(
            f"the state {request.directory} was begun without a sketch, which would lack the events up to "
            "now; leave --keep-sketch and --sketch-on out, or start a new state with --state"
        )
    if named and saved.sketch is not None and parse_on(named) != saved.sketch.indexed:
        raise StateError(
            f"the state {request.directory} was begun with a sketch of other attributes; leave --sketch-on "
            "out, or start a new state with --state"
        )
    return saved.sketch


def _known_to_inputs(request: MatchRequest) -> Indexed | None:
    """What the sketches of all inputs know; None where one has none, or sketches are not to be used."""
    from cepctl.datasets.stored import stored_dataset
    from cepctl.sketches.finding import sketch_of
    from cepctl.sketches.listing import Indexed

    if request.question.sketch == "off" or not request.paths:
        return None
    known = []
    for path in request.paths:
        try:
            dataset = stored_dataset(path)
            sketch = None if dataset is None else sketch_of(dataset)
        except CepctlError:
            # What is wrong with the events is told where they are read; a probe tells it of the sketch.
            return None
        if sketch is None:
            return None
        known.append(sketch.manifest.indexed)
    if not request.quiet:
        say("note", f"the state {request.directory} keeps a sketch, as its inputs do (--sketch off: none)")
    values = tuple(name for name in known[0].values if all(name in each.values for each in known))
    ranges = tuple(name for name in known[0].ranges if all(name in each.ranges for each in known))
    return Indexed(values, ranges)


def sketch_after(
    request: MatchRequest, before: KeptSketch | None, arrived: Arrivals, run: int, scratch: Path
) -> Extended | None:
    """The sketch with what a run has taken in; warns where damage kept segments from being merged.

    Raises
    ------
    UsageError
        If no event has an attribute that the sketch is to know.
    """
    from cepctl.state.kept_sketch import carried, extended
    from cepctl.state.store import segments_of

    if before is None:
        return None
    place = segments_of(request.directory, run - 1)
    if arrived.inputs is None:
        return carried(before, place)
    before = replace(before, kinds=_kinds(before, arrived.schema))
    (dataset,) = arrived.inputs.datasets
    found = extended(before, place, dataset, run, scratch)
    if found.problem is not None:
        say("warning", f"{found.problem}; until then a probe of the state ends with this error")
    return found


def _kinds(before: KeptSketch, schema: EventSchema) -> dict[str, str]:
    """The kinds of the attributes that a sketch knows, as they are now."""
    from cepctl.datasets.stored_events import KINDS
    from cepctl.sketches.making import require_indexable

    known = {name: KINDS[kind].value for name, kind in schema.attributes.items()}
    require_indexable(before.indexed, [known])
    return {name: known[name] for name in (*before.indexed.values, *before.indexed.ranges)}

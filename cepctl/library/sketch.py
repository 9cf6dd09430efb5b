"""`cepctl.sketch`: sketches of datasets, and what they leave to be read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cepctl.errors import UsageError
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.options import PathText
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput
from cepctl.notices import QUERY, READING, tell
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.datasets.stored import StoredDataset
    from cepctl.matching.inputs import EventInputs
    from cepctl.matching.sketched import Narrowed
    from cepctl.plan.plan import Plan
    from cepctl.sketches.making import Made
    from cepctl.sketches.reading import Sketch

USUAL_SHARE = 0.125
"""Of the rarest types so large a part of all events is kept one by one."""


@dataclass(frozen=True)
class Sketched:
    """A sketch that was written; a path, wherever one is wanted.

    `size` is in bytes, of `events` events; `on` is what it knows beside types.
    """

    path: str
    events: int
    size: int
    on: tuple[str, ...]

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        bits = 8 * self.size / self.events if self.events else 0.0
        by = f" and {', '.join(self.on)}" if self.on else ""
        return f"{counted(self.events, 'event')} by type{by} in {self.path} ({bits:.1f} bits per event)"


@errors_in_keywords
def sketch(
    events: PathText | Sequence[PathText],
    *,
    on: str | Sequence[str] = (),
    share: float = USUAL_SHARE,
    output: PathText | None = None,
) -> list[Sketched]:
    """Sketch datasets: small summaries beside them that tell where a pattern cannot occur.

    Parameters
    ----------
    events
        Paths of datasets; with `output` also of sketches.
    on
        Attributes to include in addition to types: `task` by its values, `size:range` by its extremes.
    share
        Of the rarest types so large a part of all events, in (0, 1], is kept one by one.
    output
        Directory of one sketch of all datasets; without it each gets one of its own, `EVENTS.sketch`.

    Returns
    -------
    list[Sketched]
        The sketches, each in the place of an older one.

    Raises
    ------
    CepctlError
        What the user can mend.
    """
    paths = [events] if isinstance(events, str | os.PathLike) else list(events)
    named = [on] if isinstance(on, str) else list(on)
    target = None if output is None else os.fspath(output)
    return sketched([os.fspath(path) for path in paths], named, target, share)


def sketched(paths: Sequence[str], on: Sequence[str], output: str | None, share: float) -> list[Sketched]:
    """Write sketches, and log what is to be said of them; raises as `sketch` does."""
    from cepctl.engines.concurrency import usable_cores
    from cepctl.sketches.folder import place_beside
    from cepctl.sketches.making import make_sketch, parse_on
    from cepctl.sketches.reading import Sketch

    indexed = parse_on(on)
    sources = [_source(path) for path in dict.fromkeys(paths)]
    if not sources:
        raise UsageError("there are no datasets: name one or more")
    if output is not None:
        refuse_overwriting({"-o": output}, paths, RawInput())
        return [_sketched(make_sketch(sources, indexed, output, usable_cores(), share))]
    targets = []
    for path, source in zip(dict.fromkeys(paths), sources, strict=True):
        if isinstance(source, Sketch):
            raise UsageError(f"{path} is a sketch; name a directory with -o to make one sketch of several")
        targets.append(place_beside(source.location))
    return [
        _sketched(make_sketch([source], indexed, target, usable_cores(), share))
        for source, target in zip(sources, targets, strict=True)
    ]


def _source(path: str) -> StoredDataset | Sketch:
    """The dataset or the sketch that a path names."""
    from cepctl.datasets.stored import stored_dataset
    from cepctl.sketches.finding import is_sketch
    from cepctl.sketches.reading import Sketch

    if is_sketch(path):
        return Sketch.at(path)
    dataset = stored_dataset(path)
    if dataset is None:
        raise UsageError(f"{path} is not a dataset; ingest it first: cepctl ingest {path} -o EVENTS")
    return dataset


def refuse_unsketchable(dataset: str, on: Sequence[str], share: float) -> None:
    """Raise UsageError where a dataset that is still to be written cannot be sketched, as far as is known."""
    from cepctl.io.source.locations import Location
    from cepctl.sketches.folder import SketchFolder, place_beside
    from cepctl.sketches.making import parse_on, require_share
    from cepctl.sketches.writing import refuse_foreign

    parse_on(on)
    require_share(share)
    refuse_foreign(SketchFolder.at(place_beside(Location.of(dataset))))


def _sketched(made: Made) -> Sketched:
    for name in made.dropped:
        tell(READING, "note", f"{made.path} does not know '{name}', which some of its sources lack")
    on = (*made.indexed.values, *(f"{name}:range" for name in made.indexed.ranges))
    return Sketched(made.path, made.events, made.size, on)


def read_by_sketches(plan: Plan, inputs: EventInputs) -> tuple[EventInputs, str | None]:
    """The inputs with what sketches leave to be read of them, and that in words; None where none tells."""
    found = _narrowed(plan, inputs)
    if found is None:
        return inputs, None
    if found.problem is not None:
        return inputs, f"not used: {found.problem}"
    return found.inputs, f"{found.read:,} of {counted(found.of, 'row group')} to be read"


def inputs_by_sketches(plan: Plan, inputs: EventInputs) -> EventInputs:
    """The inputs with what sketches leave to be read of them; logs what that is, or why it is everything."""
    found = _narrowed(plan, inputs)
    if found is None:
        return inputs
    if found.problem is not None:
        tell(READING, "warning", f"{found.problem}; all events are read")
    elif found.read < found.of:
        note = f"by the sketch, {found.read:,} of {counted(found.of, 'row group')} can matter"
        tell(QUERY, "note", note, row_groups_read=found.read, row_groups=found.of)
    return found.inputs


def _narrowed(plan: Plan, inputs: EventInputs) -> Narrowed | None:
    """As `narrowed_by_sketches`; where there is no sketch, what reads one is not even imported."""
    from cepctl.sketches.folder import SketchFolder, place_beside

    stored = [each for each in inputs.datasets if each is not inputs.temporary]
    if all(SketchFolder.at(place_beside(each.location)).is_free() for each in stored):
        return None
    from cepctl.matching.sketched import narrowed_by_sketches

    return narrowed_by_sketches(plan, inputs)

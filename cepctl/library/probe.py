"""`cepctl.probe`: where a pattern can occur, derived from sketches alone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.library.keywords import errors_in_keywords
from cepctl.library.notices import tell_plan
from cepctl.library.options import PathText
from cepctl.library.query_text import query_text

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.language.ast import Query
    from cepctl.plan.event_schema import EventSchema
    from cepctl.plan.plan import Plan
    from cepctl.sketches.reading import Sketch


PROBE_COLUMNS = ("start", "end", "at_most", "about")


@dataclass(frozen=True)
class Probe:
    """Stretches of time: outside of them the query has no match.

    `rows` are `start`, `end` (ticks), `at_most` and `about`, apart and ascending; see `cepctl.probe`.
    """

    plan: Plan
    rows: pa.Table

    def __len__(self) -> int:
        return int(self.rows.num_rows)


@errors_in_keywords
def probe(query: str | Path, sources: PathText | Sequence[PathText]) -> Probe:
    """Ask sketches where a query can have matches.

    Parameters
    ----------
    query
        Its text, or the path of its file.
    sources
        Paths of datasets, which have sketches beside them, of sketches, or of states that keep one.

    Returns
    -------
    Probe
        `[start, end]` of every match, however improbable, lies in one row.  `at_most` bounds its matches
        (null with Type+), `about` is what events at random times would give, without promise (null
        without WITHIN).

    Raises
    ------
    SketchError
        If a sketch is missing, damaged, of a newer version, or of other events.
    CepctlError
        What else the user can mend.
    """
    from cepctl.language.parser import parse

    paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    return probed(parse(query_text(query)), [os.fspath(path) for path in paths])


def probed(query: Query, paths: Sequence[str]) -> Probe:
    """Ask the sketches at some paths; logs what the query asks for that can hardly be meant."""
    from cepctl.errors import SketchError

    while True:
        folders = [folder for path in dict.fromkeys(paths) for folder in _folders(path)]
        try:
            return _probed(query, [_sketch(folder) for folder in folders])
        except SketchError:
            # A run of a state removes the segments of the run before it.
            if folders == [folder for path in dict.fromkeys(paths) for folder in _folders(path)]:
                raise


def _probed(query: Query, sketches: Sequence[Sketch]) -> Probe:
    from cepctl.plan.analyze import analyze
    from cepctl.sketches.archive import SketchArchive
    from cepctl.sketches.probing import probe_rows

    archive = SketchArchive(tuple(sketches), _schema(sketches))
    plan = analyze(query, archive.schema)
    rows = probe_rows(plan, archive)
    tell_plan(plan)
    return Probe(plan, rows)


def _folders(path: str) -> list[str]:
    """A path, or those of the segments that a state keeps."""
    from cepctl.errors import SketchError
    from cepctl.sketches.finding import is_sketch

    if is_sketch(path) or not any(Path(path).glob("run-*/manifest.json")):
        return [path]
    from cepctl.state.store import current_segments

    segments = current_segments(Path(path))
    if segments is None:
        raise SketchError(
            f"{path} is a state without a sketch; --keep-sketch begins one with it, or sketch the logs: "
            "cepctl ingest LOGS -o EVENTS --sketch"
        )
    return [str(each) for each in segments]


def _sketch(path: str) -> Sketch:
    """The sketch that a path names, or that of the dataset which it names."""
    from cepctl.datasets.stored import stored_dataset
    from cepctl.errors import SketchError
    from cepctl.sketches.finding import is_sketch, missing, sketch_of
    from cepctl.sketches.manifest import SEGMENTS
    from cepctl.sketches.reading import Sketch

    if is_sketch(path) or Path(path).parent.name == SEGMENTS:
        return Sketch.at(path)
    dataset = stored_dataset(path)
    if dataset is None:
        raise SketchError(
            f"{path} is neither a dataset nor a sketch; a log is ingested first: "
            f"cepctl ingest {path} -o EVENTS --sketch"
        )
    found = sketch_of(dataset)
    if found is None:
        raise missing(dataset)
    return found


def _schema(sketches: Sequence[Sketch]) -> EventSchema:
    """What is known of the events of all sketches together."""
    from cepctl.datasets.kinds import ARROW_TYPES, Kind, unified
    from cepctl.plan.event_schema import EventSchema
    from cepctl.schema import TimeUnit

    kinds: dict[str, set[Kind]] = {}
    counts: Counter[str] = Counter()
    units = []
    for dataset in (each for sketch in sketches for each in sketch.manifest.datasets):
        counts.update(dataset.types)
        units.append(TimeUnit.parse(dataset.time_unit))
        for name, kind in dataset.attributes.items():
            kinds.setdefault(name, set()).add(Kind(kind))
    attributes = {name: ARROW_TYPES[unified(kinds[name])] for name in sorted(kinds)}
    unit = min(units, key=lambda each: each.microseconds)
    return EventSchema(attributes, unit, dict(sorted(counts.items())))

"""The state on disk: a directory per run, and one rename that makes its rows and its state valid together.

    DIR/run-000007/            state after run 7
        manifest.json          how far time and inputs have come, with checksums of everything
        events.parquet ...     the tables of Progress
        rows.pending           the rows of run 7, until they are delivered
        segments/              the sketch of all events up to now, if one is kept (kept_sketch.py)
    DIR/lock                   who is at work

A run is valid once its rows are delivered.  They lie in its directory under the name `rows.pending`, and
renaming them to OUTDIR/run-000007.csv (or removing them, once they are printed) is the one step that shows
the file and makes the state the current one.  A run that ends before has changed nothing: its directory
still has its rows, and is thrown away by the next one, which starts from the state before and writes the
same file.  A run that ends after has done all that it had to.

Everything is forced to disk before that rename, and the directories around it afterwards.  A directory
gets its name only when it is whole, and loses its name before anything in it is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cepctl import __version__
from cepctl.clocks.ties import Clocks, ClockTie, tied, ties_of
from cepctl.errors import JobError, StateError, UsageError
from cepctl.event_table import PMF_TYPE
from cepctl.ingestion.growing_writers import Growth
from cepctl.io.contract.message_template import MessageTemplate, templates_in, templates_text
from cepctl.schema import TimeUnit
from cepctl.sketches.listing import Indexed
from cepctl.sketches.manifest import SEGMENTS
from cepctl.state.kept_sketch import KeptSketch, Segment
from cepctl.state.lock import LOCK
from cepctl.state.progress import Counts, Progress
from cepctl.state.sources import Source
from cepctl.state.written_order import Steps

FORMAT = 6
_READ = (1, 2, 3, 4, 5, 6)
"""1 does not know what was on disk of an input, 1 and 2 have names of their own, 4 knows clocks, 5 their
ties, 6 the order of records."""
MANIFEST = "manifest.json"
PENDING = "rows.pending"
_RUN = "run-"
_PRIVATE = 0o700
_TABLES = ("events", "late", "provisional")
_NUMBERS = ("newest", "watermark", "finalized_before", "pending", "complete_from", "closed")
_BEFORE_3 = {
    "standing": "provisional",
    "settled": "finalized_before",
    "said": "emitted",
    "taken_back": "retracted",
}


@dataclass(frozen=True)
class Saved:
    """A state as it is stored after run number `run`.

    `binding` says what it is bound to (the query, the model, ...), text by name; `sources` what has been
    read of the inputs; `type_counts` how many events of each type; `clocks` those of the events that are
    kept, with their offsets and ties; `written` when, ISO 8601; `sketch` is that of all events, where one is
    kept; `templates` are those that types of messages are told by; `growth` is what is decided of the order
    of records, None where it was left out.
    """

    run: int
    binding: dict[str, str]
    time_unit: TimeUnit
    type_counts: dict[str, int]
    sources: tuple[Source, ...]
    progress: Progress
    written: str
    clocks: Clocks = field(default_factory=dict)
    sketch: KeptSketch | None = None
    templates: tuple[MessageTemplate, ...] = ()
    growth: Growth | None = None


def run_name(number: int) -> str:
    """Name of a run's directory, and of its rows without the suffix."""
    return f"{_RUN}{number:06d}"


def load(directory: Path) -> Saved | None:
    """The current state; None where no run has ended yet.

    Raises
    ------
    StateError
        If it is damaged, of another version, or the directory holds something else.
    """
    runs = sorted(_valid_runs(directory))
    if runs:
        return _loaded(directory / runs[-1])
    _require_ours(directory)
    return None


def clean(directory: Path) -> None:
    """Remove what interrupted runs left behind, and states before the current one."""
    runs = sorted(_valid_runs(directory))
    for path in directory.iterdir():
        if path.name.startswith(_RUN) and path.name not in runs[-1:]:
            _remove(path)
        elif path.name.startswith((f".new-{_RUN}", f".old-{_RUN}")):
            shutil.rmtree(path)


def segments_of(directory: Path, number: int) -> Path:
    """The folder of the sketch that a run has left."""
    return directory / run_name(number) / SEGMENTS


def current_segments(directory: Path) -> tuple[Path, ...] | None:
    """The sketch of the current state, segment by segment; None where it keeps none, or has not begun.

    Raises
    ------
    StateError
        If the manifest of the state is damaged, or of another version.
    """
    runs = sorted(_valid_runs(directory))
    try:
        sketch = _sketch_in(_manifest(directory / runs[-1])) if runs else None
    except StateError:
        if (directory / runs[-1]).exists():
            raise
        return current_segments(directory)  # a run that has ended since has removed the one before
    if sketch is None:
        return None
    return tuple(directory / runs[-1] / SEGMENTS / each.name for each in sketch.segments)


def prepare(
    directory: Path,
    saved: Saved,
    rows: Iterable[bytes | memoryview],
    segments: Mapping[str, Path] = MappingProxyType({}),
) -> Path:
    """Write a run aside, forced to disk; returns its directory, which is not valid yet.

    `segments` are the folders of those of its sketch, by name.

    Raises
    ------
    JobError
        If it cannot be written; nothing has changed then.
    """
    name = run_name(saved.run)
    aside, place = directory / f".new-{name}", directory / name
    try:
        aside.mkdir(mode=_PRIVATE)
        for name, folder in segments.items():
            _take_over(folder, aside / SEGMENTS / name)
        _write_files(aside, saved, rows)
        aside.rename(place)
        _force(directory)
    except OSError as problem:
        shutil.rmtree(aside, ignore_errors=True)
        raise JobError(
            f"cannot write the state {directory}: {problem.strerror or problem}; nothing has changed"
        ) from None
    return place


def deliver(place: Path, target: Path | None) -> None:
    """Make a run valid: rename its rows to `target`, or remove them where they have been printed.

    Raises
    ------
    JobError
        If the rows cannot be renamed; the run has then changed nothing.
    """
    rows = place / PENDING
    try:
        if target is None:
            rows.unlink()
        else:
            rows.rename(target)
    except OSError as problem:
        _remove(place)
        raise JobError(f"cannot write {target or rows}: {problem.strerror}; nothing has changed") from None
    if target is not None:
        _force(target.parent)
    _force(place)


def require_deliverable(directory: Path, outdir: Path) -> None:
    """Refuse an output directory that rows cannot be renamed into, or that lies in the state."""
    if directory.resolve() in (outdir.resolve(), *outdir.resolve().parents):
        raise UsageError(f"{outdir} lies in the state {directory}; name another directory with -o")
    try:
        outdir.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise UsageError(f"cannot write into {outdir}: {problem.strerror}") from None
    if outdir.stat().st_dev != directory.stat().st_dev:
        raise UsageError(
            f"{outdir} and the state {directory} lie on different filesystems, so rows and state could not "
            "appear at once; put both on one"
        )


def size_of(directory: Path, number: int) -> int:
    """Bytes that the state after a run takes."""
    return _bytes_in(directory / run_name(number))


def size_of_sketch(directory: Path, number: int) -> int:
    """Bytes of them that its sketch takes."""
    return _bytes_in(segments_of(directory, number))


def _bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _valid_runs(directory: Path) -> list[str]:
    if not directory.is_dir():
        return []
    return [
        path.name
        for path in directory.iterdir()
        if path.name.startswith(_RUN) and path.is_dir() and not (path / PENDING).exists()
    ]


def _require_ours(directory: Path) -> None:
    if not directory.is_dir():
        return
    ours = (_RUN, f".new-{_RUN}", f".old-{_RUN}")
    for path in directory.iterdir():
        if path.name != LOCK and not path.name.startswith(ours):
            raise StateError(
                f"{directory} holds {path.name}, so it is not a state directory; name an empty or a new one"
            )


def _write_files(aside: Path, saved: Saved, rows: Iterable[bytes | memoryview]) -> None:
    progress = saved.progress
    for name in _TABLES:
        pq.write_table(getattr(progress, name), aside / f"{name}.parquet", compression="zstd")
    with (aside / PENDING).open("wb") as file:
        file.writelines(rows)
    content = {
        "format": FORMAT,
        "version": __version__,
        "run": saved.run,
        "written": saved.written,
        "binding": saved.binding,
        "time_unit": str(saved.time_unit),
        "type_counts": saved.type_counts,
        "clocks": dict(saved.clocks),
        "clock_ties": ties_of(saved.clocks),
        "progress": {name: getattr(progress, name) for name in _NUMBERS},
        "counts": asdict(progress.counts),
        "files": {f"{name}.parquet": _digest(aside / f"{name}.parquet") for name in _TABLES},
        "sources": [asdict(source) for source in saved.sources],
        "sketch": None if saved.sketch is None else asdict(saved.sketch),
        "templates": json.loads(templates_text(saved.templates)),
        "growth": None if saved.growth is None else saved.growth.as_json(),
        "steps": {name: [each.earlier, *each.records] for name, each in progress.steps.items()},
        "closed records": dict(progress.closed_records),
    }
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (aside / MANIFEST).write_text(f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}\n", encoding="utf-8")
    for path in aside.rglob("*"):
        _force(path)
    _force(aside)


def _loaded(place: Path) -> Saved:
    content = _manifest(place)
    for name, digest in content["files"].items():
        if not (place / name).is_file() or _digest(place / name) != digest:
            raise _damaged(place / name)
    files = [name.removesuffix(".parquet") for name in content["files"]]
    tables = _named_as_now({name: pq.read_table(place / f"{name}.parquet") for name in files})
    for name in ("events", "late"):
        tables[name] = _with_masses(tables[name])
    return Saved(
        run=content["run"],
        binding=content["binding"],
        time_unit=TimeUnit.parse(content["time_unit"]),
        type_counts=content["type_counts"],
        sources=tuple(Source(**each) for each in content["sources"]),
        progress=Progress(
            **tables,
            **_named_as_now(content["progress"]),
            counts=Counts(**_named_as_now(content["counts"])),
            steps={name: Steps(each[0], (*each[1:],)) for name, each in content.get("steps", {}).items()},
            closed_records=content.get("closed records", {}),
        ),
        written=content["written"],
        clocks=_clocks_in(content),
        sketch=_sketch_in(content),
        templates=templates_in(json.dumps(content.get("templates", []))),
        growth=Growth.from_json(said) if (said := content.get("growth")) is not None else None,
    )


def _clocks_in(content: Mapping[str, Any]) -> Clocks:
    offsets = {
        name: tuple((lo, hi, p) for lo, hi, p in offset) for name, offset in content.get("clocks", {}).items()
    }
    return tied(offsets, (ClockTie(*each) for each in content.get("clock_ties", [])))


def _sketch_in(content: Mapping[str, Any]) -> KeptSketch | None:
    """What a manifest says of the sketch; those before there were any say nothing."""
    said = content.get("sketch")
    if said is None:
        return None
    indexed = Indexed(tuple(said["indexed"]["values"]), tuple(said["indexed"]["ranges"]))
    return KeptSketch(indexed, said["kinds"], tuple(Segment(**each) for each in said["segments"]))


def _take_over(folder: Path, target: Path) -> None:
    """Show the files of a folder, which nobody changes, in another one; what is missing stays missing."""
    if not folder.is_dir():
        return
    target.mkdir(parents=True)
    for path in folder.iterdir():
        try:
            os.link(path, target / path.name)
        except OSError:  # another filesystem, or one without links
            shutil.copyfile(path, target / path.name)


def _named_as_now(stored: dict[str, Any]) -> dict[str, Any]:
    """The values of a state of any format, under the names of this one."""
    return {_BEFORE_3.get(name, name): value for name, value in stored.items()}


def _manifest(place: Path) -> dict[str, Any]:
    try:
        digest, _, text = (place / MANIFEST).read_text(encoding="utf-8").partition("\n")
        text = text.removesuffix("\n")
    except (OSError, UnicodeDecodeError):
        raise _damaged(place / MANIFEST) from None
    if hashlib.sha256(text.encode()).hexdigest() != digest:
        raise _damaged(place / MANIFEST)
    content: dict[str, Any] = json.loads(text)
    if content["format"] not in _READ:
        raise StateError(
            f"{place} was written by cepctl {content['version']} in format {content['format']}, this is "
            f"{__version__} with format {FORMAT}; end it with that version (--final), then start a new one"
        )
    return content


def _damaged(path: Path) -> StateError:
    return StateError(
        f"{path} is damaged or missing; restore the state directory from a copy, or start a new one with "
        "--state (and a new output directory, since it emits everything again)"
    )


def _with_masses(events: pa.Table) -> pa.Table:
    """Events with histograms in the type that engines know: Parquet names the list's elements its own way."""
    at = events.column_names.index("pmf")
    return events.set_column(at, "pmf", events.column("pmf").cast(PMF_TYPE))


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove(place: Path) -> None:
    """Remove a run's directory; its name goes first, so that half of it is never taken for a run."""
    gone = place.with_name(f".old-{place.name}")
    if gone.exists():
        shutil.rmtree(gone)
    place.rename(gone)
    shutil.rmtree(gone)


def _force(path: Path) -> None:
    """Wait until a file or directory is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

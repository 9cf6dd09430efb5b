"""Refuses outputs that would overwrite an input, or one another, before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from cepctl.errors import UsageError
from cepctl.library.laws import LawFile
from cepctl.library.raw_input import RawInput
from cepctl.uncertainty.short_rules import file_among


def refuse_overwriting(
    outputs: Mapping[str, str | None],
    events: Sequence[str],
    raw_input: RawInput,
    query_file: str | None = None,
    *,
    laws: LawFile | None = None,
    replaced: str | None = None,
) -> None:
    """Refuse outputs that are what is read, contain it, lie in a dataset that is read, or are the same.

    Parameters
    ----------
    outputs
        Files and directories to be written, None where there is none, by the options that name them.
    events
        The PATHs of the events.
    raw_input, query_file, laws
        Name other files that are read.
    replaced
        The option of `outputs` that names a folder which is replaced, with all in it.

    Raises
    ------
    UsageError
        If an output would overwrite something.
    """
    named = [(option, text) for option, text in outputs.items() if text is not None]
    written = {option: place for option, text in named if (place := _place(text)) is not None}
    for (option, place), (other, same) in combinations(written.items(), 2):
        replaces = {option: place in same.parents, other: same in place.parents}
        if _is_same(place, same) or (replaced is not None and replaces.get(replaced)):
            raise UsageError(f"{option} and {other} would overwrite one another; name another file")
    read = {
        "the query": query_file,
        "the uncertainty model": file_among(raw_input.uncertainty),
        "the patterns": raw_input.patterns,
        "the laws": None if laws is None else laws.path,
    }
    for option, place in written.items():
        for what, text in read.items():
            if text is not None and _is_same(place, Path(os.path.realpath(text))):
                raise UsageError(f"{option} would overwrite {what}, {text}; name another file")
        _refuse_overwriting_events(option, place, events)
    _refuse_overwriting_listed(written, events, raw_input)


def _refuse_overwriting_events(option: str, place: Path, events: Sequence[str]) -> None:
    for own, text in _local(events):
        if _is_same(place, own) or place in own.parents:
            raise UsageError(f"{option} would overwrite the input {text}; name another output")
        if place.parent == own and (own / "_SUCCESS").is_file():
            raise UsageError(f"{option} would write into the dataset {text}; name another output")


def _refuse_overwriting_listed(
    written: Mapping[str, Path], events: Sequence[str], raw_input: RawInput
) -> None:
    """Look through directories and globs, where an output is there already and may be one of their files."""
    there = {option: place for option, place in written.items() if place.is_file()}
    paths = [text for own, text in _local(events) if not own.is_file()]
    if not there or not paths:
        return
    from cepctl.io.source.locations import list_inputs

    files = [
        each.location.resolve()[1]
        for each in list_inputs(paths, follow_links=raw_input.follow_links)
        if each.left_out is None
    ]
    known = {os.path.realpath(file): file for file in files}
    for option, place in there.items():
        found = known.get(str(place))
        if found is None and place.stat().st_nlink > 1:
            found = next((file for file in files if _is_same(place, Path(file))), None)
        if found is not None:
            raise UsageError(
                f"{option} would overwrite {found}, which is read as an input; name another file, outside of "
                "the inputs"
            )


def _local(events: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """The PATHs on this machine that are not pipes, with where they really lie."""
    for text in events:
        if text != "-" and (own := _place(text)) is not None:
            yield own, text


def _place(text: str) -> Path | None:
    """Where a file or directory of this machine really lies; None for devices, pipes and other machines."""
    from pyarrow import fs

    from cepctl.io.source.locations import Location

    filesystem, path = Location.of(text).resolve()
    if not isinstance(filesystem, fs.LocalFileSystem):
        return None
    named = Path(path)
    if named.exists() and not (named.is_file() or named.is_dir()):
        return None
    return Path(os.path.realpath(path))


def _is_same(one: Path, other: Path) -> bool:
    return one == other or (one.is_file() and other.is_file() and one.samefile(other))

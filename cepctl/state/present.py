"""The files that lie there now: those named or found in directories, parts of datasets, members of archives.

A member of an archive is a file like any other, known by its content.  An archive that is as it was is not
unpacked again: what is known of it then holds for its members.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pyarrow import fs

from cepctl.datasets.stored import stored_dataset
from cepctl.errors import UsageError
from cepctl.ingestion.unpacking import unpacked
from cepctl.io.source.locations import InputFile, Location, is_stream, list_inputs, real_uri
from cepctl.state.sources import ARCHIVE, Source, ends_on_disk


@dataclass(frozen=True)
class Seen:
    """A file as it lies there now; `on_disk` is the digest of its ends, where it lies on this machine.

    The `uri` of a member is that of its archive and its name in there; its file is a copy of it.
    """

    file: InputFile
    uri: str
    size: int
    modified: int
    on_disk: str = ""

    def is_unchanged(self, source: Source) -> bool:
        """Whether nothing shows that something else is there than when the source was last looked at."""
        same = (source.size, source.modified) == (self.size, self.modified)
        return same and source.on_disk in ("", self.on_disk)


@dataclass
class Present:
    """All files that may have news, and what is `known` of archives and of members that have none."""

    files: list[Seen] = field(default_factory=list)
    known: list[Source] = field(default_factory=list)


@dataclass(frozen=True)
class Unpacking:
    """Where members of archives are put; `with_rests` also those whose last record was not whole."""

    scratch: Path
    with_rests: bool = False


def present_files(
    paths: Sequence[str],
    sources: Sequence[Source],
    unpacking: Unpacking,
    *,
    excluded: Sequence[Path] = (),
    follow_links: bool = False,
) -> Present:
    """Find all files, but those in the directories `excluded`; `sources` are those of earlier runs.

    Raises
    ------
    UsageError
        If an input is a stream.
    LogFormatError
        If an input cannot be read.
    """
    present = Present()
    known = {source.uri: source for source in sources}
    own = tuple(f"{directory.resolve()}/" for directory in excluded)
    for number, file in enumerate(_listed(paths, follow_links)):
        if real_uri(file.location).startswith(own):
            continue
        seen = _seen(file)
        before = known.get(seen.uri)
        if before is not None and before.format == ARCHIVE and seen.is_unchanged(before):
            members = [source for source in sources if source.uri.startswith(f"{seen.uri}/")]
            if not (unpacking.with_rests and any(source.rest for source in members)):
                present.known += [before, *members]
                continue
        elif file.left_out is not None or (before is not None and seen.is_unchanged(before)):
            present.files.append(seen)
            continue
        members_now = list(_members(seen, unpacking.scratch / f"packed-{number}"))
        present.files += members_now or [seen]
        if members_now:
            present.known.append(_archive(seen))
    return present


def _listed(paths: Sequence[str], follow_links: bool) -> list[InputFile]:
    raw, found = list[str](), list[InputFile]()
    for path in dict.fromkeys(paths):
        if path == "-" or is_stream(path):
            what = "standard input" if path == "-" else path
            raise UsageError(f"{what} is not known again in the next run; write it to a file")
        dataset = stored_dataset(path)
        if dataset is None:
            raw.append(path)
            continue
        directory = PurePosixPath(dataset.location.resolve()[1]).name
        found += [
            InputFile(dataset.location.beside(part), f"{directory}/{PurePosixPath(part).name}")
            for part in dataset.parts
        ]
    return found + list(list_inputs(raw, follow_links=follow_links))


def _seen(file: InputFile) -> Seen:
    if file.left_out is not None:
        return Seen(file, file.location.uri, 0, 0)
    filesystem, path = file.location.resolve()
    info: fs.FileInfo = filesystem.get_file_info(path)
    size = info.size or 0
    local = isinstance(filesystem, fs.LocalFileSystem)
    on_disk = ends_on_disk(Path(path), size) if local else ""
    return Seen(file, file.location.uri, size, info.mtime_ns or 0, on_disk)


def _members(archive: Seen, scratch: Path) -> Iterator[Seen]:
    """The members of an archive of several; none of any other file."""
    scratch.mkdir()
    for member in unpacked([archive.file], Location(str(scratch))):
        if member.name == archive.file.name and member.left_out is None:
            return
        uri = archive.uri + member.name.removeprefix(archive.file.name)
        if member.left_out is not None:
            yield Seen(member, uri, 0, 0)
            continue
        size = member.size or 0
        yield Seen(member, uri, size, archive.modified, ends_on_disk(Path(member.location.uri), size))


def _archive(seen: Seen) -> Source:
    """What is known of an archive itself: nothing is read of it but its members."""
    return Source(
        *(seen.uri, seen.size, seen.modified, seen.file.name),
        format=ARCHIVE,
        by_lines=False,
        offset=max(seen.size, 1),
        on_disk=seen.on_disk,
    )

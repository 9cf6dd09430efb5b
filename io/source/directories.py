"""What lies in a directory of this machine: each file once, and what is not a file with the reason.

A link is followed once, after everything that is not a link: what lies in the directory is known by its own
name, and a circle of links ends.  A link out of the directory is followed on request alone.
"""

from __future__ import annotations

import os
import re
import stat
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

SKETCH = ".sketch"
"""What the names of sketches of datasets end with, which hold no events."""
_LINE_END = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
SHOWN = frozenset({"__SummaryInfo__"})
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A file: its path, its name (the path below the directory), its bytes; or why it cannot be read."""

    path: str
    name: str
    size: int = 0
    modified: int = 0
    left_out: str | None = None


def kind_of(mode: int) -> str | None:
    """What something is that is neither file nor directory; None if it is one of these."""
    return _KINDS.get(stat.S_IFMT(mode))


def entries_in(directory: str) -> dict[str, str | None]:
    """What lies in a directory, without what is below: by name, None for its own files, else what it is.

    For folders that are written as a whole, of which no part is a link.
    """
    with os.scandir(directory) as found:
        return {item.name: _other_than_file(item) for item in sorted(found, key=lambda item: item.name)}


def _other_than_file(item: os.DirEntry[str]) -> str | None:
    if item.is_symlink():
        return f"a link, to {os.path.realpath(item.path)}"
    if item.is_dir(follow_symlinks=False):
        return "a directory"
    stated = _stated(item)
    return "gone" if stated is None else kind_of(stated.st_mode)


def is_hidden(name: str) -> bool:
    """Whether a name in a directory is passed over: it begins with `_` or `.`."""
    return name.startswith(("_", ".")) and name not in SHOWN


def entries_below(
    directory: str, *, follow_links: bool, is_named: Callable[[str], bool] = lambda name: False
) -> Iterator[Entry]:
    """The entries of a directory and all below it, but those with hidden names, and sketches.

    `directory`: its path; where it is a link itself, it was named and is followed.  `follow_links`: whether
    links that lead out of it are followed.  `is_named`: tells of the name of a link whether a user has named
    it, so that it is followed in any case.
    """
    yield from _Walk(os.path.realpath(directory), directory, follow_links, is_named).entries()


@dataclass
class _Walk:
    """One look through a directory, whose real path is `root`."""

    root: str
    directory: str
    follow_links: bool
    is_named: Callable[[str], bool]
    seen: set[str] = field(default_factory=set)
    links: deque[tuple[str, str]] = field(default_factory=deque)

    def entries(self) -> Iterator[Entry]:
        yield from self._below(self.directory, "", self.root)
        while self.links:
            yield from self._followed(*self.links.popleft())

    def _below(self, directory: str, name: str, real: str) -> Iterator[Entry]:
        """Real directories, one after the other: a deep tree needs no deep stack."""
        waiting = deque([(directory, name, real)])
        while waiting:
            directory, name, real = waiting.popleft()
            if real in self.seen:
                continue
            self.seen.add(real)
            try:
                with os.scandir(directory) as found:
                    items = sorted(found, key=lambda item: item.name)
            except OSError as problem:
                place = _shown(name or directory)
                yield Entry(_shown(directory), _shown(name), left_out=f"{place}: {problem.strerror}")
                continue
            for item in items:
                own = f"{name}/{item.name}" if name else item.name
                if is_hidden(item.name):
                    continue
                if item.is_symlink():
                    self.links.append((item.path, own))
                elif item.is_dir(follow_symlinks=False):
                    if item.name.endswith(SKETCH):
                        continue
                    waiting.append((item.path, own, f"{real}/{item.name}"))
                elif (stated := _stated(item)) is not None:
                    yield from self._once(item.path, own, f"{real}/{item.name}", stated)

    def _once(self, path: str, name: str, real: str, found: os.stat_result) -> Iterator[Entry]:
        if real in self.seen:
            return
        self.seen.add(real)
        kind = kind_of(found.st_mode)
        if kind is not None:
            reason = f"{_shown(name)}: {kind}, not a file; name it as a PATH to read it"
            yield Entry(_shown(path), _shown(name), left_out=reason)
        elif (wrong := wrong_in_name(name)) is not None:
            yield Entry(_shown(path), _shown(name), left_out=f"{_shown(name)}: its name {wrong}; rename it")
        else:
            yield Entry(path, name, found.st_size, found.st_mtime_ns // 1_000)

    def _followed(self, path: str, name: str) -> Iterator[Entry]:
        real = os.path.realpath(path)
        try:
            found = Path(real).stat()
        except OSError as problem:
            reason = f"{_shown(name)}: a link that leads nowhere ({problem.strerror})"
            yield Entry(_shown(path), _shown(name), left_out=reason)
            return
        if real in self.seen:
            return
        inside = real == self.root or real.startswith(f"{self.root.rstrip('/')}/")
        if not (inside or self.follow_links or self.is_named(name)):
            reason = (
                f"{_shown(name)}: a link out of {self.directory}, to {_shown(real)}; --follow-links reads it"
            )
            yield Entry(_shown(path), _shown(name), left_out=reason)
        elif stat.S_ISDIR(found.st_mode):
            yield from self._below(path, name, real)
        else:
            yield from self._once(path, name, real, found)


def _stated(item: os.DirEntry[str]) -> os.stat_result | None:
    """What is known of an entry; None where it has gone since, as logs that rotate do."""
    try:
        return item.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None


def wrong_in_name(name: str) -> str | None:
    """Why a file of this name is not read; None where it is."""
    if _LINE_END.search(name):
        return "has a line end in it"  # which would begin a line of ours wherever it is told
    try:
        name.encode()
    except UnicodeEncodeError:
        return "is not UTF-8"
    return None


def _shown(name: str) -> str:
    """A name with U+FFFD for what is not UTF-8, and line ends written out."""
    text = os.fsencode(name).decode("utf-8", "replace")
    return _LINE_END.sub(lambda found: found[0].encode("unicode_escape").decode(), text)

"""Whose clock a log is about, where its content does not say: by a map of files, or the end of its path."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from cepctl.errors import UsageError
from cepctl.io.contract.hosts import node_name
from cepctl.io.source.locations import InputFile, Location, real_uri

_PLACE = "{host}"


@dataclass
class HostNames:
    """What the user says of files: patterns of paths with {host} in them, and single files.

    A rule that fits no file has not been `used`.
    """

    patterns: tuple[str, ...] = ()
    mapped: tuple[tuple[str, str], ...] = ()
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._expressions = {pattern: _expression(pattern) for pattern in self.patterns}

    def host_of(self, file: InputFile) -> str | None:
        """The host of a file; None where nothing tells it."""
        for named, host in self.mapped:
            if file.name == named or real_uri(Location.of(named)) == real_uri(file.location):
                self.used.add(named)
                return host
        for pattern, expression in self._expressions.items():
            found = next(filter(None, map(expression.fullmatch, (file.location.uri, file.name))), None)
            if found is not None:
                self.used.add(pattern)
                return node_name(found["host"])
        return None

    def refuse_unused(self) -> None:
        """Raise UsageError where a rule has named no host."""
        for pattern in self.patterns:
            if pattern not in self.used:
                raise UsageError(
                    f"--host {pattern} cannot apply: it fits no file whose host its content does not say"
                )
        for named, _ in self.mapped:
            if named not in self.used:
                raise UsageError(
                    f"--map {named}=... cannot apply: no file so called is read whose content has no host"
                )


def _expression(pattern: str) -> re.Pattern[str]:
    if pattern.count(_PLACE) != 1:
        raise UsageError(f"--host {pattern}: name the host once, as in '*/{_PLACE}/tracking.log*'")
    pieces = re.split(r"(\{host\}|\*)", pattern)
    text = "".join(
        "(?P<host>[^/]+?)" if piece == _PLACE else "[^/]*" if piece == "*" else re.escape(piece)
        for piece in pieces
    )
    return re.compile(rf"(?:.*/)?{text}", re.DOTALL)


def mapped_files(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The pairs of `FILE=HOST`; raises UsageError for what is none."""
    found = []
    for text in texts:
        file, equals, host = text.rpartition("=")
        name = node_name(host)
        if not (file and equals and name):
            raise UsageError(
                f"--map {text} is not FILE=HOST, such as {PurePosixPath('logs', 'a.log')}=node07"
            )
        found.append((file, name))
    return tuple(found)

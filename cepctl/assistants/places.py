"""Folders that an assistant may read: a path is followed to its end, and must end inside of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cepctl.errors import UsageError

_SHOWN, _LONGEST_ERROR = 80, 300


@dataclass(frozen=True)
class OpenFolders:
    """The folders, links resolved; paths that are not absolute start at the first."""

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, folders: Sequence[str]) -> OpenFolders:
        """Those that were named at the start; raises UsageError where one is no folder."""
        for folder in folders:
            if not Path(folder).is_dir():
                raise UsageError(f"{folder} is not a folder; name the folders that assistants may read")
        return cls(tuple(Path(folder).resolve() for folder in folders))

    def inside(self, path: str) -> str:
        """The path as it may be read; raises UsageError where it leads elsewhere."""
        try:
            found = (self.folders[0] / path).resolve()
            found.exists()
        except (OSError, ValueError) as problem:
            raise UsageError(f"{path[:_SHOWN]!r} is no path: {problem.args[-1]}"[:_LONGEST_ERROR]) from None
        if not any(found.is_relative_to(folder) for folder in self.folders):
            allowed = ", ".join(map(str, self.folders))
            raise UsageError(f"{path} is outside of the folders that may be read: {allowed}")
        if not found.exists():
            raise UsageError(f"there is no {path} in {self.folders[0]}")
        if not (found.is_file() or found.is_dir()):
            # Nobody would write into a pipe, so a server that opened one would answer nothing any more.
            raise UsageError(f"{path} is neither a file nor a folder; name one of these")
        return str(found)

"""A folder of rows in the making: its parts are written aside, and it appears whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cepctl.atomic.files import real_place
from cepctl.atomic.folders import folder_beside
from cepctl.atomic.replacing import NEW, put_in_place, restore
from cepctl.errors import CepctlError, JobError, UsageError
from cepctl.io.rows.folder_names import MARKER, foreign_entry, is_row_folder, marker_text, part_name

_SCRATCH = "scratch"


@dataclass(frozen=True)
class RowFolder:
    """Parts go to `parts`, what is needed meanwhile to `scratch`, and all of it to `target` at last."""

    target: Path
    overwrite: bool
    parts: Path
    scratch: Path

    def part(self, number: int) -> Path:
        """Where a part goes."""
        return self.parts / part_name(number)

    def publish(self, rows: int) -> None:
        """Mark the folder as whole and put it in its place.

        Raises
        ------
        UsageError
            If something has come there meanwhile that may not be replaced.
        """
        text = marker_text(rows, sum(1 for _ in self.parts.iterdir()))
        (self.parts / MARKER).write_text(text, encoding="utf-8")
        refuse_existing(self.target, overwrite=self.overwrite)
        put_in_place(self.parts.parent, real_place(self.target))


@contextmanager
def row_folder(target: Path, *, overwrite: bool) -> Iterator[RowFolder]:
    """A folder beside the target, gone afterwards; a run that is killed leaves nothing under its name.

    Raises
    ------
    UsageError
        If something is there that may not be replaced.
    JobError
        If it cannot be written.
    """
    refuse_existing(target, overwrite=overwrite)
    try:
        with folder_beside(real_place(target)) as beside:
            made = RowFolder(target, overwrite, beside / NEW, beside / _SCRATCH)
            made.parts.mkdir()
            made.scratch.mkdir()
            yield made
    except CepctlError:
        raise
    except OSError as problem:
        raise JobError(f"cannot write {target}: {problem.strerror or problem}") from problem


def refuse_existing(target: Path, *, overwrite: bool) -> None:
    """Refuse to write over what is there; with `overwrite`, over what is not a folder of rows.

    Raises
    ------
    UsageError
        If something is there that may not be replaced.
    """
    restore(real_place(target))
    if not target.exists() and not target.is_symlink():
        return
    if not overwrite:
        raise UsageError(f"{target} exists; choose another output, or replace it with --overwrite")
    if not is_row_folder(target):
        raise UsageError(f"{target} is not a folder of rows, so --overwrite does not replace it")
    foreign = foreign_entry(target)
    if foreign is not None:
        raise UsageError(
            f"{target} holds {foreign}, which cepctl has not written, so --overwrite does not replace it; "
            "move that away, or choose another output"
        )

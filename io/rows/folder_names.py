"""Which folders are rows of matches, told by what is written in them last."""

from __future__ import annotations

import json
import re
from pathlib import Path

MARKER = "_SUCCESS"
"""Readers of Parquet pass over names that begin so."""
_KIND = "rows of matches"
_PART = re.compile(r"part-\d{5,}\.parquet")


def part_name(number: int) -> str:
    """What a part is called: by name the parts are in the order of their rows."""
    return f"part-{number:05d}.parquet"


def marker_text(rows: int, parts: int) -> str:
    """What a folder holds that is whole."""
    return f"{json.dumps({'cepctl': _KIND, 'rows': rows, 'parts': parts})}\n"


def is_row_folder(folder: Path) -> bool:
    """Whether a folder is one of rows that is whole."""
    try:
        marker = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(marker, dict) and marker.get("cepctl") == _KIND


def foreign_entry(folder: Path) -> str | None:
    """The name of something in a folder that is neither part nor marker; None where there is nothing."""
    names = (each.name for each in sorted(folder.iterdir()) if each.name != MARKER and not _is_part(each))
    return next(names, None)


def _is_part(entry: Path) -> bool:
    return _PART.fullmatch(entry.name) is not None and entry.is_file() and not entry.is_symlink()

"""The last match of this user: its query, its events and its first rows, so that one of them can be shown.

It lies in the user's cache folder, which nobody else may read; what cannot be written there is not
remembered, and no run fails for it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cepctl.atomic.files import write_whole_file
from cepctl.errors import UsageError
from cepctl.library.raw_input import RawInput
from cepctl.process.trust.ownership import make_private, unsafe_because

if TYPE_CHECKING:
    from cepctl.library.question import Question

ROWS_REMEMBERED = 1_000
_NAME = "last-match.json"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_MODE = 0o600


@dataclass(frozen=True)
class LastMatch:
    """What a run was asked, with absolute paths, and the ids of the events of its first rows as text.

    `laws`: the file of the laws of order that it was under, or whether it left out those of the events.
    """

    query: str
    events: tuple[str, ...]
    raw_input: RawInput
    matches: tuple[str, ...]
    laws: str | None = None
    no_laws: bool = False


def remember(last: LastMatch) -> None:
    """Keep a match in the place of the one before it."""
    with suppress(OSError):
        make_private(_folder())
        write_whole_file(_folder() / _NAME, [json.dumps(asdict(last)).encode()], _MODE)


def remember_match(asked: Question, paths: Sequence[str], ids: Sequence[str]) -> None:
    """Keep what was asked of which events, and the ids of the first rows."""
    raw_input = asked.raw_input.with_files(absolute)
    events, under = tuple(absolute(path) or path for path in paths), asked.matching.under
    laws = None if under.laws is None else absolute(under.laws.path)
    remember(LastMatch(asked.text, events, raw_input, tuple(ids), laws, under.no_laws))


def recall() -> LastMatch:
    """The last match.

    Raises
    ------
    UsageError
        If none is remembered, or somebody else may have written it.
    """
    file = _folder() / _NAME
    try:
        fault = unsafe_because(_folder()) or unsafe_because(file)
        if fault is not None:
            raise UsageError(f"{file} is not used: it {fault}")
        return _read(json.loads(file.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError(
            "no match is remembered: run cepctl match without --quiet and --state, or name QUERY and EVENTS"
        ) from None


def absolute(path: str | None) -> str | None:
    """A path that means the same in another working directory."""
    if path is None or path == "-" or _SCHEME.match(path):
        return path
    return str(Path.cwd() / path)


def _read(kept: dict[str, Any]) -> LastMatch:
    reading = dict(kept["raw_input"])
    reading["renames"] = tuple((old, new) for old, new in reading["renames"])
    reading["columns"] = tuple(reading["columns"])
    reading["uncertainty"] = tuple(reading["uncertainty"])
    laws, no_laws = kept.get("laws"), bool(kept.get("no_laws"))
    read = RawInput(**reading)
    return LastMatch(kept["query"], tuple(kept["events"]), read, tuple(kept["matches"]), laws, no_laws)


def _folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cepctl")

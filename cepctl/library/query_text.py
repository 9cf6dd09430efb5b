"""The text of a query, or of the file that holds it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import BinaryIO

from cepctl.errors import UsageError

_MOST_BYTES = 4_000_000
_BEGINNING = re.compile(r"\s*(--|//|(PATTERN|EVENT)\s|(SEQ|AND|OR|ISEQ)\s*[(\[])", re.IGNORECASE)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://\S+$")


def query_text(query: str | Path) -> str:
    """The text of a query that is given as text, or by the path of its file.

    Raises
    ------
    UsageError
        If its file cannot be read as UTF-8 text, a text is the name of a file, or it is neither of them.
    """
    if isinstance(query, os.PathLike):
        return file_text(query)
    if not isinstance(query, str):
        raise UsageError(
            f"{kind_named(query)} is no query; a query, as text or a pathlib.Path, comes first, then events"
        )
    if query.startswith("@") or (query.endswith(".cep") and not any(sign.isspace() for sign in query)):
        name = query.removeprefix("@")
        raise UsageError(f"the query is the text itself; to read the file give pathlib.Path({name!r})")
    if not begins_query(query) and is_path(query):
        raise UsageError(
            f"the query comes first and the events after it, but {query!r} is a path; to read a query "
            f"from a file give pathlib.Path({query!r})"
        )
    return query


def kind_named(value: object) -> str:
    """What kind of thing a program gave.

    Examples
    --------
    >>> kind_named({}), kind_named(re.compile("a"))
    ('a dict', 'a re.Pattern')
    """
    kind = type(value)
    place = "" if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}."
    return "None" if value is None else f"a {place}{kind.__qualname__}"


def begins_query(text: str) -> bool:
    """Whether a text begins as queries do, and paths hardly ever."""
    return _BEGINNING.match(text) is not None


def is_path(text: str) -> bool:
    """Whether there is a file or a folder of this name, or a URI is one."""
    try:
        return _URI.match(text) is not None or Path(text).exists()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def file_text(file: str | Path) -> str:
    """The text of a file that holds a query; raises UsageError where it cannot be read as UTF-8 text."""
    try:
        with Path(file).open("rb") as stream:
            return text_in(stream, f"the query file {file}")
    except OSError as problem:
        raise UsageError(f"cannot read the query file {file}: {problem.strerror}") from None


def text_in(stream: BinaryIO, name: str) -> str:
    """The text of a query that a stream holds; raises UsageError where it is not UTF-8 text."""
    text = stream.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise UsageError(f"{name} has more than {_MOST_BYTES:,} bytes")
    try:
        return text.decode("utf-8-sig")
    except ValueError:
        raise UsageError(f"{name} is not UTF-8 text") from None

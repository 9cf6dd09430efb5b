"""The text of a query, or of the file that holds it."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from cepctl.errors import UsageError

_MOST_BYTES = 4_000_000


def query_text(query: str | Path) -> str:
    """The text of a query that is given as text, or by the path of its file.

    Raises
    ------
    UsageError
        If its file cannot be read as UTF-8 text, or a text is the name of a file.
    """
    if not isinstance(query, str):
        return file_text(query)
    if query.startswith("@") or (query.endswith(".cep") and not any(sign.isspace() for sign in query)):
        name = query.removeprefix("@")
        raise UsageError(f"the query is the text itself; to read the file give pathlib.Path({name!r})")
    return query


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

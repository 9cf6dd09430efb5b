"""The text of a query, or of the file that holds it."""

from __future__ import annotations

from pathlib import Path

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
    path = Path(file)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"the query file {file} has more than {_MOST_BYTES:,} bytes")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as problem:
        raise UsageError(f"cannot read the query file {file}: {problem.strerror}") from None
    except ValueError:
        raise UsageError(f"the query file {file} is not UTF-8 text") from None

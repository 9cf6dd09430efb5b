"""TOML that people write, or that lies beside logs: what is nested without end is not valid."""

from __future__ import annotations

import tomllib
from typing import Any


def toml_document(text: str) -> dict[str, Any]:
    """The tables of a document.

    Raises
    ------
    TOMLDecodeError
        If it is not valid, or nested too deeply to be read.
    """
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None

"""Values of a TOML file as the command line has them, so that one way of reading options judges both."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import click

from cepctl.errors import UsageError


def as_on_the_command_line(value: Any, option: click.Option, name: str, place: str) -> Any:
    """What a file says of an option as it would be written there: text, a yes or no, or several texts.

    `name`, `place`: how the option is called, and where the file sets it.

    Raises
    ------
    UsageError
        If it is a table, or several values of an option that takes one.
    """
    if isinstance(value, dict):
        raise UsageError(f"{place}: '{name}' takes a value, not a table")
    if isinstance(value, bool) and (option.is_flag or option.count):
        return value
    if not isinstance(value, list):
        return _text(value)
    if not option.multiple and option.nargs == 1:
        raise UsageError(f"{place}: '{name}' takes one value, not a list")
    if any(isinstance(each, dict | list) for each in value):
        raise UsageError(f"{place}: '{name}' takes a list of values, not of lists or tables")
    return [_text(each) for each in value]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date | time) else str(value)

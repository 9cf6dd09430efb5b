"""Defaults for options from a TOML file: `cepctl.toml` of the working directory, or `--config`.

Keys at the top apply to every command that has such an option, a table such as `[match]` to that
command alone.  The command line wins over the environment, the environment over the file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from cepctl.errors import UsageError

DEFAULT_FILE = "cepctl.toml"


def defaults_for(command: str, options: Sequence[str], file: str | None) -> dict[str, Any]:
    """Default values for the options of one command, by parameter name.

    Raises
    ------
    UsageError
        If the file is missing (when named), is no TOML, or sets an option the command has not.
    """
    path = Path(file or DEFAULT_FILE)
    if file is None and not path.is_file():
        return {}
    settings = _load(path)
    table = settings.get(command, {})
    if not isinstance(table, dict):
        raise UsageError(f"{path}: '{command}' must be a table: [{command}]")
    common = {_parameter(k): v for k, v in settings.items() if not isinstance(v, dict)}
    own = {_parameter(k): v for k, v in table.items()}
    for name in own:
        if name not in options:
            near = get_close_matches(name, options, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise UsageError(f"{path}: '{command}' has no option '{name}'{hint}")
    return {name: value for name, value in common.items() if name in options} | own


def _parameter(key: str) -> str:
    return key.replace("-", "_")


def _load(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            return tomllib.load(stream)
    except OSError as problem:
        raise UsageError(f"cannot read the configuration {path}: {problem.strerror}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{path} is no valid TOML: {problem}") from problem

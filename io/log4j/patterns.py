r"""Named patterns that turn log messages into typed events, as users write them in TOML.

    [[pattern]]
    event_type = "DiskFull"
    logger = "*DataNode*"        # optional: a glob over the logger's name, or a list of globs
    level = "ERROR"              # optional
    regex = 'No space left on (?P<volume>\S+)'
    begins = '^== '              # optional, in text of no known format: where records of several lines begin

The first pattern that fits a record makes its event.  A regular expression (RE2 syntax) may be found
anywhere in the message; its named groups become attributes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import LogPatternError
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.process.trust.toml_text import toml_document

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_KEYS = ("event_type", "logger", "level", "regex", "begins")
_TABLE = "pattern"
_BUILT_IN = "hadoop_messages.toml"
_SINGLE_BYTE = re.compile(r"(?<!\\)(?:\\\\)*\\C")
_HEADING = re.compile(r"^[ \t]*\[\[[ \t]*pattern[ \t]*\]\]", re.MULTILINE)


def load_patterns(path: str) -> tuple[LogPattern, ...]:
    """Read a file of patterns.

    Raises
    ------
    LogPatternError
        If the file cannot be read, is not TOML, or a pattern in it is wrong; the message names file,
        line and key.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise LogPatternError(f"cannot read the log patterns {path}: {problem.strerror}") from problem
    return parse_patterns(content, path)


@cache
def built_in_patterns() -> tuple[LogPattern, ...]:
    """The patterns for the usual messages of Hadoop, from hadoop_messages.toml."""
    # Through the loader: workers may import this package from an archive.
    loader: Any = __spec__.loader
    content = loader.get_data(str(Path(__file__).with_name(_BUILT_IN)))
    return parse_patterns(content, _BUILT_IN)


def parse_patterns(content: bytes, path: str) -> tuple[LogPattern, ...]:
    """The patterns of a TOML text; `path` names it in messages.  Raises as `load_patterns` does."""
    try:
        text = content.decode()
        tables = toml_document(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise LogPatternError(f"{path} is not valid TOML: {problem}") from problem
    for key in tables:
        if key != _TABLE:
            raise LogPatternError(f"{path}: unknown key '{key}'{_nearest(key, (_TABLE,))}: write [[pattern]]")
    patterns = tables.get(_TABLE, [])
    if not isinstance(patterns, list) or not all(isinstance(entry, dict) for entry in patterns):
        raise LogPatternError(f"{path}: 'pattern' must be a list of tables: write [[pattern]] before each")
    if not patterns:
        raise LogPatternError(f"{path} holds no pattern: write [[pattern]], event_type and regex")
    place = _Places(path, text, len(patterns))
    return tuple(_pattern(entry, number, place) for number, entry in enumerate(patterns))


@dataclass(frozen=True)
class _Places:
    """Where the patterns and their keys stand in the file, for messages."""

    path: str
    text: str
    count: int

    def of(self, number: int, key: str | None = None) -> str:
        headings = [found.start() for found in _HEADING.finditer(self.text)]
        if len(headings) != self.count:
            return f"{self.path}: pattern {number + 1}"
        start = headings[number]
        section = self.text[start : headings[number + 1] if number + 1 < self.count else None]
        found = re.search(rf"^[ \t]*{re.escape(key)}[ \t]*=", section, re.MULTILINE) if key else None
        line = self.text.count("\n", 0, start + (found.start() if found else 0)) + 1
        return f"{self.path}:{line}: pattern {number + 1}"


def _pattern(entry: Mapping[str, Any], number: int, place: _Places) -> LogPattern:
    for key in entry:
        if key not in _KEYS:
            known = f"; a pattern has {', '.join(_KEYS)}"
            raise LogPatternError(
                f"{place.of(number, key)}: unknown key '{key}'{_nearest(key, _KEYS)}{known}"
            )
    for key in ("event_type", "regex"):
        if key not in entry:
            raise LogPatternError(f"{place.of(number)}: '{key}' is missing")
    event_type, regex = (_text(entry[key], key, place.of(number, key)) for key in ("event_type", "regex"))
    globs = entry.get("logger", [])
    loggers = globs if isinstance(globs, list) else [globs]
    level = entry.get("level")
    if level is not None and level not in LEVELS:
        raise LogPatternError(
            f"{place.of(number, 'level')}: unknown level {level!r}{_nearest(str(level).upper(), LEVELS)}; "
            f"log4j has {', '.join(LEVELS)}"
        )
    return LogPattern(
        event_type,
        regex,
        tuple(_text(glob, "logger", place.of(number, "logger")) for glob in loggers),
        level,
        _groups(regex, "regex", place.of(number, "regex")),
        _begins(entry.get("begins"), place.of(number, "begins")),
    )


def _begins(begins: object, place: str) -> str | None:
    if begins is None:
        return None
    text = _text(begins, "begins", place)
    _groups(text, "begins", place)
    return text


def _text(value: object, key: str, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise LogPatternError(f"{place}: '{key}' must be a text that is not empty, not {value!r}")
    return value


def _groups(regex: str, key: str, place: str) -> tuple[str, ...]:
    """The named groups; raises LogPatternError for what RE2 does not take."""
    try:
        groups = [field.name for field in pc.extract_regex(pa.array([""]), regex).type]
    except pa.ArrowInvalid as problem:
        cause = str(problem).removeprefix("Invalid regular expression: ")
        if "unnamed groups" in cause:
            cause = "a group has no name: write (?P<name>...), or (?:...) for one that is not an attribute"
        raise LogPatternError(f"{place}: '{key}' is not usable (RE2 syntax): {cause}") from problem
    if _SINGLE_BYTE.search(regex):
        raise LogPatternError(f"{place}: '{key}' must not ask for single bytes (\\C): they may be no text")
    repeated = sorted({name for name in groups if groups.count(name) > 1})
    if repeated:
        raise LogPatternError(f"{place}: '{key}' has two groups called '{repeated[0]}'")
    return tuple(groups)


def _nearest(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name, known, 1)
    return f", did you mean '{near[0]}'?" if near else ""

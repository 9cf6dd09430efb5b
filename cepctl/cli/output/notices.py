"""What a command says beside its rows: notices on standard error, as text or as lines of JSON.

With `--log-format json` every notice is one JSON object on a line of its own:

    key        value
    time       when it was said, ISO 8601, UTC
    level      error, warning or info
    kind       error, warning, note, hint, summary, file or why-not
    command    the name of the command
    message    the text that people get
    ...        figures of this kind of notice, such as events, matches and seconds
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Literal, cast

import click

from cepctl.notices import LOGGER, Notice, Told, gather, gathering
from cepctl.runners.spark.java_output import LOGGER as JAVA

Kind = Literal["error", "warning", "note", "hint", "summary", "file", "why-not"]
LogFormat = Literal["text", "json"]
LOG_FORMATS: tuple[LogFormat, ...] = ("text", "json")
VARIABLE = "CEPCTL_LOG_FORMAT"

_PREFIXED = ("error", "warning", "note", "hint")
_LEVELS = ("error", "warning")
_UNINDENTED = re.compile(r"([\n\r\x0b\x0c\x85\u2028\u2029]+)(?=[^\s])")
_chosen: ContextVar[LogFormat] = ContextVar("log format", default="text")
_silent: ContextVar[bool] = ContextVar("whether warnings are not wanted", default=False)
_command: ContextVar[str | None] = ContextVar("command", default=None)


def say(kind: Kind, message: str, **figures: object) -> None:
    """Say something on standard error; `figures` are for programs, the message has them in words.

    Where standard error takes no more (a full disk, a reader that has gone), nothing is said.
    """
    gather(Told(kind, message, figures))
    _print(kind, message, figures)


def _print(kind: Kind, message: str, figures: dict[str, object]) -> None:
    if kind == "warning" and _silent.get():
        return
    with suppress(OSError):
        click.echo(_notice(kind, message, figures), err=True)


def _notice(kind: Kind, message: str, figures: dict[str, object]) -> str:
    if not in_json():
        return _as_text(kind, message)
    notice = {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "level": kind if kind in _LEVELS else "info",
        "kind": kind,
        "command": _command.get(),
        "message": message,
        **figures,
    }
    return json.dumps(notice, ensure_ascii=False, default=str)


def _as_text(kind: Kind, message: str) -> str:
    """A notice as people get it; what a value brings behind a line end begins no line of its own."""
    text = f"{kind}: {message}" if kind in _PREFIXED else message
    return text if kind == "why-not" else _UNINDENTED.sub(r"\1  ", text)


@contextmanager
def heard(*, quiet: int, strict: bool = False) -> Iterator[None]:
    """Say what the library logs: when quiet only warnings, when very quiet (2) nothing.

    Raises
    ------
    WarningError
        At the first warning of the library on reading or the query, if `strict`.
    """
    _hear_java()
    logger, voice = logging.getLogger(LOGGER), _Voice(quiet=quiet > 0)
    before = logger.level, logger.propagate
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(voice)
    silent = _silent.set(quiet > 1)
    try:
        with gathering(strict=strict):
            yield
    finally:
        _silent.reset(silent)
        logger.removeHandler(voice)
        logger.level, logger.propagate = before


def _hear_java() -> None:
    """From now on, pass on what Java says: it may have more to say when the command is over."""
    logger = logging.getLogger(JAVA)
    if not any(isinstance(each, _JavaVoice) for each in logger.handlers):
        logger.addHandler(_JavaVoice())


class _JavaVoice(logging.Handler):
    """Writes what Java says on standard error, as it is."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"{record.getMessage()}\n")


class _Voice(logging.Handler):
    """Says records of the library as notices."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(logging.WARNING if quiet else logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        notice = getattr(record, "notice", None)
        if isinstance(notice, Notice):
            _print(notice.kind, record.getMessage(), notice.figures)


def in_json() -> bool:
    """Whether notices are JSON."""
    return _chosen.get() == "json"


def command_said() -> str | None:
    """The name of the command that runs; None before it is known."""
    return _command.get()


def command_begins(name: str | None) -> None:
    """Remember which command runs."""
    _command.set(name)


def guess_log_format(arguments: Sequence[str]) -> None:
    """Set the format before the arguments are parsed, for what is wrong with them."""
    words = " ".join(arguments)
    asked = "--log-format json" in words or "--log-format=json" in words
    _chosen.set("json" if asked or os.environ.get(VARIABLE) == "json" else "text")
    _command.set(None)


def log_format_chosen(context: click.Context, parameter: click.Parameter, value: str) -> None:
    """Set the format that the option, the environment or the configuration names."""
    _chosen.set(cast(LogFormat, value))

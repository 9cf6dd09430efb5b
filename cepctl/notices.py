"""What records of the logger `cepctl` carry: what is to be told beside an answer.

    cepctl.reading    what an ingest skipped, left out and noticed
    cepctl.query      what a query asks for that can hardly be meant, and what could not be told of its rows
    cepctl.kernels    that kernels are compiled, and which kept ones could not be used

Notes are records of the level INFO.  The logger says nothing by itself.  What says that an answer may not be
the one that was asked for is a warning: also one of Python (`CepctlWarning`), unless somebody gathers what is
told to say it in a way of their own.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from cepctl.errors import WarningError

LOGGER = "cepctl"
QUERY, READING, KERNELS = f"{LOGGER}.query", f"{LOGGER}.reading", f"{LOGGER}.kernels"
# Without it Python itself would print warnings where a program has not said what is to become of them.
logging.getLogger(LOGGER).addHandler(logging.NullHandler())


class CepctlWarning(UserWarning):
    """An answer may not be the one asked for: a type that no event has, records left out, estimates."""


@dataclass(frozen=True)
class Told:
    """Something that was told, as programs get it."""

    kind: str
    message: str
    figures: dict[str, object]


@dataclass
class Gathered:
    """What is told while somebody gathers it; if `strict`, a warning ends what is done."""

    strict: bool
    notices: list[Told] = field(default_factory=list)


_gathered: ContextVar[Gathered | None] = ContextVar("what is told", default=None)


@contextmanager
def gathering(*, strict: bool = False) -> Iterator[list[Told]]:
    """What is told meanwhile.

    Raises
    ------
    WarningError
        At the first warning on reading or the query, if `strict`.
    """
    gathered = Gathered(strict)
    before = _gathered.set(gathered)
    try:
        yield gathered.notices
    finally:
        _gathered.reset(before)


def gather(notice: Told) -> None:
    """Keep what is told for who gathers it."""
    gathered = _gathered.get()
    if gathered is not None:
        gathered.notices.append(notice)


def gathered() -> list[Told]:
    """What was told so far to who gathers it."""
    found = _gathered.get()
    return [] if found is None else found.notices


@dataclass(frozen=True)
class Notice:
    """What a record carries for programs, as its attribute `notice`; its message has the figures in words."""

    kind: Literal["note", "warning"]
    figures: dict[str, object] = field(default_factory=dict)


def tell(
    logger: str,
    kind: Literal["note", "warning"],
    message: str,
    problem: BaseException | None = None,
    **figures: object,
) -> None:
    """Log something; `figures` are for programs, the message has them in words.

    `problem`: what went wrong, with its traceback for those who log it.

    Raises
    ------
    WarningError
        Of a warning, where who gathers is strict.
    """
    if kind == "warning" and logger in (QUERY, READING):
        _warn(message)
    gather(Told(kind, message, figures))
    level = logging.WARNING if kind == "warning" else logging.INFO
    extra = {"notice": Notice(kind, figures)}
    logging.getLogger(logger).log(level, "%s", message, extra=extra, exc_info=problem)


def _warn(message: str) -> None:
    """A warning of Python where nobody gathers, at the line of the program that called us."""
    found = _gathered.get()
    if found is None:
        warnings.warn(message, CepctlWarning, stacklevel=_frames_of_ours())
    elif found.strict:
        raise WarningError(message)


def _frames_of_ours() -> int:
    """How many frames up the program is that has called this package, as `warnings.warn` counts them."""
    frame, level, last = sys._getframe(1), 1, 1
    while frame.f_back is not None:
        if frame.f_globals.get("__name__", "").split(".")[0] == __name__.split(".")[0]:
            last = level
        frame, level = frame.f_back, level + 1
    return last + 1

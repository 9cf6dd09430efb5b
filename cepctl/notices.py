"""What records of the logger `cepctl` carry: what is to be told beside an answer.

    cepctl.reading    what an ingest skipped, left out and noticed
    cepctl.query      what a query asks for that can hardly be meant, and what could not be told of its rows
    cepctl.kernels    that kernels are compiled, and which kept ones could not be used

Notes are records of the level INFO.  The logger says nothing by itself.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Literal

LOGGER = "cepctl"
QUERY, READING, KERNELS = f"{LOGGER}.query", f"{LOGGER}.reading", f"{LOGGER}.kernels"
# Without it Python itself would print warnings where a program has not said what is to become of them.
logging.getLogger(LOGGER).addHandler(logging.NullHandler())


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
    """
    level = logging.WARNING if kind == "warning" else logging.INFO
    extra = {"notice": Notice(kind, figures)}
    logging.getLogger(logger).log(level, "%s", message, extra=extra, exc_info=problem)

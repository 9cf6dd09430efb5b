"""Side figures: what is computed to be shown beside an answer, and never decides it.

`beside` computes one.  A figure that fails is left out, and a note says which and why; rows, files that were
asked for and the exit code are what they are without it.  An interrupt and whatever else ends the program
pass through.  Running out of memory does not: what the figure took is free again.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeVar

from cepctl.errors import CepctlError, EventSchemaError, LogFormatError, WarningError
from cepctl.notices import QUERY, CepctlWarning, tell

_Computed = TypeVar("_Computed")
_Instead = TypeVar("_Instead")
INPUT_ERRORS = (EventSchemaError, LogFormatError)
"""What is wrong with the input is so wherever it is met: it ends a command that only looks at the input."""


class SideFigure(Enum):
    """All of them, as a note names them."""

    RAW_TIMES = "what raw times alone would have missed"
    LIKELIEST_KEY = "the most probable key"
    SUMMARY = "the summary"
    READING_NOTICES = "the notes on reading"
    QUERY_NOTICES = "the notes on the query"
    KERNEL_HINT = "the hint at kernels"
    PROGRESS = "the progress"
    WHY_NOT = "why nothing matched"
    LAST_MATCH = "the match for cepctl show --last"
    METRICS = "the figures for --metrics"
    SKETCH = "what sketches leave to be read"
    SKETCH_FACTS = "the sketches"
    ACCOUNTS = "the accounts of the files"
    SLICES = "the slices"
    MEMORY = "the memory that a run takes"
    TIES = "the ties between events"
    ORDERS = "the open orders under a law"
    RANGES = "the ranges of pairs"
    FORECAST = "the forecast"
    STRIP = "the strip of time"
    OVERVIEW = "the charts"
    TIMELINES = "the timelines"
    SHOWN_KEYS = "what joins the events of the rows"
    SERIES = "the sampled series"
    VALUES = "the values of attributes"
    KEYS = "the keys that join types"
    EXAMPLES = "the queries to begin with"
    GRAINS = "the granularity"
    FILE_ORDERS = "the order within files"
    CLOCK_BOUNDS = "the clocks of hosts"
    RECORDED_CLOCKS = "what hosts recorded of their clocks"
    CLOCK_GRAPH = "what clocks say together"
    DRIFTING_CLOCKS = "the clocks that may drift"
    WRITTEN_ORDERS = "the orders in which records were written"
    KNOWN_ORDERS = "the orders that formats guarantee"


def beside(
    figure: SideFigure,
    compute: Callable[[], _Computed],
    otherwise: _Instead,
    failed: Callable[[str], None] | None = None,
    passing: tuple[type[CepctlError], ...] = (),
) -> _Computed | _Instead:
    """A side figure, or what stands for it where it cannot be computed.

    `failed` is told why instead of the user: where the note has to wait, as in a worker.  Problems that are
    `passing` are not those of the figure.
    """
    try:
        return computed(figure, compute)
    except BaseException as problem:
        # Polars reports its own defects by an exception that is no Exception.
        if isinstance(problem, passing) or _ends(problem):
            raise
        because = why(problem)
        if failed is None:
            defect = None if isinstance(problem, CepctlError) else problem
            tell(QUERY, "note", left_out(figure, because), defect, left_out=figure.name.lower())
        else:
            failed(because)
        return otherwise


def computed(figure: SideFigure, compute: Callable[[], _Computed]) -> _Computed:
    """The figure itself; the one place where a test makes any of them fail."""
    return compute()


def _ends(problem: BaseException) -> bool:
    """Whether the program is to end, also by a warning; Rich asks for it where its reader has gone."""
    if isinstance(problem, SystemExit):
        return not isinstance(problem.__context__, BrokenPipeError)
    return isinstance(problem, KeyboardInterrupt | GeneratorExit | WarningError | CepctlWarning)


def left_out(figure: SideFigure, because: str) -> str:
    """What is known of a figure that failed."""
    return f"left out {figure.value}: {because}; nothing else depends on it"


def why(problem: BaseException) -> str:
    """The first line of a problem; that of a defect with its kind.

    Examples
    --------
    >>> why(ValueError("odd")), why(MemoryError())
    ('ValueError: odd', 'MemoryError')
    """
    said = (str(problem).splitlines() or [""])[0]
    if isinstance(problem, CepctlError):
        return said
    return f"{type(problem).__name__}: {said}" if said else type(problem).__name__

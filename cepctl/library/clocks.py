"""What the logs of clocks say, as a table with one row per piece of a host's readings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from cepctl.errors import UncertaintyModelError, UsageError
from cepctl.render.counting import ticks_text
from cepctl.schema import NANOSECOND, parse_duration

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.clocks.logs.gathering import GatheredRows
    from cepctl.clocks.logs.summary import HostSummary
    from cepctl.clocks.logs.values import PieceChoices

_NANOSECONDS = 1_000
_PARTS_PER_MILLION = 1_000
_DRIFT = re.compile(r"\s*(\d{1,30}(?:\.\d{1,30})?)\s*ppm\s*", re.ASCII)
_LARGEST_DRIFT = 100_000
_LONGEST = 2**55


@dataclass(frozen=True)
class ClockOptions:
    """What the user says of logs of clocks, as text.

    Attributes
    ----------
    hosts
        Patterns of paths with {host} in them.
    mapped
        FILE=HOST.
    bound
        How far an estimate without a bound of its own can be off, None where the user does not say.
    drift
        By how much a clock can gain or lose.
    hold
        How long an estimate holds before the first and after the last row.
    time_zone
        Of times without one.
    """

    hosts: tuple[str, ...] = ()
    mapped: tuple[str, ...] = ()
    bound: str | None = None
    drift: str = "15 ppm"
    hold: str = "1 h"
    time_zone: str | None = None


@dataclass
class OpenClocks:
    """Logs of clocks that were read; `summaries` has the figures of the hosts whose tables were taken."""

    found: GatheredRows
    bound: int | None
    choices: PieceChoices
    summaries: list[HostSummary] = field(default_factory=list)

    def tables(self) -> Iterator[pa.Table]:
        """The rows of CLOCKS, some at a time; raises LogFormatError where rows have no bound."""
        from cepctl.clocks.logs.table import clock_tables

        return clock_tables(self.found, self.bound, self.choices, self.summaries)


@contextmanager
def opened_clocks(paths: Sequence[str], options: ClockOptions) -> Iterator[OpenClocks]:
    """Read the logs of clocks at some paths.

    Raises
    ------
    UsageError
        If an option cannot be understood or cannot apply, or nothing tells the host of a log.
    LogFormatError
        If a file that is named cannot be read, or no log of a clock is found.
    """
    from cepctl.atomic.folders import temporary_folder
    from cepctl.clocks.logs.gathering import gathered
    from cepctl.clocks.logs.hosts import HostNames, mapped_files
    from cepctl.clocks.logs.values import PieceChoices
    from cepctl.io.contract.reader import ReadOptions
    from cepctl.io.contract.times import named_zone

    named_zone(options.time_zone)
    bound = None if options.bound is None else duration("--bound", options.bound, least=1)
    choices = PieceChoices(
        parts_per_million(options.drift, least=0), duration("--hold", options.hold, least=0)
    )
    names = HostNames(options.hosts, mapped_files(options.mapped))
    with temporary_folder() as folder:
        found = gathered(paths, names, ReadOptions(time_zone=options.time_zone), folder)
        yield OpenClocks(found, bound, choices)


def duration(option: str, text: str, *, least: int) -> int:
    """A length of time in nanoseconds, rounded up; raises UsageError unless it is one up to a year."""
    try:
        length = ceil(parse_duration(text) * _NANOSECONDS)
    except UncertaintyModelError as problem:
        raise UsageError(f"{option}: {problem}") from None
    if not least <= length <= _LONGEST:
        shortest = "0" if not least else "more than 0" if least == 1 else ticks_text(least, NANOSECOND)
        raise UsageError(f"{option} {text}: from {shortest} to 1 year")
    return length


def parts_per_million(text: str, *, least: int) -> int:
    """A drift in nanoseconds per second, rounded up; raises UsageError unless it is one."""
    found = _DRIFT.fullmatch(text)
    drift = -1 if found is None else ceil(Fraction(found[1]) * _PARTS_PER_MILLION)
    if not least <= drift <= _LARGEST_DRIFT * _PARTS_PER_MILLION:
        above = "above 0 and " if least else ""
        raise UsageError(
            f"--drift {text} is not a drift: write parts per million, such as '15 ppm', {above}up to "
            "100000 ppm"
        )
    return drift

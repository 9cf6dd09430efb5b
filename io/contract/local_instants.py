"""A column of local times as instants, in the zone of the clock that wrote them.

Offsets are looked up once for every minute that occurs: zones change theirs between minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from cepctl.io.contract.shaped_times import ShapedTimes
from cepctl.io.contract.times import read_time
from cepctl.io.contract.zone_words import NO_WORDS, ZoneWords
from cepctl.numeric.arrays import Causes, Flags, Numbers

_SECOND, _MINUTE = 1_000_000, 60_000_000
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Instants:
    """Instants in microseconds since the epoch, UTC, one per local time.

    Attributes
    ----------
    micros
        The instant; of a time that happened twice the earlier one.
    zone_seconds
        Offset from UTC of the clock.
    fold
        Microseconds to the later instant where a time happened twice, else 0.
    problems
        Why a time is none, "" for the others.
    """

    micros: Numbers
    zone_seconds: Numbers
    fold: Numbers
    problems: Causes

    def where(self, rows: Flags) -> Instants:
        """Some of them."""
        return Instants(self.micros[rows], self.zone_seconds[rows], self.fold[rows], self.problems[rows])


def instants(local: Numbers, zone: ZoneInfo | None, word: str = "", words: ZoneWords = NO_WORDS) -> Instants:
    """Local times, in microseconds since 1970-01-01T00:00 on the clock, as instants.

    `zone` None reads them as UTC.  A `word` behind them all names their zone, by what the user says of
    `words`.
    """
    if zone is None and not word:
        zeros = np.zeros(len(local), np.int64)
        return Instants(local, zeros, zeros, no_problems(len(local)))
    minutes, place = np.unique(local // _MINUTE, return_inverse=True)
    texts = [f"{_EPOCH + timedelta(minutes=int(minute))} {word}" for minute in minutes]
    found = [read_time(text, zone, words) for text in texts]
    known = [time for time in found if time is not None]
    assert len(known) == len(found), "a minute of the calendar always parses"
    starts, zones, folds = (
        np.array([getattr(time, name) for time in known], np.int64)
        for name in ("micros", "zone_seconds", "fold")
    )
    problems = np.array([time.problem or "" for time in known], object)
    return Instants(starts[place] + local % _MINUTE, zones[place], folds[place], problems[place])


def instants_of_shaped(times: ShapedTimes, zone: ZoneInfo | None) -> Instants:
    """Times as instants: by the offset that is written, the others in a zone, UTC where it is None."""
    count = len(times.read)
    found = Instants(times.micros, times.zone_seconds, np.zeros(count, np.int64), no_problems(count))
    rows = np.flatnonzero(~times.zoned)
    if zone is not None and len(rows):
        own = instants(times.local[rows], zone)
        for name in ("micros", "zone_seconds", "fold", "problems"):
            getattr(found, name)[rows] = getattr(own, name)
    return found


def no_problems(count: int) -> Causes:
    """As `Instants.problems` of times that have none."""
    return np.full(count, "", object)


def whole_units(precision: Numbers) -> pa.Array:
    """As GRAIN of io/contract/reader.py: the unit of times without a fraction, 0 for those that have one."""
    return pa.array(np.where(precision >= _SECOND, precision, 0))

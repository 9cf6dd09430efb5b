"""A column of local times as instants, in the zone of the clock that wrote them.

Offsets are looked up once for every minute that occurs: zones change theirs between minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from cepctl.arrays import Flags, Numbers
from cepctl.io.contract.times import parse_time

_MINUTE = 60_000_000
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
    spread
        Microseconds to the later instant where a time happened twice, else 0.
    in_gap
        Where the clocks skipped the time.
    """

    micros: Numbers
    zone_seconds: Numbers
    spread: Numbers
    in_gap: Flags


def instants(local: Numbers, zone: ZoneInfo | None) -> Instants:
    """Local times, in microseconds since 1970-01-01T00:00 on the clock, as instants.

    `zone` None reads them as UTC.
    """
    if zone is None:
        zeros = np.zeros(len(local), np.int64)
        return Instants(local, zeros, zeros, zeros.astype(np.bool_))
    minutes, place = np.unique(local // _MINUTE, return_inverse=True)
    found = [parse_time(str(_EPOCH + timedelta(minutes=int(minute))), zone) for minute in minutes]
    known = [time for time in found if time is not None]
    assert len(known) == len(found), "a minute of the calendar always parses"
    starts, zones, spreads = (
        np.array([getattr(time, name) for time in known], np.int64)
        for name in ("micros", "zone_seconds", "spread")
    )
    in_gap = np.array([time.in_gap for time in known], np.bool_)
    return Instants(starts[place] + local % _MINUTE, zones[place], spreads[place], in_gap[place])

"""Clocks whose errors were recorded: whose residual an event shares, and how far its own part moves.

own part    moves by minus the estimate at the reading, to the nearest tick
offset      minus the residual, which is the same for all readings of a segment, or of an epoch; wider by
            half a tick either way, unless the estimates are whole ticks and constant
mass        uniform between the bounds; with an sd 0.99 of a normal distribution around 0, cut at the
            bounds, and 0.01 of the uniform one, since no measurement of noise excludes the rest
tie         how far the offset of a segment can be from that of the one before it, its `jump`: a tick more
            where either may be rounded
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa

from cepctl.clocks.shared import Offset, checked_offset, offset_text, parse_offset
from cepctl.clocks.ties import Clocks, ClockTie, tied
from cepctl.errors import UncertaintyModelError
from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.schema import TimeUnit
from cepctl.uncertainty.clock_records import NO_PIECE, ClockRecords
from cepctl.uncertainty.shapes import normal_mass

NORMAL_SHARE = 0.99
INNER_BUCKETS = 62
MOST_SINGLE = 64
"""Of so many ticks each is a bucket."""
_INNER_SDS = 4
RECORDED_NAME = r"(?s)^[^=]+=(.*)([@#])([0-9]+)$"
"""How recorded clocks are named: host, `@` of an epoch or `#` of a segment, and its number."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """What pieces of records share: one residual each, g of them; columns of shape (g,), nanoseconds.

    `of_piece`, shape (m,), is that of each piece, and `first` the first piece of each.
    """

    of_piece: Indexes
    first: Indexes
    low: Ticks
    high: Ticks
    sd: Reals


@dataclass(frozen=True, eq=False)
class RecordedOffset:
    """The offset of each clock as records have it: one residual per segment, or per epoch.

    `uniform`: whether the residual is uniform between its bounds, whatever its sd.
    """

    records: ClockRecords
    by_epoch: bool = False
    uniform: bool = False
    _texts: dict[tuple[int, TimeUnit], str] = field(default_factory=dict)

    @cached_property
    def residuals(self) -> Residuals:
        """The residuals of all pieces."""
        own = self.records
        number = self._number
        begins = np.append(True, (own.host[1:] != own.host[:-1]) | (number[1:] != number[:-1]))
        first = np.flatnonzero(begins)
        lengths = (own.end - own.begin).astype(np.float64)
        square = np.add.reduceat(lengths * own.sd**2, first) / np.add.reduceat(lengths, first)
        return Residuals(
            np.cumsum(begins) - 1,
            first,
            np.minimum.reduceat(own.low, first),
            np.maximum.reduceat(own.high, first),
            np.sqrt(square),
        )

    @property
    def lengths(self) -> Sequence[Fraction]:
        """None: any tick holds what is rounded outwards to it."""
        return ()

    @property
    def _number(self) -> Indexes:
        return self.records.epoch if self.by_epoch else self.records.segment

    def moves(self, pieces: Indexes, readings: Ticks, unit: TimeUnit) -> Ticks:
        """By how many ticks own parts move, 0 where there is no piece; `readings` in nanoseconds."""
        ahead = self.records.estimates(pieces, readings, unit.nanoseconds, halves=1)
        return np.where(pieces == NO_PIECE, 0, -ahead)

    def tied_clocks(self, by: str, unit: TimeUnit) -> Clocks:
        """All clocks whose segments are tied, with their ties; none by epoch.

        Raises
        ------
        UncertaintyModelError
            If an offset is longer than there are ticks.
        """
        own, first = self.records, self.residuals.first
        jump = own.jump[first]
        after = np.flatnonzero(jump >= 0) if not self.by_epoch else first[:0]
        names = {group: self._name(group, by) for each in after.tolist() for group in (each - 1, each)}
        offsets = {name: parse_offset(self._text(group, unit)) for group, name in names.items()}
        whole = {group: self.is_whole(group, unit) for group in names}
        ties = [
            ClockTie(
                names[each - 1],
                names[each],
                -(-int(jump[each]) // unit.nanoseconds) + (not (whole[each - 1] and whole[each])),
            )
            for each in after.tolist()
        ]
        return tied({name: offset for name, offset in offsets.items() if offset is not None}, ties)

    def names(self, by: str, pieces: Indexes) -> pa.Array:
        """The clock of each event: `node=n7#3` for a segment, `node=n7@2` for an epoch; else null."""
        return self._texts_of_pieces(pieces, lambda group: self._name(group, by)).dictionary_decode()

    def _name(self, group: int, by: str) -> str:
        own, piece = self.records, int(self.residuals.first[group])
        return f"{by}={own.hosts[own.host[piece]]}{'@' if self.by_epoch else '#'}{self._number[piece]}"

    def texts(self, pieces: Indexes, unit: TimeUnit) -> pa.DictionaryArray:
        """The offset of each event's clock as text (OFFSET_TEXTS).

        Raises
        ------
        UncertaintyModelError
            If it is longer than there are ticks.
        """

        def text(group: int) -> str:
            if (group, unit) not in self._texts:
                self._texts[group, unit] = self._text(group, unit)
            return self._texts[group, unit]

        return self._texts_of_pieces(pieces, text)

    def _text(self, group: int, unit: TimeUnit) -> str:
        own, residuals = self.records, self.residuals
        whole = self.is_whole(group, unit)
        sd = float(residuals.sd[group])
        sd = math.nan if self.uniform else sd
        low, high = int(residuals.low[group]), int(residuals.high[group])
        text = _text_of(low, high, sd, whole, unit)
        if text is None:
            host = own.hosts[own.host[residuals.first[group]]]
            raise UncertaintyModelError(
                f"clock: the bounds of '{host}' in {own.file} are longer than there are ticks of {unit}; "
                "choose a coarser time_unit"
            )
        return text

    def is_whole(self, group: int, unit: TimeUnit) -> bool:
        """Whether a residual is beside estimates that are constant and whole ticks."""
        own, first = self.records, self.residuals.first
        beyond = len(own.host) if group + 1 == len(first) else first[group + 1]
        ahead, ahead_to = own.ahead[first[group] : beyond], own.ahead_to[first[group] : beyond]
        return bool(((ahead == ahead_to) & (ahead % unit.nanoseconds == 0)).all())

    def _texts_of_pieces(self, pieces: Indexes, tell: Callable[[int], str]) -> pa.DictionaryArray:
        """What is known of the residual of each piece, once for each; null without a piece."""
        residuals = self.residuals
        none = len(residuals.first)
        group = np.where(pieces == NO_PIECE, none, residuals.of_piece[pieces])
        used = np.flatnonzero(np.bincount(group, minlength=none + 1))
        place = np.zeros(none + 1, dtype=np.int32)
        place[used] = np.arange(len(used))
        texts = [tell(each) for each in used.tolist() if each != none]
        numbers = pa.array(place[group], mask=group == none)
        return pa.DictionaryArray.from_arrays(numbers, pa.array(texts, pa.string()))


@lru_cache(maxsize=1 << 16)
def _text_of(low: int, high: int, sd: float, whole: bool, unit: TimeUnit) -> str | None:
    offset = residual_offset(low, high, sd, whole=whole, unit=unit)
    return None if offset is None else offset_text(offset)


def residual_offset(low: int, high: int, sd: float, *, whole: bool, unit: TimeUnit) -> Offset | None:
    """The offset of a clock whose residual lies in [low, high], nanoseconds; None beyond all ticks.

    `sd` is NaN for a uniform one.  `whole`: whether the estimates are constant and whole ticks.

    Examples
    --------
    >>> residual_offset(-2_000, 1_000, math.nan, whole=True, unit=TimeUnit(1))
    ((-1, 2, 1.0),)
    >>> residual_offset(-2_000, 1_000, math.nan, whole=False, unit=TimeUnit(1))
    ((-2, 3, 1.0),)
    """
    tick, half = unit.nanoseconds, 0 if whole else 1
    first = -((2 * high + half * tick + 2 * tick - 1) // (2 * tick))
    last = (-2 * low + half * tick + 2 * tick - 1) // (2 * tick)
    if math.isnan(sd) or first == last:
        return checked_offset([(first, last, 1.0)])
    buckets = _buckets(first, last, math.ceil(_INNER_SDS * sd / tick))
    masses = [normal_mass((lo - 0.5) * tick / sd, (hi + 0.5) * tick / sd) for lo, hi in buckets]
    total, ticks = math.fsum(masses), last - first + 1
    return checked_offset(
        (lo, hi, NORMAL_SHARE * mass / total + (1 - NORMAL_SHARE) * (hi - lo + 1) / ticks)
        for (lo, hi), mass in zip(buckets, masses, strict=True)
    )


def _buckets(first: int, last: int, reach: int) -> list[tuple[int, int]]:
    """Single ticks where they are few; else those within the reach, and what lies on either side."""
    if last - first < MOST_SINGLE:
        return [(tick, tick) for tick in range(first, last + 1)]
    low, high = max(first, -reach), min(last, reach)
    ticks = high - low + 1
    count = min(INNER_BUCKETS, ticks)
    edges = [low + number * ticks // count for number in range(count + 1)]
    inner = [(lo, after - 1) for lo, after in itertools.pairwise(edges)]
    outer = [(first, low - 1)] * (first < low), [(high + 1, last)] * (high < last)
    return [*outer[0], *inner, *outer[1]]

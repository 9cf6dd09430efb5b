"""True times of events, the keys that they belong to, and the part of the keys that is asked about."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.numbering import numbers_of
from cepctl.errors import UncertaintyModelError, UsageError
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.schema import TimeUnit

NO_KEY = -1


@dataclass(frozen=True)
class PartOfKeys:
    """The keys whose place, in code-point order from 0 on, is `remainder` modulo `parts`."""

    remainder: int
    parts: int

    @classmethod
    def read(cls, text: str) -> PartOfKeys:
        """From `I/K`; raises UsageError unless I is less than K.

        Examples
        --------
        >>> PartOfKeys.read("1/2")
        PartOfKeys(remainder=1, parts=2)
        """
        found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text)
        if found is None or not int(found[1]) < int(found[2]):
            raise UsageError(
                f"--part {text} is not a part; write I/K with I from 0 to K - 1, such as 0/2 and 1/2"
            )
        return cls(int(found[1]), int(found[2]))


@dataclass(frozen=True)
class TrueEvents:
    """n events with what is known to be true of them.

    `table`: the fixed columns (cepctl.schema), then attributes.  `tick`: true ticks, shape (n,).  `key`:
    the number of each event's key in code-point order, NO_KEY where it has none, shape (n,); `keys`: their
    texts.
    """

    table: pa.Table
    tick: Ticks
    key: Indexes
    keys: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.tick)

    def part(self, part: PartOfKeys) -> TrueEvents:
        """The events of a part of the keys."""
        return self.taken((self.key != NO_KEY) & (self.key % part.parts == part.remainder))

    def with_keys(self) -> TrueEvents:
        """The events that have a key."""
        return self.taken(self.key != NO_KEY)

    def taken(self, kept: Flags) -> TrueEvents:
        """Some of the events."""
        return TrueEvents(self.table.filter(pa.array(kept)), self.tick[kept], self.key[kept], self.keys)


def true_events(table: pa.Table, by: str | None, unit: TimeUnit) -> TrueEvents:
    """The truth of an event table; `by` names the attribute of keys, None for no keys.

    Raises
    ------
    UncertaintyModelError
        If the true tick of some event is not known.
    """
    tick = true_ticks(table, unit)
    key, keys = np.full(len(table), NO_KEY), tuple[str, ...]()
    if by is not None:
        key, keys = numbered_texts(texts_of(table, by))
    return TrueEvents(table, tick, key, keys)


def true_ticks(table: pa.Table, unit: TimeUnit) -> Ticks:
    """The tick of the logged time of each event, else that of an interval of one tick; shape (n,)."""
    lower, upper = (table.column(name).to_numpy() for name in ("lower", "upper"))
    time = table.column("time")
    known = pc.is_valid(time).to_numpy(zero_copy_only=False)
    unknown = int((~known & (lower != upper)).sum())
    if unknown:
        raise UncertaintyModelError(
            f"{unknown:,} of {len(table):,} events have no true time: no `time`, and an interval of more "
            "than one tick; give them times, or leave them out"
        )
    counts = pc.fill_null(time.cast(pa.int64()), 0).to_numpy()
    tick = np.where(known, counts // unit.counts, lower)
    far = int((np.abs(tick.astype(np.float64)) * unit.counts >= 2.0**62).sum())
    if far:
        raise UncertaintyModelError(
            f"{far:,} of {len(table):,} events lie too far from 1970 for a blur; count them in a coarser unit"
        )
    return np.asarray(tick, dtype=np.int64)


def texts_of(table: pa.Table, attribute: str) -> pa.ChunkedArray:
    """The values of a column as text."""
    values = table.column(attribute)
    return values if pa.types.is_string(values.type) else values.cast(pa.string())


def steps_of(table: pa.Table, attributes: tuple[str, ...]) -> pa.ChunkedArray:
    """The step of each event: the texts of some attributes joined by `+`, null as empty text."""
    texts = [pc.fill_null(texts_of(table, name), "") for name in attributes]
    return texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, "+")


def numbered_texts(texts: pa.ChunkedArray) -> tuple[Indexes, tuple[str, ...]]:
    """The number of each text in code-point order, -1 for null; and the texts that occur, in this order.

    Examples
    --------
    >>> numbers, texts = numbered_texts(pa.chunked_array([["b", None, "a", "b"]]))
    >>> numbers.tolist(), texts
    ([1, -1, 0, 1], ('a', 'b'))
    """
    series = pl.Series(texts)
    return numbers_of(series), tuple(series.drop_nulls().unique().sort().to_list())

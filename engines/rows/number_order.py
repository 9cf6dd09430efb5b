"""The one order of rows, told by numbers: confidence, start, and ranks of the ids in the text of each.

The text of a match is made of ids and what ends each of them: a blank, `+`, or the end of the text.  None of
these occurs in an encoded id, so two texts compare as the first pair in which they differ, and pairs by rank.
Rows are sorted by confidence and start; only those that are equal there are looked at further, id by id.

    _Order.order     the rows, as far as they are in order
    _Order.begins    where a row differs from the one before it in what has been compared
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.engines.columns.bindings import Bindings, Group, events_in, listed
from cepctl.engines.concurrency import in_turn, usable_cores
from cepctl.engines.rows.numbers import FoundBatch, HeldRows, NumberedRows
from cepctl.engines.rows.order import with_text
from cepctl.numeric.arrays import Flags, Hashes, Indexes, Numbers, Reals, Ticks
from cepctl.numeric.precision import CONFIDENCE_DECIMALS

_AT_ONCE = 1 << 20
_START_BITS = 34
"""What of a start is compared together with the confidence, which takes 30 bits."""
_PARTS = 10**CONFIDENCE_DECIMALS
_ENDS = ("", " ", "+")
Key = Callable[[Indexes], Hashes]
"""From rows to what they are compared by."""


def order_of(held: Sequence[NumberedRows]) -> Indexes:
    """The rows of several makers, numbered one maker after the other, in the order of the output."""
    start = _joined([each.matches.start for each in held])
    if not len(start):
        return np.zeros(0, dtype=np.int64)
    first = int(start.min())
    bits = (int(start.max()) - first).bit_length()
    order = _Order.of(_confidence_and_start(held, start, first, max(bits - _START_BITS, 0)))
    if bits > _START_BITS:
        order.refine(lambda rows: start[rows].view(np.uint64) - np.uint64(first % (1 << 64)), 64)
    if not order.is_total:
        for key, width in _keys_of_ids(held):
            order.refine(key, width)
            if order.is_total:
                break
    return order.order


def _confidence_and_start(held: Sequence[NumberedRows], start: Ticks, first: int, cut_bits: int) -> Hashes:
    keys = np.empty(len(start), dtype=np.uint64)
    at = 0
    for each in held:
        for begin in range(0, each.num_rows, _AT_ONCE):
            part = _falling(each.matches.confidence[begin : begin + _AT_ONCE])
            begun = start[at : at + len(part)].view(np.uint64) - np.uint64(first % (1 << 64))
            keys[at : at + len(part)] = part << np.uint64(_START_BITS) | begun >> np.uint64(cut_bits)
            at += len(part)
    return keys


def _ascending(keys: Hashes) -> Indexes:
    """The places of keys in their order; Polars sorts on all cores, and in half the work."""
    order: Indexes = pl.Series(keys).arg_sort().to_numpy().astype(np.int64)
    return order


def _falling(confidence: Reals) -> Hashes:
    """Rounded confidences as numbers of 30 bits, the more probable ones smaller."""
    falling: Hashes = (_PARTS - np.rint(confidence * _PARTS).astype(np.int64)).view(np.uint64)
    return falling


@dataclass
class _Order:
    """Rows in order, as far as they have been compared."""

    order: Indexes
    begins: Flags

    @classmethod
    def of(cls, keys: Hashes) -> _Order:
        order = _ascending(keys)
        keys = keys[order]
        begins = np.ones(len(order), dtype=bool)
        begins[1:] = keys[1:] != keys[:-1]
        return cls(order, begins)

    @property
    def is_total(self) -> bool:
        """Whether no two rows are equal any more."""
        return bool(self.begins.all())

    def refine(self, key: Key, bits: int) -> None:
        """Compare rows that are equal so far by another key of so many bits, on all cores."""
        parts = (partial(self._refine, tied, key, bits) for tied in self._tied())
        for _ in in_turn(parts, usable_cores() if len(self.begins) > _AT_ONCE else 1):
            pass

    def _refine(self, tied: Indexes, key: Key, bits: int) -> None:
        rows = self.order[tied]
        run = np.cumsum(self.begins[tied]).astype(np.uint64)
        keys, width = key(rows), bits
        if int(run[-1]).bit_length() + width > 64:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.uint64)
            width = int(keys.max()).bit_length()
        keys |= run << np.uint64(width)
        at = _ascending(keys)
        self.order[tied] = rows[at]
        keys = keys[at]
        self.begins[tied[1:]] |= keys[1:] != keys[:-1]

    def _tied(self) -> Iterator[Indexes]:
        """The places of rows that are equal to a neighbour, some at a time, equal ones together."""
        begins = self.begins
        first = 0
        while first < len(begins):
            last = min(first + _AT_ONCE, len(begins))
            if last < len(begins):
                until = np.flatnonzero(begins[last:])
                last = last + int(until[0]) if len(until) else len(begins)
            alike = ~begins[first:last]
            alike[:-1] |= ~begins[first + 1 : last]
            if alike.any():
                yield np.flatnonzero(alike) + first
            first = last


def _keys_of_ids(held: Sequence[NumberedRows]) -> Iterator[tuple[Key, int]]:
    """What the text of a match is compared by: keys of some ids each, and their bits."""
    bound = [each.matches.bound for each in held]
    events = _Events.of(held)
    if len({len(each) for each in bound}) > 1 or any(
        isinstance(each, Group) for ids in bound for each in ids
    ):
        yield from _keys_of_groups(bound, events)
        return
    inner, last = events.ranks((" ",))[0], events.ranks(("",))[0]
    width = max(int(inner.max()).bit_length(), int(last.max()).bit_length())
    columns = []
    for at in range(len(bound[0])):
        parts = [_moved(ids[at], base) for ids, base in zip(bound, events.bases, strict=True)]
        columns.append((_joined(parts), last if at == len(bound[0]) - 1 else inner))
    at_once = max(40 // width, 1)
    for at in range(0, len(columns), at_once):
        some = columns[at : at + at_once]
        yield partial(_packed, some, width), width * len(some)


def _moved(event: Any, base: int) -> Indexes:
    """Events of one maker among those of all."""
    found: Indexes = event + base if base else event
    return found


def _joined(parts: Sequence[Indexes]) -> Indexes:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _packed(columns: Sequence[tuple[Indexes, Numbers]], width: int, rows: Indexes) -> Hashes:
    keys = np.zeros(len(rows), dtype=np.uint64)
    for event, rank in columns:
        keys = keys << np.uint64(width) | rank[event[rows]].astype(np.uint64)
    return keys


def _keys_of_groups(bound: Sequence[Sequence[Bindings]], events: _Events) -> Iterator[tuple[Key, int]]:
    """Keys where rows bind groups, or not all as many components: one id after the other."""
    ranks = np.stack(events.ranks(_ENDS))
    sizes, found = [], []
    for ids, base in zip(bound, events.bases, strict=True):
        begins, members = listed(ids)
        end = np.full(len(members), _ENDS.index("+"))
        end[begins[1:] - 1] = _ENDS.index(" ")
        end[begins[len(ids) :: len(ids)] - 1] = _ENDS.index("")
        found.append(ranks[end, members + base])
        sizes.append(np.diff(begins[:: len(ids)]))
    size, rank = np.concatenate(sizes), np.concatenate(found)
    begin = np.cumsum(size) - size
    for at in range(int(size.max())):
        yield partial(_at, size, begin, rank, at), int(ranks.max()).bit_length()


def _at(size: Numbers, begin: Indexes, rank: Numbers, at: int, rows: Indexes) -> Hashes:
    """The ranks that stand at some place of rows; 0 where a row has ended."""
    goes_on = at < size[rows]
    keys = np.zeros(len(rows), dtype=np.uint64)
    keys[goes_on] = rank[begin[rows[goes_on]] + at]
    return keys


@dataclass(frozen=True)
class _Events:
    """The ids of all events that rows bind: those of each maker begin at its base."""

    bases: tuple[int, ...]
    count: int
    used: Indexes
    encoded: pl.Series

    @classmethod
    def of(cls, held: Sequence[NumberedRows]) -> _Events:
        known: dict[int, int] = {}
        count = 0
        ids: list[pa.Array] = []
        bases: list[int] = []
        for each in held:
            names = each.maker.names
            if id(names) not in known:
                known[id(names)] = count
                count += len(names)
                ids.append(each.maker.encoded)
            bases.append(known[id(names)])
        is_used = np.zeros(count, dtype=bool)
        for each, base in zip(held, bases, strict=True):
            for bound in each.matches.bound:
                is_used[events_in(bound) + base] = True
        used = np.flatnonzero(is_used)
        encoded = pl.concat([pl.Series(pl.from_arrow(each)) for each in ids])
        return cls(tuple(bases), count, used, encoded.gather(used))

    def ranks(self, ends: Sequence[str]) -> list[Numbers]:
        """For each end the ranks of ids before it, among those before any of these ends; from 1, by event."""
        texts = pl.concat([self.encoded + end if end else self.encoded for end in ends])
        rank = texts.rank("dense").to_numpy().astype(np.int64)
        found = []
        for part in np.split(rank, len(ends)):
            found.append(np.zeros(self.count, dtype=np.int64))
            found[-1][self.used] = part
        return found


ROWS_OF_PIECE = 1 << 16
_MOST_TEXT = 1 << 30
"""Bytes of ids that a piece may have: a column of strings holds twice as many."""
Piece: TypeAlias = Callable[[], pa.Table]
"""Makes some rows; may be called in any thread, and more than once."""


class HeldNumbers:
    """Rows as they are found, and then in order."""

    def __init__(self) -> None:
        self._held: dict[int, HeldRows] = {}
        self._names: dict[int, pa.Array] = {}
        self._order: OrderedNumbers | None = None

    def __bool__(self) -> bool:
        return bool(self._held)

    def add(self, rows: NumberedRows) -> int:
        """Take rows in; returns the bytes that are held for them, with ids that were not held before."""
        self._order = None
        names = rows.maker.names
        if id(rows.maker) not in self._held:
            self._held[id(rows.maker)] = HeldRows(rows.maker)
        self._held[id(rows.maker)].add(rows)
        # Those of a run alone are held anyway.
        more = names.nbytes if self._names and id(names) not in self._names else 0
        self._names[id(names)] = names
        return rows.nbytes + more

    @property
    def in_order(self) -> OrderedNumbers:
        """All rows in their order."""
        if self._order is None:
            self._order = OrderedNumbers.of([each.whole() for each in self._held.values()])
        return self._order


@dataclass(frozen=True)
class OrderedNumbers:
    """The rows of several makers, and in which order they come."""

    held: tuple[NumberedRows, ...]
    order: Indexes

    @classmethod
    def of(cls, held: Sequence[NumberedRows]) -> OrderedNumbers:
        """Put rows in order."""
        return cls(tuple(held), order_of(held))

    def pieces(self, limit: int | None = None, *, nested: bool = True) -> Iterator[Piece]:
        """The rows, some at a time, at most `limit`; `nested`: with their signatures as nested lists."""
        size = self._rows_of_piece()
        rows = len(self.order) if limit is None else min(limit, len(self.order))
        for first in range(0, max(rows, 1), size):
            yield partial(self.made, first, min(first + size, rows), nested=nested)

    def made(self, first: int, last: int, *, nested: bool = True) -> pa.Table:
        """The rows from one place to another, the latter not included."""
        rows, begin, tables, places = self.order[first:last], 0, [], []
        for each in self.held:
            end = begin + each.num_rows
            if len(self.held) == 1:
                return each.take(rows).table(nested=nested)
            own = np.flatnonzero((rows >= begin) & (rows < end))
            tables.append(each.take(rows[own] - begin).table(nested=nested))
            places.append(own)
            begin = end
        at = np.empty(len(rows), dtype=np.int64)
        at[np.concatenate(places)] = np.arange(len(rows))
        return pa.concat_tables(tables).combine_chunks().take(pa.array(at))

    def _rows_of_piece(self) -> int:
        """Fewer where ids are so long that a piece could exceed what a column holds."""
        size = ROWS_OF_PIECE
        longest = max(each.longest_text for each in self.held) if self.held else 0
        while size > 1 and size * longest > _MOST_TEXT:
            size //= 2
        return size


def found_pieces(rows: FoundBatch, *, nested: bool = True) -> Iterator[Piece]:
    """Rows as they are found, as pieces in no particular order; `nested` as above."""
    if not isinstance(rows, NumberedRows):
        yield partial(with_text, rows)
        return
    held = OrderedNumbers((rows,), np.arange(rows.num_rows))
    yield from held.pieces(nested=nested)


def pieces_of(blocks: Iterable[pa.Table], limit: int | None) -> Iterator[Piece]:
    """Pieces of rows that are there already, one at least; at most `limit` rows."""
    left = limit
    for block in blocks:
        size = ROWS_OF_PIECE if left is None else max(min(ROWS_OF_PIECE, left), 1)
        rows = block.num_rows if left is None else min(left, block.num_rows)
        for first in range(0, max(rows, 1), size):
            yield partial(block.slice, first, min(size, rows - first))
        if left is not None:
            left -= rows
            if left <= 0:
                return

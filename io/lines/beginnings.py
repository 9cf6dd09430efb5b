"""The lines of a block that begin a record, by the layout of the log: times, and what stands around them.

The heading of the log is looked for in all lines at once; those that it does not fit, but that have the time
in its place, are split at the time alone, and have none of the attributes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.lines.few_lines import bytes_of, groups_of, matched_bytes
from cepctl.io.lines.local_times import NO_TIMES, WrittenTexts, written_times
from cepctl.io.lines.recognition import LineBeginning, LineLayout
from cepctl.io.source.quoted_lines import QuotedLines
from cepctl.numeric.arrays import Flags, Numbers

PREFIX = "prefix"
"""The attribute for what stands before the time of a line."""
_ZEROS = bytes.maketrans(b"0123456789", b"0" * 10)


@dataclass(frozen=True)
class Beginnings:
    """Records of a block, in order.

    Attributes
    ----------
    line
        Index of the line in the block.
    message
        Byte of the block at which the message begins.
    times
        The times.
    attributes
        What the heading says, as text, null where it says nothing.
    """

    line: Numbers
    message: Numbers
    times: WrittenTexts
    attributes: dict[str, pa.Array]

    def first(self, count: int) -> Beginnings:
        """The first `count` of them."""
        attributes = {name: values[:count] for name, values in self.attributes.items()}
        return Beginnings(self.line[:count], self.message[:count], self.times.first(count), attributes)


@dataclass(frozen=True)
class BeginningLinesOf:
    """Finds the lines that begin records of one log; as `LogRecords` wants it."""

    layout: LineLayout

    def __call__(self, block: bytes, starts: Numbers, ends: Numbers) -> Numbers:
        lines = _lines(block, starts, ends)
        found = _flags(pc.match_substring_regex(lines, self.layout.with_heading.whole))
        missed = np.flatnonzero(~found)
        if len(missed):
            timed = pc.match_substring_regex(lines.take(pa.array(missed)), self.layout.with_time.whole)
            found = found.copy()
            found[missed] = _flags(timed)
        return np.flatnonzero(found)


@dataclass(frozen=True)
class BeginningsOf:
    """Finds the beginnings of records of one log; as `read_records` wants it.

    Where only `messages` are wanted, times and attributes are left out.
    """

    layout: LineLayout
    messages: bool = False

    def __call__(self, block: bytes, starts: Numbers, ends: Numbers) -> Beginnings:
        lines = _lines(block, starts, ends)
        length = matched_bytes(lines, self.layout.with_heading.whole)
        missed = np.flatnonzero(length == 0)
        if len(missed):
            length[missed] = matched_bytes(lines.take(pa.array(missed)), self.layout.with_time.whole)
        if self.layout.quoted:
            length[_inside_values(block, lines, starts, self.layout.stamp.bare)] = 0
        rows = np.flatnonzero(length)
        message = starts[rows] + (0 if self.layout.whole else length[rows])
        if self.messages:
            return Beginnings(rows, message, NO_TIMES, {})
        fits = np.ones(len(starts), np.bool_)
        fits[missed] = False
        return self._of(_BlockLines(block, lines, starts), rows, length[rows], fits[rows], message)

    def _of(
        self, lines: _BlockLines, rows: Numbers, length: Numbers, fits: Flags, message: Numbers
    ) -> Beginnings:
        """Beginnings of some rows of so many bytes, with the heading where they fit it."""
        heading = self.layout.heading
        before, time = lines.parted(rows, length, self.layout.with_heading)
        if not fits.all():
            others = np.flatnonzero(~fits)
            before[others], time[others] = lines.parted(rows[others], length[others], self.layout.with_time)
        begin = lines.starts[rows] + before
        known = None if fits.all() else pa.array(fits)
        attributes: dict[str, pa.Array] = {}
        if known is not None and not self.layout.whole:
            attributes = _prefixes(lines.texts(lines.starts[rows], begin), fits)
        for start, stop, expression in (
            (lines.starts[rows], begin, heading.before),
            (begin + time, lines.starts[rows] + length, heading.behind),
        ):
            if "(?P<" in expression:
                attributes |= _groups(lines.texts(start, stop), expression, known)
        return Beginnings(
            rows, message, written_times(lines.block, begin, time, self.layout.stamp), attributes
        )


@dataclass(frozen=True)
class _BlockLines:
    """The lines of a block: as strings, and where each starts."""

    block: bytes
    strings: pa.Array
    starts: Numbers

    def parted(self, rows: Numbers, length: Numbers, beginning: LineBeginning) -> tuple[Numbers, Numbers]:
        """How many bytes stand before the time in beginnings of so many bytes, and how many the time has.

        Beginnings that differ in digits alone have their times in one place, so one of them is looked at.
        """
        if not len(rows):
            return length.copy(), length.copy()
        start = self.starts[rows]
        codes = _without_digits(self.texts(start, start + length)).dictionary_encode().indices.to_numpy()
        first = np.zeros(int(codes.max()) + 1, np.int64)
        first[codes[::-1]] = np.arange(len(codes))[::-1]
        parts = groups_of(self.strings.take(pa.array(rows[first])), beginning.parted)
        return bytes_of(parts["_before"])[codes], bytes_of(parts["_time"])[codes]

    def texts(self, start: Numbers, stop: Numbers) -> pa.Array:
        """The text between bytes of the block, which follow each other."""
        bounds = np.column_stack([start, stop]).ravel()
        every = _strings(self.block, bounds)
        return every.take(pa.array(np.arange(0, len(bounds), 2)))


def _prefixes(texts: pa.Array, fits: Flags) -> dict[str, pa.Array]:
    """What stands before the times of lines that the heading does not fit, where that is any text."""
    bare = pc.utf8_trim(texts, " \t[(<{|\"'")
    bare = pc.if_else(pc.or_(pa.array(fits), pc.equal(bare, "")), pa.scalar(None, pa.string()), bare)
    return {} if bare.null_count == len(bare) else {PREFIX: bare}


def _inside_values(block: bytes, lines: pa.Array, starts: Numbers, time: str) -> Numbers:
    """The lines that stand inside of a value in quotes, where the block begins with a row.

    Where all lines between two quotes are rows, or a quarter of them where the quote is never closed, damage
    has opened it, and they are lines of their own.
    """
    quotes = QuotedLines(ord(","))
    ends = [quotes.add(block), quotes.finish()]
    place, inside = (np.concatenate([getattr(each, name) for each in ends]) for name in ("place", "inside"))
    begun = np.searchsorted(starts, place[inside] + 1)
    within = np.zeros(len(starts) + 1, np.bool_)
    within[begun] = True
    edges = np.flatnonzero(np.diff(np.concatenate([[False], within[:-1], [False]]).astype(np.int8)))
    first, stop = edges[::2], edges[1::2]
    if not len(first):
        return first
    are_rows = _flags(pc.match_substring_regex(lines, f'^"?{time}"?,'))
    rows = np.append(0, np.cumsum(are_rows))
    count, needed = rows[stop] - rows[first], stop - first
    open_still = (stop == len(starts)) & quotes.inside
    damaged = np.where(open_still, 4, 1) * count >= needed
    hidden = within[:-1] & ~np.repeat(damaged, needed)[np.cumsum(within[:-1]) - 1]
    return np.flatnonzero(hidden)


def _without_digits(texts: pa.Array) -> pa.Array:
    """Texts that share no bytes, with `0` for each digit."""
    _, offsets, data = texts.buffers()
    masked = data.to_pybytes().translate(_ZEROS)
    return pa.Array.from_buffers(pa.string(), len(texts), [None, offsets, pa.py_buffer(masked)])


def _groups(texts: pa.Array, expression: str, known: pa.Array | None) -> dict[str, pa.Array]:
    """The named groups of an expression in texts that it fits, where they are `known`; null for empty ones.

    What stands around times repeats from line to line, so each text is looked at once.
    """
    once = texts.dictionary_encode()
    none = pa.scalar(None, pa.string())
    groups = {}
    for name, found in groups_of(once.dictionary, expression, whole=True).items():
        values = pc.if_else(pc.not_equal(found, ""), found, none).take(once.indices)
        groups[name] = values if known is None else pc.if_else(known, values, none)
    return groups


def _lines(block: bytes, starts: Numbers, ends: Numbers) -> pa.Array:
    """The lines as strings, which share the bytes of the block; each with its newline, but for the last."""
    if not len(starts):
        return pa.nulls(0, pa.string())
    return _strings(block, np.append(starts, ends[-1]))


def _strings(block: bytes, bounds: Numbers) -> pa.Array:
    buffers = [None, pa.py_buffer(bounds.astype(np.int32)), pa.py_buffer(block)]
    return pa.Array.from_buffers(pa.string(), max(len(bounds) - 1, 0), buffers)


def _flags(column: pa.Array) -> Flags:
    found: Flags = column.to_numpy(zero_copy_only=False).astype(np.bool_)
    return found

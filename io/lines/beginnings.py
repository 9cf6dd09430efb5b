"""The lines of a block that begin a record, by the layout of the log: times, and what stands around them.

All lines are split by the heading of the log at once; those that it does not fit, but that have the time in
its place, are split at the time alone, and have none of the attributes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Flags, Numbers
from cepctl.io.lines.local_times import NO_TIMES, Written, written_times
from cepctl.io.lines.recognition import LineLayout

_SHAPES_AT_ONCE = ("_before", "_time", "_behind")


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
    times: Written
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
        found = pc.or_(
            pc.match_substring_regex(lines, self.layout.headed_regex),
            pc.match_substring_regex(lines, self.layout.timed_regex),
        )
        return np.flatnonzero(_flags(found))


@dataclass(frozen=True)
class BeginningsOf:
    """Finds the beginnings of records of one log; as `read_records` wants it.

    Where only `messages` are wanted, times and attributes are left out.
    """

    layout: LineLayout
    messages: bool = False

    def __call__(self, block: bytes, starts: Numbers, ends: Numbers) -> Beginnings:
        lines = _lines(block, starts, ends)
        headed = pc.extract_regex(lines, self.layout.headed_regex)
        fits = _flags(headed.is_valid())
        if fits.all():
            rows = np.arange(len(starts))
            return self._of(
                block, starts, rows, [headed.field(name) for name in _SHAPES_AT_ONCE], headed, None
            )
        missed = np.flatnonzero(~fits)
        timed = pc.extract_regex(lines.take(pa.array(missed)), self.layout.timed_regex)
        has_time = _flags(timed.is_valid())
        rows = np.sort(np.concatenate([np.flatnonzero(fits), missed[has_time]]))
        # Both answers one below the other, then each row from the one that fits it.
        place = np.arange(len(starts))
        place[missed] = len(starts) + np.arange(len(missed))
        take = pa.array(place[rows])
        parts = [
            pa.concat_arrays([headed.field(name), timed.field(name)]).take(take) for name in _SHAPES_AT_ONCE
        ]
        return self._of(block, starts, rows, parts, headed.take(pa.array(rows)), fits[rows])

    def _of(
        self,
        block: bytes,
        starts: Numbers,
        rows: Numbers,
        parts: list[pa.Array],
        headed: pa.StructArray,
        fits: Flags | None,
    ) -> Beginnings:
        before, time, behind = (pc.binary_length(part).to_numpy().astype(np.int64) for part in parts)
        begin = starts[rows] + before
        message = starts[rows] if self.layout.whole else begin + time + behind
        if self.messages:
            return Beginnings(rows, message, NO_TIMES, {})
        heading, known = self.layout.heading, None if fits is None else pa.array(fits)
        attributes = {
            **_groups(headed.field("_before"), heading.before, known),
            **_groups(headed.field("_behind"), heading.behind, known),
        }
        times = written_times(block, begin, time, self.layout.stamp)
        return Beginnings(rows, message, times, attributes)


def _groups(texts: pa.Array, expression: str, known: pa.Array | None) -> dict[str, pa.Array]:
    """The named groups of an expression in texts that it fits, where they are `known`; null for empty ones.

    What stands around times repeats from line to line, so each text is looked at once.
    """
    if "(?P<" not in expression:
        return {}
    once = texts.dictionary_encode()
    found = pc.extract_regex(once.dictionary, f"^{expression}$")
    none = pa.scalar(None, pa.string())
    groups = {}
    for each in found.type:
        values = found.field(each.name)
        values = pc.if_else(pc.not_equal(values, ""), values, none).take(once.indices)
        groups[each.name] = values if known is None else pc.if_else(known, values, none)
    return groups


def _lines(block: bytes, starts: Numbers, ends: Numbers) -> pa.Array:
    """The lines as strings, which share the bytes of the block; each with its newline, but for the last."""
    if not len(starts):
        return pa.nulls(0, pa.string())
    bounds = np.append(starts, ends[-1]).astype(np.int32)
    return pa.Array.from_buffers(pa.string(), len(starts), [None, pa.py_buffer(bounds), pa.py_buffer(block)])


def _flags(column: pa.Array) -> Flags:
    found: Flags = column.to_numpy(zero_copy_only=False).astype(np.bool_)
    return found

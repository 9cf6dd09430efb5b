"""The columns `clock` and `clock_offset` of a plain event file: who stamped an event, how far off that is.

An offset is written `lo:hi:p|lo:hi:p` in ticks, both ends included, in every row that names its clock.  A
part of a dataset has the offsets of its clocks in its metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.shared import Clocks, empty_own_part, offset_text, parse_offset, two_offsets
from cepctl.errors import EventSchemaError
from cepctl.io.contract.clock_offsets import offset_ends
from cepctl.io.tabular.plain_values import simple
from cepctl.numeric.arrays import Flags, Numbers
from cepctl.schema import CLOCK, CLOCK_OFFSET

NOT_AN_OFFSET = "clock_offset is not a list of lo:hi:p, in whole ticks, whose p sum to 1"


@dataclass(frozen=True)
class GivenClocks:
    """The clocks of n rows, null where a row has none; `broken` are the rows whose offset is not one.

    `first` and `last` are the ends of the offsets, 0 without a clock.
    """

    names: pa.Array
    offsets: pa.Array
    first: Numbers
    last: Numbers
    broken: Flags

    def refuse_empty(
        self, what: str, lower: Numbers, upper: Numbers, given: Flags, place: Callable[[int], str]
    ) -> None:
        """Raise EventSchemaError where the interval of `what` is narrower than the offset of its clock."""
        empty = given & ~self.broken & (lower <= upper) & (lower - self.first > upper - self.last)
        for row in np.flatnonzero(empty)[:1].tolist():
            name, offset = self.names[row].as_py(), parse_offset(self.offsets[row].as_py())
            assert offset is not None
            raise EventSchemaError(
                empty_own_part(f"{place(row)}: {what}", int(lower[row]), int(upper[row]), name, offset)
            )


def given_clocks(
    columns: Mapping[str, pa.Array], known: Clocks, count: int, place: Callable[[int], str]
) -> GivenClocks | None:
    """Read both columns of a block of `count` rows; None where the block has no clocks.

    `known` are clocks whose offsets need not be written; `place` says where a row stands.

    Raises
    ------
    EventSchemaError
        If a clock has no offset, or two.
    """
    if CLOCK not in columns and CLOCK_OFFSET not in columns:
        return None
    names, written = (_texts(columns.get(name), count) for name in (CLOCK, CLOCK_OFFSET))
    if names.null_count == count and written.null_count == count:
        return None
    texts = np.array(_resolved(names, written, known, place), dtype=object)
    canonical: dict[str | None, str | None] = {None: None}
    for text in set(texts.tolist()) - {None}:
        offset = parse_offset(text)
        canonical[text] = None if offset is None else offset_text(offset)
    offsets = pa.array([canonical[text] for text in texts], pa.string())
    broken = np.array([text is not None for text in texts], np.bool_) & pc.is_null(offsets).to_numpy(
        zero_copy_only=False
    )
    names = pc.if_else(pa.array(broken), pa.scalar(None, pa.string()), names)
    _refuse_two(names, offsets, place)
    return GivenClocks(names, offsets, *offset_ends(offsets), broken)


def _texts(column: pa.Array | None, count: int) -> pa.Array:
    if column is None:
        return pa.nulls(count, pa.string())
    texts = simple(column).cast(pa.string())
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _resolved(
    names: pa.Array, written: pa.Array, known: Clocks, place: Callable[[int], str]
) -> list[str | None]:
    """The offset of every row's clock as text."""
    found: list[str | None] = []
    in_metadata = {name: offset_text(offset) for name, offset in known.items()}
    for row, (name, text) in enumerate(zip(names.to_pylist(), written.to_pylist(), strict=True)):
        if name is None and text is not None:
            raise EventSchemaError(
                f"{place(row)}: a clock_offset without a clock; name the clock, or leave both empty"
            )
        if name is not None and text is None and name not in in_metadata:
            raise EventSchemaError(
                f"{place(row)}: clock '{name}' has no offset; write it in the column clock_offset as "
                "lo:hi:p|lo:hi:p, or keep the column as an attribute: --map OTHER_NAME=clock"
            )
        found.append(text if name is None or text is not None else in_metadata[name])
    return found


def _refuse_two(names: pa.Array, offsets: pa.Array, place: Callable[[int], str]) -> None:
    first: dict[str, str] = {}
    for row, (name, text) in enumerate(zip(names.to_pylist(), offsets.to_pylist(), strict=True)):
        if name is not None and first.setdefault(name, text) != text:
            one, other = parse_offset(first[name]), parse_offset(text)
            assert one is not None and other is not None
            raise EventSchemaError(f"{place(row)}: {two_offsets(name, one, other)}")

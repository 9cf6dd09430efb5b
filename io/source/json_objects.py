"""Lines that are JSON objects, and values of them as attributes."""

from __future__ import annotations

import gc
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.unicode_text import NotUnicodeError, is_unicode
from cepctl.io.source.line_blocks import BLANKS, Lines, is_text
from cepctl.numeric.arrays import Numbers


def json_object(line: bytes | str) -> dict[str, Any] | None:
    """The object that a line is; None for any other line, however deeply it is nested.

    Raises
    ------
    NotUnicodeError
        If some text in it is not Unicode.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if may_hold_half_pairs(line) and not is_unicode(value):
        raise NotUnicodeError
    return value if isinstance(value, dict) else None


def json_objects(lines: Lines) -> list[dict[str, Any] | None]:
    """The objects that lines are; None for one of which `json_object` has to be asked."""
    block = lines.block()
    text = block.decode() if is_text(block) else ""
    if not text or may_hold_half_pairs(text):
        return [None] * len(lines)
    # Nothing of what is made here is garbage yet: to look for some takes a third of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        return [*map(_object, text.removesuffix("\n").split("\n"))]
    finally:
        if collects:
            gc.enable()


def _object(line: str) -> dict[str, Any] | None:
    try:
        value, end = _SCAN(line, 0)
    except (StopIteration, ValueError, RecursionError):
        return None
    whole = end == len(line) or not line[end:].strip(_BLANKS)
    return value if whole and type(value) is dict else None


_SCAN: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_BLANKS = " \t\r"


def text_fields(lines: Lines, names: Sequence[str]) -> dict[str, pa.Array] | None:
    """Fields of the objects that lines are, where all of them are objects, and these fields text or null."""
    return _fields(lines, {name: pa.string() for name in names}, "ignore")


def all_fields(lines: Lines, types: Mapping[str, pa.DataType]) -> dict[str, pa.Array] | None:
    """All fields of the objects that lines are, where all are objects with fields of these types, or null."""
    return _fields(lines, types, "error")


@dataclass
class TextObjects:
    """The objects of a file all of whose values are text, in blocks; with no more than `most` fields.

    What fields they have, and whether there are others among them, is mostly as in the blocks before.
    """

    most: int
    _names: set[str] = field(default_factory=set)
    _are_all: bool = True

    def of(self, lines: Lines) -> tuple[Numbers, dict[str, pa.Array]] | None:
        """The rows of lines that are such objects, and their fields; None where each has to be asked."""
        fields = self._fields_of(lines) if self._are_all else None
        if fields is not None:
            return np.arange(len(lines)), fields
        rows, some = _plainly_of_text(lines)
        self._are_all = len(rows) == len(lines)
        fields = self._fields_of(some) if len(rows) else None
        return None if fields is None else (rows, fields)

    def _fields_of(self, lines: Lines) -> dict[str, pa.Array] | None:
        found = self._known_fields_of(lines) if self._names else None
        if found is None:
            names = {name.decode() for name in set(_NAME.findall(lines.block())) if is_text(name)}
            if names <= self._names or len(names | self._names) > self.most:
                return None
            self._names |= names
            found = self._known_fields_of(lines)
        return found

    def _known_fields_of(self, lines: Lines) -> dict[str, pa.Array] | None:
        found = all_fields(lines, {name: pa.string() for name in sorted(self._names)})
        if found is None:
            return None
        return {name: values for name, values in found.items() if values.null_count < len(values)}


def _plainly_of_text(lines: Lines) -> tuple[Numbers, Lines]:
    """The rows of lines that can be objects of text alone, and these lines, without blanks around them."""
    import polars as pl

    texts = pl.Series(lines.strings()).str.strip_chars(f"{BLANKS.decode()}\n")
    plain = texts.str.starts_with("{") & texts.str.ends_with("}") & ~texts.str.contains(_NOT_PLAIN)
    text = "".join(f"{line}\n" for line in texts.filter(plain)).encode()
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    return np.flatnonzero(plain.to_numpy()), Lines(text, 1, np.append(0, ends[:-1] + 1), ends)


_NAME = re.compile(rb'[{,]\s*"([^"\\]*)"\s*:')
"""In an object a quote behind one of these signs opens a name, or closes a value that no colon follows."""
_NOT_PLAIN = r'":\s*[^"\s]|\\u[dD]|[\x00-\x1f]|[\x{D000}-\x{D7FF}]'
"""Stands in a line with another value than text, and in one that may not be read as text everywhere."""


def _fields(lines: Lines, types: Mapping[str, pa.DataType], others: str) -> dict[str, pa.Array] | None:
    """Columns of objects, which are not made: that takes a small part of the time that they take.

    Where each line begins and ends as an object does, none goes on in the next, and as many objects as lines
    are one a line.
    """
    import pyarrow.json as pj

    block, data = lines.block(), np.frombuffer(lines.text, np.uint8)
    alike = (data[lines.starts] == ord("{")).all() and (data[lines.ends - 1] == ord("}")).all()
    if not alike or not is_text(block) or may_hold_half_pairs(block if block.isascii() else block.decode()):
        return None
    try:
        table = pj.read_json(
            pa.BufferReader(block),
            pj.ReadOptions(use_threads=False, block_size=len(block) + 1),
            pj.ParseOptions(explicit_schema=pa.schema(types.items()), unexpected_field_behavior=others),
        )
    except pa.ArrowException:
        return None
    whole = len(table) == len(lines)
    return {name: table.column(name).combine_chunks() for name in types} if whole else None


def may_hold_half_pairs(line: bytes | str) -> bool:
    """Whether a text of JSON writes halves of surrogate pairs, with or without their other halves."""
    if isinstance(line, str):
        return "\\ud" in line or "\\uD" in line
    return b"\\ud" in line or b"\\uD" in line or b"\xed" in line


def flat_value(value: Any) -> Value:
    """A value as an attribute: nested ones as JSON text."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value

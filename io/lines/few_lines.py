"""Expressions on the lines of small files, by Python, which keeps them; RE2 makes them anew for each call.

To make the expression of a layout takes a millisecond, as long as all else that a file of a few lines costs.
Both find the same in ASCII, but for one blank, which such a block therefore must not have.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.numeric.arrays import Numbers

_FEW = 64
_SHORT = 1 << 14
_MOST_KEPT = 512
_BLANK_OF_PYTHON_ALONE = "\v"


def matched_bytes(lines: pa.Array, expression: str) -> Numbers:
    """How many bytes an expression without groups matches at the beginning of lines; 0 where it does not.

    To cut them off is several times as fast as to ask for a group: the engine then runs as an automaton.

    Examples
    --------
    >>> matched_bytes(pa.array(["12 done", "done", "7"]), r"^[0-9]+").tolist()
    [2, 0, 1]
    """
    few = _few(lines)
    if few is not None:
        found = map(_kept(expression).match, few)
        return np.array([0 if each is None else each.end() for each in found], np.int64)
    return bytes_of(lines) - bytes_of(pc.replace_substring_regex(lines, expression, ""))


def groups_of(texts: pa.Array, expression: str, *, whole: bool = False) -> dict[str, pa.Array]:
    r"""The named groups of an expression that texts begin with, or that each is as a `whole`.

    They are null where it does not match, and a group that is not used is empty.

    Examples
    --------
    >>> groups_of(pa.array(["7 s", "x"]), r"(?P<number>\d+)(?: (?P<unit>\w))?")["unit"].to_pylist()
    ['s', None]
    """
    few = _few(texts)
    if few is None:
        found = pc.extract_regex(texts, f"^(?:{expression})$" if whole else f"^(?:{expression})")
        return {each.name: pc.if_else(found.is_valid(), found.field(each.name), None) for each in found.type}
    compiled = _kept(expression)
    matches = [compiled.fullmatch(text) if whole else compiled.match(text) for text in few]
    return {
        name: pa.array([match and (match[name] or "") for match in matches], pa.string())
        for name in compiled.groupindex
    }


def bytes_of(texts: pa.Array) -> Numbers:
    """How many bytes each text has; 0 for null."""
    found: Numbers = pc.fill_null(pc.binary_length(texts), 0).to_numpy().astype(np.int64)
    return found


def _few(texts: pa.Array) -> list[str] | None:
    """Texts that are few, short and alike for both engines; None where they are not."""
    if len(texts) > _FEW or texts.null_count or not len(texts):
        return None
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    first, stop = int(offsets[0]), int(offsets[-1])
    data = b"" if texts.buffers()[2] is None else bytes(memoryview(texts.buffers()[2])[first:stop])
    if len(data) > _SHORT or not data.isascii() or _BLANK_OF_PYTHON_ALONE in (text := data.decode()):
        return None
    bounds = (offsets - first).tolist()
    return [text[start:end] for start, end in pairwise(bounds)]


@lru_cache(maxsize=_MOST_KEPT)
def _kept(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.ASCII)

"""Lines that damage keeps from beginning a record: their beginnings differ by a character or so from a time.

A line without a time continues the record before it.  One whose beginning is nearly that of the records of
the log, digits and letters alike, was a record of its own, and is told as lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from string import digits

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.lines.stamps import stamps

NEARLY = "a line that nearly begins a record: its time is damaged"
_USUAL_SHARE = 0.2
_SHORTEST = 12
"""Shorter beginnings are too alike to what messages say."""
_MOST_INSERTED = 8
_FEW = 64


def usual_beginnings(before: pa.Array, time: pa.Array) -> tuple[str, ...]:
    """The shapes in which many records of a log begin, by what stands up to the end of their times."""
    shapes = _shapes(pc.binary_join_element_wise(before, time, "")).value_counts()
    enough = _USUAL_SHARE * len(before)
    found = (str(each["values"]) for each in shapes if each["counts"].as_py() >= enough)
    return tuple(shape for shape in found if len(shape) >= _SHORTEST)


def nearly_beginnings(lines: pa.Array, usual: Sequence[str]) -> pa.Array:
    """Which lines nearly begin as records do, bool; none is one that begins so."""
    if not usual:
        return pa.array([False] * len(lines), pa.bool_())
    longest = max(map(len, usual)) + _MOST_INSERTED
    shapes = _shapes(pc.utf8_slice_codeunits(lines, 0, longest)).dictionary_encode()
    near = [any(_differs_little(shape, each) for each in usual) for shape in shapes.dictionary.to_pylist()]
    return pa.array(near, pa.bool_()).take(shapes.indices)


def _shapes(texts: pa.Array) -> pa.Array:
    if len(texts) <= _FEW:
        # To make the expression ready takes longer than to look at so few.
        return pa.array([text and "".join(map(_shape, text)) for text in texts.to_pylist()], pa.string())
    letters = pc.replace_substring_regex(texts, r"\pL", "a")
    return pc.replace_substring_regex(letters, r"\d", "0")


def _shape(character: str) -> str:
    return "a" if character.isalpha() else "0" if character in digits else character


def _differs_little(shape: str, usual: str) -> bool:
    """Whether one character was changed or is missing, up to eight stand where none was, or the end is gone.

    Examples
    --------
    >>> [_differs_little(each, "0000-00-00 00:00") for each in ("0000-0<-00 00:00 aa", "0000-0-00 00:00")]
    [True, True]
    >>> _differs_little("0000-00-00 00:", "0000-00-00 00:00")
    True
    >>> _differs_little("aa 0000-00-00", "0000-00-00 00:00")
    False
    """
    if len(shape) >= _SHORTEST and usual.startswith(shape):
        return True
    pairs = enumerate(zip(shape, usual, strict=False))
    same = next((i for i, (a, b) in pairs if a != b), min(len(shape), len(usual)))
    changes = [(0, 1), *product(range(1, _MOST_INSERTED + 1), (0, 1))]
    return any(shape[same + more :].startswith(usual[same + less :]) for more, less in changes)


def begin_otherwise(lines: pa.Array) -> pa.Array:
    """Whether lines begin with a time of any layout with a date: those that are none of the log's own.

    Examples
    --------
    >>> begin_otherwise(pa.array(["Jun 14 08:15:04 web1 sshd: hello", "at 12 Jun"])).to_pylist()
    [True, False]
    """
    return pc.match_substring_regex(lines, _dated())


@cache
def _dated() -> str:
    """Every layout with a date and a time of day, as one expression."""
    dates = dict.fromkeys(stamp.date_bare for stamp in stamps() if stamp.date)
    years = dict.fromkeys(stamp.date_bare for stamp in stamps() if stamp.date and stamp.has_year)
    clock = r"[-T :_]\d\d?:\d\d"
    return rf"^[^\s\w]{{0,3}}(?:(?:{'|'.join(dates)}){clock}:\d\d|(?:{'|'.join(years)}){clock}\b)"

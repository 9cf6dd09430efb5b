"""The shape of a small text: two texts of one shape are of one format, and their times of one form.

Programs that write thousands of small files write the same words into each, and other numbers.  Which format
a file has hangs on its words, and on whether numbers can be what they would have to be: a month, a minute, a
number of an address.  So times that are some in every reading become one sign for all; numbers that stand
alone, what they might be at most, and behind such a time how long they are; all else is kept as it is.

    2026-06-14 08:15:04,978 INFO [w-7] task 17 took 250 ms, at port 10.0.0.7:80
    time       ,fraction    INFO [w-#] task ## took ### ms, at port 10.0.0.7:80
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache, partial

# Signs that readers mend, or that the engines of expressions take for different things.
UNUSUAL = re.compile(rb"[^\t\n\x20-\x7e]")
# A time that is one of every month, written from the largest part to the smallest.
_TIME = (
    rb"(?<![\d.:/-])(?:19[7-9]|20[0-3])\d([-/])(?:0[1-9]|1[0-2])\1(?:0[1-9]|1\d|2[0-8])([ T])"
    rb"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?![\d:/-])"
)
_FIRST_TIME = re.compile(_TIME)
_CLOCK = re.compile(rb"\d:\d")
_NUMBER = re.compile(
    # Then part of a second, or what is written like it.
    _TIME + rb"|(?<=\d[.,])(\d{3,})(?![\d.])|\d+"
)
_BOUNDS = {
    1: (1, 2),
    2: (1, 13, 25, 32, 61),
    3: (100, 192, 600),
}
"""By how many digits a number has: where it begins to be something else to somebody."""
_PART_OF_MORE = re.compile(rb"\d[-/.:]$|[+]$| -$"), re.compile(rb"[-/.:]\d")
"""What stands before and behind a number that may be part of a date, a time, a zone, or an address."""
_EXACT_LENGTHS = frozenset({8, 10, 12, 13, 14, 15, 16, 19})
"""What may be a whole date or instant."""
_IN_PAIRS = {
    4: re.compile(rb"(?:19|20|21)\d\d|(?:[01]\d|2[0-4])[0-5]\d"),
    6: re.compile(rb"(?:[01]\d|2[0-4])[0-5]\d[0-6]\d|\d\d(?:0\d|1[0-2])[0-3]\d|[0-3]\d(?:0\d|1[0-2])\d\d"),
}
"""Years, times of day and dates without anything between their parts."""
_LAST_OF_ALL_MONTHS, _LAST_DAY = 28, 31


def head_shape(text: bytes) -> bytes | None:
    """The shape of a text; None where there is none to rely on.

    Examples
    --------
    >>> one = head_shape(b"2026-06-14 08:15:04,978 INFO [w-7] task 17 took 250 ms")
    >>> one == head_shape(b"2025-01-02 13:59:59,001 INFO [w-3] task 21 took 999 ms")
    True
    >>> one == head_shape(b"2025-01-02 13:59:59,001 INFO [w-3] task 21 took 1000 ms")
    False
    """
    if UNUSUAL.search(text) is not None:
        return None
    return b"\n".join(map(_shape_of_line, text.split(b"\n")))


def _shape_of_line(line: bytes) -> bytes:
    time = _FIRST_TIME.search(line)
    behind = len(line) if time is None or _CLOCK.search(line, time.end()) else time.end()
    return _NUMBER.sub(partial(_shaped, behind), line)


def _shaped(behind: int, found: re.Match[bytes]) -> bytes:
    """What stands for a number; from the place `behind` on no time is written any more."""
    if found[1] is not None:
        return b"\0" + found[1] + found[2]
    digits, line = found[0], found.string
    if found[3] is not None:
        return b"\1%d" % len(digits)
    before, after = _PART_OF_MORE
    start, end = found.span()
    if before.search(line, max(start - 2, 0), start) or after.match(line, end):
        return digits
    return _kind_of(digits, alone=start >= behind)


@lru_cache(maxsize=10_000)
def _kind_of(digits: bytes, *, alone: bool) -> bytes:
    count = len(digits)
    if count in _EXACT_LENGTHS:
        return digits
    if alone:
        return b"\2%d" % count
    if count == 2 and _LAST_OF_ALL_MONTHS < int(digits) <= _LAST_DAY:
        return digits
    if count in _IN_PAIRS and _IN_PAIRS[count].fullmatch(digits):
        return digits
    bounds = _BOUNDS.get(count)
    kind = digits[0] == ord("0") if bounds is None else bisect_right(bounds, int(digits))
    return b"\3%d,%d" % (count, kind)

"""Numbers as people write them, exactly; those with more digits than anything has are none."""

from __future__ import annotations

import re
from fractions import Fraction

_EXPONENT = re.compile(r"[eE]([+-]?\d[\d_]*)\s*\Z", re.ASCII)
_LONGEST_EXPONENT = 3  # digits of it: floats end at 308
_LONGEST = 1_000


def exact_number(text: str) -> Fraction:
    """The number that a text spells.

    Raises
    ------
    ValueError
        If it spells none, or one with so many digits that to write them down would take minutes.

    Examples
    --------
    >>> exact_number("1.5e3"), exact_number("1/3")
    (Fraction(1500, 1), Fraction(1, 3))
    >>> exact_number("1E+2147483648")
    Traceback (most recent call last):
    ValueError: 1E+2147483648 has too many digits
    """
    found = _EXPONENT.search(text)
    digits = found[1].replace("_", "").lstrip("+-0") if found else ""
    if len(text) > _LONGEST or len(digits) > _LONGEST_EXPONENT:
        raise ValueError(f"{text[:40]} has too many digits")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError(f"{text} divides by 0") from None

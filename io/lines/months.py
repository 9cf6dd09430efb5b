"""Names of months, short and long, in languages in which none is that of another month elsewhere.

A name may be in capitals, in lower case, or with a full stop behind it.  In a log in UTF-8 a letter with an
accent is two bytes, which stand for themselves here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cepctl.numeric.arrays import Bytes, Numbers

_NAMES = (
    "jan|january|janv|janvier|januar|jänner|ene|enero|gen|gennaio|janeiro|januari",
    "feb|february|févr|fév|février|februar|febrero|febbraio|fev|fevereiro|februari",
    "mar|march|mars|mär|märz|mrz|marzo|março|mrt|maart",
    "apr|april|avr|avril|abr|abril|aprile",
    "may|mai|mayo|mag|maggio|maio|mei",
    "jun|june|juin|juni|junio|giu|giugno|junho",
    "jul|july|juil|juillet|juli|julio|lug|luglio|julho",
    "aug|august|août|aoû|ago|agosto|augustus",
    "sep|sept|september|septembre|septiembre|set|settembre|setembro",
    "oct|october|octobre|okt|oktober|octubre|ott|ottobre|out|outubro",
    "nov|november|novembre|noviembre|novembro",
    "dec|december|déc|décembre|dez|dezember|dic|diciembre|dicembre|dezembro",
)
_ENGLISH = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CODED = 5
# A byte that is no ASCII, where a text was decoded as such.
_BYTE = "\ufffd"


def _names() -> Iterator[tuple[str, int]]:
    for number, names in enumerate(_NAMES, start=1):
        for name in names.split("|"):
            yield name, number


def _as_bytes(letter: str) -> str:
    """A letter as it comes out of bytes that are read as ASCII."""
    return letter if letter.isascii() else 2 * _BYTE


def _spellings() -> tuple[str, ...]:
    names = [name for name, _ in _names() if name[:3] not in _ENGLISH]
    names += ["".join(map(_as_bytes, name)) for name in names if not name.isascii()]
    # The longest come first, of which others are the beginning.
    return tuple(sorted(dict.fromkeys(names), key=lambda name: (-len(name), name)))


ENGLISH_MONTH = (
    rf"(?P<b>(?:{'|'.join(f'[{name[0].upper()}{name[0]}]{name[1:]}' for name in _ENGLISH)})[a-z]{{0,6}})"
)
"""An expression for the name of a month, in English or as English as the first three letters tell."""
OTHER_MONTH = rf"(?P<b>(?i:{'|'.join(_spellings())}))\.?"
"""An expression for names of months whose first three letters are not those of English ones."""


def _code(name: bytes) -> int:
    """A number for the first bytes of a name in lower case."""
    return int.from_bytes(name[:_CODED].ljust(_CODED, b"\0"), "big")


def _table() -> tuple[Numbers, Numbers]:
    codes = {_code(name.encode()): number for name, number in _names()}
    order = sorted(codes)
    return np.array(order, np.int64), np.array([codes[code] for code in order], np.int64)


_CODES, _NUMBERS = _table()


def month_numbers(texts: Bytes, span: tuple[int, int]) -> Numbers:
    """Months by their names, which stand in these columns of texts; 0 for any other word.

    Examples
    --------
    >>> texts = np.frombuffer("août".encode() + b"Sept.", np.uint8).reshape(2, 5)
    >>> month_numbers(texts, (0, 5)).tolist()
    [8, 9]
    """
    code = np.zeros(len(texts), np.int64)
    for place in range(_CODED):
        column = span[0] + place
        letter = texts[:, column].astype(np.int64) if column < span[1] else np.zeros(len(texts), np.int64)
        is_capital = (letter >= ord("A")) & (letter <= ord("Z"))
        # The second byte of a capital letter with an accent is less by 32 than that of the small one.
        before = texts[:, column - 1] if place else np.zeros(len(texts), np.uint8)
        is_accented = (before == 0xC3) & (letter >= 0x80) & (letter < 0xA0)
        letter = letter + 32 * (is_capital | is_accented)
        code = code * 256 + np.where(letter == ord("."), 0, letter)
    place_of = np.searchsorted(_CODES, code).clip(0, len(_CODES) - 1)
    return np.where(_CODES[place_of] == code, _NUMBERS[place_of], 0).astype(np.int64)

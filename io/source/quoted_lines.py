"""Which line ends of a delimited file end a row, and which stand inside of quotes.

A quote opens a value only where a value begins: after a delimiter or a line end.  Anywhere else in a value
that is not quoted it is a character (5" disk).  Inside of quotes, two quotes are one character.  So of a run
of quotes only this matters:

    run                      outside of quotes      inside of quotes
    even                     stays outside          stays inside
    odd, a value begins      goes inside            goes outside
    odd, elsewhere           stays outside          goes outside

The last row lets a text settle its state: after such a run the state no longer depends on the state at its
begin.  This is what the parser of Arrow does, for whole blocks at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.numeric.arrays import Bytes, Flags, Numbers

_QUOTE, _NEWLINE, _RETURN = b'"\n\r'


@dataclass(frozen=True)
class LineEnds:
    """Line ends in order: newlines, and carriage returns that stand alone.

    Attributes
    ----------
    place
        Bytes of the text, counted from its begin.
    alone
        Whether it is a carriage return without newline.
    inside
        Whether it stands inside of quotes, for a text that begins outside.
    settled
        Whether that does not depend on where the text begins; else it is the other way round for a text
        that begins inside.
    """

    place: Numbers
    alone: Flags
    inside: Flags
    settled: Flags


@dataclass
class QuotedLines:
    """The line ends of a text that comes piece by piece.

    Attributes
    ----------
    delimiter
        The byte between two values.
    previous
        The byte before those that come; a newline where a row begins.
    inside, settled
        Of the next byte, as LineEnds has them.
    """

    delimiter: int
    previous: int = _NEWLINE
    inside: bool = False
    settled: bool = False
    _held: bytes = b""
    _place: int = 0

    @property
    def held(self) -> int:
        """How many bytes wait for what follows them."""
        return len(self._held)

    def add(self, piece: bytes) -> LineEnds:
        """The next bytes; what can be told only with those after them waits."""
        text = self._held + piece
        known = text.rstrip(b'"\r')
        self._held = text[len(known) :]
        return self._judged(known, following=self._held[:1])

    def finish(self, following: bytes = b"") -> LineEnds:
        """Judge what waits; `following` is the byte after it, empty at the end of the file."""
        text, self._held = self._held, b""
        return self._judged(text, following)

    def _judged(self, text: bytes, following: bytes) -> LineEnds:
        data = np.frombuffer(text + following, np.uint8)
        alone = np.zeros(0, np.int64)
        if b"\r" in text:
            returns = np.flatnonzero(data[: len(text)] == _RETURN)
            behind = np.append(data, np.uint8(0))[returns + 1]
            alone = returns[behind != _NEWLINE]
        data = data[: len(text)]
        newlines = np.flatnonzero(data == _NEWLINE)
        places = np.sort(np.concatenate([newlines, alone])) if len(alone) else newlines
        ends = LineEnds(
            self._place + places, np.isin(places, alone), *self._states(data, places, quoted=b'"' in text)
        )
        self._place += len(text)
        self.previous = text[-1] if text else self.previous
        return ends

    def _states(self, data: Bytes, places: Numbers, *, quoted: bool) -> tuple[Flags, Flags]:
        """`inside` and `settled` at these places; afterwards those of the text after the data."""
        count = len(places)
        in_pairs = None
        if quoted and not self.inside and not (data[places] == _RETURN).any():
            in_pairs = _settled_in_pairs(data, self.previous, self.delimiter)
        if in_pairs is not None:
            settled = places > (-1 if self.settled else in_pairs)
            self.settled = self.settled or in_pairs < len(data)
            return np.zeros(count, np.bool_), settled
        runs, opening = _odd_runs(data, self.previous, self.delimiter) if quoted else (places[:0], places[:0])
        if not len(runs):
            return np.full(count, self.inside), np.full(count, self.settled)
        number = np.arange(len(runs))
        last_closing = np.maximum.accumulate(np.where(opening, -1, number))
        opened = np.cumsum(opening)
        settles = last_closing >= 0
        since = opened - np.where(settles, opened[last_closing], 0)
        inside = np.append(((since + (~settles & self.inside)) % 2).astype(np.bool_), self.inside)
        settled = np.append(settles | self.settled, self.settled)
        # The last entry, which index -1 means, is the state before the first run.
        run = np.searchsorted(runs, places) - 1
        self.inside, self.settled = bool(inside[-2]), bool(settled[-2])
        return inside[run], settled[run]


def _settled_in_pairs(data: Bytes, previous: int, delimiter: int) -> int | None:
    """Where the state of a text is settled, the begin of whose quotes all open a value that ends in its line.

    That is the first quote that closes a value, of no more than one character; the length of the text where
    there is none.  None where quotes are not so simple; most are, and no run of them has to be looked at.
    """
    is_quote = data == _QUOTE
    marks = np.flatnonzero(is_quote | (data == _NEWLINE))
    before = data[marks - 1]
    if len(marks) and not marks[0]:
        before[0] = previous
    quotes = is_quote[marks]
    opens = quotes & ((before == delimiter) | (before == _NEWLINE) | (before == _RETURN))
    closes = quotes & ~opens
    if not len(marks) or closes[0] or opens[-1] or not np.array_equal(opens[:-1], closes[1:]):
        return None
    settling = closes & (before != _QUOTE)
    return int(marks[settling.argmax()]) if settling.any() else len(data)


def _odd_runs(data: Bytes, previous: int, delimiter: int) -> tuple[Numbers, Flags]:
    """Where runs of an odd number of quotes begin, and whether a value begins there."""
    quotes = np.flatnonzero(data == _QUOTE)
    first = np.flatnonzero(np.diff(quotes, prepend=-2) != 1)
    length = np.diff(first, append=len(quotes))
    begin = quotes[first[length % 2 == 1]]
    before = np.where(begin > 0, data[begin - 1], np.uint8(previous))
    return begin, np.isin(before, (delimiter, _NEWLINE, _RETURN))

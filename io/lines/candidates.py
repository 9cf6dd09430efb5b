"""The layouts of times that the first lines of a log have, and which tells most of nearly all lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from cepctl.io.lines.stamps import Stamp, stamp_named, stamps

_FEW = 40
_GOLDEN = (5**0.5 - 1) / 2
FARTHEST = 160
USUAL_SHARE = 0.9
# As many lines of something else may be among those of a log, and beside a time that stands elsewhere.
FOREIGN_SHARE = 0.1
FOREIGN_SHARE_ELSEWHERE = 0.01
_MOST_WORDS_BEFORE = 7
_OF_WORD = re.compile(r"\w")
# A number that long is an instant only as a word of its own.
# Two colons divide fields, as in MainThread::INFO::2026-06-14.
PROCESS = r"(?:\[pid +)?\d{1,10}\]? +"
"""What may stand before a time of day: the number of a process, as strace writes it."""
_EDGE = r"(?<![\w./-])(?<![^:]:)"
_END = r"(?![\w])"


@dataclass(frozen=True)
class FoundLayout:
    """A layout of times: the lines that have it, at which character it begins there, and the rest mostly.

    `place` counts the words before it, `parts` what it tells; `steady` is the share of lines of that place.
    """

    stamp: Stamp
    begins: Mapping[int, int]
    place: int
    parts: int
    steady: float = 1.0

    @cached_property
    def rows(self) -> tuple[int, ...]:
        return tuple(self.begins)

    @property
    def finesse(self) -> tuple[bool, int]:
        """How much its times tell."""
        return self.stamp.has_year, self.parts

    def is_finer_than(self, other: FoundLayout) -> bool:
        """Whether it tells more than another layout, of all lines that have that but a few.

        Of one that stands elsewhere there are fewer: messages have times of their own.
        """
        missing, rows = len(other.rows) - len(self.rows), len(self.rows)
        if self.finesse <= other.finesse or missing > rows / 2:
            return False
        same = sum(other.begins.get(row) == begin for row, begin in self.begins.items())
        if same >= USUAL_SHARE * rows:
            return missing <= max(1, FOREIGN_SHARE * rows)
        few = FOREIGN_SHARE_ELSEWHERE * rows
        return self.steady >= USUAL_SHARE and missing <= (max(1, few) if rows >= _FEW // 2 else 0)


def rank(found: FoundLayout) -> tuple[int, bool, int, int]:
    return len(found.rows), *found.finesse, -found.place


def finest(found: Sequence[FoundLayout]) -> FoundLayout | None:
    """The layout that most lines have, or a finer one of nearly as many."""
    best = max(found, key=rank, default=None)
    while best is not None:
        finer = [each for each in found if each.is_finer_than(best)]
        if not finer:
            break
        best = max(finer, key=rank)
    return best


def found_in(lines: Sequence[str], farthest: int = FARTHEST) -> list[FoundLayout]:
    """The layouts of times that lines have up to some character, each with the lines."""
    most = _MOST_WORDS_BEFORE if farthest == FARTHEST else farthest
    return _dated_in(tuple(line[:farthest] for line in lines), most)


def clocks_in(lines: Sequence[str]) -> list[FoundLayout]:
    """The layouts of times of day that lines begin with, each with the lines."""
    every = []
    for stamp in stamps():
        if stamp.has_day:
            continue
        matches = {row: searched(stamp.name).search(line[:FARTHEST]) for row, line in enumerate(lines)}
        begins = {row: match.start() for row, match in matches.items() if match is not None}
        if begins:
            every.append(FoundLayout(stamp, begins, 0, len(stamp.compiled.groupindex)))
    return every


@lru_cache(maxsize=8)
def _dated_in(lines: tuple[str, ...], most_words: int) -> list[FoundLayout]:
    every: list[FoundLayout] = []
    few = [row for row in _spread(len(lines)) if row < len(lines)]
    # One search in all of them tells that none has something: most files have few of the layouts.
    text = "\n".join(lines[row] for row in few)
    having: dict[str, list[int]] = {}
    for stamp in stamps():
        if not stamp.has_day:
            continue
        rows = few
        for part in (stamp.date, stamp.joined):
            if rows and part not in having:
                look = _part(part).search
                having[part] = [row for row in rows if look(lines[row])] if look(text) else []
            rows = rows and having[part]
        # To make an expression takes far longer than to look for it.
        if not rows:
            continue
        expression = searched(stamp.name)
        if not expression.search(text) or not any(expression.search(lines[row]) for row in rows):
            continue
        found = found_of(stamp, [expression.search(line) for line in lines], most_words)
        if found is not None:
            every.append(found)
    return every


def found_of(
    stamp: Stamp, matches: Sequence[re.Match[str] | None], most_words: int = _MOST_WORDS_BEFORE
) -> FoundLayout | None:
    """What was found of a layout in each line; None where no line has such a time near its beginning."""
    begins, places, parts = dict[int, int](), Counter[int](), Counter[int]()
    for row, match in enumerate(matches):
        if match is None or not _is_a_day(match):
            continue
        if (words := _words_before(match.string[: match.start()])) <= most_words:
            begins[row] = match.start()
            places[words] += 1
            parts[sum(part is not None for part in match.groups())] += 1
    if not begins:
        return None
    (place, often), commonest = places.most_common(1)[0], parts.most_common(1)[0][0]
    return FoundLayout(stamp, begins, place, commonest, often / len(begins))


def _is_a_day(match: re.Match[str]) -> bool:
    """Whether the month and the day of a match are in the calendar, where they are numbers in it."""
    parts = match.groupdict()
    month, day = (int(parts.get(part) or 1) for part in "md")
    return month <= 31 and day <= 31 and min(month, day) <= 12 and min(month, day) >= 1


def _spread(count: int) -> list[int]:
    """Some numbers below a count, no two of them equally far apart: lines of two layouts may take turns."""
    return sorted({0, *(int(count * (each * _GOLDEN % 1)) for each in range(_FEW))})


@cache
def _part(regex: str) -> re.Pattern[str]:
    return re.compile(regex, re.ASCII)


@cache
def searched(name: str) -> re.Pattern[str]:
    stamp = stamp_named(name)
    if stamp.is_uptime:
        return re.compile(rf"^\[? *{stamp.regex}(?={stamp.behind})", re.ASCII)
    if not stamp.has_day:
        return re.compile(rf"^(?:{PROCESS})?[^\s\w]?{stamp.regex}(?={stamp.behind})", re.ASCII)
    edge = r"(?:(?<![\w.:/-])|(?<=\b[IWEF]))" if name.startswith(("MMDD", "YYYYMMDD hh:mm")) else _EDGE
    return re.compile(rf"{edge}{stamp.regex}{_END}", re.ASCII)


def _words_before(text: str) -> int:
    words = text.split() if text[-1:].isspace() else text.split()[:-1]
    return sum(_OF_WORD.search(word) is not None for word in words)

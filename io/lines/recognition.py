"""The layout of a log of lines, learned from its first 64 KiB and held for the file.

Every layout of times is looked for in the first lines, at their beginning or a few words behind.  The one
that most lines have is that of the file; of several that as many have the one that tells most (a year, a
fraction, a zone), then the one that stands first.  As many are all but a few: no foreign line, and none that
was cut, takes the seconds from all others.  Lines that are indented below one with a time go on with its
record, and are not counted.  Day and month that could be either are told by values over 12, else asked for.

A time of day is one only where there is no date, at the beginning of most lines.  Where a file was named to
be such a log, a time may also stand far into its lines; the whole line then is the message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.lines.candidates import (
    FARTHEST,
    FOREIGN_SHARE,
    FOREIGN_SHARE_ELSEWHERE,
    PROCESS,
    USUAL_SHARE,
    FoundLayout,
    clocks_in,
    finest,
    found_in,
    rank,
    searched,
)
from cepctl.io.lines.few_lines import groups_of
from cepctl.io.lines.full_dates import dates_in
from cepctl.io.lines.headings import ANY, HEADINGS, Heading
from cepctl.io.lines.nearly import usual_beginnings
from cepctl.io.lines.stamps import Stamp, stamp_named
from cepctl.io.lines.unbeaten import unbeaten
from cepctl.io.source.first_lines import HEAD_BYTES
from cepctl.io.source.text_encoding import decoded

_SAMPLE = 400
_FARTHEST_NAMED = 4_096
_FEWEST_SHARE = 0.3
_FEWEST_CLOCKS = 0.5
# As docker compose logs prints them, whose times have to be asked for.
_CONTAINER = re.compile(r"[A-Za-z0-9][\w.-]* {2,40}\| ")
_CLOSING = " \t])>}|,:;.\"'"
_NAMED = re.compile(r"\(\?P<\w+>")
_LEVEL_BEHIND = re.compile(r"[\d\s:/.,]*? (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) ")
# JSON and XML, which have readers of their own.
_MARKUP = re.compile(r"\s*(?:\{|\[\s*[{\[\"]|<[A-Za-z?!])")


@dataclass(frozen=True)
class LineBeginning:
    """Expressions for RE2, without groups: before the time, the time, between it and the message."""

    before: str
    time: str
    behind: str

    @property
    def whole(self) -> str:
        """Up to where the message begins."""
        return f"^{self.before}{self.time}{self.behind}"

    @property
    def parted(self) -> str:
        """As `whole`, with the groups `_before`, `_time` and `_behind`."""
        return f"^(?P<_before>{self.before})(?P<_time>{self.time})(?P<_behind>{self.behind})"


@dataclass(frozen=True)
class LineLayout:
    """How the lines of a log begin.

    Attributes
    ----------
    stamp, heading
        How the time is written, and what stands around it.
    before
        The expression of what stands before the time in lines that the heading does not fit.
    lines, timed, headed
        How many lines were looked at, how many have such a time, and how many of these the heading fits.
    others
        Other layouts of times that lines of the file begin with, with the number of lines.
    dates
        Of a log without years: days since 1970 that lines tell in another layout.
    beginnings
        The shapes in which most records begin, for `nearly_beginnings`.
    whole
        Whether the message is all of the line, as the time stands somewhere in it.
    quoted
        Whether lines are rows of a table without a header, whose values may go on in further lines in quotes.
    """

    stamp: Stamp
    heading: Heading
    before: str
    lines: int
    timed: int
    headed: int
    others: tuple[tuple[str, int], ...] = ()
    beginnings: tuple[str, ...] = ()
    dates: tuple[int, ...] = ()
    whole: bool = False
    quoted: bool = False

    @cached_property
    def with_heading(self) -> LineBeginning:
        """A line with its heading, whose groups are looked for later in what it matched, which repeats."""
        before, behind = (_NAMED.sub("(?:", each) for each in (self.heading.before, self.heading.behind))
        return LineBeginning(before, self.stamp.bare, behind)

    @cached_property
    def with_time(self) -> LineBeginning:
        """Any line with a time."""
        return LineBeginning(self.before, self.stamp.bare, self.stamp.behind + ANY.behind)

    @property
    def sure(self) -> float:
        """The share of lines that have the time where it was found."""
        return self.timed / self.lines if self.lines else 0.0


def sample_lines(head: bytes, most: int | None = _SAMPLE) -> list[str]:
    """The first lines of a file that are not empty, whole ones."""
    text = decoded(head[:HEAD_BYTES]).replace("\r\n", "\n")
    whole, _, rest = text.rpartition("\n")
    lines = (whole or rest).split("\n")
    return [line.rstrip("\r\0") for line in lines if line.strip(" \t\r\0")][:most]


def layout_of(
    lines: Sequence[str], time_format: str | None = None, *, decided: bool = True
) -> LineLayout | None:
    """The layout of a log that begins with these lines; None where its lines have no times.

    Of layouts of the same digits that differ in what is the day it is the first, where it need not be
    `decided`.

    Raises
    ------
    LogFormatError
        If the day could be the month; the message names the forms to choose from.
    """
    return _layout_of(tuple(lines), time_format, decided=decided)


# A file is asked for its messages when its layout has just been told.
@lru_cache(maxsize=8)
def _layout_of(lines: tuple[str, ...], time_format: str | None, *, decided: bool) -> LineLayout | None:
    best = _best(lines)
    whole = best is None
    if best is None:
        best = _best_anywhere(lines)
    if best is None:
        return None
    stamp = _decided(best, lines, time_format) if decided else best.stamp
    return _with_heading(stamp, best, lines, whole=whole)


def is_log_of_lines(head: bytes) -> bool:
    """Whether a file that begins so is text whose lines begin with times; one line at least is whole."""
    if b"\n" not in head:
        return False
    lines = sample_lines(head)
    if not _is_text(lines) or _is_of_containers(lines):
        return False
    best = _best(lines)
    if best is None or _is_document(best, lines) or (best.rows[:1] != (0,) and _is_table(best, lines)):
        return False
    return _begin_with_times(best, lines)


def _is_of_containers(lines: Sequence[str]) -> bool:
    """Whether lines stand behind names of containers, so that none goes on with the line before it."""
    named = sum(_CONTAINER.match(line) is not None for line in lines)
    return named >= USUAL_SHARE * len(lines)


def has_times_somewhere(head: bytes) -> bool:
    """Whether lines of a text have times, if far into them: such a file is read where its format is named."""
    lines = sample_lines(head)
    if not _is_text(lines) or _is_of_containers(lines) or _MARKUP.match(lines[0]):
        return False
    return _best_anywhere(lines) is not None


def _best(lines: Sequence[str]) -> FoundLayout | None:
    """The layout of times of a log: one with a date, else a time of day."""
    records = sum(not line[:1].isspace() for line in lines) or len(lines)
    found = unbeaten(lines) or finest(found_in(lines))
    if found is not None and len(found.rows) >= _FEWEST_SHARE * records:
        return found
    clock = finest(clocks_in(lines))
    if clock is not None and len(clock.rows) >= _FEWEST_CLOCKS * records:
        return clock
    return found if found is not None and found.rows[:1] == (0,) else None


def _best_anywhere(lines: Sequence[str]) -> FoundLayout | None:
    """The layout with a date that most lines have, wherever it stands in them."""
    best = finest([each for each in found_in(lines, _FARTHEST_NAMED) if not each.stamp.is_epoch])
    return best if best is not None and len(best.rows) >= _FEWEST_SHARE * len(lines) else None


def _before(best: FoundLayout, *, whole: bool = False) -> str:
    """What stands before the time, as an expression."""
    if whole:
        return r"(?:.*?[^\w.:/-])?"
    process = "" if best.stamp.has_day or best.stamp.is_uptime else f"(?:{PROCESS})?"
    # Signs alone may divide words; a table in a page begins with one.
    return rf"{process}(?:[^\w\s]*\w\S*\s+(?:[^\w\s]+\s+)*){{{best.place}}}(?:\w+=)?[^\s\w]{{0,3}}"


def _begin_with_times(best: FoundLayout, lines: Sequence[str]) -> bool:
    """Whether the lines that have such a time have it where records would be told by it; a table may not."""
    fits = re.compile(rf"{_before(best)}{best.stamp.bare}", re.ASCII)
    timed = [lines[row] for row in best.rows]
    fitting = sum(fits.match(line) is not None for line in timed)
    return 2 * fitting >= len(timed) or any(
        2 * _fitting(heading, best.stamp, timed) > len(timed) for heading in HEADINGS
    )


def _is_text(lines: Sequence[str]) -> bool:
    """Whether nearly all lines are of characters: damage may have put others into a few."""
    binary = [row for row, line in enumerate(lines) if "\0" in line or line.count("\ufffd") * 20 > len(line)]
    few = max(FOREIGN_SHARE * len(lines), "\0" not in "".join(lines) and binary[:1] != [0])
    return bool(lines) and len(binary) <= few


def _is_table(best: FoundLayout, lines: Sequence[str]) -> bool:
    """Whether the first lines are divided alike, as the rows of a table below its header, also at times."""
    behind = Counter[str]()
    for row in best.rows:
        found = searched(best.stamp.name).search(lines[row])
        behind[lines[row][found.end() : found.end() + 1] if found else ""] += 1
    return any(
        lines[0].count(sign)
        and lines[0].count(sign) == lines[1].count(sign)
        and 2 * (behind[sign] + behind['"'] + behind[""]) > len(best.rows)
        for sign in ",;\t|"
    )


def _is_document(best: FoundLayout, lines: Sequence[str]) -> bool:
    """Whether the first line begins a document of JSON or XML, and is no stray one among lines with times."""
    inside = sum(lines[row].lstrip()[:1] in '"{<,' for row in best.rows)
    stray = len(best.rows) >= (1 - FOREIGN_SHARE) * (len(lines) - 1) > 1 and 2 * inside < len(best.rows)
    return _MARKUP.match(lines[0]) is not None and not stray


def times_in(lines: Sequence[str], stamp: Stamp) -> list[re.Match[str]]:
    """The first time of this layout in each of the lines that have one."""
    return [found for line in lines if (found := searched(stamp.name).search(line[:FARTHEST])) is not None]


def _decided(best: FoundLayout, lines: Sequence[str], time_format: str | None) -> Stamp:
    """The layout of several that the digits could be of."""
    choices = [stamp_named(name) for name in best.stamp.choices]
    if not choices:
        return best.stamp
    timed = [lines[row][:_FARTHEST_NAMED] for row in best.rows]
    levels = sum(_LEVEL_BEHIND.match(line) is not None for line in timed)
    if levels >= (1 - FOREIGN_SHARE) * len(timed) and best.stamp.name.startswith(
        ("YY/", "DD/MM/YY ", "MM/DD/YY ")
    ):
        # As every console of log4j and Spark writes it.
        choices = [stamp for stamp in choices if stamp.name.startswith("YY/")] or choices
    possible = _possible(choices, timed)
    if time_format is not None:
        possible = [stamp for stamp in choices if form_of(stamp) == time_format]
    if len(possible) == 1:
        return possible[0]
    asked = " or ".join(f"--time-format '{form_of(stamp)}'" for stamp in (possible or choices))
    example = searched(best.stamp.name).search(timed[0])
    written = example[0] if example else timed[0]
    raise LogFormatError(f"the day of times such as '{written}' could be the month; say which: {asked}")


def _possible(choices: Sequence[Stamp], timed: Sequence[str]) -> list[Stamp]:
    """The layouts with days of a calendar in all lines; of several that fail somewhere, in nearly all.

    One line among many says nothing, but for the last, on which a later day may begin.
    """
    wrong = {
        stamp: [row for row, line in enumerate(timed) if not _is_possible(stamp, line)] for stamp in choices
    }
    few = FOREIGN_SHARE_ELSEWHERE * len(timed)
    least = min(map(len, wrong.values()))
    return [
        stamp
        for stamp, rows in wrong.items()
        if len(rows) == least or (len(rows) - least <= few and rows[-1] < len(timed) - 1)
    ]


def _is_possible(stamp: Stamp, line: str) -> bool:
    """Whether the calendar has the day of a line, where that has one."""
    match = searched(stamp.name).search(line)
    return match is None or (1 <= int(match["m"]) <= 12 and 1 <= int(match["d"]) <= 31)


def form_of(stamp: Stamp) -> str:
    """The layout with the codes of strptime.

    Examples
    --------
    >>> form_of(stamp_named("DD/MM/YYYY hh:mm:ss"))
    '%d/%m/%Y %H:%M:%S'
    """
    form = stamp.name
    for shown, code in (
        *(("YYYY", "%Y"), ("YY", "%y"), ("Mon", "%b"), ("MM", "%m"), ("DD", "%d")),
        *(("hh:mm:ss AM", "%I:%M:%S %p"), ("hh", "%H"), ("mm", "%M"), ("ss", "%S")),
    ):
        form = form.replace(shown, code)
    return form


def _with_heading(stamp: Stamp, best: FoundLayout, lines: Sequence[str], *, whole: bool) -> LineLayout:
    timed = [lines[row] for row in best.rows]
    heading, headed = _usual_heading(stamp, timed)
    if whole or headed < len(timed) / 2:
        heading, headed = ANY, 0
        whole = whole or _ends_lines(stamp, timed)
    before = _before(best, whole=whole)
    others = _others(best, lines)
    dates = () if stamp.has_year else dates_in(lines)
    layout = LineLayout(stamp, heading, before, len(lines), len(timed), headed, others, dates=dates)
    layout = replace(layout, quoted=_are_rows(timed, stamp), whole=whole)
    begun = groups_of(pa.array(timed), layout.with_time.parted)
    usual = usual_beginnings(begun["_before"].drop_null(), begun["_time"].drop_null())
    return replace(layout, beginnings=usual)


def _usual_heading(stamp: Stamp, timed: Sequence[str]) -> tuple[Heading, int]:
    """The first heading that fits nearly all lines, else the one that fits most, and how many it fits."""
    fitting = []
    for heading in HEADINGS:
        fitting.append((heading, _fitting(heading, stamp, timed)))
        if fitting[-1][1] >= USUAL_SHARE * len(timed):
            return fitting[-1]
    return max(fitting, key=lambda each: each[1], default=(ANY, 0))


def _others(best: FoundLayout, lines: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """The layout with a year that most lines have of those that share none with the best."""
    seen = set(best.rows)
    if len(seen) == len(lines):
        return ()
    alone = [
        (each.stamp.name, len(set(each.rows) - seen))
        for each in sorted(found_in(lines), key=rank, reverse=True)
        if not set(each.rows) & seen and each.stamp.has_year and not each.stamp.is_epoch
    ]
    return tuple(alone[:1])


def _ends_lines(stamp: Stamp, timed: Sequence[str]) -> bool:
    """Whether nearly all lines end with their time, so that what they say stands before it."""
    found = (searched(stamp.name).search(line) for line in timed)
    ending = sum(
        match is not None and match.start() > 0 and not match.string[match.end() :].strip(_CLOSING)
        for match in found
    )
    return ending >= USUAL_SHARE * len(timed)


def _are_rows(timed: Sequence[str], stamp: Stamp) -> bool:
    """Whether most lines begin with a time as a value of its own, and some have values in quotes."""
    row = re.compile(rf'"?{stamp.bare}"?,(?! )', re.ASCII)
    rows = sum(row.match(line) is not None for line in timed)
    return 2 * rows > len(timed) and any(',"' in line for line in timed)


def _fitting(heading: Heading, stamp: Stamp, lines: Sequence[str]) -> int:
    if heading.stamp and not stamp.name.startswith(heading.stamp):
        return 0
    expression = re.compile(rf"{heading.before}{stamp.bare}{heading.behind}", re.ASCII)
    return sum(expression.match(line) is not None for line in lines)

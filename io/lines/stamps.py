"""The layouts in which lines of logs write their times: a catalogue, generated from its parts.

A stamp is a date of one spelling, what joins it to the time of day, a time of day, and perhaps a zone.  Each
is one regular expression whose named groups are the parts:

    Y y         year of four digits, of two
    b m         month by name, by number
    j           day of the year
    d H M S f   day, hour, minute, second, digits of the fraction
    p           AM or PM
    z           Z, or an offset
    w           a word that names a zone, such as EST (io/contract/zone_words.py)
    E           seconds since 1970; milliseconds and finer where there are 13, 16 or 19 digits
    T           seconds and nanoseconds of TAI64N, in hexadecimal digits
    U           seconds since the program that writes the log began, at the beginning of lines

Numbers of one or two digits may be of one everywhere, as programs of phones write them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property

from cepctl.io.contract.zone_words import SPELLED
from cepctl.io.lines.headings import UPTIME
from cepctl.io.lines.months import ENGLISH_MONTH, OTHER_MONTH

_MONTH = ENGLISH_MONTH
_DAY_NAME = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}"
_Y, _TWO = r"(?P<Y>(?:19|20)\d\d)", r"(?P<y>\d\d)"
_m, _d = r"(?P<m>\d{1,2})", r"(?P<d>\d{1,2})"
_CLOCK = r"(?P<H>\d{1,2}):(?P<M>\d{1,2}):(?P<S>\d{1,2})(?:[.,:](?P<f>\d{1,12}))?"
_HALF_DAYS = r"(?P<H>\d{1,2}):(?P<M>\d\d)(?::(?P<S>\d\d)(?:[.,](?P<f>\d{1,12}))?)? ?(?P<p>[AaPp][Mm])"
_DOTTED = r"(?P<H>\d\d)\.(?P<M>\d\d)\.(?P<S>\d\d)(?:[.,](?P<f>\d{1,12}))?"
_TO_MINUTES = r"(?P<H>\d{1,2}):(?P<M>\d\d)"
_TIGHT = r"(?P<H>\d\d)(?P<M>\d\d)(?P<S>\d\d)(?:[.,](?P<f>\d{1,12}))?"
_ZONE = rf"(?: ?(?P<z>[-+]\d\d:?\d\d|[-+]\d\d\b|Z\b)| ?(?P<w>{SPELLED})\b)?"


@dataclass(frozen=True)
class Stamp:
    """One layout of times.

    Attributes
    ----------
    name
        The layout as people write it; what is held for a file and shown.
    regex
        With named groups, for Python.
    choices
        The layouts, this one among them, that the same digits may be of, such as day before month.
    date, joined
        What every time of the layout contains, to pass over the lines that have none quickly: its date, and
        that with what joins it to the time of day.
    behind
        What has to stand behind a time, where any other text with such digits is none.
    """

    name: str
    regex: str
    choices: tuple[str, ...] = ()
    date: str = ""
    behind: str = ""
    joined: str = ""

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.regex, re.ASCII)

    @cached_property
    def bare(self) -> str:
        """The expression without groups, as RE2 takes it."""
        return re.sub(r"\(\?P<\w+>", "(?:", self.regex)

    @cached_property
    def date_bare(self) -> str:
        """The expression of its date without groups."""
        return re.sub(r"\(\?P<\w+>", "(?:", self.date)

    @cached_property
    def has_day(self) -> bool:
        """False of a time of day."""
        return self.has_year or "(?P<d>" in self.regex

    @cached_property
    def has_year(self) -> bool:
        return any(f"(?P<{part}>" in self.regex for part in "YyEUT")

    @property
    def is_epoch(self) -> bool:
        return "(?P<E>" in self.regex

    @property
    def is_tai(self) -> bool:
        return "(?P<T>" in self.regex

    @cached_property
    def is_uptime(self) -> bool:
        return "(?P<U>" in self.regex


_DATES: tuple[tuple[str, str], ...] = (
    ("YYYY-MM-DD", rf"{_Y}-{_m}-{_d}"),
    ("YYYY/MM/DD", rf"{_Y}/{_m}/{_d}"),
    ("YYYY.MM.DD", rf"{_Y}\.{_m}\.{_d}"),
    ("YYYY Mon DD", rf"{_Y}[- ]{_MONTH}[- ]+{_d}"),
    ("YYYYMMDD", rf"{_Y}(?P<m>\d\d)(?P<d>\d\d)"),
    ("DD/Mon/YYYY", rf"{_d}/{_MONTH}/{_Y}"),
    ("DD-Mon-YYYY", rf"{_d}-{_MONTH}-{_Y}"),
    ("DD-Mon-YY", rf"{_d}-{_MONTH}-{_TWO}"),
    ("DD Mon YYYY", rf"(?:{_DAY_NAME},? )?{_d} {_MONTH},? {_Y}"),
    ("Mon DD YYYY", rf"(?:{_DAY_NAME},? )?{_MONTH} +{_d},? {_Y}"),
    ("DD.MM.YYYY", rf"{_d}\.{_m}\.{_Y}"),
    ("DD/MM/YYYY", rf"{_d}/{_m}/{_Y}"),
    ("MM/DD/YYYY", rf"{_m}/{_d}/{_Y}"),
    ("DD-MM-YYYY", rf"{_d}-{_m}-{_Y}"),
    ("MM-DD-YYYY", rf"{_m}-{_d}-{_Y}"),
    ("DD.MM.YY", rf"(?P<d>\d\d)\.(?P<m>\d\d)\.{_TWO}"),
    ("YY/MM/DD", rf"{_TWO}/(?P<m>\d\d)/(?P<d>\d\d)"),
    ("DD/MM/YY", rf"(?P<d>\d\d)/(?P<m>\d\d)/{_TWO}"),
    ("MM/DD/YY", rf"(?P<m>\d\d)/(?P<d>\d\d)/{_TWO}"),
    ("YY-MM-DD", rf"{_TWO}-(?P<m>\d\d)-(?P<d>\d\d)"),
    ("Mon DD", rf"(?:{_DAY_NAME} )?{_MONTH} +{_d}"),
    ("DD Mon", rf"{_d} {_MONTH}"),
    ("MM-DD", r"(?P<m>\d\d)-(?P<d>\d\d)"),
    ("MM.DD", r"(?P<m>\d\d)\.(?P<d>\d\d)"),
    ("DD.MM", r"(?P<d>\d\d)\.(?P<m>\d\d)"),
    ("MM/DD", r"(?P<m>\d\d)/(?P<d>\d\d)"),
    ("DD/MM", r"(?P<d>\d\d)/(?P<m>\d\d)"),
)
_CHOICES = (
    ("DD/MM/YYYY", "MM/DD/YYYY"),
    ("DD-MM-YYYY", "MM-DD-YYYY"),
    ("YY/MM/DD", "DD/MM/YY", "MM/DD/YY"),
    ("MM.DD", "DD.MM"),
    ("MM/DD", "DD/MM"),
)
# What joins date and time of day, by what a name of a layout shows.
_JOINS = (
    (" ", r"[ \t]{1,2}"),
    ("T", "[Tt]"),
    (", ", ", "),
    ("-", "-"),
    (":", ":"),
    ("_", "_"),
    (" at ", " at "),
)
_CLOCKS = (
    ("hh:mm:ss", _CLOCK + _ZONE),
    ("hh:mm:ss AM", _HALF_DAYS + _ZONE),
    ("hh.mm.ss", _DOTTED + _ZONE),
    ("hh:mm", _TO_MINUTES + _ZONE),
)
_ALONE = (
    Stamp(
        "Day Mon DD hh:mm:ss YYYY",
        rf"(?:{_DAY_NAME} )?{_MONTH} +{_d} {_CLOCK}(?: (?:(?P<z>[-+]\d{{4}})|(?P<w>[A-Z]{{1,5}})))? {_Y}",
    ),
    Stamp("YYYYMMDD hhmmss", rf"{_Y}(?P<m>\d\d)(?P<d>\d\d)[ T_.-]?{_TIGHT}{_ZONE}"),
    Stamp("YYYYMMDD-hhmm", rf"{_Y}(?P<m>\d\d)(?P<d>\d\d)[T_-](?P<H>\d\d)(?P<M>\d\d){_ZONE}"),
    Stamp("YYYY-DDD hh:mm:ss", rf"{_Y}-(?P<j>[0-3]\d\d)[T ]{_CLOCK}{_ZONE}"),
    Stamp("TAI64N", r"@(?P<T>4[0-9a-f]{23})"),
    Stamp("YYMMDD hhmmss", rf"{_TWO}(?P<m>\d\d)(?P<d>\d\d)[ _]{_TIGHT}{_ZONE}"),
    Stamp("YYMMDD hh:mm:ss", rf"{_TWO}(?P<m>\d\d)(?P<d>\d\d) +{_CLOCK}{_ZONE}"),
    Stamp("MMDD hh:mm:ss", rf"(?P<m>\d\d)(?P<d>\d\d) {_CLOCK}"),
    *(
        Stamp(
            f"{shown},hh:mm:ss",
            rf"{date}-{_TWO},{_CLOCK}{_ZONE}",
            ("MM-DD-YY,hh:mm:ss", "DD-MM-YY,hh:mm:ss"),
            rf"{date}-{_TWO}",
        )
        for shown, date in (
            ("MM-DD-YY", r"(?P<m>\d\d)-(?P<d>\d\d)"),
            ("DD-MM-YY", r"(?P<d>\d\d)-(?P<m>\d\d)"),
        )
    ),
    Stamp("hh:mm:ss YYYY-MM-DD", rf"{_CLOCK},? {_Y}-{_m}-{_d}{_ZONE}"),
    Stamp(
        "hh:mm:ss DD/MM/YYYY",
        rf"{_CLOCK},? {_d}/{_m}/{_Y}{_ZONE}",
        ("hh:mm:ss DD/MM/YYYY", "hh:mm:ss MM/DD/YYYY"),
    ),
    Stamp(
        "hh:mm:ss MM/DD/YYYY",
        rf"{_CLOCK},? {_m}/{_d}/{_Y}{_ZONE}",
        ("hh:mm:ss DD/MM/YYYY", "hh:mm:ss MM/DD/YYYY"),
    ),
)
# Times with months in other languages, in the layouts that programs have which know of languages.
_ELSEWHERE = tuple(
    Stamp(f"{name} hh:mm:ss, not in English", f"{date}{join}{_CLOCK}{_ZONE}", date=date)
    for name, date, join in (
        ("Mon DD", rf"{OTHER_MONTH} +{_d}", " "),
        ("DD Mon YYYY", rf"{_d}\.? {OTHER_MONTH},? {_Y}", r",? {1,2}"),
        ("DD-Mon-YYYY", rf"{_d}-{OTHER_MONTH}-{_Y}", " "),
        ("DD/Mon/YYYY", rf"{_d}/{OTHER_MONTH}/{_Y}", "[: ]"),
    )
)
_EPOCHS = (
    Stamp("seconds since 1970", r"(?P<E>[1-3]\d{9})(?:\.(?P<f>\d{1,12}))?"),
    Stamp("milliseconds since 1970", r"(?P<E>[1-3]\d{12})(?:\.\d+)?"),
    Stamp("microseconds since 1970", r"(?P<E>[1-3]\d{15})"),
    Stamp("nanoseconds since 1970", r"(?P<E>[1-3]\d{18})"),
)
# As garbage collectors of Java and the kernel of Linux write them: 12.345: [1.345s] [   12.345678]
_UPTIME = Stamp(UPTIME, r"(?P<U>\d{1,9})[.,](?P<f>\d{3,9})", behind=r"(?:s?\]|: )")
# Only at the beginning of lines, and where nothing else is: many messages have a time of day in them.
_BEHIND_CLOCK = r"[\])>}|]{0,2}[:,]?(?: - |\s+)"
_CLOCKS_ALONE = (
    Stamp("hh:mm:ss", _CLOCK + _ZONE, behind=_BEHIND_CLOCK),
    Stamp("hh:mm:ss AM", _HALF_DAYS + _ZONE, behind=_BEHIND_CLOCK),
    Stamp("hh:mm", _TO_MINUTES + _ZONE, behind=_BEHIND_CLOCK),
)


@cache
def stamps() -> tuple[Stamp, ...]:
    """All layouts: those that tell most first, numbers and times of day last.

    Examples
    --------
    >>> [stamp.name for stamp in stamps()[:2]]
    ['YYYY-MM-DD hh:mm:ss', 'YYYY-MM-DDThh:mm:ss']
    """
    dated = [
        Stamp(
            f"{date}{shown}{clock}",
            f"{date_regex}{join}{clock_regex}",
            _choices(date, f"{shown}{clock}"),
            date_regex,
            joined=f"{date_regex}{join}",
        )
        for clock, clock_regex in _CLOCKS
        for date, date_regex in _DATES
        for shown, join in _JOINS
        if not (clock == "hh:mm" and ("Y" not in date or shown in "-:_"))
    ]
    return (*dated, *_ALONE, *_ELSEWHERE, *_EPOCHS, _UPTIME, *_CLOCKS_ALONE)


def stamp_named(name: str) -> Stamp:
    """The layout of this name; raises KeyError where there is none."""
    return _by_name()[name]


@cache
def _by_name() -> dict[str, Stamp]:
    return {stamp.name: stamp for stamp in stamps()}


def _choices(date: str, rest: str) -> tuple[str, ...]:
    return next((tuple(f"{each}{rest}" for each in choice) for choice in _CHOICES if date in choice), ())

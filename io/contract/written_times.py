"""Times that are written in a form of the user's own, and what form a time may be written in.

A form is a text with the codes of C's strptime, as Python knows them: `%d.%m.%Y %H:%M`.  Names of months
and days are English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from cepctl.errors import UsageError
from cepctl.io.contract.times import LogTime, log_time, unreadable
from cepctl.io.contract.zone_words import NO_WORDS, SPELLED, ZoneWords, doubt, zone_of

_YEARS = ("%Y", "%y", "%G", "%c", "%x")
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DAYS = "(?:mon|tue|wed|thu|fri|sat|sun)"
# The parts of a date by the codes that they may have; what stands between them is kept as it is.
_NAMED_MONTH = rf"(?P<b>(?:{_MONTHS})[a-z]*)"
_DATES = (
    rf"(?P<d>\d{{1,2}})(\W{{1,2}}){_NAMED_MONTH}(\W{{1,2}})(?P<y>\d{{4}}|\d\d)",
    rf"{_NAMED_MONTH}(\W{{1,2}})(?P<d>\d{{1,2}})(\W{{1,2}})(?P<y>\d{{4}})",
    r"(?P<d>\d{1,2})([-./])(?P<m>\d{1,2})([-./])(?P<y>\d{4}|\d\d)",
    r"(?P<y>\d{4})([-./])(?P<m>\d{1,2})([-./])(?P<d>\d{1,2})",
)
_DAY = rf"(?P<a>{_DAYS}[a-z]*)\W{{1,2}}"
_CLOCK = r"(?P<H>\d{1,2})([:.])(?P<M>\d\d)(?:([:.])(?P<S>\d\d)(?:([.,])(?P<f>\d+))?)?(?:\s?(?P<p>[AP]M))?"
_ZONE = rf"\s?(?P<z>[-+]\d\d:?\d\d|Z)|\s(?P<Z>{SPELLED})"
_SHAPES = [
    *(re.compile(rf"(?:{_DAY})?{date}(?:\W{{1,3}}{_CLOCK}(?:{_ZONE})?)?", re.IGNORECASE) for date in _DATES),
    re.compile(
        rf"(?:{_DAY})?{_NAMED_MONTH}(\W{{1,2}})(?P<d>\d{{1,2}})\s{_CLOCK}(?:{_ZONE})?\s(?P<y>\d{{4}})",
        re.IGNORECASE,
    ),
    re.compile(rf"{_CLOCK}\s(?:{_DATES[2]})", re.IGNORECASE),
]
_A_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]{1,5}(?![A-Za-z])")
_FULL_NAME = 4
# The codes of a unit, from the finest on, with its length in microseconds.
_FINEST_UNITS = (("f", 0), ("STcXs", 1_000_000), ("MR", 60_000_000), ("HI", 3_600_000_000))
_ISO = re.compile(r"\s*\d{4}([-/.])\d{1,2}\1\d{1,2}(?!\d)", re.ASCII)
_GROUPS = re.compile(r"(\d{1,4}[^\d:]{1,3}){2}\d{1,4}", re.ASCII)
_MONTH = re.compile(rf"\b({_MONTHS})", re.IGNORECASE)


def check_form(form: str) -> str:
    """The form itself; raises UsageError where it has a code that there is not, or no year."""
    try:
        datetime.strptime("", form)
    except (ValueError, re.error) as problem:
        if "does not match" not in str(problem):
            raise UsageError(f"--time-format '{form}': {problem}; {_EXAMPLE}") from None
    if not any(code in form.replace("%%", "") for code in _YEARS):
        raise UsageError(f"--time-format '{form}' has no year (%Y or %y); {_EXAMPLE}")
    return form


_EXAMPLE = "write it with codes such as '%d.%m.%Y %H:%M:%S'"


def parse_written(
    text: str | None, form: str, zone: ZoneInfo | None = None, words: ZoneWords = NO_WORDS
) -> LogTime | None:
    """Read a time of this form; None where the text is not of it, with its problem where it is like one.

    `zone` is where a time without a zone was written; UTC when None.  `words`: what the user says of words
    that name zones.

    Examples
    --------
    >>> parse_written("01.01.1970 02:00", "%d.%m.%Y %H:%M").micros // 3_600_000_000
    2
    >>> parse_written("1970-01-01", "%d.%m.%Y") is None
    True
    >>> parse_written("01.01.1970 00:00:00.000001234", "%d.%m.%Y %H:%M:%S.%f").nanos
    234
    """
    if text is None:
        return None
    text = text.strip()
    if "%Z" in form:
        return _with_word(text, form, words)
    try:
        return log_time(datetime.strptime(text, form), zone, form_grain(form))
    except ValueError:
        return _with_long_fraction(text, form, zone)


def _with_word(text: str, form: str, words: ZoneWords) -> LogTime | None:
    """A time whose zone is a word: strptime reads the text with another word in its place."""
    for found in reversed([*_A_WORD.finditer(text)]):
        place = text[: found.start()] + "UTC" + text[found.end() :]
        try:
            moment = datetime.strptime(place, form).replace(tzinfo=None)
        except ValueError:
            continue
        zone = zone_of(found[0], moment, words)
        if zone is None:
            return unreadable(doubt(found[0]))
        return log_time(moment.replace(tzinfo=zone), None, form_grain(form))
    return None


def _with_long_fraction(text: str, form: str, zone: ZoneInfo | None) -> LogTime | None:
    """A time with more digits than the six that C's `%f` takes, after the sign before it in the form."""
    for found in _long_fraction(form).finditer(text) if "%f" in form else ():
        try:
            moment = datetime.strptime(text[: found.start(1)] + text[found.end() :], form)
        except ValueError:
            continue
        time = log_time(moment, zone, form_grain(form))
        nanos, cut = int(found[1].ljust(3, "0")), found[2].strip("0") != ""
        return None if time is None else time._replace(nanos=nanos, cut=cut)
    return None


@lru_cache(maxsize=64)
def _long_fraction(form: str) -> re.Pattern[str]:
    """A fraction of more than six digits, in a form; without a sign before it, there is none."""
    sign = form[: form.index("%f")][-1:]
    before = re.escape(sign) if sign and not sign.isalnum() else r"(?!)"
    return re.compile(rf"(?<={before})[0-9]{{6}}([0-9]{{1,3}})([0-9]*)(?![0-9])")


@lru_cache(maxsize=64)
def form_grain(form: str) -> int:
    """Microseconds of the finest unit that times of a form tell, 0 where that is a fraction of a second.

    Examples
    --------
    >>> form_grain("%d.%m.%Y %H:%M"), form_grain("%d.%m.%Y"), form_grain("%c"), form_grain("%s.%f %Y")
    (60000000, 86400000000, 1000000, 0)
    """
    codes = set(re.findall("%(.)", form.replace("%%", "")))
    return next((grain for letters, grain in _FINEST_UNITS if codes & set(letters)), 86_400_000_000)


def possible_forms(text: str) -> tuple[str, ...]:
    """The forms that a time which is not ISO 8601 may be written in; several where the day may be the month.

    Examples
    --------
    >>> possible_forms("03.04.2026 12:00"), possible_forms("04/03/2026 1:00 PM")
    (('%d.%m.%Y %H:%M',), ('%d/%m/%Y %I:%M %p', '%m/%d/%Y %I:%M %p'))
    >>> possible_forms("03/Apr/2026:12:00:00 +0200"), possible_forms("?")
    (('%d/%b/%Y:%H:%M:%S %z',), ())
    """
    text = text.strip()
    forms: list[str] = []
    for shape in _SHAPES:
        if (found := shape.fullmatch(text)) is not None:
            forms.append(_form(found, {}))
            if re.search(r"%d([-/])%m\1%[yY]", forms[-1]):
                forms.append(_form(found, {"d": "%m", "m": "%d"}))
    return tuple(dict.fromkeys(form for form in forms if parse_written(text, form) is not None))


def forms_of_all(forms: Sequence[str], texts: Iterable[str]) -> Sequence[str]:
    """Those of some forms that other times are of, too; times that are of none of them say nothing.

    Examples
    --------
    >>> forms_of_all(("%d/%m/%Y", "%m/%d/%Y"), ["03/04/2026", "?", "04/27/2026"])
    ['%m/%d/%Y']
    """
    for text in texts:
        forms = [form for form in forms if parse_written(text, form) is not None] or forms
        if len(forms) == 1:
            break
    return forms


def _form(found: re.Match[str], otherwise: Mapping[str, str]) -> str:
    """The text of a match with the codes of its parts in their places."""
    text, codes = found.string, dict[str, str]()
    for part, value in found.groupdict().items():
        if value is not None:
            codes[part] = otherwise.get(part, f"%{part}")
    if len(found["y"]) == _FULL_NAME:
        codes["y"] = "%Y"
    for short, full in (("b", "%B"), ("a", "%A")):
        if short in codes and len(found[short]) >= _FULL_NAME:
            codes[short] = full
    if "p" in codes:
        codes["H"] = "%I"
    for part in sorted(codes, key=found.start, reverse=True):
        text = text[: found.start(part)] + codes[part] + text[found.end(part) :]
    return text


def is_like_a_date(text: str) -> bool:
    """Whether a text is written like a date at all; words and single numbers are not."""
    named = _MONTH.search(text) is not None and any(letter.isdigit() for letter in text)
    return named or _GROUPS.search(text) is not None


def is_like_iso(text: str) -> bool:
    """Whether a text begins as ISO 8601 does: what is not a time then is a slip, and no other form."""
    return _ISO.match(text) is not None

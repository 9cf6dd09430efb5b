"""Words that name a zone behind a time, such as EST, and what each of them means.

Words that mean one offset in practice are read so.  Of those that several countries use for offsets of
their own only the user can say which is meant, as `--zone CST=America/Chicago` does.  Letters of the
military are no zones, but for Z.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from cepctl.errors import UsageError

ZoneWords = Mapping[str, ZoneInfo]
"""What the user says of words."""
NO_WORDS: ZoneWords = {}

_HOURS: Mapping[float, str] = {
    -10: "HST", -9: "AKST", -8: "AKDT PST", -7: "MST PDT", -6: "MDT", -5: "EST CDT", -4: "EDT",
    0: "UT UTC GMT Z WET", 1: "CET MET WEST", 2: "CEST MEST EET SAST", 3: "EEST MSK", 8: "AWST", 9: "JST KST",
    9.5: "ACST", 10: "AEST", 10.5: "ACDT", 11: "AEDT", 12: "NZST", 13: "NZDT",
}  # fmt: skip
OFFSETS: Mapping[str, int] = {
    word: round(hours * 3600) for hours, words in _HOURS.items() for word in words.split()
}
"""Seconds from UTC."""
_EXAMPLES: Mapping[str, str] = {
    "CST": "America/Chicago", "IST": "Asia/Kolkata", "BST": "Europe/London", "AST": "America/Halifax",
    "ADT": "America/Halifax", "SST": "Pacific/Pago_Pago", "PKT": "Asia/Karachi", "GST": "Asia/Dubai",
    "WST": "Pacific/Apia", "NST": "America/St_Johns", "NDT": "America/St_Johns", "HKT": "Asia/Hong_Kong",
    "SGT": "Asia/Singapore", "PHT": "Asia/Manila", "WIB": "Asia/Jakarta", "WITA": "Asia/Makassar",
    "HDT": "America/Adak", "BRT": "America/Sao_Paulo", "ECT": "America/Guayaquil", "AMT": "Asia/Yerevan",
    "AMST": "America/Manaus", "ET": "America/New_York", "CT": "America/Chicago", "MT": "America/Denver",
    "PT": "America/Los_Angeles",
}  # fmt: skip
"""Words of several meanings, or none that is usual, each with a zone that it may name."""

SPELLED = "|".join(sorted({*OFFSETS, *_EXAMPLES} - {"Z"}, key=lambda word: (-len(word), word)))
"""The words of both kinds, as an expression; longer ones come first."""
_WORD = re.compile(r"[A-Za-z]{2,5}")
_A_YEAR_HAS = ((1, 1), (7, 1))


def said_words(pairs: Iterable[tuple[str, str]]) -> ZoneWords:
    """What `--zone WORD=ZONE` says.

    Raises
    ------
    UsageError
        If a word cannot stand behind a time, or there is no such zone.
    """
    found: dict[str, ZoneInfo] = {}
    for word, name in pairs:
        if not _WORD.fullmatch(word):
            raise UsageError(
                f"--zone {word}={name}: a word of two to five letters names a zone; {_HOW.format('CST')}"
            )
        try:
            found[word.upper()] = ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            raise UsageError(
                f"--zone {word}={name}: there is no zone '{name}'; use an IANA name such as America/Chicago"
            ) from None
    return found


_HOW = "write --zone {}=America/Chicago"


def zone_of(word: str, moment: datetime, words: ZoneWords) -> tzinfo | None:
    """The zone that a word behind a moment, which has no zone of its own, names; None for none or several.

    Examples
    --------
    >>> zone_of("est", datetime(2026, 6, 14), {}).utcoffset(None) // timedelta(hours=1)
    -5
    >>> zone_of("CST", datetime(2026, 6, 14), {}) is None
    True
    """
    word = word.upper()
    if word in words:
        return _of_year(word, moment, words[word])
    seconds = OFFSETS.get(word)
    return None if seconds is None else UTC if seconds == 0 else timezone(timedelta(seconds=seconds))


def _of_year(word: str, moment: datetime, zone: ZoneInfo) -> tzinfo:
    """The offset for which a zone has this word itself in the year of a moment, else the zone."""
    for month, day in _A_YEAR_HAS:
        known = moment.replace(month=month, day=day, tzinfo=zone)
        if known.tzname() == word and (offset := known.utcoffset()) is not None:
            return timezone(offset)
    return zone


@lru_cache(maxsize=256)
def doubt(word: str) -> str:
    """Why a time with this word behind it is none.

    Examples
    --------
    >>> doubt("CST")
    "the zone word 'CST' has several meanings; --zone CST=America/Chicago, for one, says which"
    """
    example = _EXAMPLES.get(word.upper())
    if example is None:
        return (
            f"the zone word '{word}' is not known; --zone {word}=Europe/Berlin, for one, says what it means"
        )
    return f"the zone word '{word}' has several meanings; --zone {word}={example}, for one, says which"

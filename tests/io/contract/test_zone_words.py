"""Words behind times that name zones."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest

from cepctl.errors import UsageError
from cepctl.io.contract.times import parse_time, why_no_time
from cepctl.io.contract.written_times import parse_written, possible_forms
from cepctl.io.contract.zone_words import OFFSETS, said_words, zone_of

CHICAGO = said_words([("CST", "America/Chicago")])
# Words that IANA has for no zone of today, or for several.
_OF_OLD = {"UT", "Z", "MET", "MEST"}


def test_words_of_one_meaning_are_the_offsets_that_zones_have_for_them() -> None:
    zones = [ZoneInfo(name) for name in available_timezones() if "/" in name]
    moments = [datetime(2026, month, 1, 12) for month in (1, 7)]
    known: dict[str, set[int]] = {}
    for zone in zones:
        for moment in moments:
            local = moment.replace(tzinfo=zone)
            offset = local.utcoffset()
            assert offset is not None
            known.setdefault(str(local.tzname()), set()).add(int(offset.total_seconds()))
    for word in OFFSETS.keys() - _OF_OLD:
        assert OFFSETS[word] in known.get(word, {OFFSETS[word]}), word


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2026-06-14 12:00:00 EST", -5),
        ("2026-06-14 12:00:00.5 cest", 2),
        ("2026-06-14T12:00:00 ACST", 9.5),
        ("2026-06-14 12:00:00MSK", 3),
        ("2026-06-14 12:00:00 UT", 0),
    ],
)
def test_a_word_behind_a_time_is_its_zone(text: str, hours: float) -> None:
    time = parse_time(text, ZoneInfo("Asia/Tokyo"))
    assert time is not None
    assert time.zone_given
    assert time.zone_seconds == hours * 3600


def test_a_word_of_several_meanings_is_what_the_user_says() -> None:
    text = "2026-06-14 12:00:00 CST"
    assert parse_time(text) is None
    assert "'CST' has several meanings" in str(why_no_time(text, None, {}))
    time = parse_time(text, None, CHICAGO)
    assert time is not None
    assert time.zone_seconds == -6 * 3600, "in June Chicago has CDT, and CST all the same is its winter"


def test_a_word_of_the_user_that_its_zone_does_not_have_follows_its_clocks() -> None:
    words = said_words([("ET", "America/New_York")])
    hours = [
        time.zone_seconds // 3600
        for text in ("2026-01-14 12:00 ET", "2026-06-14 12:00 ET")
        if (time := parse_time(text, None, words)) is not None
    ]
    assert hours == [-5, -4]


@pytest.mark.parametrize("word", ["XST", "A", "B"])
def test_unknown_words_and_military_letters_are_named(word: str) -> None:
    cause = why_no_time(f"2026-06-14 12:00:00 {word}", None, {})
    assert cause is not None
    assert f"'{word}' is not known" in cause


def test_a_word_in_a_form_of_the_user_is_its_zone() -> None:
    (form,) = possible_forms("Sun Jun 14 12:00:00 CEST 2026")
    time = parse_written("Sun Jun 14 12:00:00 CEST 2026", form)
    assert time is not None
    assert time.zone_seconds == 7200
    doubtful = parse_written("Sun Jun 14 12:00:00 IST 2026", form)
    assert doubtful is not None
    assert "--zone IST=Asia/Kolkata" in str(doubtful.problem)


def test_what_is_said_of_words_is_checked() -> None:
    with pytest.raises(UsageError, match="there is no zone 'Mars'"):
        said_words([("CST", "Mars")])
    with pytest.raises(UsageError, match="two to five letters"):
        said_words([("C1", "America/Chicago")])
    assert zone_of("CST", datetime(2026, 1, 1), CHICAGO).utcoffset(None) == timedelta(hours=-6)  # type: ignore[union-attr]

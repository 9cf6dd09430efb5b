"""How instants are named: by the calendar, and from now."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cepctl.errors import UsageError
from cepctl.library.selection import instant

NOW = datetime(2026, 3, 3, 9, 30, tzinfo=UTC)


def told(text: str) -> str:
    nanos = instant(text, round(NOW.timestamp()) * 10**9)
    return datetime.fromtimestamp(nanos / 10**9, UTC).isoformat()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T00:00:00+01:00", "2026-02-28T23:00:00+00:00"),
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("now", "2026-03-03T09:30:00+00:00"),
        ("-24h", "2026-03-02T09:30:00+00:00"),
        ("-1.5 min", "2026-03-03T09:28:30+00:00"),
        ("Today", "2026-03-03T00:00:00+00:00"),
        ("yesterday", "2026-03-02T00:00:00+00:00"),
    ],
)
def test_an_instant_is_absolute_or_counted_from_now(text: str, expected: str) -> None:
    assert told(text) == expected


@pytest.mark.parametrize("text", ["24h", "+1h", "-24", "lately", "", "-3 moons"])
def test_what_names_no_instant_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="-24h, or one of now, today, yesterday"):
        told(text)

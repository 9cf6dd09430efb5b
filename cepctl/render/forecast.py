"""A forecast in words: about how many matches, about how long, judged by what."""

from __future__ import annotations

from collections.abc import Mapping

from cepctl.render.counting import counted


def forecast_text(figures: Mapping[str, int | float], *, grouped: bool = False) -> str:
    """The figures of a forecast (`Forecast.to_json` in engines/runners) in words.

    Examples
    --------
    >>> forecast_text({"matches": 1_649_898, "seconds": 14.0, "tried": 256, "beginning": 40_000})[:60]
    'about 2,000,000 matches, about 10 s with --runner local; jud'
    """
    matches = counted(_rounded(int(figures["matches"])), "match", "matches") + (
        " to group" if grouped else ""
    )
    beginning = counted(_rounded(int(figures["beginning"])), "event")
    judged = f"judged by {figures['tried']:,} of about {beginning} that can begin one"
    return f"about {matches}, {_lasting(figures['seconds'])} with --runner local; {judged}"


def _rounded(count: int) -> int:
    """To one digit, as far as the forecast can be relied on; small counts as they are.

    Examples
    --------
    >>> _rounded(7), _rounded(1_649_898), _rounded(96)
    (7, 2000000, 100)
    """
    if count < 10:
        return count
    unit = int(10 ** (len(str(count)) - 1))
    return round(count / unit) * unit


def _lasting(seconds: float) -> str:
    """About how long that is.

    Examples
    --------
    >>> _lasting(0.2), _lasting(14.0), _lasting(900.0), _lasting(90_000.0)
    ('under 1 s', 'about 10 s', 'about 15 min', 'about 25 h')
    """
    if seconds < 1:
        return "under 1 s"
    if seconds < 120:
        return f"about {_rounded(round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 7_200 else f"about {round(seconds / 3_600)} h"

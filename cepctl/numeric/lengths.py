"""Lengths of time in people's units."""

from __future__ import annotations

_FINE = ((1, "s"), (10**3, "ms"), (10**6, "us"), (10**9, "ns"))
_UNITS = ((86_400.0, "d"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))


def seconds_text(seconds: float) -> str:
    """A length of time in its two largest units; below a minute in seconds, with what digits it has.

    Examples
    --------
    >>> [seconds_text(each) for each in (0.0015, 12.5, 75, 3_725, 90_000, -75)]
    ['1.5 ms', '12.5 s', '1 min 15 s', '1 h 2 min', '1 d 1 h', '-1 min 15 s']
    """
    sign, length = "-" if seconds < 0 else "", abs(seconds)
    if length < 60:
        factor, unit = next((each for each in _FINE if length * each[0] >= 1), _FINE[0])
        return f"{sign}{length * factor:.4g} {unit}"
    at = next(at for at, (size, _) in enumerate(_UNITS) if length >= size)
    size, unit = _UNITS[at]
    whole, rest = divmod(length, size)
    smaller, name = _UNITS[at + 1]
    parts = [f"{whole:,.0f} {unit}"]
    if int(rest // smaller):
        parts.append(f"{int(rest // smaller)} {name}")
    return sign + " ".join(parts)


def span_text(least: float | None, most: float | None) -> str:
    """From the least to the most, or the one length that both are.

    Examples
    --------
    >>> span_text(1.0, 75.0), span_text(2.0, 2.0)
    ('1 s..1 min 15 s', '2 s')
    """
    if least is None or most is None:
        return ""
    texts = dict.fromkeys((seconds_text(least), seconds_text(most)))
    return "..".join(texts)

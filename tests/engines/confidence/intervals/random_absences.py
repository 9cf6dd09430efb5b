"""Hypothesis strategies for matches with one to three negations that one event may fit at once.

Negated components are of the types of others, or of any type, and stand in all places: in gaps, at edges of
the window, beside ISEQ, in both parts of an OR.  Some events last, others are points.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.engines.confidence.intervals.random_intervals import conditions, lasting_events
from tests.plans import Event

_ABSENT = "nmo"


@st.composite
def _negated(draw: st.DrawFn, positives: str) -> list[str]:
    """The negated components; most are of one type, so that one event fits several."""
    common = draw(st.sampled_from(["N", "N", "N", "*", *positives]))
    kinds = [common] * draw(st.sampled_from([1, 2, 2, 2, 3]))
    if draw(st.integers(0, 4)) == 0:
        kinds[0] = draw(st.sampled_from(["N", "*", *positives]))
    return [f"!{kind} {name}" for kind, name in zip(kinds, _ABSENT, strict=False)]


@st.composite
def _sequence(draw: st.DrawFn, positives: str) -> tuple[str, list[str]]:
    """SEQ with negations anywhere, and their variables."""
    absent = draw(_negated(positives))
    parts = [f"{kind} {kind.lower()}" for kind in positives]
    if len(positives) > 1 and draw(st.integers(0, 5)) == 0:
        parts[:2] = [f"ISEQ({parts[0]}, {parts[1]})"]
    for each in absent:
        parts.insert(draw(st.integers(0, len(parts))), each)
    return f"SEQ({', '.join(parts)})", [each[-1] for each in absent]


@st.composite
def _any_order(draw: st.DrawFn, positives: str) -> tuple[str, list[str], list[str]]:
    """ISEQ with negations, their variables, and what must be asked of each."""
    absent = draw(_negated(positives))
    parts = [f"{kind} {kind.lower()}" for kind in positives] + absent
    names = [each[-1] for each in absent]
    asked = [
        f"{name} {draw(st.sampled_from(['INTERSECTS', 'BEFORE', 'AFTER|DURING', 'OVERLAPS|MEETS']))} "
        f"{draw(st.sampled_from(positives.lower()))}"
        for name in names
    ]
    return f"ISEQ({', '.join(parts)})", names, asked


@st.composite
def absences(draw: st.DrawFn, positives: str) -> str:
    """A pattern of these components beside which one to three others are absent."""
    asked: list[str] = []
    form = draw(st.sampled_from(["sequence", "sequence", "sequence", "any order", "either"]))
    if form == "any order":
        pattern, names, asked = draw(_any_order(positives))
    else:
        pattern, names = draw(_sequence(positives))
        if form == "either":
            other, more = draw(_sequence(positives))
            pattern, names = f"OR({pattern}, {other})", sorted({*names, *more})
    more_asked = draw(st.sampled_from(["", "", "", "", "absent", "key", "positive", "attribute"]))
    if more_asked == "absent":
        asked.append(draw(conditions(draw(st.sampled_from(names)), draw(st.sampled_from(positives.lower())))))
    if more_asked == "positive" and len(positives) > 1:
        asked.append(draw(conditions("a", "b")))
    if more_asked == "attribute":
        asked.append(f"{names[0]}.k = 'p'")
    where = f" WHERE {' AND '.join([*asked, *(['[k]'] if more_asked == 'key' else [])])}"
    within = draw(st.sampled_from(["6", "14", "14"]))
    return f"PATTERN {pattern}{where if len(where) > 7 else ''} WITHIN {within} ticks"


@st.composite
def shared_absences(draw: st.DrawFn) -> tuple[str, tuple[Event, ...]]:
    """A query, an event or two for each of its components one after the other, and rivals among them."""
    positives = draw(st.sampled_from(["A", "AB", "AB", "ABC"]))
    query = draw(absences(positives))
    events = []
    for number, kind in enumerate(positives):
        begin = 4 * number + draw(st.integers(0, 1))
        if draw(st.booleans()):
            events.append(Event(f"e{number}", kind, begin, begin + draw(st.integers(0, 2)), k="p"))
        else:
            events.append(_later(draw(lasting_events(f"e{number}", kind)), 4 * number - 3))
    kind = next((each for each in [*positives, "N"] if f"!{each} " in query), "N")
    for number in range(draw(st.sampled_from([1, 1, 2]))):
        own = draw(st.sampled_from([kind, kind, kind, kind, "N", "B"]))
        events.append(draw(_rival(f"r{number}", own, 4 * len(positives) - 3)))
    return query, tuple(events)


@st.composite
def _rival(draw: st.DrawFn, event_id: str, kind: str, last: int) -> Event:
    """An event that may be on either side of others."""
    begin = draw(st.integers(-1, last))
    form = draw(st.sampled_from(["point", "lasting", "lasting", "any"]))
    if form == "any":
        return _later(draw(lasting_events(event_id, kind)), begin - 2)
    start = Event(event_id, kind, begin, begin + draw(st.integers(1, 4)), k="p")
    if form == "point":
        return start
    end = begin + draw(st.integers(0, 3))
    return replace(start, end_lower=end, end_upper=end + draw(st.integers(1, 4)))


def _later(event: Event, ticks: int) -> Event:
    """The same so many ticks later."""

    def moved(pmf: tuple[tuple[int, int, float], ...] | None) -> tuple[tuple[int, int, float], ...] | None:
        return pmf and tuple((lo + ticks, hi + ticks, p) for lo, hi, p in pmf)

    start = replace(event, lower=event.lower + ticks, upper=event.upper + ticks, pmf=moved(event.pmf))
    if event.end_lower is None or event.end_upper is None:
        return start
    return replace(
        start,
        end_lower=event.end_lower + ticks,
        end_upper=event.end_upper + ticks,
        end_pmf=moved(event.end_pmf),
    )

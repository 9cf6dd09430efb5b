"""What may be given beside interval events, and random streams that do not often contradict it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.plans import Event

CLAUSES = (
    "SEQ(* p, * q) IF p.event_id < q.event_id AND p.k = q.k",
    "SEQ(A p, B q) IF p.lower <= q.lower",
    "SEQ(A|B p, C q) WITHIN 9 ticks IF p.event_id < q.event_id",
    "AND(A p, * q) WITHIN 9 ticks IF p.k = q.k",
    "SEQ(A p, * q, C r) WITHIN 12 ticks IF p.event_id < q.event_id AND q.event_id < r.event_id",
    "AND(* p, * q) WITHIN 10 ticks IF p.event_id < q.event_id",
)
GIVENS = st.lists(st.sampled_from(CLAUSES), min_size=1, max_size=2, unique=True).map(
    lambda clauses: "".join(f" GIVEN {each}" for each in clauses)
)


@st.composite
def tied_streams(draw: st.DrawFn, kinds: tuple[str, ...] = ("AB", "ABC", "ABCA", "AAB")) -> tuple[Event, ...]:
    """Two to four events, each a little later than the one before, so that few clauses contradict."""
    events = []
    for number, kind in enumerate(draw(st.sampled_from(kinds))):
        begin = number * draw(st.integers(1, 3))
        key = draw(st.sampled_from(["p", "p", "p", "q"]))
        start = Event(f"e{number}", kind, begin, begin + draw(st.integers(0, 4)), k=key)
        form = draw(st.sampled_from(["point", "interval", "interval", "holes", "length"]))
        if form == "holes":
            pmf = ((begin, begin + 1, 0.25), (begin + 4, begin + 4, 0.75))
            start = replace(start, upper=begin + 4, pmf=pmf)
        if form in ("interval", "length"):
            end = begin + draw(st.integers(0, 3))
            start = replace(start, end_lower=end, end_upper=end + draw(st.integers(0, 4)))
        if form == "length":
            start = replace(start, length_lower=draw(st.sampled_from([None, 1])), length_upper=3)
        events.append(start)
    return tuple(events)

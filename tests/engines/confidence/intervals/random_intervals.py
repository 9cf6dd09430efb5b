"""Hypothesis strategies for small streams of events, many of which last, and for conditions on their ends."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from cepctl.language.keywords import ALLEN_RELATIONS
from tests.plans import Event

_HOLES = st.sampled_from(
    [((0, 0, 0.25), (2, 3, 0.75)), ((0, 1, 0.5), (4, 4, 0.5)), ((0, 0, 0.1), (1, 2, 0.9))]
)
_FORMS = st.sampled_from(["interval", "interval", "interval", "point", "histogram", "length"])


@st.composite
def lasting_events(draw: st.DrawFn, event_id: str, kind: str) -> Event:
    """An event with few worlds: a point, or start and end, some with holes or bounds of the length."""
    begin, form = draw(st.integers(0, 5)), draw(_FORMS)
    key = draw(st.sampled_from(["p", "p", "p", "q", None]))
    start = Event(event_id, kind, begin, begin + draw(st.integers(0, 3)), k=key)
    if form == "histogram":
        pmf = tuple((begin + lo, begin + hi, p) for lo, hi, p in draw(_HOLES))
        start = replace(start, upper=pmf[-1][1], pmf=pmf)
    if form == "point":
        return start
    end = draw(st.integers(max(start.lower - 1, 0), start.upper + 3))
    lasting = replace(start, end_lower=end, end_upper=end + draw(st.integers(0, 3)))
    if draw(st.integers(0, 4)) == 0:
        pmf = tuple((end + lo, end + hi, p) for lo, hi, p in draw(_HOLES))
        lasting = replace(lasting, end_upper=pmf[-1][1], end_pmf=pmf)
    if form == "length":
        shortest = draw(st.sampled_from([None, 0, 1, 2, 3]))
        longest = draw(st.sampled_from([None, *((shortest or 0) + more for more in (0, 1, 3))]))
        lasting = replace(lasting, length_lower=shortest, length_upper=longest)
    return lasting


_CONDITIONS = st.sampled_from(
    ["relation", "union", "intersects", "by", "tolerance", "times", "times", "constant"]
)


@st.composite
def conditions(draw: st.DrawFn, left: str, right: str) -> str:
    """A relation of two variables, or a comparison of their times."""
    form, ticks = draw(_CONDITIONS), draw(st.integers(0, 3))
    names = [name.upper() for name in ALLEN_RELATIONS]
    if form in ("relation", "tolerance", "union"):
        several = draw(st.lists(st.sampled_from(names), min_size=2, max_size=4, unique=True))
        chosen = "|".join(several) if form == "union" else several[0]
        return f"{left} {chosen} {right}" + (f" TOLERANCE {ticks} ticks" if form == "tolerance" else "")
    if form in ("intersects", "by"):
        return f"{left} INTERSECTS {right}" + (f" BY {ticks} ticks" if form == "by" else "")
    ends = [draw(st.sampled_from(["start", "end", "time"])) for _ in range(2)]
    sign = draw(st.sampled_from(["<", "<=", "=", "<>", ">", ">="]))
    if form == "constant":
        return f"{left}.{ends[0]} {sign} '1970-01-01T00:00:00.{draw(st.integers(1, 7)):03}Z'"
    other = draw(st.sampled_from([left, right]))
    return f"{left}.{ends[0]} - {other}.{ends[1]} {sign} {ticks} ticks"


PATTERNS = {
    2: ["ISEQ(A a, B b)", "AND(A a, B b)", "SEQ(A a, B b)", "ISEQ(A a, A b)"],
    3: ["ISEQ(A a, B b, C c)", "SEQ(A a, B b, C c)", "SEQ(A a, ISEQ(B b, C c))"],
}


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A pattern of two or three components, up to three conditions, perhaps a window or a key."""
    size = draw(st.sampled_from([2, 2, 2, 3]))
    pattern = draw(st.sampled_from(PATTERNS[size]))
    pairs = [pair for pair in ("ab", "ba", "bc", "ac") if size == 3 or "c" not in pair]
    asked = [draw(conditions(*draw(st.sampled_from(pairs)))) for _ in range(draw(st.integers(0, 3)))]
    keyed = ["[k]"] if draw(st.integers(0, 3)) == 0 else []
    where = f" WHERE {' AND '.join([*asked, *keyed])}" if asked or keyed else ""
    window = draw(st.sampled_from(["", "", " WITHIN 4 ticks", " WITHIN 7 ticks"]))
    return f"PATTERN {pattern}{where}{window}"


@st.composite
def streams(draw: st.DrawFn) -> tuple[Event, ...]:
    """Two to four events."""
    kinds = draw(st.sampled_from(["AB", "ABC", "ABCA", "AAB"]))
    return tuple(draw(lasting_events(f"e{number}", kind)) for number, kind in enumerate(kinds))


ABSENCES = [
    "SEQ(A a, !C c, B b)",
    "SEQ(A a, !C c, !A d, B b)",
    "SEQ(!C c, A a, B b)",
    "SEQ(A a, B b, !C c)",
    "SEQ(ISEQ(A a, B b), !C c)",
    "ISEQ(A a, !C c, B b)",
    "ISEQ(!C c, A a)",
]


@st.composite
def negations(draw: st.DrawFn) -> str:
    """A pattern with a negation that conditions may name, and a window where it needs one."""
    pattern = draw(st.sampled_from(ABSENCES))
    anywhere, two = pattern.startswith("ISEQ"), "B b" in pattern
    positives = "ab" if two else "a"
    asked = [
        draw(conditions(*draw(st.sampled_from([("c", each), (each, "c")]))))
        for each in draw(st.lists(st.sampled_from(positives), min_size=int(anywhere), max_size=2))
    ]
    if two and draw(st.booleans()):
        asked.append(draw(conditions("a", "b")))
    if anywhere:
        asked.append(f"c {draw(st.sampled_from(['INTERSECTS', 'DURING', 'BEFORE', 'OVERLAPS|AFTER']))} a")
    keyed = ["[k]"] if draw(st.integers(0, 3)) == 0 else []
    where = f" WHERE {' AND '.join([*asked, *keyed])}" if asked or keyed else ""
    window = draw(st.sampled_from([" WITHIN 4 ticks", " WITHIN 7 ticks"]))
    outer = pattern.startswith("SEQ(!") or pattern.endswith("!C c)")
    return f"PATTERN {pattern}{where}{window if outer or draw(st.integers(0, 3)) == 0 else ''}"


@st.composite
def streams_with_rivals(draw: st.DrawFn) -> tuple[Event, ...]:
    """Two to four events, most of them one that a pattern binds and some that may break it."""
    kinds = draw(st.sampled_from(["ABC", "ABCC", "ABAC", "AC", "ACC"]))
    return tuple(draw(lasting_events(f"e{number}", kind)) for number, kind in enumerate(kinds))


_WITH_GROUPS = st.sampled_from(["SEQ(A a, B+ b[], C c)", "SEQ(A a, B+ b[])", "SEQ(B+ b[], C c)"])
_OF_GROUPS = st.sampled_from(
    [
        "",
        "",
        "b[i].x >= b[i-1].x",
        "count(b[]) >= 2",
        "b[i].time - {0}.end <= 4 ticks",
        "b[i].time <> {0}.start",
    ]
)


@st.composite
def queries_with_groups(draw: st.DrawFn) -> str:
    """A pattern with a Kleene group of points beside one event or two, and conditions on both."""
    pattern = draw(_WITH_GROUPS)
    first = "a" if "A a" in pattern else "c"
    asked = [each.format(first) for each in [draw(_OF_GROUPS)] if each]
    if "A a" in pattern and "C c" in pattern and draw(st.booleans()):
        asked.append(draw(conditions("a", "c")))
    asked += ["[k]"] if draw(st.integers(0, 3)) == 0 else []
    where = f" WHERE {' AND '.join(asked)}" if asked else ""
    return f"PATTERN {pattern}{where}{draw(st.sampled_from(['', ' WITHIN 5 ticks', ' WITHIN 8 ticks']))}"


@st.composite
def streams_with_points(draw: st.DrawFn) -> tuple[Event, ...]:
    """An event or two that last or do not, and points between them."""
    kinds = draw(st.sampled_from(["AC", "A", "C"]))
    ends = [draw(lasting_events(f"e{n}", kind)) for n, kind in enumerate(kinds)]
    return (*ends, *draw(points_between(most=3, widest=3)))


@st.composite
def points_between(draw: st.DrawFn, most: int, widest: int) -> list[Event]:
    points = []
    for number in range(draw(st.integers(1, most))):
        begin, key = draw(st.integers(2, 8)), draw(st.sampled_from(["p", "p", "q"]))
        end = begin + draw(st.integers(0, widest))
        points.append(Event(f"p{number}", "B", begin, end, k=key, x=draw(st.integers(0, 3))))
    return points


_BESIDE_GROUPS = st.sampled_from(
    [
        "SEQ(A a, !C n, B+ b[])",
        "SEQ(A a, B+ b[], !C n)",
        "SEQ(!C n, B+ b[], A a)",
        "SEQ(!C n, A a, B+ b[])",
        "SEQ(B+ b[], !C n, A a)",
        "SEQ(A a, !B n, B+ b[])",
    ]
)
_OF_RIVALS = st.sampled_from(
    [
        "",
        "",
        "n.k = b[i].k",
        "n.x < max(b[].x)",
        "b[i].time - n.end <= 3 ticks",
        "n.start - a.start <= 4 ticks",
    ]
)
_CHOICES = ["SEQ(OR(A a, C c), B+ b[])", "OR(SEQ(A a, B+ b[]), SEQ(A a, B+ b[], C c))"]


@st.composite
def choices_with_groups(draw: st.DrawFn) -> str:
    """A pattern with a Kleene group of points beside an event that lasts, and a negation or an OR."""
    if draw(st.integers(0, 3)) == 0:
        asked = ["a.end - a.start <= 3 ticks"] if draw(st.booleans()) else []
        pattern = draw(st.sampled_from(_CHOICES))
    else:
        pattern, asked = draw(_BESIDE_GROUPS), [draw(_OF_RIVALS), draw(_OF_GROUPS).format("a")]
    asked = [each for each in asked if each] + (["[k]"] if draw(st.integers(0, 3)) == 0 else [])
    where = f" WHERE {' AND '.join(asked)}" if asked else ""
    return f"PATTERN {pattern}{where}{draw(st.sampled_from([' WITHIN 5 ticks', ' WITHIN 8 ticks']))}"


@st.composite
def streams_with_points_and_rivals(draw: st.DrawFn) -> tuple[Event, ...]:
    """An event that lasts or does not, one or two that may break its matches, and points beside them."""
    kinds = draw(st.sampled_from(["AC", "AC", "ACC"]))
    ends = [draw(lasting_events(f"e{n}", kind)) for n, kind in enumerate(kinds)]
    points = draw(points_between(most=2, widest=2))
    return (*(replace(each, x=draw(st.integers(0, 3))) for each in ends), *points)

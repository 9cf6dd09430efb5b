"""What a report page holds: matches, their events and the overview as one compact JSON document.

Ticks are counted from `origin` and raw times from its first nanosecond, so that they are small numbers;
a number that JavaScript would round is a text.  The reader is page/data.js.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from typing import Any

import pyarrow.compute as pc

from cepctl import __version__
from cepctl.clocks.shared import extremes
from cepctl.engines.event.raw_time_counts import RawTimeCounts
from cepctl.io.rows.encoding import presented
from cepctl.laws.choices import LAWLESS
from cepctl.plan.laws import law_name
from cepctl.plan.plan import CONFIDENCE_ERROR, Plan
from cepctl.plan.relations import relations_in_words
from cepctl.render.pictures.matched_events import Bar, MatchedEvents
from cepctl.render.pictures.overview import MatchOverview, key_texts
from cepctl.render.pictures.records import EventRecord, KeyLines, Plain, event_records, plain, variables
from cepctl.render.pictures.strip import Strip

_SENTENCE = re.compile(r"(?<=[.?!]) ")
_MEASURED = ("start", "end", "confidence", CONFIDENCE_ERROR, LAWLESS)

Document = dict[str, Any]


@dataclass(frozen=True)
class About:
    """What the page says of the run beside its matches.

    `best_only`: only the most probable matches were asked for.  `found_at_raw_times`, where an engine tells:
    of each listed match whether raw times find it too; None where one of its events has none.  `why_not`: why
    nothing matched.  `strip`: where matches can be, if a sketch has told.  `keys`: those of GROUP BY.
    `recorded`: in a sentence each what was recorded of the clocks of events, by their ids.
    """

    query: str
    events: int
    best_only: bool
    raw_times: RawTimeCounts
    found_at_raw_times: list[bool | None] | None = None
    why_not: str | None = None
    strip: Strip | None = None
    keys: KeyLines | None = None
    recorded: Mapping[str, str] = field(default_factory=dict)


def document(found: MatchedEvents, counts: MatchOverview, about: About) -> Document:
    """The document of a page that lists the matches `found`, of all those that were counted."""
    plan = found.plan
    origin = _origin(found, about)
    records = event_records(found)
    types, sources, names = TextNumbers(), TextNumbers(), TextNumbers()
    time = None
    if counts.time is not None:
        time = asdict(counts.time) | {"first": plain(counts.time.first - origin)}
    return {
        "version": __version__,
        "query": about.query,
        "title": title_of(about.query),
        "whyNot": about.why_not,
        "strategy": plan.strategy.word,
        "unit": plan.time_unit.nanoseconds,
        "window": None if plan.window is None else plain(plan.window),
        "origin": str(origin),
        "eventCount": about.events,
        "bestOnly": about.best_only,
        "rawTimes": asdict(about.raw_times),
        "foundAtRawTimes": about.found_at_raw_times,
        **({"clocks": _clocks(plan)} if plan.clocks else {}),
        **({"recorded": [about.recorded.get(each.event_id) for each in records]} if about.recorded else {}),
        **({"laws": [law_name(each) for each in plan.laws]} if plan.laws else {}),
        "total": counts.total,
        "confidenceCounts": counts.confidence,
        "timeCounts": time,
        "strip": None if about.strip is None else about.strip.counted_from(origin),
        "keys": None if about.keys is None else about.keys.described(),
        "keyCounts": None if counts.keys is None else asdict(counts.keys),
        "variables": variables(plan),
        "relations": list(relations_in_words(plan.query)),
        "columns": [each.name for each in plan.returns],
        "events": [
            _event(each, origin, plan.time_unit.nanoseconds, types, sources, names) for each in records
        ],
        "matches": _matches(found, origin),
        "types": types.values,
        "sources": sources.values,
        "names": names.values,
    }


def _origin(found: MatchedEvents, about: About) -> int:
    """The tick that the page counts from: the first of the events, or of a strip without any."""
    least: int | None = pc.min(found.events.column("lower")).as_py()
    if least is None:
        return 0 if about.strip is None else about.strip.first
    return least


def title_of(query: str) -> str | None:
    r"""The first sentence of the comment that a query begins with; None where it begins with none.

    Examples
    --------
    >>> title_of("-- Which task was it?  It has\n-- to be known.\nPATTERN SEQ(A a)")
    'Which task was it?'
    >>> title_of("PATTERN SEQ(A a) -- all of them") is None
    True
    """
    lines = takewhile(
        lambda line: line.startswith("--"), (line.strip() for line in query.strip().splitlines())
    )
    comment = " ".join(" ".join(line.removeprefix("--").split()) for line in lines)
    return _SENTENCE.split(comment)[0].strip() or None


class TextNumbers:
    """Texts that occur often, each kept once and known by its number.

    Examples
    --------
    >>> numbering = TextNumbers()
    >>> [numbering.of(text) for text in ("CPU", "Task", "CPU")], numbering.values
    ([0, 1, 0], ['CPU', 'Task'])
    """

    def __init__(self) -> None:
        self._numbers: dict[str | None, int] = {}

    def of(self, text: str | None) -> int:
        """Number of a text, the same every time."""
        return self._numbers.setdefault(text, len(self._numbers))

    @property
    def values(self) -> list[str | None]:
        """The texts in the order of their numbers."""
        return list(self._numbers)


def _event(
    event: EventRecord,
    origin: int,
    nanoseconds: int,
    types: TextNumbers,
    sources: TextNumbers,
    names: TextNumbers,
) -> list[Any]:
    buckets = None
    if event.buckets is not None:
        buckets = [[plain(lo - origin), plain(hi - origin), p] for lo, hi, p in event.buckets]
    return [
        event.event_id,
        types.of(event.event_type),
        sources.of(event.source),
        plain(event.lower - origin),
        plain(event.upper - origin),
        None if event.time is None else plain(event.time - origin * nanoseconds),
        buckets,
        [part for name, value in event.attributes.items() for part in (names.of(name), value)],
        *([] if event.bar is None else [_bar(event.bar, origin, nanoseconds)]),
    ]


def _clocks(plan: Plan) -> dict[str, list[Plain]]:
    """The least and the greatest offset of every clock, in ticks."""
    return {name: [plain(end) for end in extremes(plan.clocks[name])] for name in sorted(plan.clocks)}


def _bar(bar: Bar, origin: int, nanoseconds: int) -> list[Any]:
    """The latest start, the earliest end and the logged end of an event that lasts."""
    logged = None if bar.end_time is None else plain(bar.end_time - origin * nanoseconds)
    return [plain(bar.start_upper - origin), plain(bar.end_lower - origin), logged]


def _matches(found: MatchedEvents, origin: int) -> list[list[Any]]:
    """Alternative, events by place, start, end, confidence, its error, valid bounds, key, RETURN columns, and
    under a law of order the confidence without it.
    """
    bound, valid, matches = found.bound, found.valid, found.matches
    rows, places = bound.rows.tolist(), bound.places.tolist()
    bounds = [
        (plain(lower - origin), plain(upper - origin))
        for lower, upper in zip(valid.lower.tolist(), valid.upper.tolist(), strict=True)
    ]
    keys = _keys(found)
    cells = _cells(found)
    measured = [name for name in _MEASURED if name in matches.column_names]
    listed = []
    for number, row in enumerate(matches.select(measured).to_pylist()):
        first, beyond = bound.offsets[number : number + 2].tolist()
        groups: list[list[int]] = [[] for _ in range(places[beyond - 1] + 1)]
        for entry in range(first, beyond):
            groups[places[entry]].append(rows[entry])
        listed.append(
            [
                int(valid.alternatives[number]),
                [group[0] if len(group) == 1 else group for group in groups],
                plain(row["start"] - origin),
                plain(row["end"] - origin),
                row["confidence"],
                row.get(CONFIDENCE_ERROR),
                [tick for pair in bounds[first:beyond] for tick in pair],
                keys[rows[first]] if keys else None,
                cells[number],
                *([row[LAWLESS]] if LAWLESS in row else []),
            ]
        )
    return listed


def _keys(found: MatchedEvents) -> list[str | None]:
    if not found.plan.partition_by or not found.events.num_rows:
        return []
    # An attribute that no bound event has is not in the table, and then there is no match either.
    keys: list[str | None] = key_texts(found.events, found.plan.partition_by).to_pylist()
    return keys


def _cells(found: MatchedEvents) -> list[list[Any]]:
    """The values of RETURN per match, times as text."""
    returned = [each.name for each in found.plan.returns]
    rows = presented(found.matches, found.plan.time_unit, "ticks").select(returned)
    if not found.plan.returns:
        return [[] for _ in range(found.matches.num_rows)]
    return [[plain(value) for value in row.values()] for row in rows.to_pylist()]

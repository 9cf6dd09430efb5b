"""Events as the text of an XES log, whole traces at a time; read again they are what they were.

    in a dataset                             in the log
    event_type                               concept:name
    time (`lower` where it is null)          time:timestamp, in the zone that it was written in
    an end                                   time:timestamp; the start is start_timestamp
    an interval other than the time alone    uncertainty:continuous_strong
    masses                                   uncertainty:continuous_weak, a HISTOGRAM
    event_id, source, attributes             attributes of the event, by type
    attributes `case:...`                    of the trace, where all of its events agree
    `concept:name`, `time:timestamp`         left out: they are told above

An exact midnight has its interval beside it, lest a reader takes it for a whole day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

import polars as pl
import pyarrow as pa

from cepctl.errors import EventSchemaError
from cepctl.io.xes.uncertain_times import (
    ACTIVITY,
    DENSITY,
    PARAMETERS,
    PROBABILITY,
    START_TIMESTAMP,
    STRONG,
    TIMESTAMP,
    WEAK,
)
from cepctl.schema import ATTRIBUTE_PREFIX, END_PMF, END_TIME, TimeUnit

CASE = "cepctl.case"
"""The column with the name of the trace of each event, null for none."""
CASE_PREFIX, ZONE = "case:", "zone_seconds"
HEAD = b"""<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849-2016" xes.features="nested-attributes" xmlns="http://www.xes-standard.org/">
<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
"""
TAIL = b"</log>\n"
_ILLEGAL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{fffe}\x{ffff}]"
_ILLEGAL_NAME = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED = {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
_TAGS = {pl.Int64: "int", pl.Float64: "float", pl.Boolean: "boolean", pl.String: "string"}
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_DAY = 86_400
_MOST_ZONE = 14 * 3_600
# Events that are text at a time, about: traces are whole.
_AT_ONCE = 20_000


def require_names(names: Sequence[str], what: str) -> None:
    """Raise EventSchemaError for names with characters that XML has no way to write."""
    for name in names:
        if _ILLEGAL_NAME.search(name):
            raise EventSchemaError(
                f"{what} {name!r} has a character that XML cannot write; give it another name in the input"
            )


def log_text(events: pa.Table, unit: TimeUnit, names: Sequence[str]) -> Iterator[bytes]:
    """The traces of events.

    `events`: with CASE, those of a trace one after the other; the fixed columns and attributes of a dataset.
    `unit`: the length of its ticks.  `names`: the attributes that are written.

    Raises
    ------
    EventSchemaError
        If an event lies beyond the calendar.
    """
    frame = pl.from_arrow(events)
    assert isinstance(frame, pl.DataFrame)
    _refuse_beyond(frame, unit)
    starts = frame.select(
        pl.col(CASE).ne_missing(pl.col(CASE).shift(1)).fill_null(True).arg_true()
    ).to_series()
    cuts, begin = [], 0
    for start in [*starts.to_list()[1:], len(frame)]:
        if start - begin >= _AT_ONCE or start == len(frame):
            cuts.append((begin, start))
            begin = start
    for begin, end in cuts:
        if end > begin:
            yield _traces(frame[begin:end], unit, names).encode()


def replaced_characters(events: pa.Table) -> int:
    """How many values have characters that XML cannot write, so that U+FFFD stands for them."""
    frame = pl.from_arrow(events)
    assert isinstance(frame, pl.DataFrame)
    texts = frame.select(pl.col(pl.String).str.contains(_ILLEGAL).sum())
    return sum(texts.row(0)) if texts.width else 0


def _refuse_beyond(frame: pl.DataFrame, unit: TimeUnit) -> None:
    first, last = (second * 10**9 // unit.nanoseconds for second in (_FIRST_SECOND, _LAST_SECOND))
    beyond = (pl.col("lower") <= first + _DAY * 10**9 // unit.nanoseconds) | (
        pl.max_horizontal("upper", "end_upper") >= last - _DAY * 10**9 // unit.nanoseconds
    )
    ids = frame.filter(beyond)["event_id"]
    if len(ids):
        raise EventSchemaError(
            f"event '{ids[0]}' ({len(ids):,} in all) lies beyond the years 1 to 9999, which XES can write"
        )


def _traces(frame: pl.DataFrame, unit: TimeUnit, names: Sequence[str]) -> str:
    """The text of whole traces."""
    frame = frame.with_columns(pl.col(CASE).rle_id().alias("trace"))
    known = (CASE_PREFIX, CASE_PREFIX + ACTIVITY)
    of_traces = [name for name in names if name.startswith(CASE_PREFIX) and name not in known]
    agreed = frame.select("trace", *of_traces).group_by("trace", maintain_order=True)
    whole = agreed.agg(pl.all().n_unique() == 1).drop("trace") if of_traces else None
    firsts = agreed.agg(pl.all().first())
    heads = [pl.concat_str([pl.lit(f'<string key="{ACTIVITY}" value="'), _escaped(CASE), pl.lit('"/>\n')])]
    for name in of_traces:
        assert whole is not None
        key = name.removeprefix(CASE_PREFIX)
        value = pl.when(whole[name]).then(_attribute(firsts[name], key))
        heads.append(value)
        of_trace = frame["trace"].to_frame().select(whole[name].gather(frame["trace"])).to_series()
        frame = frame.with_columns(pl.when(~of_trace | pl.col(CASE).is_null()).then(pl.col(name)))
    cases = frame.group_by("trace", maintain_order=True).agg(pl.col(CASE).first())
    written = frame.select("trace", _event(frame, unit, names).alias("text"))
    bodies = written.group_by("trace", maintain_order=True).agg(pl.col("text").str.join(""))
    head = cases.select(pl.concat_str(heads, ignore_nulls=True)).to_series()
    has_case = cases[CASE].is_not_null()
    opened = pl.when(has_case).then(pl.concat_str([pl.lit("<trace>\n"), head]))
    closed = pl.when(has_case).then(pl.lit("</trace>\n"))
    text = bodies.select(pl.concat_str([opened, pl.col("text"), closed], ignore_nulls=True))
    return "".join(text.to_series().to_list())


def _event(frame: pl.DataFrame, unit: TimeUnit, names: Sequence[str]) -> pl.Series:
    """Each event as an element."""
    times = _Times(frame, unit)
    pieces = [pl.lit(f'<event><string key="{ACTIVITY}" value="'), _escaped("event_type"), pl.lit('"/>')]
    pieces += [times.element(), times.marks()]
    pieces += [_attribute(frame[name], name) for name in ("event_id", "source")]
    for name in names:
        column, key = frame[name], name
        if name == ACTIVITY:
            other = ~column.eq_missing(frame["event_type"])
            column, key = frame.select(pl.when(other).then(column)).to_series(), ATTRIBUTE_PREFIX + ACTIVITY
        elif name == START_TIMESTAMP:
            column = frame.select(pl.when(~times.lasts).then(column)).to_series()
        if column.null_count() < len(column):
            pieces.append(_attribute(column, key))
    return frame.select(pl.concat_str([*pieces, pl.lit("</event>\n")], ignore_nulls=True)).to_series()


class _KnownEnds(NamedTuple):
    """Starts or ends: the written time, whether it alone tells the interval, its ends, and masses as text."""

    times: pl.Series
    is_exact: pl.Series
    first: pl.Series
    last: pl.Series
    masses: pl.Series


class _Times:
    """Times of events as text, and what marks them as uncertain."""

    def __init__(self, frame: pl.DataFrame, unit: TimeUnit) -> None:
        self._frame = frame
        self._counts = unit.counts
        self._per_second = 10**6 * unit.per_microsecond
        thousand = 1_000 if unit.resolution == "us" else 1
        # The finest digit of a tick, as instants are counted.
        self._step = thousand if unit.counts % thousand == 0 else 1
        self._resolution = unit.resolution
        zones = frame[ZONE].fill_null(0) if ZONE in frame.columns else pl.repeat(0, len(frame), eager=True)
        fine = (zones % 60 != 0) | (zones.abs() > _MOST_ZONE)
        self._zone = frame.select(pl.when(~fine).then(zones).otherwise(0).cast(pl.Int64)).to_series()
        offsets = {zone: _offset(zone) for zone in self._zone.unique().to_list()}
        self._offset = self._zone.replace_strict(offsets, return_dtype=pl.String)
        self.lasts = frame["end_lower"].is_not_null()
        self._start = self._known("time", "lower", "upper", "pmf")
        self._end = self._known(END_TIME, "end_lower", "end_upper", END_PMF) if self.lasts.any() else None

    def element(self) -> pl.Expr:
        """The times themselves."""
        point = self._date(self._start.times, pl.lit(TIMESTAMP))
        if self._end is None:
            return point
        start = self._date(self._start.times, pl.lit(START_TIMESTAMP))
        both = pl.concat_str([start, self._date(self._end.times, pl.lit(TIMESTAMP))])
        return pl.when(self.lasts).then(both).otherwise(point)

    def marks(self) -> pl.Expr:
        """What is known of the times beside them."""
        start = pl.when(self.lasts).then(pl.lit(START_TIMESTAMP)).otherwise(pl.lit(TIMESTAMP))
        known = [(self._start, start, pl.lit(True))]
        if self._end is not None:
            known.append((self._end, pl.lit(TIMESTAMP), pl.lit(self.lasts)))
        bounds, buckets = [], []
        for times, key, here in known:
            pair = pl.concat_str([self._date(times.first, key), self._date(times.last, key)])
            bounds.append(pl.when(here & ~times.is_exact & times.masses.is_null()).then(pair))
            buckets.append(pl.when(here).then(times.masses))
        texts = [pl.concat_str(each, ignore_nulls=True) for each in (bounds, buckets)]
        strong = pl.concat_str([pl.lit(f'<list key="{STRONG}">'), texts[0], pl.lit("</list>")])
        opened = (
            f'<container key="{WEAK}"><string key="{DENSITY}" value="HISTOGRAM"/><list key="{PARAMETERS}">'
        )
        weak = pl.concat_str([pl.lit(opened), texts[1], pl.lit("</list></container>")])
        marks = [pl.when(text != "").then(mark) for text, mark in zip(texts, (strong, weak), strict=True)]
        return pl.concat_str(marks, ignore_nulls=True)

    def _instants(self, time: str, lower: str) -> pl.Series:
        begin = self._frame[lower] * self._counts
        if time not in self._frame.columns:
            return begin
        times = self._frame[time].dt.cast_time_unit(self._resolution).to_physical()
        return times.fill_null(begin)

    def _known(self, time: str, lower: str, upper: str, pmf: str) -> _KnownEnds:
        times = self._instants(time, lower)
        first = self._frame[lower] * self._counts
        last = (self._frame[upper] + 1) * self._counts - self._step
        masses = self._masses(pmf)
        midnight = (times + self._zone * self._per_second) % (_DAY * self._per_second) == 0
        exact = (first == last) & (times == first) & masses.is_null() & ~midnight
        return _KnownEnds(times, exact.fill_null(True), first, last, masses)

    def _masses(self, pmf: str) -> pl.Series:
        """The buckets of each event as parameters of a density function, null where it is uniform."""
        if pmf not in self._frame.columns:
            return pl.Series([None] * len(self._frame), dtype=pl.String)
        rows = pl.DataFrame({"row": range(len(self._frame)), "pmf": self._frame[pmf], "lasts": self.lasts})
        flat = rows.drop_nulls("pmf").explode("pmf").unnest("pmf")
        if not len(flat):
            return pl.Series([None] * len(self._frame), dtype=pl.String)
        places = flat["row"]
        first, last = flat["lo"] * self._counts, (flat["hi"] + 1) * self._counts - self._step
        key = (
            pl.when(flat["lasts"] & pl.lit(pmf == "pmf"))
            .then(pl.lit(START_TIMESTAMP))
            .otherwise(pl.lit(TIMESTAMP))
        )
        dates = [
            piece
            for ticks in (first, last)
            for piece in (
                pl.lit('<date key="'),
                key,
                pl.lit('" value="'),
                self._text(ticks, places),
                pl.lit('"/>'),
            )
        ]
        mass = [pl.lit(f'<float key="{PROBABILITY}" value="'), pl.col("p").cast(pl.String), pl.lit('"/>')]
        texts = flat.select("row", pl.concat_str([*dates, *mass]).alias("text"))
        joined = texts.group_by("row", maintain_order=True).agg(pl.col("text").str.join(""))
        return rows.select("row").join(joined, on="row", how="left", maintain_order="left")["text"]

    def _date(self, instants: pl.Series, key: pl.Expr) -> pl.Expr:
        return pl.concat_str(
            [pl.lit('<date key="'), key, pl.lit('" value="'), self._text(instants), pl.lit('"/>')]
        )

    def _text(self, instants: pl.Series, rows: pl.Series | None = None) -> pl.Series:
        """Instants in the zones of their events."""
        zone, offset = self._zone, self._offset
        if rows is not None:
            zone, offset = zone.gather(rows), offset.gather(rows)
        local = instants + zone * self._per_second
        digits = 9 if self._resolution == "ns" else 3 if (local % 1_000 == 0).all() else 6
        moments = local.cast(pl.Datetime(self._resolution))
        return moments.dt.to_string(f"%Y-%m-%dT%H:%M:%S%.{digits}f") + offset


def _offset(zone: int) -> str:
    return f"{'-' if zone < 0 else '+'}{abs(zone) // 3_600:02}:{abs(zone) % 3_600 // 60:02}"


def _attribute(column: pl.Series, key: str) -> pl.Expr:
    """An attribute as an element, null where there is none."""
    tag = _TAGS[column.dtype.base_type()]
    value = pl.lit(column).cast(pl.String)
    if tag == "string":
        value = _escaped(column)
    elif tag == "float":
        value = value.replace({"inf": "INF", "-inf": "-INF"})
    return pl.concat_str([pl.lit(f'<{tag} key={quoteattr(key)} value="'), value, pl.lit('"/>')])


def _escaped(column: str | pl.Series) -> pl.Expr:
    text = pl.col(column) if isinstance(column, str) else pl.lit(column)
    return text.str.replace_all(_ILLEGAL, "\ufffd").str.replace_many(_ESCAPED)

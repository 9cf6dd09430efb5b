"""Logfmt: lines of KEY=VALUE, as many services of Go and Heroku write them.

    time=2026-06-14T08:15:02.310+02:00 level=warn msg="cache is full" used=3.9GiB

The time is that under one of TIMES, the type what stands under one of TYPES (`LogLine` without any); a
mapping of the user goes before either.  Where messages (`msg`, `message`) differ by names and numbers, the
type is what their template says (io/templates).  All keys are attributes, also `msg`; a key without a value
is `true`.  A time is as sure as its last digit: whole seconds are seconds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.batches import INFERRED
from cepctl.io.contract.reader import GRAIN, RAW_COLUMNS, ReadOptions, ReadReport, Reject, among_rejects
from cepctl.io.contract.times import parse_time
from cepctl.io.source.event_lines import lines_fit
from cepctl.io.source.line_blocks import Groups, Layout, Lines, parsed_by
from cepctl.io.source.streams import Chunks
from cepctl.io.source.text_encoding import utf8_stream
from cepctl.io.tabular.columns import raw_batch
from cepctl.io.tabular.json_lines import BlockRecords, RecordLines, RecordTable, record_blocks
from cepctl.io.tabular.mapping import RESERVED
from cepctl.io.templates.variables import TemplateTable
from cepctl.schema import ATTRIBUTE_PREFIX

TIMES = ("time", "ts", "timestamp", "t", "@timestamp", "datetime")
TYPES = ("event_type", "event", "msg", "message")
EVENT, MESSAGES = "event", ("msg", "message")
LOG_LINE = "LogLine"
NOT_LOGFMT = 'not a line of logfmt: KEY=VALUE KEY="VALUE" ...'

_PAIR = re.compile(r"\s*([A-Za-z_@][\w.@/:-]*)(?:=(?:\"((?:[^\"\\]|\\.)*)\"|([^\s\"]*)))?(?=\s|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_FRACTION = re.compile(r"(?::\d\d|^\d{9,11})[.,](\d{1,9})", re.ASCII)
_NUMBER = re.compile(r"\d+", re.ASCII)
_MICRO_DIGITS = 6
_SECOND_DIGITS = 10
_FEWEST_PAIRS = 2
_BATCH_LINES = 20_000
_AROUND = b" \t\r\v\f"
_LOOKED_AT, _MOST_LAYOUTS, _MOST_KEYS = 100, 4, 16


class LogfmtReader:
    """Lines of keys and values."""

    def recognises(self, head: bytes) -> bool:
        """Tell from lines that have a time under a usual name, and something more."""
        return lines_fit(head, _is_timed)

    def has_pairs(self, head: bytes) -> bool:
        """Whether the first lines are of keys and values: all that a mapping can ask for."""
        return lines_fit(head, lambda line: len(_pairs_of(line)) >= _FEWEST_PAIRS)

    def messages(self, stream: IO[bytes], source: str, options: ReadOptions) -> Iterator[pa.Array]:
        """Messages that events get their type from."""
        if any(field == "event_type" for field, _ in options.columns):
            return
        chunks = Chunks(utf8_stream(stream))
        for lines in record_blocks(chunks, source, pairs_of_many, _pairs_in, NOT_LOGFMT, _BATCH_LINES):
            found = map(_message, lines.records)
            yield pa.array([message for message in found if message is not None], pa.string())

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        table = RecordTable(options.columns, source)
        mapped = {field for field, _ in options.columns}, {column for _, column in options.columns}
        by_template = options.templates and "event_type" not in mapped[0]
        templates = TemplateTable(options.templates) if by_template else None

        chunks = Chunks(utf8_stream(stream))
        for found in record_blocks(chunks, source, pairs_of_many, _pairs_in, NOT_LOGFMT):
            lines = replace(found, records=[_named(pairs, *mapped) for pairs in found.records])
            report.records += len(lines.bad)
            records = BlockRecords.of(lines.records, lines.numbers, lines.raw)
            with among_rejects(report, lines.bad):
                batches = [raw_batch(rows, source, options, report) for rows in table.rows(records)]
            for batch in batches:
                events = _as_sure_as_written(batch, lines, options)
                yield _inferring(_by_template(events, lines, templates) if templates is not None else events)
        if chunks.damage:
            report.records += 1
            report.rejects.append(Reject(source, None, "truncated input", chunks.damage))


def _message(pairs: Mapping[str, Any]) -> str | None:
    """The first line of the message that a record has its type from; None where it is from elsewhere."""
    name = next((name for name in (EVENT, *MESSAGES) if pairs.get(name)), None)
    if name not in MESSAGES or pairs.get("event_type", pairs[name]) != pairs[name]:
        return None
    return str(pairs[name]).partition("\n")[0]


def _by_template(events: pa.RecordBatch, lines: RecordLines, templates: TemplateTable) -> pa.RecordBatch:
    """Events whose types are those of the templates of their messages, where something in these varies."""
    said = pa.array([_message(record) for record in lines.records], pa.string())
    place = np.searchsorted(lines.numbers, events.column("number").to_numpy())
    messages = said.take(pa.array(place))
    types, _, template = templates.typed(pc.fill_null(messages, ""))
    varies = np.array([*(bool(each.names) for each in templates.templates), False], np.bool_)
    place = events.schema.get_field_index("event_type")
    chosen = pc.if_else(pc.and_(pa.array(varies[template]), messages.is_valid()), types, events.column(place))
    return events.set_column(place, "event_type", chosen)


def _pairs_of(line: str) -> dict[str, str]:
    return {} if "=" not in line else _pairs(line) or {}


def _is_timed(line: str) -> bool:
    pairs = _pairs_of(line)
    if len(pairs) < _FEWEST_PAIRS:
        return False
    time = next((pairs[name] for name in TIMES if name in pairs), None)
    return time is not None and (parse_time(time) is not None or _is_epoch(time))


def _pairs_in(line: bytes) -> dict[str, str] | None:
    return _pairs(line.decode("utf-8", "replace"))


def _pairs(line: str) -> dict[str, str] | None:
    """The keys and values of a line; None where something in it is neither, or there is no value at all."""
    pairs: dict[str, str] = {}
    place, end, valued = 0, len(line.rstrip()), False
    while place < end:
        found = _PAIR.match(line, place, end)
        if found is None or found.end() == place:
            return None
        key, quoted, bare = found.groups()
        valued |= quoted is not None or bare is not None
        value = bare if quoted is None else _ESCAPE.sub(_unescaped, quoted)
        pairs[key] = "true" if value is None else value
        place = found.end()
    return pairs if valued else None


def pairs_of_many(lines: Lines) -> list[dict[str, str] | None]:
    """As `_pairs`, of many lines; None for one of which that has to be asked.

    Lines with the same keys are of one layout: values of ASCII, and in quotes any sign but those that are
    escaped.
    """
    found: list[dict[str, str] | None] = [None] * len(lines)
    layouts = [Layout(_of_keys(keys), partial(_with_keys, keys)) for keys in _usual_keys(lines)]
    for rows, pairs in parsed_by(layouts, lines, _AROUND):
        for row, each in zip(rows.tolist(), pairs, strict=True):
            found[row] = each
    return found


def _usual_keys(lines: Lines) -> list[tuple[str, ...]]:
    """The keys of the first lines, in their order, those that most of them have first."""
    first = [
        _pairs(lines.whole(row).decode("utf-8", "replace")) for row in range(min(len(lines), _LOOKED_AT))
    ]
    counts = Counter(tuple(pairs) for pairs in first if pairs and len(pairs) <= _MOST_KEYS)
    return [keys for keys, _ in counts.most_common(_MOST_LAYOUTS) if all(map(str.isascii, keys))]


def _of_keys(keys: Sequence[str]) -> str:
    """The layout of lines with these keys, each with a value."""
    pairs = (rf'{re.escape(key)}=(?P<v{place}>"[^"\\]*"|[!#-~]*)' for place, key in enumerate(keys))
    return " +".join(pairs)


def _with_keys(keys: Sequence[str], groups: Groups) -> list[dict[str, str]]:
    values = (pc.utf8_trim(groups[f"v{place}"], '"').to_pylist() for place in range(len(keys)))
    return [dict(zip(keys, each, strict=True)) for each in zip(*values, strict=True)]


def _unescaped(found: re.Match[str]) -> str:
    return _ESCAPED.get(found[1], found[1])


def _named(pairs: Mapping[str, str], fields: set[str], columns: set[str]) -> dict[str, Any]:
    """The pairs, time and type under the names that events have, unless the user maps them."""
    record: dict[str, Any] = {
        f"{ATTRIBUTE_PREFIX}{name}" if name in RESERVED and name not in columns else name: value or None
        for name, value in pairs.items()
    }
    if "time" not in fields and not fields & {"lower", "upper", "pmf"}:
        name = next((name for name in TIMES if name in pairs), None)
        if name is not None:
            record.pop(f"{ATTRIBUTE_PREFIX}{name}" if name in RESERVED else name, None)
            record["time"] = pairs[name]
    if "event_type" not in fields:
        record["event_type"] = next((pairs[name] for name in TYPES if pairs.get(name)), LOG_LINE)
        record.pop(f"{ATTRIBUTE_PREFIX}event_type", None)
    return record


def _as_sure_as_written(events: pa.RecordBatch, lines: RecordLines, options: ReadOptions) -> pa.RecordBatch:
    """Events that reach to the end of the last digit that their times are written with, unless exact."""
    if options.exact_times:
        return events
    column = next((column for field, column in options.columns if field == "time"), "time")
    spans = np.array([_precision(record.get(column)) - 1 for record in lines.records], np.int64)
    written = spans[np.searchsorted(lines.numbers, events.column("number").to_numpy())]
    place = events.schema.get_field_index("after")
    surer = events.set_column(place, "after", pc.add(events.column("after"), pa.array(written, pa.int64())))
    return surer.drop_columns([GRAIN])


def _precision(text: Any) -> int:
    """Microseconds that the last digit of a time stands for; a number has its unit by its size.

    Examples
    --------
    >>> _precision("2026-06-14T08:15:02Z"), _precision("1781417702310"), _precision("1781417702.31")
    (1000000, 1000, 10000)
    """
    if not isinstance(text, str):
        return 1
    fraction = _FRACTION.search(text)
    if fraction is not None:
        digits = min(len(fraction[1]), _MICRO_DIGITS)
    elif _NUMBER.fullmatch(text):
        digits = min(max(len(text) - _SECOND_DIGITS, 0), _MICRO_DIGITS)
    else:
        digits = 0
    return int(10 ** (_MICRO_DIGITS - digits))


def _is_epoch(text: str) -> bool:
    whole = text.partition(".")[0]
    return _NUMBER.fullmatch(whole) is not None and len(whole) >= _SECOND_DIGITS


def _inferring(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Mark the attributes of a batch as text whose type is not known yet."""
    return batch.cast(
        pa.schema(
            each.with_metadata(INFERRED)
            if pa.types.is_string(each.type) and each.name not in {*RAW_COLUMNS, *RESERVED}
            else each
            for each in batch.schema
        )
    )

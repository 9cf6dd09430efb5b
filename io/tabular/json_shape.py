"""What a file of JSON is made of: where its records stand, and which of their fields tell time and type.

    where records stand                              path
    objects, one per line or one after the other     ()
    elements of an array that is the whole file      ("[]",)
    elements of a member: {"Records": [...]}         ("Records",)
    of a member of a member: {"hits": {"hits": ...   ("hits", "hits")

Learned from the first 64 KiB and held for the file.  A field within a field is called by both names with a
dot between them.  The time is found by name and values (json_times.py).  The type is found by the order of
_TYPES, else it is the id of an event of Windows, else the template of a message (_MESSAGES), else what is
left (_OTHERS).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ColumnMap
from cepctl.io.contract.unicode_text import NotUnicodeError
from cepctl.io.source.json_documents import ELEMENTS
from cepctl.io.source.json_objects import json_object
from cepctl.io.source.text_encoding import decoded
from cepctl.io.tabular.composed import composed_of, mapping_meant
from cepctl.io.tabular.flat_records import record_of_fields
from cepctl.io.tabular.json_times import (
    FEWEST_SHARE,
    is_time,
    own_time,
    plain_name,
    times_of,
    undated,
    written_forms,
)
from cepctl.io.tabular.kubernetes import is_kubernetes_event

_SAMPLE = 400
_DEEPEST_PATH = 3
_MANY_TYPES = 20
_FEW_RECORDS = 10
_MENDINGS = 20
_DEEPEST = 200
_LONGEST_NUMBER = 1_000
_TYPES = (
    *("event.action", "eventname", "eventtype", "event", "action", "activity", "operationname", "operation"),
    *("methodname", "protopayload.methodname", "detailtype", "mt"),
)
_MESSAGES = ("message", "msg", "textpayload", "log", "body", "text", "m", "event", "fields.message")
_OTHERS = ("reason", "verb", "type", "kind", "category", "method", "status", "logger", "level", "severity")
_IDS_OF_WINDOWS = re.compile(r"(?:^|\.)(?:EventID|EventId|event_id)(?:\.#text|\.Value)?$")
_OF_WINDOWS = re.compile(
    r"(?:^|\.)(?:[Cc]hannel|LogName|Provider|ProviderName|provider_name|SourceName|TimeCreated|Computer)\b"
)
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_DECODER = json.JSONDecoder()
# Here a number that Python does not read is one that no record is told by.
_ANY_NUMBERS = json.JSONDecoder(
    parse_int=lambda digits: int(digits) if len(digits) < _LONGEST_NUMBER else math.inf
)


@dataclass(frozen=True)
class JsonShape:
    """Where the records of a file stand, and what tells of each.

    Attributes
    ----------
    path
        The members that lead to the array of records; () where each object of the file is one.
    by_lines
        Whether every record is a line.
    time
        The field of the time.
    types
        Fields that name the type, the first of a record that says something does.
    message
        The field whose template is the type of records without any of these; None where there is none.
    others
        Fields that name the type where there is no message either.
    time_form
        The form of written times that are not ISO 8601, in codes of strptime; several where the day could be
        the month.
    kubernetes
        Whether the records are events of Kubernetes.
    records, timed
        How many records were looked at, and how many of them have the time.
    arrival
        The field of the time of a header around the event; None where there is none.
    columns_meant
        The fields that the user's mapping means, in its order, of which names may stand deep inside.
    """

    path: tuple[str, ...]
    by_lines: bool
    time: str
    types: tuple[str, ...] = ()
    message: str | None = None
    others: tuple[str, ...] = ()
    time_form: tuple[str, ...] = ()
    kubernetes: bool = False
    records: int = 0
    timed: int = 0
    arrival: str | None = None
    columns_meant: tuple[str, ...] = ()


def shape_text(shape: JsonShape) -> str:
    """A shape as `shape_in` reads it."""
    return json.dumps(asdict(shape), ensure_ascii=False)


def shape_in(text: str) -> JsonShape:
    """What `shape_text` wrote."""
    said = json.loads(text)
    lists = {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
    return JsonShape(**{**said, **lists})


def shape_of(head: bytes, mapping: ColumnMap = ()) -> JsonShape | None:
    """The shape of a file that begins so; None where it is no JSON, or its records have no times.

    The fields that a `mapping` names tell time and type whatever they are called.
    """
    text = decoded(head).lstrip("\ufeff \t\r\n")
    by_lines, values = _values(text)
    if not by_lines and text[:1] not in ("{", "["):
        return None
    groups: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for value in values[:_SAMPLE]:
        _collect(value, (ELEMENTS,) if isinstance(value, list) else (), groups)
    shapes = [
        shape
        for path, records in groups.items()
        if (shape := _shape(path, records[:_SAMPLE], mapping, by_lines=by_lines)) is not None
    ]
    # One document that is not on a line of its own is no record: it may be anything that has a date in it.
    alone = not by_lines and len(values) == 1
    shapes = [shape for shape in shapes if shape.path or not alone]
    whole = next((shape for shape in shapes if not shape.path), None)
    # A stray bracket may end an array, and what stands behind it then stands at the outside.
    array = next((shape.timed for shape in shapes if shape.path == (ELEMENTS,)), 0)
    if whole is not None and whole.timed > array:
        return whole
    return max(shapes, key=lambda shape: (shape.timed, -len(shape.path)), default=None)


def _values(text: str) -> tuple[bool, list[Any]]:
    """The values at the outside of a text that may be cut at its end, and whether each is a line."""
    whole, _, rest = text.rpartition("\n")
    lines = [line for line in (whole or rest).split("\n")[:_SAMPLE] if line.strip()]
    objects = [found for line in lines if (found := _object(line)) is not None]
    if objects and 2 * len(objects) > len(lines):
        return True, objects
    values: list[Any] = []
    place = 0
    while place < len(text) and len(values) < _SAMPLE:
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            values += _mended(text[place:])
            break
        values.append(value)
        place += len(text[place:]) - len(text[place:].lstrip())
        if text[place : place + 1] not in ("{", "[") and 2 * sum('"' in line for line in lines) < len(lines):
            break  # a stray value before lines of something else
    return False, values


def _object(line: str) -> dict[str, Any] | None:
    try:
        return json_object(line)
    except NotUnicodeError:
        return None


def _mended(text: str) -> list[Any]:
    """The beginning of a value that is cut or damaged, up to the last object that is whole; else none."""
    for _ in range(_MENDINGS):
        end, closing = _whole_objects(text)
        if not end:
            return []
        try:
            return [_ANY_NUMBERS.decode(text[:end] + closing)]
        except json.JSONDecodeError as problem:
            text = text[: min(problem.pos, end - 1)]
        except RecursionError:
            text = _shallow(text)
    return []


def _shallow(text: str) -> str:
    """The text with `null` in the place of each value that nests too deeply, up to one that is cut."""
    kept: list[str] = []
    begin = depth = 0
    for found in _BRACKETS.finditer(text):
        sign = found[0]
        if sign in "[{":
            depth += 1
            if depth == _DEEPEST:
                kept += [text[begin : found.start()], "null"]
        elif sign in "]}":
            if depth == _DEEPEST:
                begin = found.end()
            depth = max(depth - 1, 0)
    return "".join(kept if depth >= _DEEPEST else [*kept, text[begin:]])


def _whole_objects(text: str) -> tuple[int, str]:
    """Where the last object ends that is whole, and what closes all that is open there."""
    open_ones: list[str] = []
    end, closing = 0, ""
    for found in _BRACKETS.finditer(text):
        sign = found[0]
        if sign in "[{":
            open_ones.append("]" if sign == "[" else "}")
        elif sign in "]}":
            if not open_ones or open_ones.pop() != sign:
                break
            if sign == "}":
                end, closing = found.end(), "".join(reversed(open_ones))
    return end, closing


def _collect(
    value: Any, path: tuple[str, ...], groups: dict[tuple[str, ...], list[Mapping[str, Any]]]
) -> None:
    """Put the objects that may be records to those that stand in the same place."""
    if isinstance(value, list):
        groups.setdefault(path, []).extend(each for each in value if isinstance(each, dict))
    elif isinstance(value, dict):
        if not path:
            groups.setdefault((), []).append(value)
        if len(path) < _DEEPEST_PATH:
            for name, inside in value.items():
                if isinstance(inside, dict) or (isinstance(inside, list) and inside):
                    _collect(inside, (*path, name), groups)


def _shape(
    path: tuple[str, ...], records: Sequence[Mapping[str, Any]], mapping: ColumnMap, *, by_lines: bool
) -> JsonShape | None:
    if not records:
        return None
    kubernetes = 2 * sum(map(is_kubernetes_event, records)) >= len(records)
    flat = [fields for record in records if (fields := record_of_fields(record)) is not None]
    if kubernetes:
        return JsonShape(
            path, by_lines, "time", ("reason",), kubernetes=True, records=len(flat), timed=len(flat)
        )
    meant = mapping_meant(mapping, dict.fromkeys(name for record in flat for name in record))
    chosen = dict(meant)
    times = times_of(flat)
    own = None if "time" in chosen else own_time(times, flat)
    time = chosen.get("time") or own or next(iter(times), None)
    if time is None:
        return None
    parts = composed_of("time", chosen.get("time", ""))
    values = (record.get(time) if parts is None else parts.value(record) for record in flat)
    stamps = [value for value in values if is_time(value)]
    if "time" not in chosen and len(stamps) < FEWEST_SHARE * len(flat):
        return None
    types, message, others = _types_of(flat, time)
    if "event_type" in chosen and composed_of("event_type", chosen["event_type"]) is None:
        types, message, others = (chosen["event_type"],), None, ()
    arrival = times[0] if own is not None else None
    return JsonShape(
        *(path, by_lines, time, types, message, others, written_forms(stamps)),
        records=len(flat),
        timed=len(stamps),
        arrival=arrival,
        columns_meant=tuple(column for _, column in meant),
    )


def _types_of(
    records: Sequence[Mapping[str, Value]], time: str
) -> tuple[tuple[str, ...], str | None, tuple[str, ...]]:
    """The fields that name types, that of the message, and those that are left.

    They stand at the outside, or beside the time.
    """
    beside = undated(time).rpartition(".")[0]
    names: dict[str, str] = {}
    for name in dict.fromkeys(name for record in records for name in record):
        names.setdefault(plain_name(name), name)
        if beside and name.startswith(f"{beside}."):
            names.setdefault(plain_name(name[len(beside) + 1 :]), name)
    texts = {
        plain: [value for record in records if isinstance(value := record.get(names[plain]), str) and value]
        for plain in (*_TYPES, *_MESSAGES, *_OTHERS)
        if plain in names
    }
    messages = [plain for plain in _MESSAGES if texts.get(plain)]
    types = [plain for plain in _TYPES if texts.get(plain) and _names_types(texts[plain], bool(messages))]
    # A field `event` that names types is no message.
    message = next((plain for plain in messages if plain not in types), None)
    others = [plain for plain in _OTHERS if texts.get(plain) and not _is_various(texts[plain])]
    identified = _id_of_windows(records)
    return (
        (*((identified,) if identified else ()), *(names[plain] for plain in types)),
        None if message is None else names[message],
        tuple(names[plain] for plain in others),
    )


def _id_of_windows(records: Sequence[Mapping[str, Value]]) -> str | None:
    """The field with the ids of events of Windows, whose records name a channel or a provider; else None."""
    all_names = dict.fromkeys(name for record in records for name in record)
    if not any(map(_OF_WINDOWS.search, all_names)):
        return None
    for name in filter(_IDS_OF_WINDOWS.search, all_names):
        values = [str(value) for record in records if (value := record.get(name)) not in (None, "")]
        if 2 * len(values) > len(records) and all(map(str.isdecimal, values)) and not _is_various(values):
            return name
    return None


def _names_types(values: Sequence[str], has_messages: bool) -> bool:
    constant = len(set(values)) == 1 and len(values) >= _FEW_RECORDS and has_messages
    sentences = sum(value.count(" ") >= 2 for value in values)
    return not constant and not _is_various(values) and 2 * sentences < len(values)


def _is_various(values: Sequence[str]) -> bool:
    distinct = len(set(values))
    return distinct > _MANY_TYPES and 2 * distinct > len(values)


def records_at(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """What stands in the array at a path of a document, or the value itself where the path is empty."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if path:
        yield from value if isinstance(value, list) else ()
    else:
        yield value

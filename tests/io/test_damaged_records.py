"""Damage inside of one of forty records costs that record, in every format; what more it costs is rejects.

Every byte of a log of forty records is damaged in turn: a bit flips, it becomes a sign that means something
to some format, it is gone, or half of a surrogate pair stands before it.  No reader dies of it.  Either the
file is refused, or events and rejects, counted in records, are as many as there were records: as many as
another count finds, where the damage made another valid log of fewer (RECORDS_IN, tests/reader_account.py).
What is only counted as skipped is not told, but for what patterns are there to pass over (SKIPS).
"""

from __future__ import annotations

from random import Random

import pytest

from cepctl.io.formats import known_formats
from cepctl.io.traces.chrome import OTHER_PHASE
from tests.forty_records import COUNT, EVENTS_OF_A_RECORD, FORTY_RECORDS, WHOLE_IS_LOST
from tests.reader_account import RECORDS_IN, account_of

EVERYDAY_DAMAGES = 10
SIGNS = (b"<", b'"', b"{", b"\0", b"]", b"[", b"}", b",", b"\\ud800")
# Here a mismatch is told by the reader itself.
UNCOUNTED = ("ganglia", "xes")
# Two lines that damage makes one are one record; other JSON of this format is not counted in lines.
COUNTED_AS = {"json, lines": RECORDS_IN["jsonl"]}
# Lines that no pattern fits the user does not ask for, and some phases of traces are no events.
SKIPS = {"text": "no pattern fits the line", "chrome-trace": OTHER_PHASE}


def damaged(data: bytes, number: int) -> bytes:
    """Damage of a log by number: of every kind, at each of its bytes."""
    place, kind = divmod(number, len(SIGNS) + 3)
    before, at, behind = data[:place], data[place], data[place + 1 :]
    if kind < len(SIGNS):
        return before + SIGNS[kind] + behind
    if kind == len(SIGNS):
        return before + bytes([at ^ 1 << Random(number).randrange(8)]) + behind
    return before + behind if kind == len(SIGNS) + 1 else before + b"\xed\xa0\x80" + data[place:]


def silent_losses(name: str, numbers: list[int] | range) -> dict[int, str]:
    format_name, data = FORTY_RECORDS[name]
    each = EVENTS_OF_A_RECORD.get(name, 1)
    true = account_of(data, format_name).events
    lost = {}
    for number in numbers:
        hurt = damaged(data, number)
        account = account_of(hurt, format_name)
        missing = -(-(true - account.events) // each)
        told = account.rejected + account.said[SKIPS.get(format_name, "")]
        if account.refused is None and missing > told:
            count = (
                COUNTED_AS.get(name, RECORDS_IN.get(format_name)) if format_name not in UNCOUNTED else None
            )
            records = None if count is None else count(hurt)
            if records is None or records > account.events // each + told:
                lost[number] = f"{missing} records missing, {told} told; {records} by another count"
    return lost


def test_there_are_forty_records_of_every_format() -> None:
    assert {known.name for known in known_formats()} == {name for name, _ in FORTY_RECORDS.values()}


@pytest.mark.parametrize("name", FORTY_RECORDS)
def test_damage_is_told_in_records(name: str) -> None:
    size = len(FORTY_RECORDS[name][1]) * (len(SIGNS) + 3)
    assert silent_losses(name, Random(name).sample(range(size), EVERYDAY_DAMAGES)) == {}


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("ganglia", b"<GANGLIA_XML ", b'<GANGLIA_XML"'),
        ("ganglia", b"<?xml version", b"<?xml\0version"),
        ("rrd-dump", b"<?xml version", b"<?xm{ version"),
        ("rrd-dump", b"<rra>", b"{rra>"),
        ("rrd-dump", b"<cf>AVERAGE", b"<cf>AVE<AGE"),
        ("rrd-dump", b"<cf>AVERAGE", b'<cf>AV"RAGE'),
        ("rrd", b"AVERAGE", b"AVMRAGE"),
        ("xes", b"<log>", b"<log<"),
        ("ocel, XML", b"<object-types>", b"<object-type>"),
        ("ocel, XML", b"<?xml", b'"?xml'),
        ("ocel, JSON", b'"attributes":[]}],"eventTypes"', b'"attributes":[{}],"eventTypes"'),
        ("ocel 1.0, JSON", b'"ocel:version":"1.0"}', b'"ocel:version":"1.0"'),
        ("otlp", b'"resourceSpans":[', b'"resourceSpans":{'),
        ("jaeger", b'{"data"', b'\xed\xa0\x80{"data"'),
        ("jaeger", b'"data":[', b'"data":{'),
        ("rumen", b'"user": "ann"', b'"user": "ann'),
        ("rumen", b'{\n "jobID"', b'{{ "jobID"'),
        ("sls", b'"job.start.ms": 0', b'"job.start.ms": '),
        ("sls", b"{\n", b"<\n"),
        ("sls", b'"job.tasks": [', b'"job.tasks": [['),
        ("sls", b'"container.start.ms": 8', b'[{"container.start.ms": 8'),
        ("rumen", b'"mapTasks"', b'"map\\ud800Tasks"'),
        ("otlp", b'"name":"s7"', b'"name":"\\ud800"'),
        ("otlp", b'"stringValue":"pay"', b'"stringValue":"\\ud800"'),
        ("jhist", b"}}}\n", b"}}}\0"),
        ("ocel, JSON", b'\n{"id":"e30"', b'[{"id":"e30"'),
        ("jhist1", b" .\n", b" .\0"),
        ("jhist, binary", b"_0\xc0\xaa\xa7\xcc\xd8g\x02", b"_0\xc0\xaa\xa7\xcc\xd8\xe7\x02"),
    ],
)
def test_damage_before_records_is_told_in_records(name: str, before: bytes, after: bytes) -> None:
    format_name, data = FORTY_RECORDS[name]
    assert before in data
    true, account = (account_of(log, format_name) for log in (data, data.replace(before, after, 1)))
    missing = -(-(true.events - account.events) // EVENTS_OF_A_RECORD.get(name, 1))
    assert account.refused is None
    assert missing <= account.rejected


@pytest.mark.parametrize(("name", "before", "after"), [("ocel 1.0, CSV", b"ocel:type", b'"cel:type')])
def test_a_quote_in_a_header_that_takes_a_record_in_is_refused(
    name: str, before: bytes, after: bytes
) -> None:
    format_name, data = FORTY_RECORDS[name]
    refused = account_of(data.replace(before, after, 1), format_name).refused
    assert refused is not None
    assert "a quote is opened in the header" in refused


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("xes", b'<string key="concept:name" value="a20"/>', b'\0string key="concept:name" value="a20"/>'),
        ("ocel, XML", b'<event id="e20" type="pay"', b'<event id="e20" \0type="pay"'),
        ("ocel, XML", b'<event id="e20" type="pay"', b'<event id="e20" t<pe="pay"'),
        ("ocel, XML", b'<event id="e20"', b'\0event id="e20"'),
        ("ocel 1.0, XML", b'<string key="id" value="e20"/>', b'\0string key="id" value="e20"/>'),
    ],
)
def test_an_event_that_is_lost_to_damage_is_told_once(name: str, before: bytes, after: bytes) -> None:
    format_name, data = FORTY_RECORDS[name]
    assert before in data
    account = account_of(data.replace(before, after, 1), format_name)
    assert (account.events, account.rejected) == (COUNT - 1, 1)


@pytest.mark.parametrize("before", [2, 22, 39])
def test_a_bracket_that_ends_an_array_takes_no_record(before: int) -> None:
    format_name, data = FORTY_RECORDS["json, array"]
    elements = data.split(b",\n")
    hurt = b"]\n".join([b",\n".join(elements[:before]), b",\n".join(elements[before:])])
    account = account_of(hurt, format_name)
    assert (account.events, account.rejected) == (COUNT, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORTY_RECORDS)
def test_damage_at_every_byte_is_told_in_records(name: str) -> None:
    assert silent_losses(name, range(len(FORTY_RECORDS[name][1]) * (len(SIGNS) + 3))) == {}


@pytest.mark.parametrize("name", [name for name in FORTY_RECORDS if name not in WHOLE_IS_LOST])
def test_damage_in_the_middle_costs_few_records(name: str) -> None:
    format_name, data = FORTY_RECORDS[name]
    each = EVENTS_OF_A_RECORD.get(name, 1)
    # Here no element around records begins or ends.
    begin, end = len(data) // 2, len(data) * 11 // 20
    places = Random(name).sample(range(begin, end), 3)
    few = [
        account_of(damaged(data, number), format_name).events // each >= COUNT - 2
        for place in places
        for number in range(place * (len(SIGNS) + 3), (place + 1) * (len(SIGNS) + 3), 2)
    ]
    assert all(few)

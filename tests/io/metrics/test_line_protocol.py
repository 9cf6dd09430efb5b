"""Line protocol of InfluxDB: types are measurements, tags and fields attributes."""

from __future__ import annotations

import io
from typing import Any

import pytest

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_named, recognised_format

TIME = "1781417704250000000"


def read(text: str) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    batches = format_named("line-protocol").read(io.BytesIO(text.encode()), "a", ReadOptions(), report)
    return [event for batch in batches for event in batch.to_pylist()], report


def test_tags_and_fields_are_attributes_in_their_types() -> None:
    text = rf'disk\ io,host=web\ 1,path=C:"\,x read=1.5e3,writes=8i,ok=t,said="a, \"b\" c=d" {TIME}' + "\n"
    assert recognised_format(text.encode(), "a").name == "line-protocol"
    (event,), _ = read(text)
    told = {name: event[name] for name in ("event_type", "host", "path", "read", "writes", "ok", "said")}
    assert told == {
        "event_type": "disk io", "host": "web 1", "path": 'C:",x', "read": 1500.0, "writes": 8, "ok": True,
        "said": 'a, "b" c=d',
    }  # fmt: skip


def test_a_field_that_is_called_like_a_tag_has_a_name_of_its_own() -> None:
    (event,), _ = read(f"cpu,host=a host=2 {TIME}\n")
    assert (event["host"], event["host_2"]) == ("a", 2.0)


@pytest.mark.parametrize(("digits", "after"), [(10, 999_999), (13, 999), (16, 0), (19, 0)])
def test_the_digits_tell_the_unit(digits: int, after: int) -> None:
    (event,), _ = read(f"cpu a=1 {TIME[:digits]}\n")
    assert (str(event["time"])[:19], event["after"]) == ("2026-06-14 06:15:04", after)


def test_nanoseconds_are_kept() -> None:
    (event,), _ = read("cpu a=1 1781417704250000017\n")
    assert event["cepctl.raw.nanos"] == 17


def test_a_line_without_a_time_costs_itself_alone() -> None:
    events, report = read(f"cpu a=1 {TIME}\ncpu a=1\nno point\n")
    assert len(events) == 1
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (2, "no time: the line has none"),
        (3, "not a line of line protocol: MEASUREMENT,TAG=VALUE FIELD=VALUE TIME"),
    ]


def test_pairs_of_logfmt_are_none_of_it() -> None:
    line = b"time=2026-06-14T08:15:04Z level=info msg=started port=1781417704\n"
    assert recognised_format(line * 3, "a").name == "logfmt"

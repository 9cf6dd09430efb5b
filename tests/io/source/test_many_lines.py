"""Lines that are read many at a time give what they give one by one: events, rejects, notes, to the last bit.

The reader of single lines is the judge.  Logs are drawn from lines as programs write them, odd ones among
them, and damaged; blocks are small, so that they end anywhere.
"""

from __future__ import annotations

import io
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import FOLD, GRAIN, NANOS, ReadOptions, ReadReport
from cepctl.io.formats import format_named
from cepctl.io.source import event_lines, line_blocks
from cepctl.io.source.json_objects import json_objects
from cepctl.io.tabular import any_json, json_lines
from tests.mutations import mutated

_REQUEST = '[14/Jun/2026:08:15:02 +0200] "GET /orders?page=1 HTTP/1.1"'
LINES = {
    "access": [
        f'198.51.100.7 - ann {_REQUEST} 200 1843 "https://shop.example/" "Mozilla/5.0 (X11; Linux)"',
        f'198.51.100.7 - - {_REQUEST} 304 - "-" "-"',
        f"shop.example:443 198.51.100.7 - - {_REQUEST} 200 7",
        f'2001:db8::7 - ann b {_REQUEST} 200 1843 "-" "say \\"x\\"" 0.031 "-"',
        f'::1 id ann {_REQUEST} 500 0 "" "agent"  0.5  "é"',
        f"2001:db8::7:80 - ann {_REQUEST} 500 0",
        'h - - [14/Jun/2026:08:15:60 +0200] "POST /a? HTTP/2" 200 1 "-" "-"',
        'h - - [31/Jun/2026:08:15:02 -0130] "POST /a HTTP/2" 200 1 "-" "-"',
        'h - - [14/Jun/2026:08:15:02 -0130] "OPTIONS *" 200 000000000000000001 "-" "-"\t',
        'h - - [4/Jun/2026:08:15:02 +0000] "\\x16\\x03" 400 -',
        'h - - [04/Jun/2026:24:00:00 +0000] "GET / HTTP/1.1 more" 400 - x',
        "starting",
    ],
    "syslog": [
        "Jun 14 08:15:03 web1 sshd[2210]: Failed password for root from 203.0.113.40 port 4022 ssh2",
        "Jun  4 08:15:03,250 web1.example kernel: [ 12.5] eth0: link down",
        "<4>Jun 14 08:15:04.250 n7:514 kernel: eth0: link down",
        "<192>Jun 14 08:15:04 n7 kernel:eth0",
        "<13>Feb 29 08:15:04 n7 cron[1 2]: x",
        "Jun 14 2026 08:15:04 n7 cron[1]: with a year",
        "Jun 14 08:15:04 n7 last message repeated 3 times",
        "Jun 14 08:15:04 sshd[7]: without a host",
        "Jun 14 08:15:04 n7 CRON (root) CMD (true)",
        "Jun 14 25:15:04 n7 sshd: late",
        "Mar 29 02:30:00 n7 sshd: skipped in Berlin",
        "Oct 25 02:30:00 n7 sshd: twice in Berlin",
        "2026-06-14T08:15:05.123456+02:00 web1 CRON[17]: (root) CMD (true)",
        "2026-10-25T02:30:00 /rack/web1 sshd:  no zone",
        "2026-06-14T08:15:05,1234567Z web1 sshd[1]: \tnanoseconds",
        "2026-06-14T08:15:05.1234567891Z web1 sshd[1]:",
        "<165>1 2026-06-14T06:15:06.003Z web1.example su 9 ID47 - an event",
        '<165>1 2026-06-14T06:15:06.003Z web1 su - ID47 [a@32473 b="3" c="\\"x\\""][d@1] an event',
        "<13>1 2026-06-14T06:15:07Z - - - - - \ufeffa message",
        "<13>1 - - - - - - a message",
        f"Jun 14 08:15:04 n7 {'x' * 101}[1]: a long name",
        "not a line",
    ],
    "elb": [
        "2026-06-14T08:15:04.945958Z shop 198.51.100.7:2817 10.0.0.1:80 0.000073 1.5 0.000057 200 200 0 29 "
        '"GET http://shop.example:80/a HTTP/1.1" "curl/8" - -',
        "https 2026-06-14T08:15:05.1Z app/shop/50 198.51.100.9:3301 10.0.0.1:80 0.0 0.1 0.000 200 200 34 366 "
        '"GET https://shop.example:443/b HTTP/2.0" "curl \\"8\\"" ECDHE TLSv1.2 arn:aws:x "Root=1-5" "-" "-" '
        '0 2026-06-14T08:15:04.364000Z "forward" "-"',
        '2026-06-14T08:15:06Z shop h:1 - -1 -1 -1 503 0 0 0 "GET http://x/ HTTP/1.1" "" - -',
        '2026-06-14T08:15:06.300001Z shop h:1 - - - - - - 0 0 "- - - " "-" - -',
        '2026-06-14T08:15:06.300001Z shop h:1 - -1 -1 -1 400 0 1 2 "GET http://x/a b HTTP/1.1" "-"  é',
        '2026-06-31T08:15:06.300001Z shop h:1 - -1 -1 -1 400 0 0 0 "GET http://x/ HTTP/1.1" "-" - -',
        "starting",
    ],
    "cri": [
        "2026-06-14T06:15:05.123456789Z stdout F ready on :8080 ",
        "2026-06-14T06:15:05.123456789Z stdout F",
        "2026-06-14T06:15:06+02:00 stderr F  é",
        "2026-06-14T06:15:06.1Z stdout F:x tagged",
        "2026-06-14T06:15:06.1 stdout F no zone",
        "2026-06-31T06:15:06Z stdout F no day",
        "2026-06-14T06:15:06.000000001+02:00 stderr P a long ",
        "not a line",
    ],
    "docker": [
        '{"log":"\\"ready\\" \\u003cok\\u003e\\n","stream":"stdout","time":"2026-06-14T08:15:04.123456789Z"}',
        '{"log":"\\n","stream":"stderr","time":"2026-06-14T08:15:05Z"}',
        '{"log":"a\\tb é\\r\\n","stream":"stdout","time":"2026-06-14T10:15:05.1+02:00"}',
        '{"log":"C:\\\\new\\\\n\\n","stream":"stdout","time":"2026-06-14T08:15:05.2Z"}',
        '{"log":"a piece of ","stream":"stdout","time":"2026-06-14T08:15:06.000000001Z"}',
        '{"log":"ends in \\\\n","stream":"stderr","time":"2026-06-14T08:15:06.000000001Z"}',
        '{"log":"a piece","attrs":{"x":"y\\n","stream":"z"},"stream":"stdout","time":"2026-06-14T08:15:07Z"}',
        '{"log":"no stream","time":"2026-06-14T08:15:07Z"}',
        '{"log":"x\\n","stream":"stdout","attrs":{"tag":"shop"},"time":"2026-06-14T08:15:08Z"}',
        '{"log":"x\\r\\r\\n","stream":"stdout","time":"2026-06-31T08:15:08Z"}',
        '{"log":"\\ud800\\n","stream":"stdout","time":"2026-06-14T08:15:08Z"}',
        '{"log":"raw \tsign\\n","stream":"stdout","time":"2026-06-14T08:15:08Z"}',
        "not a line",
    ],
    "journal": [
        '{"__REALTIME_TIMESTAMP":"1781417705612004","_SOURCE_REALTIME_TIMESTAMP":"1781417705000001",'
        '"_HOSTNAME":"web1.example","SYSLOG_IDENTIFIER":"sshd","_PID":"2210","PRIORITY":"6",'
        '"MESSAGE":"Failed password for ann from 10.0.0.7 port 22","_SYSTEMD_UNIT":"ssh.service"}',
        '{"__REALTIME_TIMESTAMP":"1781417705612005","_COMM":"cron","PRIORITY":"","MESSAGE":"","_HOSTNAME":""}',
        '{"__REALTIME_TIMESTAMP":"1781417705612006","SYSLOG_IDENTIFIER":"","_COMM":"","PID":"7","UNIT":"a"}',
        '{"__REALTIME_TIMESTAMP":"1781417705612007","_PID":"7","PID":"8","_SYSTEMD_UNIT":"x","UNIT":"y"}',
        '{ "__REALTIME_TIMESTAMP" : "1781417705612008", "MESSAGE" : "a, \\"b\\":1 {\\"c\\":[]}", '
        '"PRIORITY": "9" }',
        '{"__REALTIME_TIMESTAMP":"1781417705612009","MESSAGE":[72,105,255],"_PID":"7"}',
        '{"__REALTIME_TIMESTAMP":"1781417705612010","MESSAGE":"é \\u00e9 \\n 한","_PID":null,"PRIORITY":3}',
        '{"__REALTIME_TIMESTAMP":"1781417705612010","MESSAGE":"\\ud83d\\ude00","kernel":"x","NODE":"n"}',
        '{"__REALTIME_TIMESTAMP":"1781417705612010","MESSAGE":"\\ud800","":"","_":"y","A\\u0042":"z"}',
        '{"__REALTIME_TIMESTAMP":"1781417705612010","_PID":"1","_PID":"2"}',
        '{"__REALTIME_TIMESTAMP":"1781417705612010","__PID":"1","_PID":"2","pid":"3"}',
        '{"__REALTIME_TIMESTAMP":"1781417705612010","node":"n7","_NODE":"n8","time":"x","X":["a","b"]}',
        '{"__REALTIME_TIMESTAMP":"late","_SOURCE_REALTIME_TIMESTAMP":"0","MESSAGE":"x"}',
        '{"__REALTIME_TIMESTAMP":"1781417705612010","_SOURCE_REALTIME_TIMESTAMP":"9999999999999999999"}',
        '{"__REALTIME_TIMESTAMP":"00781417705612010","MESSAGE":"raw \tsign"}',
        '{"__REALTIME_TIMESTAMP":"1781417705612010"}{"__REALTIME_TIMESTAMP":"1781417705612011"}',
        '{"MESSAGE":"no time","_SOURCE_REALTIME_TIMESTAMP":"1781417705612010"}',
        "{}",
        "not an entry",
    ],
    "compose": [
        "web-1    | 2026-06-14T08:15:04.123456789Z ready on :8080",
        "basket-1 | 2026-06-14T08:15:05.31+02:00",
        "basket-1 | 2026-06-14T08:15:05+0200  é | x",
        "web_1 |2026-06-14 08:15:05,250Z ",
        "web-1 | 2026-06-14T08:15:05 no zone",
        "web-1 | 2026-06-14T08:15:05.1234567891Z more digits",
        "wéb-1 | 2026-06-31T08:15:05Z no day",
        'caddy | {"level":"info","ts":1781424902.123,"msg":"x"}',
        "web-1 | no time",
        "not a line",
    ],
    "logfmt": [
        'time=2026-06-14T08:15:04.100Z level=info msg="request done in 5 ms" status=200',
        'time=2026-06-14T08:15:04.200Z level=info msg="" status=',
        'time=2026-06-14T08:15:04.1Z  level=a=b msg="it \\"is\\" on" status=é',
        "ts=1781417705.31 msg=full used=3991 forced",
        "time=2026-06-14T08:15:04Z level=info level=warn msg=x status=1",
        "not a line",
    ],
    "jsonl": [
        '{"event_type": "Start", "time": "2026-06-14T08:15:04Z", "node": "n7", "value": 1}',
        '{"event_type": "Start", "time": "2026-06-14T08:15:04.5Z", "value": 2.5, "deep": {"a": [1, null]}}',
        '{"event_type": "Stop", "time": 1781417704.978, "value": true, "big": 9223372036854775808}',
        ' {"event_type": "C", "time": "2026-06-14", "value": 1e40, "text": "\\u00e9"} ',
        '{"event_type": "D", "time": "2026-06-14T08:15:04Z", "text": "\\ud800"}',
        '{"event_type": "E"} {"event_type": "F"}',
        '{"time": NaN, "value": -0, "value": 3}',
        "[1]",
    ],
    "json": [
        '{"level": "info", "ts": "2026-06-14T08:15:04.978Z", "msg": "order 17 paid", "took": 0.25}',
        '{"ts": "2026-06-14T08:15:05Z", "msg": "a\\nb", "http": {"m": "GET", "s": {"code": 2}}}',
        '{"level": "", "ts": "2026-06-14T08:15:06Z", "msg": " ", "time": "now", "attr:time": 1, "http": {}}',
        '{"ts": "2026-06-14T08:15:06Z", "http": "x", "http.m": "POST", "tags": [1, "a"]}',
        '{"ts": "2026-06-14T08:15:06Z", "msg": null, "event_type": 5}',
        '{"ts": "2026-06-14T08:15:07Z", "msg": "c", "http": {"m": "PUT", "s": {"code": 7}}}',
        '{"ts": "2026-06-14T08:15:07Z", "msg": "c", "http": {"m": null, "s": {}}}',
        '{"ts": "2026-06-14T08:15:07Z", "msg": "c 8", "http": {"m": "PUT", "s": null}}',
        '{"ts": "2026-06-14T08:15:07Z", "msg": "c 9", "http": null}',
        '{"ts": "2026-06-14T08:15:07Z", "msg": "c 9", "http": {"m": "PUT", "m": "GET", "s": {"code": 7}}}',
        "{",
    ],
}
_PATTERNS = (
    LogPattern("Failed", r"for (?P<user>\S+) from (?P<node>\S+) port (?P<port>\d+)", (), None,
               ("user", "node", "port")),
    LogPattern("Down", r"(?P<pid>\w+): link", ("kernel",), "WARN", ("pid",)),
)  # fmt: skip
_YEAR = 1_767_225_600_000_000
OPTIONS = [
    ReadOptions(epoch=_YEAR),
    ReadOptions(modified=_YEAR, time_zone="Europe/Berlin", drop_domain=True),
    ReadOptions(epoch=_YEAR, exact_times=True, patterns=_PATTERNS),
    ReadOptions(),
]


def read(
    name: str, data: bytes, options: ReadOptions, *, one_by_one: bool
) -> tuple[pa.Table | None, ReadReport, str]:
    """All events, what is reported, and why the file was refused."""
    report, batches, refused = ReadReport(), list[pa.RecordBatch](), ""
    most = 1 << 60 if one_by_one else 0
    alone = (
        {"side_effect": lambda lines: [None] * len(lines)} if one_by_one else {"side_effect": json_objects}
    )
    with (
        patch.object(line_blocks, "FEWEST_BYTES", most),
        patch.object(json_lines, "json_objects", **alone),
        patch.object(any_json, "json_objects", **alone),
        patch.object(json_lines, "_MOST_MISFITS", 0 if one_by_one else 1 << 20),
        patch.object(line_blocks, "BLOCK_BYTES", 2_000),
        patch.object(line_blocks, "_MOST_LINES", 7),
    ):
        try:
            batches = list(format_named(name).read(io.BytesIO(data), "a.log", options, report))
        except CepctlError as problem:
            refused = str(problem)
    for batch in batches:
        batch.validate(full=True)
    if not batches:
        return None, report, refused
    tables = [pa.Table.from_batches([batch]) for batch in batches]
    table = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
    marks = {each.name: each.metadata for batch in batches for each in batch.schema if each.metadata}
    table = table.cast(pa.schema(each.with_metadata(marks.get(each.name)) for each in table.schema))
    for rare in {NANOS, FOLD} & set(table.column_names):
        known = pc.fill_null(table.column(rare), 0)
        table = table.set_column(table.column_names.index(rare), rare, known)
    # Of exact times units are told where no time of a batch has one, so they depend on its end.
    names = set(table.column_names) - ({GRAIN} if options.exact_times else set())
    return table.select(sorted(names)), report, refused


def assert_same(name: str, data: bytes, options: ReadOptions) -> None:
    many, report, refused = read(name, data, options, one_by_one=False)
    single, judged, why = read(name, data, options, one_by_one=True)
    assert refused == why
    if refused:
        return
    assert report == judged
    assert (many is None) == (single is None)
    if many is not None and single is not None:
        assert many.column_names == single.column_names
        assert many.to_pylist() == single.to_pylist()
        assert many.schema.equals(single.schema, check_metadata=True)


@pytest.mark.parametrize("name", LINES)
@given(data=st.data())
def test_many_lines_give_what_each_gives_alone(name: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(LINES[name]), min_size=1, max_size=40))
    log = data.draw(st.sampled_from(["\n", "\r\n", " \n"])).join(lines).encode()
    damaged = data.draw(st.just(log) | mutated(log))
    assert_same(name, damaged, data.draw(st.sampled_from(OPTIONS)))


ALIKE = {
    "json": [
        '{"level": "info", "ts": "2026-06-14T08:15:04.978Z", "msg": "o 17", "http": {"m": "GET", "t": 0.25}}',
        '{"level": "warn", "ts": "2026-06-14T08:15:05Z", "msg": "o 18\\nx", "http": {"m": "PUT", "t": 1.0}}',
        '{"level": "warn", "ts": "2026-06-14T08:15:05Z", "msg": "", "http": {"m": "PUT", "t": 7.25}}',
        '{"level": "", "ts": "2026-06-14", "msg": " ", "http": {"m": "", "t": 1e15}}',
        '{"level": null, "ts": "2026-06-14T08:15:06Z", "msg": null, "http": {"m": null}}',
        '{"level": "info", "ts": "2026-06-31T08:15:06Z", "msg": "order 19 paid", "http": {}}',
        '{"level": "info", "ts": "later", "msg": "order 20 paid", "event_type": "odd"}',
        '{"ts": "2026-06-14T08:15:06Z", "msg": "order 20 paid", "http": null}',
    ],
    "jsonl": [
        '{"event_type": "Start", "time": "2026-06-14T08:15:04Z", "node": "n7", "value": 1}',
        '{"event_type": "Start", "time": "2026-06-14T08:15:04.5Z", "value": 2, "up": true}',
        '{"event_type": "Stop", "time": "2026-06-14T08:15:05Z", "value": 2.5, "node": null}',
        '{"event_type": "Stop", "time": "2026-06-14T08:15:05Z", "value": 2.0, "up": null}',
        '{"event_type": "Start", "time": "2026-06-31T08:15:04Z", "id": "a", "node": ""}',
        '{"event_type": "Stop", "time": "2026-06-14T08:15:05Z", "value": 9007199254740993}',
        '{"event_type": null, "time": null, "value": null, "other": {}}',
    ],
}


@pytest.mark.parametrize("name", ALIKE)
@given(data=st.data())
def test_objects_that_are_alike_give_what_each_gives_alone(name: str, data: st.DataObject) -> None:
    some = ALIKE[name][: data.draw(st.integers(1, len(ALIKE[name])))]
    lines = data.draw(st.lists(st.sampled_from(some), min_size=1, max_size=40))
    assert_same(name, "\n".join([some[0], *lines]).encode(), data.draw(st.sampled_from(OPTIONS)))


@pytest.mark.parametrize("name", LINES)
def test_the_odd_lines_are_few_among_those_that_are_read_many_at_a_time(name: str) -> None:
    """The first line of each is one of every day: what is alike is read without a look at any of them."""
    usual = LINES[name][0]
    alone = AssertionError("a line was read alone")
    with (
        patch.object(event_lines.LineBatches, "add", side_effect=alone),
        patch.object(json_lines, "_alone", side_effect=alone),
    ):
        table, report, _ = read(name, f"{usual}\n".encode() * 50, OPTIONS[0], one_by_one=False)
    assert (report.records, table is not None and len(table)) == (50, 50)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_long_line_among_others_is_read_as_it_is(name: str, end: str) -> None:
    usual = LINES[name][0]
    log = f"{usual}\n{usual} {'é' * 5_000_000}\n\n{usual}\udce9\n{usual}{end}"
    assert_same(name, log.encode("utf-8", "surrogateescape"), OPTIONS[0])


@pytest.mark.parametrize("name", LINES)
def test_text_in_other_encodings_and_with_nul_bytes_is_read_as_it_is(name: str) -> None:
    log = "\n".join(LINES[name]) + "\n"
    for data in (
        log.encode("utf-16"),
        b"\xef\xbb\xbf" + log.encode(),
        log.encode().replace(b"\n", b"\0\n\0"),
    ):
        assert_same(name, data * 2, OPTIONS[0])


@pytest.mark.parametrize(
    "line",
    [
        '{"msg": 1}',
        '{"msg": "x", "msg": "y"}',
        '{"msg": "x"}{"msg": "z"}',
        '{"msg": "a\tb"}',
        "",
        '{"msg": NaN}',
        '{"msg": "\\u00e9 \\n z", "x": {"msg": "inner"}}',
        '{"msg": "q", "y": 01}',
        '{"msg": "\\ud800"}',
        '{"event": "paid", "msg": null}',
    ],
)
def test_messages_of_many_lines_are_those_of_each(line: str) -> None:
    log = "\n".join([LINES["json"][0], line, LINES["json"][0]]).encode()
    messages = format_named("json").messages
    assert messages is not None
    many = [each.to_pylist() for each in messages(io.BytesIO(log), "a.log", ReadOptions())]
    with patch.object(any_json, "messages_in", lambda *_: None):
        assert many == [each.to_pylist() for each in messages(io.BytesIO(log), "a.log", ReadOptions())]

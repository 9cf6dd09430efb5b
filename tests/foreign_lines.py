"""Logs of 600 lines of every format of lines, with one line among the first 400 that is of something else.

    python -m tests.foreign_lines --count 10000

Log number n is the same in every run: what it is of, the line and its place follow from n.  Two accounts of
it are compared: what its records were made from, and what the reader says.  At most one record may differ
(a foreign line goes on with the record before it), and at most one is more; every other keeps its instant
and its precision to the microsecond.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

import pyarrow as pa

from cepctl.errors import CepctlError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_of, open_bytes
from tests.reader_account import OPTIONS, SOURCE

LINES = 600
LOOKED_AT = 400
_BEGIN = 1_781_417_704_123_456
_STEP = 1_730_019


@dataclass(frozen=True)
class LineForm:
    """How the lines of one kind of log look: a form for `strftime`, and `{n}`, `{ms}`, `{us}`, `{epoch}`.

    `precision` is that of the time as written, in microseconds; `header` stands before the lines.
    """

    format_name: str
    form: str
    precision: int
    header: str = ""

    def line(self, number: int) -> str:
        """Record `number`, without its line end."""
        instant = self.instant(number)
        written = datetime.fromtimestamp(instant // 1_000_000, UTC).strftime(self.form)
        parts = {"n": number, "us": f"{instant % 1_000_000:06}", "ms": f"{instant % 1_000_000 // 1000:03}"}
        for name, value in (parts | {"epoch": instant // 1_000_000}).items():
            written = written.replace(f"{{{name}}}", str(value))
        return written

    def instant(self, number: int) -> int:
        """Microseconds since 1970 of record `number`, as precise as it is written."""
        return (_BEGIN + _STEP * number) // self.precision * self.precision


_S, _MS, _US = 1_000_000, 1_000, 1
FORMS: dict[str, LineForm] = {
    "log4j of Hadoop": LineForm(
        "log4j", "%Y-%m-%d %H:%M:%S,{ms} INFO [main] org.apache.hadoop.mapreduce.Some: hello {n}", _MS
    ),
    "log4j of HDFS": LineForm("log4j", "%y%m%d %H%M%S 148 INFO dfs.DataNode$Packet: block {n}", _S),
    "console of Spark": LineForm("log4j", "%y/%m/%d %H:%M:%S INFO mapred.JobClient: map {n}", _S),
    "ZooKeeper": LineForm("lines", "%Y-%m-%d %H:%M:%S,{ms} - INFO  [main:Server@12] - Client {n} is in", _MS),
    "a time alone": LineForm("lines", "%Y-%m-%d %H:%M:%S.{ms} client {n} is in", _MS),
    "slashes": LineForm("lines", "%Y/%m/%d %H:%M:%S.{us} client {n} is in", _US),
    "Kafka": LineForm("lines", "[%Y-%m-%d %H:%M:%S,{ms}] INFO client {n} is in (kafka.Server)", _MS),
    "Apache": LineForm("lines", "[%a %b %d %H:%M:%S.{us} %Y] [core:error] [pid 77] client {n} is in", _US),
    "nginx": LineForm("lines", "%Y/%m/%d %H:%M:%S [error] 12#7: *{n} no such file", _S),
    "PostgreSQL": LineForm("lines", "%Y-%m-%d %H:%M:%S.{ms} UTC [77] LOG:  checkpoint {n}", _MS),
    "OpenStack": LineForm(
        "lines", "nova-api.log %Y-%m-%d %H:%M:%S.{ms} 25746 INFO nova.wsgi [req-1 - - -] got {n}", _MS
    ),
    "klog": LineForm("lines", "I%m%d %H:%M:%S.{us}   77 server.go:12] client {n} is in", _US),
    "logcat": LineForm("lines", "%m-%d %H:%M:%S.{ms}  1702  2395 D Window: turned {n}", _MS),
    "audit": LineForm("lines", "type=CWD msg=audit({epoch}.{ms}:{n}): cwd=/root", _MS),
    "BlueGene": LineForm(
        "lines",
        "- {epoch} %Y.%m.%d R02-M1 %Y-%m-%d-%H.%M.%S.{us} R02-M1 RAS KERNEL INFO cache {n} fixed",
        _US,
    ),
    "dpkg": LineForm("lines", "%Y-%m-%d %H:%M:%S status installed package-{n}", _S),
    "months by name": LineForm("lines", "%d %b %Y %H:%M:%S.{ms} client {n} is in", _MS),
    "access": LineForm(
        "access", '198.51.100.7 - - [%d/%b/%Y:%H:%M:%S +0000] "GET /a{n} HTTP/1.1" 404 162', _S
    ),
    "cri": LineForm("cri", "%Y-%m-%dT%H:%M:%S.{us}000Z stdout F line {n}", _US),
    "docker": LineForm(
        "docker", '{"log":"line {n}\\n","stream":"stdout","time":"%Y-%m-%dT%H:%M:%S.{us}000Z"}', _US
    ),
    "journal": LineForm(
        "journal",
        '{"__REALTIME_TIMESTAMP":"{epoch}{us}","_HOSTNAME":"w1","SYSLOG_IDENTIFIER":"su","MESSAGE":"a {n}"}',
        _US,
    ),
    "logfmt": LineForm("logfmt", 'time=%Y-%m-%dT%H:%M:%S.{ms}Z level=info msg="it is {n}"', _MS),
    "syslog": LineForm("syslog", "%b %d %H:%M:%S web1 sshd[{n}]: Failed password for root", _S),
    "syslog, ISO 8601": LineForm("syslog", "%Y-%m-%dT%H:%M:%S.{us}Z web1 sshd[{n}]: Failed password", _US),
    "syslog, RFC 5424": LineForm("syslog", "<13>1 %Y-%m-%dT%H:%M:%S.{us}Z web1 sshd {n} - - failed", _US),
    "spark": LineForm(
        "spark",
        '{"Event":"SparkListenerTaskStart","Stage ID":0,'
        '"Task Info":{"Task ID":{n},"Launch Time":{epoch}{ms}}}',
        _MS,
    ),
    "jsonl": LineForm("jsonl", '{"event_type":"A","time":"%Y-%m-%dT%H:%M:%S.{us}Z","note":"x{n}"}', _US),
    "jsonl, epoch": LineForm("jsonl", '{"event_type":"A","time":{epoch}{us},"note":"x{n}"}', _US),
    "json": LineForm("json", '{"ts":"%Y-%m-%dT%H:%M:%S.{us}Z","msg":"order {n} paid"}', _US),
    "csv": LineForm("csv", "A,%Y-%m-%dT%H:%M:%S.{us}Z,x{n}", _US, "event_type,time,note"),
    "csv, epoch": LineForm("csv", "A,{epoch}{us},x{n}", _US, "event_type,time,note"),
    "tsv": LineForm("tsv", "A\t%Y-%m-%dT%H:%M:%S.{us}Z\tx{n}", _US, "event_type\ttime\tnote"),
    "zeek": LineForm(
        "zeek",
        "{epoch}.{us}\tC{n}\t198.51.100.7\tssh",
        _US,
        "#separator \\x09\n#set_separator\t,\n#unset_field\t-\n#path\tconn\n#fields\tts\tuid\thost\tservice",
    ),
    "w3c": LineForm(
        "w3c",
        "%Y-%m-%d %H:%M:%S 198.51.100.7 GET /a{n} 404",
        _S,
        "#Software: a server\n#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem sc-status",
    ),
    "elb": LineForm(
        "elb",
        "%Y-%m-%dT%H:%M:%S.{us}Z app/web/50dc6c 198.51.100.7:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 "
        '{n} "GET https://a.example:443/a HTTP/1.1" "curl/7.46.0" - -',
        _US,
    ),
    "line-protocol": LineForm("line-protocol", "cpu,host=n7 usage={n} {epoch}{us}000", _US),
    "compose": LineForm("compose", "web-1  | %Y-%m-%dT%H:%M:%S.{us}000Z request {n}", _US),
    "jhist": LineForm(
        "jhist",
        '{"type":"TASK_STARTED","event":{"org.apache.hadoop.mapreduce.jobhistory.TaskStarted":'
        '{"taskid":"task_1772009204117_0042_m_{n}","taskType":"MAP","startTime":{epoch}{ms},"splitLocations":"n"}}}',
        _MS,
        'Avro-Json\n{"type":"record","name":"Event","fields":[]}',
    ),
    "jhist1": LineForm(
        "jhist1",
        'MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_{n}" TASK_ATTEMPT_ID="attempt_1_0001_m_{n}_0" '
        'START_TIME="{epoch}{ms}" HTTP_PORT="80" .',
        _MS,
        'Meta VERSION="1" .',
    ),
    "text": LineForm("text", "at %Y-%m-%dT%H:%M:%SZ on n7 ready {n}", _S),
}

# Lines of nothing that has a form above; times that are coarser than those among them.
STRAY = (
    "2026-06-14 06:15 nightly backup begins",
    "2026/06/14 06:15 nightly backup begins",
    "14 Jun 2026 06:15 nightly backup begins",
    "Jun 14 2026 06:15 nightly backup begins",
    "14.06.2026 06:15:04 nightly backup begins",
    "03/04/2026 06:15:04 nightly backup begins",
    "06/14 06:15:04 nightly backup begins",
    "[ 1306.933000] eth0: link up",
    "06:15:04 nightly backup begins",
    "20260614-0615 nightly backup begins",
    "20260614 061504 nightly backup begins",
    "1781417704 nightly backup begins",
    "1781417704123 nightly backup begins",
    "at 2026-06-14T06:15:04.250Z nightly backup begins",
    "see the report of 2026-06-14 06:15:04 below",
    "======================================",
    "Java HotSpot(TM) 64-Bit Server VM warning: ignoring option",
    "\tat a.B.c(B.java:1)",
    "java.io.IOException: gone",
    "{",
    "}",
    "[",
    '{"a":1}',
    '{"time":1}',
    '{"ts":"yesterday","msg":"no time"}',
    "<html>",
    "a,b,c",
    "time,event_type,note",
    "a=b c=d",
    "time=never level=info",
    "%!s(MISSING)",
    "\ufffd\ufffd\ufffd",
    "-- MARK --",
    "~" * 5_000,
    "# a comment",
    "type=EOE msg=audit(",
    ".",
    "Meta VERSION=",
    "-1: nan",
)


@dataclass(frozen=True)
class ForeignLine:
    """One log with a foreign line: of which form, the line, the place of it among how many lines."""

    form: str
    line: str
    place: int
    lines: int = LINES

    @property
    def data(self) -> bytes:
        form = FORMS[self.form]
        lines = [*(form.header.split("\n") if form.header else []), *map(form.line, range(self.lines))]
        lines.insert(self.place, self.line)
        return "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")


def foreign_line(number: int) -> ForeignLine:
    """Log `number`: every form has its turn; the line is a stray one, one of another form, or a cut one."""
    random = Random(number)
    name = [*FORMS][number % len(FORMS)]
    kind = random.randrange(4)
    if kind == 0:
        line = FORMS[random.choice([*FORMS])].line(random.randrange(LINES))
    elif kind == 1:
        whole = FORMS[name].line(random.randrange(LINES))
        line = whole[: random.randrange(1, len(whole))]
    elif kind == 2:
        whole = FORMS[name].line(random.randrange(LINES))
        line = whole[random.randrange(1, len(whole)) :]
    else:
        line = random.choice(STRAY)
    place = 0 if random.random() < 0.2 else random.randrange(LOOKED_AT)
    return ForeignLine(name, line, place)


def judged(log: ForeignLine) -> str | None:
    """What is wrong with the reading of a log; None where nothing is."""
    form = FORMS[log.form]
    options = ReadOptions(epoch=OPTIONS.epoch, keep_unmatched=form.format_name == "log4j")
    if form.format_name == "text":
        options = OPTIONS
    report, found = ReadReport(), Counter[tuple[int | None, int]]()
    try:
        with open_bytes(log.data, SOURCE) as opened:
            known = format_of(opened.head, SOURCE, None, options)
            for batch in known.read(opened.stream, SOURCE, options, report):
                found.update(_times(batch))
    except CepctlError as problem:
        return f"refused: {problem}"
    if known.name != form.format_name:
        return f"taken for {known.name}"
    reach = _REACH.get(log.form, form.precision - 1)
    true = Counter[tuple[int | None, int]]((form.instant(number), reach) for number in range(log.lines))
    lost, more = (true - found).total(), (found - true).total()
    if lost > 1 or more > 2:
        return f"{lost} records changed or lost, {more} that are none"
    if lost and not report.rejects:
        return "a record is lost without a reject"
    return None


# Instants that a program wrote, not people, are exact.
_REACH = dict.fromkeys(("spark", "jhist", "jhist1", "w3c"), 0)


def _times(batch: pa.RecordBatch) -> list[tuple[int | None, int]]:
    micros = batch.column("time").cast(pa.int64()).to_pylist()
    after = batch.column("after").to_pylist()
    return list(zip(micros, after, strict=True))


def main(arguments: list[str]) -> int:
    """Judge so many logs; returns 1 where something is wrong with the reading of one."""
    parser = argparse.ArgumentParser(prog="python -m tests.foreign_lines", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    chosen = parser.parse_args(arguments)
    begun, wrong = time.monotonic(), 0
    for number in range(chosen.first, chosen.first + chosen.count):
        log = foreign_line(number)
        said = judged(log)
        if said is not None:
            wrong += 1
            sys.stdout.write(f"{number}  {log.form}, line {log.place + 1}, {log.line[:60]!r}: {said}\n")
    sys.stdout.write(f"{chosen.count:,} logs, {wrong:,} findings, {time.monotonic() - begun:,.0f} s\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

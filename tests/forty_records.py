"""A log of forty records in every form of every format, one of which is to be damaged; records are short."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from tests.io.hadoop.test_hadoop_jhist_binary import HISTORY, SCHEMA
from tests.io.ocel.ocel_logs import COMMON_TABLES
from tests.rrd_files import Ring, rrd_bytes

COUNT = 40
_BEGIN = 1_781_417_700


def _written(number: int) -> str:
    return datetime.fromtimestamp(_BEGIN + number, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _each(record: Callable[[int], str], before: str = "", after: str = "", between: str = "") -> bytes:
    return (before + between.join(map(record, range(COUNT))) + after).encode()


def _polls() -> bytes:
    def host(name: str, numbers: range) -> str:
        metrics = "".join(f'<METRIC NAME="m{n}" VAL="{n}" TYPE="float" TN="1" TMAX="60"/>\n' for n in numbers)
        return f'<HOST NAME="{name}" REPORTED="1000000" TN="1" TMAX="20">\n{metrics}</HOST>\n'

    hosts = host("n1", range(19)) + host("n2", range(19, 36)) + host("n3", range(36, COUNT))
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<GANGLIA_XML VERSION="3" SOURCE="gmond">\n'
        f'<CLUSTER NAME="c" LOCALTIME="1000000">\n{hosts}</CLUSTER>\n</GANGLIA_XML>\n'
    ).encode()


def _xes() -> bytes:
    def event(number: int) -> str:
        end = "</trace>\n" if number % 8 == 7 else ""
        begin = f'<trace><string key="concept:name" value="c{number // 8}"/>\n' if number % 8 == 0 else ""
        return (
            f'{begin}<event><string key="concept:name" value="a{number}"/>'
            f'<date key="time:timestamp" value="{_written(number)}Z"/></event>\n{end}'
        )

    return _each(event, "<log>\n", "</log>\n")


_OCEL_TYPES = '"objectTypes":[{"name":"order","attributes":[]}],"eventTypes":[{"name":"pay","attributes":[]}]'


def _ocel_json() -> bytes:
    return _each(
        lambda n: (
            f'{{"id":"e{n}","type":"pay","time":"{_written(n)}Z","attributes":[{{"name":"p","value":{n}}}],'
            f'"relationships":[{{"objectId":"o1","qualifier":"of"}}]}}'
        ),
        f'{{{_OCEL_TYPES},"objects":[{{"id":"o1","type":"order"}}],"events":[\n',
        "]}\n",
        ",\n",
    )


def _ocel_xml() -> bytes:
    return _each(
        lambda n: (
            f'<event id="e{n}" type="pay" time="{_written(n)}Z"><attributes>'
            f'<attribute name="p">{n}</attribute></attributes>'
            '<objects><relationship object-id="o1" qualifier="of"/></objects></event>\n'
        ),
        '<?xml version="1.0" encoding="UTF-8"?>\n<log>\n<object-types><object-type name="order">'
        "<attributes/></object-type></object-types>\n<event-types/>\n"
        '<objects><object id="o1" type="order"/></objects>\n<events>\n',
        "</events>\n</log>\n",
    )


def _ocel_database() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "PRAGMA page_size = 512;"
        f"{COMMON_TABLES}"
        "CREATE TABLE event_pay (ocel_id TEXT, ocel_time TEXT);"
        "CREATE TABLE object_order (ocel_id TEXT, ocel_time TEXT);"
        "INSERT INTO event_map_type VALUES ('pay', 'pay');"
        "INSERT INTO object_map_type VALUES ('order', 'order');"
        "INSERT INTO object VALUES ('o1', 'order');"
        "INSERT INTO object_order VALUES ('o1', '1970-01-01T00:00:00Z');"
    )
    for number in range(COUNT):
        name = f"e{number}"
        connection.execute("INSERT INTO event VALUES (?, 'pay')", (name,))
        connection.execute("INSERT INTO event_pay VALUES (?, ?)", (name, f"{_written(number)}Z"))
        connection.execute("INSERT INTO event_object VALUES (?, 'o1', 'of')", (name,))
    connection.commit()
    return connection.serialize()


def _first_ocel_json() -> bytes:
    return _each(
        lambda n: (
            f'"e{n}":{{"ocel:activity":"pay","ocel:timestamp":"{_written(n)}Z","ocel:omap":["o1"],'
            f'"ocel:vmap":{{"p":{n}}}}}'
        ),
        '{"ocel:global-log":{"ocel:version":"1.0"},"ocel:objects":{"o1":{"ocel:type":"order","ocel:ovmap":{}}},'
        '"ocel:events":{\n',
        "}}\n",
        ",\n",
    )


def _first_ocel_xml() -> bytes:
    return _each(
        lambda n: (
            f'<event><string key="id" value="e{n}"/><string key="activity" value="pay"/>'
            f'<date key="timestamp" value="{_written(n)}Z"/><list key="omap">'
            '<string key="object-id" value="o1"/></list>'
            f'<list key="vmap"><int key="p" value="{n}"/></list></event>\n'
        ),
        '<?xml version="1.0" encoding="UTF-8"?>\n<log>\n<objects><object><string key="id" value="o1"/>'
        '<string key="type" value="order"/><list key="ovmap"/></object></objects>\n<events>\n',
        "</events>\n</log>\n",
    )


def _first_ocel_database() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "PRAGMA page_size = 512;"
        'CREATE TABLE EVENTS ("ocel:eid" TEXT, "ocel:timestamp" TEXT, "ocel:activity" TEXT, p INTEGER);'
        'CREATE TABLE OBJECTS ("ocel:oid" TEXT, "ocel:type" TEXT);'
        'CREATE TABLE RELATIONS ("ocel:eid" TEXT, "ocel:oid" TEXT, "ocel:type" TEXT);'
        "INSERT INTO OBJECTS VALUES ('o1', 'order');"
    )
    for number in range(COUNT):
        name = f"e{number}"
        connection.execute(
            "INSERT INTO EVENTS VALUES (?, ?, 'pay', ?)", (name, f"{_written(number)}Z", number)
        )
        connection.execute("INSERT INTO RELATIONS VALUES (?, 'o1', 'order')", (name,))
    connection.commit()
    return connection.serialize()


def _event_of_kubernetes(number: int) -> str:
    return (
        f'{{"kind":"Event","reason":"Pulled","count":1,"involvedObject":{{"name":"web{number}"}},'
        f'"firstTimestamp":"{_written(number)}Z","lastTimestamp":"{_written(number)}Z"}}'
    )


def _span_of_otlp(number: int) -> str:
    start = _BEGIN + number
    return (
        f'{{"traceId":"5b8e","spanId":"e{number}","name":"s{number}",'
        f'"startTimeUnixNano":"{start}000000001","endTimeUnixNano":"{start}380000000",'
        f'"attributes":[{{"key":"k","value":{{"intValue":"{number}"}}}}]}}'
    )


def _span_of_jaeger(number: int) -> str:
    return (
        f'{{"traceID":"2be3","spanID":"s{number}","operationName":"get","references":[{{"refType":"CHILD_OF",'
        f'"traceID":"2be3","spanID":"4927"}}],"startTime":{_BEGIN + number}000000,"duration":100,'
        f'"tags":[{{"key":"port","type":"int64","value":{number}}}],"processID":"p1"}}'
    )


def _span_of_zipkin(number: int) -> str:
    return (
        f'{{"traceId":"5982","id":"s{number}","name":"get","timestamp":{_BEGIN + number}000000,'
        f'"duration":150,"localEndpoint":{{"serviceName":"api"}},"tags":{{"n":"{number}"}}}}'
    )


def _task_of_rumen(number: int) -> dict[str, Any]:
    start = (_BEGIN + number) * 1000
    attempt = {
        "attemptID": f"attempt_1_0001_m_{number:06}_0",
        "startTime": start + 1,
        "finishTime": start + 2,
        "result": "SUCCESS",
        "hostName": "n1",
    }
    return {
        "taskID": f"task_1_0001_m_{number:06}",
        "taskType": "MAP",
        "startTime": start,
        "finishTime": start + 3,
        "taskStatus": "SUCCESS",
        "attempts": [attempt],
    }


def _rumen() -> bytes:
    job = {
        "jobID": "job_1_0001",
        "user": "ann",
        "submitTime": _BEGIN * 1000,
        "launchTime": _BEGIN * 1000 + 1,
        "finishTime": _BEGIN * 1000 + 99,
        "mapTasks": list(map(_task_of_rumen, range(COUNT))),
        "reduceTasks": [],
        "otherTasks": [],
    }
    return (json.dumps(job, indent=1) + "\n").encode()


def _sls() -> bytes:
    def container(number: int) -> dict[str, Any]:
        return {
            "container.host": "/r1/n1",
            "container.start.ms": number + 1,
            "container.end.ms": number + 100,
            "container.type": "map",
        }

    job = {
        "job.start.ms": 0,
        "job.end.ms": 500,
        "job.id": "j1",
        "job.tasks": list(map(container, range(COUNT))),
    }
    return (json.dumps(job, indent=1) + "\n").encode()


def _record_of_history(number: int) -> str:
    fields = {
        "taskid": f"task_1_0001_m_{number:06}",
        "attemptId": f"attempt_1_0001_m_{number:06}_0",
        "startTime": (_BEGIN + number) * 1000,
    }
    return json.dumps({"type": "MAP_ATTEMPT_STARTED", "event": {f"{HISTORY}.MapAttemptStarted": fields}})


def _history() -> bytes:
    return _each(lambda n: _record_of_history(n) + "\n", f"Avro-Json\n{json.dumps(SCHEMA)}\n")


def _binary_history() -> bytes:
    schema = fastavro.parse_schema(json.loads(json.dumps(SCHEMA)))
    output = io.BytesIO()
    for number in range(COUNT):
        content = next(fastavro.json_reader(io.StringIO(_record_of_history(number)), schema))
        fastavro.schemaless_writer(output, schema, content)
    return b"Avro-Binary\n" + json.dumps(SCHEMA).encode() + b"\n" + output.getvalue()


def _dump() -> bytes:
    return _each(
        lambda n: (
            f"<!-- 1970-01-12 14:46:45 CET / {1_000_005 + 15 * n} --> <row><v>{n + 1}.0000e+00</v></row>\n"
        ),
        '<?xml version="1.0" encoding="utf-8"?>\n<rrd><version>0003</version><step>15</step>\n'
        f"<lastupdate>{1_000_005 + 15 * (COUNT - 1)}</lastupdate>\n"
        "<ds><name> sum </name><type> GAUGE </type></ds>\n"
        "<rra><cf>AVERAGE</cf><pdp_per_row>1</pdp_per_row><database>\n",
        "</database></rra>\n</rrd>\n",
    )


def _parquet() -> bytes:
    sink = io.BytesIO()
    table = pa.table(
        {
            "event_type": [f"A{number}" for number in range(COUNT)],
            "time": pa.array([number * 10**6 for number in range(COUNT)], pa.timestamp("us", "UTC")),
        }
    )
    pq.write_table(table, sink)
    return sink.getvalue()


def _stamp(number: int) -> str:
    return _written(number).replace("T", " ")


# By a name for people: the format, and the file.
FORTY_RECORDS: dict[str, tuple[str, bytes]] = {
    "csv": ("csv", _each(lambda n: f"A{n},{_written(n)}Z,x{n},{n}\n", "event_type,time,note,value\n")),
    "csv, quoted": (
        "csv",
        _each(
            lambda n: f'"A{n}","{_written(n)}Z","a ""b"", c{n}"\n',
            '"event_type","time","note"\n',
        ),
    ),
    "tsv": ("tsv", _each(lambda n: f"A{n}\t{_written(n)}Z\tx{n}\n", "event_type\ttime\tnote\n")),
    "jsonl": ("jsonl", _each(lambda n: f'{{"event_type":"A{n}","time":"{_written(n)}Z","note":"x{n}"}}\n')),
    "json": (
        "json",
        _each(
            lambda n: f'{{"eventTime":"{_written(n)}Z","eventName":"A{n % 4}","user":{{"name":"u{n}"}}}}',
            '{"Records":[',
            "]}\n",
            ",\n",
        ),
    ),
    "json, lines": (
        "json",
        _each(lambda n: f'{{"ts":"{_written(n)}Z","msg":"order {n} paid","user":{{"name":"u{n}"}}}}\n'),
    ),
    "json, array": (
        "json",
        _each(
            lambda n: f'{{"at":"{_written(n)}Z","event":"A{n % 4}","user":{{"name":"u{n}"}}}}',
            "[",
            "]\n",
            ",\n",
        ),
    ),
    "json, Kubernetes": ("json", _each(_event_of_kubernetes, '{"kind":"List","items":[', "]}\n", ",\n")),
    "parquet": ("parquet", _parquet()),
    "jhist": ("jhist", _history()),
    "jhist, binary": ("jhist", _binary_history()),
    "jhist1": (
        "jhist1",
        _each(
            lambda n: (
                f'MapAttempt TASK_TYPE="MAP" TASKID="task_1_0001_m_{n:06}" '
                f'TASK_ATTEMPT_ID="attempt_1_0001_m_{n:06}_0" START_TIME="{_BEGIN + n}000" HTTP_PORT="80" .\n'
            ),
            'Meta VERSION="1" .\n',
        ),
    ),
    "rumen": ("rumen", _rumen()),
    "sls": ("sls", _sls()),
    "ganglia": ("ganglia", _polls()),
    "rrd": ("rrd", rrd_bytes([Ring([[float(n + 1)] for n in range(COUNT)], newest=39)], last=1_000_005)),
    "rrd-dump": ("rrd-dump", _dump()),
    "xes": ("xes", _xes()),
    "log4j": (
        "log4j",
        _each(
            lambda n: (
                f"2015-10-18 18:01:{n + 10},978 INFO [main] org.apache.hadoop.mapreduce.Some: hello {n}\n"
            )
        ),
    ),
    "lines": (
        "lines",
        _each(lambda n: f"2026-06-14 06:15:{n + 10},000 - INFO  [main:Server@12] - Client {n} is in\n"),
    ),
    "access": (
        "access",
        _each(
            lambda n: f'198.51.100.7 - - [14/Jun/2026:06:15:{n + 10} +0000] "GET /a{n} HTTP/1.1" 404 162\n'
        ),
    ),
    "elb": (
        "elb",
        _each(
            lambda n: (
                f"{_written(n)}.945958Z shop 198.51.100.7:2817 10.0.0.1:80 0.1 0.2 0.3 200 200 0 29 "
                f'"GET http://shop.example:80/a{n} HTTP/1.1" "curl/8" - -\n'
            )
        ),
    ),
    "prometheus": ("prometheus", _each(lambda n: f'up{{job="a",code="{n}"}} 1 {_BEGIN + n}250\n')),
    "line-protocol": (
        "line-protocol",
        _each(lambda n: f"cpu,host=web{n} usage=99.5,cores=8i {_BEGIN + n}250000000\n"),
    ),
    "zeek": (
        "zeek",
        _each(
            lambda n: f"{_BEGIN + n}.5\tC{n}\t10.0.0.7\n",
            "#separator \\x09\n#unset_field\t-\n#path\tssh\n#fields\tts\tuid\thost\n",
        ),
    ),
    "w3c": (
        "w3c",
        _each(
            lambda n: f"{_written(n).replace('T', ' ')} 10.0.0.7 GET /{n}\n",
            "#Version: 1.0\n#Fields: date time c-ip cs-method cs-uri-stem\n",
        ),
    ),
    "chrome-trace": (
        "chrome-trace",
        _each(
            lambda n: f'{{"name":"a{n}","ph":"X","pid":1,"tid":2,"ts":{n},"dur":1}}',
            '{"traceEvents":[\n',
            "\n]}\n",
            ",\n",
        ),
    ),
    "compose": ("compose", _each(lambda n: f"web-1 | {_written(n)}.123456789Z line {n}\n")),
    "mysql-slow": (
        "mysql-slow",
        _each(
            lambda n: f"# Time: {_written(n)}.5Z\n# User@Host: a[a] @ h []\n# Query_time: 1.5\nselect {n};\n"
        ),
    ),
    "cri": ("cri", _each(lambda n: f"{_written(n)}.123456789Z stdout F line {n}\n")),
    "docker": (
        "docker",
        _each(lambda n: f'{{"log":"line {n}\\n","stream":"stdout","time":"{_written(n)}.123456789Z"}}\n'),
    ),
    "journal": (
        "journal",
        _each(
            lambda n: (
                f'{{"__REALTIME_TIMESTAMP":"{_BEGIN + n}000000","_HOSTNAME":"web1",'
                f'"SYSLOG_IDENTIFIER":"kernel","MESSAGE":"line {n}"}}\n'
            )
        ),
    ),
    "logfmt": ("logfmt", _each(lambda n: f'time={_written(n)}Z level=info msg="it is {n}"\n')),
    "otlp": (
        "otlp",
        _each(
            _span_of_otlp,
            '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":'
            '{"stringValue":"pay"}}]},"scopeSpans":[{"spans":[',
            "]}]}]}\n",
            ",\n",
        ),
    ),
    "otlp-logs": (
        "otlp-logs",
        _each(
            lambda n: f'{{"timeUnixNano":"{_BEGIN + n}000000000","body":{{"stringValue":"line {n}"}}}}',
            '{"resourceLogs":[{"resource":{"attributes":[]},"scopeLogs":[{"logRecords":[',
            "]}]}]}\n",
            ",\n",
        ),
    ),
    "otlp-metrics": (
        "otlp-metrics",
        _each(
            lambda n: (
                f'{{"name":"m{n}","gauge":{{"dataPoints":[{{"timeUnixNano":"{_BEGIN + n}000000000",'
                '"asInt":"7"}]}}'
            ),
            '{"resourceMetrics":[{"resource":{"attributes":[]},"scopeMetrics":[{"metrics":[',
            "]}]}]}\n",
            ",\n",
        ),
    ),
    "jaeger": (
        "jaeger",
        _each(
            _span_of_jaeger,
            '{"data":[{"traceID":"2be3","spans":[',
            '],"processes":{"p1":{"serviceName":"api","tags":[]}}}],"total":0}\n',
            ",\n",
        ),
    ),
    "zipkin": ("zipkin", _each(_span_of_zipkin, "[", "]\n", ",\n")),
    "text": ("text", _each(lambda n: f"at {_written(n)}Z on n7 ready {n}\n")),
    "spark": (
        "spark",
        _each(
            lambda n: (
                '{"Event":"SparkListenerTaskStart","Stage ID":0,"Task Info":'
                f'{{"Task ID":{n},"Launch Time":{_BEGIN + n}000}}}}\n'
            )
        ),
    ),
    "syslog": (
        "syslog",
        _each(lambda n: f"{_written(n)}.000000Z web1 sshd[{n}]: Failed password for root\n"),
    ),
    "ocel, JSON": ("ocel", _ocel_json()),
    "ocel, XML": ("ocel", _ocel_xml()),
    "ocel, SQLite": ("ocel", _ocel_database()),
    "ocel 1.0, JSON": ("ocel", _first_ocel_json()),
    "ocel 1.0, XML": ("ocel", _first_ocel_xml()),
    "ocel 1.0, SQLite": ("ocel", _first_ocel_database()),
    "ocel 1.0, CSV": (
        "ocel",
        _each(
            lambda n: f"e{n},{_written(n)}Z,pay,{n},\"['o1']\"\n",
            "ocel:eid,ocel:timestamp,ocel:activity,p,ocel:type:order\n",
        ),
    ),
}

EVENTS_OF_A_RECORD = {"rumen": 4, "sls": 2, "otlp": 2, "jaeger": 2, "zipkin": 2}
WHOLE_IS_LOST = frozenset(("parquet", "jhist, binary", "ocel, SQLite", "ocel 1.0, SQLite", "rrd"))
"""Forms in which nothing tells records from one another, or one sum is of all."""

"""A small true log in every form of every format, to be damaged: each is read whole, without a reject."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq

from tests.io.ganglia.test_hostile_ganglia import (
    DUMP,
    POLL,
    RINGS,
)
from tests.io.hadoop.test_hadoop_jhist1 import LIFETIME as OLD_HISTORY
from tests.io.hadoop.test_hadoop_jhist_binary import binary_history, json_history
from tests.io.hadoop.test_hadoop_rumen import LIFETIME as RUMEN_JOB
from tests.io.hadoop.test_hadoop_rumen import trace
from tests.io.hadoop.test_hadoop_sls import container, job
from tests.io.ocel.ocel_logs import json_log, sqlite_log, xml_log
from tests.log4j_logs import CONSOLE, CONTAINER, DAEMON, OLD_HDFS
from tests.rrd_files import MACHINES, rrd_bytes
from tests.xes_documents import LOG

_CSV = (
    "event_id,event_type,lower,upper,pmf,time,end_time,note\n"
    'e1,A,1,5,1:3:0.5|4:5:0.5,,,"two\nlines"\n'
    "e2,B,,,,2015-10-25 02:30:00,2015-10-25T04:00:00+0100,x\n"
    'e3,"C ""quoted""",2024-01-01T00:00:00Z,2024-01-02,,,,5" disk\n'
    "e4,D,,,,24,,\n"
)
_JSON_LINES = (
    '{"event_type":"A","lower":1,"upper":5,"pmf":"1:5:1","deep":{"a":[1,2.5,null]},"big":9223372036854775808}\n'
    '{"event_type":"B","time":"2015-10-25T02:30:00.123456789","x":1e40,"y":"\\u00e9"}\n'
    '{"event_type":"C","time":12,"x":"text","number":3}\n'
)
_ZEEK = (
    "#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tssh\n"
    "#fields\tts\tuid\tid.orig_h\tduration\tlocal\n#types\ttime\tstring\taddr\tinterval\tbool\n"
    "1781417704.978001\tCa1\t10.0.0.7\t0.5\tT\n1781417705.100002\tCa2\t10.0.0.8\t-\t-\n#close\t2026-06-14-09-00-00\n"
)
_W3C = (
    "#Software: Microsoft Internet Information Services 10.0\n#Date: 2026-06-14 08:15:00\n"
    "#Fields: date time c-ip cs-method cs(User-Agent) sc-status\n"
    '2026-06-14 08:15:04 10.0.0.7 GET "a ""b""" 200\n2026-06-14 08:15:05 10.0.0.7 POST - 302\n'
    "#Date: 2026-06-15 00:00:00\n#Fields: time c-ip\n00:00:01 10.0.0.8\n"
)
_CHROME = (
    '{"traceEvents":[\n{"name":"load","ph":"B","pid":1,"tid":2,"ts":829,"args":{"url":"a"}},\n'
    '{"name":"parse","ph":"X","ts":840.5,"dur":12,"pid":1,"tid":2},\n{"ph":"E","pid":1,"tid":2,"ts":900}\n]}\n'
)
_SLOW = (
    "/usr/sbin/mysqld, Version: 8.0.37 (MySQL). started with:\n"
    "# Time: 2026-06-14T08:15:04.978001Z\n# User@Host: shop[shop] @ web1 [10.0.0.7]  Id:    17\n"
    "# Query_time: 2.500000  Lock_time: 0.000120 Rows_sent: 1  Rows_examined: 400000\n"
    "SET timestamp=1781424902;\nSELECT *\n  FROM orders;\n"
    "# User@Host: root[root] @ localhost []\n# Query_time: 0.250000  Lock_time: 0.0\nDELETE FROM old;\n"
)
_COMPOSE = (
    "web-1    | 2026-06-14T08:15:04.123456789Z ready on :8080\n"
    'caddy    | {"level":"info","ts":1781424904.978,"msg":"serving","port":443}\n'
)
_OTLP_LOGS = (
    '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pay"}},'
    '{"key":"host.name","value":{"stringValue":"n7.example"}}]},"scopeLogs":[{"scope":{"name":"lib"},"logRecords":[\n'
    '{"timeUnixNano":"1781417704996000000","severityText":"WARN","body":{"stringValue":"card 7 refused"}},\n'
    '{"timeUnixNano":"1781417705100000001","severityNumber":9,"eventName":"page.view","body":{"kvlistValue":'
    '{"values":[{"key":"url","value":{"stringValue":"/a"}}]}},"attributes":[{"key":"severity","value":{"intValue":"3"}}]}'
    "\n]}]}]}\n"
)
_OTLP_METRICS = (
    '{"resourceMetrics":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"n7.example"}}]},'
    '"scopeMetrics":[{"metrics":[\n'
    '{"name":"queue.length","unit":"1","gauge":{"dataPoints":[{"timeUnixNano":"1781417704000000000","asInt":"17"},\n'
    '{"timeUnixNano":"1781417714000000000","asInt":"18"}]}},\n'
    '{"name":"took","unit":"s","histogram":{"aggregationTemporality":1,"dataPoints":[{"startTimeUnixNano":'
    '"1781417704000000000","timeUnixNano":"1781417714000000000","count":"2","sum":2.5,"bucketCounts":["1","1"],'
    '"explicitBounds":[1]}]}}]}]}]}\n'
)
_JSON_TRAIL = (
    '{"Records":[{"eventTime":"2026-06-14T08:15:04Z","eventName":"GetObject","userIdentity":{"userName":"ann"}},\n'
    '{"eventTime":"2026-06-14T08:15:05Z","eventName":"DeleteObject","userIdentity":{"userName":"bob"},"lower":1},\n'
    '{"eventTime":"2026-06-14T08:15:09Z","eventName":"GetObject","resources":[{"ARN":"x"}]}]}\n'
)
_JSON_APPLICATION = (
    '{"level":"info","ts":1781417704.978,"msg":"order 17 paid by ann","took":0.25}\n'
    '{"level":"info","ts":1781417705.1,"msg":"order 18 paid by bob","took":0.5}\n'
    '{"level":"warn","ts":1781417706,"msg":"cache is full","time":"now","with":{"used":3,"deep":{"a":[1]}}}\n'
)
_JSON_KUBERNETES = (
    '{\n "apiVersion": "v1",\n "items": [\n'
    '  {"count": 5, "eventTime": null, "firstTimestamp": "2026-06-14T08:15:04Z",\n'
    '   "involvedObject": {"kind": "Pod", "name": "web-1"}, "lastTimestamp": "2026-06-14T08:19:04Z",\n'
    '   "message": "Back-off", "reason": "BackOff"},\n'
    '  {"count": 1, "eventTime": null, "firstTimestamp": "2026-06-14T08:15:01Z",\n'
    '   "involvedObject": {"kind": "Pod", "name": "web-1"}, "lastTimestamp": "2026-06-14T08:15:01Z",\n'
    '   "reason": "Pulled"}\n ],\n "kind": "List"\n}\n'
)
_PLAIN_XES = (
    b'<log><trace><string key="concept:name" value="c1"/>\n'
    + b"".join(
        b'<event><string key="concept:name" value="%s"/>'
        b'<date key="time:timestamp" value="2024-05-0%dT10:00:00Z"/>'
        b"</event>\n" % (name, day)
        for day, name in enumerate([b"A", b"B", b"C"], start=1)
    )
    + b"</trace></log>\n"
)
_LINES = (
    "2026-06-14 08:15:04,978 - INFO  [main:Server@12] - Client /10.0.0.7:4101 is in\n"
    "2026-06-14 08:15:05,001 - WARN  [worker:Link@7] - Link 3 is slow: 250 ms\n"
    "java.io.IOException: no answer\n"
    "\tat Link.read(Link.java:7)\n"
    "2026-06-14 08:15:05,120 - INFO  [main:Server@12] - Client /10.0.0.9:4102 is in\n"
)
_ELB = (
    "2026-06-14T08:15:04.945958Z shop 198.51.100.7:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "
    '"GET http://shop.example:80/a HTTP/1.1" "curl/8" - -\n'
    "2026-06-14T08:15:05.102417Z shop 198.51.100.9:3301 - -1 -1 -1 503 0 0 0 "
    '"GET https://shop.example:443/b HTTP/1.1" "curl/8" DHE-RSA-AES128-SHA TLSv1.2\n'
    '2026-06-14T08:15:06.300001Z shop 198.51.100.9:3302 - -1 -1 -1 400 0 0 0 "- - - " "-" - -\n'
)
_PROMETHEUS = (
    "# TYPE http_requests_total counter\n"
    'http_requests_total{method="post",code="200"} 1027 1781417704250\n'
    'http_requests_total{method="post",code="400"} 3 1781417704250\n'
    "go_goroutines 17 1781417704251\n"
)
_POINTS = (
    "cpu,host=web1 usage=99.5,cores=8i 1781417704250000000\n"
    'events,host=web\\ 1 text="deploy, began",ok=t 1781417705000000000\n'
    "cpu,host=web1 usage=12 1781417706250000000\n"
)
_NO_YEAR = (
    "06-14 08:15:04.978  1702  2395 D Window: turned to 1\n"
    "06-14 08:15:05.001  1702  2395 D Window: turned to 3\n"
    "06-14 08:15:05.120  1702  8671 I Power: lock=233, uid=10037\n"
)
_POLLS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<GANGLIA_XML VERSION="3" SOURCE="gmond">\n'
    '<CLUSTER NAME="c" LOCALTIME="{0}"><HOST NAME="n1" REPORTED="{0}" TN="1" TMAX="20">\n'
    '<METRIC NAME="load_one" VAL="1" TYPE="float" TN="1" TMAX="60"/>\n'
    '<METRIC NAME="os" VAL="x" TYPE="string" TN="1" TMAX="60"/>\n</HOST></CLUSTER></GANGLIA_XML>\n'
)
_LOGFMT = (
    'time=2026-06-14T08:15:04.100+02:00 level=info msg="it \\"is\\" on" port=8080\n'
    "ts=1781417705.31 msg=full used=3991 forced\n"
    't=2026-06-14T08:15:05Z level=warn upper=7 note=""\n'
)
_SPARK = (
    '{"Event":"SparkListenerApplicationStart","App Name":"a","Timestamp":1781417700000}\n'
    '{"Event":"SparkListenerTaskStart","Stage ID":0,"Task Info":{"Task ID":1,"Launch Time":1781417700001}}\n'
    '{"Event":"SparkListenerTaskEnd","Stage ID":0,"Task End Reason":{"Reason":"Success"},'
    '"Task Info":{"Task ID":1,"Host":"n7","Launch Time":1781417700001,"Finish Time":1781417700009}}\n'
    '{"Event":"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd","executionId":0,"time":1781417700010}\n'
)
_OTLP = (
    '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pay"}}]},'
    '"scopeSpans":[{"spans":[{"traceId":"5b8e","spanId":"eee1","name":"charge","kind":2,'
    '"startTimeUnixNano":"1781417705000000001","endTimeUnixNano":"1781417705380000000",'
    '"events":[{"timeUnixNano":"1781417705371000000","name":"exception"}],"status":{"code":2}}]}]}]}\n'
)
_JAEGER = (
    '{"data":[{"traceID":"2be3","spans":[{"traceID":"2be3","spanID":"7606","operationName":"get",'
    '"references":[{"refType":"CHILD_OF","traceID":"2be3","spanID":"4927"}],"startTime":1605223981761425,'
    '"duration":267037,"tags":[{"key":"port","type":"int64","value":"80"}],'
    '"logs":[{"timestamp":1605223981761430,"fields":[{"key":"event","type":"string","value":"hit"}]}],'
    '"processID":"p1"}],"processes":{"p1":{"serviceName":"api","tags":[]}}}],"total":0}\n'
)
_ZIPKIN = (
    '[{"traceId":"5982","id":"5982","name":"get","timestamp":1502787600000000,"duration":150,"kind":"SERVER",'
    '"localEndpoint":{"serviceName":"api","ipv4":"10.0.0.7"},"tags":{"http.path":"/"}},\n'
    '{"traceId":"5982","parentId":"5982","id":"bd7a","timestamp":1502787600000010,"duration":20,'
    '"annotations":[{"timestamp":1502787600000012,"value":"miss"}]}]\n'
)
_TEXT = (
    "at 2026-06-14T08:15:04.250Z on n7 ready\n"
    "at 2026-06-14T08:15:05+0200 on n8.example steady\n"
    "at 1781417706 on n7:9 go\n"
)


def _parquet() -> bytes:
    table = pa.table(
        {
            "event_type": ["A", "B", "A", "C"],
            "time": pa.array([0, 10**15, 5, 7], pa.timestamp("us", "UTC")),
            "note": ["x", None, "x", "a longer text"],
            "value": [1.5, 2.5, None, 4.0],
        }
    )
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=2)
    return sink.getvalue()


_ACCESS = (
    'shop:443 198.51.100.7 - ann [14/Jun/2026:08:15:02 +0200] "GET /a?b=1 HTTP/1.1" 200 1 "-" "Mozilla/5.0"\n'
    '2001:db8::7 - - [14/Jun/2026:08:15:03 +0200] "\\x16\\x03" 400 - "-" "-" 0.5\n'
    '198.51.100.7 - - [14/Jun/2026:06:15:04 +0000] "POST /a HTTP/1.1" 404 162\n'
)


_SYSLOG = (
    "Jun 14 08:15:03 web1 sshd[2210]: Failed password for root from 203.0.113.40 port 4022 ssh2\n"
    "<4>Jun  4 08:15:04.250 web1 kernel: eth0: link down\n"
    "2026-06-14T08:15:05.123456+02:00 web1 CRON[17]: (root) CMD (true)\n"
    '<165>1 2026-06-14T06:15:06.003Z web1.example su - ID47 [a@32473 b="3" c="\\"x\\""][d@1] an event\n'
    "<13>1 2026-06-14T06:15:07Z - - - - - a message\n"
)
_JOURNAL = "".join(
    json.dumps(
        {
            "__REALTIME_TIMESTAMP": str(1_781_417_706_000_000 + second),
            "_SOURCE_REALTIME_TIMESTAMP": str(1_781_417_705_000_000 + second),
            "_HOSTNAME": "web1",
            "SYSLOG_IDENTIFIER": "kernel",
            "PRIORITY": "3",
            "_PID": "1",
            "MESSAGE": [72, 105, 255] if second else "Out of memory",
        }
    )
    + "\n"
    for second in range(3)
)
_CRI = (
    "2026-06-14T06:15:05.123456789Z stdout F ready\n"
    "2026-06-14T06:15:06.000000001+02:00 stderr P a long \n"
    "2026-06-14T06:15:06.5Z stdout F meanwhile\n"
    "2026-06-14T06:15:07.1Z stderr F line\n"
)
_DOCKER = (
    '{"log":"ready\\n","stream":"stdout","time":"2026-06-14T06:15:05.123456789Z"}\n'
    '{"log":"half ","stream":"stderr","attrs":{"tier":"web"},"time":"2026-06-14T06:15:06.1Z"}\n'
    '{"log":"whole\\n","stream":"stderr","attrs":{"tier":"web"},"time":"2026-06-14T06:15:06.2Z"}\n'
)


def _zipped(data: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(zipfile.ZipInfo("a.csv"), data, zipfile.ZIP_DEFLATED)
    return sink.getvalue()


def _tarred(data: bytes) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        member = tarfile.TarInfo("a.csv")
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    return sink.getvalue()


# By a name for people: the format, and the file.
SMALL_LOGS: dict[str, tuple[str, bytes]] = {
    "csv": ("csv", _CSV.encode()),
    "tsv": ("tsv", _CSV.replace(",", "\t").encode("utf-16")),
    "jsonl": ("jsonl", _JSON_LINES.encode()),
    "json": ("json", _JSON_TRAIL.encode()),
    "json, lines": ("json", _JSON_APPLICATION.encode()),
    "json, Kubernetes": ("json", _JSON_KUBERNETES.encode()),
    "chrome-trace": ("chrome-trace", _CHROME.encode()),
    "mysql-slow": ("mysql-slow", _SLOW.encode()),
    "compose": ("compose", _COMPOSE.encode()),
    "elb": ("elb", _ELB.encode()),
    "prometheus": ("prometheus", _PROMETHEUS.encode()),
    "line-protocol": ("line-protocol", _POINTS.encode()),
    "zeek": ("zeek", _ZEEK.encode()),
    "w3c": ("w3c", _W3C.encode()),
    "parquet": ("parquet", _parquet()),
    "jhist": ("jhist", json_history()),
    "jhist, binary": ("jhist", binary_history(json_history())),
    "jhist1": ("jhist1", OLD_HISTORY.encode()),
    "rumen": ("rumen", trace(RUMEN_JOB, RUMEN_JOB)),
    "sls": ("sls", json.dumps(job(container(1, 5), container(2, 9, "reduce")), indent=1).encode()),
    "ganglia": ("ganglia", POLL),
    "ganglia, two polls": ("ganglia", (_POLLS.format(1_000_000) + _POLLS.format(1_000_500)).encode()),
    "rrd": ("rrd", rrd_bytes(RINGS, last=1_000_005, sources=["sum", "num"])),
    "rrd, 32 bits": (
        "rrd",
        rrd_bytes(RINGS, last=1_000_005, sources=["sum", "num"], machine=MACHINES["x86, 32 bits"]),
    ),
    "rrd-dump": ("rrd-dump", DUMP),
    "xes": ("xes", _PLAIN_XES),
    "xes, unusual": ("xes", LOG),
    "log4j": ("log4j", (CONTAINER + DAEMON).encode() if isinstance(CONTAINER, str) else CONTAINER + DAEMON),
    "log4j, console": ("log4j", CONSOLE.encode() if isinstance(CONSOLE, str) else CONSOLE),
    "log4j, HDFS": ("log4j", OLD_HDFS.encode() if isinstance(OLD_HDFS, str) else OLD_HDFS),
    "access": ("access", _ACCESS.encode()),
    "cri": ("cri", _CRI.encode()),
    "docker": ("docker", _DOCKER.encode()),
    "journal": ("journal", _JOURNAL.encode()),
    "logfmt": ("logfmt", _LOGFMT.encode()),
    "otlp": ("otlp", _OTLP.encode()),
    "otlp-logs": ("otlp-logs", _OTLP_LOGS.encode()),
    "otlp-metrics": ("otlp-metrics", _OTLP_METRICS.encode()),
    "jaeger": ("jaeger", _JAEGER.encode()),
    "zipkin": ("zipkin", _ZIPKIN.encode()),
    "text": ("text", _TEXT.encode()),
    "lines": ("lines", _LINES.encode()),
    "lines, no year": ("lines", _NO_YEAR.encode()),
    "spark": ("spark", _SPARK.encode()),
    "syslog": ("syslog", _SYSLOG.encode()),
    "ocel, JSON": ("ocel", json_log()),
    "ocel, XML": ("ocel", xml_log()),
    "ocel, SQLite": ("ocel", sqlite_log()),
    "csv, gzip": ("csv", gzip.compress(_CSV.encode(), mtime=0)),
    "xes, bzip2": ("xes", bz2.compress(_PLAIN_XES)),
    "csv, xz": ("csv", lzma.compress(_CSV.encode())),
    "csv, zip": ("csv", _zipped(_CSV.encode())),
    "csv, tar": ("csv", _tarred(_CSV.encode())),
}

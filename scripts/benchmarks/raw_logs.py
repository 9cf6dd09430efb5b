"""Generated logs, one event a line: of a web server, of syslog, of applications, of log4j, and tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random

from workloads import SEED

_BEGIN = datetime(2026, 6, 14, tzinfo=timezone(timedelta(hours=2)))
_AGENTS = ("Mozilla/5.0 (X11; Linux x86_64)", "curl/8.5.0", "Mozilla/5.0 (Windows NT 10.0)")


def written_raw(path: Path, kind: str, lines: int) -> Path:
    """A log of this kind with so many lines, one each half second on average."""
    random, moment = Random(SEED), _BEGIN
    with path.open("w", encoding="utf-8") as file:
        file.write("event_type,time,node,user,value\n" if kind == "csv" else "")
        for _ in range(lines):
            moment += timedelta(microseconds=random.randrange(1_000_000))
            file.write(KINDS[kind](random, moment) + "\n")
    return path


def _address(random: Random) -> str:
    return ".".join(str(random.randrange(1, 255)) for _ in range(4))


def _access(random: Random, moment: datetime) -> str:
    path = random.choice(("/", "/login", f"/orders/{random.randrange(10_000)}?page={random.randrange(9)}"))
    return (
        f"{_address(random)} - {random.choice(('-', 'ann'))} [{moment:%d/%b/%Y:%H:%M:%S %z}] "
        f'"GET {path} HTTP/1.1" {random.choice((200, 304, 404))} {random.randrange(100_000)} '
        f'"-" "{random.choice(_AGENTS)}"'
    )


def _syslog(random: Random, moment: datetime) -> str:
    said = random.choice(
        (
            f"sshd[{random.randrange(30_000)}]: Failed password for root from {_address(random)} port 4022",
            f"CRON[{random.randrange(30_000)}]: (root) CMD (run-parts /etc/cron.hourly)",
        )
    )
    return f"{moment.isoformat(timespec='microseconds')} web{random.randrange(8)} {said}"


def _log4j(random: Random, moment: datetime) -> str:
    return (
        f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03} INFO "
        "org.apache.hadoop.hdfs.server.datanode.DataNode: Receiving "
        f"BP-1:blk_{random.randrange(10**9)}_{random.randrange(10**6)} src: /{_address(random)}:41022 "
        "dest: /10.0.0.5:9866"
    )


def _lines(random: Random, moment: datetime) -> str:
    return (
        f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03} - INFO  [main:Server@12] - "
        f"Client /{_address(random)}:4101 is in after {random.randrange(1_000)} ms"
    )


def _objects(random: Random, moment: datetime) -> str:
    fields = {
        "event_type": random.choice(("Start", "Stop")),
        "time": _iso(moment),
        "node": f"web{random.randrange(8)}",
    }
    return json.dumps(fields | {"user": random.choice(("ann", "bob")), "value": random.randrange(1_000)})


def _application(random: Random, moment: datetime) -> str:
    message = random.choice(
        (f"order {random.randrange(10**6)} paid", f"cache miss after {random.randrange(99)} ms")
    )
    fields = {"level": "info", "ts": _iso(moment), "msg": message, "trace": f"{random.getrandbits(128):032x}"}
    return json.dumps(fields | {"http": {"method": "GET", "status": 200, "took": round(random.random(), 3)}})


def _table(random: Random, moment: datetime) -> str:
    kind, node = random.choice(("Start", "Stop")), f"web{random.randrange(8)}"
    return f"{kind},{_iso(moment)},{node},ann,{random.randrange(1_000)}"


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


KINDS: dict[str, Callable[[Random, datetime], str]] = {
    "access": _access,
    "syslog": _syslog,
    "log4j": _log4j,
    "JSON lines": _objects,
    "csv": _table,
    "lines": _lines,
    "application": _application,
}

"""Large logs for the readers: the sample logs with their records repeated, and a generated CSV."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from workloads import SEED

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
MEGABYTE = 1 << 20
LINES = ("lines, templates", "lines, patterns")
"""Logs of lines in no format of their own, and what types them."""


def written(folder: Path, log_format: str, megabytes: float) -> Path:
    """Write a log of about this size."""
    folder.mkdir(exist_ok=True)
    path = folder / f"log.{log_format}"
    if log_format == "csv":
        _csv(path, megabytes)
        return path
    head, body, tail = _parts(log_format)
    with path.open("wb") as file:
        file.write(head)
        while file.tell() + len(tail) < megabytes * MEGABYTE:
            file.write(body)
        file.write(tail)
    return path


def _parts(log_format: str) -> tuple[bytes, bytes, bytes]:
    """What opens a sample log, what can be repeated, what closes it."""
    if log_format == "xes":
        text = (SAMPLES / "logs" / "tickets.xes").read_bytes()
        begin, end = text.index(b"<trace"), text.rindex(b"</trace>") + len(b"</trace>\n")
        return text[:begin], text[begin:end], text[end:]
    if log_format == "jhist":
        lines = next((SAMPLES / "logs").glob("*.jhist")).read_bytes().splitlines(keepends=True)
        return b"".join(lines[:2]), b"".join(lines[2:]), b""
    if log_format == "ganglia":
        return b"", (SAMPLES / "logs" / "gmond-1.xml").read_bytes(), b""
    if log_format in LINES:
        return b"", "".join(map(_line, range(20_000))).encode(), b""
    return b"", next((SAMPLES / "daemon_logs").glob("*.log")).read_bytes(), b""


def _line(number: int) -> str:
    second, millisecond = divmod(number, 1000)
    said = (
        f"Accepted connection {number} of user u{number % 977} from 10.0.{number % 199}.7:{number % 60_000}",
        f"Link {number % 40} is slow: {number % 300} ms",
        f"Checkpoint {number} written to /var/lib/server/{number % 31}.ckpt",
    )[number % 3]
    stamp = f"2026-06-14 08:15:{second:02},{millisecond:03}"
    return f"{stamp} - INFO  [main:Server@{number % 40}] - {said}\n"


def _csv(path: Path, megabytes: float) -> None:
    """Events with ISO times, a type, an id and three attributes, as many as fit."""
    count = int(megabytes * MEGABYTE / 62)
    number = pl.int_range(count, eager=True)
    pl.DataFrame(
        {
            "event_id": number.cast(pl.String),
            "event_type": pl.Series(["CPU", "DISK", "NETWORK"]).gather(number % 3),
            "time": (number * 1_000 + 1_767_225_600_000).cast(pl.Datetime("ms")).dt.to_string("%FT%T%.3fZ"),
            "node": "node" + (number % 40).cast(pl.String),
            "value": (number.hash(SEED) % 10_000).cast(pl.Float64) / 100,
        }
    ).write_csv(path)

"""Reads one log, by cepctl or by a bare loop of its parser; prints events, seconds and peak memory.

Both run as the commands of cepctl do, with rare garbage collection.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.parsers import expat

import polars as pl
from measuring import peak_megabytes

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import open_log, recognised_format
from cepctl.io.source.locations import list_inputs
from cepctl.start_up import light_start

DOCUMENT = b"<?xml"
RECORD = re.compile(rb"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) +(\w+) +([^:]+): (.*)$")


def by_cepctl(path: Path) -> int:
    """Events in Arrow batches; a reader that rejects a record is a wrong result."""
    (file,) = list_inputs([str(path)])
    report = ReadReport()
    events: int = 0
    with open_log(file.location) as log:
        reader = recognised_format(log.head, file.name).reader
        events += sum(batch.num_rows for batch in reader.read(log.stream, file.name, ReadOptions(), report))
    if len(report.rejects):
        raise SystemExit(f"{path}: {report.rejects[0]}")
    return events


def xml_elements(name: str) -> Callable[[Path], int]:
    """A streaming expat loop that only counts elements; a file may hold several documents."""

    def count(path: Path) -> int:
        found = 0

        def started(element: str, _: dict[str, str]) -> None:
            nonlocal found
            found += element == name

        for document in _documents(path):
            parser = expat.ParserCreate()
            parser.StartElementHandler = started
            for begin in range(0, len(document), 1 << 16):
                parser.Parse(document[begin : begin + (1 << 16)])
            parser.Parse(b"", True)
        return found

    return count


def _documents(path: Path) -> list[bytes]:
    content = path.read_bytes()
    begins = [match.start() for match in re.finditer(re.escape(DOCUMENT), content)]
    return [content[begin:end] for begin, end in zip(begins, [*begins[1:], len(content)], strict=True)]


def json_lines(path: Path) -> int:
    """`json.loads` of every line that holds an object."""
    with path.open("rb") as file:
        return sum(1 for line in file if line.startswith(b"{") and json.loads(line))


def matched_lines(path: Path) -> int:
    """One regular expression over every line."""
    with path.open("rb") as file:
        return sum(1 for line in file if RECORD.match(line))


def polars_csv(path: Path) -> int:
    """`polars.read_csv`, which uses all cores and parses times where it can."""
    return pl.read_csv(path, try_parse_dates=True).height


BARE: dict[str, Callable[[Path], int]] = {
    "xes": xml_elements("event"),
    "ganglia": xml_elements("METRIC"),
    "jhist": json_lines,
    "log4j": matched_lines,
    "csv": polars_csv,
}


def main(log_format: str, who: str, small: str, name: str) -> None:
    """Read a small log for warmth, then the log, and print one JSON object."""
    read = by_cepctl if who == "cepctl" else BARE[log_format]
    with light_start():
        read(Path(small))
        wall, cpu = time.perf_counter(), time.process_time()
        events = read(Path(name))
        seconds, used = time.perf_counter() - wall, time.process_time() - cpu
    told = {"events": events, "seconds": seconds, "cpu_seconds": used, "peak": peak_megabytes()}
    print(json.dumps(told))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

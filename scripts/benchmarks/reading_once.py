"""Reads one log, by cepctl or by a bare loop of its parser; prints events, seconds and peak memory.

Both run as the commands of cepctl do, with rare garbage collection.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from xml.parsers import expat

import polars as pl
from logs import LINES
from measuring import peak_megabytes

from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import open_log, recognised_format
from cepctl.io.lines.log import messages
from cepctl.io.source.locations import list_inputs
from cepctl.io.templates.survey import survey_of, templates_of
from cepctl.process.start_up import light_start

DOCUMENT = b"<?xml"
RECORD = re.compile(rb"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) +(\w+) +([^:]+): (.*)$")


def by_cepctl(path: Path, log_format: str) -> int:
    """Events in Arrow batches; a reader that rejects a record is a wrong result."""
    (file,) = list_inputs([str(path)])
    report = ReadReport()
    events: int = 0
    with open_log(file.location) as log:
        reader = recognised_format(log.head, file.name).reader
        options = _options(path, log_format)
        events += sum(batch.num_rows for batch in reader.read(log.stream, file.name, options, report))
    if len(report.rejects):
        raise SystemExit(f"{path}: {report.rejects[0]}")
    return events


def _options(path: Path, log_format: str) -> ReadOptions:
    """What types the lines of a log without a format: patterns, or templates that are mined first."""
    if log_format not in LINES:
        return ReadOptions()
    if log_format == LINES[1]:
        return ReadOptions(patterns=PATTERNS)
    with path.open("rb") as stream:
        return ReadOptions(templates=templates_of(survey_of(messages(stream, "", ReadOptions()))).templates)


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


PATTERNS = (
    LogPattern("Accepted", r"^Accepted connection \d+ of user (?P<user>\S+)", (), None, ("user",)),
    LogPattern("Slow", r"^Link (?P<link>\d+) is slow: (?P<wait>\d+) ms", (), None, ("link", "wait")),
    LogPattern("Checkpoint", r"^Checkpoint (?P<number>\d+) written", (), None, ("number",)),
)
BARE: dict[str, Callable[[Path], int]] = {
    "xes": xml_elements("event"),
    "ganglia": xml_elements("METRIC"),
    "jhist": json_lines,
    "log4j": matched_lines,
    "csv": polars_csv,
}


def main(log_format: str, who: str, small: str, name: str) -> None:
    """Read a small log for warmth, then the log, and print one JSON object."""
    read = partial(by_cepctl, log_format=log_format) if who == "cepctl" else BARE[log_format]
    with light_start():
        read(Path(small))
        wall, cpu = time.perf_counter(), time.process_time()
        events = read(Path(name))
        seconds, used = time.perf_counter() - wall, time.process_time() - cpu
    told = {"events": events, "seconds": seconds, "cpu_seconds": used, "peak": peak_megabytes()}
    print(json.dumps(told))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

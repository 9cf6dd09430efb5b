"""What came of a log, and whether a damaged one lost anything in silence.

An event of the true log is lost in silence when the damaged one gives fewer events, is not refused, and says
nothing that the true one did not say: no reject, no warning, no note, nothing more that was left out.  That
is right only where the damage made another valid log of fewer records: a newline between two lines is gone,
say.  Whether it did is told by an independent count of the records in the damaged file, by other parsers
than those of the readers (RECORDS_IN); it must be what came out.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import tarfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import CepctlError
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import format_of, open_bytes

SOURCE = "c/n7/load_one.log"
# A year for the logs that write none: 2026; and a pattern for text that is of no other format.
OPTIONS = ReadOptions(
    keep_unmatched=True,
    epoch=1_767_225_600_000_000,
    patterns=(
        LogPattern(
            "Said", r"^at (?P<time>\S+) on (?P<node>\S+) (?P<what>.*)", (), None, ("time", "node", "what")
        ),
    ),
)


@dataclass(frozen=True)
class Account:
    """What came of one log.

    Attributes
    ----------
    events
        How many events an ingest would take in.
    said
        What is said of what is none, and how often: rejects, warnings, notes, records left out.
    refused
        The line with which the file was refused; None where it was read.
    rejected, skipped
        How many records that are, those that became no event and those that give none.
    """

    events: int
    said: Counter[str]
    refused: str | None = None
    rejected: int = 0
    skipped: int = 0


def account_of(data: bytes, format_name: str | None) -> Account:
    """Read a log of this format (None: the one that is recognised), as an ingest would."""
    report = ReadReport()
    events = untimed = 0
    try:
        with open_bytes(data, SOURCE) as log:
            known = format_of(log.head, SOURCE, format_name, OPTIONS)
            for batch in known.read(log.stream, SOURCE, OPTIONS, report):
                batch.validate(full=True)
                timed = _timed(batch)
                events, untimed = events + timed, untimed + len(batch) - timed
            damage = log.damage is not None
    except CepctlError as problem:
        return Account(0, Counter(), str(problem))
    said = Counter({"rejects": len(report.rejects) + untimed + damage, "warnings": len(report.warnings)})
    rejected = sum(reject.records for reject in report.rejects) + untimed + damage
    return Account(
        events, said + report.notes + report.skipped, rejected=rejected, skipped=report.skipped.total()
    )


def _timed(batch: pa.RecordBatch) -> int:
    usable = batch.column("time").is_valid()
    if "lower" in batch.schema.names:
        usable = pc.or_(usable, batch.column("lower").is_valid())
    return int(pc.sum(usable).as_py() or 0)


def lost_in_silence(true: Account, damaged: Account, data: bytes, format_name: str) -> str | None:
    """How many events the damaged log lost without a word; None where it did not."""
    if damaged.refused is not None or damaged.events >= true.events or damaged.said - true.said:
        return None
    count = RECORDS_IN.get(format_name)
    records = None if count is None else count(_without_tar(data))
    if records is not None and records <= damaged.events + damaged.said.total():
        return None
    return f"{true.events} events before, {damaged.events} after; {records} records by another count"


# --- independent counts -------------------------------------------------------------------


def _without_tar(data: bytes) -> bytes:
    """The first file of a tar archive, which holds no sum over its bytes; other data as they are."""
    if data[257:262] != b"ustar":
        return data
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        file = archive.extractfile(next(iter(archive)))
        return b"" if file is None else file.read()


def _text(data: bytes) -> str:
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if utf16 else "utf-8-sig", "replace")


def _rows(data: bytes, delimiter: str) -> int:
    rows = csv.reader(io.StringIO(_text(data).replace("\0", ""), newline=""), delimiter=delimiter)
    return sum(any(row) for row in rows) - 1


def _lines(data: bytes) -> int:
    # A mark of the byte order alone is not a record, nor is room that was taken for some and not written.
    return sum(bool(line.strip(b"\0 \t\r\v\f")) for line in data.removeprefix(codecs.BOM_UTF8).split(b"\n"))


def _elements(data: bytes, tag: str) -> int | None:
    """Elements of a well-formed document; None for any other."""
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError:
        return None
    return sum(element.tag.rpartition("}")[2] == tag for element in root.iter())


_HEADER = re.compile(
    rb"^(?:\d{4}[-.]\d\d[-.]\d\d[ T]\d\d:\d\d:\d\d|\d\d/\d\d/\d\d \d\d:\d\d:\d\d|\d{6} \d{6} \d+)"
    rb" ?[.,\d]* +[^\n]*",
    re.MULTILINE,
)

RECORDS_IN: dict[str, Callable[[bytes], int | None]] = {
    "csv": lambda data: _rows(data, ","),
    "tsv": lambda data: _rows(data, "\t"),
    "jsonl": _lines,
    "text": _lines,
    "lines": _lines,
    "xes": lambda data: _elements(data, "event"),
    "ganglia": lambda data: _elements(data, "METRIC"),
    "access": _lines,
    "cri": lambda data: sum(b" P " not in line[:60] for line in data.split(b"\n") if line.strip()),
    "docker": lambda data: sum(b'\\n"' in line for line in data.split(b"\n")),
    "journal": _lines,
    "logfmt": _lines,
    "spark": _lines,
    "syslog": _lines,
    "compose": _lines,
    "elb": _lines,
    "line-protocol": _lines,
    "prometheus": lambda data: _lines(re.sub(rb"(?m)^#.*", b"", data)),
    "zeek": lambda data: _lines(re.sub(rb"(?m)^#.*", b"", data)),
    "w3c": lambda data: _lines(re.sub(rb"(?m)^#.*", b"", data)),
    "mysql-slow": lambda data: len(re.findall(rb"(?m)^# Query_time: ", data)),
    "log4j": lambda data: len(_HEADER.findall(data)),
}

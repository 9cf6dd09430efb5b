"""The lines of a log at which its records begin, for those records that an audit names.

records                                         line of record N
lines, each numbered by itself (syslog, JSON)   N
what begins with a marked line (log4j, lines)   that of the N-th such line
rows of a table                                 behind the header and N - 1 rows, which may have several lines
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from cepctl.errors import CepctlError
from cepctl.inspection.auditing.findings import Audit, Finding, SourceAudit
from cepctl.io.contract.line_records import LineRecords
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.formats import OpenLog, format_named, open_log
from cepctl.io.log4j.lines import mended
from cepctl.io.log4j.record_starts import LogRecords
from cepctl.io.log4j.records import line_bounds
from cepctl.io.source.locations import InputFile, list_inputs
from cepctl.io.source.text_encoding import utf8_stream

_LOOKED_AT = 32 << 20


def with_lines(audit: Audit, paths: Sequence[str], formats: Mapping[str, str], options: ReadOptions) -> Audit:
    """The audit, whose findings also name the line of their worst record, where its file has lines.

    `formats`: of each source that was read now.
    """
    try:
        files = {file.name: file for file in list_inputs(paths)}
    except CepctlError:
        return audit  # what is no file, such as a pipe, is not read twice
    return Audit(tuple(_with_lines(each, files, formats, options) for each in audit.sources))


def _with_lines(
    source: SourceAudit, files: Mapping[str, InputFile], formats: Mapping[str, str], options: ReadOptions
) -> SourceAudit:
    file = files.get(source.source)
    wanted = {number for each in source.findings if (number := _number(each, source.source)) is not None}
    if file is None or not wanted or source.source not in formats:
        return source
    try:
        with open_log(file.location) as log:
            known = format_named(formats[source.source])
            records = None if known.lines is None else known.lines(log.head, options)
            found = {} if records is None else dict(_lines_of(records, log, wanted))
    except (CepctlError, OSError):
        return source
    findings = (replace(each, line=found.get(_number(each, source.source) or 0)) for each in source.findings)
    return replace(source, findings=tuple(findings))


def _number(finding: Finding, source: str) -> int | None:
    """The number of the record that a finding names."""
    text = (finding.worst or "").removeprefix(f"{source}#")
    return int(text) if text.isdecimal() and text != finding.worst else None


def _lines_of(records: LineRecords, log: OpenLog, wanted: Collection[int]) -> Iterator[tuple[int, int]]:
    """The lines of these records, as far as they stand among the first bytes of the log."""
    text = utf8_stream(log.stream).read(_LOOKED_AT)
    text = text[: text.rfind(b"\n") + 1]
    if isinstance(records, LogRecords):
        whole = mended(text, ReadReport())
        for number, line in enumerate(records.find(whole, *line_bounds(whole)).tolist(), start=1):
            if number in wanted:
                yield number, line + 1
        return
    rows, header = records.counter(), records.header.count(b"\n")
    for place, line in enumerate(text.splitlines(keepends=True)[header:], start=header + 1):
        if rows.ended + 1 in wanted:
            yield rows.ended + 1, place
        rows.add(line)

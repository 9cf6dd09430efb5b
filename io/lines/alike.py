"""Small logs of lines that are written alike, as one log: each line of them begins with its time."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

import pyarrow as pa

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.lines.beginnings import BeginningsOf
from cepctl.io.lines.held import HELD, layout_in
from cepctl.io.lines.raw_events import LogOfLines, messages_of, tell
from cepctl.io.log4j.records import read_records

# Signs that readers mend, or that the engines of expressions take for different things.
_UNUSUAL = re.compile(rb"[^\t\n\x20-\x7e]")


@dataclass(frozen=True)
class AlikeLines:
    """As `AlikeFiles` has it: files are alike whose times and headings are, if all of them have a year."""

    def form(self, text: bytes, forms: Mapping[str, str]) -> Hashable | None:
        if HELD not in forms or _UNUSUAL.search(text) is not None:
            return None
        layout = layout_in(forms[HELD])
        # A record of several days has to know the file that it is in.
        if not layout.stamp.has_year or layout.stamp.is_uptime or layout.quoted or layout.whole:
            return None
        begins = _begins(layout.with_heading.whole, layout.with_time.whole)
        if layout.others or not all(map(begins, text.decode("ascii").removesuffix("\n").split("\n"))):
            return None
        return layout.stamp.name, layout.heading.name, layout.before

    def forms_read(self, forms: Mapping[str, str]) -> dict[str, str]:
        report = ReadReport(time_forms=dict(forms))
        tell(layout_in(forms[HELD]), report)
        return report.time_forms

    def read(
        self, texts: Sequence[bytes], forms: Mapping[str, str], options: ReadOptions, report: ReadReport
    ) -> pa.RecordBatch | None:
        layout = layout_in(forms[HELD])
        log = LogOfLines("", options, report, layout)
        found = list(read_records(_joined(texts), "", report, BeginningsOf(layout)))
        return log.batch(found[0], 0) if len(found) == 1 else None

    def messages(
        self, texts: Sequence[bytes], forms: Mapping[str, str], options: ReadOptions
    ) -> Iterator[pa.Array]:
        return messages_of(_joined(texts), layout_in(forms[HELD]), options)


def _joined(texts: Sequence[bytes]) -> BytesIO:
    return BytesIO(b"\n".join(text.removesuffix(b"\n") for text in texts) + b"\n")


@lru_cache(maxsize=64)
def _begins(heading: str, time: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(f"{heading}|{time}", re.ASCII).match

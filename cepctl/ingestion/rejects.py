"""Records that could not become events: counted by cause, a few held, all written down on request.

A file may hold millions of them, so none but the first few stay in memory.  When they are asked for
(`--rejects FILE`), every task writes its own as JSON lines beside its chunks, and these are joined at
the end:

    key          value
    source       name of the file
    line         its line, null where the format has none
    cause        why the record is none
    raw          the record as the file has it
    raw_base64   instead of `raw` where that is not UTF-8
    cut          true where the record is longer than RAW_BYTES and the rest is left out
    records      how many records are lost, about, where damage took more than one
"""

from __future__ import annotations

import base64
import json
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import IO

from pyarrow import fs

from cepctl.atomic.files import write_whole_file
from cepctl.errors import JobError, LogFormatError
from cepctl.io.contract.reader import Reject, TakenOneByOne
from cepctl.io.source.locations import Location

REJECTS_ALLOWED = 10
REJECTED_SHARE = 0.001
RAW_BYTES = 1 << 16
MORE_CAUSES = "other causes"
_HELD = 5
_SHOWN = 5
_CAUSES = 100
_COPY_BYTES = 1 << 20


def rejects_of_parts(
    parts: Sequence[tuple[Counter[str], Sequence[Reject]]],
) -> tuple[Counter[str], tuple[Reject, ...]] | None:
    """What a RejectLog of the whole file would hold, from those of its parts; None where they do not tell."""
    causes = sum((counts for counts, _ in parts), Counter[str]())
    if len(causes) > _CAUSES or MORE_CAUSES in causes:
        return None
    held: list[Reject] = []
    taken: Counter[str] = Counter()
    for reject in chain.from_iterable(rejects for _, rejects in parts):
        taken[reject.cause] += 1
        if taken[reject.cause] <= _HELD:
            held.append(reject)
    return causes, tuple(held)


class TooManyRejectsError(LogFormatError):
    """There are more rejects than allowed."""


class RejectLog(TakenOneByOne):
    """The rejects of one file as they come; as a list it holds the first few of every cause.

    `stream`: where all are written as JSON lines; None for nowhere.  `max_rejects`: how many are allowed,
    None where that is only known at the end.  `lines_before`: what is added to the lines of rejects: they
    come from a part of a file.

    Attributes
    ----------
    causes
        How many records were lost, by cause.
    """

    def __init__(
        self, stream: IO[bytes] | None = None, max_rejects: int | None = None, lines_before: int = 0
    ) -> None:
        super().__init__()
        self.causes: Counter[str] = Counter()
        self._of_cause: Counter[str] = Counter()
        self._stream = stream
        self._max_rejects = max_rejects
        self._lines_before = lines_before

    def append(self, reject: Reject) -> None:
        """Note one more reject; raises TooManyRejectsError once there are more than allowed."""
        if reject.line is not None and self._lines_before:
            reject = replace(reject, line=reject.line + self._lines_before)
        known = reject.cause in self.causes or len(self.causes) < _CAUSES
        cause = reject.cause if known else MORE_CAUSES
        self.causes[cause] += reject.records
        self._of_cause[cause] += 1
        if self._of_cause[cause] <= _HELD:
            super().append(reject)
        if self._stream is not None:
            self._stream.write(json_line(reject))
        if self._max_rejects is not None and self.causes.total() > self._max_rejects:
            raise TooManyRejectsError(
                f"{reject.source}: more than the {self._max_rejects:,} bad records allowed; reading stopped "
                f"there, and nothing was written\n{sampled(self, self.causes)}\n{_REMEDY}"
            )


_REMEDY = "  correct the input, see all bad records with --rejects FILE, or allow more with --max-errors"
_MISREAD = (
    "  correct the input, or say how it is written: --map FIELD=COLUMN, --time-format, --epoch-unit; ingest "
    "writes all bad records to --rejects FILE"
)


def refuse_too_many(
    samples: Sequence[Reject], causes: Counter[str], records: int, max_errors: int | None
) -> None:
    """Raise TooManyRejectsError when there are more rejects than allowed.

    `max_errors` is how many are, None for the larger of REJECTS_ALLOWED and REJECTED_SHARE of the records.
    """
    max_rejects = max(REJECTS_ALLOWED, int(records * REJECTED_SHARE)) if max_errors is None else max_errors
    if causes.total() > max_rejects:
        raise _too_many(samples, causes, records, f"more than the {max_rejects:,} allowed", _REMEDY)


def refuse_mostly_bad(
    samples: Sequence[Reject], causes: Counter[str], records: int, events: int, max_errors: int | None
) -> None:
    """Raise TooManyRejectsError where most records are bad, however few that is: they were misread.

    Where the user says how many bad ones are allowed, only an input of which no event is left is refused.
    """
    if causes.total() and not events:
        raise _too_many(samples, causes, records, "and there is no event", _MISREAD)
    if max_errors is None and 2 * causes.total() > records:
        raise _too_many(samples, causes, records, "most of them", _MISREAD)


def _too_many(
    samples: Sequence[Reject], causes: Counter[str], records: int, how: str, remedy: str
) -> TooManyRejectsError:
    return TooManyRejectsError(
        f"{causes.total():,} of {records:,} records are bad, {how}; nothing was written\n"
        f"{sampled(samples, causes)}\n{remedy}"
    )


def sampled(samples: Sequence[Reject], causes: Counter[str]) -> str:
    """The first few rejects, one per line, and where that is not all how many every cause has."""
    lines = []
    for reject in _one_of_each_first(samples)[:_SHOWN]:
        place = reject.source if reject.line is None else f"{reject.source}:{reject.line}"
        many = f" ({reject.records:,} records)" if reject.records > 1 else ""
        lines.append(f"  {place}: {reject.cause}{many}" + (f": {reject.text}" if reject.text else ""))
    if causes.total() > _SHOWN:
        counts = ", ".join(f"{cause}: {count:,}" for cause, count in causes.most_common())
        lines.append(f"  and so on ({counts})")
    return "\n".join(lines)


def _one_of_each_first(samples: Sequence[Reject]) -> list[Reject]:
    """The samples with one of every cause before the others; as many as are shown in their order."""
    first = {reject.cause: reject for reject in reversed(samples)}
    chosen = [reject for reject in samples if first[reject.cause] is reject]
    chosen += [reject for reject in samples if first[reject.cause] is not reject]
    shown = chosen[:_SHOWN]
    return sorted(shown, key=samples.index) + chosen[_SHOWN:]


def json_line(reject: Reject) -> bytes:
    r"""One reject as a line of the file that `--rejects` names.

    Examples
    --------
    >>> json_line(Reject("a.csv", 3, "no time", b"A,?"))
    b'{"source": "a.csv", "line": 3, "cause": "no time", "raw": "A,?"}\n'
    """
    entry: dict[str, object] = {"source": reject.source, "line": reject.line, "cause": reject.cause}
    raw = reject.raw if isinstance(reject.raw, bytes) else reject.raw.encode("utf-8", "surrogatepass")
    try:
        raw.decode()
        entry["raw"] = raw[:RAW_BYTES].decode("utf-8", "ignore")
    except UnicodeDecodeError:
        entry["raw_base64"] = base64.b64encode(raw[:RAW_BYTES]).decode()
    if len(raw) > RAW_BYTES:
        entry["cut"] = True
    if reject.records > 1:
        entry["records"] = reject.records
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"


def write_rejects(
    file: str, pieces: Sequence[str], filesystem: fs.FileSystem, others: Iterable[Reject]
) -> None:
    """Join what the tasks wrote to `pieces` on `filesystem`, and others, in one file."""
    write_whole(file, chain(_blocks(pieces, filesystem), map(json_line, others)), "the rejects")


def _blocks(pieces: Sequence[str], filesystem: fs.FileSystem) -> Iterator[bytes]:
    for piece in pieces:
        with filesystem.open_input_stream(piece) as source:
            while block := source.read(_COPY_BYTES):
                yield block


def write_whole(file: str, blocks: Iterable[bytes], what: str) -> None:
    """Write a file that appears whole or not at all; raises JobError when it cannot be."""
    filesystem, path = Location.of(file).resolve()
    aside = f"{path}.partial-{uuid.uuid4().hex[:12]}"
    try:
        if isinstance(filesystem, fs.LocalFileSystem):
            write_whole_file(Path(path), blocks)
            return
        with filesystem.open_output_stream(aside) as stream:
            for block in blocks:
                stream.write(block)
        filesystem.move(aside, path)
    except OSError as problem:
        raise JobError(f"cannot write {what} to {file}: {problem}") from problem

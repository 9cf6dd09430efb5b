r"""Logs of containers: what CRI runtimes (containerd, CRI-O) and Docker write for every line of output.

    format   line
    cri      2026-06-14T08:15:02.123456789Z stdout F the line
    docker   {"log":"the line\n","stream":"stdout","time":"2026-06-14T08:15:02.123456789Z"}

Each line of output is a LogLine with `stream` and `message`, unless a pattern of the user names its type.
Runtimes cut long lines: the pieces of one are put together, at the time and the number of the first.
Pieces of the two streams may take turns.  What the path tells are attributes too (origin.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.containers.origin import container_origin
from cepctl.io.contract.local_instants import instants_of_shaped
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.contract.shaped_times import shaped_times
from cepctl.io.contract.times import LogTime, parse_time
from cepctl.io.contract.unicode_text import NOT_UNICODE, NotUnicodeError
from cepctl.io.source.event_lines import LineBatches, LineEvent, lines_fit, taken_lines
from cepctl.io.source.json_objects import flat_value, json_object
from cepctl.io.source.line_blocks import Groups, Layout, Lines, parsed_by
from cepctl.io.source.line_columns import LineColumns, LineLayout
from cepctl.io.source.streams import LONGEST_LINE, TOO_LONG
from cepctl.io.templates.attribute import TemplatedReader
from cepctl.numeric.arrays import Numbers

LOG_LINE = "LogLine"
NOT_CRI = "not a line of a CRI log: TIME stdout|stderr F|P TEXT"
NOT_DOCKER = "not a line of a Docker log: a JSON object with log, stream and time"
_CUT = f"lines of output longer than {LONGEST_LINE >> 20} MiB, of which the rest was left out: {{:,}}"
_UNENDED = "lines of output whose last piece is missing, kept as far as they go: {:,}"
_CRI_LINE = re.compile(
    r"(\d{4}-\d\d-\d\dT\S{1,30}) (stdout|stderr) ([FP])(?::\S*)?(?: (.*))?", re.ASCII | re.DOTALL
)
_TIME = r"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{1,25}(?:Z|[-+][0-9]{2}:[0-9]{2}))"
_WHOLE = rf"{_TIME} (?P<stream>stdout|stderr) F(?: (?P<message>.*))?"
_PIECE = re.compile(rb" (?:stdout|stderr) P")
_WHOLE_OF_DOCKER = (
    r"""\{"log":"(?P<message>(?:[^"\\\x00-\x1f]|\\["/t]|\\u003[ce]|\\u0026)*)(?:\\r)?\\n","""
    rf""""stream":"(?P<stream>stdout|stderr)","time":"{_TIME}"\}}"""
)
"""A line of output without escapes but those that Go writes in most; two backslashes are none of them."""
_ESCAPES = (('\\"', '"'), ("\\/", "/"), ("\\t", "\t"), ("\\u003c", "<"), ("\\u003e", ">"), ("\\u0026", "&"))
_ENDS_LINE = r'^\s*\{"log":"(?:[^"\\]|\\.)*\\n","'
"""What a line of Docker begins with whose text is no piece."""
_AROUND, _NANO_DIGITS = b"\r\0", 9
_TEXTS = frozenset(("stream", "message", "pod", "namespace", "container", "container_id"))


class _LinePiece(NamedTuple):
    """A line of the file: a line of output, or a piece of one that goes on in another."""

    time: LogTime | None
    stream: str
    text: str
    ends: bool
    attributes: Mapping[str, Value]


PieceOf = Callable[[str], _LinePiece | str]


@dataclass(frozen=True)
class ContainerLog:
    """Reader of the logs of one kind of runtime.

    `whole` is the layout of lines that are no pieces; `has_pieces`: whether some of several lines may be one;
    `unescape`: messages as the layout finds them, without what a file writes for signs.
    """

    piece_of: PieceOf
    whole: str
    has_pieces: Callable[[Lines], bool]
    unescape: Callable[[pa.Array], pa.Array]

    def recognises(self, head: bytes) -> bool:
        return lines_fit(head, lambda line: not isinstance(self.piece_of(line), str))

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """Yield the lines of output of one container."""
        batches = LineBatches(source, options, report, options.patterns, _TEXTS)
        pieces = _LinePieces(batches, container_origin(source), self.piece_of)
        whole = partial(_whole_lines, pieces.origin, self.unescape)
        known = partial(self._known, pieces, Layout(self.whole, whole))
        return taken_lines(stream, batches, pieces.take_line, known, _AROUND, pieces.end)

    def _known(
        self, pieces: _LinePieces, layout: LineLayout, lines: Lines
    ) -> Iterator[tuple[Numbers, LineColumns]] | None:
        """What lines among which none is a piece of one tell by a layout; None of other lines."""
        return None if pieces.are_open or self.has_pieces(lines) else parsed_by([layout], lines, _AROUND)


def _has_pieces_of_cri(lines: Lines) -> bool:
    return _PIECE.search(lines.block()) is not None


def _has_pieces_of_docker(lines: Lines) -> bool:
    """Whether the text of some line does not plainly end one."""
    return not pc.all(pc.match_substring_regex(lines.strings(), _ENDS_LINE), min_count=0).as_py()


def _whole_lines(
    origin: Mapping[str, Value], unescape: Callable[[pa.Array], pa.Array], groups: Groups
) -> LineColumns:
    """Lines of output, by the layout of lines that are whole."""
    times = shaped_times(groups["time"])
    count = len(times.read)
    exact = replace(times, digits=np.full(count, _NANO_DIGITS))
    message = unescape(groups["message"])
    message = pc.if_else(pc.equal(message, ""), pa.scalar(None, pa.string()), message)
    attributes = {
        **{name: pa.repeat(pa.scalar(value), count) for name, value in origin.items()},
        "stream": groups["stream"],
        "message": message,
    }
    types = pa.repeat(pa.scalar(LOG_LINE, pa.string()), count)
    return LineColumns(types, exact, instants_of_shaped(times, None), attributes)


def _as_they_are(texts: pa.Array) -> pa.Array:
    return texts


def _unescaped(texts: pa.Array) -> pa.Array:
    """Texts of JSON with escapes of _ESCAPES alone: none begins within another."""
    if pc.any(pc.match_substring(texts, "\\"), min_count=0).as_py():
        for escape, sign in _ESCAPES:
            texts = pc.replace_substring(texts, escape, sign)
    return texts


@dataclass
class _LinePieces:
    """Puts pieces together, each stream for itself."""

    batches: LineBatches
    origin: Mapping[str, Value]
    piece_of: PieceOf
    _texts: dict[str, list[str]] = field(default_factory=dict)
    _first: dict[str, tuple[int, _LinePiece, bytes]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    @property
    def are_open(self) -> bool:
        """Whether some wait for their last."""
        return bool(self._first)

    def take_line(self, number: int, raw: bytes) -> None:
        """Take a line of the file."""
        if len(raw) > LONGEST_LINE:
            self.batches.add(number, TOO_LONG, raw)
        elif raw.strip():
            self.take(number, self.piece_of(self.batches.text_of(raw)), raw)

    def take(self, number: int, piece: _LinePiece | str, raw: bytes) -> None:
        if isinstance(piece, str) or piece.time is None:
            cause = piece if isinstance(piece, str) else LineEvent(LOG_LINE, None, 1, {})
            self.batches.add(number, cause, raw)
            return
        self._first.setdefault(piece.stream, (number, piece, raw))
        texts = self._texts.setdefault(piece.stream, [])
        room = LONGEST_LINE - self._sizes.get(piece.stream, 0)
        texts.append(piece.text[: max(room, 0)])
        self._sizes[piece.stream] = self._sizes.get(piece.stream, 0) + len(piece.text)
        if piece.ends:
            self._close(piece.stream)

    def end(self) -> None:
        """Close what no last piece closed."""
        for stream in list(self._first):
            self.batches.report.notes[_UNENDED] += 1
            self._close(stream)

    def _close(self, stream: str) -> None:
        number, first, raw = self._first.pop(stream)
        message = "".join(self._texts.pop(stream))
        if self._sizes.pop(stream) > LONGEST_LINE:
            self.batches.report.notes[_CUT] += 1
        attributes = {**self.origin, **first.attributes, "stream": stream, "message": message or None}
        self.batches.add(number, LineEvent(LOG_LINE, first.time, 1, attributes), raw)


def cri_piece(line: str) -> _LinePiece | str:
    """A line of a CRI log."""
    found = _CRI_LINE.fullmatch(line)
    if found is None:
        return NOT_CRI
    return _LinePiece(parse_time(found[1]), found[2], found[4] or "", found[3] == "F", {})


def docker_piece(line: str) -> _LinePiece | str:
    """A line of a log of Docker's driver json-file."""
    try:
        entry = json_object(line)
    except NotUnicodeError:
        return NOT_UNICODE
    if entry is None or not isinstance(entry.get("log"), str) or not isinstance(entry.get("time"), str):
        return NOT_DOCKER
    text = entry["log"]
    attributes: dict[str, Value] = {}
    for name, value in entry.items():
        if name == "attrs" and isinstance(value, dict):
            attributes |= {key: flat_value(each) for key, each in value.items()}
        elif name not in ("log", "time", "stream"):
            attributes[name] = flat_value(value)
    stream = entry.get("stream")
    known = stream if isinstance(stream, str) else "stdout"
    return _LinePiece(parse_time(entry["time"]), known, text.rstrip("\r\n"), text.endswith("\n"), attributes)


_CRI = TemplatedReader(ContainerLog(cri_piece, _WHOLE, _has_pieces_of_cri, _as_they_are), _TEXTS)
_DOCKER = TemplatedReader(
    ContainerLog(docker_piece, _WHOLE_OF_DOCKER, _has_pieces_of_docker, _unescaped), _TEXTS
)
_EVENTS = (
    "LogLine; stream, message, its template and what varies in it; pod, namespace, container by the path; "
    "those of --patterns"
)
_UNCERTAINTY = "none: nanoseconds, by the clock of the node that the container runs on"
FORMATS = (
    LogFormat(
        name="cri",
        description="logs of containers in Kubernetes, as CRI runtimes (containerd, CRI-O) write them",
        events=_EVENTS,
        uncertainty=_UNCERTAINTY,
        example=(
            "2026-06-14T08:15:04.123456789Z stdout F ready on :8080\n"
            "2026-06-14T08:15:05.310003110Z stderr F cache is full\n"
        ),
        page="logs-containers.md",
        appended=True,
        reader=_CRI,
        messages=_CRI.messages,
    ),
    LogFormat(
        name="docker",
        description="logs of containers, as Docker's driver json-file writes them",
        events=_EVENTS,
        uncertainty=_UNCERTAINTY,
        example=('{"log":"ready on :8080\\n","stream":"stdout","time":"2026-06-14T08:15:04.123456789Z"}\n'),
        page="logs-containers.md",
        appended=True,
        reader=_DOCKER,
        messages=_DOCKER.messages,
    ),
)

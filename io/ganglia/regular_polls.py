"""Polls as Ganglia writes them, read by expat, several times faster than libxml2 builds a tree of them.

What is not well-formed, not of the shape below, or might mean something else to libxml2, is left to
that parser from the last place on where that makes no difference (poll_recovery.py), so that a damaged poll
gives the same samples and the same report whoever met the damage.

Regular is a poll of the elements that sample_columns.py names, in UTF-8, ISO-8859-1 or ASCII, without text,
comment, processing instruction or namespace prefix.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from xml.parsers import expat

from cepctl.io.ganglia.sample_columns import (
    CHILDREN,
    PARENTS,
    PLACE_FIELDS,
    ROOT,
    SAMPLE_FIELDS,
    SUMMARIES,
    IrregularError,
    Place,
    Sample,
    SampleColumns,
    Values,
    irregular,
    require_inner,
    require_plain_type,
    values_of,
)
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import comment_of_lines, complains

# What would read otherwise in an attribute.
_ESCAPES = {ord(sign): f"&#{ord(sign)};" for sign in '&<>"\n\r\t'}
_EXTRA_FIELDS = ("NAME", "VAL")
_ENCODINGS = frozenset({"utf-8", "iso-8859-1", "us-ascii"})
# What is nested deeper, has more attributes, or takes more bytes without coming to an end, is not regular.
_DEEPEST = 100
_MOST_BYTES = 1 << 20


class _OpenElement(NamedTuple):
    """An element around samples: its line, its attributes as names and values in turn, and its NAME."""

    line: int
    tag: str
    attributes: tuple[str, ...]
    name: str | None

    @property
    def start_tag(self) -> str:
        pairs = zip(self.attributes[::2], self.attributes[1::2], strict=True)
        written = [f' {name}="{value.translate(_ESCAPES)}"' for name, value in pairs]
        return f"<{self.tag}{''.join(written)}>"


class _Beginning(NamedTuple):
    """Where an element begins, so that another parser can go on there.

    Attributes
    ----------
    place
        The number of its first byte in the poll.
    around
        The elements below the root that are open there.
    """

    place: int = 0
    around: tuple[_OpenElement, ...] = ()


class RegularPoll:
    """One poll in the hands of expat, with its bytes from the last element on.

    What ends in the bytes that come at one time is taken only when all of them were regular.

    Attributes
    ----------
    head
        What stands before the first element below the root; None until that begins.
    summaries
        How many summaries of metrics were passed over, before the rest if there is one.
    """

    def __init__(self, columns: SampleColumns, place: str, known_head: bytes | None) -> None:
        """A poll at this place of the file; `known_head` is that of a regular poll before it."""
        self.head: bytes | None = None
        self.summaries = 0
        self._columns = columns
        self._prolog = Prolog(ROOT, place)
        self._known_head = known_head
        self._content = bytearray()
        # The line of the first byte kept; the line of another place, from which on lines are counted.
        self._line, self._counted = 1, (0, 1)
        self._encoding = "utf-8"
        self._parser: Any = None
        self._inside = ""
        self._around: tuple[_OpenElement, ...] = ()
        self._passed_over = 0
        # Where the bytes kept begin; where the last element began that is no part of a metric, or is one.
        self._kept = _Beginning()
        self._last_place, self._last_around = self._kept
        self._last_summaries = 0
        self._texts: list[str] = []
        # Samples by their places; of the open metric, what it says and its group.
        self._runs: list[tuple[Place, list[tuple[Sample, str | None]]]] = []
        self._sample: Any = ()
        self._group: str | None = None
        self._names: list[str] = []
        self._values: Values = tuple

    def read(self, data: bytes, *, last: bool = False) -> bool:
        """Read on; returns whether all was regular so far.

        Raises
        ------
        LogFormatError
            If the poll declares entities, or has no root element within 1 MiB.
        """
        self._content += data
        if self._parser is None:
            if not last and len(self._content) < len(self._known_head or b""):
                return True
            data = bytes(self._content)
            self._begin(known=self._known_head is not None and data.startswith(self._known_head))
        self._prolog.check(data)
        try:
            self._parser.Parse(data, last)
        except (expat.ExpatError, IrregularError):
            return False
        if self._texts and not "".join(self._texts).isspace():
            return False
        self._texts.clear()
        self._take(whole=last)
        return len(self._content) <= _MOST_BYTES

    @property
    def prolog(self) -> Prolog:
        """What checks the beginning of the rest: that of the poll, unless it has not come so far."""
        return self._prolog if self._prolog.passed else Prolog(ROOT, self._prolog.place)

    def rest(self) -> bytes:
        """The beginnings of what is open, and all bytes from there on, each on its line."""
        if self.head is None or not self._kept.place:
            return bytes(self._content)
        pieces, line = [self.head], 1 + self.head.count(b"\n")
        for element in self._kept.around:
            start_tag = element.start_tag.encode(self._encoding, "xmlcharrefreplace")
            pieces += [comment_of_lines(element.line - line), start_tag]
            line = element.line
        return b"".join([*pieces, comment_of_lines(self._line - line), self._content])

    def _begin(self, *, known: bool) -> None:
        """Make the parser; what stands before the elements is not looked at again where it is known."""
        self._parser = parser = expat.ParserCreate()
        parser.ordered_attributes = True
        parser.XmlDeclHandler = self._declared
        parser.StartElementHandler, parser.EndElementHandler = self._started, self._ended
        parser.CharacterDataHandler = self._texts.append
        parser.ProcessingInstructionHandler = parser.CommentHandler = irregular
        parser.StartCdataSectionHandler = parser.EntityDeclHandler = irregular
        self._prolog.passed = known
        if not known:
            parser.StartDoctypeDeclHandler = require_inner
            parser.AttlistDeclHandler = require_plain_type
            parser.NotationDeclHandler = irregular

    def _declared(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._encoding = (encoding or "utf-8").lower()
        if self._encoding not in _ENCODINGS:
            raise IrregularError

    def _started(self, tag: str, attributes: list[Any]) -> None:
        if tag not in CHILDREN[self._inside]:
            raise IrregularError
        if tag == "METRIC":
            self._last_place, self._last_around = self._parser.CurrentByteIndex, self._around
            names = attributes[::2]
            if names != self._names:
                self._names, self._values = names, values_of(SAMPLE_FIELDS, tuple(names))
            attributes.append(None)
            self._sample, self._group = self._values(attributes), None
            if not self._sample[0]:
                raise IrregularError
        elif tag == "EXTRA_ELEMENT":
            if len(attributes) == 4 and attributes[0] == "NAME" and attributes[2] == "VAL":
                _, name, _, value = attributes
            else:
                name, value = values_of(_EXTRA_FIELDS, tuple(attributes[::2]))([*attributes, None])
            if name == "GROUP" and self._group is None:
                self._group = value
                if value is None:
                    raise IrregularError
        elif attributes or tag != "EXTRA_DATA":
            self._other_started(tag, attributes)
        self._inside = tag

    def _other_started(self, tag: str, attributes: list[Any]) -> None:
        take = values_of(PLACE_FIELDS, tuple(attributes[::2]))
        if tag in (ROOT, "EXTRA_DATA"):
            return
        here = self._parser.CurrentByteIndex
        if self.head is None:
            self._know_head(bytes(self._content[:here]))
        self._last_place, self._last_around, self._last_summaries = here, self._around, self._passed_over
        if tag in SUMMARIES:
            return
        said = take([*attributes, None])
        self._around = (*self._around, _OpenElement(self._line_at(here), tag, tuple(attributes), said[0]))
        if len(self._around) > _DEEPEST:
            raise IrregularError
        if tag == "HOST":
            inner = {element.tag: element.name for element in self._around}
            self._runs.append((Place._make((*said, inner.get("CLUSTER"), inner.get("GRID"))), []))

    def _line_at(self, place: int) -> int:
        """The line of a place behind all those that were asked for before."""
        before, line = self._counted
        begin = self._kept.place
        self._counted = place, line + self._content.count(b"\n", before - begin, place - begin)
        return self._counted[1]

    def _know_head(self, head: bytes) -> None:
        # Beside what expat tells, libxml2 knows more that is wrong; and entities may come from elsewhere.
        if head != self._known_head and (b"%" in head or complains(head)):
            raise IrregularError
        self.head = head

    def _ended(self, tag: str) -> None:
        if tag in PARENTS:
            self._inside = PARENTS[tag]
            if tag == "METRIC":
                self._runs[-1][1].append((self._sample, self._group))
            return
        if tag in SUMMARIES:
            self._passed_over += tag == "METRICS"
        else:
            self._around = self._around[:-1]
        self._inside = self._around[-1].tag if self._around else ROOT

    def _take(self, *, whole: bool) -> None:
        """Take the samples of metrics before the last element, or all of them, and forget their bytes."""
        kept = []
        if self._runs:
            place, samples = self._runs[-1]
            ended = self._inside not in PARENTS
            if ended and not whole and self._last_around and self._last_around[-1].tag == "HOST":
                kept.append(samples.pop())
        for run in self._runs:
            if run[1]:
                self._columns.add(*run)
        if self._runs:
            self._runs = [(place, kept)]
        self._line = self._line_at(self._last_place)
        del self._content[: self._last_place - self._kept.place]
        self._kept = _Beginning(self._last_place, self._last_around)
        self.summaries = self._passed_over if whole else self._last_summaries

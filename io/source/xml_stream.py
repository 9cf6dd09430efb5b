"""XML from strangers, read as a stream: no entity is declared, no network touched, damage survived.

libxml2 recovers from bare `&`, bad bytes and missing end tags; what it complains about is kept for the
report.  Whoever reads a document closes it: the parser holds back what it cannot tell yet, and says only
at the end what it made of that.

    in the document                                  what becomes of it
    it declares an entity                            refused (xml_prolog.py)
    a tag, comment or text of more than 8 MB         damage: read up to there
    more than 32 MB without an end of what is read   damage: read up to there
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

from lxml import etree

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject
from cepctl.io.source.streams import CHUNK_BYTES, Chunks
from cepctl.io.source.xml_mending import Mending
from cepctl.io.source.xml_prolog import Prolog, declared_entities, with_known_encoding

DAMAGED = "damaged XML, read as far as it goes"
# libxml2 holds a tag until its end is there, and fails beyond what 32 bits count.
LONGEST_TAG = 8 << 20
# The tree takes some 30 times the bytes of the shortest elements.
LONGEST_ELEMENT = 32 << 20
# What may stand before a document, and says nothing.
BLANK = b"\xef\xbb\xbf \t\r\n"
_COMMENT_LINES = 1 << 20
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Complaint:
    """What is wrong with a document: the line of the first fault, what it is, how many there are."""

    line: int
    message: str
    count: int = 1

    @property
    def warning(self) -> str:
        return f"{DAMAGED}; the first damage is at line {self.line}: {self.message}"


# Names of namespaces are compared and nothing more: whether they are addresses does not matter.
_HARMLESS = frozenset({"WAR_NS_URI", "WAR_NS_URI_RELATIVE"})


class Elements:
    """The elements of one document, while they come in and as they end.

    `prolog`: checks the beginning; where `document` has done so, the same one.  `tags`, `events`: which
    elements are reported, and of what: `start`, `end`, `comment`.  `mending`: takes every byte of the
    document first; None where nothing of it is a record.

    Attributes
    ----------
    root
        The root element of a document that was closed; None where there is none.
    unreadable
        What the parser says of a document that it can make nothing of.
    """

    def __init__(
        self,
        prolog: Prolog,
        tags: Sequence[str],
        events: Sequence[str],
        *,
        mending: Mending | None = None,
        keep_comments: bool = False,
    ) -> None:
        self._prolog = prolog
        self._mending = mending
        self._parser = _pull_parser(tags, events, keep_comments=keep_comments)
        self._tag_bytes = 0
        self._element_bytes = 0
        self._lines = 1
        self._begun = False
        self._looked_at = False
        self._ended = 0
        self._stopped: Complaint | None = None
        self.root: Any = None
        self.unreadable: Complaint | None = None

    def feed(self, data: bytes) -> Iterator[tuple[str, Any]]:
        """Read on; yields events with their elements.

        Raises
        ------
        LogFormatError
            If the document declares entities, or has no root element within 1 MiB.
        """
        self._prolog.check(data)
        if not self._begun and data:
            self._begun, data = True, with_known_encoding(data)
        for begin in range(0, len(data), CHUNK_BYTES):
            piece = data[begin : begin + CHUNK_BYTES]
            yield from self._parsed(piece if self._mending is None else self._mending.feed(piece))

    def _parsed(self, data: bytes) -> Iterator[tuple[str, Any]]:
        for begin in range(0, len(data), CHUNK_BYTES):
            piece = data[begin : begin + CHUNK_BYTES]
            if self._stopped is None:
                self._stopped = self._oversized(piece)
            if self._stopped is not None:
                return
            self._try(partial(self._parser.feed, piece))
            yield from self._completed()

    def close(self) -> Iterator[tuple[str, Any]]:
        """End the document; yields what the parser held back, but no end of what was cut in half."""
        if self._mending is not None:
            yield from self._parsed(self._mending.feed(b"", last=True))
        self.root = self._try(self._parser.close)
        cut = set(_last_ones(self.root)) if self._own_complaint is not None else set()
        for event, element in self._completed():
            if event != "end" or element not in cut or self._is_whole_record(element):
                yield event, element
        if self._mending is not None:
            self._mending.tell_unread(self._ended)

    def _is_whole_record(self, element: Any) -> bool:
        """Whether it is one that was whole before it came to the parser."""
        return self._mending is not None and self._mending.mends and self._is_record(element)

    def _is_record(self, element: Any) -> bool:
        return self._mending is not None and local_name(element.tag) in self._mending.shape.records

    @property
    def complaint(self) -> Complaint | None:
        """What is wrong with what was read so far."""
        damage = None if self._mending is None else self._mending.damage
        return self._stopped or (damage and Complaint(*damage)) or self._own_complaint

    @property
    def _own_complaint(self) -> Complaint | None:
        said = [each for each in self._parser.feed_error_log if each.type_name not in _HARMLESS]
        first = Complaint(int(said[0].line), str(said[0].message).strip(), len(said)) if said else None
        return self._stopped or first or self.unreadable

    @property
    def lost_records(self) -> int:
        """How many records were told to be lost."""
        return 0 if self._mending is None else self._mending.lost_records

    def tell_damage(self, report: ReadReport, source: str, before: int, last_rejected: int) -> None:
        """Tell what is wrong, as a reject where none tells of it yet.

        `before` lines stand before the document.  `last_rejected`: the number of the last record that came
        from here and was rejected, the first being 1; 0 where none was.
        """
        complaint = self.complaint
        if complaint is None or (self.lost_records and not self._stopped):
            return
        complaint = replace(complaint, line=complaint.line + before)
        whole_records = 0 if self._mending is None else self._mending.whole_records
        if last_rejected > whole_records and not self._stopped:
            # What was recovered of a damaged record became one.
            report.warnings.append(complaint.warning)
            return
        more = f" (and {complaint.count - 1} more complaints)" if complaint.count > 1 else ""
        report.records += 1
        report.rejects.append(Reject(source, complaint.line, DAMAGED, f"{complaint.message}{more}"))

    def _try(self, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except etree.XMLSyntaxError as error:
            self.unreadable = Complaint(error.lineno or 1, f"not readable as XML: {error.msg}")
            return None

    def _completed(self) -> Iterator[tuple[str, Any]]:
        for event, element in self._parser.read_events():
            if not self._looked_at and event != "comment":  # one may stand before the root
                self._looked_at = True
                self._refuse_entities(element)
            if event == "end":
                self._element_bytes = 0
                self._ended += self._is_record(element)
            yield event, element

    def _refuse_entities(self, element: Any) -> None:
        """What the parser itself has taken for a declaration, whatever the text looked like before."""
        declared = element.getroottree().docinfo.internalDTD
        if declared is not None and next(declared.iterentities(), None) is not None:
            raise LogFormatError(declared_entities(self._prolog.place))

    def _oversized(self, piece: bytes) -> Complaint | None:
        self._lines += piece.count(b"\n")
        self._element_bytes += len(piece)
        # Markup of another kind than a tag may hold the sign, too; then it is not a matter of size.
        end = piece.rfind(b">")
        self._tag_bytes = len(piece) - end if end >= 0 else self._tag_bytes + len(piece)
        if self._tag_bytes > LONGEST_TAG:
            return Complaint(
                self._lines, f"a tag or text of more than {LONGEST_TAG >> 20} MB, which is not read"
            )
        if self._element_bytes > LONGEST_ELEMENT:
            return Complaint(
                self._lines, f"an element of more than {LONGEST_ELEMENT >> 20} MB, which is not read"
            )
        return None


def _last_ones(element: Any) -> Iterator[Any]:
    """The element, its last child, the last child of that, and so on: what the end of a document can cut."""
    while element is not None:
        yield element
        element = element[-1] if len(element) else None


def _pull_parser(tags: Sequence[str], events: Sequence[str], *, keep_comments: bool = False) -> Any:
    return etree.XMLPullParser(
        events=tuple(events),
        tag=list(tags),
        recover=True,
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        no_network=True,
        huge_tree=False,
        remove_comments=not keep_comments,
        remove_pis=True,
    )


@dataclass
class XmlDocument:
    """The pieces of a file that is one document, from its first byte that is not a blank.

    Iterating raises LogFormatError as Prolog.check does.

    Attributes
    ----------
    chunks
        The file, not yet read.
    prolog
        What is known of the beginning; empty for a file without content.
    blank_lines
        How many lines stand before the document.
    """

    chunks: Chunks
    prolog: Prolog
    blank_lines: int = field(default=0, init=False)

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.chunks:
            data = chunk
            if not self.prolog.seen:
                data = chunk.lstrip(b" \t\r\n")
                self.blank_lines += chunk.count(b"\n", 0, len(chunk) - len(data))
            self.prolog.check(data)
            yield data


def without_comments(head: bytes) -> bytes:
    """The beginning of an XML document without comments; UTF-16 loses its zero bytes on the way."""
    return _COMMENT.sub(b"", head.replace(b"\0", b""))


@lru_cache(maxsize=1024)
def local_name(tag: str) -> str:
    """The name of an element without its namespace.

    Examples
    --------
    >>> local_name("{http://www.xes-standard.org/}event"), local_name("event")
    ('event', 'event')
    """
    return tag.rpartition("}")[2]


def comment_of_lines(count: int) -> bytes:
    """So many lines that hold nothing: comments, which may be long together, but not one by one."""
    pieces = (min(_COMMENT_LINES, count - done) for done in range(0, count, _COMMENT_LINES))
    return b"".join(b"<!--" + b"\n" * lines + b"-->" for lines in pieces)


def complains(head: bytes) -> bool:
    """Whether libxml2 finds fault with the beginning of a document, which may end anywhere between tags."""
    parser = _pull_parser(("{*}none",), ("end",))
    parser.feed(head)
    return len(parser.feed_error_log) > 0

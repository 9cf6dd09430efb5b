"""XML from strangers, read as a stream: no entity is declared, no network touched, damage survived.

libxml2 recovers from bare `&`, bad bytes and missing end tags; what it complains about is kept
for the report.  A document that declares entities is refused, because attribute values would
be expanded before anybody could look at them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lxml import etree

from cepctl.errors import LogFormatError
from cepctl.io.streams import Chunks

_PROLOG_BYTES = 1 << 20
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)


def pull_parser(tags: Sequence[str], events: Sequence[str], *, keep_comments: bool = False) -> Any:
    """An lxml pull parser that reports `events` of elements whose tag is one of `tags`."""
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
class Prolog:
    """What stands before the root element of a document, checked while it comes in.

    Attributes
    ----------
    root
        Name of the root element without its namespace.
    place
        Where the document starts, as messages name it: file, or file and line.
    """

    root: str
    place: str
    seen: bytes = b""
    passed: bool = False

    def check(self, data: bytes) -> None:
        """Look at the next bytes of the document, before a parser sees them.

        Raises
        ------
        LogFormatError
            If they declare an entity, or the root element does not come within 1 MiB.
        """
        if self.passed:
            return
        self.seen += data
        text = without_comments(self.seen)
        if b"<!ENTITY" in text:
            raise LogFormatError(
                f"{self.place}: the document declares XML entities, which could expand without bound or "
                "read other files; remove the <!ENTITY ...> declarations"
            )
        self.passed = re.search(rb"<(?:[\w.-]+:)?%s[\s/>]" % self.root.encode(), text) is not None
        if not self.passed and len(self.seen) > _PROLOG_BYTES:
            raise LogFormatError(f"{self.place}: no <{self.root}> element within the first MiB")


@dataclass
class Document:
    """The pieces of a file that is one document, from its first byte that is no blank.

    Iterating raises LogFormatError as Prolog.check does.

    Attributes
    ----------
    chunks
        The file, not yet read.
    prolog
        What is told of the beginning; empty for a file without content.
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


def first_complaint(parser: Any) -> tuple[int, str, int] | None:
    """Line, text and number of the parser's complaints; None when it had none."""
    complaints = list(parser.feed_error_log)
    if not complaints:
        return None
    return int(complaints[0].line), str(complaints[0].message).strip(), len(complaints)


def complains(head: bytes) -> bool:
    """Whether libxml2 finds fault with the beginning of a document, which may end anywhere between tags."""
    parser = pull_parser(("{*}none",), ("end",))
    parser.feed(head)
    return first_complaint(parser) is not None

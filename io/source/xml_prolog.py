"""What stands before the root element of an XML document from strangers: no declared entity gets past it.

A declared entity can expand without bound, or read other files, before anybody could look at the values.
Whether there is one is told by a parser, expat, from the text as its encoding gives it: what looks like a
comment may be none, and some encodings hide every sign.  Where the beginning is damaged, so that the
parser of the document may see more than expat does, the very word is refused, wherever it stands.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from xml.parsers import expat

from cepctl.errors import LogFormatError

_PROLOG_BYTES = 1 << 20
_DECLARATION_BYTES = 1_024
_ENTITY = b"<!ENTITY"
_ENCODING = re.compile(
    rb"<\?xml\s[^>]{0,200}?\bencoding\s{0,9}=\s{0,9}[\"']([\w.:-]{60}|[\w.:-]{1,59}(?=[^\w.:-]))"
)
_ASCII = bytes(range(32, 127))
_BYTES = bytes(range(256))
# As libxml2 tells them: by a byte order mark, or by how the first sign is written.
_MARKS = (
    (codecs.BOM_UTF32_LE, None),
    (codecs.BOM_UTF32_BE, None),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0\0\0", None),
    (b"\0\0\0<", None),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)


class _DeclaredError(Exception):
    """The document declares an entity."""


class _RootReachedError(Exception):
    """The root element begins: no declaration can follow."""


@dataclass
class Prolog:
    """What stands before the root element of a document, checked while it comes in.

    Attributes
    ----------
    root
        Name of the root element without its namespace.
    place
        Where the document starts, as messages name it: file, or file and line.
    passed
        Whether the root element has begun.
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
            If they declare an entity, if their encoding is not known or hides signs, or if the root
            element does not come within 1 MiB.
        """
        if self.passed or not data:
            return
        self.seen += data
        text = self._text()
        self._refuse_entities(text)
        self.passed = re.search(rb"<(?:[\w.-]+:)?%s[\s/>]" % self.root.encode(), text) is not None
        if not self.passed and len(self.seen) > _PROLOG_BYTES:
            raise LogFormatError(f"{self.place}: no <{self.root}> element within the first MiB")

    def _text(self) -> bytes:
        encoding = _encoding_of(self.seen)
        if encoding is None:
            raise LogFormatError(
                f"{self.place}: the XML is in an encoding that is not read here; convert it to UTF-8"
            )
        return self.seen.decode(encoding, "replace").encode("utf-8", "replace")

    def _refuse_entities(self, text: bytes) -> None:
        parser = expat.ParserCreate("utf-8")
        parser.EntityDeclHandler = _declared
        parser.StartElementHandler = _root_reached
        try:
            parser.Parse(text, False)
        except _DeclaredError:
            raise LogFormatError(declared_entities(self.place)) from None
        except _RootReachedError:
            return
        except expat.ExpatError:
            if _ENTITY in text:
                raise LogFormatError(declared_entities(self.place)) from None


def declared_entities(place: str) -> str:
    """What is said of a document that declares entities."""
    return (
        f"{place}: the document declares XML entities, which could expand without bound or "
        "read other files; remove the <!ENTITY ...> declarations"
    )


def with_known_encoding(head: bytes) -> bytes:
    """The beginning of a document, without the name of its encoding where that is another name of UTF-8.

    Parsers here know that one name alone; `utf8` is often written.  What was UTF-16 is UTF-8 by now, too.

    Examples
    --------
    >>> with_known_encoding(b'<?xml version="1.0" encoding="utf8"?><log/>')
    b'<?xml version="1.0"                ?><log/>'
    """
    found = _ENCODING.match(head[:_DECLARATION_BYTES])
    if found is None or found[1].lower() == b"utf-8" or _encoding_of(head) != "utf-8":
        return head
    begin, end = head.rfind(b"encoding", 0, found.start(1)), found.end() + 1
    return head[:begin] + b" " * (end - begin) + head[end:]


def _declared(*_: object) -> None:
    raise _DeclaredError


def _root_reached(*_: object) -> None:
    raise _RootReachedError


def _encoding_of(head: bytes) -> str | None:
    """The encoding of a document that begins so; None for one in which ASCII is not written as ASCII.

    Beside UTF-8 and UTF-16 it has one byte for each sign: the parsers here read no others.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    found = _ENCODING.match(head[:_DECLARATION_BYTES])
    try:
        name = codecs.lookup(found[1].decode()).name if found else "utf-8"
        if name.startswith("utf-16"):
            return "utf-8"  # the declaration was left as it was when the text was converted
        single = name == "utf-8" or len(_BYTES.decode(name, "replace")) == len(_BYTES)
        return name if single and _ASCII.decode(name, "replace").encode() == _ASCII else None
    except (LookupError, ValueError):
        return None

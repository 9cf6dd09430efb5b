"""One piece of a damaged document in XML: whether it is whole, and what can be made whole of it."""

from __future__ import annotations

import re
from xml.parsers import expat

from lxml import etree

_BARE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")
# Bytes that are not UTF-8, as Python escapes them, as Latin-1.
_LATIN = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")


def is_prolog(text: bytes) -> bool:
    """Whether this can stand before a root element."""
    try:
        expat.ParserCreate().Parse(text + b"<x/>", True)
    except expat.ExpatError:
        return False
    return True


def is_whole(text: bytes, encoding: str, namespaces: str | None = None) -> bool:
    """Whether this is what an element can hold; with a sign for `namespaces`, one without prefixes."""
    try:
        expat.ParserCreate(encoding, namespaces).Parse(b"<x>" + text + b"</x>", True)
    except expat.ExpatError:
        return False
    return True


def gently_mended(text: bytes, encoding: str) -> bytes | None:
    """The text with bare `&` and bytes of another encoding mended; None where that is not all."""
    if _SURROGATE.search(text):
        return None
    mended = _BARE.sub(b"&amp;", text)
    if encoding == "utf-8":
        try:
            mended.decode()
        except UnicodeDecodeError:
            # As libxml2 does: who writes no UTF-8 writes Latin-1.
            mended = _as_latin(mended)
    return mended if mended != text and is_whole(mended, encoding) else None


def _as_latin(text: bytes) -> bytes:
    return text.decode("utf-8", "surrogateescape").translate(_LATIN).encode()


def recovered(text: bytes, encoding: str) -> bytes | None:
    """What libxml2 makes of a damaged element; None where that is none, or not Unicode."""
    parser = etree.XMLParser(
        encoding=encoding, recover=True, resolve_entities=False, no_network=True, huge_tree=False
    )
    try:
        element = etree.fromstring(text, parser)
        found = b"" if element is None else bytes(etree.tostring(element, encoding=encoding, with_tail=False))
    except (etree.XMLSyntaxError, UnicodeError, ValueError):
        return None
    # It can write what no parser reads: half of a surrogate pair.
    found = found[found.find(b"?>") + 2 :] if found.startswith(b"<?xml") else found
    return found if found and is_whole(found, encoding, namespaces="}") else None

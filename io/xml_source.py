"""XML from strangers, read as a stream: no entity is declared, no network touched, damage survived.

libxml2 recovers from bare `&`, bad bytes and missing end tags; what it complains about is kept
for the report.  A document that declares entities is refused, because attribute values would
be expanded before anybody could look at them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lxml import etree

from cepctl.errors import LogFormatError

_ENTITY = b"<!ENTITY"


def pull_parser(tags: Sequence[str], events: Sequence[str]) -> Any:
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
        remove_comments=True,
        remove_pis=True,
    )


def refuse_entities(prolog: bytes, source: str) -> None:
    """Raise LogFormatError when the bytes before the root element declare an entity.

    UTF-16 is covered: its zero bytes are taken out first.
    """
    if _ENTITY in prolog.replace(b"\0", b""):
        raise LogFormatError(
            f"{source}: the document declares XML entities, which could expand without bound or read "
            "other files; remove the <!ENTITY ...> declarations"
        )


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

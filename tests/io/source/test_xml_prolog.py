"""No declared entity gets past, however it is written; what only looks like one does no harm."""

from __future__ import annotations

import io

import pytest

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import Elements
from cepctl.io.xes.log import XesLog

EVENT = (
    '<event><string key="concept:name" value="&a;"/><date key="time:timestamp" value="2024-05-01T10:00:00Z"/>'
    "</event>"
)
DECLARATION = "<!ENTITY a 'X'>"


def document(inside: str = DECLARATION, before: str = "", encoding: str | None = None) -> str:
    declared = f'<?xml version="1.0" encoding="{encoding}"?>' if encoding else ""
    return f"{declared}{before}<!DOCTYPE log [ {inside} ]>\n<log><trace>{EVENT}</trace></log>"


def read(data: bytes) -> list[str]:
    batches = XesLog().read(io.BytesIO(data), "a.xes", ReadOptions(), ReadReport())
    return [kind for batch in batches for kind in batch.column("event_type").to_pylist()]


@pytest.mark.parametrize(
    "text",
    [
        document(),
        document(f"<?x <!-- ?>{DECLARATION}<?x --> ?>"),
        document(f"<!-- -->{DECLARATION}<!-- -->"),
        document(f"<!ELEMENT log ANY> <!ATTLIST log a CDATA '<!--'> {DECLARATION} <!-- '-->"),
        document("<!ENTITY % p \"<!ENTITY a 'X'>\"> %p;"),
        document("<!ENTITY a SYSTEM 'file:///etc/passwd'>"),
        document("<!ENTITY\n\ta\r\n'X' >"),
        document(before="<!-- <log> -->"),
        document(before="<?x <log>?>"),
        document(before="\n" * 70_000),
        document("<!ELEMENT log ANY>" * 5_000 + DECLARATION),
    ],
)
def test_a_declaration_is_refused_wherever_it_stands(text: str) -> None:
    with pytest.raises(LogFormatError, match=r"a\.xes: the document declares XML entities"):
        read(text.encode())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1", "cp1252"])
def test_a_declaration_is_refused_in_every_encoding_that_is_read(encoding: str) -> None:
    name = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    with pytest.raises(LogFormatError, match="the document declares XML entities"):
        read(document(encoding=name).encode(encoding))


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("UTF-7", "utf-7"),
        ("UTF-32", "utf-32"),
        ("IBM037", "cp037"),
        ("x-unknown", "utf-8"),
        ("rot13", "utf-8"),
    ],
)
def test_an_encoding_that_could_hide_a_declaration_is_refused(name: str, encoding: str) -> None:
    hidden = document("+ADwAIQ-ENTITY a 'X'>", encoding=name)
    with pytest.raises(
        LogFormatError, match=r"(encoding that is not read here|no <log> element|not XES|not readable)"
    ):
        read(hidden.encode(encoding))


@pytest.mark.parametrize("before", ["&&&", "<a", "<?xml?>", "<!DOCTYPE log [<!ELEMENT", "</x>"])
def test_where_the_beginning_is_damaged_the_very_word_is_refused(before: str) -> None:
    with pytest.raises(LogFormatError, match="the document declares XML entities"):
        read(document(before=before).encode())


def test_the_parser_itself_says_of_a_declaration_that_no_check_saw() -> None:
    prolog = Prolog("log", "a.xes", passed=True)
    with pytest.raises(LogFormatError, match=r"a\.xes: the document declares XML entities"):
        list(Elements(prolog, ["{*}event"], ["end"]).feed(document().encode()))


@pytest.mark.parametrize(
    "inside", ["<!-- <!ENTITY a 'X'> -->", "<?x <!ENTITY a 'X'> ?>", "<!ELEMENT log ANY>"]
)
def test_what_declares_nothing_is_read(inside: str) -> None:
    assert read(document(inside).replace("&a;", "A").encode()) == ["A"]


def test_the_word_behind_the_root_element_is_text() -> None:
    text = document("").replace("&a;", "A").replace("<trace>", "<!-- <!ENTITY a 'X'> --><trace>")
    assert read(text.encode()) == ["A"]

"""Elements of a document as they end, also of a damaged one, and how large it may be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cepctl.io.source import xml_stream
from cepctl.io.source.xml_prolog import Prolog
from cepctl.io.source.xml_stream import Elements


def ended(*pieces: bytes) -> tuple[list[str], Elements]:
    """The texts of the elements called `a`, and the parser, closed."""
    elements = Elements(Prolog("r", "f"), ["a"], ["end"])

    def parsed() -> Iterator[tuple[str, object]]:
        for piece in pieces:
            yield from elements.feed(piece)
        yield from elements.close()

    return [element.text for _, element in parsed()], elements  # type: ignore[attr-defined]


def test_what_the_parser_holds_back_comes_when_it_is_closed() -> None:
    texts, elements = ended(b"<!DOCTYPE r [ <!ELEMENT r (a|b\\)*> ]><r><a>1</a><a>2</a></r>")
    assert elements.complaint is not None
    assert texts in ([], ["1", "2"])
    texts, elements = ended(b"<r><a>1</a><!-- <a>2</a></r>")
    assert texts == ["1"]
    assert elements.complaint is not None


def test_an_element_that_the_end_of_the_file_cuts_is_not_one() -> None:
    texts, elements = ended(b"<r><a>1</a><a>2")
    assert texts == ["1"]
    assert elements.complaint is not None


def test_a_whole_document_has_no_complaint() -> None:
    texts, elements = ended(b"<r><a>1</a>", b"<a>2</a></r>")
    assert (texts, elements.complaint, elements.root.tag) == (["1", "2"], None, "r")


def test_a_document_that_is_none_is_said_to_be() -> None:
    texts, elements = ended(b"no xml at all")
    assert (texts, elements.root) == ([], None)


def test_a_tag_that_does_not_end_is_read_up_to_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_stream, "LONGEST_TAG", 200_000)
    pieces = [b"<r>\n<a>1</a>\n<b c='", *[b"x" * 50_000] * 5, b"'/><a>2</a></r>"]
    texts, elements = ended(*pieces)
    assert texts == ["1"]
    assert elements.complaint is not None
    assert (elements.complaint.line, elements.complaint.message[:33]) == (
        3,
        "a tag or text of more than 0 MB, ",
    )


def test_an_element_that_does_not_end_is_read_up_to_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_stream, "LONGEST_ELEMENT", 200_000)
    texts, elements = ended(b"<r><a>1</a>", *[b"<b/>" * 15_000] * 5, b"<a>2</a></r>")
    assert texts == ["1"]
    assert elements.complaint is not None
    assert elements.complaint.message.startswith("an element of more than")
    texts, elements = ended(b"<r>", *[b"<b/>" * 15_000 + b"<a>1</a>"] * 9, b"</r>")
    assert texts == ["1"] * 9
    assert elements.complaint is None

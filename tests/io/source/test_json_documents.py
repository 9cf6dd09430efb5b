"""Concatenated JSON objects come whole, their streamed arrays piece by piece, whatever the layout."""

from __future__ import annotations

import io
import json
from typing import IO, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.io.contract.reader import ReadReport
from cepctl.io.source.json_documents import Element, JsonDocument, first_members, read_documents
from cepctl.io.source.streams import Chunks

STREAMED = ("tasks",)


def members(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.text(max_size=4), inner, max_size=3)


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | members(inner), max_leaves=8)


def read(text: str | bytes, report: ReadReport | None = None) -> list[Element | JsonDocument]:
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return list(read_documents(Chunks(io.BytesIO(content)), STREAMED, "log", report or ReadReport()))


def shown(parts: list[Element | JsonDocument]) -> list[Any]:
    return [part.value if isinstance(part, Element) else (part.line, part.members) for part in parts]


def test_elements_come_before_their_document_which_keeps_the_rest() -> None:
    parts = read('{"id": 1, "tasks": [{"n": 1}, [2, {"x": 3.5}], 7],\n "end": {"tasks": [8]}}\n{"id": 2}')
    assert shown(parts) == [
        {"n": 1},
        [2, {"x": 3.5}],
        7,
        (1, {"id": 1, "end": {"tasks": [8]}}),
        (3, {"id": 2}),
    ]


@given(
    st.lists(
        st.fixed_dictionaries({"tasks": st.lists(values, max_size=4), "of": members(values)}), max_size=4
    )
)
def test_every_layout_gives_what_json_gives(documents: list[dict[str, Any]]) -> None:
    expected: list[Any] = []
    for document in documents:
        expected += [*document["tasks"], {"of": document["of"]}]
    for indent, separator in ((None, ""), (2, "\n"), (1, "\n\n")):
        text = separator.join(json.dumps(document, indent=indent) for document in documents)
        report = ReadReport()
        found = [part.value if isinstance(part, Element) else part.members for part in read(text, report)]
        assert found == expected
        assert report.rejects == []


def test_a_document_cut_short_by_the_next_keeps_what_was_read_and_loses_no_other() -> None:
    report = ReadReport()
    parts = read('{"id": 1, "tasks": [{"n": 1}, {"n": "x\n{"id": 2}\n{"id": 3}', report)
    expected: list[Any] = [{"n": 1}, (1, {"id": 1}), (2, {"id": 2}), (3, {"id": 3})]
    assert shown(parts) == expected
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (1, "damaged or cut JSON, kept as far as it goes")
    ]


def test_behind_damage_reading_goes_on_with_the_next_document() -> None:
    report = ReadReport()
    parts = read('{"id": 1}\n{"id": 2, }} "x": 5}\n{"id": 3}\n', report)
    assert shown(parts) == [(1, {"id": 1}), (2, {"id": 2}), (3, {"id": 3})]
    assert [reject.line for reject in report.rejects] == [2]


@pytest.mark.parametrize("text", ['{"id": 1, "tasks": [1', '{"id": 1} nul', '{"id": 1} }', "\xff"])
def test_a_file_that_ends_in_damage_has_one_reject(text: str) -> None:
    report = ReadReport()
    read(text.encode("latin-1"), report)
    assert len(report.rejects) == report.records == 1


@pytest.mark.parametrize("text", ["", "  \n\n", "\ufeff"])
def test_nothing_is_no_damage(text: str) -> None:
    report = ReadReport()
    assert read(text, report) == []
    assert report.rejects == []


@pytest.mark.parametrize("text", ['[{"id": 0}, 2]', '7 "x"', "null", '"{"'])
def test_what_is_no_object_is_a_reject(text: str) -> None:
    report = ReadReport()
    assert shown(read(f'{text}\n{{"id": 1}}', report)) == [(2, {"id": 1})]
    assert [reject.line for reject in report.rejects] == [1]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_it_does_not_matter_where_the_file_is_cut_into_chunks(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"id": -12.5e3, "tasks": [true, "\\u00e9\\n", "\u00e9", 123], "of": {"a": [1, 23]}}\n{"id": 45}'
    monkeypatch.setattr("cepctl.io.source.json_text.FIRST_READ", 1)
    stream = io.BytesIO(text.encode())
    chunks = Chunks(cast(IO[bytes], _Slow(stream, size)))
    report = ReadReport()
    assert shown(list(read_documents(chunks, STREAMED, "log", report))) == shown(read(text))
    assert (report.rejects, report.warnings) == ([], [])


class _Slow:
    """A stream that gives a few bytes at a time."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream, self._size = stream, size

    def read(self, _: int) -> bytes:
        return self._stream.read(self._size)


def test_a_value_without_end_is_given_up_at_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.io.source.json_text.LONGEST_VALUE", 1 << 18)
    report = ReadReport()
    parts = read('{"id": 1, "of": "' + "x" * (1 << 20) + '\n{"id": 2}', report)
    assert shown(parts) == [(1, {"id": 1}), (2, {"id": 2})]
    assert [reject.text for reject in report.rejects] == ["a value of more than 128 MB"]


@pytest.mark.parametrize("number", ["9" * 5_000, "-" + "1" * 10_000])
def test_a_number_of_thousands_of_digits_is_damage(number: str) -> None:
    report = ReadReport()
    read(f'{{"id": 1, "of": {number}}}', report)
    assert len(report.rejects) == 1


def test_bytes_that_are_no_utf8_are_replaced_with_a_warning() -> None:
    report = ReadReport()
    assert shown(read(b'\xef\xbb\xbf{"id": "\xff"}', report)) == [(1, {"id": "\ufffd"})]
    assert report.warnings == ["bytes that are not UTF-8 were replaced"]
    assert report.rejects == []


def test_a_document_larger_than_what_is_read_at_once_is_whole() -> None:
    tasks = [{"n": number, "text": "\n{" * 50} for number in range(5_000)]
    text = json.dumps({"tasks": tasks}, indent=1)
    assert len(text) > 5 * (1 << 16)
    *elements, document = read(text)
    assert shown(elements) == tasks
    assert shown([document]) == [(1, {})]


def test_the_first_members_are_told_from_a_beginning_alone() -> None:
    text = json.dumps({"id": 1, "of": {"inner": 2}, "tasks": [{"n": 1}]}) + '{"other": 1}'
    assert first_members(text.encode(), STREAMED) == {"id", "of", "tasks"}
    assert first_members(text[:40].encode(), STREAMED) >= {"id", "of"}
    assert first_members(b"id,of,tasks\n", STREAMED) == set()

"""Lines of JSON that are alike become columns at once: the fields of each as if it were read alone."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.io.source.line_blocks import Lines
from cepctl.io.tabular import alike_fields
from cepctl.io.tabular.alike_fields import AlikeFields
from cepctl.io.tabular.flat_records import flat_record

PLAIN = st.sampled_from(["", "é", "null", 7, 2**63 - 1, 2**63, -0.5, 1e300, True, None])
RECORDS = st.recursive(
    PLAIN,
    lambda inside: st.dictionaries(st.sampled_from(["a", "b", "c.d"]), inside, max_size=3),
    max_leaves=6,
).map(lambda value: {"x": value})
USUAL: dict[str, Any] = {"x": {"a": 1, "b": {"a": "one", "b": 0.5}}, "y": "text", "z": True}
FEWER: list[dict[str, Any]] = [
    USUAL,
    {**USUAL, "x": {"a": 2, "b": {"a": None, "b": 1.5}}},
    {**USUAL, "x": {"a": 2, "b": {}}},
    {"x": {"b": {"a": "two"}}, "y": None},
    {"y": "no object"},
]
OBJECT_IS_NULL = {**USUAL, "x": None}


def lines_of(texts: list[str]) -> Lines:
    block = "".join(f"{text}\n" for text in texts).encode()
    ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n"))
    return Lines(block, 1, np.append(0, ends[:-1] + 1), ends)


def fields_of_each(texts: list[str]) -> list[dict[str, Any]]:
    flat = [flat_record(json.loads(text)) for text in texts]
    return [{name: value for name, value in each.items() if value is not None} for each in flat]


def fields_of_all(texts: list[str]) -> list[dict[str, Any]] | None:
    found = AlikeFields(1_000_000, nested=True).of(lines_of(texts))
    if found is None:
        return None
    rows = [{name: values[place].as_py() for name, values in found.items()} for place in range(len(texts))]
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


@given(st.lists(RECORDS | st.sampled_from([*FEWER, OBJECT_IS_NULL]), min_size=1, max_size=12))
def test_any_records_have_the_fields_of_each_or_are_left_to_be_read_one_by_one(
    records: list[dict[str, Any]],
) -> None:
    texts = [json.dumps(record) for record in records]
    found = fields_of_all(texts)
    assert found is None or found == fields_of_each(texts)


@given(st.lists(st.sampled_from(FEWER[:3]), max_size=300))
def test_records_that_are_alike_are_read_at_once(records: list[dict[str, Any]]) -> None:
    texts = [json.dumps(record) for record in [USUAL, *records]]
    assert fields_of_all(texts) == fields_of_each(texts)


def test_an_object_may_lack_but_not_be_null() -> None:
    texts = [json.dumps(record) for record in [USUAL, {"y": "no object"}]]
    assert fields_of_all(texts) == fields_of_each(texts)
    assert fields_of_all([json.dumps(USUAL), json.dumps(OBJECT_IS_NULL), json.dumps({"y": "a"})]) is None
    other_null = [json.dumps(record) for record in [USUAL, {"y": None}]]
    assert fields_of_all(other_null) == fields_of_each(other_null)


@pytest.mark.parametrize("null", ['"x": null', '"x" :\t null', '"\\u0078": null', '"z": true, "x":null'])
def test_however_null_is_written_for_an_object(null: str) -> None:
    usual = json.dumps(USUAL)
    assert fields_of_all([usual, f"{{{null}}}", usual]) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"x": {"a": 1, "a": 2}}',
        '{"x": {"a": [1]}}',
        '{"x": {"a": "1"}}',
        '{"x": {"a": "\\ud800"}}',
        '{"x": {"a": 1}} {"x": {"a": 1}}',
        '{"x": {"a": 9223372036854775808}}',
        '{"x": {"a": 1, "new": 2}}',
        '{"x": 1}',
        '{"x.a": 1}',
        '{"x": {"a": 1}',
        "",
    ],
)
def test_one_line_that_is_otherwise_leaves_all_to_be_read_one_by_one(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alike_fields, "_LOOKED_AT", 2)
    usual = ['{"x": {"a": 1}}'] * 300
    assert fields_of_all(usual) == [{"x.a": 1}] * 300
    assert fields_of_all([*usual, text, *usual]) is None


def test_more_values_than_may_be_held_at_once_are_read_one_by_one() -> None:
    lines = lines_of([json.dumps(USUAL)] * 10)
    assert AlikeFields(50, nested=True).of(lines) is not None
    assert AlikeFields(49, nested=True).of(lines) is None


def test_fields_that_were_read_one_by_one_are_known_then() -> None:
    usual, other = json.dumps(USUAL), json.dumps({"x": {"a": 2.5, "c": {"d": True}}})
    fields = AlikeFields(1_000_000, nested=True)
    assert fields.of(lines_of([usual] * 300)) is not None
    assert fields.of(lines_of([usual, other])) is None
    fields.learn([json.loads(usual), json.loads(other)])
    found = fields.of(lines_of([usual, other]))
    assert found is not None
    assert found["x.a"].to_pylist() == [1, 2.5]
    assert found["x.c.d"].to_pylist() == [None, True]
    assert fields.of(lines_of([usual, usual])) is None  # floats that may be integers
    assert fields.of(lines_of([usual, json.dumps({"x": {"a": 2.0}})])) is not None
    fields.learn([{"x": "no object"}])
    assert fields.of(lines_of([usual, other])) is None


def test_objects_in_objects_are_left_to_be_read_one_by_one_where_they_are_text() -> None:
    plain, nested = '{"a": 1, "b": "x"}', '{"a": 1, "b": {"c": 2}}'
    assert AlikeFields(1_000_000).of(lines_of([plain] * 9)) is not None
    assert AlikeFields(1_000_000).of(lines_of([plain, nested])) is None
    assert AlikeFields(1_000_000).of(lines_of([nested] * 9)) is None
    assert AlikeFields(1_000_000).of(lines_of(['{"a": 1, "b": {}}'] * 9)) is None


def test_names_with_dots_are_read_at_once_where_no_object_could_have_them() -> None:
    dotted = '{"http.method": "GET", "http.status": 200}'
    found = AlikeFields(1_000_000).of(lines_of([dotted] * 9))
    assert found is not None
    assert found["http.status"].to_pylist() == [200] * 9
    assert AlikeFields(1_000_000, nested=True).of(lines_of([dotted] * 9)) is None


@pytest.mark.parametrize(("depth", "is_read"), [(20, True), (21, False)])
def test_objects_are_read_as_deep_as_flat_records_go(depth: int, is_read: bool) -> None:
    text = '{"a": ' * depth + '{"b": 1}' + "}" * depth
    found = fields_of_all([text] * 3)
    assert (found == fields_of_each([text] * 3)) is is_read
    assert (found is not None) is is_read

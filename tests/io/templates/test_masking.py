"""Messages without their words that have digits: a few by Python, many by Polars, both alike."""

from __future__ import annotations

import sys

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.io.templates.masking import keys_of

MESSAGES = st.lists(st.none() | st.text(alphabet="ab1 9_-.é٣\x7f\x80\n\U0001f600"), max_size=5)


@given(MESSAGES)
@settings(deadline=None)
def test_few_messages_have_the_keys_of_many(messages: list[str | None]) -> None:
    few = keys_of(pa.array(messages, pa.string())).to_pylist()
    many = keys_of(pa.array([*messages, *["x"] * 100], pa.string())).to_pylist()
    assert few == many[: len(messages)]


def test_few_messages_are_masked_without_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would make its expression anew for each file, which takes longer than to read a small one."""
    monkeypatch.setitem(sys.modules, "polars", None)
    assert keys_of(pa.array(["blk_38 on eth0", None])).to_pylist() == ["blk_0 on 0", ""]


def test_a_long_word_without_digits_is_read_once() -> None:
    assert keys_of(pa.array(["a" * 1_000_000])).to_pylist() == ["a" * 1_000_000]

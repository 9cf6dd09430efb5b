"""LIKE and regexp_like: what they take, what they refuse, and that the rewritten form means it."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import QuerySemanticError
from cepctl.language.text_patterns import like_to_regular_expression, portable_regular_expression


@pytest.mark.parametrize(
    ("pattern", "portable"),
    [
        ("abc", "abc"),
        ("a.b", r"a[^\n]b"),
        (r"^\d+$", r"\A[0-9]+\z"),
        (r"[\w-]", r"[0-9A-Za-z_\-]"),
        (r"[^\s]", r"[^\t\n\x0b\f\r ]"),
        (r"\S", r"[^\t\n\x0b\f\r ]"),
        ("(a|b)*?c{2,}", "(?:a|b)*c{2,}"),
        (r"\.\/\[", r"\./\["),
        ("[a-f&&c]", r"[a-f\&\&c]"),
        ("", ""),
    ],
)
def test_what_two_engines_read_differently_is_spelt_out(pattern: str, portable: str) -> None:
    assert portable_regular_expression(pattern) == portable


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ("(?i)a", "look-around, named groups or flags"),
        ("(?=a)", "look-around"),
        ("(?P<n>a)", "named groups"),
        (r"(a)\1", r"'\1'"),
        (r"\bword", r"'\b'"),
        (r"\pL", r"'\p'"),
        ("a++", "a repetition of a repetition"),
        ("*a", "nothing before it"),
        ("^*", "after ^ or $"),
        ("a{", "not a count"),
        ("a{2000}", "counts above 1000"),
        ("a{3,2}", "out of order"),
        ("[a", "without its ']'"),
        ("[]", "empty brackets"),
        ("[z-a]", "out of order"),
        ("[[:alpha:]]", "a '[' inside [ ]"),
        (r"[\D]", r"'\D' inside [ ]"),
        ("(a", "without its ')'"),
        ("a)", "without its '('"),
        ("a\\", "'\\'"),
        ("(" * 60 + ")" * 60, "nested so deep"),
        ("a" * 1_001, "longer than 1000"),
        ("((x{1000}){1000}){1000}", "1,000,000,000 steps, and 200,000 can be compiled"),
        ("(a{1000}){0,1000}", "the repetitions of this regular expression multiply"),
        (r"(\S{100}){90}", "the repetitions of this regular expression multiply"),
    ],
)
def test_what_not_every_engine_takes_is_refused(pattern: str, complaint: str) -> None:
    with pytest.raises(QuerySemanticError) as problem:
        portable_regular_expression(pattern)
    assert complaint in str(problem.value)


@given(st.text("ab.*+?()|[]{}^$\\dws-&1,:", max_size=12))
def test_what_is_taken_is_taken_by_the_engine_too(pattern: str) -> None:
    try:
        portable = portable_regular_expression(pattern)
    except QuerySemanticError:
        return
    assert pl.Series(["ab"]).str.contains(portable).to_list()[0] in (True, False)


_ATOMS = (
    "x",
    "é",
    "€",
    ".",
    r"\S",
    r"\w",
    "[^a]",
    "[a-f]",
    "[Ā-\uffff]",
    "[à-ÿ]",
    "[^é-ü]",
    "(a|bc|)",
    "(?:.|é)",
)


@given(st.lists(st.sampled_from(_ATOMS), min_size=1, max_size=3), st.lists(st.integers(1, 1000), max_size=3))
def test_what_is_not_refused_as_too_large_can_be_compiled(atoms: list[str], counts: list[int]) -> None:
    pattern = "".join(atoms)
    for count in counts:
        pattern = f"({pattern}){{{count}}}"
    try:
        portable = portable_regular_expression(pattern)
    except QuerySemanticError as problem:
        assert "multiply" in str(problem)
        return
    assert pl.Series(["ab"]).str.contains(portable).to_list()[0] in (True, False)


def test_a_like_pattern_that_is_too_long_to_be_compiled_is_refused() -> None:
    longest = like_to_regular_expression("_" * 5_000)
    assert pl.Series(["x" * 5_000]).str.contains(longest).to_list() == [True]
    with pytest.raises(QuerySemanticError, match=r"it has 200,040 steps .* and 200,000 can be compiled"):
        like_to_regular_expression("_" * 5_001)


@given(st.text(max_size=8))
def test_like_with_every_sign_escaped_matches_just_that_text(text: str) -> None:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    pattern = like_to_regular_expression(escaped)
    assert pl.Series([text, text + "x", "x" + text]).str.contains(pattern).to_list() == [True, False, False]


@pytest.mark.parametrize("pattern", ["50\\", "a\\b"])
def test_an_escape_before_an_ordinary_sign_is_an_error(pattern: str) -> None:
    with pytest.raises(QuerySemanticError, match="stands before %, _ or"):
        like_to_regular_expression(pattern)

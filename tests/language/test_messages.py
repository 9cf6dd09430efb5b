"""Messages: place, caret, nearest names."""

from __future__ import annotations

from cepctl.language.ast import Span
from cepctl.language.messages import MAX_PROBLEMS, Problem, nearest_names, render


def test_nearest_names_overlook_case_and_underscores() -> None:
    assert nearest_names("taskID", ["node", "task_id", "job_id"], 1) == ["task_id"]
    assert nearest_names("zzz", ["node", "task_id"]) == []


def test_names_without_end_are_not_compared() -> None:
    assert nearest_names("a" * 10_000, ["a" * 9_999]) == []


def test_the_caret_stands_under_the_place_in_its_line() -> None:
    text = "one\n\ttwo three\nfour"
    assert render(text, [Problem(Span(9, 14), "odd")]) == "line 2, column 6: odd\n   two three\n       ^^^^^"


def test_problems_come_in_the_order_of_the_text_and_once() -> None:
    problems = [Problem(Span(2, 3), "b"), Problem(Span(0, 1), "a"), Problem(Span(2, 3), "b")]
    assert [line for line in render("x y", problems).splitlines() if "line" in line] == [
        "line 1, column 1: a",
        "line 1, column 3: b",
    ]


def test_very_many_problems_are_counted_not_listed() -> None:
    problems = [Problem(Span(i, i + 1), "odd") for i in range(MAX_PROBLEMS + 5)]
    assert render("x" * 50, problems).endswith("... and 5 more")


def test_a_place_at_the_end_has_a_caret_too() -> None:
    assert render("ab", [Problem(Span(2, 2), "more")]).splitlines()[-1] == "    ^"

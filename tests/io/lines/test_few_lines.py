"""Few lines are looked at by Python, many by RE2: both find the same in logs of every layout, if damaged."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cepctl.io.lines import few_lines
from cepctl.io.lines.few_lines import bytes_of, groups_of, matched_bytes
from cepctl.io.lines.headings import HEADINGS
from cepctl.io.lines.recognition import layout_of
from tests.foreign_lines import FORMS

_STRAY = "\v \t:-.,[]()|\n9aZ\x1c\r$"


@pytest.mark.parametrize("form", FORMS)
def test_both_engines_find_the_same(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line as it was, cut, and with a stray character, some with ends of lines."""
    random, whole = Random(form), [FORMS[form].line(number) for number in range(40)]
    layout = layout_of(whole)
    if layout is None:
        return
    damaged = [_damaged(random, line) for line in whole]
    for texts in (whole, damaged, [f"{line}\n" for line in damaged]):
        lines = pa.array(texts)
        for beginning in (layout.with_heading, layout.with_time):
            few = matched_bytes(lines, beginning.whole), groups_of(lines, beginning.parted)
            with monkeypatch.context() as patched:
                patched.setattr(few_lines, "_FEW", 0)
                many = matched_bytes(lines, beginning.whole), groups_of(lines, beginning.parted)
            assert few[0].tolist() == many[0].tolist()
            assert {name: found.to_pylist() for name, found in few[1].items()} == {
                name: found.to_pylist() for name, found in many[1].items()
            }


def test_both_engines_find_the_same_groups_of_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(0)
    texts = [" INFO  [main:Server@12] - ", "  1702  2395 D Window: ", ":17): ", "] INFO ", " UTC [77] LOG:  "]
    lines = pa.array([*texts, *(_damaged(random, text) for text in texts * 9)])
    for heading in HEADINGS:
        few = groups_of(lines, heading.behind, whole=True)
        with monkeypatch.context() as patched:
            patched.setattr(few_lines, "_FEW", 0)
            many = groups_of(lines, heading.behind, whole=True)
        assert {name: found.to_pylist() for name, found in few.items()} == {
            name: found.to_pylist() for name, found in many.items()
        }


def test_texts_of_a_slice_and_of_other_alphabets() -> None:
    lines = pa.array(["aa 1", "12 ü", "7"])
    assert matched_bytes(lines[1:], "^[0-9]+").tolist() == [2, 1]
    assert bytes_of(lines).tolist() == [4, 5, 1]
    assert groups_of(lines[:0], "(?P<n>[0-9]+)")["n"].to_pylist() == []


def test_an_expression_is_made_ready_once_for_many_small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    made = few_lines._kept.cache_info().misses

    def never(*_: object) -> None:
        raise AssertionError("RE2 makes an expression ready for each call")

    monkeypatch.setattr(pc, "extract_regex", never)
    monkeypatch.setattr(pc, "replace_substring_regex", never)
    for number in range(50):
        matched_bytes(pa.array([f"{number} a"]), "^[0-9]+ (?:a)")
        groups_of(pa.array([f"{number} b"]), "(?P<number>[0-9]+) b")
    assert few_lines._kept.cache_info().misses <= made + 2


def _damaged(random: Random, line: str) -> str:
    place = random.randrange(len(line))
    return random.choice([line[:place], line[:place] + random.choice(_STRAY) + line[place:], line[place:]])

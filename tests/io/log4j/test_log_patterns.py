"""Patterns are read whole, or refused with file, line, key and the nearest known name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cepctl.errors import LogPatternError
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.log4j.patterns import built_in_patterns, load_patterns, parse_patterns
from tests.log4j_logs import read as read_log

GOOD = """
# Ours.
[[pattern]]
event_type = "DiskFull"
logger = "*DataNode*"
level = "ERROR"
regex = 'No space left on (?P<volume>\\S+)'

[[pattern]]
event_type = "Begun"
logger = ["*.A", "*.B"]
regex = "^begin"
"""


def test_patterns_keep_their_order_and_know_their_attributes() -> None:
    assert parse_patterns(GOOD.encode(), "mine.toml") == (
        LogPattern("DiskFull", r"No space left on (?P<volume>\S+)", ("*DataNode*",), "ERROR", ("volume",)),
        LogPattern("Begun", "^begin", ("*.A", "*.B"), None, ()),
    )


def test_globs_of_loggers_regard_case_and_none_means_every_logger() -> None:
    one, every = LogPattern("A", "x", ("*.B", "c.*")), LogPattern("A", "x")
    assert [one.fits(name) for name in ("a.B", "a.b", "c.D", "a.Bc")] == [True, False, True, False]
    assert every.fits("")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = \n", r"p\.toml is not valid TOML: .*line 1"),
        ("[[patterns]]\nregex = 'a'", r"p\.toml: unknown key 'patterns', did you mean 'pattern'\?"),
        ("pattern = 3", r"p\.toml: 'pattern' must be a list of tables"),
        ("", r"p\.toml holds no pattern"),
        ("[[pattern]]\nregex = 'a'", r"p\.toml:1: pattern 1: 'event_type' is missing"),
        ("[[pattern]]\nevent_type = 'A'", r"p\.toml:1: pattern 1: 'regex' is missing"),
        (
            "[[pattern]]\nevent_type = 'A'\nregex = 'a'\n\n[[pattern]]\nevent_type = 'B'\nregexp = 'b'",
            r"p\.toml:7: pattern 2: unknown key 'regexp', did you mean 'regex'\?; a pattern has event_type",
        ),
        ("[[pattern]]\nevent_type = 3\nregex = 'a'", r"p\.toml:2: pattern 1: 'event_type' must be a text"),
        ("[[pattern]]\nevent_type = 'A'\nregex = ''", r"p\.toml:3: pattern 1: 'regex' must be a text that"),
        (
            "[[pattern]]\nevent_type = 'A'\nregex = 'a'\nlogger = ['a', 3]",
            r"p\.toml:4: pattern 1: 'logger' must be a text",
        ),
        (
            "[[pattern]]\nevent_type = 'A'\nregex = 'a'\nlevel = 'warm'",
            r"p\.toml:4: pattern 1: unknown level 'warm', did you mean 'WARN'\?; log4j has TRACE, DEBUG",
        ),
        (
            "[[pattern]]\nevent_type = 'A'\nregex = '(a'",
            r"p\.toml:3: pattern 1: 'regex' is not usable \(RE2 syntax\): missing \)",
        ),
        (
            "[[pattern]]\nevent_type = 'A'\nregex = '(a)'",
            r"p\.toml:3: .*a group has no name: write \(\?P<name>",
        ),
        ("[[pattern]]\nevent_type = 'A'\nregex = 'a(?=b)'", r"p\.toml:3: .*invalid perl operator"),
        (
            "[[pattern]]\nevent_type = 'A'\nregex = '(?P<x>a)(?P<x>b)'",
            r"p\.toml:3: pattern 1: 'regex' has two groups called 'x'",
        ),
        (
            "[[pattern]]\nevent_type = 'A'\nregex = '(?P<x>\\C)'",
            r"p\.toml:3: pattern 1: 'regex' must not ask for single bytes \(\\C\)",
        ),
        ("pattern = [{event_type = 'A'}]", r"p\.toml: pattern 1: 'regex' is missing"),
    ],
)
def test_a_wrong_pattern_is_refused_where_it_stands(text: str, message: str) -> None:
    with pytest.raises(LogPatternError, match=message):
        parse_patterns(text.encode(), "p.toml")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(LogPatternError, match=r"cannot read the log patterns .*none\.toml: No such file"):
        load_patterns(str(tmp_path / "none.toml"))
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(LogPatternError, match=r"bad\.toml is not valid TOML"):
        load_patterns(str(tmp_path / "bad.toml"))


# --- the built-in patterns ----------------------------------------------------------------

MESSAGES = Path(__file__).with_name("fixtures") / "hadoop_messages.txt"


def known_messages() -> list[tuple[str, list[str]]]:
    """Logger and message of every block, with the type and the attributes (name=value) it becomes."""
    blocks = re.split(r"\n{2,}", MESSAGES.read_text(encoding="utf-8").strip())[1:]
    return [(text, event.split()) for text, event in (block.split("\n  = ") for block in blocks)]


@pytest.mark.parametrize(("text", "event"), known_messages(), ids=lambda part: str(part)[:50])
def test_the_usual_messages_of_hadoop_are_known(text: str, event: list[str]) -> None:
    (row,) = read_log(f"2015-10-18 18:01:47,978 INFO {text}\n")
    event_type, *attributes = event
    wanted = dict(attribute.split("=", 1) for attribute in attributes)
    assert row["event_type"] == event_type
    assert {name: row[name] for name in wanted} == wanted


def test_built_in_types_are_words_of_one_style() -> None:
    types = {pattern.event_type for pattern in built_in_patterns()}
    assert len(types) > 80
    assert [name for name in types if not re.fullmatch(r"([A-Z][a-z]+)+", name)] == []


def test_the_page_of_patterns_names_every_built_in_type_and_no_other() -> None:
    page = (Path(__file__).parents[3] / "docs" / "log-patterns.md").read_text(encoding="utf-8")
    table = page.partition("## Built-in event types")[2].partition("Transitions have")[0]
    named = re.findall(r"`(\w+)`", table)
    assert sorted(named) == sorted({pattern.event_type for pattern in built_in_patterns()})

"""What is told to an assistant: in the words of its tools, which take few of the options there are."""

from __future__ import annotations

import re

from cepctl.library.options import keywords

_LINK = re.compile(r"(?:--follow-links|\bfollow_links) reads it")
_NOT_FOLLOWED = "no tool follows it"
_TAKEN = {
    "uncertainty": "uncertainty",
    "name": "names",
    "min-confidence": "min_confidence",
    "show": "the tool show",
    "why-not": "the tool why_not",
}
"""Options that the tools take, or are, by their names at the command line."""
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]+)|\b([a-z]+(?:_[a-z]+)+)\b(?!['\"])|\b([a-z]+)=")


def in_words_of_tools(text: str) -> str:
    """A message with what the tools take by their names; other options are said to be none of theirs.

    Examples
    --------
    >>> in_words_of_tools("b.log: a link out of logs, to secret; --follow-links reads it")
    'b.log: a link out of logs, to secret; no tool follows it'
    >>> in_words_of_tools("no event happens at a time; --uncertainty says how far off they are")
    'no event happens at a time; uncertainty says how far off they are'
    >>> in_words_of_tools("name their zone with --tz")
    'name their zone with --tz (for a person at the command line: the tools do not take --tz)'
    """
    text = _LINK.sub(_NOT_FOLLOWED, text)
    lacking: dict[str, None] = {}

    def named(found: re.Match[str]) -> str:
        written, option = found[0], next(filter(None, found.groups())).replace("_", "-")
        if option in _TAKEN:
            return _TAKEN[option] + ("=" if written.endswith("=") else "")
        if found[1] is not None or option.replace("-", "_") in keywords():
            lacking[written.rstrip("=")] = None
        return written

    worded = _OPTION.sub(named, text)
    if not lacking:
        return worded
    return f"{worded} (for a person at the command line: the tools do not take {', '.join(lacking)})"

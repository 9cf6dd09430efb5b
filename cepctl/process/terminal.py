"""What a terminal gets: control characters that come out of logs are shown there, not obeyed.

A log can hold what moves the cursor, clears the screen or sets the title of the window.  Both standard
streams are guarded where they are terminals; what we ourselves tell a terminal to do goes to the stream
below the guard.  Pipes and files get every byte as it is.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterable
from typing import IO, Any, cast

# C0 without tab and newline, DEL, C1, what changes the direction of writing, halves of characters.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)

_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def visible(text: str) -> str:
    r"""The text with its control characters written out, so that a terminal shows them.

    Examples
    --------
    >>> visible("a\x1b[2Jb\u202e\tc\n")
    'a\\x1b[2Jb\\u202e\tc\n'
    """
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def on_one_line(text: str) -> str:
    r"""The text with its line ends written out, so that it begins no line of what is printed.

    Examples
    --------
    >>> on_one_line("a\nerror: no space")
    'a\\nerror: no space'
    """
    return _LINE_ENDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Guard:
    """A text stream whose control characters are shown; all else is that of the stream below it."""

    def __init__(self, below: IO[str]) -> None:
        self.below = below
        self.buffer = GuardedBytes(self)

    def write(self, text: str) -> int:
        """Write the text; the number of its characters, as it was given."""
        if not isinstance(text, str):
            raise TypeError("a text stream takes text")
        self.below.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.below, name)


class GuardedBytes:
    """The bytes of a guarded stream: text in UTF-8, what is none is shown as numbers."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def write(self, data: bytes) -> int:
        """Write bytes; their number."""
        self._guard.write(self._decoder.decode(bytes(data)))
        return len(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._guard.below, name)


def unguarded(stream: IO[str]) -> IO[str]:
    """The stream below the guard, for what we tell a terminal ourselves."""
    return stream.below if isinstance(stream, Guard) else stream


def guard_terminals() -> None:
    """Guard standard output and standard error where they are terminals."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream.isatty() and not isinstance(stream, Guard):
            setattr(sys, name, cast(IO[str], Guard(stream)))

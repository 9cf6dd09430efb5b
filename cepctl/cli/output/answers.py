"""What `--json` prints: one object whose form is the same for every command; docs/answer.schema.json has it.

schema     the name of the form, cepctl-answer/1
version    of cepctl
command    what was called, such as `match` or `state show`
answer     an object, whose keys are those of the command
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cepctl import __version__

SCHEMA = "cepctl-answer/1"


def print_answer(command: str, answer: Mapping[str, Any]) -> None:
    """Print the answer of a command on standard output."""
    head = {"schema": SCHEMA, "version": __version__, "command": command}
    sys.stdout.write(json.dumps({**head, "answer": answer}, ensure_ascii=False, indent=2) + "\n")


def answer_around(
    command: str, rows: Iterable[bytes | memoryview], beside: Mapping[str, Any]
) -> Iterator[bytes]:
    """The pieces of an answer whose `rows` are a JSON array that is written as it comes.

    `beside` are the other keys of the answer; in it comes what is known before the rows are.
    """
    head = {"schema": SCHEMA, "version": __version__, "command": command, "answer": beside}
    text = json.dumps(head, ensure_ascii=False)
    yield f'{text.removesuffix("}}")}{"," if beside else ""}\n"rows": '.encode()
    last = b""
    for piece in rows:
        yield last
        last = bytes(piece)
    yield last.rstrip(b"\n") + b"}}\n"

"""What `--json` prints: one object whose form is the same for every command; docs/answer.schema.json has it.

schema     the name of the form, cepctl-answer/1
version    of cepctl
command    what was called, such as `match` or `state show`
notices    what was told beside the answer until it was written, also if --quiet: kind, message, and figures
answer     an object, whose keys are those of the command
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from cepctl import __version__
from cepctl.notices import gathered

SCHEMA = "cepctl-answer/1"
_PIECES = 100_000


def print_answer(command: str, answer: Mapping[str, Any]) -> None:
    """Print the answer of a command on standard output."""
    print_json({**_head(command), "answer": answer})


def print_json(value: Mapping[str, Any]) -> None:
    """Print an object on standard output, piece by piece: of a million types the text takes gigabytes."""
    pieces = json.JSONEncoder(ensure_ascii=False, indent=2, default=str).iterencode(value)
    while text := "".join(islice(pieces, _PIECES)):
        sys.stdout.write(text)
    sys.stdout.write("\n")


def answer_around(
    command: str, rows: Iterable[bytes | memoryview], beside: Mapping[str, Any]
) -> Iterator[bytes]:
    """The pieces of an answer whose `rows` are a JSON array that is written as it comes.

    `beside` are the other keys of the answer; in it comes what is known before the rows are.
    """
    head = {**_head(command), "answer": beside}
    text = json.dumps(head, ensure_ascii=False, default=str)
    yield f'{text.removesuffix("}}")}{"," if beside else ""}\n"rows": '.encode()
    last = b""
    for piece in rows:
        yield last
        last = bytes(piece)
    yield last.rstrip(b"\n") + b"}}\n"


def _head(command: str) -> dict[str, Any]:
    notices = [
        {"kind": each.kind, "message": each.message, **each.figures}
        for each in gathered()
        if each.kind in {"note", "warning"}
    ]
    return {"schema": SCHEMA, "version": __version__, "command": command, "notices": notices}

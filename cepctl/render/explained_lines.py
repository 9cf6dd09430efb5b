"""How the first records of a file are understood, as text; fields in colour where a terminal shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepctl.ingestion.explaining import ExplainedFile

_LONGEST = 100
Paint = Callable[[str, str], str]
"""A text in the colour of this name."""


def explanation(files: Sequence[ExplainedFile], paint: Paint) -> str:
    """The explanation of files, one behind the other."""
    return "\n\n".join("\n".join(_of_file(file, paint)) for file in files)


def _of_file(file: ExplainedFile, paint: Paint) -> Iterator[str]:
    yield f"{file.name}: {paint(file.format, 'cyan')} ({file.description})"
    for name, form in file.found:
        yield f"  {name}: {form}"
    for record in file.records:
        yield f"  record {record.number:,}"
        yield f"    time  {paint(record.time, 'green')}"
        yield f"    type  {paint(_short(record.event_type), 'yellow')}"
        for name, value in record.attributes:
            yield f"    {paint(name, 'blue')} = {_short(value)}"
    for note in file.notes:
        yield f"  note: {note}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."

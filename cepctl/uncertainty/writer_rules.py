"""Who wrote events: what those of one writer share, and along what it wrote them.

writer = "source"
writer = { by = ["source", "node"], along = "seq" }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cepctl.errors import UncertaintyModelError
from cepctl.schema import RECORD, SOURCE

FORM = 'write writer = "source", or writer = { by = ["source", "node"], along = "seq" }'
OF_LINES = ("node", "container", "pod", "unit")
"""What tells apart the hosts whose lines a collector has merged."""


@dataclass(frozen=True)
class WriterRule:
    """Events that agree in `by` are of one writer, in the order of `along`.

    An event without a value in one of these is of none.  `of_ends`: those that last are written as they end.
    """

    by: tuple[str, ...]
    along: str = RECORD
    of_ends: bool = False

    @property
    def columns_read(self) -> frozenset[str]:
        """The columns that it reads."""
        return frozenset((*self.by, self.along))

    def __str__(self) -> str:
        along = "" if self.along == RECORD else f", along {self.along}"
        return f"{', '.join(self.by)}{along}{', of ends' if self.of_ends else ''}"


def read_writer(value: object) -> WriterRule:
    """Read the key of a rule; raises UncertaintyModelError saying what to write.

    Examples
    --------
    >>> read_writer("source")
    WriterRule(by=('source',), along='record', of_ends=False)
    >>> read_writer({"by": ["node", "unit"], "along": "seq"}).by
    ('node', 'unit')
    """
    if not isinstance(value, dict):
        return WriterRule(_by(value, RECORD))
    for key in value:
        if key not in ("by", "along", "of"):
            raise UncertaintyModelError(f"writer: unknown key '{key}'; known: by, along, of")
    said = value.get("of", "start")
    if said not in ("start", "end"):
        raise UncertaintyModelError(f'writer: of is "start" or "end", not {said!r}')
    along = _along(value)
    return WriterRule(_by(value.get("by", SOURCE), along), along, said == "end")


def _along(table: Mapping[str, object]) -> str:
    along = table.get("along", RECORD)
    if not isinstance(along, str) or not along:
        raise UncertaintyModelError(f"writer: along must be a column in quotes, not {along!r}")
    return along


def _by(value: object, along: str) -> tuple[str, ...]:
    """The columns; the number of a record means something in its source alone."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not names or not all(_is_name(each) for each in names):
        raise UncertaintyModelError(f"writer: {value!r} names no columns; {FORM}")
    return tuple(dict.fromkeys((SOURCE, *names) if along == RECORD else names))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)

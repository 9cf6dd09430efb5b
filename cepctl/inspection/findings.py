"""Findings by the million, kept as the columns in which they were found: each is made when it is asked for.

A log whose every line is a type of its own has as many findings as events, of which a terminal shows seven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, overload

import polars as pl

Finding_co = TypeVar("Finding_co", covariant=True)


class Findings(Sequence[Finding_co]):
    """Rows of a frame as the values that `made` makes of their columns."""

    def __init__(self, columns: pl.DataFrame, made: Callable[..., Finding_co]) -> None:
        self.columns = columns
        self._made = made

    def __len__(self) -> int:
        return self.columns.height

    def __iter__(self) -> Iterator[Finding_co]:
        return (self._made(*row) for row in self.columns.iter_rows())

    @overload
    def __getitem__(self, place: int) -> Finding_co: ...
    @overload
    def __getitem__(self, place: slice) -> Findings[Finding_co]: ...
    def __getitem__(self, place: int | slice) -> Finding_co | Findings[Finding_co]:
        if isinstance(place, slice):
            return Findings(self.columns[place], self._made)
        if not -len(self) <= place < len(self):
            raise IndexError(f"there are {len(self):,} findings")
        return self._made(*self.columns.row(place))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

"""What a calibration found: counts, scores, deciles, types, and the rows that are farthest off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.calibration.rows import OpenRows, RowsOfSeed, ShownEvent, open_rows
from cepctl.calibration.scores import Scores, scores
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.schema import TimeUnit

MOST_TYPES_SHOWN = 50
MOST_ROWS_SHOWN = 20


@dataclass(frozen=True)
class TypeScore:
    """The open rows of one type, which are of events with these `steps`: how many, stated, happened."""

    steps: tuple[str, ...]
    rows: int
    stated: float
    happened: float


@dataclass(frozen=True)
class ShownRow:
    """An open row: of which seed, what was stated, whether it happened, and its events."""

    seed: int
    stated: float
    happened: bool
    events: tuple[ShownEvent, ...]


@dataclass(frozen=True)
class Calibration:
    """What was stated, and what happened.

    `rows` are `tied` ones, `certain` ones and `open` ones.  `impossible_happened`: certain rows that did not
    happen, and rows that happened and were not stated.  `unit`: of ticks.  `types`, where rows have some: the
    one comes first of which the most rows happened beyond or below what was stated.  `shown`: of the first
    types the rows that are farthest off.  Under a law of order, of each `law`: `lawless` scores the same
    open rows as they would be stated without it, and `beyond` counts rows that it is too much work for.
    """

    query: str | None
    blur: str
    seed: int
    repeat: int
    rows: int
    open: int
    tied: int
    certain: int
    impossible_happened: int
    unit: TimeUnit
    scores: Scores
    types: tuple[TypeScore, ...]
    shown: tuple[tuple[ShownRow, ...], ...]
    law: str | None = None
    lawless: Scores | None = None
    beyond: int = 0


def calibration(
    parts: Sequence[RowsOfSeed],
    query: str | None,
    blur: str,
    seed: int,
    unit: TimeUnit,
    law: str | None = None,
) -> Calibration:
    """Score the rows of the seeds `seed`, `seed` + 1, ..., one part for each; `law`: what they are under."""
    found = open_rows(parts)
    beyond = sum(part.beyond for part in parts)
    rows = sum(len(part.stated) + part.plain for part in parts) + beyond
    tied = sum(int(part.tied.sum()) for part in parts)
    order, types = _types(found)
    return Calibration(
        query=query,
        blur=blur,
        seed=seed,
        repeat=len(parts),
        rows=rows,
        open=len(found.stated),
        tied=tied,
        certain=rows - tied - beyond - len(found.stated),
        impossible_happened=sum(part.impossible for part in parts),
        unit=unit,
        scores=scores(found.stated, found.happened, found.cluster),
        types=tuple(each for each in types if each.steps),
        shown=tuple(_shown(parts, found, type_, seed) for type_ in order[:MOST_TYPES_SHOWN].tolist()),
        law=law,
        lawless=None if found.lawless is None else scores(found.lawless, found.happened, found.cluster),
        beyond=beyond,
    )


def _types(found: OpenRows) -> tuple[Indexes, list[TypeScore]]:
    """The types that have rows, by how many rows more or fewer happened than were stated."""
    count = np.bincount(found.type_, minlength=len(found.types))
    stated = np.bincount(found.type_, found.stated, len(found.types))
    happened = np.bincount(found.type_, found.happened, len(found.types))
    excess: Reals = np.round(np.abs(stated - happened), 9)
    order = np.lexsort((np.arange(len(count)), -excess))
    order = order[count[order] > 0]
    return order, [
        TypeScore(
            found.types[each], int(count[each]), float(stated[each] / count[each]),
            float(happened[each] / count[each]),
        )
        for each in order.tolist()
    ]  # fmt: skip


def _shown(parts: Sequence[RowsOfSeed], found: OpenRows, type_: int, seed: int) -> tuple[ShownRow, ...]:
    """The rows of a type that are farthest off, the first ones where several are."""
    rows = np.flatnonzero(found.type_ == type_)
    off = np.round(np.abs(found.stated[rows] - found.happened[rows]), 9)
    rows = rows[np.lexsort((rows, -off))[:MOST_ROWS_SHOWN]]
    return tuple(
        ShownRow(
            seed + int(found.seed[row]),
            float(found.stated[row]),
            bool(found.happened[row]),
            parts[int(found.seed[row])].events(found.row[[row]])[0],
        )
        for row in rows.tolist()
    )

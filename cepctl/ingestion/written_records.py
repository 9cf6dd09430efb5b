"""The events of a file as their writers wrote them: which share a stamp, and where a writer begins anew.

Events come in blocks, one after the other, so that a file of any length takes no more memory than a chunk.

A record that cannot lie after all those that its writer wrote before it, wherever these are, is a *step
back*: the writer begins anew with it, in another *era*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cepctl.numeric.arrays import Flags, Indexes, Ticks

TICKS_OF_A_RECORD = 1_000
"""Of a written unit one tick in so many is a record's, at most."""
_FEW = 64
_NEVER = np.iinfo(np.int64).min // 2


@dataclass(frozen=True)
class RecordBlock:
    """n events in any order: who wrote each (-1 for nobody), along what, and when; shape (n,)."""

    writer: Indexes
    along: Indexes
    lower: Ticks
    upper: Ticks

    def __len__(self) -> int:
        return len(self.writer)

    def finer(self, times: int, exact: Flags) -> RecordBlock:
        """In ticks so many times finer; those `exact` that share a stamp of one tick cover it then."""
        wide = (self.upper > self.lower) | exact
        upper = self.upper * times + np.where(wide, times - 1, 0)
        return RecordBlock(self.writer, self.along, self.lower * times, upper)


@dataclass(frozen=True)
class SharedStamps:
    """Records that share a stamp with others of their writer.

    `sharing`: how many do.  `crowded`: of the stamp that has the least room how many records have it, and how
    many ticks it is long.  `exact`: of each block, which of its events share a stamp of one tick.
    """

    sharing: int
    crowded: tuple[int, int]
    exact: tuple[Flags, ...]

    @property
    def needed(self) -> int:
        """Into how many ticks each one must be cut so that all records have room."""
        records, ticks = self.crowded
        return -(-TICKS_OF_A_RECORD * records // ticks) if records > 1 else 1


@dataclass(frozen=True)
class _Units:
    """Stamps of writers: each with how many events of block `block` have it; shape (u,)."""

    writer: Indexes
    lower: Ticks
    upper: Ticks
    size: Indexes
    block: Indexes

    @classmethod
    def joined(cls, several: Sequence[_Units]) -> _Units:
        names = ("writer", "lower", "upper", "size", "block")
        return cls(*(np.concatenate([getattr(each, name) for each in several]) for name in names))

    def taken(self, which: Indexes | Flags) -> _Units:
        lower, upper = self.lower[which], self.upper[which]
        return _Units(self.writer[which], lower, upper, self.size[which], self.block[which])


def shared_stamps(blocks: Iterable[RecordBlock], reach: Sequence[tuple[int, int]]) -> SharedStamps:
    """The stamps that records of one writer share; `reach` are the first and the last tick of each block.

    What a block cannot have in common with others is counted at once, and forgotten.
    """
    first = np.minimum.accumulate(np.array([each for each, _ in reach[::-1]]))[::-1]
    last = np.maximum.accumulate(np.array([each for _, each in reach]))
    sharing, crowded, exact = 0, (1, 1), []
    waiting: list[_Units] = []
    rows: list[tuple[RecordBlock, Indexes]] = []
    for number, block in enumerate(blocks):
        order = _by_stamp(block)
        units, of_unit = _units_of(block, order, number)
        before = last[number - 1] if number else _NEVER
        after = first[number + 1] if number + 1 < len(reach) else -_NEVER
        is_open = (units.lower <= before) | (units.upper >= after)
        closed = units.taken(~is_open)
        sharing += int(closed.size[closed.size > 1].sum())
        crowded = _more_crowded(crowded, closed)
        flags = np.zeros(len(block), dtype=bool)
        points = units.lower == units.upper
        flags[order] = (points & (units.size > 1))[of_unit]
        exact.append(flags)
        waiting.append(units.taken(is_open))
        rows.append((block, order[(points & is_open)[of_unit]]) if is_open.any() else (block, order[:0]))
    whole = _counted(waiting)
    sharing += int(whole.size[whole.size > 1].sum())
    _mark_exact(exact, rows, whole)
    return SharedStamps(sharing, _more_crowded(crowded, whole), tuple(exact))


def _by_stamp(block: RecordBlock) -> Indexes:
    """The events that somebody wrote by writer and stamp."""
    written = np.flatnonzero(block.writer >= 0)
    order = written[np.argsort(block.writer[written], kind="stable")]
    keys = [each[order] for each in (block.writer, block.lower, block.upper)]
    same_writer = keys[0][1:] == keys[0][:-1]
    falls = (keys[1][1:] < keys[1][:-1]) | ((keys[1][1:] == keys[1][:-1]) & (keys[2][1:] < keys[2][:-1]))
    return order[np.lexsort((keys[2], keys[1], keys[0]))] if (same_writer & falls).any() else order


def _units_of(block: RecordBlock, order: Indexes, number: int) -> tuple[_Units, Indexes]:
    """The stamps of a block, and the stamp of each event in `order`."""
    writer, lower, upper = (each[order] for each in (block.writer, block.lower, block.upper))
    begins = _beginnings(writer, lower, upper)
    sizes = np.diff(np.append(begins, len(order)))
    places = np.full(len(begins), number)
    units = _Units(writer[begins], lower[begins], upper[begins], sizes, places)
    return units, np.repeat(np.arange(len(begins)), sizes)


def _beginnings(*keys: Indexes) -> Indexes:
    """Where values differ from those before."""
    new = np.zeros(len(keys[0]), dtype=bool)
    new[:1] = True
    for each in keys:
        new[1:] |= each[1:] != each[:-1]
    return np.flatnonzero(new)


def _counted(waiting: Sequence[_Units]) -> _Units:
    """Stamps of several blocks, each with how many events of all blocks have it."""
    none = np.zeros(0, dtype=np.int64)
    units = _Units.joined([_Units(none, none, none, none, none), *waiting])
    units = units.taken(np.lexsort((units.upper, units.lower, units.writer)))
    begins = _beginnings(units.writer, units.lower, units.upper)
    size = np.add.reduceat(units.size, begins) if len(begins) else none
    found = units.taken(begins)
    return _Units(found.writer, found.lower, found.upper, size, found.block)


def _more_crowded(crowded: tuple[int, int], units: _Units) -> tuple[int, int]:
    several = units.taken(units.size > 1)
    if not len(several.size):
        return crowded
    ticks = several.upper - several.lower + 1
    worst = int(np.argmax(several.size / ticks))
    found = int(several.size[worst]), int(ticks[worst])
    return found if crowded[0] == 1 or found[0] * crowded[1] > crowded[0] * found[1] else crowded


def _mark_exact(exact: Sequence[Flags], rows: Sequence[tuple[RecordBlock, Indexes]], whole: _Units) -> None:
    """Mark the events that share a stamp of one tick with those of other blocks."""
    shared = whole.taken((whole.lower == whole.upper) & (whole.size > 1))
    if not len(shared.size):
        return
    import polars as pl  # takes longer to import than a small log to read

    known = pl.DataFrame({"writer": shared.writer, "tick": shared.lower, "known": np.ones(len(shared.size))})
    for flags, (block, own) in zip(exact, rows, strict=True):
        asked = pl.DataFrame({"writer": block.writer[own], "tick": block.lower[own]})
        found = asked.join(known, on=["writer", "tick"], how="left", maintain_order="left")
        flags[own] |= found.get_column("known").is_not_null().to_numpy()


@dataclass
class Eras:
    """How writers go on, block by block, each of events later along than those of the blocks before.

    `steps`: for each writer that begins anew along what it does, ascending; `worst`: along what and by how
    many ticks.  `events` of some writer, and whether the order of some of them is open without it; they are
    `in_units` where each has the interval of the one before, or begins after all of these have ended.
    """

    steps: dict[int, list[int]] = field(default_factory=dict)
    worst: list[tuple[int, int]] = field(default_factory=list)
    events: int = 0
    is_open: bool = False
    in_units: bool = True
    _writers: int = 0
    _reached: Ticks = field(default_factory=lambda: np.zeros(0, np.int64))
    _place: Indexes = field(default_factory=lambda: np.zeros(0, np.int64))
    _along: Indexes = field(default_factory=lambda: np.zeros(0, np.int64))
    _front: Ticks = field(default_factory=lambda: np.zeros(0, np.int64))
    _end: Ticks = field(default_factory=lambda: np.zeros(0, np.int64))
    _last: Ticks = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def count(self) -> int:
        """How many records step back."""
        return sum(map(len, self.steps.values()))

    def add(self, block: RecordBlock) -> None:
        """Look at what writers wrote next."""
        order = _by_writer(block)
        if not len(order):
            return
        writer, along, lower, upper = (
            each[order] for each in (block.writer, block.along, block.lower, block.upper)
        )
        self.events += len(order)
        self._make_room(int(writer[-1]) + 1)
        begins = _beginnings(writer)
        ends = np.append(begins[1:], len(order))
        who = writer[begins]
        place = self._places(who, along, begins)
        earliest, latest = lower - place, upper - place
        furthest = _running_most(earliest, begins)
        reached = _shifted(furthest, begins, self._reached[who])
        end = _running_most(upper, begins)
        overlaps = _shifted(end, begins, self._end[who]) >= lower
        self.is_open = self.is_open or bool(overlaps.any())
        same = _same_as_before(lower, begins, self._last[who]) & _same_as_before(
            upper, begins, self._end[who]
        )
        self.in_units = self.in_units and bool((same | ~overlaps).all())
        self._last[who] = lower[ends - 1]
        front = _running_most(lower, begins)
        broken = np.flatnonzero(np.logical_or.reduceat(reached > latest, begins))
        most = np.maximum(furthest[ends - 1], self._reached[who])
        for at in broken.tolist():
            own = slice(begins[at], ends[at])
            before = _shifted(front[own], np.zeros(1, np.int64), self._front[who[at : at + 1]])
            steps = list(_steps(earliest[own], latest[own], int(self._reached[who[at]])))
            self.steps.setdefault(int(who[at]), []).extend(along[own][steps].tolist())
            behind = np.maximum(before[steps] - upper[own][steps], 0)
            self.worst += zip(along[own][steps].tolist(), behind.tolist(), strict=True)
            most[at] = earliest[own][steps[-1] :].max()
        self.worst = sorted(self.worst, key=lambda step: -step[1])[:_FEW]
        self._reached[who], self._place[who], self._along[who] = most, place[ends - 1], along[ends - 1]
        self._front[who] = np.maximum(front[ends - 1], self._front[who])
        self._end[who] = np.maximum(end[ends - 1], self._end[who])

    def _make_room(self, writers: int) -> None:
        more = writers - len(self._reached)
        if more > 0:
            for name, value in (
                *(("_reached", _NEVER), ("_place", -1), ("_along", _NEVER)),
                *(("_front", _NEVER), ("_end", _NEVER), ("_last", _NEVER)),
            ):
                setattr(self, name, np.append(getattr(self, name), np.full(more, value, np.int64)))

    def _places(self, who: Indexes, along: Indexes, begins: Indexes) -> Indexes:
        """The place of each record among those of its writer; events of one record share it."""
        fresh = np.append(False, along[1:] != along[:-1])
        fresh[begins] = along[begins] != self._along[who]
        count = np.cumsum(fresh)
        sizes = np.diff(np.append(begins, len(along)))
        base = self._place[who] - (count[begins] - fresh[begins])
        return np.asarray(count + np.repeat(base, sizes), np.int64)


def _by_writer(block: RecordBlock) -> Indexes:
    """The events that somebody wrote, by writer and along what it wrote."""
    written = np.flatnonzero(block.writer >= 0)
    return written[np.lexsort((block.along[written], block.writer[written]))]


def _running_most(values: Ticks, begins: Indexes) -> Ticks:
    """The greatest value so far, from each beginning on."""
    if len(begins) <= _FEW:
        pieces = np.split(values, begins[1:])
        return np.concatenate([np.maximum.accumulate(piece) for piece in pieces])
    import polars as pl  # takes longer to import than a small log to read

    sizes = np.diff(np.append(begins, len(values)))
    frame = pl.DataFrame({"of": np.repeat(np.arange(len(begins)), sizes), "value": values})
    return frame.select(pl.col("value").cum_max().over("of")).to_series().to_numpy()


def _shifted(running: Ticks, begins: Indexes, before: Ticks) -> Ticks:
    """The greatest before each value, where `before` is what was there at each beginning."""
    found = np.empty_like(running)
    found[1:] = running[:-1]
    found[begins] = before
    sizes = np.diff(np.append(begins, len(running)))
    return np.maximum(found, np.repeat(before, sizes))


def _same_as_before(values: Ticks, begins: Indexes, before: Ticks) -> Flags:
    """Whether each value is the one before it, where `before` is what was there at each beginning."""
    found = np.empty(len(values), dtype=bool)
    found[1:] = values[1:] == values[:-1]
    found[begins] = values[begins] == before
    return found


def _steps(earliest: Ticks, latest: Ticks, reached: int) -> Iterator[int]:
    """Where a record cannot lie after all since the last step: looked for in stretches that grow.

    `earliest`, `latest`: ends of intervals less the places of their records, since each comes after the last.
    `reached`: the greatest `earliest` of those before.
    """
    at, size = 0, _FEW
    while at < len(earliest):
        end = min(at + size, len(earliest))
        so_far = np.maximum(np.maximum.accumulate(earliest[at:end]), reached)
        broken = np.flatnonzero(so_far > latest[at:end])
        if len(broken):
            at += int(broken[0])
            yield at
            reached, at, size = int(earliest[at]), at + 1, _FEW
        else:
            reached, at, size = int(so_far[-1]), end, 2 * size

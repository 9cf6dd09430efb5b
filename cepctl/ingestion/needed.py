"""Events that a query cannot need, left behind as they are read, with what is known of all events.

A dataset that is made for one query holds the events that can matter to it.  Whether one can is derived from
itself alone, in a chunk whose attributes are taken to have the kinds that they have there.  Where all files
together show that to be wrong, that ids may be repeated, or that some events have writers, which matter to
all others, the files are read again and nothing is left out.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from cepctl.datasets.kinds import Kind, kind_of_texts, unified
from cepctl.datasets.left_behind import LeftBehind
from cepctl.ingestion.ascending_ids import BEFORE_ALL, Run, are_apart, last_ascending, runs_of
from cepctl.ingestion.chunks import RAW_CLOCK, AttributeFacts, has_ends, has_writers, lengths_in
from cepctl.io.source.locations import Location
from cepctl.numeric.arrays import Flags, Hashes
from cepctl.runners.apart import run_apart
from cepctl.schema import TICK_MIN, TimeUnit

_HASH_BYTES = 8
_FILE_BYTES = 8 << 20
Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class Judged:
    """Which events of a chunk can matter, shape (n,), and the attributes that decided it, in which kinds."""

    needed: pa.Array
    read_as: Kinds


class Needed(Protocol):
    """What a query needs of events."""

    def judged(self, chunk: pa.Table, kinds: Kinds, unit: TimeUnit, *, lasting: bool) -> Judged | None:
        """Which events of a chunk can matter; None where that cannot be decided for each event by itself."""

    def attributes(self, kinds: Kinds, unit: TimeUnit) -> frozenset[str] | None:
        """The attributes of points that are read at all, of these; None where that cannot be told."""


@dataclass(frozen=True, slots=True)
class Unneeded:
    """What is known of the events of a file that were left behind.

    `types` counts them, `inexact` are the types of those of more than a tick; `read_as` the kinds in which
    attributes were read to tell.  Of the ids of `identified` events, needed or not, `ids` are files of
    hashes, and `runs` those that ascend.  `unread` are attributes that were not read of any event.
    """

    types: Mapping[str, int] = field(default_factory=dict)
    inexact: frozenset[str] = frozenset()
    last_tick: int = TICK_MIN
    lasting: bool = False
    read_as: Mapping[str, frozenset[Kind]] = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    runs: tuple[Run, ...] = ()
    identified: int = 0
    unread: frozenset[str] = frozenset()

    @property
    def events(self) -> int:
        """How many were left behind."""
        return sum(self.types.values())

    def with_others(self, more: Unneeded) -> Unneeded:
        """Those of two chunks, or files."""
        names = self.read_as.keys() | more.read_as.keys()
        none = frozenset[Kind]()
        return Unneeded(
            Counter(self.types) + Counter(more.types),
            self.inexact | more.inexact,
            max(self.last_tick, more.last_tick),
            self.lasting or more.lasting,
            {name: self.read_as.get(name, none) | more.read_as.get(name, none) for name in names},
            self.ids + more.ids,
            self.runs + more.runs,
            self.identified + more.identified,
            self.unread | more.unread,
        )


def needed_events(
    table: pa.Table, facts: Mapping[str, AttributeFacts], unit: TimeUnit, needed: Needed
) -> tuple[pa.Table, Unneeded]:
    """The events of a chunk that can matter, and what is to be known of the others.

    Events of writers and of clocks are told in the light of others, so they all stay.
    """
    clocks = table.column(RAW_CLOCK)
    if has_writers(table) or clocks.null_count < len(clocks):
        return table, Unneeded()
    kinds = {name: found for name, each in facts.items() if (found := kind_in(each)) is not None}
    lasting = has_ends(table) or bool(lengths_in(table))
    judged = needed.judged(table, kinds, unit, lasting=lasting)
    if judged is None:
        return table, Unneeded()
    others = table.select(["event_type", "lower", "upper", "end_upper"]).filter(pc.invert(judged.needed))
    read_as = {name: frozenset({kind}) for name, kind in judged.read_as.items()}
    if not len(others):
        return table, Unneeded(read_as=read_as)
    upper, ends = others.column("upper"), others.column("end_upper")
    wide = others.column("event_type").filter(pc.greater(upper, others.column("lower")))
    left = Unneeded(
        {each["values"]: each["counts"] for each in pc.value_counts(others.column("event_type")).to_pylist()},
        frozenset(pc.unique(wide).to_pylist()),
        max(pc.max(upper).as_py(), pc.max(ends).as_py() or TICK_MIN),
        ends.null_count < len(ends),
        read_as,
    )
    return table.filter(judged.needed), left


def kind_in(facts: AttributeFacts) -> Kind | None:
    """The kind of an attribute as its values in a chunk have it; None where it has none."""
    if not facts.kinds:
        return None
    return unified({kind_of_texts(facts.kinds)} if facts.text else facts.kinds)


class IdsOutOfOrderError(Exception):
    """Ids that were taken to ascend do not; they were not kept, so their file is read again."""


@dataclass
class ToldIds:
    """What is kept of the ids of events, to tell whether all differ.

    As long as they are `ascending` in the file, that is only where they begin and end, and how many there
    are; else a hash of each, in files of a scratch directory.
    """

    scratch: Location
    ascending: bool
    _runs: tuple[Run, ...] = ()
    _count: int = 0
    _waiting: list[Hashes] = field(default_factory=list)

    def follow(self, ids: pa.Array | None) -> None:
        """Look at the ids of the next block of rows, of which some become events; None where some have none.

        Raises
        ------
        IdsOutOfOrderError
            If ids before these were taken to ascend, and these do not follow them.
        """
        if not self.ascending or (ids is not None and not len(ids)):
            return
        before = self._runs[-1][1] if self._runs else BEFORE_ALL
        if ids is not None and last_ascending(ids, before) is not None:
            self._runs = runs_of(ids, self._runs)
        elif self._runs:
            raise IdsOutOfOrderError
        else:
            self.ascending = False

    def add(self, ids: pa.Array | pa.ChunkedArray, rows: Flags | None = None) -> Unneeded:
        """Take in those of events, of these rows or all; a few wait until there are enough for a file."""
        if self.ascending:
            self._count += len(ids) if rows is None else int(np.count_nonzero(rows))
            return Unneeded()
        import polars as pl  # takes a while to import, which most logs do without

        series = pl.from_arrow(ids)
        assert isinstance(series, pl.Series)
        hashes = series.hash().to_numpy()
        self._waiting.append(hashes if rows is None else hashes[rows])
        many = sum(map(len, self._waiting)) * _HASH_BYTES >= _FILE_BYTES
        return self.written() if many else Unneeded()

    def written(self) -> Unneeded:
        """What is kept of those that wait."""
        if self._runs:
            return Unneeded(runs=self._runs, identified=self._count)
        if not self._waiting:
            return Unneeded()
        filesystem, directory = self.scratch.resolve()
        path = f"{directory}/{uuid4().hex}.ids"
        hashes = np.concatenate(self._waiting)
        self._waiting.clear()
        with filesystem.open_output_stream(path) as stream:
            stream.write(hashes)
        return Unneeded(ids=(path,), identified=len(hashes))


def read_as_they_are(found: Sequence[Unneeded], kinds: Kinds) -> bool:
    """Whether every attribute that decided what was left behind has the kind in which it was read."""
    return all(seen == {kinds.get(name)} for each in found for name, seen in each.read_as.items())


def all_ids_differ(found: Sequence[Unneeded], events: int, filesystem: fs.FileSystem, room: int) -> bool:
    """Whether the ids of so many events are known to differ, by hashes that take `room` bytes at most."""
    identified = sum(each.identified for each in found)
    if identified < events or need_hashes(found):
        return False
    if any(each.runs for each in found):
        return True
    if events * _HASH_BYTES > room:
        return False
    hashes = np.concatenate([*_hashes(found, filesystem), np.empty(0, np.uint64)])
    # Polars sorts on all cores; a process in which it has threads cannot be forked any more.
    return run_apart(_all_differ, [hashes], lambda *_: False)[0]


def need_hashes(found: Sequence[Unneeded]) -> bool:
    """Whether ids that ascend in their file are to be compared with others, for which hashes are needed."""
    runs = [run for each in found for run in each.runs]
    return bool(runs) and (any(each.ids for each in found) or not are_apart(runs))


def _hashes(found: Sequence[Unneeded], filesystem: fs.FileSystem) -> Iterator[Hashes]:
    for path in (path for each in found for path in each.ids):
        with filesystem.open_input_stream(path) as stream:
            yield np.frombuffer(stream.read(), np.uint64)


def _all_differ(hashes: Hashes) -> bool:
    import polars as pl  # takes a while to import, which most logs do without

    ordered = pl.Series(hashes).sort().to_numpy()
    return not bool((ordered[1:] == ordered[:-1]).any())


def all_unneeded(found: Iterable[Unneeded]) -> Unneeded:
    """Those of all chunks, or files."""
    return functools.reduce(Unneeded.with_others, found, Unneeded())


def left_behind(whole: Unneeded) -> LeftBehind | None:
    """What the dataset keeps of what it does not hold; None where it holds all."""
    if not whole.events and not whole.unread:
        return None
    return LeftBehind(whole.events, whole.last_tick, whole.lasting, whole.inexact, whole.unread)

"""Ties of clocks: how far the offsets of two clocks can be from each other, in every world.

The recorded segments of one host's clock share a residual each, and those of one epoch differ by little from
one to the next.  Tied clocks make a chain: each is tied to the one before it and the one after it, at most.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from cepctl.errors import EventSchemaError
from cepctl.schema import LATEST_TICK, META_CLOCK_TIES, TimeUnit

Offset: TypeAlias = tuple[tuple[int, int, float], ...]
Clocks: TypeAlias = Mapping[str, Offset]

LARGEST = LATEST_TICK // 2
"""The largest offset, so that no sum with the tick of an event exceeds 64 bits."""


class ClockTie(NamedTuple):
    """In every world the offsets of two clocks, one after the other, differ by so many ticks at most."""

    before: str
    after: str
    ticks: int


@dataclass(frozen=True)
class TiedClocks(Mapping[str, Offset]):
    """Clocks with their offsets, and their ties in any order; all clocks of a tie are among them."""

    offsets: Mapping[str, Offset]
    ties: tuple[ClockTie, ...]

    def __getitem__(self, name: str) -> Offset:
        return self.offsets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets)


def ties_of(clocks: Clocks) -> tuple[ClockTie, ...]:
    """The ties of some clocks."""
    return clocks.ties if isinstance(clocks, TiedClocks) else ()


def tied(clocks: Clocks, ties: Iterable[ClockTie]) -> Clocks:
    """Clocks with these ties.

    Raises
    ------
    EventSchemaError
        If a clock is unknown, or is tied to more than one before it or after it, or round to itself.

    Examples
    --------
    >>> offset = ((-2, 2, 1.0),)
    >>> tied({"a": offset, "b": offset}, [ClockTie("a", "b", 1)]).ties
    (ClockTie(before='a', after='b', ticks=1),)
    """
    once = tuple(dict.fromkeys(ties))
    if not once:
        return clocks
    found = TiedClocks({name: clocks[name] for name in clocks}, once)
    for each in once:
        if not (each.before in clocks and each.after in clocks and 0 <= each.ticks <= LARGEST):
            raise EventSchemaError(f"clock '{each.after}' has a tie without sense; ingest the events again")
    sides = [each.before for each in once], [each.after for each in once]
    several = [name for side in sides for name, times in Counter(side).items() if times > 1]
    if several or len(names_in_order(found)) < len(found):
        raise EventSchemaError(
            f"clock '{(several or sides[1])[0]}' is tied to several others before or after it; ingest the "
            "events again"
        )
    return found


def names_in_order(clocks: Clocks) -> list[str]:
    """The names of all clocks: each chain in its order, chains by their first name."""
    after = {each.before: each.after for each in ties_of(clocks)}
    found = []
    for name in sorted(clocks.keys() - after.values()):
        found.append(name)
        while found[-1] in after and len(found) <= len(clocks):
            found.append(after[found[-1]])
    return found


def chains_of(clocks: Clocks, names: Iterable[str]) -> Clocks:
    """Those of these names, and all that are tied to them, by others or not."""
    wanted, chain, kept = set(names), list[str](), list[str]()
    starts = clocks.keys() - {each.after for each in ties_of(clocks)}
    for name in [*names_in_order(clocks), None]:
        if name is None or name in starts:
            kept += chain if wanted.intersection(chain) else []
            chain = []
        if name is not None:
            chain.append(name)
    known = set(kept)
    ties = [each for each in ties_of(clocks) if each.after in known]
    return tied({name: clocks[name] for name in clocks if name in known}, ties)


def rescaled_tie(tie: ClockTie, old: TimeUnit, new: TimeUnit) -> ClockTie:
    """A tie counted in another unit: how far ticks can be apart that those of such offsets cover."""
    was, now = old.microseconds, new.microseconds
    if now % was == 0:
        return tie._replace(ticks=-int(-tie.ticks * was // now))
    return tie._replace(ticks=-int(-(tie.ticks + 1) * was // now) - (was % now == 0))


def ties_in(metadata: Mapping[bytes, bytes]) -> list[ClockTie]:
    """The ties that file metadata name.

    Raises
    ------
    EventSchemaError
        If they are damaged.
    """
    try:
        listed = json.loads(metadata.get(META_CLOCK_TIES, b"[]"))
        return [ClockTie(str(before), str(after), int(ticks)) for before, after, ticks in listed]
    except (ValueError, TypeError) as problem:
        raise EventSchemaError(f"the ties of clocks in the file metadata are damaged: {problem}") from problem


def ties_metadata(clocks: Clocks) -> dict[bytes, bytes]:
    """What file metadata say of the ties of clocks: nothing where there are none."""
    ties = sorted(ties_of(clocks))
    return {META_CLOCK_TIES: json.dumps(ties, ensure_ascii=False).encode()} if ties else {}

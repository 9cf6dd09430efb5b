"""Events of hosts and orders known of them -> what is known of their clocks, as the table CLOCKS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.clocks.hulls.bounds import DifferenceBounds, difference_bounds
from cepctl.clocks.hulls.chains import LinkedClocks, chained
from cepctl.clocks.hulls.event_hulls import HullSummary, hull_summary, pieces_of_reference, pieces_of_windows
from cepctl.clocks.hulls.pairs import NAMELESS, NO_HOST, EventPairs, HostEvents, ordered_pairs
from cepctl.clocks.hulls.windows import Fitted, Grid, fitted
from cepctl.clocks.logs.table import COLUMNS, table_of
from cepctl.errors import QueryTooLargeError
from cepctl.plan.plan import Given

_LONGEST_SPAN = 2**58


@dataclass(frozen=True)
class HullChoices:
    """How lines are fitted: the length of windows in nanoseconds, the drift in nanoseconds per second."""

    window: int
    drift: int


@dataclass(frozen=True, eq=False)
class Hulls:
    """What orders say of clocks.

    Attributes
    ----------
    hosts, reference
        All hosts by name, and which of them is right.
    grid, choices
        The windows, and what was chosen.
    links
        How far each host is ahead of the reference, by host and begin.
    pairs
        How many pairs of events of two hosts are ordered.
    halved, one_sided
        How many windows of two hosts have no line and were halved, and how many have bounds from one side
        alone.
    contradicted
        In how many windows of a host chains to the reference contradict each other.
    without_host
        How many events that the orders speak of have no host.
    unpaired
        Hosts with events, none of which is ordered with one of another host.
    unconnected
        The other hosts that no chain ties to the reference, and whether they have bounds from both sides.
    empty
        The clauses that speak of no event.
    contradictions
        Pairs of orders that contradict each other, the worst first: `gap` in nanoseconds; `host` is
        `at_least` nanoseconds ahead of `other` at the reading `at`, as `first` comes before `second`, which
        `given` says; and the same with `at_most`, `to`, `first_to`, `second_to` and `given_to`.
    """

    hosts: tuple[str, ...]
    reference: int
    grid: Grid
    choices: HullChoices
    links: LinkedClocks
    pairs: int
    halved: int
    one_sided: int
    contradicted: int
    without_host: int
    unpaired: tuple[str, ...]
    unconnected: tuple[tuple[str, bool], ...]
    empty: tuple[str, ...]
    contradictions: pl.DataFrame


def hulls(own: HostEvents, given: Sequence[Given], reference: int, choices: HullChoices) -> Hulls:
    """Bound the clocks of all hosts; `reference` is the place of the one that is right.

    Raises
    ------
    QueryTooLargeError
        If clauses speak of too many combinations of events, or the events span too much time.
    """
    if own.last - own.first >= _LONGEST_SPAN:
        raise QueryTooLargeError(
            "the events span more than 9 years, so some of their times are wrong; leave these events out"
        )
    spoken_of, pairs, empty = ordered_pairs(own, given)
    grid = Grid.over(own.first, own.last, choices.window)
    bounds = difference_bounds(own, pairs, reference)
    found = fitted(bounds.lower, bounds.upper, grid, choices.drift)
    link = found.windows.link
    chains = chained(
        LinkedClocks(bounds.host[link], bounds.other[link], found.windows), reference, choices.drift
    )
    links = chains.links
    paired = np.unique(np.concatenate([own.host[pairs.first], own.host[pairs.second]]))
    known = np.append(np.unique(links.host), reference)
    two_sided = bounds.host[np.unique(link)]
    return Hulls(
        own.hosts, reference, grid, choices, links,
        pairs=len(pairs.first),
        halved=found.halved,
        one_sided=found.one_sided,
        contradicted=chains.contradicted,
        without_host=int((spoken_of & (own.host == NO_HOST)).sum()),
        unpaired=tuple(
            name for place, name in enumerate(own.hosts) if place not in paired and place != reference
        ),
        unconnected=tuple(
            (own.hosts[place], bool((two_sided == place).any()))
            for place in np.setdiff1d(paired, known).tolist()
        ),
        empty=empty,
        contradictions=_contradictions(found, bounds, pairs, own, given),
    )  # fmt: skip


def _contradictions(
    found: Fitted, bounds: DifferenceBounds, pairs: EventPairs, own: HostEvents, given: Sequence[Given]
) -> pl.DataFrame:
    hosts = pl.Series(own.hosts, dtype=pl.String)
    link = found.lower.link
    columns = {"gap": pl.Series(found.gap)}
    columns |= {"host": hosts.gather(bounds.host[link]), "other": hosts.gather(bounds.other[link])}
    texts = pl.Series([each.text for each in given], dtype=pl.String)
    for side, names in (
        (found.lower, ("at_least", "at", "first", "second", "given")),
        (found.upper, ("at_most", "to", "first_to", "second_to", "given_to")),
    ):
        events = (own.events.ids.gather(each[side.pair]) for each in (pairs.first, pairs.second))
        clause = texts.gather(pairs.clause[side.pair])
        values = (pl.Series(side.value), pl.Series(side.time), *events, clause)
        columns |= dict(zip(names, values, strict=True))
    return pl.DataFrame(columns)


def hull_tables(found: Hulls, summaries: list[HullSummary]) -> Iterator[pa.Table]:
    """The rows of all hosts, by name, a host at a time; the figures of each go into `summaries`."""
    yield pa.table({name: pa.array([], kind) for name, kind in COLUMNS.items()})
    links = found.links
    for place, host in enumerate(found.hosts):
        if host == NAMELESS:  # No rule for clocks fits events without a host.
            continue
        if place == found.reference:
            pieces = pieces_of_reference(found.grid)
        else:
            first, last = np.searchsorted(links.host, [place, place + 1])
            if first == last:
                continue
            pieces = pieces_of_windows(links.windows.taken(np.arange(first, last)))
        summaries.append(hull_summary(host, pieces))
        yield table_of(host, pieces, found.choices.drift)

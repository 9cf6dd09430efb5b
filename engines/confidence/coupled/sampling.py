"""Confidence by sampling worlds, with a guaranteed error, where exact sums would cost too much.

A sampled world gives every event of a match and every rival a tick from its own mass; the match holds
in it when one of the match's coupled problems does.  Hoeffding (1963, Theorem 2): the mean of n such
answers is further than `error` from the probability with a probability of at most 2 exp(-2 n error^2).
Worlds that contradict what is given are left out, until there are as many as that asks.

The generator is SplitMix64 (Steele, Lea, Flood 2014), seeded by the signature; events are drawn in
code-point order of their ids.  So a match has the same estimate wherever and beside whatever it is
sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import ceil, log
from typing import TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.coupled.clauses import clauses_of
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.sampled_worlds import (
    CLOCKS_CONTRADICT,
    MOST_DRAWN,
    TOO_FEW_REMAIN,
    Worlds,
    count_hits,
    worlds_of,
)
from cepctl.engines.pattern.offset_bounds import stamps_of
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals

Seeds: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint64]]
FAILURE_PROBABILITY = 1e-6
"""How probable it is at most that a sampled confidence is further off than the error it carries."""
_MOST_EVENTS = 1_000
_PRODUCTS_OF_WORLD = 8


@dataclass(frozen=True)
class Sampling:
    """That confidences may be sampled: the error allowed to them, and the events they speak of."""

    error: float
    events: Events

    @property
    def affordable(self) -> int:
        """So many products take as long as the worlds of an estimate."""
        return _PRODUCTS_OF_WORLD * sample_size(self.error)

    def probabilities(self, groups: Sequence[Group], problems: Sequence[Problems]) -> tuple[Indexes, Reals]:
        """Probability that at least one problem of a match holds, for every match that has any.

        Parameters
        ----------
        groups
            Members of every block, by match.
        problems
            What is to be estimated; `match` says to which match a problem belongs.

        Returns
        -------
        The matches, ascending, and an estimate for each, shape (k,).

        Raises
        ------
        QueryTooLargeError
            If too few worlds remain, or something is given of events that share clocks.
        """
        events = self.events
        if events.depends.given and events.depends.on_clocks:
            raise QueryTooLargeError(
                "GIVEN of events that share clocks is not estimated by --approximate; say more in IF "
                "so that it ties fewer events, or leave it out"
            )
        matches = np.unique(np.concatenate([each.match for each in problems]))
        worlds = self.worlds(problems, matches)
        hits, failed = np.zeros(len(matches), dtype=np.int64), np.zeros(3, dtype=np.int64)
        count = sample_size(self.error)
        seeds = self.seeds(groups, matches)
        state = count_hits(worlds, stamps_of(events.stamps), seeds, count, hits, failed)
        if state == CLOCKS_CONTRADICT:
            raise QueryTooLargeError(
                f"--approximate draws offsets of clocks until {count:,} satisfy the ties of their segments, "
                f'and fewer than one of {MOST_DRAWN} does; write residual = "epoch" in the rule of the clock'
            )
        if state == TOO_FEW_REMAIN:
            raise _too_few_remain(worlds, count, *failed.tolist())
        return matches, hits / count

    def worlds(self, problems: Sequence[Problems], groups: Indexes) -> Worlds:
        """What is drawn for groups of problems, whose `match` is one of these, ascending.

        Raises
        ------
        QueryTooLargeError
            If what is given ties too many events to those of a group.
        """
        numbered = [replace(each, match=np.searchsorted(groups, each.match)) for each in problems]
        clauses = clauses_of(numbered, len(groups), limited=True)
        events = self.events
        worlds = worlds_of(clauses, events.stamps, events.tied, events.id_rank)
        sizes = np.diff(worlds.event_offsets)
        for size in sizes[(np.diff(worlds.given_offsets) > 0) & (sizes > _MOST_EVENTS)][:1].tolist():
            raise QueryTooLargeError(
                f"GIVEN ties {size:,} events to a match, and worlds of at most {_MOST_EVENTS:,} are sampled; "
                "say more in IF so that it ties fewer events, narrow their intervals, or leave it out"
            )
        return worlds

    def seeds(self, groups: Sequence[Group], rows: Indexes) -> Seeds:
        """A number for each of some matches that follows from its signature alone."""
        return np.array([self.seed(groups, int(row)) for row in rows], dtype=np.uint64)

    def seed(self, groups: Sequence[Group], row: int) -> int:
        """A number that follows from the signature alone."""
        ids = self.events.ids
        blocks = [ids.gather(each.members[each.offsets[row] : each.offsets[row + 1]]) for each in groups]
        text = "\n".join("\t".join(block.to_list()) for block in blocks)
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def sample_size(error: float) -> int:
    """Worlds to sample for this error, at a probability of failure of FAILURE_PROBABILITY.

    Examples
    --------
    >>> sample_size(0.01)
    72544
    """
    return ceil(log(2.0 / FAILURE_PROBABILITY) / (2.0 * error * error))


def _too_few_remain(worlds: Worlds, wanted: int, group: int, kept: int, drawn: int) -> QueryTooLargeError:
    events = int(np.diff(worlds.event_offsets)[group])
    return QueryTooLargeError(
        f"--approximate draws worlds until {wanted:,} satisfy GIVEN, and only {kept:,} of {drawn:,} do, "
        f"where {events:,} events are of a match or tied to it; say more in IF so that it ties fewer events, "
        "narrow their intervals, allow a larger error, or leave it out"
    )

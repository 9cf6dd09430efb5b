"""Matches that bind interval events which share clocks: measured given the offsets, summed over these.

One clock stamps both ends of an event, so that they move together.  Given the offsets, events are
independent again: copies, moved.  Few offsets of each match stand for all (cepctl.engines.clocks.nodes):
between two walls the measure is a polynomial.  A wall is where a cut of one clock's endpoints meets a cut of
another's over conditions that are tight; the tick there is a piece of its own.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.clocks.conditioned import copy_keys, copy_masses, degree_of
from cepctl.engines.clocks.frames import CONVOLVED, REFERENCE, Frames, frames_of
from cepctl.engines.clocks.nodes import Nodes, nodes_of, offset_range
from cepctl.engines.clocks.segments import Segments
from cepctl.engines.clocks.totals import Total
from cepctl.engines.clocks.walls import Walls, eliminated, ends_of_offset
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.cut_masses import joined_masses
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.intervals.skeletons import skeleton_of
from cepctl.engines.intervals.tight_paths import TightPaths, tight_paths
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.engines.pattern.offset_bounds import valid_on_clocks

if TYPE_CHECKING:
    from cepctl.engines.intervals.measure import IntervalMeasure

MATCHES_AT_ONCE = 1_000
COPIES_AT_ONCE = 200_000

_LAST = np.iinfo(np.int64).max


def measured_on_clocks(measure: IntervalMeasure, clocks: EventClocks, matches: Indexes) -> Measured:
    """Measure matches, shape (n, l).

    `clocks` are those of the endpoints of all events, whose own parts `measure` knows.

    Raises
    ------
    QueryTooLargeError
        If a match needs its measure at too many offsets, or too many products.
    """
    total = Total.of(len(matches))
    for lasting, rows in measure.by_points(matches):
        paths = tight_paths(measure.cases, lasting)
        for begin in range(0, len(rows), MATCHES_AT_ONCE):
            some = rows[begin : begin + MATCHES_AT_ONCE]
            _add_alike(total, _Alike(measure, clocks, matches[some], lasting, paths), some)
    return total.measured()


def valid_with_clocks(measure: IntervalMeasure, clocks: EventClocks, matches: Indexes) -> tuple[Ticks, Ticks]:
    """What the conditions leave to starts and ends, shape (n, 2 l), as far as the ends of masses tell."""
    size = len(matches), 2 * matches.shape[1]
    lower, upper = np.full(size, _LAST), np.full(size, -_LAST)
    for lasting, rows in measure.by_points(matches):
        alike = _Alike(measure, clocks, matches[rows], lasting, ())
        constants, which = np.unique(alike.own, axis=0, return_inverse=True)
        for case in measure.cases:
            skeleton = skeleton_of(case, lasting)
            for number, own in enumerate(constants):
                some = np.flatnonzero(which.reshape(-1) == number)
                edges = skeleton.edges.copy()
                edges[skeleton.shared :, 2] = own
                bounded = [(int(i), int(j), int(c)) for i, j, c in edges if c < UNBOUNDED]
                system = closure(size[1], bounded)
                first, last = valid_on_clocks(clocks, system, alike.endpoint[some])
                first, last = (
                    np.maximum(first, skeleton.allowed[:, 0]),
                    np.minimum(last, skeleton.allowed[:, 1]),
                )
                for point in np.flatnonzero(~np.array(lasting)):
                    first[:, 2 * point + 1], last[:, 2 * point + 1] = first[:, 2 * point], last[:, 2 * point]
                holds = np.flatnonzero((first <= last).all(axis=1))
                here = rows[some[holds]]
                lower[here] = np.minimum(lower[here], first[holds])
                upper[here] = np.maximum(upper[here], last[holds])
    return lower, upper


@dataclass(frozen=True)
class _Alike:
    """Matches that bind points at the same places; `matches` has the shape (n, l)."""

    measure: IntervalMeasure
    clocks: EventClocks
    matches: Indexes
    lasting: tuple[bool, ...]
    paths: tuple[TightPaths, ...]

    @property
    def endpoint(self) -> Indexes:
        """The endpoints of the matches, shape (n, 2 l); the end of a point is its start."""
        ends = self.measure.endpoints.end[self.matches]
        return np.stack([self.matches, ends], axis=2).reshape(len(self.matches), -1)

    @property
    def places(self) -> list[int]:
        """Those places whose endpoint is one of its own."""
        return [place for place in range(2 * len(self.lasting)) if place % 2 == 0 or self.lasting[place // 2]]

    @property
    def is_absolute(self) -> bool:
        """Whether some endpoint is compared with a constant."""
        return any(each.target == 2 * len(self.lasting) for each in self.paths)

    @property
    def own(self) -> Ticks:
        """The constants of the edges that bound the lengths of events, shape (n, 2 lasting)."""
        ends, lasting = self.measure.endpoints, np.flatnonzero(self.lasting)
        own = np.stack(
            [-ends.shortest[self.matches[:, lasting]], ends.longest[self.matches[:, lasting]]], axis=2
        )
        return own.reshape(len(self.matches), 2 * len(lasting))

    def frames(self) -> Frames:
        """Which clocks of each match are summed over."""
        columns = [np.ascontiguousarray(self.endpoint[:, place]) for place in self.places]
        return frames_of(self.clocks, len(self.matches), columns, [], absolute=self.is_absolute)

    def walls(self, frames: Frames) -> Walls:
        """Where the measure can change its polynomial."""
        count, most = len(self.matches), int(frames.levels.max(initial=0))
        parts: dict[tuple[int, int], list[tuple[Indexes, Ticks]]] = {
            (earlier, later): [] for later in range(1, most + 1) for earlier in range(later)
        }
        for later in range(1, most + 1):
            parts[0, later].append(ends_of_offset(frames, count, later))
        cuts = [self._cuts(frames, place) for place in self.places]
        at = {place: number for number, place in enumerate(self.places)}
        level = self._levels(frames)
        for path in self.paths:
            distances = path.distances(self.own)
            source = cuts[at[path.source]]
            target = (
                Segments(np.arange(count + 1), np.zeros(count, np.int64))
                if path.target == 2 * len(self.lasting)
                else cuts[at[path.target]]
            )
            row, value = source.differences(target)
            # O_target - O_source where own_source + O_source = own_target + O_target + distance.
            values = value[:, None] - distances[row]
            one, other = level[:, path.source][row], level[:, path.target][row]
            backwards = one > other
            values[backwards] = -values[backwards]
            least, largest = np.minimum(one, other), np.maximum(one, other)
            for (earlier, later), walls in parts.items():
                here = np.flatnonzero((least == earlier) & (largest == later))
                if len(here):
                    some = values[here]
                    # A piece begins there, or at the next tick.
                    ends = np.concatenate([some, some + 1], axis=1)
                    walls.append((np.repeat(row[here], ends.shape[1]), ends.reshape(-1)))
        return eliminated(count, parts, most)

    def _levels(self, frames: Frames) -> Indexes:
        """Of each match the levels of its places, and at last that of the constants; shape (n, 2 l + 1)."""
        count, places = len(self.matches), 2 * len(self.lasting)
        found = np.full((count, places + 1), REFERENCE, dtype=np.int64)
        for place in range(places):
            level = frames.level_of(np.arange(count), self.endpoint[:, place])
            found[:, place] = np.where(level == CONVOLVED, REFERENCE, level)
        return found

    def _cuts(self, frames: Frames, place: int) -> Segments:
        """First and last ticks of the buckets of a place, without its offset."""
        count, most = len(self.matches), int(frames.levels.max(initial=0))
        every = np.arange(count)
        still = Nodes(every, np.zeros((count, most), dtype=np.int64), np.ones(count))
        masses = self._moved(frames, still, every, self.endpoint[:, place])
        owner = np.repeat(every, np.diff(masses.starts))
        return Segments.of(count, np.concatenate([owner, owner]), np.concatenate([masses.lo, masses.hi]))

    def measured(self, frames: Frames, nodes: Nodes) -> Measured:
        """The matches of some nodes, where the offsets put their events."""
        from cepctl.engines.intervals.measure import IntervalMeasure

        return IntervalMeasure(self.measure.cases, self._copies(frames, nodes)).measured(
            np.arange(len(nodes) * len(self.lasting)).reshape(len(nodes), -1)
        )

    def _copies(self, frames: Frames, nodes: Nodes) -> Endpoints:
        """The events of every node, one after the other."""
        ends = self.measure.endpoints
        event = self.matches[nodes.match].reshape(-1)
        node = np.repeat(np.arange(len(nodes)), len(self.lasting))
        lasts = np.flatnonzero(np.tile(self.lasting, len(nodes)))
        end = np.arange(len(event))
        end[lasts] = len(event) + np.arange(len(lasts))
        starts = self._moved(frames, nodes, node, event)
        masses = joined_masses(starts, self._moved(frames, nodes, node[lasts], ends.end[event[lasts]]))
        return Endpoints(masses, end, ends.shortest[event], ends.longest[event], ends.whole[event])

    def _moved(self, frames: Frames, nodes: Nodes, node: Indexes, endpoint: Indexes) -> Masses:
        return copy_masses(self.clocks, copy_keys(frames, nodes, node, endpoint))


def _add_alike(total: Total, alike: _Alike, rows: Indexes) -> None:
    """Add matches, which are `rows` of all."""
    frames = alike.frames()
    walls, degree = alike.walls(frames), degree_of(frames, len(rows))
    for levels in np.unique(frames.levels).tolist():
        matches = np.flatnonzero(frames.levels == levels)
        nodes = nodes_of(frames, matches, walls, degree, edges=True)
        for part in _parts(nodes, len(alike.lasting)):
            found = alike.measured(frames, part)
            total.add(replace(part, match=rows[part.match]), found, *offset_range(frames, part))


def _parts(nodes: Nodes, events: int) -> Iterator[Nodes]:
    """Nodes in blocks of bounded size."""
    size = max(COPIES_AT_ONCE // events, 1)
    for begin in range(0, len(nodes), size):
        here = slice(begin, begin + size)
        yield Nodes(nodes.match[here], nodes.offset[here], nodes.weight[here])

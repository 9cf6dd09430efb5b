"""What is said of each host's clock: rows, span, worst bound, steps, gaps, and what could not be used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.clock_logs.kept_rows import KeptRows
from cepctl.clock_logs.pieces import Cut
from cepctl.clock_logs.values import NONE
from cepctl.io.clocks.contract import UNSYNCHRONISED


@dataclass(frozen=True)
class HostSummary:
    """The figures of a host; times and lengths in nanoseconds.

    Attributes
    ----------
    host, kind
        Its name, and the kind of its rows.
    lends
        The other kinds that it has, which only lend bounds.
    rows
        How many rows there are, those which are equal counted once.
    first, last
        The least and the largest reading.
    worst_bound
        The largest bound of a row; None where no row is synchronised.
    steps, gaps, unsynchronised
        How many steps, gaps and stretches without synchronisation cut the pieces.
    segments, pieces
        How many there are of them.
    equal, borrowed, given
        Rows that were left out as equal to others, that have a bound of another kind of rows, and that have the
        bound which the user gave.
    """

    host: str
    kind: str
    lends: tuple[str, ...]
    rows: int
    first: int
    last: int
    worst_bound: int | None
    steps: int
    gaps: int
    unsynchronised: int
    segments: int
    pieces: int
    equal: int
    borrowed: int
    given: int


def host_summary(host: str, kept: KeptRows, cut: Cut, segments: int) -> HostSummary:
    """The figures of a host."""
    rows = kept.rows
    held = rows.state != UNSYNCHRONISED
    bounds = np.where(rows.since != NONE, rows.since, rows.around)[held]
    lost = np.diff(np.concatenate([[False], ~held]).astype(np.int8)) == 1
    return HostSummary(
        host,
        kept.kind,
        kept.others,
        len(rows),
        int(rows.time.min()),
        int(rows.time.max()),
        int(bounds.max()) if len(bounds) else None,
        cut.steps,
        cut.gaps,
        int(lost.sum()),
        segments,
        len(cut.pieces),
        kept.equal,
        kept.borrowed,
        kept.given,
    )

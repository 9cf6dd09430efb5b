"""What is said of each host's clock: rows, span, worst bound, steps, gaps, and what could not be used."""

from __future__ import annotations

from dataclasses import dataclass

from cepctl.clocks.logs.kept_rows import RowsOfHost
from cepctl.clocks.logs.pieces import Cutter
from cepctl.clocks.logs.survey import HostSurvey


@dataclass(frozen=True)
class HostSummary:
    """The figures of a host; times and lengths in nanoseconds.

    Attributes
    ----------
    host, rows_of
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
        Rows that were left out as equal to others, that have a bound of another kind of rows, and that have
        the bound which the user gave.
    """

    host: str
    rows_of: str
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


def host_summary(
    host: str, kept: RowsOfHost, survey: HostSurvey, cutter: Cutter, pieces: int, segments: int
) -> HostSummary:
    """The figures of a host, once all its pieces are cut."""
    return HostSummary(
        host=host,
        rows_of=kept.kind,
        lends=kept.others,
        rows=survey.rows,
        first=survey.first,
        last=survey.last,
        worst_bound=survey.worst_bound,
        steps=cutter.steps,
        gaps=cutter.gaps,
        unsynchronised=survey.unsynchronised,
        segments=segments,
        pieces=pieces,
        equal=kept.equal,
        borrowed=kept.borrowed,
        given=kept.given,
    )

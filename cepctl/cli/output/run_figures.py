"""The figures of one run: what a summary line tells and what a metrics file holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepctl.ingestion.summary import IngestSummary


@dataclass(frozen=True)
class RunFigures:
    """What a run took in and gave out.

    `events` are those it read (with --state those that were new), `rejects` the bad records that it
    left out, `seconds` its length by the clock.  None is what such a run has not: `matches` (the rows
    written) in an ingest, `late` events and the `watermark` (seconds since 1970 UTC) without --state,
    the `relevant` events that predicates on single ones leave and, on Spark, the `slices` elsewhere.
    """

    events: int
    rejects: int
    seconds: float
    matches: int | None = None
    late: int | None = None
    watermark: float | None = None
    relevant: int | None = None
    slices: int | None = None

    def known(self) -> dict[str, int | float]:
        """The figures that such a run has, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def rejects_in(summary: IngestSummary | None) -> int:
    """How many records were left out as bad; there are none where nothing raw was read."""
    return 0 if summary is None else summary.rejected.total()

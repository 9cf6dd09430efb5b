"""What a summary says of each binding of the single events around a group: one row for all groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, signatures
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import return_columns
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.order import encoded_ids
from cepctl.engines.search.threshold import Threshold
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.plan.plan import Alternative, ReturnColumn
from cepctl.plan.summary import kleene_components, with_nothing

PLACE_OF_GROUP = "*"
"""Stands in a signature where the groups differ."""


@dataclass(frozen=True)
class SummaryBatch:
    """n rows: the neighbours with P(at least one match), and what may lie between them.

    `members` has the events of each row in the order of their ids, `probability` P(it is in a match),
    of shape (members,); `counts` the number of signatures per row.
    """

    matches: MatchBatch
    members: Group
    probability: Reals
    counts: list[int]

    def take(self, rows: Indexes) -> SummaryBatch:
        """Some of the rows, in the order of `rows`, ascending."""
        chosen = np.zeros(len(self.counts), dtype=bool)
        chosen[rows] = True
        counts = [self.counts[i] for i in rows.tolist()]
        probability = self.probability[chosen[self.members.owner]]
        return SummaryBatch(self.matches.take(rows), self.members.take(rows), probability, counts)

    def columns(
        self, events: Events, alternative: Alternative, returns: tuple[ReturnColumn, ...]
    ) -> Mapping[str, object]:
        """The columns of the rows; `alternative` is that of the pattern."""
        (group,) = kleene_components(alternative)
        return {
            "signature": _signature(events, alternative, group, self.matches),
            "start": self.matches.start,
            "end": self.matches.end,
            "confidence": self.matches.confidence,
            "members": _members_text(events.ids, self.members, self.probability),
            # Python refuses to write an int of more than 4,300 digits; a Decimal of them it writes.
            "count": pa.array([str(Decimal(each)) for each in self.counts], pa.string()),
            **return_columns(events, with_nothing(alternative, group), returns, self.matches),
        }


def reaching(matches: MatchBatch, options: MatchOptions, threshold: Threshold) -> Indexes:
    """The rows that are wanted; one that is left out takes no place among the best."""
    kept = options.kept.among(matches)
    return np.flatnonzero(threshold.reached(np.where(kept, matches.confidence, -1.0), matches.start))


def _signature(events: Events, alternative: Alternative, group: int, matches: MatchBatch) -> pa.Array:
    names = events.names
    bound: list[Bindings] = list(matches.bound)
    bound.insert(alternative.positive.index(group), np.full(len(matches), len(names)))
    return signatures(bound, pa.concat_arrays([names, pa.array([PLACE_OF_GROUP], names.type)]))


def _members_text(ids: pl.Series, members: Group, probability: Reals) -> pa.Array:
    """`id:probability` of every member, joined by a blank; ids encoded as in `match`."""
    names = pl.from_arrow(encoded_ids(ids.gather(members.members).to_arrow().cast(pa.string())))
    assert isinstance(names, pl.Series)
    frame = pl.DataFrame({"owner": members.owner, "id": names, "probability": probability})
    written = pl.concat_str("id", pl.col("probability").cast(pl.String), separator=":")
    """`id:probability` of every member, joined by a blank; ids encoded as in `match`."""
    names = pl.from_arrow(encoded_ids(ids.gather(members.members).to_arrow().cast(pa.string())))
    assert isinstance(names, pl.Series)
    frame = pl.DataFrame({"owner": members.owner, "id": names, "probability": probability})
    written = pl.concat_str("id", pl.col("probability").cast(pl.String), separator=":")
    rows = frame.with_columns(written=written).group_by("owner", maintain_order=True)
    text = rows.agg(pl.col("written").str.join(" ")).get_column("written")
    return text.to_arrow().cast(pa.string())

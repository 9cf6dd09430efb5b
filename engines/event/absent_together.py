"""Confidence and time range of matches in whose gap something must not happen as a whole.

They are summed over parts that exclude each other; where that is too much work and an error is allowed,
worlds are sampled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cepctl.engines.columns.bindings import Bindings, count_of, take_matches
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.event.absent_parts import AbsentParts, MatchSource
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import measure
from cepctl.numeric.arrays import Indexes


@dataclass(frozen=True)
class AbsentTogether:
    """Matches of an alternative, in whose shape something is absent as a whole."""

    source: MatchSource
    asked: Measure

    @property
    def of(self) -> AbsentParts:
        """Their parts."""
        return AbsentParts(self.source, self.asked)

    def measured(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        """Time range and confidence of matches that these rivals can break, too: the sum over their parts.

        Raises
        ------
        QueryTooLargeError
            If a match falls into too many parts, or one needs more work than is allowed.
        """
        if self.asked.sampling is None:
            return self._exactly(bound, rivals)
        from cepctl.engines.confidence.clocks.estimates import measured_or_estimated

        def some(rows: Indexes) -> tuple[dict[int, Bindings], list[Rivals]]:
            return take_matches(bound, rows), [each.taken(rows) for each in rivals]

        return measured_or_estimated(
            lambda rows: self._exactly(*some(rows)),
            lambda row: self._estimated(*some(row)),
            count_of(bound.values()),
        )

    def _exactly(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        total = Total(count_of(bound.values()))
        for part in self.of.parts(bound, rivals):
            found = measure(part.batch)
            total.add(part.row, found.confidence, found.start, found.end)
        return total.measured()

    def _estimated(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        """One match, in sampled worlds; its time range is exact."""
        from cepctl.engines.confidence.clocks.estimates import estimated_match

        none, groups = Batch(self.asked, {}, []), self.source.measure.groups(bound)
        assert self.asked.sampling is not None
        problems = list(self.problems(bound, rivals))
        return estimated_match(none.clocks, self.asked.sampling, groups, problems, none.tied)

    def problems(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Iterator[Problems]:
        """The coupled problems of all parts, `match` being the row of the match."""
        for part in self.of.parts(bound, rivals):
            for each in coupled_problems(part.batch.coupled):
                yield replace(each, match=part.row[each.match])

"""The rows of a query as they are found: in no particular order, the first at once, none held.

What a summary says of them is counted as they come, and known when all have come.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from cepctl.library.finding import Ran, opened_search, summary_of
from cepctl.library.found import without_raw_times
from cepctl.library.question import Question
from cepctl.matching.raw_times import tell_unjudged
from cepctl.matching.run import rows_as_found

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.engines.event.options import MatchOptions
    from cepctl.engines.rows.kept import RowCounts
    from cepctl.engines.rows.number_order import Piece
    from cepctl.engines.runners.progress import RunProgress
    from cepctl.library.summary import MatchSummary
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan

KEPT = 1_000
"""Of so many rows at least, which came first, the text is kept."""


@dataclass
class RowsAsFound:
    """A search that is under way: its rows can be taken once, and its summary when they have been."""

    question: Question
    plan: Plan
    inputs: EventInputs
    options: MatchOptions
    ran: Ran
    counts: RowCounts
    first: list[str] = field(default_factory=list)

    def pieces(self, *, nested: bool = True) -> Iterator[Piece]:
        """What makes the rows, one piece at least; without `nested` perhaps without nested lists.

        Raises
        ------
        CepctlError
            As `cepctl.matching.run.rows_as_found` does.
        """
        from cepctl.engines.event.match import schema_for
        from cepctl.engines.rows.kept import RowCounts
        from cepctl.engines.rows.number_order import found_pieces
        from cepctl.engines.rows.numbers import facts_of
        from cepctl.engines.rows.order import with_text

        execution, progress = self.question.execution, self.ran.progress
        nothing = with_text(schema_for(self.plan, self.options).empty_table())
        yield partial(without_raw_times, nothing)
        for rows in rows_as_found(self.plan, self.inputs, self.options, execution, progress):
            if not rows.num_rows:
                continue
            self.counts += RowCounts.of(facts_of(rows))
            for piece in found_pieces(rows, nested=nested):
                yield partial(self._made, piece)

    def _made(self, piece: Piece) -> pa.Table:
        rows = without_raw_times(piece())
        if len(self.first) < KEPT:
            self.first.extend(rows.column("match").slice(0, KEPT).to_pylist())
        return rows

    @property
    def summary(self) -> MatchSummary:
        """What is to be said of all rows, once they have been taken."""
        judged, found = self.question.judged, self.ran.progress.found
        counts = tell_unjudged(self.counts) if judged else self.counts
        return summary_of(self.plan, self.inputs, found, counts, self.ran, judged=judged)


@contextmanager
def searched(question: Question, paths: Sequence[str], progress: RunProgress) -> Iterator[RowsAsFound]:
    """Begin a search whose rows are wanted as they are found.

    Parameters
    ----------
    question, paths
        As of `cepctl.library.finding.find_matches`.
    progress
        Is told what the run does.

    Raises
    ------
    CepctlError
        As `cepctl.library.finding.opened_search` does.
    """
    from cepctl.engines.rows.kept import RowCounts

    began = time.monotonic()
    local = replace(question.execution, runner=replace(question.execution.runner, runner="local"))
    question = replace(question, execution=local)
    with ExitStack() as opened:
        plan, inputs, options = opened_search(question, paths, opened)
        yield RowsAsFound(question, plan, inputs, options, Ran(progress, began, best=False), RowCounts())

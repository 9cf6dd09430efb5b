"""Choices beside the plan: the order, the cap, threads and memory, which rows, which error is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cepctl.engines.columns.joins import PAIRS_AT_ONCE
from cepctl.engines.confidence.points.measure import BlockMemory
from cepctl.engines.rows.kept import ALL_ROWS, KeptRows
from cepctl.engines.rows.sorted import WantedRows
from cepctl.errors import QueryTooLargeError
from cepctl.laws.choices import LAW, LAWLESS, MOST_SETS_ALIVE, Beyond
from cepctl.plan.choices import KleeneRows
from cepctl.plan.evaluation_order import OrderName
from cepctl.plan.plan import Alternative, Plan
from cepctl.process.memory import MemoryBudget, default_budget

_ROW_BYTES, _COMPONENT_BYTES, _DEPTH_BYTES = 300, 150, 24
"""Generous estimates of what a match takes until it is a row, and for each of its components."""


@dataclass(frozen=True)
class MatchOptions:
    """Choices beside the plan: order, counts it is chosen from, cap on the rows, threads change no row.

    `kleene` says what a row is: a match, or all matches with the same neighbours of a group.  `top` is how
    many of the most probable rows are wanted, those as probable as the last included.
    `kept` says which rows are not left out.
    `approximate` is the error allowed to confidences beyond the work bound; None refuses them.
    `raw_times` adds to each match whether raw times alone find it.
    `exists`: only the first row of each key is wanted, and whether there is one.
    `lawless` adds the confidence without the law of order, under one.  A key with more than `law_limit` sets
    alive in one cell is refused or, with `beyond` `lawless`, computed without, which a column then says.
    `observed`: the last tick of all events, behind which nobody knows what happened; rows then say whether
    they are open, and those that are `closed` may alone be wanted.
    `of_intervals`: some event that matters lasts, perhaps one of another part of the run.
    """

    order: OrderName = "auto"
    type_counts: Mapping[str, int] | None = None
    max_matches: int = 10_000_000
    threads: int = 1
    approximate: float | None = None
    kleene: KleeneRows = "groups"
    top: int | None = None
    raw_times: bool = False
    exists: bool = False
    of_intervals: bool = False
    kept: KeptRows = ALL_ROWS
    memory: MemoryBudget = field(default_factory=default_budget)
    lawless: bool = False
    beyond: Beyond = "refuse"
    law_limit: int = MOST_SETS_ALIVE
    observed: int | None = None
    closed: bool = False

    @property
    def block_memory(self) -> BlockMemory:
        """What each thread may take for a block of matches."""
        return BlockMemory.of(self.memory, self.threads)

    def columns_of_law(self, plan: Plan) -> tuple[str, ...]:
        """The columns that rows have under the laws of a plan."""
        if not plan.laws:
            return ()
        wanted = {LAWLESS: self.lawless, LAW: self.beyond == "lawless"}
        return tuple(name for name, asked in wanted.items() if asked)

    @property
    def wanted(self) -> WantedRows:
        """Which rows are kept, and how many of the best of them."""
        return WantedRows(self.top, self.kept)

    def check_count(self, rows: int) -> None:
        """Raise QueryTooLargeError when there are more rows than allowed; the best may be of any number."""
        if self.top is None and not self.exists and rows > self.max_matches:
            raise QueryTooLargeError(
                f"the query has more than {self.max_matches:,} matches; narrow it (WITHIN, [attr], tighter "
                "predicates, CONFIDENCE), ask for the best of them with --top-k, or raise the cap with "
                "--max-matches"
            )


def pairs_at_once(plan: Plan, alternative: Alternative, options: MatchOptions) -> int:
    """Pairs of a partial match and an event that one step lists: fewer than usual where memory is short.

    Each becomes a row of the search at every depth, and at last one of the output, with its ids as text.
    """
    components = len(alternative.positive)
    each = _ROW_BYTES + components * (_COMPONENT_BYTES + _DEPTH_BYTES * components) + 16 * len(plan.returns)
    return min(PAIRS_AT_ONCE, max(options.block_memory.block // each, 1))

"""What was tried and what became of it: by construct and strategy, by check, by the reason of a refusal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from cepctl.plan.support import Construct
from tests.fuzzing.constructs import CHECKS, STRATEGIES
from tests.fuzzing.workers import Judged

_FEW = 12
_OUTCOMES = ("agreed", "refused", "skipped", "failed")


@dataclass
class Tally:
    """Counts of the cases so far; `kinds` are those of failures, with the constructs of the smaller case."""

    outcomes: Counter[str] = field(default_factory=Counter)
    by_construct: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    by_check: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[tuple[str, tuple[str, ...]]] = field(default_factory=Counter)
    with_rows: int = 0

    def add(self, judged: Judged) -> None:
        """Count a case as it was drawn."""
        verdict, query = judged.verdict, judged.case.query
        self.outcomes[verdict.outcome] += 1
        self.with_rows += verdict.rows > 0
        for construct in verdict.constructs:
            self.by_construct[construct, query.strategy, verdict.outcome] += 1
        if verdict.outcome == "agreed":
            self.pairs.update(combinations(verdict.constructs, 2))
        if verdict.checked or (verdict.outcome == "failed" and not verdict.reason.startswith("rows")):
            self.by_check[judged.case.check, verdict.outcome] += 1
        if verdict.outcome in ("refused", "skipped"):
            self.reasons[verdict.outcome, verdict.reason] += 1

    def add_smaller(self, judged: Judged) -> int:
        """Count a failure that was made smaller; how many of its kind there are by now."""
        kind = judged.verdict.reason, judged.verdict.constructs
        self.kinds[kind] += 1
        return self.kinds[kind]

    def lines(self, seconds: float) -> Iterable[str]:
        """The summary, line by line."""
        total = self.outcomes.total()
        yield from self._table_of_constructs()
        yield self._pairs()
        yield ""
        yield f"{'beside the rows of the judge':56}{'agreed':>9}{'failed':>9}"
        for check in CHECKS:
            yield f"{check:56}{self.by_check[check, 'agreed']:9}{self.by_check[check, 'failed']:9}"
        for (outcome, reason), count in self.reasons.most_common():
            yield f"{count:6} {outcome}: {reason}"
        for (reason, constructs), count in self.kinds.most_common():
            yield f"{count:6} failed: {reason}, of {', '.join(constructs)}"
        counts = ", ".join(f"{self.outcomes[outcome]:,} {outcome}" for outcome in _OUTCOMES)
        rate = f"{total / seconds:.0f} a second" if seconds else "at once"
        yield f"{total:,} cases in {seconds:.0f} s, {rate}: {counts}; {self.with_rows:,} have rows"

    def _pairs(self) -> str:
        every = list(combinations((each.value for each in Construct), 2))
        without = [" with ".join(pair) for pair in every if not self.pairs[pair]]
        line = f"{len(every) - len(without)} of {len(every)} pairs of constructs agreed in some case"
        return f"{line}; not {', '.join(without)}" if 0 < len(without) < _FEW else line

    def _table_of_constructs(self) -> Iterable[str]:
        yield f"{'agreed/refused+skipped/failed':56}" + "".join(f"{name:>22}" for name in STRATEGIES)
        for construct in Construct:
            cells = []
            for strategy in STRATEGIES.values():
                agreed, *other, failed = (
                    self.by_construct[construct.value, strategy, outcome] for outcome in _OUTCOMES
                )
                cells.append(f"{agreed}/{sum(other)}/{failed}" if agreed or failed or any(other) else "-")
            yield f"{construct.value:56}" + "".join(f"{cell:>22}" for cell in cells)

"""The summary of a match: how many rows, how long, and what raw times would have missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cepctl.matching.run import sampling_note
from cepctl.render.counting import counted, percent

if TYPE_CHECKING:
    from cepctl.engines.rows.groups import FoundRows
    from cepctl.engines.rows.kept import RowCounts
    from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class MatchSummary:
    """The result of a run; `str` gives it in one line.

    Parameters
    ----------
    found
        Matches, of which the rows in `counts` were asked for.
    counts
        Of these rows: how many they are, how many are unlikely, and so on.
    events
        Events of the input.
    rejects
        Bad records that were left out while raw input was read.
    seconds
        How long it took, by the clock.
    relevant
        Events that the predicates on single ones left; None where the engine does not tell.
    slices
        In how many slices Spark matched them; None without Spark.
    best
        Whether only the most probable rows were asked for; nobody has counted the others then.
    judged
        Whether rows were held to raw times, which those of a summary of groups cannot be.
    answer
        Of GROUP BY, the most probable key in words, empty where there is none; None of matches.
    impossible
        Of the relevant events those that end before their start in every world, so that they fit nothing.
    laws
        The laws of order that the rows are under, in words.
    """

    found: int
    counts: RowCounts
    events: int
    rejects: int
    seconds: float
    relevant: int | None
    slices: int | None
    best: bool
    judged: bool
    answer: str | None = None
    impossible: int = 0
    laws: tuple[str, ...] = ()

    def __str__(self) -> str:
        kept = self.counts.rows
        shown = "" if kept == self.found else f", {kept:,} of them written"
        found = self.found
        if self.best:
            shown, found = ", the most probable", kept
        what = ("match", "matches") if self.answer is None else ("key", "keys")
        line = f"{counted(found, *what)} in {counted(self.events, 'event')}{shown}"
        line += f"{self._work()}, {self.seconds:.1f} s"
        line += "".join(f"; under {law}" for law in self.laws)
        answer = f"; {self.answer}" if self.answer else ""
        return f"{line}{answer}; {self._doubts()}" if kept else line

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.counts.rows

    @property
    def estimates(self) -> str | None:
        """How many confidences are estimates, and how far they can be trusted; None if all are exact."""
        return sampling_note(self.counts, grouped=self.answer is not None)

    @property
    def left_out(self) -> str | None:
        """How many events cannot have happened; None if all can."""
        if not self.impossible:
            return None
        return (
            f"left out {counted(self.impossible, 'event')} that the query asks for: ends before its start in "
            "every world; ingest the log again, which names such records"
        )

    @property
    def refusals(self) -> str | None:
        """How many occurrences cost too much to be computed exactly; None if none does."""
        said = []
        if self.counts.refused:
            said.append(self._refused())
        if self.counts.uncounted:
            said.append(
                f"of {counted(self.counts.uncounted, 'key')} too many events are uncertain members of a "
                "group to be counted, or there are more sets than a number holds: expected is left empty"
            )
        return "; ".join(said) or None

    def _refused(self) -> str:
        such = f" ({self.counts.why_refused})" if self.counts.why_refused else ""
        expected = "their expected numbers are exact; " if not self.counts.uncounted else ""
        return (
            f"{self.counts.refused:,} of {counted(self.counts.rows, 'occurrence')} would cost too much to "
            "compute exactly and are left empty, last: the matches of these keys share too many events"
            f"{such}; {expected}narrow the query (WITHIN, [attr], tighter predicates), {self._remedies}"
        )

    @property
    def _remedies(self) -> str:
        if self.laws:
            return "or group by more"
        return "group by more, or allow an error with --approximate: 0.5 gives bounds that are certain"

    def _work(self) -> str:
        """How many events predicates on single ones have left, and in how many slices they were matched."""
        left = "" if self.relevant is None else f", {self.relevant:,} after filters"
        return left if self.slices is None else f"{left}, {counted(self.slices, 'slice')}"

    def _doubts(self) -> str:
        """How many rows raw times alone would have missed, and how many are unlikely."""
        from cepctl.engines.rows.kept import UNLIKELY

        counts = self.counts
        of_what = "a confidence" if self.answer is None else "an occurrence"
        said = [f"{counts.unlikely:,} with {of_what} below {UNLIKELY}"]
        if counts.unjudged:
            said.insert(0, "not compared with raw times")
        elif self.judged and counts.judged:
            of = f" of {counts.judged:,} with raw times" if counts.untimed else ""
            said.insert(0, f"raw times alone would have missed {counts.missed:,}{of}")
        elif self.judged:
            said.insert(0, "no raw times to compare with")
        if counts.open:
            said.append(f"{counts.open:,} open where the events end (--closed leaves them out)")
        return ", ".join(said)


def answer_of(plan: Plan, rows: FoundRows) -> str | None:
    """The most probable key of GROUP BY in words; None where rows are matches."""
    if plan.group_by is None:
        return None
    first = next(rows.blocks()).slice(0, 1).to_pylist()
    if not first:
        return ""
    row = first[0]
    key = ", ".join("null" if row[each.name] is None else str(row[each.name]) for each in plan.group_by)
    occurrence = "too costly" if row["occurrence"] is None else percent(row["occurrence"])
    said = [f"{key or 'any match'}: {occurrence}"]
    if row["expected"] is not None:
        said.append(f"expected {row['expected']:.2g} matches")
    if row["confidence"] is not None:
        said.append(f"best row {row['confidence']:.3g}")
    return ", ".join(said)

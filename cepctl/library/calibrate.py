"""`cepctl.calibrate`: are the probabilities of a query, or of the order of events, right?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cepctl.errors import UnsupportedQueryError, UsageError
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.laws import LawFile
from cepctl.library.notices import tell_plan
from cepctl.library.options import PathText, TruthKeywords
from cepctl.library.query_text import query_text
from cepctl.library.raw_input import RawInput
from cepctl.library.true_events import TruthAsked, asked_in, events_told, truth_of
from cepctl.notices import READING, tell
from cepctl.process.memory import MemoryBudget
from cepctl.render.counting import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.calibration.answers import Answers
    from cepctl.calibration.blurring import BlurredEvents
    from cepctl.calibration.blurs import Blur
    from cepctl.calibration.result import Calibration
    from cepctl.calibration.rows import RowsOfSeed
    from cepctl.calibration.truth import TrueEvents
    from cepctl.clocks.shared import Clocks
    from cepctl.language.ast import Query
    from cepctl.laws.law import OrderLaw
    from cepctl.library.events import Events
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan
    from cepctl.schema import TimeUnit

CASE = "case_id"


@errors_in_keywords
def calibrate(
    query: str | Path | None,
    events: Events,
    *,
    clock: str | None = None,
    by: str | None = None,
    repeat: int = 1,
    blurred: PathText | None = None,
    laws: PathText | None = None,
    **keywords: Unpack[TruthKeywords],
) -> Calibration:
    """Hide true times, and hold what is then stated to what happened.

    Parameters
    ----------
    query
        Its text, or the path of its file; None for pairs of events of one key with different steps.
    events
        As `cepctl.match` takes them; their logged times are taken as true.
    clock
        One way to hide times: `"by=node 500 ms"` gives each clock an offset of up to so much.
    by
        The attribute that names the key of an event, by which rows err together; of pairs `case_id`.
    repeat
        So many seeds are taken, from `seed` on, and their rows pooled.
    blurred
        Directory of a dataset to write the blurred events to, with the attribute `truth`.
    laws
        A model file whose laws of order (`[[law]]`) are asked, instead of those of datasets and `model`.
    keywords
        How times are hidden and rows drawn (`TruthKeywords` of cepctl/library/options.py: `coarsen`,
        `jitter`, `model`, `step`, ...), and how logs are read (`EventOptions`).

    Returns
    -------
    Calibration
        Counts, `scores` with their deciles, and the `types` of rows.

    Raises
    ------
    CepctlError
        What the user can mend.

    Examples
    --------
    >>> import pyarrow as pa
    >>> columns = {"event_type": ["A", "B"] * 2, "case_id": [7, 7, 8, 8], "lower": [1, 3, 2, 9]}
    >>> found = calibrate(None, pa.table(columns | {"upper": columns["lower"]}), coarsen="5 ms")
    >>> found.rows, found.open, found.scores.brier
    (2, 1, 0.36)
    """
    asked = replace(
        asked_in(keywords, by, clock),
        text=None if query is None else query_text(query),
        repeat=repeat,
        blurred=None if blurred is None else str(blurred),
        laws=None if laws is None else LawFile.read(laws),
    )
    with events_told(events, keywords) as (paths, choices, memory):
        return calibrated(paths, asked, choices, memory)


def calibrated(
    paths: Sequence[str], asked: TruthAsked, choices: RawInput, memory: MemoryBudget
) -> Calibration:
    """The calibration of events at some paths; logs the notes on reading them."""
    from cepctl.calibration.result import calibration
    from cepctl.language.parser import parse

    query = None if asked.text is None else _without_threshold(parse(asked.text))
    if asked.text is None and asked.by is None:
        asked = replace(asked, by=CASE)
    law = _law_of_pairs(asked) if asked.text is None else None
    truth, blur, unit = truth_of(paths, asked, choices, memory)
    run = _Run(asked, query, blur, truth, unit, memory, law)
    under = None if asked.laws is None else ", ".join(each.by for each in asked.laws.laws)
    return calibration(run.parts(), asked.text, blur.text, asked.seed, unit, under)


def _without_threshold(query: Query) -> Query:
    """All that may match is asked for: what is left out by CONFIDENCE would look impossible."""
    return replace(query, confidence=None)


def _law_of_pairs(asked: TruthAsked) -> OrderLaw | None:
    """The law under which pairs are asked about; raises UsageError where it is about other keys or steps."""
    if asked.laws is None:
        return None
    (law, *others) = asked.laws.laws
    if others:
        raise UsageError(f"--pairs asks under one law, and {asked.laws.path} states {1 + len(others)}")
    if law.by != asked.by:
        raise UsageError(f"--pairs asks of the keys of the law in {asked.laws.path}: name --by {law.by}")
    if law.step != asked.steps:
        steps = ",".join(law.step)
        raise UsageError(f"--pairs asks of the steps of the law in {asked.laws.path}: name --step {steps}")
    return law


def _refuse_clocks_under(law: OrderLaw | None, blurred: BlurredEvents) -> None:
    if law is not None and blurred.clocks:
        from cepctl.plan.laws import law_name

        raise UnsupportedQueryError(
            f"not supported yet: shared clocks under {law_name(law)}; take a blur without clocks, or leave "
            "out --laws"
        )


@dataclass(frozen=True)
class _Run:
    """Everything that the seeds have in common."""

    asked: TruthAsked
    query: Query | None
    blur: Blur
    truth: TrueEvents
    unit: TimeUnit
    memory: MemoryBudget
    law: OrderLaw | None

    def parts(self) -> list[RowsOfSeed]:
        """The rows of every seed."""
        true = None if self.query is None else self._true_answers(self.truth, telling=True)
        seeds = range(self.asked.seed, self.asked.seed + self.asked.repeat)
        found = [self._rows(seed, true) for seed in seeds]
        left_out = sum(count for _, count in found)
        if left_out:
            each = f" in {self.asked.repeat} draws" if self.asked.repeat > 1 else ""
            events = counted(left_out, "event")
            tell(READING, "note", f"left out {events} that no reading of a recorded clock stands for{each}")
        return [rows for rows, _ in found]

    def _rows(self, seed: int, true: Answers | None) -> tuple[RowsOfSeed, int]:
        """The rows of a seed, and how many events it leaves out, which then did not happen either."""
        from cepctl.calibration.blurring import blurred_events
        from cepctl.calibration.pairs import pair_rows
        from cepctl.calibration.truth import steps_of

        blurred = blurred_events(self.truth, self.blur, seed, self.unit)
        if self.asked.blurred is not None:
            from cepctl.calibration.storing import keep

            keep(blurred, self.unit, self.asked.blurred)
        steps, left_out = steps_of(blurred.table, self.asked.steps), len(self.truth) - len(blurred)
        if true is None:
            _refuse_clocks_under(self.law, blurred)
            return pair_rows(blurred, steps, self.unit, self.memory, self.law), left_out
        if left_out:
            true = self._true_answers(blurred.truth, telling=False)
        return self._answer_rows(blurred, steps, true), left_out

    def _answer_rows(self, blurred: BlurredEvents, steps: pa.ChunkedArray, true: Answers) -> RowsOfSeed:
        from cepctl.calibration.answers import answer_rows

        laws = () if self.asked.laws is None else self.asked.laws.laws
        return answer_rows(self._answers(blurred.table, blurred.clocks, laws), true, blurred, steps)

    def _true_answers(self, truth: TrueEvents, *, telling: bool) -> Answers:
        from cepctl.calibration.blurring import at_true_ticks

        return self._answers(at_true_ticks(truth), {}, (), telling=telling)

    def _answers(
        self, table: pa.Table, clocks: Clocks, laws: tuple[OrderLaw, ...], *, telling: bool = False
    ) -> Answers:
        """What the query answers on some events, which become a dataset for as long as that takes.

        `telling`: what the query asks for that can hardly be meant is said.
        """
        from cepctl.atomic.folders import temporary_folder
        from cepctl.calibration.storing import write_dataset
        from cepctl.io.source.locations import Location
        from cepctl.matching.inputs import open_events
        from cepctl.plan.analyze import analyze

        assert self.query is not None
        with temporary_folder() as folder:
            place = folder / "events"
            place.mkdir()
            write_dataset(table, clocks, self.unit, Location.of(str(place)))
            with open_events([str(place)], memory=self.memory) as inputs:
                plan = analyze(self.query, replace(inputs.schema, laws=laws))
                if telling:
                    tell_plan(plan)
                return self._found(plan, inputs, folder)

    def _found(self, plan: Plan, inputs: EventInputs, folder: Path) -> Answers:
        """The rows of a plan; with GROUP BY also the matches that they are about."""
        from cepctl.calibration.answers import Answers
        from cepctl.engines.event.options import MatchOptions
        from cepctl.library.execution import execution_of
        from cepctl.matching.run import find_rows
        from cepctl.plan.grouping import ungrouped

        options = MatchOptions(
            type_counts=inputs.schema.type_counts, memory=self.memory, lawless=True, beyond="lawless"
        )
        here = execution_of("event", "local", None, None, None)
        rows = find_rows(plan, inputs, options, here, folder).table()
        if plan.group_by is None:
            return Answers(plan, rows)
        beside = folder / "matches"
        beside.mkdir()
        return Answers(plan, rows, find_rows(ungrouped(plan), inputs, options, here, beside).table())

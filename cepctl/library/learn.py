"""`cepctl.learn`: in which order events of a key usually happen, as a law for events with uncertain times."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Unpack

from cepctl.errors import UnsupportedQueryError, UsageError
from cepctl.library.events import paths_of
from cepctl.library.exclusions import refuse_for_datasets
from cepctl.library.keywords import told_in_keywords
from cepctl.library.options import EventOptions, PathText, raw_input
from cepctl.library.raw_input import RawInput
from cepctl.library.true_events import TYPE, TruthAsked, truth_of
from cepctl.process.memory import MemoryBudget, budget_of, default_budget

if TYPE_CHECKING:
    from cepctl.laws.learning.learned import Learned
    from cepctl.library.events import Events

MOST_KEYS = 2_000
ONE_BLUR = (
    "name one blur, the way in which true times are hidden: --coarsen '1 day', --jitter '60 s' or "
    "--model FILE"
)

NO_CLOCKS = "learn takes no shared clocks, whose events err together: it learns from events that err alone"


@told_in_keywords
def learn(
    events: Events,
    *,
    by: str,
    step: str | Sequence[str] = TYPE,
    coarsen: str | None = None,
    jitter: str | None = None,
    model: PathText | None = None,
    part: str | None = None,
    seed: int = 1,
    max_keys: int = MOST_KEYS,
    no_given: bool = False,
    max_memory: str | None = None,
    **reading: Unpack[EventOptions],
) -> Learned:
    """Learn a law of order from events whose times are known: hide the times, and see which order was true.

    Parameters
    ----------
    events
        As `cepctl.match` takes them; their logged times are taken as true.
    by
        The attribute that names the key of an event.
    step
        The attribute, or attributes, that name its step.
    coarsen, jitter, model
        How times are hidden, as `cepctl.calibrate` has it.
    part
        `"I/K"`: only the keys whose place in code-point order is I modulo K.
    seed
        Of the draws, of which keys are taken and of their folds.
    max_keys
        Learn from so many keys at most.
    no_given
        Leave out what the datasets say that every world satisfies.
    max_memory
        Take at most so much memory, such as `2GB`; half of what the machine has, where it is None.
    reading
        How raw logs and tables are read, as `cepctl.match` has it.

    Returns
    -------
    Learned
        The `law`, its `scores` on held-out keys, and the `text` of the file that holds both.

    Raises
    ------
    NoLawError
        If the events teach no law.
    CepctlError
        What the user can mend.

    Examples
    --------
    >>> import pyarrow as pa
    >>> ticks = [tick + 10 * key for key in range(40) for tick in (2, 5)]
    >>> columns = {"event_type": ["Open", "Shut"] * 40, "door": [key for key in range(40) for _ in "os"]}
    >>> found = learn(pa.table(columns | {"lower": ticks, "upper": ticks}), by="door", coarsen="10 ms")
    >>> found.law.before["Open", "Shut"] > 1, found.keys
    (True, 40)
    """
    asked = TruthAsked(
        text=None,
        blur=(coarsen, jitter, None, None if model is None else str(model)),
        by=by,
        steps=(step,) if isinstance(step, str) else tuple(step),
        part=part,
        seed=seed,
        no_given=no_given,
        command="learn",
    )
    choices = raw_input(reading)
    with ExitStack() as opened:
        paths = paths_of(events, opened)
        refuse_for_datasets(paths, reading)
        memory = default_budget() if max_memory is None else budget_of(max_memory)
        return learned_from(paths, asked, max_keys, choices, memory)


def learned_from(
    paths: Sequence[str], asked: TruthAsked, most_keys: int, choices: RawInput, memory: MemoryBudget
) -> Learned:
    """The law of events at some paths; logs the notes on reading them."""
    from cepctl.laws.learning.likelihood import require_scipy

    require_scipy()
    if most_keys < 1:
        raise UsageError(f"--max-keys {most_keys} takes no key; take 1 or more")
    if sum(each is not None for each in asked.blur) != 1:
        raise UsageError(ONE_BLUR)
    truth, blur, unit = truth_of(paths, asked, choices, memory)
    from cepctl.calibration.blurring import blurred_events
    from cepctl.calibration.truth import steps_of
    from cepctl.engines.concurrency import usable_cores
    from cepctl.laws.learning.learned import Lesson, learned

    if any(rule.clock is not None for rule in blur.rules):
        raise UnsupportedQueryError(
            f"{NO_CLOCKS}; leave the clock out of {blur.text}, or take --jitter with as much as it errs"
        )
    assert asked.by is not None
    blurred = blurred_events(truth, blur, asked.seed, unit)
    lesson = Lesson(asked.by, asked.steps, blur.text, asked.part, asked.seed, most_keys)
    return learned(blurred, steps_of(blurred.table, asked.steps), lesson, unit, memory, usable_cores())

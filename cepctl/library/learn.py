"""`cepctl.learn`: in which order events of a key usually happen, as a law for events with uncertain times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

from cepctl.errors import UnsupportedQueryError, UsageError
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.options import TruthKeywords
from cepctl.library.raw_input import RawInput
from cepctl.library.true_events import TruthAsked, asked_in, events_told, truth_of
from cepctl.process.memory import MemoryBudget

if TYPE_CHECKING:
    from cepctl.laws.learning.learned import Learned
    from cepctl.library.events import Events

MOST_KEYS = 2_000
ONE_BLUR = (
    "name one blur, the way in which true times are hidden: --coarsen '1 day', --jitter '60 s' or "
    "--model FILE"
)

NO_CLOCKS = "learn takes no shared clocks, whose events err together: it learns from events that err alone"


@errors_in_keywords
def learn(
    events: Events,
    *,
    by: str,
    max_keys: int = MOST_KEYS,
    **keywords: Unpack[TruthKeywords],
) -> Learned:
    """Learn a law of order from events whose times are known: hide the times, and see which order was true.

    Parameters
    ----------
    events
        As `cepctl.match` takes them; their logged times are taken as true.
    by
        The attribute that names the key of an event.
    max_keys
        Learn from so many keys at most.
    keywords
        How times are hidden and keys drawn (`TruthKeywords` of cepctl/library/options.py: `coarsen`,
        `jitter`, `model`, `step`, ...), and how logs and tables are read (`EventOptions`).

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
    asked = replace(asked_in(keywords, by), command="learn")
    with events_told(events, keywords) as (paths, choices, memory):
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

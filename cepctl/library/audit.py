"""`cepctl.audit`: what the times of logs are worth, and what settles what they leave open."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Unpack

from cepctl.errors import UsageError
from cepctl.library.events import paths_of
from cepctl.library.exclusions import refuse_for_datasets
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.notices import tell_reading
from cepctl.library.options import EventOptions, raw_input
from cepctl.library.raw_input import RawInput, given_ingest_options, ingest_options
from cepctl.process.memory import MemoryBudget, reading_budget

if TYPE_CHECKING:
    from cepctl.inspection.auditing.findings import Audit, SourceAudit
    from cepctl.library.events import Events


@dataclass(frozen=True, repr=False)
class Audited:
    """What the times of events are worth: `audit` as values, `model` as rules, `str` as text.

    `model` is the uncertainty model (TOML) that the times suggest, with the options that settle the rest.
    """

    audit: Audit
    model: str = ""

    @property
    def sources(self) -> tuple[SourceAudit, ...]:
        """Each source with its verdict and its findings, the worst first."""
        return self.audit.sources

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict on each source."""
        return {each.source: each.verdict for each in self.audit.sources}

    def to_json(self) -> dict[str, Any]:
        """All of it as values that JSON has, as `cepctl audit --json` has them."""
        return self.audit.to_json()

    def __repr__(self) -> str:
        from cepctl.render.audit import print_audit

        held = io.StringIO()
        print_audit(self.audit, held)
        return held.getvalue().rstrip()


@errors_in_keywords
def audit(events: Events, *, max_memory: str | None = None, **reading: Unpack[EventOptions]) -> Audited:
    """Tell what the times of events are worth: zones, units, steps back, second times, open orders, clocks.

    Parameters
    ----------
    events
        As `cepctl.match` takes them: logs tell most, a dataset has forgotten how its times were written.
    max_memory
        Take at most so much memory, such as `2GB`; half of what the machine has, where it is None.
    reading
        How raw logs and tables are read, as `cepctl.match` has it.

    Raises
    ------
    CepctlError
        What the user can mend.

    Examples
    --------
    >>> import pyarrow as pa
    >>> events = pa.table({"event_type": ["A", "B"], "lower": [1, 3], "upper": [4, 6]})
    >>> [each.verdict for each in audit(events).sources]
    ['weighted']
    """
    choices = raw_input(reading)
    with ExitStack() as opened:
        paths = paths_of(events, opened)
        refuse_for_datasets(paths, reading)
        return audited(paths, choices, reading_budget(max_memory))


def audited(
    paths: Sequence[str], choices: RawInput, memory: MemoryBudget, *, with_model: bool = True
) -> Audited:
    """Audit events at some paths, and log the notes on reading them; a model takes a second look at them."""
    from cepctl.inspection.auditing.lines import with_lines
    from cepctl.inspection.auditing.overview import audit_events
    from cepctl.inspection.auditing.settling import settling_model
    from cepctl.inspection.overview import inspect_events
    from cepctl.matching.inputs import open_events

    with open_events(paths, given_ingest_options(choices), memory) as inputs:
        tell_reading(inputs.summary)
        found = audit_events(inputs, memory)
        if inputs.summary is not None:
            formats = {each.file: each.format for each in inputs.summary.accounts}
            found = with_lines(found, paths, formats, ingest_options(choices).read)
        if not with_model:
            return Audited(found)
        return Audited(found, settling_model(found, inspect_events(inputs, memory)))


def require_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    """Kinds of findings; raises UsageError for one that there is not."""
    from cepctl.inspection.auditing.findings import KINDS

    chosen = tuple(kinds)
    for kind in chosen:
        if kind not in KINDS:
            near = get_close_matches(kind, KINDS, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(KINDS)}"
            raise UsageError(f"--fail-on {kind}: an audit has no findings of this kind; {hint}")
    return chosen

"""`cepctl.inspect`: what is in a set of events, and what its times can be trusted for."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from cepctl.io.contract.message_template import TEMPLATE
from cepctl.library.events import paths_of
from cepctl.library.exclusions import refuse_for_datasets
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.notices import tell_reading
from cepctl.library.options import EventOptions, raw_input
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.process.memory import MemoryBudget, reading_budget

if TYPE_CHECKING:
    from cepctl.inspection.overview import Inspection
    from cepctl.library.events import Events
    from cepctl.matching.inputs import EventInputs

_COPIES = 2
"""Events are held as they are read, and joined."""


@dataclass(frozen=True, repr=False)
class Inspected:
    """What was found in events: `facts` as values, `model` as a suggestion, `str` as tables."""

    facts: Inspection

    @property
    def model(self) -> str:
        """The uncertainty model (TOML) that the times suggest, with its evidence; to be written to a file."""
        from cepctl.inspection.suggestion import suggested_model

        return suggested_model(self.facts)

    def to_json(self) -> dict[str, Any]:
        """All facts as values that JSON has, as `cepctl inspect --format json` writes them."""
        from cepctl.render.inspection import inspection_facts

        facts = inspection_facts(self.facts)
        of_types = {name: facts[name] for name in ("types", "grains")}
        others = json.loads(json.dumps({**facts, **dict.fromkeys(of_types)}))
        return {**others, **of_types}

    def __repr__(self) -> str:
        from cepctl.render.inspection import print_inspection

        held = io.StringIO()
        print_inspection(self.facts, held)
        return held.getvalue().rstrip()


@errors_in_keywords
def inspect(events: Events, *, max_memory: str | None = None, **reading: Unpack[EventOptions]) -> Inspected:
    """Count and measure events: types, attributes, span, and how far their times can be trusted.

    Parameters
    ----------
    events
        As `cepctl.match` takes them; nothing is changed.
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
    >>> inspect(events).facts.events
    2
    """
    choices = raw_input(reading)
    with ExitStack() as opened:
        paths = paths_of(events, opened)
        refuse_for_datasets(paths, reading)
        return inspected(paths, choices, reading_budget(max_memory))


def templates_of_events(paths: Sequence[str], choices: RawInput, memory: MemoryBudget) -> str:
    """The templates that type messages in events at some paths, as a file of templates."""
    from cepctl.io.templates.files import templates_file
    from cepctl.matching.inputs import open_events

    with open_events(paths, given_ingest_options(choices), memory) as inputs:
        tell_reading(inputs.summary)
        found = {each.text: each for dataset in inputs.datasets for each in dataset.templates}
        counts = inputs.schema.type_counts or {}
        return templates_file(list(found.values()), counts, _programs(inputs, memory))


def _programs(inputs: EventInputs, memory: MemoryBudget) -> dict[str, dict[str, int]]:
    """How many events of which types have each template as an attribute."""
    if not pa.types.is_string(inputs.schema.attributes.get(TEMPLATE, pa.null())):
        return {}
    inputs.require_room([TEMPLATE], _COPIES, memory, "inspect")
    events = inputs.read([TEMPLATE]).select([TEMPLATE, "event_type"])
    found: dict[str, dict[str, int]] = {}
    for row in events.group_by([TEMPLATE, "event_type"]).aggregate([([], "count_all")]).to_pylist():
        if row[TEMPLATE] is not None:
            found.setdefault(row[TEMPLATE], {})[row["event_type"]] = row["count_all"]
    return found


def inspected(paths: Sequence[str], choices: RawInput, memory: MemoryBudget) -> Inspected:
    """Inspect events at some paths, and log the notes on reading them."""
    from cepctl.inspection.overview import inspect_events
    from cepctl.matching.inputs import open_events

    with open_events(paths, given_ingest_options(choices), memory) as inputs:
        tell_reading(inputs.summary)
        return Inspected(inspect_events(inputs, memory))

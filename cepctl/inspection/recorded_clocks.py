"""What hosts recorded of the clocks of the events, dataset by dataset."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from cepctl.clocks.checks.in_use import ClocksInUse, clocks_in_use, joined, model_in_use
from cepctl.matching.inputs import EventInputs
from cepctl.schema import META_CLOCK_RECORDS, META_MODEL


def recorded_clocks(inputs: EventInputs) -> ClocksInUse | None:
    """What the tables say that made the inputs; None where none did, and then nothing is read."""
    found = list(_of_datasets(inputs))
    return joined(found) if found else None


def _of_datasets(inputs: EventInputs) -> Iterator[ClocksInUse]:
    for dataset in inputs.datasets:
        metadata = dataset.schema.metadata or {}
        files = json.loads(metadata.get(META_CLOCK_RECORDS, b"{}"))
        if files:
            model = model_in_use(metadata[META_MODEL].decode(), files)
            rules = () if model is None else model.rules
            needed = frozenset[str]().union(*(rule.columns_read for rule in rules))
            names = [name for name in inputs.schema.attributes if name in needed]
            events = replace(inputs, datasets=(dataset,), only=None).read(names)
            yield clocks_in_use(events, inputs.schema.time_unit, files, model)

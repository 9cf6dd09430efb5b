"""A case as what `cepctl match` takes: a file of events, a query of it, and laws."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import fields

from cepctl.schema import ATTRIBUTE_PREFIX, RECORD, WRITER
from tests.fuzzing.queries import Case
from tests.plans import Event


def query_of_file(case: Case) -> str:
    """The query as it is asked of the plain file, whose own columns of these names are attributes there."""
    return re.sub(rf"\b({WRITER}|{RECORD})\b", rf"`{ATTRIBUTE_PREFIX}\1`", str(case.query))


def laws_toml(case: Case) -> str:
    """The laws as a model file has them; empty without any."""
    text = ""
    for law in case.laws:
        text += f'[[law]]\nby = "{law.by}"\nstep = {list(law.step)}\n'
        for name, factors in (("next", law.following), ("before", law.before)):
            for first, second in factors:
                text += f'{name}."{first}"."{second}" = {factors[first, second]}\n'
    return text


def events_csv(case: Case) -> str:
    """The events as a plain file, with the columns that some event has or the query names."""
    named = {"event_id", "event_type", "lower", "upper", *re.findall(r"\w+", str(case.query))}
    columns = [each.name for each in fields(Event)]
    used = [
        name
        for name in columns
        if name in named or any(getattr(event, name) is not None for event in case.events)
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*used, *(["clock_offset"] if "clock" in used else [])])
    for event in case.stamped:
        row = [_cell(getattr(event, name)) for name in used]
        if "clock" in used:
            row.append("" if event.clock is None else _cell(case.clocks[event.clock]))
        writer.writerow(row)
    return text.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return "|".join(f"{lo}:{hi}:{p!r}" for lo, hi, p in value)
    return "" if value is None else str(value)

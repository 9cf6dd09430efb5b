"""A failing case as files: events that `cepctl match` reads, the query, and both answers."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import fields
from pathlib import Path

from cepctl.clocks.ties import ClockTie, ties_of
from cepctl.schema import ATTRIBUTE_PREFIX, RECORD, WRITER
from tests.fuzzing.queries import Case
from tests.fuzzing.workers import Judged
from tests.plans import Event


def keep(judged: Judged, folder: Path) -> str:
    """Write a failing case into a folder of its own below `folder`; its text."""
    place = folder / f"case-{judged.number}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "events.csv").write_text(events_csv(judged.case), encoding="utf-8")
    if judged.case.laws:
        (place / "laws.toml").write_text(laws_toml(judged.case), encoding="utf-8")
    (place / "query.txt").write_text(f"{query_of_file(judged.case)}\n", encoding="utf-8")
    text = description(judged, place)
    (place / "answers.txt").write_text(text, encoding="utf-8")
    return text


def description(judged: Judged, place: Path) -> str:
    """The case, and both answers."""
    verdict = judged.verdict
    ties = "".join(map(_told, ties_of(judged.case.used_clocks)))
    laws = f" --laws {place}/laws.toml" if judged.case.laws else ""
    return (
        f"\n=== case {judged.number}: {verdict.reason} ({judged.case.check or 'rows alone'})\n"
        f"{judged.case.query}\n{events_csv(judged.case)}{ties}{laws_toml(judged.case)}"
        f"--- expected\n{verdict.expected}\n--- found\n{verdict.found}\n"
        f"--- cepctl match -f {place}/query.txt {place}/events.csv --time ticks{laws}\n"
    )


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


def _told(tie: ClockTie) -> str:
    """A tie, which a plain file of events cannot say."""
    return f"the offsets of {tie.before} and {tie.after} differ by {tie.ticks} at most\n"


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return "|".join(f"{lo}:{hi}:{p!r}" for lo, hi, p in value)
    return "" if value is None else str(value)

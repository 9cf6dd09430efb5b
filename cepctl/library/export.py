"""`cepctl.export_xes`: events written back as an event log of process mining, uncertain times and all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cepctl.errors import EventSchemaError, JobError, UsageError
from cepctl.library.events import paths_of
from cepctl.library.exclusions import refuse_for_datasets
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.notices import tell_reading
from cepctl.library.options import EventOptions, raw_input
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.notices import READING, tell
from cepctl.process.memory import MemoryBudget, budget_of, default_budget
from cepctl.render.counting import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.library.events import Events
    from cepctl.library.options import PathText
    from cepctl.matching.inputs import EventInputs

CASE_ID = "case_id"
_TOLD = frozenset({"case_id", "case:concept:name", "time:timestamp", "zone_seconds"})
"""Attributes that traces and times of the log tell by themselves."""


@dataclass
class Exported:
    """What has been written: numbers of events and of cases."""

    events: int = 0
    cases: int = 0


@errors_in_keywords
def export_xes(
    events: Events,
    output: PathText,
    *,
    by: str | Sequence[str] = CASE_ID,
    max_memory: str | None = None,
    **reading: Unpack[EventOptions],
) -> Exported:
    """Write events as an event log in XES (IEEE 1849), with its keys for uncertain times.

    Parameters
    ----------
    events
        As `cepctl.match` takes them.
    output
        The file, compressed where its name ends with `.gz`; it appears whole or not at all.
    by
        The attribute, or attributes, that name the case of an event; one without it stands outside of traces.
    max_memory
        Take at most so much memory, such as `2GB`; half of what the machine has, where it is None.
    reading
        How raw logs and tables are read, as `cepctl.match` has it.

    Returns
    -------
    Exported
        How many events and cases there are.

    Raises
    ------
    CepctlError
        What the user can mend.

    Examples
    --------
    >>> import pyarrow as pa, tempfile
    >>> events = pa.table({"event_type": ["A", "B"], "case_id": [7, 7], "lower": [1, 3], "upper": [4, 6]})
    >>> export_xes(events, tempfile.mkdtemp() + "/log.xes")
    Exported(events=2, cases=1)
    """
    from cepctl.atomic.files import write_whole_file

    names = [by] if isinstance(by, str) else list(by)
    choices = raw_input(reading)
    file = Path(output)
    done = Exported()
    with ExitStack() as opened:
        paths = paths_of(events, opened)
        refuse_for_datasets(paths, reading)
        refuse_overwriting({"output": str(file)}, paths, choices)
        memory = default_budget() if max_memory is None else budget_of(max_memory)
        pieces = xes_pieces(paths, names, choices, memory, done, compressed=file.name.endswith(".gz"))
        try:
            write_whole_file(file, pieces)
        except OSError as problem:
            raise JobError(f"cannot write {file}: {problem.strerror}") from None
    return done


def xes_pieces(
    paths: Sequence[str],
    by: Sequence[str],
    choices: RawInput,
    memory: MemoryBudget,
    done: Exported,
    *,
    compressed: bool = False,
) -> Iterator[bytes]:
    """The bytes of the log of events at some paths; logs what is to be said, and counts in `done`."""
    pieces = _plain_pieces(paths, by, choices, memory, done)
    if not compressed:
        return pieces
    from cepctl.io.rows.encoding import compressed as with_codec

    return with_codec(pieces, "gzip")


def _plain_pieces(
    paths: Sequence[str], by: Sequence[str], choices: RawInput, memory: MemoryBudget, done: Exported
) -> Iterator[bytes]:
    import pyarrow.compute as pc

    from cepctl.io.xes.document import CASE, HEAD, TAIL, log_text, replaced_characters, require_names
    from cepctl.matching.by_case import events_by_case
    from cepctl.matching.inputs import open_events

    with open_events(paths, given_ingest_options(choices), memory) as inputs:
        tell_reading(inputs.summary)
        _refuse_unknown(inputs, by)
        names = [name for name in inputs.schema.attributes if name not in _TOLD]
        require_names(names, "the attribute")
        require_names(list(inputs.schema.type_counts or {}), "the event type")
        _tell_what_is_lost(inputs)
        read = [*names, *(name for name in ("zone_seconds",) if name in inputs.schema.attributes)]
        replaced = without_case = lengths = 0
        yield HEAD
        for events in events_by_case(inputs, by, read, memory, CASE):
            cases = events.column(CASE)
            done.events += len(events)
            done.cases += pc.count_distinct(cases).as_py()
            without_case += cases.null_count
            replaced += replaced_characters(events)
            lengths += _with_lengths(events)
            yield from log_text(events, inputs.schema.time_unit, names)
        yield TAIL
    if without_case:
        which = f"{counted(without_case, 'event')} without {', '.join(by)}"
        tell(READING, "note", f"{which}: written outside of traces, where some programs do not look")
    if replaced:
        tell(
            READING, "warning", f"{counted(replaced, 'value')} with characters that XML cannot write: U+FFFD"
        )
    if lengths:
        tell(READING, "warning", f"bounds of the length of {counted(lengths, 'event')} are not written")


def _with_lengths(events: pa.Table) -> int:
    """How many events say more of their length than their ends do."""
    import polars as pl

    from cepctl.schema import LENGTH_LOWER, LENGTH_UPPER

    frame = pl.from_arrow(events)
    assert isinstance(frame, pl.DataFrame)
    known = [name for name in (LENGTH_LOWER, LENGTH_UPPER) if name in frame.columns]
    return int(frame.select(pl.any_horizontal(pl.col(known).is_not_null()).sum()).item()) if known else 0


def _refuse_unknown(inputs: EventInputs, by: Sequence[str]) -> None:
    known = inputs.schema.attributes
    for name in by:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"attributes: {', '.join(known) or 'none'}"
            raise EventSchemaError(
                f"--by {name}: no event has this attribute; name the one that tells cases apart ({hint})"
            )
    if len(set(by)) < len(by):
        raise UsageError("--by names an attribute twice")


def _tell_what_is_lost(inputs: EventInputs) -> None:
    """Say what XES has no keys for."""
    if inputs.schema.clocks:
        tell(
            READING,
            "warning",
            "events share clocks, for which XES has no key: each is written as if it erred alone",
        )
    if inputs.schema.without_order().given:
        tell(READING, "warning", "[[given]] of the dataset is not written, since XES has no key for it")
    if inputs.schema.laws:
        tell(READING, "warning", "[[law]] of the dataset is not written, since XES has no key for it")

"""Whether the records of clocks allow the orders that are known of events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.library.clocks import duration
from cepctl.library.notices import tell_reading
from cepctl.library.orders import orders_of
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.notices import READING, tell
from cepctl.process.memory import reading_budget
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.clocks.checks.excluded import Check, Unchecked

_COPIES = 6
"""Events are held as they are read, as the columns of the engine, and with the stamps of both ends."""


@dataclass(frozen=True)
class CheckOptions:
    """What the user says of a check, as text.

    Attributes
    ----------
    given
        Orders beside those of the datasets, as GIVEN has them.
    by
        The attribute that names the host of an event.
    granularity
        For how long after its reading a stamp stands.
    time_zone
        Of times of raw logs without one.
    """

    given: tuple[str, ...] = ()
    by: str = "node"
    granularity: str = "0 s"
    time_zone: str | None = None


def checked_clocks(paths: Sequence[str], clocks: str, options: CheckOptions) -> Check:
    """The known orders of events at some paths that the records of clocks exclude; logs what is left out.

    Raises
    ------
    CepctlError
        What the user can mend.
    """
    from cepctl.clocks.checks.excluded import check
    from cepctl.matching.inputs import open_events
    from cepctl.plan.given import attribute_names
    from cepctl.uncertainty.clock_records import read_records

    granularity = duration("--granularity", options.granularity, least=0)
    records = read_records(Path(clocks), evidence=True)
    memory = reading_budget()
    with open_events(paths, given_ingest_options(RawInput(tz=options.time_zone)), memory) as inputs:
        tell_reading(inputs.summary)
        given = orders_of(options.given, inputs.schema)
        attributes = sorted({options.by, *attribute_names(given) & inputs.schema.readable.keys()})
        inputs.require_room(attributes, _COPIES, memory, "clocks --check")
        table = inputs.read(attributes)
    found = check(table, options.by, inputs.schema.time_unit, given, records, granularity)
    for clause in found.empty:
        tell(
            READING, "warning", f"GIVEN {clause}: no event fits some of its components, so it orders nothing"
        )
    for cause, count in _causes(found.unchecked, options.by, clocks):
        message = f"{counted(count, 'event')} {cause}; not checked"
        tell(READING, "note", message, cause=cause, events=count)
    return found


def _causes(found: Unchecked, by: str, clocks: str) -> Iterator[tuple[str, int]]:
    """Why events are not checked, in words, and how many."""
    causes = (
        (f"without '{by}'", found.no_value),
        (f"of hosts that {clocks} does not have", found.no_host),
        ("without a time of the log", found.no_reading),
        (f"at times of which {clocks} says nothing", found.no_piece),
    )
    return ((cause, count) for cause, count in causes if count)

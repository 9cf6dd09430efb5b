"""How far clocks are ahead of a reference, from pairs of events that are known to be ordered, as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from cepctl.errors import ContradictionError, UsageError
from cepctl.library.clocks import duration, parts_per_million
from cepctl.library.notices import tell_reading
from cepctl.library.orders import orders_of
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.notices import READING, tell
from cepctl.process.memory import reading_budget
from cepctl.render.counting import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.clocks.hulls.event_hulls import HullSummary
    from cepctl.clocks.hulls.table import Hulls
    from cepctl.plan.event_schema import EventSchema
    from cepctl.plan.plan import Given

_COPIES = 8
"""Events are held as they are read, as the columns of the engine, and as pairs and bounds."""
_SECOND = 10**9
_NAMED = 5


@dataclass(frozen=True)
class HullOptions:
    """What the user says of events whose order is known, as text.

    Attributes
    ----------
    reference
        The host whose clock is right; an empty text for the clock of events without a host.
    given
        Orders beside those of the datasets, as GIVEN has them.
    by
        The attribute that names the host of an event.
    window
        For how long the difference of two clocks is a line.
    drift
        How steep such a line can be.
    granularity
        For how long after its reading a stamp stands.
    time_zone
        Of times of raw logs without one.
    """

    reference: str
    given: tuple[str, ...] = ()
    by: str = "node"
    window: str = "10 min"
    drift: str = "200 ppm"
    granularity: str = "0 s"
    time_zone: str | None = None


@dataclass
class FoundHulls:
    """What was found; `summaries` has the figures of the hosts whose tables were taken."""

    found: Hulls
    summaries: list[HullSummary] = field(default_factory=list)

    def tables(self) -> Iterator[pa.Table]:
        """The rows of CLOCKS, a host at a time."""
        from cepctl.clocks.hulls.table import hull_tables

        return hull_tables(self.found, self.summaries)


def clock_hulls(paths: Sequence[str], options: HullOptions) -> FoundHulls:
    """Bound the clocks of the hosts of events at some paths; logs what is left out.

    Raises
    ------
    CepctlError
        What the user can mend.
    """
    from cepctl.clocks.hulls.pairs import NAMELESS, host_events
    from cepctl.clocks.hulls.table import HullChoices, hulls
    from cepctl.matching.inputs import open_events
    from cepctl.plan.given import attribute_names
    from cepctl.render.clock_hulls import contradiction_lines

    granularity = duration("--granularity", options.granularity, least=0)
    window = duration("--window", options.window, least=_SECOND)
    drift = parts_per_million(options.drift, least=1)
    memory = reading_budget()
    with open_events(paths, given_ingest_options(RawInput(tz=options.time_zone)), memory) as inputs:
        tell_reading(inputs.summary)
        schema = inputs.schema
        _require_attribute(options.by, schema)
        _refuse_recorded(schema)
        given = orders_of(options.given, schema)
        attributes = sorted({options.by, *attribute_names(given) & schema.readable.keys()})
        inputs.require_room(attributes, _COPIES, memory, "clocks --reference")
        table = inputs.read(attributes)
    bare = options.reference == NAMELESS
    own = host_events(table, options.by, schema.time_unit, schema.clocks, granularity, bare=bare)
    _require_host(options, own.hosts)
    found = hulls(own, given, own.hosts.index(options.reference), HullChoices(window, drift))
    if found.contradictions.height:
        raise ContradictionError("\n".join(contradiction_lines(found, options.drift)))
    _require_pairs(found, given, options)
    _tell(found, options)
    return FoundHulls(found)


def _require_attribute(by: str, schema: EventSchema) -> None:
    if by not in schema.attributes:
        near = get_close_matches(by, schema.attributes, 1)
        known = f"did you mean --by {near[0]}?" if near else _list_of(list(schema.attributes), "attributes")
        raise UsageError(f"--by {by}: no event has this attribute; {known}")


def _refuse_recorded(schema: EventSchema) -> None:
    """Events that a table of clocks has moved do not tell what their clocks showed."""
    from cepctl.uncertainty.recorded_offsets import RECORDED_NAME

    recorded = next((name for name in schema.clocks if re.match(RECORDED_NAME, name)), None)
    if recorded is not None:
        raise UsageError(
            f"the events have the clock {recorded} of a table already; ingest them without that rule"
        )


def _require_host(options: HullOptions, hosts: Sequence[str]) -> None:
    if options.reference not in hosts:
        near = get_close_matches(options.reference, hosts, 1)
        known = f"did you mean {near[0]}?" if near else _list_of(hosts, "hosts")
        raise UsageError(f"--reference {options.reference}: no event has this '{options.by}'; {known}")


def _list_of(names: Sequence[str], what: str) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"{what}: {', '.join(names[:_NAMED]) or 'none'}{more}"


def _require_pairs(found: Hulls, given: Sequence[Given], options: HullOptions) -> None:
    """Raise UsageError where a clock cannot be bounded, with what is missing."""
    if not found.pairs:
        clauses = "; ".join(each.text for each in given)
        raise UsageError(
            f"no two events of two hosts ('{options.by}') are ordered by {clauses}; say an order of events "
            "of two hosts, such as --given 'SEQ(Send a, Receive b) IF a.id = b.id'"
        )
    if not found.unconnected:
        return
    reference = found.hosts[found.reference] or "the clock of events without a host"
    one_sided = [host for host, two_sided in found.unconnected if not two_sided]
    if one_sided:
        hosts = _list_of(one_sided, "the clocks of these hosts from one side alone")
        what, order = f"the known orders bound {hosts}", "orders of their events the other way, too"
    else:
        hosts = _list_of([host for host, _ in found.unconnected], "these hosts")
        what, order = f"no chain of known orders ties {reference} to {hosts}", "orders that do"
    raise UsageError(f"{what}; say {order}, or leave these hosts out by IF")


def _tell(found: Hulls, options: HullOptions) -> None:
    """Say what could not be used."""
    for clause in found.empty:
        tell(
            READING, "warning", f"GIVEN {clause}: no event fits some of its components, so it orders nothing"
        )
    if found.without_host:
        tell(READING, "note", f"{counted(found.without_host, 'event')} without '{options.by}'; not used")
    if found.one_sided:
        what = "of two hosts with bounds from one side alone; not used"
        tell(READING, "note", f"{counted(found.one_sided, 'window')} {what}", windows=found.one_sided)
    if found.unpaired:
        hosts = _list_of(found.unpaired, "no event of these hosts is ordered with one of another")
        tell(READING, "warning", f"{hosts}; nothing is known of their clocks", hosts=len(found.unpaired))
    if found.contradicted:
        what = (
            "of a host several chains of hosts contradict each other: a clock was set, or changed its drift"
        )
        tell(
            READING,
            "warning",
            f"in {counted(found.contradicted, 'window')} {what}; a smaller --window may help",
        )

"""Recorded clocks of a dataset: a table of hosts, and a line for each cause of what is not in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape

from cepctl.render.clock_check import place_text
from cepctl.render.clock_evidence import in_one_unit
from cepctl.render.counting import counted
from cepctl.render.pages import plain_table

if TYPE_CHECKING:
    from rich.table import Table

    from cepctl.clocks.checks.in_use import ClocksInUse, TableInUse, Unfit

_WHY = {
    "no value": "without '{by}', which tells their clock",
    "no such host": "with a '{by}' that {file} does not have",
    "nothing recorded at that time": "at times of which {file} has nothing of their '{by}'",
}


def hosts_in_use(table: TableInUse, most: int) -> Table:
    """So many hosts as are shown, those with the worst bounds first."""
    columns = ("host", "events", "ahead", "off by at most", "recorded in")
    shown = plain_table(*columns, numbers=("events", "off by at most"))
    for each in sorted(table.hosts, key=lambda host: (-host.worst_nanoseconds, host.host))[:most]:
        (least, greatest), unit = in_one_unit(each.ahead_least_nanoseconds, each.ahead_most_nanoseconds)
        ahead = f"{least} {unit}" if least == greatest else f"{least} to {greatest} {unit}"
        (worst,), of_worst = in_one_unit(each.worst_nanoseconds)
        place = escape(place_text(each.source, each.line))
        shown.add_row(escape(each.host), f"{each.events:,}", ahead, f"{worst} {of_worst}", place)
    return shown


def missing_in_use(found: ClocksInUse) -> Iterator[str]:
    """Of which events nothing is recorded, or nothing can be told any more."""
    for each in found.unfit or ():
        yield f"{counted(each.events, 'event')} not on such a clock: {_why(each)}"
    if found.unfit is None:
        yield "how many events are on no such clock cannot be told: that takes all tables as they were"
    if found.untold:
        yield f"{counted(found.untold, 'event')} on recorded clocks of which no table tells any more"


def _why(unfit: Unfit) -> str:
    return _WHY[unfit.why].format(by=unfit.by, file=unfit.file)

"""What is known of the events before a query is analyzed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cepctl.clocks.shared import Clocks
from cepctl.laws.law import OrderLaw
from cepctl.schema import WRITTEN_ORDERS, TimeUnit

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class EventSchema:
    """What the analyzer knows: types of attributes, and counts per event type if stored.

    `attributes` excludes the fixed columns of the event table.  `clocks` are those that stamped some event,
    with their offsets in ticks; where there are any, the event table has the column `clock`.  `given` is
    what the dataset says that every world satisfies, in the words of the language.  `lasting` says whether
    some event has an end of its own.  `laws` are the laws of order that the events are under.  Where it
    `assumes_order`, what is given has the order of lines of logs, of which nobody said that it holds; where
    it is `in_units`, events of a writer overlap in time only if they have the same interval.
    """

    attributes: Mapping[str, pa.DataType]
    time_unit: TimeUnit
    type_counts: Mapping[str, int] | None = None
    clocks: Clocks = field(default_factory=dict)
    given: tuple[str, ...] = ()
    lasting: bool = False
    laws: tuple[OrderLaw, ...] = ()
    assumes_order: bool = False
    in_units: bool = False

    @property
    def readable(self) -> dict[str, pa.DataType]:
        """All that a query reads like attributes, and rows of other types: where events came from, too."""
        from cepctl.event_table import ORIGIN_COLUMNS

        return {**ORIGIN_COLUMNS, **self.attributes}

    def without_order(self) -> EventSchema:
        """The schema where it is not known in which order writers wrote their records."""
        given = tuple(each for each in self.given if each not in WRITTEN_ORDERS)
        return replace(self, given=given, assumes_order=False)

"""Which events of plain files and raw logs a query needs, told while they are read.

A plan is made for each schema that a chunk shows; what its engine would not look at is not needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cepctl.datasets.kinds import ARROW_TYPES, Kind, converted
from cepctl.errors import CepctlError
from cepctl.ingestion.needed import Judged
from cepctl.io.contract.attribute_limit import MOST_ATTRIBUTES
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import TimeUnit

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.engines.runners.reach import Relevance
    from cepctl.plan.choices import KleeneRows
    from cepctl.plan.plan import Plan

_Shape = tuple[tuple[tuple[str, Kind], ...], TimeUnit, bool]


@dataclass(frozen=True)
class NeededByQuery:
    """What the plan of a query needs, where each event tells by itself whether it is needed.

    `planned` makes the plan for events of a schema; it raises CepctlError where the query does not fit them.
    """

    planned: Callable[[EventSchema], Plan]
    rows: KleeneRows
    _known: dict[_Shape, Relevance | None] = field(default_factory=dict, compare=False)

    def judged(
        self, chunk: pa.Table, kinds: Mapping[str, Kind], unit: TimeUnit, *, lasting: bool
    ) -> Judged | None:
        """Which events of a chunk can matter; None where that cannot be decided for each event by itself.

        `kinds` are those of all its attributes; `lasting`: whether some event of it has an end.
        """
        import pyarrow as pa

        relevance = self._relevance_of((tuple(sorted(kinds.items())), unit, lasting))
        if relevance is None or not relevance.columns <= set(chunk.column_names):
            return None
        columns = {name: chunk.column(name) for name in chunk.column_names if name not in kinds}
        read = {name: kinds[name] for name in sorted(relevance.columns & kinds.keys())}
        columns |= {name: converted(chunk.column(name), kind) for name, kind in read.items()}
        needed = relevance.flags(pa.table(columns))
        return None if needed is None else Judged(needed, read)

    def attributes(self, kinds: Mapping[str, Kind], unit: TimeUnit) -> frozenset[str] | None:
        """The attributes that the plan reads; None where others than the event tell whether it is needed."""
        shape = (tuple(sorted(kinds.items())), unit, False)
        relevance = self._relevance_of(shape)
        return None if relevance is None else frozenset(relevance.plan.attributes)

    def _relevance_of(self, shape: _Shape) -> Relevance | None:
        if shape not in self._known:
            self._known[shape] = self._relevance(*shape)
        return self._known[shape]

    def _relevance(
        self, kinds: tuple[tuple[str, Kind], ...], unit: TimeUnit, lasting: bool
    ) -> Relevance | None:
        from cepctl.engines.runners.reach import Relevance

        if len(kinds) > MOST_ATTRIBUTES:
            return None
        schema = EventSchema({name: ARROW_TYPES[kind] for name, kind in kinds}, unit, lasting=lasting)
        try:
            plan = self.planned(schema)
        except CepctlError:
            return None  # The files together may have what the query asks for.
        told_by_others = plan.laws or plan.given or plan.strategy.asks_all
        return None if told_by_others else Relevance(plan, self.rows)

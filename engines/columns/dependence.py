"""How events depend on each other: clocks that they share, what is given of them, laws of their orders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepctl.engines.columns.clocks import EventClocks
    from cepctl.engines.columns.ties import EventTies
    from cepctl.engines.confidence.orders.under_laws import LawfulOrders


@dataclass(frozen=True)
class Dependence:
    """Nothing of it where each event is independent of all others.

    `clocks`: those that events share; `ties`: what is given of them; `orders`: what laws of order say.
    """

    clocks: EventClocks | None = None
    ties: EventTies | None = None
    orders: LawfulOrders | None = None

    @property
    def on_clocks(self) -> bool:
        """Whether events may share clocks."""
        return self.clocks is not None

    @property
    def given(self) -> bool:
        """Whether something is given of events."""
        return self.ties is not None

    @property
    def under_law(self) -> bool:
        """Whether laws weigh the orders of some events."""
        return self.orders is not None

    @property
    def weighs(self) -> bool:
        """Whether some worlds count for more than the masses of their ticks say, or not at all."""
        return self.given or self.under_law

    def but_for_ties(self) -> Dependence:
        """How events depend on each other where nothing is given."""
        return replace(self, ties=None)

    def but_for_orders(self) -> Dependence:
        """How events depend on each other where no law speaks of their orders."""
        return replace(self, orders=None)


INDEPENDENT = Dependence()
"""That of events which share nothing."""

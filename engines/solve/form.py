"""What all matches of a batch have in common: it alone says which methods may measure them."""

from __future__ import annotations

from dataclasses import dataclass

from cepctl.engines.confidence.sets_between import has_set_between
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.total_orders import has_total_orders


@dataclass(frozen=True)
class Form:
    """A shape, and how its events depend on each other.

    `rivals`: some events may break matches; `on_clocks`: events may share clocks; `given`: something is
    given of them; `lasting`: some last, or their ends are asked for; `counted`: a row stands for all sets of
    a group; `estimated`: a confidence that costs too much may be an estimate; `within`: each match has to
    lie within a span of ticks; `under_law`: laws of order weigh the orders of some events.
    """

    shape: Shape
    rivals: bool
    on_clocks: bool = False
    given: bool = False
    lasting: bool = False
    counted: bool = False
    estimated: bool = False
    within: bool = False
    under_law: bool = False

    @property
    def tied(self) -> bool:
        """Whether something is given of points."""
        return self.given and not self.lasting

    @property
    def clocked(self) -> bool:
        """Whether points share clocks."""
        return self.on_clocks and not self.lasting

    @property
    def sampled(self) -> bool:
        """Whether worlds of points that depend on each other, in one way alone, may be sampled."""
        return self.estimated and self.tied != self.clocked

    @property
    def independent(self) -> bool:
        """Whether each event is a point, independent of all others."""
        return not (self.on_clocks or self.given or self.lasting or self.within or self.under_law)

    @property
    def cut(self) -> bool:
        """Whether each event is such a point, and matches have to lie within spans."""
        return self.within and not (self.on_clocks or self.given or self.lasting or self.under_law)

    @property
    def in_order(self) -> bool:
        """Whether order and window, and rivals if there are any, are all that decides single events."""
        return self.independent and self.shape.only_single

    @property
    def three_in_order(self) -> bool:
        """Whether these are all that decides three events."""
        return self.in_order and len(self.shape.blocks) == 3

    @property
    def plain(self) -> bool:
        """Whether order and window alone decide points, all shown, however these depend on each other."""
        hides = self.shape.hides_ends
        return self.shape.plain_chain and not (self.rivals or self.lasting or self.within or hides)

    @property
    def in_each_order(self) -> bool:
        """Whether matches are single events and AND groups, each by its name, that only their order ties."""
        return self.independent and has_total_orders(self.shape)

    @property
    def set_between(self) -> bool:
        """Whether matches are a set between two events, decided by order and window alone."""
        return self.independent and has_set_between(self.shape) and not self.rivals

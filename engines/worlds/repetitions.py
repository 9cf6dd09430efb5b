"""`SEQ(B b[], C c[])+` in one possible world: repetitions, each wholly after the one before.

`b[i]` and `c[i]` are of one repetition, `c[i-1]` is of the one before.

    name here   meaning
    turn        the components of one repetition, in the order of the pattern
    chain       the events of all repetitions, one after the other
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cepctl.plan.plan import Alternative

if TYPE_CHECKING:
    from cepctl.engines.worlds.bound_events import Bound, Group

Turn: TypeAlias = tuple[int, ...]


def turn_of(alternative: Alternative, component: int) -> Turn:
    """The components that are repeated together with one; none where it is not repeated."""
    if not alternative.repeated:
        return ()
    return next((turn for turn in alternative.repeated if component in turn), ())


def in_one_group(alternative: Alternative, bound: Bound) -> Iterator[Group]:
    """What a signature shows: the events of each component, those of repetitions together in their order."""
    for component in alternative.positive:
        turn = turn_of(alternative, component)
        if component not in bound:
            continue
        if not turn:
            yield bound[component]
        elif component == turn[0]:
            yield tuple(event for each in zip(*(bound[i] for i in turn), strict=True) for event in each)


def of_one_repetition(together: Sequence[frozenset[str]], index: Mapping[str, int]) -> bool:
    """Whether what is read of components that are repeated together is of one repetition."""
    return all(len({at for name, at in index.items() if name in names}) <= 1 for names in together)

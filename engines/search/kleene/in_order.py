"""Groups of events that one writer wrote: each holds what stands between its ends, as among exact stamps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.confidence.points.rival_blocks import BlockMemory
from cepctl.engines.search.kleene.growth import with_groups
from cepctl.engines.search.one_writer import InOrder
from cepctl.numeric.arrays import Indexes


def with_groups_in_order(
    known: InOrder, rows: Indexes, max_matches: int, memory: BlockMemory
) -> Iterator[dict[int, Bindings]]:
    """Bindings of single events completed by every group, where no other event of the order breaks them.

    Raises
    ------
    QueryTooLargeError
        If there are more groups than `max_matches`.
    """
    # Thresholds are known of times, not of the order.
    search = replace(known.search, push_down=None)
    for bound in with_groups(search, known.shape, known.events, rows, known.plan, max_matches, memory):
        yield from known.unbroken(bound)

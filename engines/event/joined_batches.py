"""Several batches of matches of one alternative as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepctl.engines.columns.bindings import Bindings, CountedRows, Group, MatchBatch


def joined_batches(batches: Sequence[MatchBatch]) -> MatchBatch | None:
    """All batches of one alternative as one."""
    batches = [each for each in batches if len(each)]
    if not batches:
        return None
    bound = tuple(_concatenated([each.bound[i] for each in batches]) for i in range(len(batches[0].bound)))
    return MatchBatch(
        bound,
        np.concatenate([each.start for each in batches]),
        np.concatenate([each.end for each in batches]),
        np.concatenate([each.confidence for each in batches]),
        np.concatenate([each.errors for each in batches]),
        _counted([each.counted for each in batches if each.counted is not None]),
    )


def _counted(parts: Sequence[CountedRows]) -> CountedRows | None:
    if not parts:
        return None
    columns = zip(*(vars(each).values() for each in parts), strict=True)
    return CountedRows(*(np.concatenate(each) for each in columns))


def _concatenated(parts: list[Bindings]) -> Bindings:
    if not isinstance(parts[0], Group):
        return np.concatenate([each for each in parts if not isinstance(each, Group)])
    groups = [each for each in parts if isinstance(each, Group)]
    sizes = np.concatenate([each.sizes for each in groups])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Group(offsets, np.concatenate([each.members for each in groups]))

"""One row per signature, also where several alternatives bind the same events.

They are those of an OR, or readings of a pattern some of whose components may be absent.  In one world such
a signature counts once, so its confidence is the probability that at least one alternative holds: inclusion
and exclusion over the alternatives that bind it.  That several hold together is once more a coupled problem,
with the rivals and constraints of all of them.  Where something must not happen as a whole, an alternative
leaves several problems with events of their own: where several do, a row is a union of problems, as a key of
GROUP BY is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import Bindings, MatchBatch, joined_batches, signatures
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.measured import Total
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.joint_matches import JointMatches
from cepctl.engines.rows.order import match_text
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes, Reals

if TYPE_CHECKING:
    from cepctl.engines.event.group_occurrences import WantedGroups

Row = tuple[PreparedAlternative, MatchBatch]

# Parts that are certain only together add up to 1 but for their last digits.
_ROUNDING = 2.0**-50


def united(prepared: Sequence[PreparedAlternative], found: Sequence[Sequence[MatchBatch]]) -> Iterator[Row]:
    """The matches of all alternatives, each signature once, with its union's range and confidence."""
    batches = [joined_batches(each) for each in found]
    texts = [
        match_text(signatures(prepared[i].folded(batch).bound, prepared[i].events.names))
        if batch is not None and len(batch)
        else []
        for i, batch in enumerate(batches)
    ]
    frame = pl.DataFrame(
        {
            "text": pl.concat([pl.Series(each, dtype=pl.String) for each in texts]),
            "alternative": np.repeat(np.arange(len(texts)), [len(each) for each in texts]),
            "row": np.concatenate([np.arange(len(each)) for each in texts]),
        }
    )
    together = frame.group_by("text").agg(pl.col("alternative").sort(), pl.col("row").sort_by("alternative"))
    for (alternatives,), group in together.group_by("alternative"):
        numbers = [int(i) for i in alternatives]
        rows = np.array(group.get_column("row").to_list(), dtype=np.int64).reshape(-1, len(numbers))
        parts = [_taken(batches[i], rows[:, at]) for at, i in enumerate(numbers)]
        chosen = [prepared[i] for i in numbers]
        if len(chosen) > 1 and not falls_into_parts(chosen):
            from cepctl.engines.event.run_alternative import bound_alike

            chosen, parts = bound_alike(chosen, parts)
        yield _source(chosen), _union(chosen, parts)


def _source(prepared: Sequence[PreparedAlternative]) -> PreparedAlternative:
    """Where rows that several alternatives give come from: the first of them, which knows the others."""
    return prepared[0] if len(prepared) == 1 else prepared[0].beside(prepared[1:])


def _taken(batch: MatchBatch | None, rows: Indexes) -> MatchBatch:
    assert batch is not None
    return batch.take(rows)


def _union(prepared: list[PreparedAlternative], parts: list[MatchBatch]) -> MatchBatch:
    """The probability that any of some alternatives holds that bind the same events, row by row."""
    if len(parts) == 1:
        return parts[0]
    total, rows = Total(len(parts[0])), np.arange(len(parts[0]))
    for part in parts:
        total.add(rows, part.confidence, part.start, part.end)
    measured = _union_of_problems if falls_into_parts(prepared) else _included_and_excluded
    confidence, unknown = measured(prepared, parts)
    sampled = unknown | np.any([part.errors > 0 for part in parts], axis=0)
    largest = np.max([part.confidence for part in parts], axis=0)
    confidence = np.where(confidence >= 1 - _ROUNDING, 1.0, np.maximum(confidence, largest))
    whole = MatchBatch(parts[0].bound, total.start, total.end, confidence)
    return _sampled(prepared, parts, whole, np.flatnonzero(sampled)) if sampled.any() else whole


def falls_into_parts(prepared: Sequence[PreparedAlternative]) -> bool:
    """Whether some alternative leaves several problems of a row that no others can simply be added to.

    They can where one alternative alone does, and binds groups as the others do.
    """
    several = [each for each in prepared if each.shape.together]
    if len(several) != 1:
        return bool(several)
    if any(each.lasting or each.shown is not each.alternative for each in prepared):
        return True
    from cepctl.engines.event.joint_matches import keeps_groups

    return not keeps_groups([*(each.shape for each in several), *(each.shape for each in prepared)])


def _included_and_excluded(
    prepared: list[PreparedAlternative], parts: list[MatchBatch]
) -> tuple[Reals, Flags]:
    """The probability of each row by inclusion and exclusion, and where it is inexact."""
    confidence: Reals = np.sum([part.confidence for part in parts], axis=0)
    inexact = np.zeros(len(confidence), dtype=bool)
    for size in range(2, len(parts) + 1):
        for chosen in combinations(range(len(parts)), size):
            both, unknown = _together([prepared[i] for i in chosen], [parts[i] for i in chosen])
            confidence = confidence + (-1) ** (size + 1) * both
            inexact |= unknown
    return confidence, inexact


def _union_of_problems(prepared: list[PreparedAlternative], parts: list[MatchBatch]) -> tuple[Reals, Flags]:
    """The probability of the union of all problems of each row, and where it cannot be computed.

    Raises
    ------
    QueryTooLargeError
        If it is too costly somewhere, and no error is allowed.
    """
    from cepctl.engines.event.group_occurrences import WantedGroups

    sampled = prepared[0].measure.sampling is not None
    found = union_of_rows(WantedGroups.of_rows(prepared, parts), unknown=sampled)
    return found, np.isnan(found)


def union_of_rows(rows: WantedGroups, *, unknown: bool = False) -> Reals:
    """The probability of the union of the problems of each row; NaN where it is `unknown`, being too costly.

    Raises
    ------
    QueryTooLargeError
        If it is too costly somewhere.
    """
    found = rows.occurrences(np.arange(rows.rows.count)).found
    assert found is not None
    costly = np.flatnonzero(np.isnan(found.probability))
    if len(costly) and not unknown:
        raise _too_costly(found.why(int(costly[0])))
    return found.probability


def _too_costly(why: str) -> QueryTooLargeError:
    """That it cannot be told how probable it is that some reading of the pattern gives a row."""
    return QueryTooLargeError(
        f"how probable it is that one of several readings gives a row cannot be computed: {why}; narrow the "
        "query (WITHIN, [attr], tighter predicates), or allow an error with --approximate"
    )


def _together(prepared: list[PreparedAlternative], parts: list[MatchBatch]) -> tuple[Reals, Flags]:
    """Probability that all of these alternatives hold for the same events, and where it is inexact."""
    if all(each.plain for each in prepared):
        return parts[0].confidence, np.zeros(len(parts[0]), dtype=bool)
    found = JointMatches.of(prepared, parts[0]).measured()
    return found.confidence, found.error > 0


def _sampled(
    prepared: list[PreparedAlternative], parts: list[MatchBatch], whole: MatchBatch, rows: Indexes
) -> MatchBatch:
    """The union with some of its confidences estimated, from worlds in which any alternative holds.

    Errors of several estimates would add up; one estimate of the union has the error allowed.
    """
    sampling = prepared[0].measure.sampling
    assert sampling is not None
    problems: list[Problems] = []
    for each, part in zip(prepared, parts, strict=True):
        problems += each.union_problems(_bound(each, part.take(rows)))
    # The signature is the same whichever alternative's blocks it is read from.
    row, estimate = sampling.probabilities(
        prepared[0].measure.groups(_bound(prepared[0], whole.take(rows))), problems
    )
    confidence, error = whole.confidence.copy(), whole.errors.copy()
    confidence[rows[row]] = estimate
    error[rows] = sampling.error
    return replace(whole, confidence=confidence, error=error)


def _bound(prepared: PreparedAlternative, matches: MatchBatch) -> dict[int, Bindings]:
    return dict(zip(prepared.search.singles, matches.bound, strict=True))

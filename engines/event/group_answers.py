"""What is told of each key: how probable it is that it happens, and how often it is expected to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.event.group_estimates import estimated
from cepctl.engines.event.group_occurrences import WantedGroups, rows_may_lack_occurrence
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.plan import Plan

_MEMBERS_TOO_COSTLY = (
    "too many events are uncertain members of its group, and several neighbours are uncertain"
)


@dataclass(frozen=True)
class GroupAnswers:
    """What is told of each group: arrays of shape (groups,), the errors 0 where nothing is estimated.

    An occurrence is NaN where it is too costly; `why` says of one of these what costs.
    """

    occurrence: Reals
    error: Reals
    expected: Reals
    expected_error: Reals
    why: str = ""


def least_occurrence(plan: Plan) -> float:
    """What an occurrence has to reach, with room for rounding."""
    return float((plan.minimum_confidence or 0.0) - CONFIDENCE_SLACK)


def group_answers(plan: Plan, wanted: WantedGroups, keys: pl.DataFrame) -> GroupAnswers:
    """What is told of every group; measured where it has several matches that may reach what is asked.

    Raises
    ------
    QueryTooLargeError
        If the occurrence of one is too costly where no row may lack it.
    """
    rows, ordered = wanted.rows, wanted.ordered
    confidence = rows.confidence[rows.first]
    matches = ordered.get_column("matches").to_numpy()
    expected: Reals = np.bincount(rows.group, ordered.get_column("expected"), rows.count).astype(np.float64)
    # An estimate of a match is one of its sum, too, and of its key where that has no other.
    errors = ordered.get_column("error").to_numpy()
    expected_error: Reals = np.bincount(rows.group, errors * matches, rows.count).astype(np.float64)
    error = np.where(rows.sizes == 1, errors[rows.first], 0.0)
    most = np.fmin(expected, 1.0)
    occurrence = np.where(rows.sizes == 1, ordered.get_column("some").to_numpy()[rows.first], most)
    asked = np.flatnonzero((rows.sizes > 1) & ~(expected < least_occurrence(plan)) & ~(confidence >= 1.0))
    keys_asked = wanted.occurrences(asked) if len(asked) else None
    measured = None if keys_asked is None else keys_asked.found
    if measured is not None:
        occurrence[asked] = measured.probability
    answers = GroupAnswers(occurrence, error, expected, expected_error)
    costly = np.flatnonzero(np.isnan(occurrence))
    if len(costly):
        source, options = wanted.prepared[0], wanted.prepared[0].options
        # Worlds of interval events are not sampled.
        sampled = not source.lasting
        if source.members is not None:
            _bound_by_rows(answers, wanted, costly)
        elif options.approximate is not None and sampled:
            problems = [] if keys_asked is None else keys_asked.problems
            _estimate(answers, wanted, costly, problems, np.searchsorted(asked, costly))
        costly = np.flatnonzero(np.isnan(occurrence))
        error[costly] = np.nan
        if len(costly):
            group = int(costly[0])
            at = np.flatnonzero(asked == group)
            why = _MEMBERS_TOO_COSTLY if measured is None or not len(at) else measured.why(int(at[0]))
            key = keys.row(group) if keys.width else ()
            if not rows_may_lack_occurrence(plan, options):
                raise QueryTooLargeError(_refusal(plan, key, why, float(expected[group]), sampled=sampled))
            answers = replace(answers, why=f"{_named(plan, key)}: {why}")
    return replace(answers, occurrence=np.clip(occurrence, np.nan_to_num(confidence), most))


def _bound_by_rows(answers: GroupAnswers, wanted: WantedGroups, groups: Indexes) -> None:
    """Where an error is allowed: at least the most probable of all rows, at most the sum of them."""
    rows, allowed = wanted.rows, wanted.prepared[0].options.approximate
    if allowed is None:
        return
    some = wanted.ordered.get_column("some").to_numpy()
    least = np.maximum.reduceat(some, rows.first)[groups]
    largest = np.minimum(np.add.reduceat(some, rows.first)[groups], 1.0)
    close = largest - least <= 2.0 * allowed
    answers.occurrence[groups] = np.where(close, (least + largest) / 2.0, np.nan)
    answers.error[groups] = (largest - least) / 2.0


def _estimate(
    answers: GroupAnswers, wanted: WantedGroups, groups: Indexes, problems: list[Problems], places: Indexes
) -> None:
    """The occurrences of groups that are too costly; `places`: their numbers in the problems."""
    from cepctl.engines.confidence.coupled.sampling import Sampling

    options, events = wanted.prepared[0].options, wanted.prepared[0].events
    assert options.approximate is not None
    sure = answers.expected_error[groups] == 0.0
    least, largest = wanted.bounds(groups)
    estimates = estimated(
        Sampling(options.approximate, events),
        problems,
        places,
        np.where(sure, least, 0.0),
        np.where(sure, largest, 1.0),
        lambda chosen: wanted.by_row(groups[chosen]),
    )
    answers.occurrence[groups], answers.error[groups] = estimates.probability, estimates.error


def _named(plan: Plan, key: tuple[object, ...]) -> str:
    keys = zip(plan.group_by or (), key, strict=True)
    return ", ".join(f"{column.name} = {value}" for column, value in keys) or "the whole input"


def _refusal(plan: Plan, key: tuple[object, ...], why: str, expected: float, *, sampled: bool) -> str:
    or_allow = (
        "group by more, or allow an error with --approximate: the expected number stays exact, "
        "and 0.5 gives bounds that are certain"
    )
    known = "" if np.isnan(expected) else f"; the number of its matches is expected to be {expected:.6g}"
    return (
        f"the occurrence of {_named(plan, key)} is too costly to compute exactly: {why}{known}; narrow "
        f"the query (WITHIN, [attr], tighter predicates), {or_allow if sampled else 'or group by more'}"
    )

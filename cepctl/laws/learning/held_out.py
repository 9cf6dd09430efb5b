"""What a law says of pairs of events from which it was not learned: their scores without and with it."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from cepctl.calibration.rows import RowsOfSeed
from cepctl.calibration.scores import LEAST
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.order_laws.keys import Factors
from cepctl.engines.order_laws.table import measure_keys
from cepctl.laws.learning.keys import KeyPieces, TaughtKeys
from cepctl.numeric.arrays import Flags, Indexes, Reals


@dataclass(frozen=True)
class OpenPairs:
    """Open pairs of events of keys that teach, shape (n,) each.

    `kind`, `first`, `second`: the kind of piece that both are in, and their places in it; `key`: theirs;
    `stated`: the probability that the first is earlier, without a law; `happened`: whether it is.
    """

    kind: Indexes
    first: Indexes
    second: Indexes
    key: Indexes
    stated: Reals
    happened: Flags

    def __len__(self) -> int:
        return len(self.key)

    @classmethod
    def of(
        cls, keys: TaughtKeys, pieces: KeyPieces, rows: RowsOfSeed, first: Indexes, second: Indexes
    ) -> OpenPairs:
        """Of pairs of blurred events, by their places among these; those of no piece are left out."""
        size = max(int(each.max(initial=-1)) for each in (first, second, keys.rows)) + 1
        event = np.full(size, -1)
        event[keys.rows] = np.arange(len(keys.rows))
        piece, place = np.full((2, len(keys.rows) + 1), -1)
        piece[pieces.event], place[pieces.event] = places_in_runs(np.diff(pieces.stamped.starts))
        kept = np.flatnonzero(rows.is_open & (piece[event[first]] >= 0))
        one, other = event[first[kept]], event[second[kept]]
        return cls(
            kind=pieces.kind[piece[one]],
            first=place[one],
            second=place[other],
            key=keys.key[one],
            stated=rows.stated[kept],
            happened=rows.happened[kept],
        )

    def under(self, factors: Factors, pieces: KeyPieces, some: Flags) -> Reals:
        """What is stated of some pairs under a law, shape (some.sum(),)."""
        kinds, example = np.unique(pieces.kind, return_index=True)
        asked = np.unique(self.kind[some])
        measured = pieces.stamped.take(example[np.searchsorted(kinds, asked)])
        found = measure_keys(measured, factors, pairs=True).pairs
        assert found is not None
        begin = measured.starts[np.searchsorted(asked, self.kind[some])]
        return found.before(begin + self.first[some], begin + self.second[some])


@dataclass(frozen=True)
class Comparison:
    """Mean scores of open pairs without and with a law, and the standard error of the log scores' difference.

    Pairs of one key err together: the error is that of the sums by key.
    """

    brier_without: float
    brier_with: float
    log_score_without: float
    log_score_with: float
    standard_error: float

    @classmethod
    def of(cls, pairs: OpenPairs, stated: Reals) -> Comparison:
        """Of one pair or more; `stated` under the law."""
        without, with_ = (_surprise(each, pairs.happened) for each in (pairs.stated, stated))
        gain = without - with_
        keys, key = np.unique(pairs.key, return_inverse=True)
        by_key = np.bincount(key.reshape(-1), gain - gain.mean())
        few = len(keys) / max(len(keys) - 1, 1)
        return cls(
            brier_without=float(np.square(pairs.stated - pairs.happened).mean()),
            brier_with=float(np.square(stated - pairs.happened).mean()),
            log_score_without=float(without.mean()),
            log_score_with=float(with_.mean()),
            standard_error=sqrt(few * float(np.square(by_key).sum())) / len(pairs),
        )

    @property
    def is_better(self) -> bool:
        """Whether the log score with the law is lower by more than two standard errors."""
        return self.log_score_without - self.log_score_with > 2 * self.standard_error


def _surprise(stated: Reals, happened: Flags) -> Reals:
    came = np.where(happened, stated, 1.0 - stated)
    return np.asarray(-np.log(np.clip(came, LEAST, 1.0 - LEAST)))

"""A law of order from blurred events: which keys teach it, how wide its prior is, and whether it is of use.

Five folds of keys choose `sigma`: a law learned from four is held to the open pairs of the fifth.  What is
learned is kept only if these are told better with it than without by two standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from cepctl.calibration.blurring import BlurredEvents
from cepctl.calibration.pairs import overlapping_pairs, pair_rows
from cepctl.calibration.truth import TrueEvents, numbered_texts
from cepctl.errors import NoLawError
from cepctl.laws.choices import MOST_SETS_ALIVE
from cepctl.laws.law import BEGIN, END, OrderLaw
from cepctl.laws.learning.held_out import Comparison, OpenPairs
from cepctl.laws.learning.keys import KeyPieces, TaughtKeys
from cepctl.laws.learning.likelihood import Lessons, Likelihood, fitted
from cepctl.laws.writing import Evidence, law_text
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.process.memory import MemoryBudget
from cepctl.schema import TimeUnit

SIGMAS = (0.5, 1.0, 1.5, 3.0)
FOLDS = 5
_CLOSE, _CLOSE_ENOUGH = 1e-9, 1e-5
"""What the last step may gain, as a share of the sum: for a law that is kept, and for one of a fold."""
FEWEST_KEYS = 10
"""Of fewer keys with open pairs a standard error says little: 10 that agree by chance are one in 512."""


@dataclass(frozen=True)
class Lesson:
    """What a law is learned for and from.

    `by`, `step`: attributes of keys and of steps; `blur` as the user wrote it, `part` of the keys; `seed` of
    draws, of which keys are taken and of their folds; `most`: how many keys at most.
    """

    by: str
    step: tuple[str, ...]
    blur: str
    part: str | None
    seed: int
    most: int


@dataclass(frozen=True)
class Learned:
    """A law, and what speaks for it.

    `keys` teach it, pieces of `beyond` keys are too costly and were left out, `spare` keys were not needed,
    and the others leave no order open.  `open_pairs`: of the keys that teach; `scores`: of these pairs, held
    out, with `sigma`.
    """

    law: OrderLaw
    lesson: Lesson
    keys: int
    beyond: int
    spare: int
    open_pairs: int
    sigma: float
    scores: Comparison

    @property
    def factors(self) -> int:
        """How many factors of the law differ from 1."""
        return len(self.law.following) + len(self.law.before)

    @property
    def evidence(self) -> Evidence:
        """What speaks for the law, as its file has it."""
        part = {} if self.lesson.part is None else {"part": self.lesson.part}
        return {
            "blur": self.lesson.blur,
            **part,
            "seed": self.lesson.seed,
            "keys": self.keys,
            "keys_beyond": self.beyond,
            "open_pairs": self.open_pairs,
            "sigma": self.sigma,
            **{name: _shown(value) for name, value in vars(self.scores).items()},
        }

    @property
    def text(self) -> str:
        """The model file (TOML) that holds the law and its evidence."""
        return law_text(self.law, self.evidence)


def _shown(score: float) -> float:
    return float(f"{score:.6g}")


def learned(
    blurred: BlurredEvents,
    steps: pa.ChunkedArray,
    lesson: Lesson,
    unit: TimeUnit,
    memory: MemoryBudget,
    threads: int,
) -> Learned:
    """Learn a law from blurred events, all of which have a key; `steps`: of each event.

    Raises
    ------
    NoLawError
        If the times teach none, or it does not say what happens better than no law.
    QueryTooLargeError
        If there are too many pairs for the memory.
    """
    chosen, beyond, spare = _chosen(TaughtKeys.of(blurred, steps), lesson)
    blurred, steps = _only(blurred, chosen), steps.take(pa.array(chosen))
    keys = TaughtKeys.of(blurred, steps)
    fold = keys.folds(lesson.seed, FOLDS)
    lessons = Lessons.of(keys, fold, FOLDS)
    rows = pair_rows(blurred, steps, unit, memory)
    both = overlapping_pairs(blurred, numbered_texts(steps)[0], memory)
    pairs = OpenPairs.of(keys, lessons.pieces, rows, both.first, both.second)
    _require_truth(pairs, int(rows.tied.sum()), lesson)
    scores = {
        sigma: Comparison.of(pairs, stated)
        for sigma, stated in _held_out(lessons, pairs, fold, threads).items()
    }
    sigma = min(scores, key=lambda each: (scores[each].log_score_with, each))
    if not scores[sigma].is_better:
        raise NoLawError(_no_better(scores[sigma], pairs, keys, lesson))
    likelihood = lessons.likelihood(np.ones(FOLDS, dtype=bool), threads)
    vector = fitted(likelihood, [_near_summit(likelihood, sigma)], sigma, _CLOSE)
    law = lessons.factors.law(vector, lesson.by, lesson.step)
    return Learned(law, lesson, len(keys), beyond, spare, len(pairs), sigma, scores[sigma])


def _chosen(keys: TaughtKeys, lesson: Lesson) -> tuple[Indexes, int, int]:
    """The events of the keys that teach, how many have pieces beyond the limit, and how many not needed."""
    for name in (BEGIN, END):
        if name in keys.steps:
            raise NoLawError(f"an event has the step {name}, which stands for an end of its key in a law; "
                             "name other attributes with --step")  # fmt: skip
    if int(np.diff(keys.offsets).max(initial=0)) < 2:
        raise NoLawError(f"no two events have the same {lesson.by}; name the attribute of keys with --by")
    able = keys.in_hashed_order(lesson.seed)
    able = able[keys.can_teach[able]]
    if not len(able):
        raise NoLawError(
            f"{lesson.blur} leaves no order of two steps open within a {lesson.by}; hide more of the times, "
            "or tell more steps apart with --step"
        )
    found, looked, beyond = np.zeros(0, dtype=np.int64), 0, 0
    while looked < len(able) and len(found) < lesson.most:
        some = np.sort(able[looked : looked + lesson.most - len(found)])
        here = keys.only(some)
        pieces = KeyPieces.of(here)
        within = pieces.within(MOST_SETS_ALIVE)
        found, looked = np.concatenate([found, some[np.unique(within.key)]]), looked + len(some)
        counts = (np.bincount(each.key, minlength=len(some)) for each in (pieces, within))
        beyond += int(np.greater(*counts).sum())
    if not len(found):
        raise NoLawError(
            f"every {lesson.by} leaves too many orders open; hide less of the times, or name shorter keys "
            "with --by"
        )
    return np.sort(keys.only(found).rows), beyond, len(able) - looked


def _only(blurred: BlurredEvents, rows: Indexes) -> BlurredEvents:
    """Some of the events."""
    truth, taken = blurred.truth, pa.array(rows)
    kept = TrueEvents(truth.table.take(taken), truth.tick[rows], truth.key[rows], truth.keys)
    return replace(blurred, truth=kept, table=blurred.table.take(taken))


def _require_truth(pairs: OpenPairs, tied: int, lesson: Lesson) -> None:
    """Raise NoLawError unless true times tell the order of what the blur hides."""
    count = len(np.unique(pairs.key))
    if not len(pairs):
        raise NoLawError(
            f"the true times are no finer than {lesson.blur}: all {tied:,} pairs whose order it hides are at "
            "one tick; no law is written"
        )
    if count < FEWEST_KEYS:
        raise NoLawError(
            f"only {count} of the keys have pairs in a true order that {lesson.blur} hides; a law takes "
            f"{FEWEST_KEYS} or more"
        )


def _held_out(lessons: Lessons, pairs: OpenPairs, fold: Indexes, threads: int) -> dict[float, Reals]:
    """What is stated of each pair by a law that was learned without its fold, by sigma."""
    found = {sigma: np.zeros(len(pairs)) for sigma in SIGMAS}
    for left_out in range(FOLDS):
        asked = fold[pairs.key] == left_out
        if not asked.any():
            continue
        likelihood = lessons.likelihood(np.arange(FOLDS) != left_out, threads)
        vector = _near_summit(likelihood, SIGMAS[0])
        for sigma in SIGMAS:
            vector = fitted(likelihood, [vector], sigma, _CLOSE_ENOUGH)
            factors = lessons.factors.factors(vector)
            found[sigma][asked] = pairs.under(factors, lessons.pieces, asked)
    return found


def _near_summit(likelihood: Likelihood, sigma: float) -> Reals:
    """Factors near the highest summit that is found: where times are tied there may be several.

    From factors of 1, ties that are many may lead to an order of theirs that the few which differ contradict;
    from the summit of the tangent, in which each order of equal ticks counts alike, others may be missed.
    """
    none = np.zeros(likelihood.factors.count)
    if not likelihood.tied:
        return none
    starts = [none, fitted(likelihood.tangent, [none], sigma, _CLOSE_ENOUGH)]
    return fitted(likelihood, starts, sigma, _CLOSE_ENOUGH)


def _no_better(scores: Comparison, pairs: OpenPairs, keys: TaughtKeys, lesson: Lesson) -> str:
    return (
        f"no law is written: under {lesson.blur} the held-out log score of {len(pairs):,} open pairs of "
        f"{len(keys):,} keys is {scores.log_score_with:.4f} with a law and {scores.log_score_without:.4f} "
        f"without, not better by two standard errors ({2 * scores.standard_error:.4f})"
    )

"""Negations in every subset of the places of a chain, with rivals that reach one, two or all of these places.

All streams of a pattern are matched in one call, which makes thousands of them cheap.  What they must answer
is counted by `tests.engines.chain_absences`, which is held to the judge itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from random import Random
from secrets import randbits
from typing import Any

import numpy as np
import pytest

from cepctl.engines.confidence.coupled.problem import CoupledMatches
from cepctl.engines.confidence.gaps.opened_rings import OpenedRing
from cepctl.engines.confidence.points import confidences
from cepctl.engines.confidence.points.confidences import coupled_confidences
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.event.match import match_events
from cepctl.engines.pattern import rivals as rival_join
from cepctl.engines.pattern.blocks import Region, Rivals, Shape, gap_of
from cepctl.engines.pattern.shapes import edge_of
from cepctl.engines.solve import points
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.points import Found
from cepctl.engines.worlds.engine import exact_matches
from cepctl.numeric.arrays import Indexes
from tests.engines.agreement import rows_by_signature
from tests.engines.chain_absences import Answer, Negated, Signature, answers, places_of, random_negated
from tests.engines.changed_methods import change
from tests.plans import Event, event_table, plan_of
from tests.random_patterns import ANY, NEXT, PARTITION

LENGTHS = range(1, 6)
ROUNDS = max(int(os.environ.get("CEPCTL_EXAMPLES", "40")) // 40, 1)
"""Everyday runs draw the same 2,108 streams each time; others draw fresh ones, so many times as many."""
STREAMS = 17
FEW_STREAMS = 4
FEW_WORLDS = 60
FACTOR = 701


def patterns(
    strategy: str, streams: int, wanted: Callable[[int, tuple[int, ...]], bool]
) -> Iterator[Negated]:
    """One pattern for every subset of the places of chains of every length that is wanted."""
    for number in range(ROUNDS):
        seed = number if ROUNDS == 1 else randbits(64)
        for length in LENGTHS:
            for places in places_of(length):
                if wanted(length, places):
                    random = Random(f"{seed} {length} {places} {strategy}")
                    yield random_negated(random, length, places, strategy, streams)


def anywhere(_length: int, _places: tuple[int, ...]) -> bool:
    return True


def found_by_engine(case: Negated) -> dict[Signature, Answer]:
    rows = rows_by_signature(match_events(plan_of(case.query), event_table(case.events)))
    return {s: (row["start"], row["end"], Fraction(row["confidence"])) for s, row in rows.items()}


def found_by_judge(case: Negated) -> dict[Signature, Answer]:
    found = exact_matches(plan_of(case.query), event_table(case.events))
    return {s: (match.start, match.end, match.confidence) for s, match in found.items()}


def differences(case: Negated, found: Callable[[Negated], dict[Signature, Answer]]) -> list[Signature]:
    """The matches of which something else is found than the ticks say."""
    wanted, got = answers(case), found(case)
    return [
        signature
        for signature in sorted({*wanted, *got})
        if signature not in wanted
        or signature not in got
        or wanted[signature][:2] != got[signature][:2]
        or abs(wanted[signature][2] - got[signature][2]) > 1e-9
    ]


def assert_same(case: Negated, found: Callable[[Negated], dict[Signature, Answer]]) -> None:
    """Raises with a stream of few events where something differs."""
    if not differences(case, found):
        return
    alone = [case.of(stream) for stream in case.streams]
    smallest = next((each for each in alone if differences(each, found)), case)
    while smallest is not case:
        less = next((each for each in smallest.smaller() if differences(each, found)), None)
        if less is None:
            break
        smallest = less
    raise AssertionError(
        f"{smallest.query}\n{smallest.events}\n{found(smallest)} instead of {answers(smallest)}"
    )


def test_the_ticks_say_what_the_judge_says() -> None:
    """Of streams with few worlds, for every subset of the places and every strategy."""
    judged = 0
    for strategy in (ANY, NEXT, PARTITION):
        for case in patterns(strategy, 3, lambda length, _: length < 5):
            few = [stream for stream in case.streams if _worlds(case.of(stream)) <= FEW_WORLDS]
            assert_same(case.of(*few), found_by_judge)
            judged += len(few)
    assert judged > 100


def _worlds(case: Negated) -> int:
    return prod(event.upper - event.lower + 1 for event in case.events)


@pytest.mark.parametrize(
    ("strategy", "streams"), [(ANY, STREAMS), (NEXT, FEW_STREAMS), (PARTITION, FEW_STREAMS)]
)
def test_absences_at_every_place_are_looked_at(strategy: str, streams: int) -> None:
    for case in patterns(strategy, streams, anywhere):
        assert_same(case, found_by_engine)


def test_wide_absences_at_an_edge_and_in_a_gap_are_looked_at() -> None:
    """On ticks so fine that gaps are summed piece by piece: as by nested sums, which know no opened rings."""
    for narrow in patterns(ANY, 6, lambda length, places: length == 3 and _is_opened_beside_a_gap(places)):
        case = finer(narrow)
        opened = found_by_engine(case)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Measure, "opened", None)
            nested = found_by_engine(case)
        assert opened.keys() == nested.keys()
        for signature, (start, end, confidence) in nested.items():
            assert opened[signature][:2] == (start, end), case
            assert abs(opened[signature][2] - confidence) <= 1e-10 * confidence, case


def _is_opened_beside_a_gap(places: tuple[int, ...]) -> bool:
    """Of three events, one edge and one gap."""
    return len(places) == 2 and len({-1, 2} & set(places)) == 1


def finer(case: Negated) -> Negated:
    """The same on ticks that are FACTOR times as fine."""
    streams = [tuple(_finer(event) for event in stream) for stream in case.streams]
    return replace(case.of(*streams), window=None if case.window is None else case.window * FACTOR)


def _finer(event: Event) -> Event:
    def last(tick: int) -> int:
        return tick * FACTOR + FACTOR - 1

    pmf = event.pmf and tuple((lo * FACTOR, last(hi), p) for lo, hi, p in event.pmf)
    return replace(event, lower=event.lower * FACTOR, upper=last(event.upper), pmf=pmf)


# --- faults ----------------------------------------------------------------------------------


def _forgets(rivals: Sequence[Rivals], shape: Shape, place: int | None) -> list[Rivals]:
    """The rivals of all rules but those that speak of a place; None is that after the chain."""
    last = len(shape.blocks) - 1
    wanted = last if place is None else place
    if place is not None and place >= last:
        return list(rivals)
    return [each for each in rivals if all(_place(region, shape) != wanted for region in each.rule.regions)]


def _place(region: Region, shape: Shape) -> int | None:
    edge = edge_of(region, shape)
    return gap_of(region) if edge is None else {"before": -1, "after": len(shape.blocks) - 1}[edge]


def _join_forgets(patch: pytest.MonkeyPatch, place: int | None) -> None:
    original = rival_join.rivals_of

    def fault(shape: Shape, *rest: Any, **named: Any) -> list[Rivals]:
        return _forgets(original(shape, *rest, **named), shape, place)

    patch.setattr(rival_join, "rivals_of", fault)


def _tables_forget(patch: pytest.MonkeyPatch, place: int | None) -> None:
    original = points._gaps

    def fault(batch: Batch, ring: OpenedRing, rivals: list[Rivals], rows: Indexes) -> Any:
        return original(batch, ring, _forgets(rivals, batch.measure.shape, place), rows)

    patch.setattr(points, "_gaps", fault)


def _shared_sums_forget(patch: pytest.MonkeyPatch, place: int | None) -> None:
    def fault(batch: Batch, rows: Indexes) -> Found:
        forgetful = replace(batch)
        forgetful.__dict__["deciding"] = _forgets(batch.deciding, batch.measure.shape, place)
        return points.shared_gaps(forgetful, rows)

    change(patch, "sum over both ends", fault)


def _nested_sums_forget(patch: pytest.MonkeyPatch, place: int | None) -> None:
    def fault(matches: CoupledMatches, *rest: Any, **named: Any) -> Any:
        left = _forgets(matches.rivals, matches.shape, place)
        return coupled_confidences(replace(matches, rivals=left), *rest, **named)

    patch.setattr(confidences, "coupled_confidences", fault)


PLACES = (-1, 0, 1, 2, 3, None)
FAULTS = [
    *((_join_forgets, place, ANY) for place in PLACES),
    *((_tables_forget, place, ANY) for place in PLACES),
    *((_nested_sums_forget, place, ANY) for place in PLACES),
    *((_join_forgets, place, NEXT) for place in PLACES),
    *((_shared_sums_forget, place, PARTITION) for place in (0, 1)),
]


@pytest.mark.parametrize(("forgets", "place", "strategy"), FAULTS)
def test_a_place_whose_rivals_are_forgotten_is_found(
    forgets: Callable[[pytest.MonkeyPatch, int | None], None],
    place: int | None,
    strategy: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    forgets(monkeypatch, place)

    def has(length: int, places: tuple[int, ...]) -> bool:
        return (length - 1 if place is None else place) in places or (strategy == PARTITION and length == 3)

    with pytest.raises(AssertionError, match="instead of"):
        for case in patterns(strategy, STREAMS, has):
            assert_same(case, found_by_engine)


def test_rivals_that_stay_where_their_gap_was_moved_from_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenedRing, "copies", lambda self, _: np.zeros(len(self.order) - 1, dtype=np.int64))
    with pytest.raises(AssertionError, match="instead of"):
        for case in patterns(ANY, STREAMS, anywhere):
            assert_same(case, found_by_engine)

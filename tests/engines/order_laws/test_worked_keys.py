"""Keys under a law of order: sums over few orders, worked by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws import key_passes, table
from cepctl.engines.order_laws.cells import OrderProblem, cuts_of, passed, problem_of
from cepctl.engines.order_laws.keys import Factors, LawTables
from cepctl.engines.order_laws.sets import _digits, _rates, closing, lasts_of, sets_of
from cepctl.engines.order_laws.table import KeyTables, LawAnswers, measure_keys
from cepctl.laws.law import OrderLaw
from tests.engines.order_laws.law_keys import STEPS, keys_of, uniform
from tests.engines.order_laws.order_worlds import Stamped

NO_LAW = OrderLaw("k")
A_THEN_B = OrderLaw("k", following={("A", "B"): 4.0})
AB = (uniform("A", 1, 4), uniform("B", 1, 4))
"""Orders A B and B A, with half of the ticks each: weights 4 and 1 of 5."""
AAB = (uniform("A", 1, 2), uniform("A", 1, 2), uniform("B", 1, 2))
"""Orders A A B, A B A and B A A with a third of the ticks each: weights 4, 4 and 1 of 9."""


def measured(law: OrderLaw, *keys: tuple[Stamped, ...], folds: list[int] | None = None) -> LawAnswers:
    factors = Factors.of_law(law, STEPS)
    with only("interpreted"):
        return measure_keys(
            keys_of(*keys),
            factors,
            folds=None if folds is None else np.array(folds),
            expected=True,
            pairs=True,
        )


def counts(found: np.ndarray | None, fold: int = 0) -> dict[str, float]:
    """Expected counts that are not 0, by both steps."""
    assert found is not None
    rows, columns = "ABNC^", "ABNC$"
    return {rows[x] + columns[y]: value for (x, y), value in np.ndenumerate(found[fold]) if abs(value) > 1e-9}


def pair(answers: LawAnswers, one: int, other: int) -> list[float]:
    """P(one event is before the other) in order, at an earlier tick, and at a later one."""
    pairs = answers.pairs
    assert pairs is not None
    for i, j, *found in zip(*vars(pairs).values(), strict=True):
        if (i, j) == (one, other):
            return found
        if (j, i) == (one, other):
            return [1.0 - found[0], found[2], found[1]]
    raise AssertionError("no such pair")


@pytest.mark.parametrize("kept", [key_passes._MOST_KEPT, 0])
def test_how_often_one_step_is_expected_after_another(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums over the keys of each fold; also where the cells of the way forward are made again."""
    monkeypatch.setattr(key_passes, "_MOST_KEPT", kept)
    found = measured(A_THEN_B, AB, AAB, AAB, folds=[1, 0, 1])
    assert found.log_z == pytest.approx([log(5 / 2), log(9 / 3), log(9 / 3)], rel=1e-14)
    ab = {"^A": 4 / 5, "AB": 4 / 5, "B$": 4 / 5, "^B": 1 / 5, "BA": 1 / 5, "A$": 1 / 5}
    aab = {"^A": 8 / 9, "AB": 8 / 9, "B$": 4 / 9, "^B": 1 / 9, "BA": 5 / 9, "A$": 5 / 9, "AA": 5 / 9}
    both = {steps: ab.get(steps, 0.0) + share for steps, share in aab.items()}
    assert counts(found.following) == pytest.approx(aab, rel=1e-13)
    assert counts(found.following, 1) == pytest.approx(both, rel=1e-13)
    # Two As share ticks with B, so pairs count half: (2 * 4 + 1 * 4) / 9 / 2 and (1 * 4 + 2 * 1) / 9 / 2.
    assert counts(found.before) == pytest.approx({"AB": 6 / 9, "BA": 3 / 9}, rel=1e-13)
    assert counts(found.before, 1) == pytest.approx({"AB": 4 / 5 + 6 / 9, "BA": 1 / 5 + 3 / 9}, rel=1e-13)


def test_events_that_are_alike_and_another_on_two_ticks() -> None:
    """Of 8 worlds, sorted, 1 1 1 and 2 2 2 are one each, 1 1 2 and 1 2 2 three each.

    So the first and the second are on two ticks in 3/8, the first and the third in 6/8.  One A of A A B is
    first or second: 4/9 (6/8 + 3/8) / 2 = 1/4; of A B A it is first in half: 4/9 * 3/8 / 2 = 1/12.
    """
    found = measured(A_THEN_B, AAB)
    for one in (0, 1):
        # After B: of A B A 1/12, of B A A second or third 1/9 (3/8 + 6/8) / 2 = 1/16.
        wanted = [(4 + 4 / 2) / 9, 1 / 4 + 1 / 12, 1 / 12 + 1 / 16]
        assert pair(found, one, 2) == pytest.approx(wanted, rel=1e-13)
    # The other A: 4/9 * 3/8 / 2 of A A B, 4/9 * 6/8 / 2 of A B A, 1/9 * 3/8 / 2 of B A A.
    either = (4 * 3 + 4 * 6 + 3) / (9 * 8 * 2)
    assert pair(found, 0, 1) == pytest.approx([1 / 2, either, either], rel=1e-13)


def test_events_that_are_over_have_had_their_say() -> None:
    """Two As on 1 or 2, C on 2 or 3, and a factor of 3 for each A before C; B says nothing.

    C at 3: four worlds of weight 9.  C at 2: As at 1 and 1 weigh 9; one at 1, one beside C 3 (3 + 1) / 2 = 6,
    twice; both beside C (9 + 3 + 1) / 3.  That are 61 1/3 = 184/3 in 8 worlds.  An A is before C at 3, where
    both are at 1, and where it is and the other is not: 36 + 9 + 6 = 51.
    """
    events = (uniform("A", 1, 2), uniform("A", 1, 2), uniform("B", 2, 3), uniform("C", 2, 3))
    found = measured(OrderLaw("k", before={("A", "C"): 9.0}), events)
    assert found.log_z.tolist() == pytest.approx([log(184 / 3 / 8)], rel=1e-14)
    assert pair(found, 0, 3)[1:] == pytest.approx([51 * 3 / 184, 0.0], rel=1e-13)
    assert pair(found, 2, 3)[1:] == pytest.approx([36 / 2 * 3 / 184, (184 / 3 - 36) / 2 * 3 / 184], rel=1e-13)


def test_factors_of_which_no_float_holds_the_product() -> None:
    """Of 20 orders of three As and Bs one has B next after A three times: 2^1200 / 20; no other counts."""
    events = (uniform("A", 1, 4),) * 3 + (uniform("B", 1, 4),) * 3
    found = measured(OrderLaw("k", following={("A", "B"): 2.0**400}), events, AB)
    assert found.log_z == pytest.approx([1_200 * log(2) - log(20), 399 * log(2)], rel=1e-14)
    assert counts(found.following) == pytest.approx({"^A": 2, "AB": 4, "BA": 2, "B$": 2}, rel=1e-13)
    # Of 9 pairs of A B A B A B six are in order.
    assert pair(found, 0, 3)[0] == pytest.approx(6 / 9, rel=1e-13)
    # Turned around it is B B B A A A.
    found = measured(OrderLaw("k", following={("A", "B"): 2.0**-400}), events)
    assert found.log_z.tolist() == pytest.approx([-log(20)], rel=1e-14)
    assert counts(found.following) == pytest.approx({"^B": 1, "BB": 2, "BA": 1, "AA": 2, "A$": 1}, rel=1e-13)


def test_so_large_factors_in_cells_one_after_the_other() -> None:
    """As at 1 or 2, Bs at 2 or 3: A B A B has them twice, where some of each are at 2.

    Of 16 worlds four have one of each there, in that order in half; two have a B more there and two an A
    more, in that order in a third; one has all there, in that order in a sixth: 2 + 4/3 + 1/6 = 7/2.
    """
    events = (uniform("A", 1, 2),) * 2 + (uniform("B", 2, 3),) * 2
    found = measured(OrderLaw("k", following={("A", "B"): 2.0**300}), events, (events[0], events[2]))
    # Of one A and one B half of 1 of 4 worlds is in the other order.
    assert found.log_z == pytest.approx([600 * log(2) + log(7 / 32), 300 * log(2) + log(7 / 8)], rel=1e-14)
    assert counts(found.following) == pytest.approx({"^A": 2, "AB": 3, "BA": 1, "B$": 2}, rel=1e-13)
    assert pair(found, 4, 5) == pytest.approx([1.0, 6 / 7, 0.0], rel=1e-13, abs=1e-80)
    # Three of four pairs of A B A B are in order.
    assert pair(found, 0, 2)[0] == pytest.approx(3 / 4, rel=1e-13)


def problem_and_laws(events: tuple[Stamped, ...], law: OrderLaw) -> tuple[OrderProblem, LawTables]:
    keys, factors = keys_of(events), Factors.of_law(law, STEPS)
    tables, laws = KeyTables.of(keys), LawTables.of([factors], each_last=True)
    kinds = tables.kinds.kinds._replace(factors=tables.roots.under(laws))
    none = np.zeros(0, dtype=np.int64)
    return problem_of(keys.masses.buckets, kinds, table._slots(keys, factors.steps), 0, none, 0), laws


def test_time_is_cut_where_a_mass_changes() -> None:
    """1 to 4 and 3 to 6: cells from 1, 3 and 5 on; without events there is one tick."""
    keys = keys_of((uniform("A", 1, 4), uniform("B", 3, 6)))
    assert cuts_of(keys.masses.buckets, np.array([0, 1])).tolist() == [1, 3, 5, 7]
    assert cuts_of(keys.masses.buckets, np.array([1])).tolist() == [3, 7]
    assert cuts_of(keys.masses.buckets, np.zeros(0, dtype=np.int64)).tolist() == [0]


def test_what_a_key_can_end_with() -> None:
    """A on 1 to 4, b on 3 to 6: nothing or a, then any of the three, then a or b, and at last b."""
    problem, laws = problem_and_laws((uniform("A", 1, 4), uniform("B", 3, 6)), NO_LAW)
    nothing, a, b = len(STEPS), 0, 1
    found = []
    for cell in range(-1, 4):
        codes, count = lasts_of(laws, problem, cell)
        found.append(codes[0, : count[0]].tolist())
    assert found == [[nothing], [nothing, a], [nothing, a, b], [a, b], [a, b]]


def test_sets_have_a_digit_for_each_kind() -> None:
    """With two As and a B they are 00, 10, 20, 01, 11 and 21."""
    found = _digits(np.array([2, 1]), np.array([1, 3]), 6)
    assert found.tolist() == [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]


def test_the_rate_of_one_event_more() -> None:
    """before(B, A) = 2: one of two As is left after the first, and each counts twice after b."""
    problem, _ = problem_and_laws((*AB, AB[0]), OrderLaw("k", before={("B", "A"): 4.0}))
    stride = np.array([1, 3])
    found = _rates(problem, np.array([0, 1]), stride, _digits(np.array([2, 1]), stride, 6))
    assert found.tolist() == [[2, 1], [1, 1], [0, 1], [4, 0], [2, 0], [0, 0]]


@pytest.mark.parametrize(("length", "share"), [(4.0, 1.0), (1.0, 1 / 4), (2.5, 5 / 8)])
def test_a_stretch_of_time_adds_all_numbers_of_events(length: float, share: float) -> None:
    """Two events are in that share of 4 ticks with its square; half of it is A B, which counts 4."""
    problem, laws = problem_and_laws(AB, A_THEN_B)
    sets = sets_of(laws, problem, np.zeros((1, 0), dtype=np.bool_), 0)
    states = np.zeros((4, sets.follow.shape[1]))
    states[0, 0] = 1.0
    one = np.zeros((1, 2), dtype=np.int64)
    found = passed(states, sets, one, np.full((1, 2), 1 / 4), one[0, :1], length)
    wanted = [[1, 0, 0], [0, share, 0], [0, 0, share], [0, share**2 / 2, 4 * share**2 / 2]]
    assert found == pytest.approx(np.array(wanted), rel=1e-14)


def test_what_follows_all_events_has_a_factor() -> None:
    problem, laws = problem_and_laws(AB, OrderLaw("k", following={("B", "$"): 3.0}))
    sets = sets_of(laws, problem, np.zeros((1, 0), dtype=np.bool_), 0)
    assert closing(laws, problem, sets).tolist() == [1.0, 1.0, 3.0]  # of nothing, a and b

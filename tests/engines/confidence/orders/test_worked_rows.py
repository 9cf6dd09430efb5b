"""Rows under laws of order, and some of several rows: sums over few worlds, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.orders.asked import LawRows, asked_each, nothing_asked
from cepctl.engines.confidence.orders.key_orders import key_orders
from cepctl.engines.confidence.orders.questions import _nodes
from cepctl.engines.confidence.orders.under_laws import Decided, LawfulOrders, weights_of
from cepctl.engines.kernels.stages import only
from cepctl.laws.law import OrderLaw
from tests.plans import Event, event_table

BEFORE, AFTER = 1, 4
"""The gaps before the first of two events and after the last."""


def lawful(law: OrderLaw, *events: tuple[str, int, int], keys: str = "") -> LawfulOrders:
    """Events by type, first and last tick, those that begin earlier first; of one key, or `keys`."""
    drawn = [
        Event(f"e{i}", step, lo, hi, k=key)
        for i, ((step, lo, hi), key) in enumerate(zip(events, keys or "1" * len(events), strict=True))
    ]
    columns = events_of(event_table(drawn))
    orders = key_orders((law,), columns.frame, columns.masses)
    assert orders is not None
    return LawfulOrders(orders, 1 << 16, "refuse")


def in_order(
    under: LawfulOrders, *events: int, window: int | None = None, rival: int = 0, gaps: int = 0
) -> float:
    """P(some events come one after the other), with no rival in some gaps."""
    rivals = (np.array([each][: gaps > 0], dtype=np.int64) for each in (0, rival, gaps))
    with only("interpreted"):
        return float(under.probabilities(LawRows(np.array([events]), *rivals), window)[0])


def some_holds(under: LawfulOrders, window: int | None, *rows: tuple[int, int]) -> float:
    with only("interpreted"):
        found, _ = under.unions(LawRows.plain(np.array(rows)), np.zeros(len(rows), dtype=np.int64), 1, window)
    return float(found[0])


A_THEN_B = OrderLaw("k", following={("A", "B"): 4.0})
AB = lawful(A_THEN_B, ("A", 1, 4), ("B", 1, 4))


def test_weights_of_all_orders_and_of_those_that_answer_yes() -> None:
    """(4 + 1) / 2; of 16 worlds six have a before b: 4 * 6 / 16.

    The first takes about 32 steps: 4 sets, 2 passes, 2 kinds, and what came last, a or not.  For the row
    there are 3 passes in place of 8, in each of 4 states: none, a, a at an earlier tick, and both.
    """
    one = np.zeros(1, dtype=np.int64)
    asked = asked_each(AB.orders.masses, LawRows.plain(np.array([[0, 1]])), 0)
    assert asked is not None
    for question, weight, steps in ((nothing_asked(1), 5 / 2, 32), (asked, 3 / 2, 12 * 4)):
        for most, wanted in ((steps, weight), (steps - 1, np.nan)):
            with only("interpreted"):
                found = weights_of(AB.orders, question, Decided(one, one), most)
            value = np.ldexp(found.value, found.exponent.astype(np.int32))
            assert value == pytest.approx([wanted], rel=1e-14, nan_ok=True)


def test_a_window_that_ends_inside_of_wide_events() -> None:
    """Of 100^2 pairs of ticks 99 + 98 + ... + 51 = 3,675 are 1 to 49 apart, each with 4 of 5/2."""
    wide = lawful(A_THEN_B, ("A", 0, 99), ("B", 0, 99))
    assert in_order(wide, 0, 1, window=50) == pytest.approx(0.3675 * 8 / 5, rel=1e-12)
    assert in_order(wide, 0, 1) == pytest.approx(0.495 * 8 / 5, rel=1e-12)


def test_three_wide_events_in_a_window() -> None:
    """Of 100^3 triples k (99 - k) have c k + 1 ticks after a and b between, for k from 1 to 48 78,400 in all.

    Two of six orders have b next after a: 4 of (2 * 4 + 4) / 6 = 2.
    """
    wide = lawful(A_THEN_B, ("A", 0, 99), ("B", 0, 99), ("C", 0, 99))
    assert in_order(wide, 0, 1, 2, window=50) == pytest.approx(0.0784 * 4 / 2, rel=1e-12)


def test_windows_before_and_after_wide_events() -> None:
    """With a, b at 0 to 9, n at -20 to 39; a before b weighs 3: (3 * 45 + 2 * 10 + 45) / 100 = 2 on average.

    In 6 ticks b is 1 to 5 after a in 9, 8, 7, 6 and 5 ways, which leave 4, 3, 2, 1 and no ticks before a and
    as many after b, where n must not be: 9 * 52 + 8 * 54 + 7 * 56 + 6 * 58 + 5 * 60 = 1,940 of 6,000 ways.
    """
    under = lawful(OrderLaw("k", before={("A", "B"): 3.0}), ("N", -20, 39), ("A", 0, 9), ("B", 0, 9))
    found = in_order(under, 1, 2, window=6, rival=0, gaps=BEFORE | AFTER)
    assert found == pytest.approx(1_940 / 6_000 * 3 / 2, rel=1e-12)
    # On one side alone: 9 * 56 + 8 * 57 + 7 * 58 + 6 * 59 + 5 * 60.
    assert in_order(under, 1, 2, window=6, rival=0, gaps=AFTER) == pytest.approx(
        2_020 / 6_000 * 3 / 2, rel=1e-12
    )


@pytest.mark.parametrize(
    ("gaps", "weight"), [(BEFORE | AFTER, 23.5), (BEFORE, 25.5), (AFTER, 27.5), (0, 29.5)]
)
def test_windows_before_and_after_a_row(gaps: int, weight: float) -> None:
    """With a at 2 or 3, b at 3 or 4, n from 0 to 6; N before A weighs 2; all in 3 ticks.

    a at 2: n weighs 2 at 0 and 1, 3/2 at 2, 1 from 3 to 6, together 9 1/2; a at 3: 3 * 2 + 3/2 + 3 = 10 1/2.
    With b twice that makes 40.  Before b at 3, n must not be at 1, of weight 2, and after it not at 4; from
    2 to 4 there is no room; from 3 to 4 it must not be at 2, nor at 5.  Both at 3 are not in order.
    """
    under = lawful(OrderLaw("k", before={("N", "A"): 2.0}), ("N", 0, 6), ("A", 2, 3), ("B", 3, 4))
    assert in_order(under, 1, 2, window=3, rival=0, gaps=gaps) == pytest.approx(weight / 40, rel=1e-13)


def test_some_b_comes_right_after_a() -> None:
    """On 1 to 3 each: weight 3 where a is first, 2 of a tie with one b there, 5/3 of one with both.

    a     both b                            weights             with some b one later
    1     later                             4 times 3           3 times 3
    1     one at 1, the other later         4 times 2           2 times 2
    2     both at 3                         3                   3
    2     one at 2, the other at 3          2 times 2           2 times 2
    2     one at 1, the other at 3          2 times 1           2 times 1
    2     one at 1, the other at 1 or 2     3 times 1
    3     one before 3 at least             8 times 1
    any   beside a                          3 times 5/3

    Together 45, and 22.
    """
    under = lawful(OrderLaw("k", following={("^", "A"): 3.0}), ("A", 1, 3), ("B", 1, 3), ("B", 1, 3))
    assert some_holds(under, 2, (0, 1), (0, 2)) == pytest.approx(22 / 45, rel=1e-13)


def test_some_a_comes_right_before_b() -> None:
    """An a is at 1 or 2, another at 2 or 3, b at 3 or 4: weight 3 where b is last, 2 of a tie there.

    b at 3: two worlds of 3 have the other at 2, right before it; two of 2 have it at 3, one of them with a at
    2, right before b.  b at 4: four of 3, two of them with the other at 3.  So 6 + 2 + 6 = 14 of 6 + 4 + 12.
    """
    under = lawful(OrderLaw("k", following={("B", "$"): 3.0}), ("A", 1, 2), ("A", 2, 3), ("B", 3, 4))
    assert some_holds(under, 2, (0, 2), (1, 2)) == pytest.approx(14 / 22, rel=1e-13)
    assert some_holds(under, 2, (0, 2)) == pytest.approx(5 / 22, rel=1e-13)
    assert some_holds(under, 2, (1, 2)) == pytest.approx(12 / 22, rel=1e-13)


def test_a_row_of_events_of_two_keys() -> None:
    """Both of each key are at 1 or 2: a before c weighs 3, c before a 1, and both at one tick 2, of 8.

    So the a of one key is at 1 with (3 + 2) / 8, and the c of the other one at 2 with (3 + 2) / 8.
    """
    law = OrderLaw("k", following={("A", "C"): 3.0})
    under = lawful(law, *[("A", 1, 2), ("C", 1, 2)] * 2, keys="1122")
    assert in_order(under, 0, 3) == pytest.approx(25 / 64, rel=1e-13)
    assert in_order(under, 2, 1) == pytest.approx(25 / 64, rel=1e-13)
    assert in_order(under, 0, 1) == pytest.approx(3 / 8, rel=1e-13)


def test_what_shares_no_tick_with_an_event_has_no_factor_with_it() -> None:
    """With a at 1 or 2, x at 2 or 3, b and c at 3 or 4, and x before b weighs 2.

    With b at 3 that is 2 + 3/2 for both of x, at 4 2 + 2: b before c is 3 before 4, 7/2 of 2 (7/2 + 4).
    """
    law = OrderLaw("k", before={("X", "B"): 2.0, ("A", "C"): 9.0})
    under = lawful(law, ("A", 1, 2), ("X", 2, 3), ("B", 3, 4), ("C", 3, 4))
    assert in_order(under, 0, 2, 3) == pytest.approx(7 / 30, rel=1e-13)
    assert in_order(under, 2, 3) == pytest.approx(7 / 30, rel=1e-13)


@pytest.mark.parametrize(
    ("ticks", "nested", "count"), [(100, False, 2), (100, True, 4), (1, False, 1), (3, False, 3)]
)
def test_few_ticks_stand_for_many(ticks: int, nested: bool, count: int) -> None:
    """Squares of 0 to 99 add up to 99 * 100 * 199 / 6; cubes would, too, at two nodes or four whole ticks."""
    shifts, weights = _nodes(ticks, 3, nested)
    assert len(shifts) == count
    last = ticks - 1
    sums = [weights.sum(), (weights * shifts).sum(), (weights * shifts**2).sum()]
    assert sums == pytest.approx([ticks, last * ticks / 2, last * ticks * (2 * last + 1) / 6], rel=1e-13)
    assert nested <= np.array_equal(shifts, np.rint(shifts))  # whole ticks

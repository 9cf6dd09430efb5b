"""How events depend on each other is asked of one value, whatever of it there is."""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.events import INDEPENDENT, Dependence
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import event_ties

_ROWS = np.arange(2)
_TIED = Dependence(ties=event_ties(2, _ROWS[:1], _ROWS[1:], np.array([-1])))
_ON_CLOCKS = Dependence(EventClocks.none(Masses.at(_ROWS)))


def test_events_that_share_nothing_are_neither_moved_nor_weighed_together() -> None:
    assert not (INDEPENDENT.on_clocks or INDEPENDENT.given or INDEPENDENT.under_law or INDEPENDENT.weighs)


def test_clocks_move_events_and_weigh_no_world() -> None:
    assert _ON_CLOCKS.on_clocks
    assert not _ON_CLOCKS.weighs


def test_what_is_given_weighs_worlds_until_it_is_left_out() -> None:
    assert _TIED.given and _TIED.weighs
    assert _TIED.but_for_orders() == _TIED
    assert not _TIED.but_for_ties().weighs

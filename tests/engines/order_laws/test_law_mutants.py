"""The random keys can tell the table of a law from one in which a rule of it is broken."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.columns.masses import Masses
from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws import cells, key_passes, same_ticks, table
from cepctl.engines.order_laws.kinds import Kinds, habits
from cepctl.engines.order_laws.table import measure_keys
from cepctl.numeric.arrays import Numbers
from tests.engines.agreement import check
from tests.engines.order_laws.law_keys import factors_of, keys_of, stamped_keys
from tests.engines.order_laws.law_keys import habits as laws
from tests.engines.order_laws.order_worlds import Habits, Stamped
from tests.engines.order_laws.test_order_table import require_enumerated


@dataclass(frozen=True)
class Mutant:
    """A broken rule, and what stands in place of what."""

    broken: str
    owner: Any
    attribute: str
    replacement: Callable[..., Any]


def rewritten(owner: Any, name: str, old: str, new: str) -> Callable[..., Any]:
    """A kernel of a module with another text."""
    text = textwrap.dedent(inspect.getsource(getattr(owner, name).function))
    assert text.count(old) == 1
    names = dict(vars(owner))
    exec(text.replace(old, new), names)
    found: Callable[..., Any] = names[name]
    return found


def of_the_whole_key(kinds: Kinds, stamps: Masses | None = None) -> Numbers:
    """The m of each pair if all events of a step in the key shared a tick."""
    first, second = kinds.pair_kinds
    group = (kinds.problem * 10 + kinds.slot + 1) * 10 + kinds.code
    times = np.bincount(group, kinds.members).astype(np.int64)
    found: Numbers = np.maximum(times[group[first]], times[group[second]])
    return found


def _without(column: bool) -> Callable[..., Any]:
    """What measures without the factors of `^`, or without those of `$`."""

    def measured(buckets: Any, laws: Any, *others: Any) -> None:
        changed = laws.following.copy()
        changed[(0, slice(None), -1) if column else (0, -1)] = 1.0
        key_passes.measure(buckets, laws._replace(following=changed), *others)

    return measured


MUTANTS = [
    Mutant("^ is forgotten", table, "measure", _without(column=False)),
    Mutant("$ is forgotten", table, "measure", _without(column=True)),
    Mutant("all repeats of a key count as one habit", table, "habits", of_the_whole_key),
    Mutant(
        "no repeats count as one habit",
        table,
        "habits",
        lambda kinds, stamps: np.ones_like(habits(kinds, stamps)),
    ),
    Mutant(
        "each order has all ticks of a tie",
        key_passes,
        "_through",
        rewritten(key_passes, "_through", "/= happened", "/= 1.0"),
    ),
    Mutant(
        "a tie counts in one order",
        key_passes,
        "one_more",
        rewritten(
            cells,
            "one_more",
            "weight = mass[a, i] * sets.rates[d, i]",
            "weight = mass[a, i] * sets.rates[d, i] * (d < sets.stride[-1])",
        ),
    ),
    Mutant(
        "ties do not count among strict orders",
        key_passes,
        "add_same_ticks",
        rewritten(same_ticks, "add_same_ticks", "one_tick_weights(ticks, ", "one_tick_weights(1 << 60, "),
    ),
    Mutant(
        "what has ended is forgotten",
        cells,
        "_fill_over",
        lambda *_: None,
    ),
]


def agrees(case: tuple[tuple[Stamped, ...], Habits]) -> None:
    events, law = case
    with only("interpreted"):
        measured = measure_keys(keys_of(events), factors_of(law), expected=True, pairs=True)
    require_enumerated(events, law, measured)


def require_all_worlds() -> None:
    check(st.tuples(stamped_keys(), laws()), agrees, 60, shrink=False)


def test_no_rule_is_broken_as_it_stands() -> None:
    require_all_worlds()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.broken)
def test_a_broken_rule_is_noticed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant.owner, mutant.attribute, mutant.replacement)
    with pytest.raises(AssertionError):
        require_all_worlds()

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

from cepctl.arrays import Indexes
from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws import key_passes, passes, scaled_sets, table, ties
from cepctl.engines.order_laws.classes import Classes, habits
from cepctl.engines.order_laws.keys import Keys
from cepctl.engines.order_laws.table import measure_keys
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


def _of_the_whole_key(keys: Keys, classes: Classes) -> Indexes:
    """The m of each pair if all events of a step in the key shared a tick."""
    first, second = classes.pair_classes
    event = classes.columns.event
    group = keys.key * 10 + keys.step
    times = np.bincount(group)
    found: Indexes = np.maximum(times[group[event[first]]], times[group[event[second]]])
    return found


def _without(column: bool) -> Callable[..., Any]:
    """What measures without the factors of `^`, or without those of `$`."""

    def measured(buckets: Any, classes: Any, roots: Any, following: Any, *others: Any) -> None:
        changed = following.copy()
        changed[(slice(None), -1) if column else -1] = 1.0
        key_passes.measure(buckets, classes, roots, changed, *others)

    return measured


MUTANTS = [
    Mutant("^ is forgotten", table, "measure", _without(column=False)),
    Mutant("$ is forgotten", table, "measure", _without(column=True)),
    Mutant("all repeats of a key count as one habit", table, "habits", _of_the_whole_key),
    Mutant(
        "no repeats count as one habit",
        table,
        "habits",
        lambda keys, classes: np.ones_like(habits(keys, classes)),
    ),
    Mutant(
        "each order has all ticks of a tie",
        scaled_sets,
        "forward_of",
        rewritten(passes, "forward_of", "1.0 / (cell.sizes[s] - least - e + 1.0)", "1.0"),
    ),
    Mutant(
        "a tie counts in one order",
        scaled_sets,
        "forward_of",
        rewritten(
            passes,
            "forward_of",
            "share = 1.0 / (cell.sizes[s] - least - e + 1.0)",
            "share = 1.0 if s < cell.strides[-1] else 0.0",
        ),
    ),
    Mutant(
        "ties do not count among strict orders",
        key_passes,
        "add_ties",
        rewritten(ties, "add_ties", "ties_of(ticks, most)", "ties_of(1 << 60, most)"),
    ),
    Mutant(
        "what has ended is forgotten",
        key_passes,
        "ended_factors",
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

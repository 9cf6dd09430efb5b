"""Events of the very same mass."""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.masses import Masses, alike_events, mass_digest, mixed, same_mass
from tests.plans import Event, event_table, histogram


def test_events_are_alike_by_their_mass_alone() -> None:
    masses = events_of(
        event_table(
            [
                Event("a", "A", 0, 9),
                Event("b", "B", 0, 9),
                Event("c", "A", 0, 8),
                Event("d", "A", 1, 9),
                histogram("e", "A", (0, 4, 0.25), (5, 9, 0.75)),
                histogram("f", "A", (0, 4, 0.75), (5, 9, 0.25)),
                histogram("g", "A", (0, 4, 0.25), (5, 9, 0.75)),
                histogram("h", "A", (0, 3, 0.25), (5, 9, 0.75)),
                Event("i", "A", 0, 8),
            ]
        )
    )
    ids = masses.ids.to_list()
    first = alike_events(masses.masses)
    alike = {ids[event]: ids[of] for event, of in enumerate(first.tolist())}
    classes = {frozenset(each for each in ids if alike[each] == alike[one]) for one in ids}
    assert classes == {
        *(frozenset("ab"), frozenset("ci"), frozenset("d"), frozenset("eg"), frozenset("f"), frozenset("h")),
    }


def test_of_no_events_none_are_alike() -> None:
    assert alike_events(events_of(event_table([])).masses).tolist() == []


def test_events_with_other_masses_lie_apart_in_the_table() -> None:
    events = [Event(f"e{i}", "A", i, i + 9) for i in range(50)]
    events += [Event(f"w{i}", "A", 0, 10 + i) for i in range(50)]
    masses = events_of(event_table(events)).masses
    assert len({int(mass_digest(masses.buckets, event)) for event in range(100)}) == 100


def test_numbers_are_mixed_as_splitmix64_does() -> None:
    """What this generator returns first from seeds 0 and 1234567, as its authors state it."""
    with np.errstate(over="ignore"):  # of whole numbers that wrap around
        found = [int(mixed(np.uint64(seed))) for seed in (0, 1_234_567)]
    assert found == [0xE220A8397B1DCDAF, 6_457_827_717_110_365_317]


def test_masses_are_the_same_where_every_number_is() -> None:
    """The third has another first tick, the fourth another last one, the others have other shares."""
    lo, hi = np.array([0, 5, 0, 5, 1, 5, 0, 5, 0, 5, 0, 5]), np.array([2, 9] * 3 + [3, 9] + [2, 9] * 2)
    density = np.array([0.2, 0.08] * 4 + [0.1, 0.14] + [0.2, 0.09])
    masses = Masses.of_buckets(np.arange(0, 13, 2), lo, hi, density)
    same = [same_mass(masses.buckets, 0, other) for other in range(6)]
    assert same == [True, True, False, False, False, False]
    assert alike_events(masses).tolist() == [0, 0, 2, 3, 4, 5]

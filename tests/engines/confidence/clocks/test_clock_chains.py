"""Chains of events that share clocks: compiled sums give what the sums of every other pattern give."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from cepctl.clocks.shared import Clocks, Offset
from cepctl.engines.columns.clocks import event_clocks
from cepctl.engines.confidence.clocks import chains
from cepctl.engines.confidence.clocks.offset_masses import Difference, mass_at, mass_between, support
from cepctl.engines.confidence.measured import impossible
from cepctl.engines.event.match import match_events
from tests.engines.agreement import rows_by_signature
from tests.plans import Event, event_table, on, plan_of

WIDE: dict[str, Offset] = {
    "n": ((-40, 55, 1.0),),
    "m": ((-31, 2, 0.25), (3, 90, 0.75)),
    "k": ((7, 60, 0.5), (61, 61, 0.125), (62, 99, 0.375)),
}
LAYOUTS = ("nnmm", "nmnM", "nnM-", "NMK-", "nnMK", "n-n-", "-m--")
PATTERN = "PATTERN SEQ(A a, B b, C c, D d) WHERE [k]"


def groups(layout: str, draw: random.Random, count: int = 4) -> tuple[list[Event], Clocks]:
    """Events that are alike in their clocks alone, anywhere; a capital letter is a sharp event."""
    clocks: Clocks = {name: WIDE[name] for name in sorted(set(layout.lower())) if name != "-"}
    events = []
    for number, (place, name) in product(range(count), enumerate(layout)):
        lower = draw.randint(0, 60) + 20 * place
        upper = lower if name.isupper() else lower + draw.choice([0, 3, 50])
        event = Event(f"{number}.{place}", "ABCD"[place], lower, upper, k=str(number))
        events.append(event if name == "-" else on(name.lower(), clocks, event))
    return events, clocks


@pytest.mark.parametrize("window", ["", " WITHIN 91 ticks"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_chain_is_measured_as_any_pattern_is(
    layout: str, window: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    events, clocks = groups(layout, random.Random(layout + window))
    plan, table = plan_of(PATTERN + window, clocks), event_table(events)
    found = rows_by_signature(match_events(plan, table))
    monkeypatch.setattr(
        chains, "clock_chains", lambda *given: (impossible(len(given[3])), np.arange(len(given[3])))
    )
    wanted = rows_by_signature(match_events(plan, table))
    assert wanted and sorted(found) == sorted(wanted)
    for signature, row in wanted.items():
        assert (found[signature]["start"], found[signature]["end"]) == (row["start"], row["end"])
        assert found[signature]["confidence"] == pytest.approx(row["confidence"], rel=1e-11)


MANY: dict[str, Offset] = {
    # As a normal distribution has them, with a hole; of a range of which one bucket holds most.
    "many": tuple(
        (4 * at, 4 * at + 3 - (at == 5), p / 64) for at, p in enumerate((1, 3, 8, 20, 20, 8, 3, 1))
    ),
    "long": (*((at, at, 1 / 128) for at in range(-20, 44)), (44, 300, 0.5)),
}


def by_pairs(difference: Difference, least: int, most: int) -> Iterator[float]:
    """The probability of each pair of ticks that is so far apart."""
    offsets = difference.offsets
    ticks = [
        [
            (tick, offsets.density[b])
            for b in range(offsets.starts[each], offsets.starts[each + 1])
            for tick in range(offsets.lo[b], offsets.hi[b] + 1)
        ]
        if each >= 0
        else [(0, 1.0)]
        for each in (difference.clock, difference.other)
    ]
    yield from (p * q for one, p in ticks[0] for other, q in ticks[1] if least <= one - other <= most)


@pytest.mark.parametrize(
    ("clock", "other"),
    [
        *(("n", None), ("m", None), ("n", "m"), ("m", "n"), ("k", "m")),
        *(("many", "long"), ("long", "many"), ("m", "many"), ("many", "n"), ("long", "long2")),
    ],
)
def test_the_mass_between_two_ticks_is_that_of_all_ticks_between(clock: str, other: str | None) -> None:
    known = WIDE | MANY | {"long2": MANY["long"]}
    clocks: Clocks = {name: known[name] for name in sorted({clock, other or clock})}
    table = event_table([on(name, clocks, Event(name, "A", 0, 0)) for name in clocks])
    stamped = event_clocks(table, clocks)
    assert stamped is not None
    place = sorted(clocks)
    difference = Difference(
        stamped.offsets.buckets, place.index(clock), -1 if other is None else place.index(other)
    )
    first, last = support(difference)
    draw = random.Random(0)
    for _ in range(20):
        least, most = sorted(draw.randint(first - 5, last + 5) for _ in range(2))
        every = math.fsum(mass_at(difference, tick) for tick in range(least, most + 1))
        assert every == pytest.approx(math.fsum(by_pairs(difference, least, most)), rel=1e-12)
        assert mass_between(difference, least, most) == pytest.approx(every, rel=1e-12)
    assert mass_between(difference, first, last) == pytest.approx(1.0, rel=1e-12)

"""Random laws of order for the keys of random events."""

from __future__ import annotations

from random import Random

from cepctl.laws.law import BEGIN, END, OrderLaw

FACTORS = (0.01, 0.25, 0.5, 2.0, 4.0, 9.0)


def drawn_laws(rng: Random) -> tuple[OrderLaw, ...]:
    """One law by `k` or `g`, of steps that are types, alone or with the other attribute."""
    by, other = rng.sample(["k", "g"], 2)
    detailed = rng.random() < 0.25
    values = {"k": ("p", "q", ""), "g": ("u", "v")}[other]
    types = ("A", "B", "C", "N", "Z")
    steps = [f"{kind}+{value}" for kind in types for value in values] if detailed else list(types)
    following = {
        _pair(rng, [BEGIN, *steps], [*steps, END]): rng.choice(FACTORS) for _ in range(rng.randint(0, 4))
    }
    following.pop((BEGIN, END), None)
    before = {_pair(rng, steps, steps): rng.choice(FACTORS) for _ in range(rng.randint(0, 3))}
    if not following and not before:
        before = {("A", "B"): 4.0}
    return (OrderLaw(by, ("event_type", other) if detailed else ("event_type",), following, before),)


def _pair(rng: Random, first: list[str], second: list[str]) -> tuple[str, str]:
    return rng.choice(first), rng.choice(second)

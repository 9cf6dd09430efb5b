"""What a random case is made of: the names that `--only` takes, and which of them go together."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from cepctl.errors import UsageError
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT

STRATEGIES = {
    "any-match": ANY,
    "next-match": NEXT,
    "strict-contiguity": STRICT,
    "partition-contiguity": PARTITION,
}
SHARES = {
    "negation": 0.45,
    "absent-together": 0.12,
    "kleene": 0.2,
    "quantified": 0.15,
    "order": 0.3,
    "runs": 0.5,
    "running": 0.4,
    "repeated": 0.12,
    "aggregates": 0.3,
    "and": 0.15,
    "or": 0.15,
    "timing": 0.2,
    "intervals": 0.3,
    "bystanders": 0.25,
    "clocks": 0.2,
    "tied-clocks": 0.12,
    "given": 0.15,
    "written-order": 0.15,
    "group-by": 0.15,
    "reached": 0.1,
    "prob": 0.1,
    "laws": 0.15,
}
"""How often a case has a construct, where it may."""
CHECKS = {
    "threshold": 0.25,
    "top-k": 0.15,
    "binding-order": 0.1,
    "slices": 0.15,
    "moved": 0.1,
    "raw-times": 0.1,
    "point-engine": 0.1,
    "files": 0.1,
    "counted-units": 1.0,
    "summary": 1.0,
    "why-not": 0.15,
}
"""What is compared beside the rows of the judge, one of them in each case; how often."""
MEANINGS = {
    "absent-together": "!SEQ and !AND of two or three components",
    "quantified": "components that may be absent, groups of a number of events",
    "order": "predicates over the order of a Kleene group",
    "runs": "groups in order, and what reads them, where other events decide",
    "running": "a group at the end with a match after each tick at which it takes",
    "repeated": "components that take events in turn, SEQ(...)+",
    "aggregates": "aggregates over a Kleene group",
    "intervals": "interval events that the pattern binds or negates, or that stand beside",
    "bystanders": "interval events that no component names, under contiguity",
    "written-order": "events that one of several writers wrote in a known order",
    "tied-clocks": "clocks whose offsets a tie keeps near to those of others",
    "laws": "laws that weigh the orders of the events of keys",
    "threshold": "rows with CONFIDENCE >= c are the rows above it without one",
    "top-k": "rows with --top-k are the first of all rows",
    "binding-order": "rows are the same in any --order",
    "slices": "rows are the same in slices of time and key",
    "moved": "rows are the same at another time",
    "raw-times": "rows are the same where raw times are looked at, too",
    "point-engine": "the point engine agrees as well",
    "files": "rows are those of a file that holds the events: CSV, JSON lines, Parquet, a dataset",
    "counted-units": "rows are the same where even few records of a unit are counted and not summed",
    "summary": "--kleene summary agrees with the judge",
    "why-not": "as many matches can happen as there are rows",
}
NAMES = (*STRATEGIES, *SHARES, *CHECKS)
_NEEDS = {
    "order": {"kleene", "any-match"},
    "absent-together": {"negation"},
    "runs": {"kleene"},
    "running": {"kleene", "next-match"},
    "aggregates": {"kleene"},
    "intervals": {"any-match"},
    "tied-clocks": {"clocks"},
    "counted-units": {"written-order"},
    "summary": {"kleene"},
}
_CONTIGUITY = ("strict-contiguity", "partition-contiguity")
_NOT_UNDER_LAWS = {
    *_CONTIGUITY,
    *(
        "kleene",
        "quantified",
        "order",
        "runs",
        "running",
        "repeated",
        "aggregates",
        "and",
        "or",
        "timing",
        "intervals",
        "bystanders",
        "clocks",
        "given",
        "written-order",
    ),
    *("absent-together", "reached", "summary", "point-engine", "why-not"),
}
_EXCLUDES = {
    "absent-together": {"intervals"},
    "quantified": {"intervals"},
    "bystanders": {"any-match", "next-match"},
    "repeated": {"next-match", "intervals", "summary"},
    "runs": {"any-match"},
    "laws": _NOT_UNDER_LAWS,
    "group-by": {"slices", "moved", "summary", "why-not", "reached"},
    "summary": {"or", "reached", "clocks", "given", "written-order", "intervals"},
}


@dataclass(frozen=True)
class Wanted:
    """The constructs of a case, by the names that `--only` takes."""

    names: frozenset[str]

    def __contains__(self, name: str) -> bool:
        return name in self.names

    @property
    def strategy(self) -> str:
        """As it is written in a query."""
        return next(text for name, text in STRATEGIES.items() if name in self.names)

    @property
    def check(self) -> str:
        """What is compared beside the rows of the judge."""
        return next(name for name in CHECKS if name in self.names)


def drawn_constructs(rng: Random, only: frozenset[str]) -> Wanted:
    """Constructs that go together, all of `only` among them."""
    wanted = set(only).union(*(_NEEDS.get(name, set()) for name in only))
    if not wanted & STRATEGIES.keys():
        strategies = [*["any-match"] * 4, "next-match", *_CONTIGUITY]
        wanted.add(rng.choice([name for name in strategies if _fits(name, wanted)]))
    # Some together that would be rare otherwise.
    for name in rng.sample(list(SHARES), rng.choice([0, 0, 2, 3])):
        needs = _NEEDS.get(name, set())
        if needs & STRATEGIES.keys() <= wanted and all(_fits(each, wanted) for each in (name, *needs)):
            wanted |= {name, *needs}
    for name, share in SHARES.items():
        if rng.random() < share and _NEEDS.get(name, set()) <= wanted and _fits(name, wanted):
            wanted.add(name)
    if not wanted & CHECKS.keys():
        checks = [name for name in CHECKS if _NEEDS.get(name, set()) <= wanted and _fits(name, wanted)]
        wanted.add(rng.choices(checks, [CHECKS[name] for name in checks])[0])
    return Wanted(frozenset(wanted))


def require_together(only: frozenset[str]) -> None:
    """Raise UsageError where a name is unknown, or no case can have all of them."""
    unknown = sorted(only - set(NAMES))
    if unknown:
        raise UsageError(f"no construct '{unknown[0]}'; --list prints them")
    wanted = set(only).union(*(_NEEDS.get(name, set()) for name in only))
    for several in (STRATEGIES, CHECKS):
        if len(wanted & several.keys()) > 1:
            raise UsageError(f"no case is of {' and '.join(sorted(wanted & several.keys()))}")
    for name in sorted(wanted):
        if not _fits(name, wanted - {name}):
            raise UsageError(f"{name} does not go together with {', '.join(sorted(wanted - {name}))}")


def _fits(name: str, others: set[str]) -> bool:
    return not _EXCLUDES.get(name, set()) & others and not any(
        name in _EXCLUDES.get(other, set()) for other in others
    )

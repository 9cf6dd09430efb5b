"""Random clauses beside a pattern: conditions on attributes and times, keys, RETURN, GROUP BY, GIVEN."""

from __future__ import annotations

from itertools import combinations
from random import Random

from cepctl.language.keywords import ALLEN_RELATIONS
from cepctl.schema import IN_WRITTEN_ORDER
from tests.engines.confidence.given.given_cases import CLAUSES as GIVEN_OF_POINTS
from tests.engines.confidence.intervals.given_of_lasting import CLAUSES as GIVEN_OF_LASTING
from tests.fuzzing.constructs import Wanted
from tests.fuzzing.queries import Group, Pattern, Query, groups_of, parts_of
from tests.random_conditions import (
    group_conditions,
    links,
    order_conditions,
    own_conditions,
    reading_conditions,
    return_columns,
    run_conditions,
    set_reading_conditions,
    timings,
    turn_conditions,
)
from tests.random_patterns import NEXT, PARTITION, Level, Part


def drawn_query(rng: Random, wanted: Wanted, pattern: Pattern) -> Query:
    """A query of a pattern, with the clauses that are wanted."""
    needs_window = _needs_window(wanted.strategy, pattern)
    positive = sum(not part.negated for part in parts_of(pattern))
    keyed = wanted.strategy == PARTITION or rng.random() < 0.15
    cuts = wanted.check == "slices" and rng.random() < 0.8
    window = needs_window or cuts or rng.random() < 0.5
    given = (*GIVEN_OF_POINTS, *GIVEN_OF_LASTING)
    return Query(
        pattern,
        wanted.strategy,
        _conditions(rng, wanted, pattern),
        rng.choice([("k",), ("k",), ("k", "g")]) if keyed else (),
        rng.randint(1, 3 * positive + 3) if window else None,
        () if "group-by" in wanted else _returns(rng, wanted, pattern),
        _keys_of_groups(rng, pattern) if "group-by" in wanted else None,
        (
            *(rng.sample(given, rng.choice([1, 1, 2])) if "given" in wanted else ()),
            *([IN_WRITTEN_ORDER] if "written-order" in wanted else ()),
        ),
    )


def _needs_window(strategy: str, pattern: Pattern) -> bool:
    """Whether some part of an OR has a negation at an edge, or a group there under next match."""
    if isinstance(pattern, Part):
        return pattern.negated or (strategy == NEXT and pattern.kleene and not pattern.running)
    if pattern.word == "OR":
        return any(_needs_window(strategy, member) for member in pattern.members)
    if pattern.word != "SEQ":
        return False
    optional = any(part.optional for part in parts_of(pattern))
    ends = [parts_of(pattern.members[0])[0], parts_of(pattern.members[-1])[-1]]
    # What stands beside an absence may be absent, too.
    ends = parts_of(pattern) if optional else ends
    bound = [member for member in pattern.members if not (isinstance(member, Part) and member.negated)]
    trailing = parts_of(bound[-1]) if bound else []
    fills = any(part.kleene and not part.running for part in trailing)
    return any(part.negated for part in ends) or (strategy == NEXT and fills)


def alternatives_of(pattern: Pattern) -> list[list[Part]]:
    """The components of each part of an OR; of an OR in a place of a chain those of its first part."""
    if isinstance(pattern, Group) and pattern.word == "OR":
        return [found for member in pattern.members for found in alternatives_of(member)]
    first = {part for group in groups_of(pattern) if group.word == "OR" for part in group.members[1:]}
    return [[part for part in parts_of(pattern) if part not in first]]


# --- WHERE -----------------------------------------------------------------------------------


def _conditions(rng: Random, wanted: Wanted, pattern: Pattern) -> tuple[str, ...]:
    found = [] if rng.random() < 0.8 else [rng.choice(own_conditions(parts_of(pattern)))]
    for parts in alternatives_of(pattern):
        pools = [(links(wanted.strategy, parts), 0.25)]
        if "quantified" in wanted:
            pools += [(_links_of_optional(wanted.strategy, parts), share) for share in (0.6, 0.3)]
        if "aggregates" in wanted:
            pools.append((group_conditions(wanted.strategy, parts), 1))
        if "order" in wanted:
            pools.append((order_conditions(parts), 1))
        turn = [part for part in parts if part.repeated]
        pools += [(turn_conditions(turn), 0.7), (order_conditions(turn), 0.4), (turn_conditions(turn), 0.3)]
        if "runs" in wanted and rng.random() < 0.25:
            pools += [(set_reading_conditions(parts), 1)]
        elif "runs" in wanted:
            pools += [(run_conditions([part]), 0.95) for part in parts if part.kleene]
            pools += [(reading_conditions(parts), 0.4)]
        if "timing" in wanted and "intervals" not in wanted:
            timed = [part for part in parts if part not in _parts_of_wholes(pattern)]
            pools += [(timings(timed), 1), (timings(timed), 0.3)]
            pools.append((_joined_timings(rng, wanted, timed), 0.4))
        known = {part.variable for part in _parts_of_wholes(pattern)}
        wholes = [names for names in ("uvw", "xyz") if names[0] in known]
        pools += [(_between_parts(names[: 3 if names[2] in known else 2]), 0.4) for names in wholes * 2]
        found += [rng.choice(pool) for pool, share in pools if pool and rng.random() < share]
        if "intervals" in wanted:
            found += _of_intervals(rng, wanted, pattern, parts)
        if "prob" in wanted and rng.random() < 0.6:
            found += [
                f"prob({each}) {rng.choice(['>=', '<', '>', '<='])} {rng.choice([0.25, 0.5, 0.75])}"
                for each in _between_two(rng, wanted, parts, absent=True)
            ]
    return tuple(dict.fromkeys(found))


def _links_of_optional(strategy: str, parts: list[Part]) -> list[str]:
    """What links a component to one that may be absent, and is asked only where that is bound."""
    pairs = [pair for pair in combinations(parts, 2) if any(part.optional for part in pair)]
    return [link for pair in pairs for link in links(strategy, [*pair])]


def _joined_timings(rng: Random, wanted: Wanted, parts: list[Part]) -> list[str]:
    """Conditions on times joined by OR and NOT, of single events and of the first and last of groups."""
    ends = rng.choice(["first", "last"]) if {"order", "runs"} & wanted.names else None
    sides = [part.variable for part in parts if not (part.negated or part.kleene)]
    sides += [f"{part.variable}[{ends}]" for part in parts if part.kleene and ends]
    found = []
    for left, right in combinations(sides, 2):
        first, second = rng.sample(range(5), 2)
        one, other = (f"{right}.time - {left}.time {rng.choice('<>=')} {n} ticks" for n in (first, second))
        found += [one, f"({one} OR {other})", f"NOT ({one} OR {other})"]
    return found


def _parts_of_wholes(pattern: Pattern) -> list[Part]:
    """The components of `!SEQ` and `!AND`."""
    wholes = [group for group in groups_of(pattern) if group.word.startswith("!")]
    return [part for group in wholes for part in parts_of(group)]


def _between_parts(names: str) -> list[str]:
    """Conditions between the components of one whole."""
    forms = ("{b}.x < {a}.x", "{b}.x >= {a}.x", "{b}.k = {a}.k", "{b}.x + {a}.x > 2")
    found = [form.format(a=one, b=other) for one, other in combinations(names, 2) for form in forms]
    return [*found, "{}.x + {}.x >= {}.x".format(*names)] if len(names) > 2 else found


def _of_intervals(rng: Random, wanted: Wanted, pattern: Pattern, parts: list[Part]) -> list[str]:
    """Relations and comparisons of ends; every absence within ISEQ is named by one."""
    found = [] if "timing" not in wanted and rng.random() < 0.5 else _between_two(rng, wanted, parts)
    if "timing" in wanted and rng.random() < 0.4:
        found += _between_two(rng, wanted, parts)
    inside = {part for group in groups_of(pattern) if group.word == "ISEQ" for part in group.members}
    for absent in parts:
        others = [part.variable for part in parts if not part.negated and not part.kleene]
        if absent.negated and others and (absent in inside or rng.random() < 0.25):
            found.append(_of_ends(rng, absent.variable, rng.choice(others), tied=absent in inside))
    return found


def _between_two(rng: Random, wanted: Wanted, parts: list[Part], *, absent: bool = False) -> list[str]:
    """One condition on the times of two single components, where there are two."""
    single = [part for part in parts if not part.kleene and (absent or not part.negated)]
    pairs = [(a, b) for a, b in combinations(single, 2) if not (a.negated and b.negated)]
    if not pairs:
        return []
    first, second = (part.variable for part in rng.choice(pairs))
    if "intervals" in wanted:
        return [_of_ends(rng, *rng.sample([first, second], 2))]
    comparison = f"{rng.choice(['<', '<=', '>=', '>', '<>', '='])} {rng.randint(0, 4)} ticks"
    return [f"{second}.time - {first}.time {comparison}"]


def _of_ends(rng: Random, left: str, right: str, *, tied: bool = False) -> str:
    """A relation of two variables, or a comparison of their ends; unless `tied`, perhaps of one of them."""
    forms = ["relation", "union", "tolerance", "intersects", "by", "times", "times"]
    form = rng.choice(forms if tied else [*forms, "own", "constant"])
    ticks = rng.randint(0, 3)
    names = sorted(name.upper() for name in ALLEN_RELATIONS)
    if form in ("relation", "union", "tolerance"):
        chosen = "|".join(rng.sample(names, rng.randint(2, 5) if form == "union" else 1))
        return f"{left} {chosen} {right}" + (f" TOLERANCE {ticks} ticks" if form == "tolerance" else "")
    if form in ("intersects", "by"):
        return f"{left} INTERSECTS {right}" + (f" BY {ticks} ticks" if form == "by" else "")
    ends = [rng.choice(["start", "end", "time"]) for _ in range(2)]
    sign = rng.choice(["<", "<=", "=", "<>", ">", ">="])
    if form == "constant":
        return f"{left}.{ends[0]} {sign} '1970-01-01T00:00:00.{rng.randint(1, 9):03}Z'"
    if form == "own":
        return f"{left}.end - {left}.start {sign} {ticks} ticks"
    return f"{left}.{ends[0]} - {right}.{ends[1]} {sign} {ticks} ticks"


# --- what is returned ------------------------------------------------------------------------


def _returns(rng: Random, wanted: Wanted, pattern: Pattern) -> tuple[str, ...]:
    parts = alternatives_of(pattern)[0]
    asked: list[str] = []
    if rng.random() < 0.15:
        columns = return_columns(Level(order="order" in wanted or "runs" in wanted), parts)
        asked += rng.sample(columns, min(rng.choice([1, 2, 3]), len(columns)))
    if "reached" in wanted:
        asked += [f"reached({share})" for share in rng.sample([0.05, 0.3, 0.5, 0.75, 1.0], 2)]
    if "prob" in wanted:
        asked += [f"prob({each})" for each in _between_two(rng, wanted, parts)]
    return tuple(dict.fromkeys(asked))


def _keys_of_groups(rng: Random, pattern: Pattern) -> tuple[str, ...]:
    """The whole input, or attributes of events that every part binds."""
    bound = set.intersection(
        *(
            {part.variable for part in parts if not (part.negated or part.kleene or part.optional)}
            for parts in alternatives_of(pattern)
        )
    )
    chosen = {part for group in groups_of(pattern) if group.word == "OR" for part in group.members}
    bound -= {part.variable for part in chosen if isinstance(part, Part)}
    keys = [f"{name}.{attribute}" for name in sorted(bound) for attribute in "kgx"]
    return tuple(rng.sample(keys, min(rng.choice([0, 1, 1, 2]), len(keys))))

"""What GIVEN says, as differences between pairs of events: a join finds every combination that it speaks of.

A clause says of each combination that one event comes after the other, and that they lie in a window: each
is a difference t_left - t_right <= bound between two events. What the intervals imply is dropped at once,
and so is a tie that others imply. Where no possible world satisfies the clauses, the error names those that
contradict each other and their events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import order_of
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.search.search import Search, enumeration_parts
from cepctl.errors import ContradictionError, QueryTooLargeError
from cepctl.language.ast import Binary, EventTime, Expression
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Given
from cepctl.schema import ALONG, IN_WRITTEN_ORDER, NAMES_OF_ENDS, RECORD, WRITER, WRITTEN_ORDERS

_SHOWN = 8


def contradicted(clauses: Sequence[Given], rows: Sequence[int], events: Events) -> ContradictionError:
    """The error that names clauses, and events with their intervals in ticks."""
    said = " and ".join(f"GIVEN {text}" for text in dict.fromkeys(each.text for each in clauses))
    masses = events.masses
    distinct = list(dict.fromkeys(rows))
    shown = [f"{events.ids[row]} in {masses.lower[row]}..{masses.upper[row]}" for row in distinct[:_SHOWN]]
    more = f" and {len(distinct) - _SHOWN:,} more" if len(distinct) > _SHOWN else ""
    return ContradictionError(
        f"no possible world satisfies {said}: the intervals of {', '.join(shown)}{more} contradict it "
        "(in ticks); correct the uncertainty model, say in IF which events are meant, or leave it out"
    )


_MOST_WAYS = 50_000_000


def without_ways_round(found: Differences) -> Differences:
    """What says that one event comes before another is left out where one between them says so already."""
    return found.taken(implied_ties(found))


def implied_ties(found: Differences) -> Indexes:
    """Those that are kept then."""
    order = np.flatnonzero(found.bound == -1)
    degree = np.bincount(found.right[order], minlength=int(found.left.max(initial=0)) + 1)
    if int(degree[found.left[order]].sum()) > _MOST_WAYS:
        return np.arange(len(found))
    first = pl.DataFrame({"from": found.left[order], "to": found.right[order]})
    ways = first.join(first.rename({"from": "to", "to": "end"}), on="to").select("from", "end").unique()
    ways = ways.rename({"end": "to"})
    implied = first.with_row_index("row").join(ways, on=["from", "to"], how="semi")
    kept = np.ones(len(found), dtype=bool)
    kept[order[implied.get_column("row").to_numpy()]] = False
    return np.flatnonzero(kept)


MOST_COMBINATIONS = 200_000_000
MOST_DIFFERENCES = 20_000_000
NO_CLAUSE = -1


@dataclass(frozen=True)
class Differences:
    """`t_left - t_right <= bound` between events by row number, and the clause that says so; shape (k,).

    The clause is NO_CLAUSE for what holds in any case.
    """

    left: Indexes
    right: Indexes
    bound: Ticks
    clause: Indexes

    def __len__(self) -> int:
        return len(self.left)

    def taken(self, which: Indexes) -> Differences:
        return Differences(self.left[which], self.right[which], self.bound[which], self.clause[which])

    def implied(self, masses: Masses) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Those that hold wherever both events are."""
        return np.asarray(masses.upper[self.left] - masses.lower[self.right] <= self.bound)


def differences_of(
    given: Sequence[Given], events: Events, endpoints: Endpoints | None = None, nodes: Events | None = None
) -> Differences:
    """All differences that some world contradicts.

    Where events last, these are between endpoints: `events` then has the hulls of events, and `nodes` an
    event for each of the `endpoints`.

    Raises
    ------
    ContradictionError
        If every world contradicts one of them.
    QueryTooLargeError
        If there are too many combinations to look at.
    """
    ends, nodes = endpoints or events.points, nodes or events
    parts = [part for number in range(len(given)) for part in _of_clause(given, number, events, ends, nodes)]
    none = np.zeros(0, dtype=np.int64)
    found = Differences(
        *(
            np.concatenate([none, *(getattr(part, name) for part in parts)])
            for name in ("left", "right", "bound", "clause")
        )
    )
    # Of the records of writers no two neighbours are said twice.
    return found if len(given) == 1 and given[0].text in WRITTEN_ORDERS else tightest(found)


def tightest(found: Differences) -> Differences:
    """Of several between two events the tightest says all; they stay in their order."""
    order = np.lexsort((found.bound, found.right, found.left))
    fresh = np.ones(len(found), dtype=bool)
    fresh[1:] = (np.diff(found.left[order]) != 0) | (np.diff(found.right[order]) != 0)
    return found.taken(np.sort(order[fresh]))


def _of_clause(
    given: Sequence[Given], number: int, events: Events, endpoints: Endpoints, nodes: Events
) -> Iterator[Differences]:
    clause = given[number]
    if clause.text in WRITTEN_ORDERS:
        yield _of_writers(given, number, events, endpoints, nodes)
        return
    alternative = clause.alternative
    fitting = (fitting_events(events, each) for each in alternative.components)
    candidates = tuple(each[endpoints.whole[each] > 0] for each in fitting)
    seen = kept = 0
    for rows in combinations(clause, events, candidates, _looked_at(clause, events)):
        seen += len(rows)
        for left, right, bound in _pairs(clause):
            limits = np.full(len(rows), bound, dtype=np.int64)
            ends = endpoints.end[rows[:, left]]
            found = Differences(ends, rows[:, right], limits, np.full(len(rows), number))
            open_still = ~found.implied(nodes.masses) & (found.left != found.right)
            found = found.taken(np.flatnonzero(open_still))
            _refuse_impossible(given, found, nodes)
            kept += len(found)
            yield found
        if kept > MOST_DIFFERENCES:
            raise too_many(clause, seen)


def _of_writers(
    given: Sequence[Given], number: int, events: Events, endpoints: Endpoints, nodes: Events
) -> Differences:
    """What the records of each writer say of their neighbours."""
    text = given[number].text
    along = RECORD if text == IN_WRITTEN_ORDER else ALONG
    left, right = next_records(events, along, endpoints.whole > 0)
    if len(endpoints.lasting):
        node = np.where(written_as_they_end(events), endpoints.end, np.arange(len(endpoints.end)))
        left, right = node[left], node[right]
    found = Differences(left, right, np.full(len(left), -1), np.full(len(left), number))
    _refuse_impossible(given, found, nodes)
    return found.taken(np.flatnonzero(~found.implied(nodes.masses)))


@dataclass(frozen=True)
class SpokenOf:
    """What clauses speak of.

    `clauses`: the number of each that some events fit, the clause, and these, for each of its components.
    `events`: which events fit some component, shape (n,).  `empty`: the other clauses, as text.
    """

    clauses: tuple[tuple[int, Given, tuple[Indexes, ...]], ...]
    events: Flags
    empty: tuple[str, ...]


def spoken_of(given: Sequence[Given], events: Events) -> SpokenOf:
    """The events that fit the components of clauses; a clause of which one is fitted by none says nothing."""
    clauses, empty = [], []
    some = np.zeros(len(events), dtype=bool)
    for number, clause in enumerate(given):
        fitting = tuple(fitting_events(events, each) for each in clause.alternative.components)
        if not all(map(len, fitting)):
            empty.append(clause.text)
            continue
        for each in fitting:
            some[each] = True
        clauses.append((number, clause, fitting))
    return SpokenOf(tuple(clauses), some, tuple(empty))


def combinations(
    clause: Given, events: Events, candidates: tuple[Indexes, ...], system: Ticks
) -> Iterator[Indexes]:
    """The combinations of events that a clause speaks of, as rows of a matrix; some at a time.

    `candidates`: the events that can be bound to each component.  `system`: the differences, shape (l, l),
    under which some world must have a combination (`cepctl.engines.pattern.difference_constraints`).

    Raises
    ------
    QueryTooLargeError
        If there are more than MOST_COMBINATIONS.
    """
    search = Search(clause.alternative, clause.alternative.positive, system, candidates)
    seen = 0
    for part in enumeration_parts(search, events, tuple(range(len(candidates)))):
        for rows in part():
            seen += len(rows)
            yield rows
            if seen > MOST_COMBINATIONS:
                raise too_many(clause, MOST_COMBINATIONS)


def too_many(clause: Given, number: int) -> QueryTooLargeError:
    """The error that names a clause that speaks of more than so many combinations."""
    return QueryTooLargeError(
        f"GIVEN {clause.text} speaks of more than {min(number, MOST_COMBINATIONS):,} "
        "combinations of events; say more in IF, as in a.id = b.id and a.lower < b.lower"
    )


def _pairs(clause: Given) -> list[tuple[int, int, int]]:
    """Which components a clause ties, the end of the left one to the start of the right one, and how.

    Of an AND each component has to fit into the window, too, which points do.
    """
    count = len(clause.alternative.components)
    ordered = len(clause.alternative.blocks) > 1
    pairs = [(i, i + 1, -1) for i in range(count - 1)] if ordered else []
    if clause.window is None:
        return pairs
    if ordered:
        return [*pairs, (count - 1, 0, clause.window - 1)]
    return [(i, j, clause.window - 1) for i in range(count) for j in range(count)]


def _looked_at(clause: Given, events: Events) -> Ticks:
    """The system of a search that finds at least what some world contradicts.

    Of two events in order alone only those need to be looked at that can be the other way round.  Conditions
    read `lower` as it is stored; ties of clocks may let an event begin later.
    """
    count = len(clause.alternative.components)
    system = np.full((count, count), UNBOUNDED, dtype=np.int64)
    np.fill_diagonal(system, 0)
    if count == 2 and len(clause.alternative.blocks) == 2 and clause.window is None:
        system[1, 0] = 0
        if any(_by_lower(clause, link.expression) for link in clause.alternative.links):
            system[0, 1] = (events.masses.lower - events.stated_lower).max(initial=0)
    return system


def _by_lower(clause: Given, condition: Expression) -> bool:
    """Whether a condition says that the interval of the first component begins no later than the other's."""
    first, second = (each.variable for each in clause.alternative.components)
    match condition:
        case Binary("AND", left, right):
            return _by_lower(clause, left) or _by_lower(clause, right)
        case Binary("<" | "<=", EventTime(a, "lower"), EventTime(b, "lower")):
            return (a, b) == (first, second)
        case Binary(">" | ">=", EventTime(a, "lower"), EventTime(b, "lower")):
            return (a, b) == (second, first)
    return False


def _refuse_impossible(given: Sequence[Given], found: Differences, events: Events) -> None:
    masses = events.masses
    never = np.flatnonzero(masses.lower[found.left] - masses.upper[found.right] > found.bound)
    if len(never):
        first = int(never[0])
        clauses = [given[int(found.clause[first])]]
        raise contradicted(clauses, [int(found.left[first]), int(found.right[first])], events)


def next_records(
    events: Events, along: str = RECORD, possible: Flags | None = None
) -> tuple[Indexes, Indexes]:
    """Pairs of events, the second of which is of the record that its writer wrote after that of the first.

    That every record comes after all those before it is said by neighbours alone: a log has as many such
    pairs as records, where a join of all would have the square of what a second holds.  Events of one record
    are not ordered; of what lasts the starts are, or the ends, as the name of its writer says.

    `along`: the column that tells the order of records.  `possible`: which events can happen, shape (n,),
    None for all; the others are passed over.

    >>> from cepctl.engines.columns.events import events_of
    >>> import pyarrow as pa
    >>> told = {"event_id": ["a", "b", "c", "d"], "event_type": ["A"] * 4, "lower": [0] * 4, "upper": [9] * 4}
    >>> told |= {"pmf": pa.nulls(4), "writer": ["w", "w", None, "w"], "record": [2, 1, 3, 2]}
    >>> [each.tolist() for each in next_records(events_of(pa.table(told), {}))]
    [[1, 1], [0, 3]]
    """
    writer = events.codes_of(WRITER)
    record = events.frame.get_column(along)
    known = (writer >= 0) & record.is_not_null().to_numpy()
    rows = np.flatnonzero(known if possible is None else known & possible)
    numbers = record.gather(rows).to_numpy()
    order = order_of(writer[rows], numbers)
    rows, numbers = rows[order], numbers[order]
    codes = writer[rows]
    anew = np.ones(len(rows), dtype=bool)
    anew[1:] = (codes[1:] != codes[:-1]) | (numbers[1:] != numbers[:-1])
    begins = np.flatnonzero(anew)
    sizes = np.diff(np.append(begins, len(rows)))
    follows = np.flatnonzero(codes[begins[1:]] == codes[begins[:-1]])
    pairs = sizes[follows] * sizes[follows + 1]
    group = np.repeat(follows, pairs)
    place = np.arange(len(group)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    before = begins[group] + place // sizes[group + 1]
    after = begins[group + 1] + place % sizes[group + 1]
    return rows[before], rows[after]


def written_as_they_end(events: Events) -> Flags:
    """Which events have a writer that writes records as what they tell of ends, shape (n,)."""
    names = events.frame.get_column(WRITER).cast(pl.String)
    return names.str.contains(NAMES_OF_ENDS).fill_null(value=False).to_numpy()

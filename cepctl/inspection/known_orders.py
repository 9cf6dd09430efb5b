"""Orders that formats guarantee, whatever the stamps say: what a model may say is given.

    an attempt, or a task, starts before it finishes    by attempt_id, task_id
    a task starts before its attempts                   by task_id
    a sample is after the one logged before it          by node, of a type sampled at a steady step
    the events of a case are in the order of stamps     by case_id

An order is offered where some intervals overlap, so that it says more than they do.  Pairs whose stamps are
the other way round are evidence of a clock that is wrong; pairs whose intervals are leave no possible world.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from cepctl.inspection.sampling import SampledSeries
from cepctl.language.printer import type_text

_NAMED = 3
_ENDINGS = ("Finish", "Fail", "Kill")


@dataclass(frozen=True)
class KnownOrder:
    """One order, in the words of GIVEN.

    Of `pairs` of events that it speaks of, the intervals of `overlapping` leave both orders open; the stamps
    of `contradicted` are the other way round, as `examples` names some; the intervals of `impossible` are.
    """

    holds: str
    reason: str
    pairs: int
    overlapping: int
    contradicted: int
    impossible: int
    examples: tuple[str, ...]


def known_orders(events: pl.DataFrame, series: Sequence[SampledSeries]) -> tuple[KnownOrder, ...]:
    """The orders that say something of these events.

    `events`: as `observed_events` returns them.  `series`: those of the events that are sampled.
    """
    ending = events.get_column("event_type").unique()
    types = set(ending.filter(ending.str.contains(f"(?:{'|'.join(('Start', *_ENDINGS))})$")))
    found = [*_of_types(events, types), *_of_series(events, series), *_of_cases(events)]
    return tuple(each for each in found if each.overlapping or each.impossible)


def _of_types(events: pl.DataFrame, types: set[str]) -> Iterator[KnownOrder]:
    for start in sorted(each for each in types if each.endswith("Start")):
        name = start.removesuffix("Start")
        key = "attempt_id" if name.endswith("Attempt") else "task_id"
        for end in (f"{name}{ending}" for ending in _ENDINGS):
            if end in types and (key == "attempt_id" or name == "Task"):
                what = (
                    "an attempt starts before it ends"
                    if key == "attempt_id"
                    else "a task starts before it finishes"
                )
                yield from _between(events, start, end, key, what)
        if name.endswith("Attempt") and "TaskStart" in types:
            yield from _between(events, "TaskStart", start, "task_id", "a task starts before its attempts")


def _between(events: pl.DataFrame, first: str, second: str, key: str, reason: str) -> Iterator[KnownOrder]:
    """The order of two types of events that share a key."""
    of_one, of_other = (
        events.filter(pl.col("event_type") == each, pl.col(key).is_not_null()) for each in (first, second)
    )
    pairs = of_one.join(of_other, on=key, suffix="_after")
    clause = f"SEQ({type_text(first)} p, {type_text(second)} q) IF p.{key} = q.{key}"
    yield _judged(pairs, clause, reason)


def _of_series(events: pl.DataFrame, series: Sequence[SampledSeries]) -> Iterator[KnownOrder]:
    steady = {each.event_type for each in series if each.step_microseconds is not None}
    for event_type in sorted(steady):
        own = events.filter(pl.col("event_type") == event_type, pl.col("node").is_not_null())
        name = type_text(event_type)
        clause = f"SEQ({name} p, {name} q) IF p.node = q.node AND p.lower < q.lower"
        yield _judged(_neighbours(own, "node"), clause, "a sample is after the one logged before it")


def _of_cases(events: pl.DataFrame) -> Iterator[KnownOrder]:
    own = events.filter(pl.col("case_id").is_not_null())
    if own.height:
        clause = "SEQ(* p, * q) IF p.case_id = q.case_id AND p.lower < q.lower"
        yield _judged(_neighbours(own, "case_id"), clause, "the events of a case are recorded in their order")


def _neighbours(events: pl.DataFrame, key: str) -> pl.DataFrame:
    """Each event with the next of its series that has another begin."""
    columns = ["event_id", "lower", "upper", "time"]
    begins = events.sort(key, "lower", "event_id").unique([key, "lower"], keep="last", maintain_order=True)
    after = [pl.col(name).shift(-1).over(key).alias(f"{name}_after") for name in columns]
    return begins.select(*columns, *after).drop_nulls("lower_after")


def _judged(pairs: pl.DataFrame, clause: str, reason: str) -> KnownOrder:
    turned = pairs.filter(pl.col("time_after") < pl.col("time"))
    impossible = pairs.filter(pl.col("upper_after") <= pl.col("lower")).height
    overlapping = pairs.filter(
        (pl.col("lower_after") <= pl.col("upper")) & (pl.col("upper_after") > pl.col("lower"))
    ).height
    named = turned.sort(pl.col("time") - pl.col("time_after"), "event_id", descending=[True, False]).head(
        _NAMED
    )
    examples = tuple(f"{a} and {b}" for a, b in named.select("event_id", "event_id_after").iter_rows())
    return KnownOrder(clause, reason, pairs.height, overlapping, turned.height, impossible, examples)

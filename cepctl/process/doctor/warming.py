"""Compiling the kernels before they are needed, so that the first match does not wait for it.

A kernel is compiled when it is first called with arguments of some types.  Small queries over a few
events call all that take long to compile.  What the compiler took it keeps, so one process after the other
runs some of them, until it holds MOST_BYTES: what it has compiled, the next one loads.  A query that needs
many kernels is broken off where they fill its process, between two that call each other if need be, and run
again by the next one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from cepctl.clocks.shared import Clocks, extremes
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.kernels.beside import MOST_BYTES, hearing_of_kept_kernels, held_bytes
from cepctl.engines.kernels.files import remove_unusable_kernels
from cepctl.engines.kernels.kernel import Kernel
from cepctl.engines.kernels.stages import only
from cepctl.errors import JobError
from cepctl.event_table import FIXED_COLUMNS
from cepctl.language.parser import parse
from cepctl.laws.law import OrderLaw
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.process.trust.own_python import python_command
from cepctl.schema import CLOCK, IN_WRITTEN_ORDER, MILLISECOND, RECORD, WRITER

# Chains; rivals, absences and what ties them; groups.  W stands for the window in ticks, N for a narrow one
# in which nothing is certain: a key with a certain match needs no sums.
_QUERIES = (
    "PATTERN SEQ(A a, B b, C c)",
    "PATTERN SEQ(A a, B b, C c) WITHIN W ticks",
    "PATTERN AND(A a, B b) WITHIN W ticks",
    "PATTERN SEQ(A a, B b) WHERE a.k = b.k AND b.time - a.time <= W ticks",
    "PATTERN SEQ(A a, B b, C c) STRATEGY skip_till_next_match WITHIN W ticks",
    "PATTERN SEQ(A a, B b, C c) STRATEGY strict_contiguity",
    "PATTERN SEQ(A a, !B b, C c) WITHIN W ticks",
    "PATTERN SEQ(!B b, A a, C c) WITHIN W ticks",
    "PATTERN SEQ(A a, C c, !B b) WITHIN W ticks",
    "PATTERN SEQ(A a, !B b, C c) WHERE a.time > c.time - W ticks WITHIN W ticks",
    "PATTERN SEQ(A a, B+ b[], C c) WITHIN W ticks",
    "PATTERN SEQ(A a, B+ b[], C c) WHERE count(b[].k) < 3 WITHIN W ticks CONFIDENCE >= 0.001",
    "PATTERN SEQ(A a, B+ b[], C c) STRATEGY skip_till_next_match WITHIN W ticks",
    "PATTERN SEQ(A a, B+ b[]) GROUP BY a.k",
)
# Estimates and the best keys need no exact unions.
_KEYED = "PATTERN SEQ(A a, B b) WITHIN N ticks GROUP BY a.k"
_OF_MANY_KEYS = "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 12 ticks GROUP BY a.k"
# Members are counted beside several events where no order is certain.
_CROWDED = "PATTERN SEQ(A a, B+ b[]) GROUP BY a.k"
# So many sets are tried before one is kept.
_TRIED = "PATTERN SEQ(A a, B+ b[], C c) CONFIDENCE >= 0.2"
# Of tied events more than a few are summed together.
_TIED = (
    "PATTERN SEQ(A a, C c, B b) WITHIN W ticks GIVEN SEQ(A x, B y) IF x.k = y.k AND x.lower < y.lower "
    "AND y.lower < x.upper"
)
_SUMMARISED = "PATTERN SEQ(A a, B+ b[], C c) WITHIN W ticks"
# All matches, with estimates; the best, for which partial matches are bounded; and, of groups, their summary.
_ALL = MatchOptions(raw_times=True, approximate=0.1)
_BEST = MatchOptions(raw_times=True, top=3)
_SUMMARY = MatchOptions(kleene="summary")
_RUNS = (
    *((query, options) for query in _QUERIES for options in (_ALL, _BEST)),
    (_SUMMARISED, _SUMMARY),
    (_TIED, MatchOptions(raw_times=True)),
    (_KEYED, MatchOptions(raw_times=True)),
)
# Chains have kernels of their own where events share clocks, all else has others.
_CLOCKED = (
    "PATTERN SEQ(A a, B b, C c)",
    "PATTERN SEQ(A a, B b, C c) WITHIN W ticks",
    "PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match WITHIN W ticks",
    "PATTERN SEQ(A a, !B b, C c) WITHIN W ticks",
    _KEYED,
)
# Orders of ends, what has constants, and what must be absent are summed in different ways.
_LASTING = (
    "PATTERN A a INTERSECTS B b",
    "PATTERN A a OVERLAPS|MEETS B b TOLERANCE 2 ticks",
    "PATTERN SEQ(A a, !B b, C c)",
)
# Orders of a key have tables of their own under a law.
_UNDER_LAW = (
    "PATTERN SEQ(A a, B b, C c)",
    "PATTERN SEQ(A a, !B b, C c) WITHIN W ticks",
    "PATTERN SEQ(A a, B b) GROUP BY a.k",
)
_LAW = OrderLaw("k", following={("A", "B"): 4.0}, before={("B", "C"): 2.0})
# Rivals of runs stay out of several gaps, one after the other.
_IN_RUNS = (
    "PATTERN SEQ(A a, B+ b[], C c) WHERE b[i].k = b[i-1].k STRATEGY skip_till_next_match WITHIN W ticks"
)
# Sequences that rise in one value are counted by a table.
_RISING = "PATTERN SEQ(A a, B+ b[], C c) WHERE b[i].k >= b[i-1].k"
# Of records of two writers in two units: which comes first, how far apart they are, and both.
_WRITTEN = (
    "PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match",
    "PATTERN SEQ(A a, B b) WITHIN 2500 ticks",
    "PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match WITHIN 2500 ticks",
)
_TICKS_OF_UNIT = 5_000
_OFFSETS = {"one": ((-2, 2, 1.0),), "other": ((-1, 0, 0.25), (1, 3, 0.75))}
_SCALES = (1, 100_000)  # narrow intervals are summed tick by tick, wide ones by polynomials
_WINDOW, _NARROW_WINDOW = 30, 12
_EVENTS, _MANY_EVENTS, _MANY_KEYS = 12, 48, 300
# The program of such a process: from which query on.
_PROGRAM = """
import json
from cepctl.process.doctor.warming import warm_part
from cepctl.process.start_up import collect_rarely
collect_rarely()
print(json.dumps(warm_part(int(sys.argv[1]))))
"""
_Run = tuple[Plan, pa.Table, MatchOptions]


@dataclass(frozen=True)
class WarmUp:
    """How many kernels had to be compiled, how many were found compiled, and how long it took.

    `reached` are the names of all of them.
    """

    compiled: int
    found: int
    seconds: float
    reached: frozenset[str]


def warm_up(tell: Callable[[str], None] | None = None) -> WarmUp:
    """Call the kernels once; what is compiled is kept for later runs, and damaged files are removed.

    `tell` takes a line for people now and then.

    Raises
    ------
    JobError
        If a process that compiles them ends too early.
    """
    began = time.monotonic()
    remove_unusable_kernels()
    at, of = 0, len(_runs())
    compiled, found = set[str](), set[str]()
    while at < of:
        if tell is not None:
            tell(f"compiling kernels: {100 * at // of} %, {len(compiled):,} compiled so far")
        command = python_command(_PROGRAM, str(at))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            cause = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise JobError(f"the process that compiles kernels ended too early: {cause[0]}")
        at, more, loaded = json.loads(done.stdout)
        compiled.update(more)
        found.update(set(loaded) - compiled)
    reached = frozenset(each.partition(" ")[0] for each in compiled | found)
    return WarmUp(len(compiled), len(found), time.monotonic() - began, reached)


def warm_part(begin: int) -> tuple[int, list[str], list[str]]:
    """Run some of the queries, from one of them on; which comes next, and what was compiled and loaded.

    Kernels have a name and types of arguments.
    """
    runs = _runs()
    at = begin
    with suppress(_NoRoom), hearing_of_kept_kernels(_check_room), only("compiled"):
        while at < len(runs) and (at == begin or held_bytes() < MOST_BYTES):
            plan, table, options = runs[at]
            match_events(plan, table, options)
            at += 1
    kernels = compiled_functions().items()
    compiled = [f"{name} {types}" for name, each in kernels for types in each.stats.cache_misses]
    loaded = [f"{name} {types}" for name, each in kernels for types in each.stats.cache_hits]
    return at, compiled, loaded


class _NoRoom(BaseException):
    """What this process has compiled leaves no room for more; not an error, so that nothing catches it."""


def _check_room() -> None:
    if held_bytes() > MOST_BYTES:
        raise _NoRoom


def _runs() -> list[_Run]:
    """All queries, each with its events."""
    schema, plain = EventSchema({"k": pa.string()}, MILLISECOND), MatchOptions()
    runs: list[_Run] = []
    for scale in _SCALES:
        table = _events(scale)
        clocks = {
            name: tuple((low * scale, high * scale, mass) for low, high, mass in offset)
            for name, offset in _OFFSETS.items()
        }
        clocked, stamped = replace(schema, clocks=clocks), _stamped(table, clocks)
        # First: these compile the most at once, so that their process should hold nothing before.
        runs += [(analyze(parse(_in_ticks(query, scale)), clocked), stamped, plain) for query in _CLOCKED]
        runs += [
            (analyze(parse(_in_ticks(query, scale)), schema), table, options) for query, options in _RUNS
        ]
        runs.append((analyze(parse(_in_ticks(_IN_RUNS, scale)), schema), table, plain))
        lawful = (analyze(parse(_in_ticks(query, scale)), schema) for query in _UNDER_LAW)
        runs += [(replace(plan, laws=(_LAW,)), table, plain) for plan in lawful]
        runs.append((analyze(parse(_CROWDED), schema), _events(scale, step=0), plain))
        lasting, ends = replace(schema, lasting=True), _with_ends(table, scale)
        once = MatchOptions(raw_times=True)
        runs += [(analyze(parse(_in_ticks(query, scale)), lasting), ends, once) for query in _LASTING]
    runs.append((analyze(parse(_TRIED), schema), _events(1, _MANY_EVENTS, step=0), plain))
    written = EventSchema({"k": pa.string(), WRITER: pa.string(), RECORD: pa.int64()}, MILLISECOND)
    given = (f"{query} GIVEN {IN_WRITTEN_ORDER}" for query in _WRITTEN)
    runs += [(analyze(parse(query), written), _written(), plain) for query in given]
    # Chains that are others moved in time are looked for among many.
    runs.append((analyze(parse(_QUERIES[0]), schema), _events(1, _MANY_EVENTS), plain))
    # So are keys.
    runs.append((analyze(parse(_OF_MANY_KEYS), schema), _many_keys(), plain))
    runs.append((analyze(parse(_RISING), schema), _events(1, _EVENTS + 6), _SUMMARY))
    runs.append((analyze(parse(_in_ticks(_IN_RUNS, 1)), schema), _events(1), _SUMMARY))
    return runs


def compiled_here() -> int:
    """How many kernels this process had to compile, since none were kept."""
    return sum(sum(each.stats.cache_misses.values()) for each in compiled_functions().values())


def compiled_functions() -> dict[str, Any]:
    """The compiled forms of the kernels that were asked for one, by module and name."""
    engines = {name: module for name, module in sys.modules.items() if name.startswith("cepctl.engines.")}
    return {
        value.name: value.compiled
        for module in engines.values()
        for value in vars(module).values()
        if isinstance(value, Kernel) and value.compiled is not None
    }


def _in_ticks(query: str, scale: int) -> str:
    """The query with its windows."""
    return query.replace("W ticks", f"{_WINDOW * scale} ticks").replace(
        "N ticks", f"{_NARROW_WINDOW * scale} ticks"
    )


def _stamped(events: pa.Table, clocks: Clocks) -> pa.Table:
    """Events as own parts, on one clock, on another, and on none; every fourth a sharp one."""
    rows = events.to_pylist()
    for number, row in enumerate(rows):
        row[CLOCK] = (*clocks, None)[number % (len(clocks) + 1)]
        if row["pmf"] is None and number % 4 == 0:
            row["upper"] = row["lower"]
        if row[CLOCK] is not None:
            first, last = extremes(clocks[row[CLOCK]])
            row["lower"], row["upper"] = row["lower"] + first, row["upper"] + last
    return pa.Table.from_pylist(rows, events.schema.append(pa.field(CLOCK, pa.string())))


def _with_ends(events: pa.Table, scale: int) -> pa.Table:
    """Events that each end some time after they may begin."""
    rows = [
        row | {"end_lower": row["lower"] + scale, "end_upper": row["upper"] + 9 * scale}
        for row in events.to_pylist()
    ]
    return pa.Table.from_pylist(rows, events.schema)


def _written() -> pa.Table:
    """Events that two processes wrote in turn, half of them in each of two units."""
    rows = _events(1, _MANY_EVENTS).drop_columns(["pmf"]).to_pylist()
    for number, row in enumerate(rows):
        unit = 2 * number // len(rows) * _TICKS_OF_UNIT
        row |= {
            "lower": unit,
            "upper": unit + _TICKS_OF_UNIT - 1,
            WRITER: "wwv"[number // 3 % 3],
            RECORD: number,
        }
    columns = {**FIXED_COLUMNS, "k": pa.string(), WRITER: pa.string(), RECORD: pa.int64()}
    return pa.Table.from_pylist(rows, pa.schema(list(columns.items())))


def _many_keys() -> pa.Table:
    """A few events for each of many keys, one after the other."""
    size = 6 * _MANY_KEYS
    keys = pa.array([str(number // 6) for number in range(size)])
    events = _events(1, size)
    return events.set_column(events.column_names.index("k"), "k", keys)


def _events(scale: int, count: int = _EVENTS, step: int = 5) -> pa.Table:
    """A few overlapping events of three types, one with a histogram; `scale` ticks for one.

    Each begins `step` after the one before.
    """
    rows: list[dict[str, object]] = [
        {
            "event_id": str(number),
            "event_type": "ABC"[number % 3],
            "lower": step * number * scale,
            "upper": (step * number + 9 + number % 4) * scale,
            "k": "k",
        }
        for number in range(count)
    ]
    rows[3]["pmf"] = [
        {"lo": (3 * step + low) * scale, "hi": (3 * step + high) * scale, "p": 0.5}
        for low, high in ((0, 3), (5, 9))
    ]
    columns = {**FIXED_COLUMNS, "k": pa.string()}
    return pa.Table.from_pylist(rows, pa.schema(list(columns.items())))

"""What others answer too, where times are exact or few: a funnel per key, all matches, next match, one sum.

The peers live in an environment of their own, whose Python LEAGUE_PYTHON names; `scripts/bench` makes it, and
keeps why one could not be installed.  Each reads the same file, and its answer has to be ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from engine import NO_CAP
from measuring import in_process, timed
from peers import duckdb_connection, has
from results import Goal, Row, Setup, Timing, check_close, check_equal, left_out
from workloads import SEED

from cepctl.engines.event.match import match_events
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.schema import TimeUnit

VARIABLE = "LEAGUE_PYTHON"
_PER_KEY = 10
_CHAIN = "PATTERN SEQ(A a, B b, C c)"
_TICKS = 40


def league(setup: Setup) -> Iterator[Row]:
    """One row for each peer."""
    yield _funnel(setup)
    yield from _all_matches(setup)
    yield _next_match(setup)
    yield _one_sum(setup)


def _funnel(setup: Setup) -> Row:
    """Whether each key has a match: ours says also how probable it is, and gives the best match."""
    size = setup.events(10_000_000, 500_000)
    case = f"which keys have a match, exact times, {size:,} events"
    if absent := _absent("chdb"):
        return left_out(case, absent)
    events, window = _events(setup.folder, size), size // 2
    timing, found = timed(
        setup, partial(_match, f"{_CHAIN} WHERE [key] WITHIN {window} ticks GROUP BY a.key", events, setup)
    )
    theirs = _peer("funnel", events, window, setup.cores)
    keys = found.column("a.key")
    check_equal("keys of ClickHouse", theirs["answer"], [found.num_rows, pc.sum(keys).as_py()])
    check_equal("certain keys", pc.min(found.column("occurrence")).as_py(), 1.0)
    return _against(
        case, timing, size, "events", theirs, "windowFunnel of ClickHouse, in process", Goal("at most", 1.5)
    )


def _all_matches(setup: Setup) -> Iterator[Row]:
    """All matches of each key, by an SQL join."""
    size = setup.events(2_000_000, 200_000)
    case = f"all matches, exact times, {size:,} events"
    events, window = _events(setup.folder, size), size // 4
    timing, found = timed(
        setup, partial(_match, f"{_CHAIN} WHERE [key] WITHIN {window} ticks", events, setup)
    )
    for peer in ("duckdb", "pycer"):
        if peer == "duckdb" and has(peer):
            connection = duckdb_connection(setup.cores)
            work = partial(_joined, connection, events, window)
            their, table = timed(setup, work)
            check_equal("matches of DuckDB", _sums(table), _bound(found))
            theirs = {"seconds": their.seconds, "cpu": their.cpu_seconds}
            yield _against(case, timing, found.num_rows, "matches", theirs, "DuckDB's join on the key", None)
        else:
            yield left_out(case, _absent(peer) or "a program that asks CORE's package")


def _next_match(setup: Setup) -> Row:
    """Next match, as MATCH_RECOGNIZE has it where every row may begin a match."""
    size = setup.events(2_000_000, 20_000)
    case = f"next match, exact times, {size:,} events"
    if absent := _absent("pandas-match-recognize"):
        return left_out(case, absent)
    events = _events(setup.folder, size)
    query = f"{_CHAIN} WHERE [key] WITHIN {size} ticks STRATEGY skip_till_next_match"
    timing, found = timed(setup, partial(_match, query, events, setup))
    theirs = _peer("recognize", events)
    check_equal("matches of pandas-match-recognize", theirs["answer"], _bound(found))
    return _against(
        case, timing, found.num_rows, "matches", theirs, "pandas-match-recognize", Goal("at most", 1.0)
    )


def _one_sum(setup: Setup) -> Row:
    """Three events of 40 equally probable ticks each, and many matches like it, no two of one shape."""
    ticks = 10 if setup.quick else _TICKS
    case = f"the confidence of one match, three events of {ticks} ticks"
    if absent := _absent("problog"):
        return left_out(case, absent)
    begins, count = (0, ticks // 5, 2 * ticks // 5), 2_000
    lower, upper = _own_shapes(ticks, begins, count)
    kinds, key = np.tile(["A", "B", "C"], count), np.repeat(np.arange(count), 3)
    path = setup.folder / "league-sums.parquet"
    pq.write_table(_table(lower.ravel(), upper.ravel(), kinds, key), path)
    timing, found = timed(setup, partial(_match, f"{_CHAIN} WITHIN {2 * ticks} ticks", path, setup))
    check_equal("matches", found.num_rows, count)
    theirs = _peer("problog", ticks, *begins, 2 * ticks)
    check_close("ProbLog's", _of_first(found), theirs["answer"], 1e-12)
    each = theirs["cpu"] / (timing.cpu_seconds / count)
    return Row(
        case, timing, count, "matches", ratio=each,
        against="how many times longer ProbLog takes for one match, processor time",
        goal=Goal("at least", 10_000), checked="12 digits", note=f"ProbLog {theirs['cpu']:.1f} CPU s",
    )  # fmt: skip


def _own_shapes(ticks: int, begins: tuple[int, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
    """First and last ticks of the events of matches, shape (count, 3): the first as asked, others drawn.

    Matches that are others moved in time would be measured once, so that no two are of one shape; they stand
    so far apart that each is the only one of its events.
    """
    random = np.random.default_rng(SEED)
    size = (4 * count, len(begins))
    lower = np.sort(random.integers(0, ticks, size), axis=1)
    width = random.integers(ticks - ticks // 4, ticks + ticks // 4 + 1, size)
    lower[0], width[0] = begins, ticks
    _, drawn = np.unique(np.hstack([lower - lower[:, :1], width]), axis=0, return_index=True)
    chosen = np.sort(drawn)[:count]
    check_equal("shapes", len(chosen), count)
    lower = lower[chosen] + 100 * ticks * np.arange(count)[:, None]
    return lower, lower + width[chosen] - 1


def _of_first(found: pa.Table) -> float:
    """The confidence of the match that begins with the first event."""
    first = pc.index(found.column("start"), pc.min(found.column("start"))).as_py()
    return float(found.column("confidence")[first].as_py())


# --- ours and theirs ---------------------------------------------------------------------------


def _match(query: str, path: Path, setup: Setup) -> pa.Table:
    from dataclasses import replace

    return match_events(_plan(query), pq.read_table(path), replace(NO_CAP, threads=setup.cores))


def _plan(query: str) -> Plan:
    return analyze(parse(query), EventSchema({"key": pa.int64()}, TimeUnit(1_000)))


def _peer(name: str, *arguments: object) -> dict[str, Any]:
    return in_process("league_once.py", name, *arguments, python=os.environ[VARIABLE])


def _absent(package: str) -> str | None:
    """Which package is not there, and why; None where it is."""
    python = os.environ.get(VARIABLE)
    if python is None:
        return f"{package}, in a Python that {VARIABLE} names,"
    reason = Path(python).parent.parent / "left-out" / package
    return f"{package} ({reason.read_text().strip()})" if reason.exists() else None


def _against(
    case: str, timing: Timing, count: int, unit: str, theirs: dict[str, Any], peer: str, goal: Goal | None
) -> Row:
    cpu = timing.cpu_seconds / theirs["cpu"]
    return Row(
        case, timing, count, unit, ratio=timing.seconds / theirs["seconds"], against=peer, goal=goal,
        checked="same answer",
        note=f"peer {theirs['seconds']:.2f} s, {theirs['cpu']:.2f} CPU s: {cpu:.2f} times in processor time",
    )  # fmt: skip


def _joined(connection: Any, path: Path, window: int) -> pa.Table:
    part = "(SELECT event_id, lower, key FROM read_parquet('{}') WHERE event_type = '{}')"
    a, b, c = (part.format(path, kind) for kind in "ABC")
    return connection.sql(f"""
        SELECT a.event_id i0, b.event_id i1, c.event_id i2 FROM {a} a
        JOIN {b} b ON a.key = b.key AND b.lower > a.lower AND b.lower - a.lower < {window}
        JOIN {c} c ON a.key = c.key AND c.lower > b.lower AND c.lower - a.lower < {window}
    """).to_arrow_table()


def _sums(table: pa.Table) -> list[int]:
    """How many rows there are, and the sum of each column of ids."""
    columns = [column.cast(pa.int64()) for column in table.columns]
    return [table.num_rows, *(pc.sum(column).as_py() for column in columns)]


def _bound(found: pa.Table) -> list[int]:
    """The same of our matches."""
    ids = found.column("signature")
    while pa.types.is_list(ids.type) or pa.types.is_large_list(ids.type):
        ids = pc.list_flatten(ids)
    bound = ids.cast(pa.string()).cast(pa.int64()).to_numpy().reshape(-1, 3)
    return [len(bound), *bound.sum(axis=0).tolist()]


def _events(folder: Path, size: int) -> Path:
    """Events of five types at ticks of their own, ten for each key, as a file."""
    path = folder / f"league-{size}.parquet"
    if not path.exists():
        random = np.random.default_rng(SEED)
        kinds = np.array(list("ABCDE"))[random.integers(0, 5, size)]
        ticks = np.arange(size)
        pq.write_table(_table(ticks, ticks, kinds, random.integers(0, size // _PER_KEY, size)), path)
    return path


def _table(lower: np.ndarray, upper: np.ndarray, kinds: np.ndarray, key: np.ndarray) -> pa.Table:
    names = pa.array(np.arange(len(lower))).cast(pa.string())
    columns = {"event_id": names, "event_type": kinds, "lower": lower, "upper": upper, "key": key}
    return pa.table(columns)

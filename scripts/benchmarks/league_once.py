"""Asks one peer of the league; prints seconds, processor seconds and the answer.

Run by a Python that has the peers, which want other versions of what cepctl needs: imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

RUNS = 3


def funnel(path: str, window: str, threads: str) -> Callable[[], Any]:
    """Keys with a match, by windowFunnel of ClickHouse: how many, and their sum."""
    from chdb import session

    database = session.Session()
    database.query(f"SET max_threads = {threads}")
    query = f"""
        SELECT key FROM file('{path}', Parquet) GROUP BY key
        HAVING windowFunnel({int(window) - 1}, 'strict_increase')(
            toUInt64(lower), event_type = 'A', event_type = 'B', event_type = 'C') = 3"""

    def run() -> list[int]:
        found = database.query(query, "ArrowTable")
        return [found.num_rows, sum(found.column("key").to_pylist())]

    return run


def recognize(path: str) -> Callable[[], Any]:
    """Next matches, by pandas-match-recognize: how many, and the sums of their ids."""
    import pandas
    from pandas_match_recognize import match_recognize

    query = """
        SELECT key, i0, i1, i2 FROM events MATCH_RECOGNIZE (PARTITION BY key ORDER BY lower
            MEASURES A.event_id AS i0, B.event_id AS i1, C.event_id AS i2
            ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A X* B Y* C)
            DEFINE A AS event_type = 'A', X AS event_type != 'B', B AS event_type = 'B',
                   Y AS event_type != 'C', C AS event_type = 'C')"""

    def run() -> list[int]:
        found = match_recognize(query, pandas.read_parquet(path))
        return [len(found), *(int(found[name].astype("int64").sum()) for name in ("i0", "i1", "i2"))]

    return run


def problog(ticks: str, *others: str) -> Callable[[], Any]:
    """The probability that three events are in order and within a window."""
    from problog import get_evaluatable
    from problog.program import PrologString

    count, (*begins, window) = int(ticks), [int(each) for each in others]
    masses = [
        "; ".join(f"{1 / count!r}::at({name},{tick})" for tick in range(begin, begin + count)) + "."
        for name, begin in zip("abc", begins, strict=True)
    ]
    rule = f"found :- at(b,Y), at(a,X), X<Y, at(c,Z), Y<Z, Z-X<{window}."
    program = "\n".join([*masses, rule, "query(found)."])

    def run() -> float:
        (found,) = get_evaluatable().create_from(PrologString(program)).evaluate().values()
        return float(found)

    return run


def _processor_time() -> float:
    """That of this process and of programs that it has run."""
    return sum(os.times()[:4])


def main(name: str, *arguments: str) -> None:
    """Run a few times, where it is fast after one for warmth; the fastest counts."""
    peers: dict[str, Callable[..., Callable[[], Any]]] = {
        "funnel": funnel,
        "recognize": recognize,
        "problog": problog,
    }
    run = peers[name](*arguments)
    best = float("inf"), float("inf")
    began = time.perf_counter()
    for _ in range(RUNS):
        clock, used = time.perf_counter(), _processor_time()
        answer = run()
        best = min(best, (time.perf_counter() - clock, _processor_time() - used))
        if time.perf_counter() - began > 10:
            break
    print(json.dumps({"seconds": best[0], "cpu": best[1], "answer": answer}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

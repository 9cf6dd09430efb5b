"""One query whose kernels are all compiled, into the folder that is named; prints what that took, as JSON."""

from __future__ import annotations

import gc
import json
import os
import sys
import time

import numpy as np
import pyarrow as pa

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.kernels.stages import only
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.process.doctor.warming import compiled_here
from cepctl.schema import TimeUnit

_CHAIN = "SEQ(A a, B b, C c) WHERE [key] WITHIN 9000 ticks"
QUERIES = {
    "any match": f"PATTERN {_CHAIN}",
    "next match": f"PATTERN {_CHAIN} STRATEGY skip_till_next_match",
    "Kleene group": "PATTERN SEQ(A a, B+ b[], C c) WHERE [key] WITHIN 9000 ticks",
    "negation": "PATTERN SEQ(A a, !B b, C c) WHERE [key] WITHIN 9000 ticks",
    "AND": "PATTERN SEQ(AND(A a, B b), C c) WHERE [key] WITHIN 9000 ticks",
    "OR": "PATTERN OR(SEQ(A a, B b), SEQ(A a, C c)) WHERE [key] WITHIN 9000 ticks",
    "GIVEN": "PATTERN SEQ(A a, B b) WHERE [key] GIVEN SEQ(A x, C y) IF x.key = y.key",
    "GROUP BY": "PATTERN SEQ(A a, B b) WHERE [key] GROUP BY a.key",
}
_KEYS, _WIDTH, _SEED = 300, 4_000, 1
_INTERPRETED = 3  # keys, which have the same rows whoever else is there


def main(query: str, folder: str) -> None:
    """Run the query compiled, of which the first time counts; some of its keys interpreted."""
    gc.set_threshold(100_000, 50, 100)  # as the process that compiles
    os.environ["NUMBA_CACHE_DIR"] = folder
    plan = analyze(parse(QUERIES[query]), EventSchema({"key": pa.int64()}, TimeUnit(1_000)))
    events = _events()
    began = time.process_time()
    with only("compiled"):
        first = match_events(plan, events, MatchOptions())
        once = time.process_time()
        match_events(plan, events, MatchOptions())
    twice = time.process_time()
    with only("interpreted"):
        few = match_events(plan, events.slice(0, 6 * _INTERPRETED), MatchOptions())
    compiled, interpreted = (set(map(repr, each.to_pylist())) for each in (first, few))
    told = {
        "seconds": 2 * once - began - twice,
        "kernels": compiled_here(),
        "same": bool(interpreted) and interpreted <= compiled,
    }
    sys.stdout.write(json.dumps(told))


def _events() -> pa.Table:
    """Two events of each of three types for every key, one about a second and a half after the other."""
    kinds = "AABBCC"
    random = np.random.default_rng(_SEED)
    key = np.repeat(np.arange(_KEYS), len(kinds))
    begin = np.tile([0, 0, 1_500, 1_500, 3_000, 3_000], _KEYS)
    lower = 20_000 * key + begin + random.integers(0, 1_000, len(key))
    names = pa.array(np.arange(len(key))).cast(pa.string())
    return pa.table(
        {
            "event_id": names,
            "event_type": list(kinds) * _KEYS,
            "lower": lower,
            "upper": lower + _WIDTH,
            "key": key,
        }
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

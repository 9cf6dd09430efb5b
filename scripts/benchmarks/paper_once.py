"""One query over stored events on one core, from Parquet to rows in Arrow; prints what it took as JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from typing import Any

DONE = {"grown": 0, "measured": 0}
"""Partial groups that were made, and matches whose confidence was computed."""


def main(small: str, events: str, asked: str) -> None:
    """Run over a small dataset for warmth, then over the large one; `asked` is a query with its options."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # Before Polars and Arrow count the cores.
    from measuring import peak_megabytes

    wanted = json.loads(asked)
    _count_work()
    of_small = _run(small, wanted)
    DONE.update(grown=0, measured=0)
    before, wall, cpu = peak_megabytes(), time.perf_counter(), time.process_time()
    told = of_small if "refused" in of_small else _run(events, wanted)
    told |= {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    told |= {**DONE, "before": before, "peak": peak_megabytes()}
    print(json.dumps({**told, "small": dict(of_small)}))  # noqa: T201


def _count_work() -> None:
    """Have the engine's own steps counted as they are taken."""
    from cepctl.engines.event.alternative import PreparedAlternative
    from cepctl.engines.search.kleene.growth import _Expansion

    growth: Any = _Expansion
    matches: Any = PreparedAlternative
    may_be_finished, decided = growth._may_be_finished, matches.decided

    def counted_growth(self: Any, rows: Any, members: Any) -> Any:
        DONE["grown"] += 0 if self.trial else len(rows)
        return may_be_finished(self, rows, members)

    def counted_matches(self: Any, bound: Any, *others: Any) -> Any:
        DONE["measured"] += len(self.measure.groups(bound)[0].sizes)
        return decided(self, bound, *others)

    growth._may_be_finished, matches.decided = counted_growth, counted_matches


def _run(events: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """How many rows, for how many groups, with what confidence in all; or how it was refused."""
    import pyarrow.compute as pc
    from engine import NO_CAP

    from cepctl.engines.rows.numbers import with_columns
    from cepctl.engines.runners import local
    from cepctl.errors import QueryTooLargeError, UnsupportedQueryError
    from cepctl.language.parser import parse
    from cepctl.matching.inputs import open_events
    from cepctl.plan.analyze import analyze

    options = replace(NO_CAP, **wanted.get("options", {}))
    rows, groups, total, above = 0, 0, 0.0, dict.fromkeys(map(str, wanted.get("above", ())), 0)
    try:
        with open_events([events]) as inputs:
            plan = analyze(parse(wanted["query"]), inputs.schema)
            for found in local.found_in_stored(plan, inputs.sources(plan.attributes), options):
                batch = with_columns(found)
                rows += batch.num_rows
                sure = batch.column("confidence")
                total += pc.sum(sure).as_py()
                for least in above:
                    above[least] += pc.sum(pc.greater_equal(sure, float(least) - 1e-9)).as_py()
                if "count" in batch.schema.names:
                    groups += sum(map(int, batch.column("count").to_pylist()))
    except (QueryTooLargeError, UnsupportedQueryError) as refused:
        return {"refused": str(refused), "rows": rows, "groups": 0, "total": 0.0, "above": above}
    return {"rows": rows, "groups": groups or rows, "total": total, "above": above}


if __name__ == "__main__":
    main(*sys.argv[1:])

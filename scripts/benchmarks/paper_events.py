"""Events as the papers make them: types at random, lasting events, histograms, and streams out of order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from workloads import SEED

from cepctl.cli import main
from cepctl.errors import JobError
from cepctl.event_table import PMF_TYPE

TEMPLATES = (
    ((0, 20, 0.1), (20, 30, 0.3), (30, 40, 0.6)),
    ((0, 10, 0.15), (10, 20, 0.3), (20, 30, 0.4), (30, 40, 0.15)),
    ((0, 20, 0.5), (20, 40, 0.5)),
)
"""Shapes of detections in PTJ06, Example 3 and like it: buckets (from, to], and their masses."""


def of_types(count: int, half_width: int, shares: dict[str, float], spacing: int = 1) -> pa.Table:
    """An event every `spacing` ticks, of a type drawn with the given shares, else Other; values 1..1000."""
    random = np.random.default_rng(SEED)
    kinds = pa.array([*shares, "Other"])
    kind = random.choice(len(kinds), count, p=[*shares.values(), 1 - sum(shares.values())])
    tick = np.arange(count) * spacing
    return _events(kinds.take(pa.array(kind)), tick - half_width, tick + half_width).append_column(
        "val", pa.array(random.integers(1, 1001, count))
    )


def that_last(count: int, kinds: int, length: int) -> pa.Table:
    """An event each tick, of one of so many types T1, T2, ...; it lasts up to `length` ticks more."""
    random = np.random.default_rng(SEED)
    names = pa.array([f"T{number + 1}" for number in range(kinds)])
    start = np.arange(count)
    end = start + random.integers(1, length + 1, count)
    events = _events(names.take(pa.array(random.integers(0, kinds, count))), start, start)
    return events.append_column("end_lower", pa.array(end)).append_column("end_upper", pa.array(end))


def out_of_order(events: pa.Table, share: float, most: int) -> pa.Table:
    """The same events, of which a share comes up to `most` places late."""
    random = np.random.default_rng(SEED)
    late = np.where(random.random(len(events)) < share, random.integers(1, most + 1, len(events)), 0)
    return events.take(pa.array(np.argsort(np.arange(len(events)) + late, kind="stable")))


def of_histograms(count: int, apart: int) -> pa.Table:
    """So many detections of A and of B at random times, each with one of the shapes of PTJ06."""
    random = np.random.default_rng(SEED)
    stamp = np.sort(random.integers(0, 2 * count * apart, 2 * count))
    chosen = [TEMPLATES[number] for number in random.integers(0, len(TEMPLATES), 2 * count)]
    pmf = [
        [{"lo": int(at) + lo + 1, "hi": int(at) + hi, "p": mass} for lo, hi, mass in template]
        for at, template in zip(stamp, chosen, strict=True)
    ]
    kinds = pa.array(["A", "B"]).take(pa.array(random.permutation(2 * count) % 2))
    return _events(kinds, stamp + 1, stamp + 40).append_column("pmf", pa.array(pmf, PMF_TYPE))


def _events(kinds: pa.Array, lower: np.ndarray, upper: np.ndarray) -> pa.Table:
    names = pa.array(np.arange(len(kinds))).cast(pa.string())
    return pa.table({"event_id": names, "event_type": kinds, "lower": lower, "upper": upper})


def plain_file(folder: Path, name: str, events: pa.Table) -> Path:
    """Write events as a file that is not ingested yet."""
    path = folder / f"{name}.parquet"
    pq.write_table(events, path)
    return path


def dataset(folder: Path, name: str, events: pa.Table) -> Path:
    """Write events as a dataset, a tick being a millisecond."""
    plain, output = plain_file(folder, f"{name}_plain", events), folder / name
    code = main(["ingest", str(plain), "-o", str(output), "--overwrite", "--runner", "local", "--quiet"])
    plain.unlink()
    if code:
        raise JobError(f"ingest of {plain} ended with {code}")
    return output

"""A day of logs in 288 pieces of five minutes (quick: in 96): seconds per run as the day goes on.

One log grows by a piece at a time, and a run with `--state` takes each; 2 % of the events come up to half an
hour late, within the slack.  The files of all runs together must be the rows of one run over the whole day.
"""

from __future__ import annotations

import contextlib
import io
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from results import CheckFailed, Goal, Row, Setup, Timing, check_equal
from workloads import SEED

from cepctl.cli import main

PIECES, FEW_PIECES = 288, 96
_DAY = 86_400_000
_LATEST = 1_800_000
_WORDS = (
    "PATTERN SEQ(START s, !KILL k, STOP f) WHERE [node] WITHIN 60 seconds",
    *("--runner", "local", "--time", "ticks", "--quiet"),
)


def incremental(setup: Setup) -> Iterator[Row]:
    """The seconds of the runs in each quarter of the day, against those in the first."""
    count, pieces = setup.events(864_000, 14_400), FEW_PIECES if setup.quick else PIECES
    events = _day(count)
    log, state, out = setup.folder / "day.csv", setup.folder / "state", setup.folder / "runs"
    arriving = events.sort("arrives")
    seconds: list[float] = []
    kept: list[int] = []
    with log.open("wb") as file:
        file.write(_csv(arriving.head(0), header=True))
        for piece in range(pieces):
            first, last = (count * edge // pieces for edge in (piece, piece + 1))
            file.write(_csv(arriving[first:last], header=False))
            file.flush()
            began = time.perf_counter()
            _match(log, "--state", state, "-o", out, "--slack", "35 min")
            seconds.append(time.perf_counter() - began)
            kept.append(_kept(state))
    _match(log, "--state", state, "-o", out, "--slack", "35 min", "--final")
    rows = _checked(setup, log, out)
    quarter = pieces // 4
    against = statistics.median(seconds[:quarter])
    for number in range(4):
        part = slice(number * quarter, (number + 1) * quarter)
        median = statistics.median(seconds[part])
        yield Row(
            f"runs {part.start + 1} to {part.stop}", Timing(median, median, quarter), count // pieces,
            "events", ratio=median / against, against="the first quarter", goal=Goal("at most", 1.3),
            checked="rows of one run", note=f"{rows:,} matches; at most {max(kept[part]):,} events kept",
        )  # fmt: skip


def _day(count: int) -> pl.DataFrame:
    """Events in order of time, each known to within two seconds; when each arrives is in `arrives`."""
    number = pl.int_range(count, eager=True)
    dice = number.hash(SEED)
    tick = number * _DAY // count
    late = (dice // 1_000 % 50 == 0) * (dice // 1_000_000 % _LATEST).cast(pl.Int64)
    return pl.DataFrame(
        {
            "event_id": "e" + number.cast(pl.String),
            "event_type": pl.Series(["START", "STOP", "KILL", *["OTHER"] * 7]).gather(dice % 10),
            "lower": tick,
            "upper": tick + 2_000,
            "node": "n" + (dice // 10 % 40).cast(pl.String),
            "arrives": tick + late,
        }
    )


def _csv(events: pl.DataFrame, *, header: bool) -> bytes:
    return events.drop("arrives").write_csv(include_header=header).encode()


def _match(log: Path, *words: object) -> None:
    told = io.StringIO()
    with contextlib.redirect_stderr(told):
        code = main(["match", *_WORDS, str(log), *map(str, words)])
    if code:
        raise CheckFailed(told.getvalue())


def _kept(state: Path) -> int:
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        main(["state", "show", "--format", "json", str(state)])
    return int(json.loads(told.getvalue())["events_kept"])


def _checked(setup: Setup, log: Path, out: Path) -> int:
    """Hold the rows of all runs to those of one; how many there are."""
    alone = setup.folder / "alone.csv"
    _match(log, "-o", alone)
    wanted = pl.read_csv(alone).sort("match")
    runs = pl.concat([pl.read_csv(path, schema=wanted.schema) for path in sorted(out.glob("*.csv"))])
    if not runs["end"].is_sorted():
        raise CheckFailed("the rows of the runs are not in the order of their ends")
    found = runs.sort("match")
    check_equal("rows of all runs", found.height, wanted.height)
    check_equal("signatures and ranges", found.drop("confidence").equals(wanted.drop("confidence")), True)
    off = (found["confidence"] - wanted["confidence"]).abs().max()
    check_equal("confidences", off is None or float(str(off)) <= 1e-9, True)
    return wanted.height

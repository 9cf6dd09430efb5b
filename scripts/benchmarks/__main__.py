"""The command line of the bench: which parts run, how large, and where the tables and pictures go."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import tables
from alternatives import monte_carlo, sql
from any_match import five_percent, longer, one_percent
from clock_logs import clock_logs
from coarse import coarse
from commands import commands
from exists import exists
from first_answers import first_answers
from flink import flink
from growth import growth
from incremental import incremental
from keys import keys
from large import large
from lasting import lasting
from laws import laws
from league import league
from machine import cores, description, load
from memory import memory
from next_match import next_match
from paper_figures import papers
from papers import engines, kleene, orders
from peers import has
from plain_files import plain_files
from plots import write_plot
from readers import readers
from reading import reading
from results import CheckFailed, Part, Plot, Row, Setup
from runs import runs
from shared_clocks import shared_clocks
from start_up import start_up
from summaries import summaries
from thresholds import push_down
from uncertain_groups import uncertain_groups
from widths import widths
from writers import writers
from written_rows import written_rows

WIDTHS = "half-width d in ticks"
PARTS = (
    Part("any-match", "Any match at 5 %", five_percent),
    Part("longer", "Longer patterns at 5 %", longer, Plot("components", "ratio")),
    Part("one-percent", "Any match at 1 %", one_percent, Plot(WIDTHS, "ratio", logarithmic=False)),
    Part("next-match", "Next match at 5 %", next_match),
    Part("runs", "Groups in order under next match", runs),
    Part("coarse", "Next match where clocks are coarse", coarse),
    Part("widths", "Absences at any width", widths),
    Part("clocks", "Events that share clocks", shared_clocks),
    Part("keys", "Answers per key, and what is given", keys),
    Part("writers", "Logs to the second, in the order of their lines", writers),
    Part("lasting", "Events that last", lasting),
    Part("laws", "Keys under a law of order", laws),
    Part("flink", "Next match of certain events, Flink beside it", flink),
    Part("league", "Exact times and one sum, against those who answer it too", league),
    Part("sql", "Against confidences in SQL", sql),
    Part("monte-carlo", "Against sampled worlds", monte_carlo),
    Part("engines", "Event engine and point engine (ZDI10, Fig. 4a, 4e)", engines, Plot(WIDTHS, "ratio")),
    Part("orders", "Orders of binding (ZDI10, Fig. 4b to 4d)", orders, Plot("l, or percent", "seconds")),
    Part("kleene", "Kleene groups as W grows (ZDI14, Fig. 6a)", kleene, Plot("W in ticks", "seconds")),
    Part("summaries", "One row for all groups that an order decides", summaries),
    Part("papers", "The papers' experiments", papers),
    Part("uncertain-groups", "Kleene groups in uncertain order, above a threshold", uncertain_groups),
    Part("push-down", "Thresholds inside the search", push_down, Plot("percent kept", "ratio")),
    Part("memory", "Memory", memory),
    Part("growth", "How time grows", growth),
    Part("commands", "The whole command, Parquet to CSV", commands),
    Part("start-up", "From the shell to the last row", start_up),
    Part("first", "What compiling costs a first query", first_answers),
    Part("plain", "Plain files, from the shell", plain_files),
    Part("rows", "Rows as they are written, from the shell", written_rows),
    Part("incremental", "A day in pieces, each by a run of its own", incremental),
    Part("large", "Fifty million events, Parquet to CSV", large),
    Part("exists", "Whether there is a match at all", exists),
    Part("readers", "Readers of logs", readers),
    Part("reading", "Raw logs to a dataset", reading),
    Part("clock-logs", "Clocks from their own logs", clock_logs),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts; 1 when a result was wrong, a missed goal is none of that."""
    chosen = _parsed(arguments)
    parts = [part for part in PARTS if not chosen.only or part.name in chosen.only]
    chosen.output.mkdir(parents=True, exist_ok=True)
    began, machine = time.monotonic(), description()
    machine["load before"] = f"{load():.1f}"
    _say("  ".join(f"{name}: {value}" for name, value in machine.items()))
    found: list[tuple[Part, list[Row], str | None]] = []
    with tempfile.TemporaryDirectory(prefix="cepctl-bench-") as folder:
        setup = Setup(Path(folder), cores(), 3 if chosen.quick else 5, chosen.quick, chosen.shrink)
        for part in parts:
            found.append((part, *_run(part, setup)))
            tables.write(chosen.output, machine, found, _head(chosen, began))
            if has("matplotlib"):
                write_plot(chosen.output, part, found[-1][1])
    if chosen.page:
        tables.put_into(chosen.page, machine, found)
    absent = [name for name in ("duckdb", "matplotlib") if not has(name)]
    if absent:
        _say(f"left out, because not installed: {', '.join(absent)}")
    short = [row for _, rows, _ in found for row in tables.missed(rows)]
    _say(f"{sum(len(rows) for _, rows, _ in found)} rows, {len(short)} below their goal, "
         f"{time.monotonic() - began:.0f} s; see {chosen.output / 'bench.md'}")  # fmt: skip
    return 1 if any(problem for _, _, problem in found) else 0


def _run(part: Part, setup: Setup) -> tuple[list[Row], str | None]:
    """The rows of a part, and what was wrong."""
    _say("", part.title)
    rows: list[Row] = []
    began = time.monotonic()
    try:
        for row in part.run(setup):
            rows.append(row)
            _say(f"  {tables.short(row)}")
    except CheckFailed as problem:
        _say(f"  WRONG RESULT: {problem}")
        return rows, str(problem)
    _say(f"  in {time.monotonic() - began:.0f} s")
    return rows, None


def _head(chosen: argparse.Namespace, began: float) -> str:
    how = "the median of 3 runs" if chosen.quick else "the median of 5 runs"
    return (
        f"Seconds are {how} after one warm-up (fewer where one takes long), from Parquet in the page "
        f"cache to Arrow in memory; written after {time.monotonic() - began:.0f} s."
    )


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description="Measure cepctl against its peers and against itself."
    )
    names = [part.name for part in PARTS]
    parser.add_argument("--quick", action="store_true", help="smaller sizes, three runs: minutes")
    parser.add_argument(
        "--only",
        action="append",
        choices=names,
        metavar="NAME",
        help=f"run this part alone: {', '.join(names)}",
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("bench-results"), metavar="FOLDER",
                        help="where tables and pictures go  [default: bench-results]")  # fmt: skip
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="also put the tables into this page, in the place of those of the same parts",
    )
    parser.add_argument(
        "--shrink", type=int, default=1, metavar="K", help="divide the numbers of events by K"
    )
    return parser.parse_args(arguments)


def _say(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())

"""Raw logs to a dataset, beside scripts of Polars that read the same file: whole commands, started anew."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow.parquet as pq
from plain_files import of_process
from raw_logs import written_raw
from results import Goal, Row, Setup, check_equal
from start_up import run_cepctl, run_python

_LINES = """
import sys, polars as pl
lines = pl.scan_csv(
    sys.argv[1], has_header=False, separator="\\x01", quote_char=None, schema={"line": pl.String}
)
def parsed(expression, form):
    groups = lines.select(pl.col("line").str.extract_groups(expression)).unnest("line")
    return groups.with_columns(pl.col("time").str.to_datetime(form))
"""
_OBJECTS = 'pl.scan_ndjson(sys.argv[1]).with_columns(pl.col("{}").str.to_datetime("%Y-%m-%dT%H:%M:%S%.fZ"))'
_STAMPED = r"(?<time>\S+ \S+) (?:- )?(?<level>\S+) +(?<logger>\S+) (?<message>.*)"
SCRIPTS = {
    "access": r"""parsed(
        r'(?<client>\S+) (?<id>\S+) (?<user>\S+) \[(?<time>[^\]]+)\] '
        r'"(?<method>\S+) (?<path>\S+) (?<protocol>[^"]*)" (?<status>\d+) (?<bytes>\d+) '
        r'"(?<referer>[^"]*)" "(?<agent>[^"]*)"', "%d/%b/%Y:%H:%M:%S %z"
    )""",
    "syslog": r"""parsed(
        r"(?<time>\S+) (?<node>\S+) (?<program>[^ \[:]+)(?:\[(?<pid>\d+)\])?: (?<message>.*)",
        "%Y-%m-%dT%H:%M:%S%.f%z"
    )""",
    "log4j": f'parsed(r"{_STAMPED}", "%Y-%m-%d %H:%M:%S,%3f")',
    "JSON lines": _OBJECTS.format("time"),
    "csv": "pl.scan_csv(sys.argv[1], try_parse_dates=True)",
    "lines": f'parsed(r"{_STAMPED}", "%Y-%m-%d %H:%M:%S,%3f")',
    "application": _OBJECTS.format("ts"),
}
"""By kinds of logs, what reads one: text by one expression a line, JSON and tables by their own readers."""
MINED = ("lines", "application")
"""Those whose types are told from their messages, which Polars does not do."""
OPTIONS = {"log4j": ("--keep-unmatched",)}


def reading(setup: Setup) -> Iterator[Row]:
    """Both write Parquet; ratios are of processor time, start of Python and its libraries included."""
    lines = setup.events(200_000, 20_000)
    dataset, parquet = setup.folder / "read", setup.folder / "read.parquet"
    for kind, script in SCRIPTS.items():
        path = written_raw(setup.folder / f"raw {kind}", kind, lines)
        command = f"{_LINES}{script}.collect().write_parquet(sys.argv[2])"
        ingest = partial(
            run_cepctl,
            "ingest",
            path,
            "-o",
            dataset,
            "--overwrite",
            "--runner",
            "local",
            *OPTIONS.get(kind, ()),
        )
        turns = [
            (of_process(ingest), of_process(partial(run_python, "-c", command, path, parquet)))
            for _ in range(1 if setup.quick else 3)
        ]
        own, theirs = (
            sorted(each, key=lambda timing: timing.cpu_seconds)[len(each) // 2]
            for each in zip(*turns, strict=True)
        )
        count = sum(pq.read_metadata(part).num_rows for part in dataset.glob("*.parquet"))
        check_equal("events", count, pq.read_metadata(parquet).num_rows)
        size = path.stat().st_size / 1e6
        path.unlink()
        yield Row(
            f"{kind}, {lines:,} lines, {size:.0f} MB", own, count, "events",
            ratio=own.cpu_seconds / theirs.cpu_seconds, against="a script of Polars, processor time",
            goal=Goal("at most", 4 if kind in MINED else 3), checked="count",
            note=f"script {theirs.cpu_seconds:.2f} CPU s",
        )  # fmt: skip

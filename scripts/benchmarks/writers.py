"""Logs to the second, whose lines are in order: matches beside those of the same lines with exact stamps."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

import pyarrow.csv as pc
from plain_files import of_process
from results import Goal, Row, Setup, Timing, check_equal
from start_up import run_cepctl

PROGRAMS = ("cron", "kernel", "nginx", "sshd", "sudo")
WITHIN = "WITHIN 2 s"
QUERIES = {
    "next match": f"PATTERN SEQ(sshd a, sudo b) {WITHIN} STRATEGY skip_till_next_match",
    "strict contiguity": f"PATTERN SEQ(sshd a, sudo b) {WITHIN} STRATEGY strict_contiguity",
    "next match, within a second": "PATTERN SEQ(sshd a, sudo b) WITHIN 1 s STRATEGY skip_till_next_match",
    "a group": f"PATTERN SEQ(sshd a, sudo+ b, cron c) {WITHIN} STRATEGY skip_till_next_match",
}
OF_SEVERAL = {
    "any match": f"PATTERN SEQ(sshd a, sudo b) {WITHIN}",
    "next match": f"PATTERN SEQ(sshd a, sudo b) {WITHIN} STRATEGY skip_till_next_match",
    "negation": f"PATTERN SEQ(sshd a, !cron n, sudo b) {WITHIN}",
    "next match, within 500 ms": "PATTERN SEQ(sshd a, sudo b) WITHIN 500 ms STRATEGY skip_till_next_match",
}


def writers(setup: Setup) -> Iterator[Row]:
    """One host with a hundred lines a second; then several hosts, in microseconds a row."""
    lines = setup.events(1_000_000, 10_000)
    stamped, exact = (_written(setup, 1, 100, lines, exact=each) for each in (False, True))
    ours, theirs = (of_process(partial(_ingested, path)) for path in (stamped, exact))
    case = f"one host, {lines:,} lines, 100 a second"
    against = "the same lines with exact stamps, processor time"
    yield Row(
        f"{case}, ingest", ours, lines, "lines", ratio=ours.cpu_seconds / theirs.cpu_seconds,
        against=against, goal=Goal("at most", 1.1),
    )  # fmt: skip
    for name, query in QUERIES.items():
        (ours, rows), (theirs, others) = (_matched(setup, query, path) for path in (stamped, exact))
        same = "within" not in name
        if same:
            check_equal(f"rows of {name}", rows, others)
        yield Row(
            f"{case}, {name}", ours, len(rows), ratio=ours.cpu_seconds / theirs.cpu_seconds, against=against,
            goal=Goal("at most", 1.3) if same else None, checked="rows, each 1.0" if same else "",
        )  # fmt: skip
    # So many lines that the start of a command weighs little for each row.
    for hosts, each, many in ((2, 10, 40_000), (3, 10, 20_000), (5, 10, 4_000), (2, 100, 4_000)):
        log = _written(setup, hosts, each, setup.events(many, many // 10), exact=False)
        _ingested(log)
        for name, query in OF_SEVERAL.items():
            timing, rows = _matched(setup, query, log)
            yield Row(
                f"{hosts} hosts, {each} lines a second each, {name}", timing, len(rows),
                ratio=1e6 * timing.cpu_seconds / max(len(rows), 1),
                against="microseconds of processor time for each row, start included",
                goal=Goal("at most", 100 if each == 10 else 2_000),
            )  # fmt: skip


def _written(setup: Setup, hosts: int, each: int, lines: int, *, exact: bool) -> Path:
    """A syslog, each of whose hosts writes so many lines a second; `exact`: at times of their own."""
    path, random = setup.folder / f"{hosts}_{each}_{exact}.log", Random(7)
    with path.open("w", encoding="utf-8") as log:
        for i in range(lines):
            second, place = divmod(i, hosts * each)
            clock = f"{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"
            fraction = f".{place * 1_000_000 // (hosts * each):06}" if exact else ""
            host, program = random.randrange(hosts), random.choice(PROGRAMS)
            log.write(
                f"2026-06-{14 + second // 86_400}T{clock}{fraction}Z host{host} {program}[1]: event {i}\n"
            )
    return path


def _ingested(log: Path) -> None:
    run_cepctl("ingest", log, "-o", _dataset(log), "--overwrite", "--runner", "local", "--quiet")


def _dataset(log: Path) -> Path:
    return log.with_suffix(".events")


def _matched(setup: Setup, query: str, log: Path) -> tuple[Timing, list[tuple[float, str]]]:
    """One match in a process of its own, and its rows: confidence and records, sorted."""
    path = setup.folder / "rows.csv"
    match = partial(run_cepctl, "match", query, _dataset(log), "--runner", "local", "-o", path)
    timing = of_process(match)
    rows = pc.read_csv(path)
    names = [name.replace(log.name, "") for name in rows.column("match").to_pylist()]
    return timing, sorted(zip(rows.column("confidence").to_pylist(), names, strict=True))

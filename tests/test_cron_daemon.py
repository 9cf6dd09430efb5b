"""A real cron daemon runs a query every minute over a log that grows: its outputs sum to one run.

On demand: needs root, Debian's cron, none of it running, and CEPCTL_CRON_MINUTES (10) minutes.
"""

from __future__ import annotations

import csv
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

CRON_FOLDER = Path("/etc/cron.d")
QUERY = "PATTERN SEQ(A a, B b) WITHIN 40 s"
MINUTES = float(os.environ.get("CEPCTL_CRON_MINUTES", "10"))
SLACK_SECONDS = 30
HEADER = "event_type,event_id,lower,upper\n"


def can_run_cron() -> bool:
    if shutil.which("cron") is None or os.geteuid() != 0 or not CRON_FOLDER.is_dir():
        return False
    return subprocess.run(["pidof", "cron"], capture_output=True, check=False).returncode != 0


@pytest.fixture
def cron(tmp_path: Path) -> Iterator[Path]:
    """A cron daemon whose table runs the query every minute; gives the folder of log, state and outputs."""
    table = CRON_FOLDER / f"cepctl-test-{os.getpid()}"
    (tmp_path / "query.cep").write_text(QUERY)
    (tmp_path / "app.csv").write_text(HEADER)
    match = f"{sys.executable} -m cepctl match --quiet --runner local --slack {SLACK_SECONDS}s"
    options = "--state state -o matches --metrics cron.prom"
    command = f"cd {tmp_path} && {match} {options} @query.cep app.csv >> told 2>&1"
    table.write_text(f"* * * * * root {command}\n")
    daemon = subprocess.Popen(["cron", "-f"])
    try:
        yield tmp_path
    finally:
        table.unlink()
        daemon.terminate()
        daemon.wait()


def write_log(path: Path, until: float) -> int:
    """Append events of about now, out of order within the slack, half a line at a time; their number."""
    chance, written = random.Random(12), 0
    while time.time() < until:
        moment = datetime.now(UTC) - timedelta(seconds=chance.uniform(0, SLACK_SECONDS / 2))
        lower = round(moment.timestamp() * 1_000)
        line = f"{chance.choice('ABC')},e{written},{lower},{lower + chance.randrange(4_000)}\n"
        for part in (line[:9], line[9:]):
            with path.open("a") as log:
                log.write(part)
            time.sleep(chance.uniform(0, 0.5))
        written += 1
    return written


def rows_of(*files: Path) -> Counter[str]:
    return Counter(",".join(row.values()) for file in files for row in csv.DictReader(file.open()))


@pytest.mark.slow
@pytest.mark.skipif(not can_run_cron(), reason="needs root and a cron daemon that does not run yet")
def test_the_outputs_of_cron_sum_to_one_run(cron: Path) -> None:
    written = write_log(cron / "app.csv", time.time() + 60 * MINUTES)
    match = [sys.executable, "-m", "cepctl", "match", "--quiet", "--runner", "local"]
    # The last run of cron may still hold the state.
    for _ in range(60):
        last = subprocess.run(
            [*match, "--state", "state", "-o", "matches", "--final", "@query.cep", "app.csv"],
            cwd=cron, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if last.returncode != 5:
            break
        time.sleep(1)
    assert last.returncode == 0, last.stderr
    subprocess.run([*match, "-o", "whole.csv", "@query.cep", "app.csv"], cwd=cron, check=True)
    outputs = sorted((cron / "matches").iterdir())
    assert len(outputs) >= MINUTES
    assert (cron / "told").read_text() == ""
    assert (cron / "cron.prom").exists()
    whole = rows_of(cron / "whole.csv")
    assert rows_of(*outputs) == whole
    assert sum(whole.values()) > 0
    print(f"{len(outputs)} runs, {written} events, {sum(whole.values())} matches")  # noqa: T201

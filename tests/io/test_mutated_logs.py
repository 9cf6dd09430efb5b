"""What tests/mutated_logs.py finds: some inputs every day, CEPCTL_MUTATIONS of them on demand."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.mutated_logs import judged, mutated_log, true_accounts
from tests.reader_account import Account, lost_in_silence
from tests.small_logs import SMALL_LOGS

ROOT = Path(__file__).parents[2]
EVERYDAY_INPUTS = 100


def run(count: int, state: Path, processes: int = 2, before: str = "") -> subprocess.CompletedProcess[str]:
    """A run in processes of its own: they limit their memory, and may die."""
    arguments = ["--count", str(count), "--processes", str(processes), "--state", str(state)]
    # Without pandas, as commands read.
    start = "import sys; from cepctl.process.start_up import leave_pandas_out; leave_pandas_out()"
    code = f"{start}; from tests import mutated_logs\n{before}\nsys.exit(mutated_logs.main({arguments!r}))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)


def test_no_input_of_an_everyday_run_is_lost_on_a_reader(tmp_path: Path) -> None:
    finished = run(EVERYDAY_INPUTS, tmp_path, processes=1)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.slow
def test_no_input_is_lost_on_a_reader(tmp_path: Path) -> None:
    count = int(os.environ.get("CEPCTL_MUTATIONS", "20000"))
    finished = run(count, tmp_path, os.cpu_count() or 1)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_an_input_follows_from_its_number_and_every_log_has_its_turn() -> None:
    numbers = range(len(SMALL_LOGS))
    assert [mutated_log(number) for number in numbers] == [mutated_log(number) for number in numbers]
    assert [mutated_log(number)[0] for number in numbers] == list(SMALL_LOGS)
    assert all(mutated_log(number)[1] != SMALL_LOGS[mutated_log(number)[0]][1] for number in range(20))


# One of each kind, by the number of the input; both processes meet two of them.
HURTS = {
    3: ("raise RuntimeError('a defect')", "crash  3  {log}: RuntimeError: a defect"),
    4: ("os.kill(os.getpid(), signal.SIGSEGV)", f"crash  4  {{log}}: the process died: {-signal.SIGSEGV}"),
    5: ("bytearray(1 << 34)", "memory  5  {log}: "),
    6: ("exec('while True: pass')", "hang  6  {log}: more than 1 s"),
}


def test_what_is_wrong_with_a_reader_is_found_and_the_run_goes_on(tmp_path: Path) -> None:
    faults = "".join(
        f"    if data == mutated_logs.mutated_log({number})[1]: {hurt}\n"
        for number, (hurt, _) in HURTS.items()
    )
    before = (
        "import os, signal\nmutated_logs.SECONDS = 1\nwhole = mutated_logs.account_of\n"
        f"def account_of(data, name):\n{faults}    return whole(data, name)\n"
        "mutated_logs.account_of = account_of\n"
    )
    finished = run(9, tmp_path, before=before)
    *found, last = finished.stdout.splitlines()
    for number, (_, said) in HURTS.items():
        (line,) = (each for each in found if f"  {number}  " in each)
        assert line.startswith(said.format(log=mutated_log(number)[0])), finished.stderr
    assert last.startswith("9 inputs, 4 findings")


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    before = "mutated_logs.judged = lambda number, true: print(number, flush=True)"
    (tmp_path / "at-0").write_text("6")
    (tmp_path / "findings-1").write_text('{"number": 1, "log": "csv", "kind": "crash", "said": "before"}\n')
    (tmp_path / "at-1").write_text("5")
    finished = run(10, tmp_path, before=before)
    assert sorted(finished.stdout.split()[:4]) == ["5", "6", "7", "8"] or "9" in finished.stdout
    assert "crash  1  csv: before" in finished.stdout


def test_a_record_that_is_gone_without_a_word_is_a_loss() -> None:
    _, data = SMALL_LOGS["csv"]
    true = Account(4, Counter())
    assert lost_in_silence(true, Account(3, Counter()), data, "csv") is not None
    assert lost_in_silence(true, Account(3, Counter(rejects=1)), data, "csv") is None
    assert lost_in_silence(true, Account(0, Counter(), "f: refused"), data, "csv") is None
    shorter = data[: data.rindex(b"e4")]
    assert lost_in_silence(true, Account(3, Counter()), shorter, "csv") is None


def test_an_input_on_which_nothing_is_lost_is_no_finding() -> None:
    true = true_accounts()
    assert [judged(number, true) for number in range(0, 60, 7)] == [None] * 9

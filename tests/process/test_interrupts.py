"""An interrupt ends a process soon, also in the middle of a call that Python cannot leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cepctl.process.interrupts import busy_threads, descendants

SECONDS = 120
# Twenty minutes in one call that releases the interpreter's lock, as compiled kernels and Arrow's sorts do.
# The main thread itself never reacts to the signal, also where it comes before the call has begun.
LONG_CALL = """
import hashlib, signal, subprocess, sys
from pathlib import Path
from cepctl.process.interrupts import end_soon_after_signals
from cepctl.atomic.folders import temporary_folder
from cepctl.atomic.files import begin
end_soon_after_signals(lambda number: print("told", number, flush=True))
signal.signal(int(sys.argv[2]), lambda *_: None)
half = Path(sys.argv[1], "half.csv")
half.touch()
begin(half)
child = subprocess.Popen(["sleep", "1000"])
with temporary_folder(Path(sys.argv[1])) as folder:
    (folder / "rows.arrow").touch()
    print(child.pid, flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_long_call_is_left_behind_and_nothing_else(number: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LONG_CALL, str(tmp_path), str(int(number))], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.send_signal(number)
        assert process.wait(SECONDS) == 128 + number
        assert process.stdout.read() == f"told {int(number)}\n"
    assert list(tmp_path.iterdir()) == []
    stat = Path(f"/proc/{child}/stat")
    assert not stat.exists() or child not in descendants(1) or " Z " in stat.read_text()


SAID_AT_THE_LAST_MOMENT = """
import signal, sys, time
from cepctl.process.interrupts import PATIENCE_SECONDS, being_told, end_soon_after_signals
end_soon_after_signals(lambda number: print("told", number, flush=True))
try:
    print("ready", flush=True)
    time.sleep(1000)
except KeyboardInterrupt:
    being_told()
    print("interrupted", flush=True)
    time.sleep(1000)
"""


def test_what_the_command_has_said_is_not_said_again() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with subprocess.Popen(
            [sys.executable, "-c", SAID_AT_THE_LAST_MOMENT], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGINT)
            assert process.wait(SECONDS) == 130
            assert process.stdout.read() == "interrupted\n"
    finally:
        signal.signal(signal.SIGINT, before)


SAID_TOO_LATE = """
import signal, sys, threading, time
from cepctl.process import interrupts
late = threading.Event()
def tell(number):
    print("told", number, flush=True)
    late.set()
    time.sleep(0.2)
interrupts.end_soon_after_signals(tell)
signal.signal(signal.SIGINT, lambda *_: None)
print("ready", flush=True)
late.wait()
interrupts.being_told()
print("interrupted", flush=True)
"""


def test_what_is_being_said_is_not_said_by_the_command_again() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SAID_TOO_LATE], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 130
        assert process.stdout.read() == "told 2\n"


def test_processes_of_processes_are_known() -> None:
    with subprocess.Popen(
        ["sh", "-c", "sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE, text=True
    ) as outer:
        assert outer.stdout is not None
        inner = int(outer.stdout.readline())
        assert {outer.pid, inner} <= descendants(os.getpid())
        os.kill(inner, signal.SIGKILL)
        outer.wait(SECONDS)


def test_the_thread_that_waits_for_signals_is_not_busy() -> None:
    before = len(busy_threads())
    done = threading.Event()
    idle = threading.Thread(target=done.wait, name="waits for signals")
    busy = threading.Thread(target=done.wait)
    for each in (idle, busy):
        each.start()
    assert len(busy_threads()) == before + 1
    done.set()
    for each in (idle, busy):
        each.join()


INTERRUPTED_IN_A_CALLBACK = """
import ctypes, signal, time
from cepctl.process.interrupts import end_soon_after_signals
end_soon_after_signals(lambda number: print("told", number, flush=True))
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start this with SIGINT ignored
@ctypes.CFUNCTYPE(None)
def called_by_a_library():
    signal.raise_signal(signal.SIGINT)
called_by_a_library()
print("lost", flush=True)
time.sleep(1000)
"""


def test_an_interrupt_in_the_callback_of_a_library_ends_without_a_traceback() -> None:
    """Python cannot raise it there; the code that compiles kernels calls back like this."""
    command = [sys.executable, "-c", INTERRUPTED_IN_A_CALLBACK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "lost\ntold 2\n", "")

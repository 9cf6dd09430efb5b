"""Kernels run interpreted at first and compiled later, and nobody can tell from what they return."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from cepctl.engines.columns.events import events_of
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternatives
from cepctl.engines.kernels import stages
from cepctl.engines.kernels.beside import signature_of
from cepctl.engines.kernels.kernel import Kernel, inner, kernel
from cepctl.engines.kernels.stages import KernelForm, Mode, TooSlowError, Watched, only, run
from cepctl.numeric.arrays import Indexes, Reals
from tests.plans import Event, event_table, plan_of


@inner
def _twice(value: float) -> float:
    return value + value


@kernel
def _doubled(values: Reals, counts: Indexes) -> float:
    total = 0.0
    for k in range(len(values)):
        counts[0] += 1
        total += _twice(values[k])
    return total


def test_a_kernel_is_interpreted_until_that_has_cost_something() -> None:
    counts = np.zeros(1, dtype=np.int64)
    with only("whatever is cheaper"):
        assert _doubled(np.arange(4.0), counts) == 12.0
    assert counts[0] == 4
    assert _doubled.compiled is None


def test_what_is_foreseen_is_not_interpreted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a few events nothing is loaded; of many it is, before the first of them is looked at."""
    monkeypatch.setattr(stages, "files_of", lambda _: frozenset({"kept"}))
    for count, is_loaded in ((300, False), (30_000, True)):
        monkeypatch.setattr(stages, "_STAGE", stages._Stage())
        events = event_table([Event(f"e{at}", "AB"[at % 2], at, at + 9) for at in range(count)])
        plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 9 ticks")
        (alternative,) = prepared_alternatives(plan, events_of(events), MatchOptions())
        assert alternative.parts(None)
        form = KernelForm(_doubled, signature_of((np.zeros(1), np.zeros(1, dtype=np.int64))))
        assert form.worth_changing(0.0) == is_loaded


def test_both_forms_return_and_write_the_same() -> None:
    values = np.random.default_rng(1).random(1_000)
    answers = []
    modes: tuple[Mode, Mode] = ("interpreted", "compiled")
    for mode in modes:
        counts = np.zeros(1, dtype=np.int64)
        with only(mode):
            answers.append((float(_doubled(values, counts)), counts[0]))
    assert answers[0] == answers[1]


def test_a_call_that_is_given_up_begins_again_with_what_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first attempt has counted some values; none of them is counted twice."""
    seen = []

    class Soon(KernelForm):
        def worth_changing(self, seconds: float) -> bool:
            if seconds > 0.1:
                seen.append(seconds)
            return seconds > 0.1

    monkeypatch.setattr(stages, "KernelForm", Soon)
    monkeypatch.setattr(stages, "_PER_VALUE", 0.0)
    monkeypatch.setattr(stages._STAGE, "forms", {})
    monkeypatch.setattr(Soon, "change", lambda self, _: True)
    counts = np.zeros(1, dtype=np.int64)
    with only("whatever is cheaper"):
        assert run(_doubled, (np.ones(3_000_000), counts)) == 6_000_000.0
    assert counts[0] == 3_000_000
    assert seen


def test_what_one_thread_loads_ends_the_calls_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread loads the form while another interprets; the other does not go on to the end of its call."""
    monkeypatch.setattr(stages._STAGE, "forms", {})
    values, counts = np.ones(20_000_000), np.zeros(1, dtype=np.int64)
    with only("compiled"):
        _doubled(values[:1], counts)
    form = KernelForm(_doubled, signature_of((values, counts)))
    stages._STAGE.forms[_doubled.name, form.signature] = form
    monkeypatch.setattr(stages, "files_of", lambda _: frozenset())
    monkeypatch.setattr(stages, "compile_beside", lambda *_: True)
    monkeypatch.setattr(stages, "is_at_work", lambda: True)
    counts[0] = 0

    def load_soon() -> None:
        time.sleep(0.3)
        form.loaded = True

    ended = []
    interpreted = stages._interpreted

    def to_its_end(*call: Any) -> Any:
        ended.append(interpreted(*call))
        return ended[-1]

    monkeypatch.setattr(stages, "_interpreted", to_its_end)
    with only("whatever is cheaper"):
        thread = Thread(target=load_soon)
        thread.start()
        assert run(_doubled, (values, counts)) == 40_000_000.0
        thread.join()
    assert counts[0] == 20_000_000
    assert ended == []


def test_a_call_that_ended_in_time_hears_nothing_later() -> None:
    for _ in range(200):
        try:
            with Watched(lambda _: True):
                sum(range(2_000))
        except TooSlowError:
            pass
    time.sleep(0.2)


def test_a_process_beside_compiles_what_takes_long(tmp_path: Path) -> None:
    """A loop that would take a minute ends as soon as its compiled form is there."""
    program = """
import time
import numpy as np
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.engines.kernels import stages
from cepctl.engines.kernels.beside import compiling_beside
from cepctl.engines.columns.joins import _running_maximum
began = time.monotonic()
values = np.arange(50)
told = {compiling_beside()}
while not any(form.loaded for form in stages._STAGE.forms.values()):
    _running_maximum(values, np.array([0, 50]))
    found = compiling_beside()
    told.add(found and found[:2])
    assert time.monotonic() - began < 100
print(told == {None, (0, 1)})
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert list(tmp_path.rglob("columns.joins._running_maximum-*"))


def test_what_no_process_can_compile_is_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that lasts ends, however often it would be begun again."""
    for taken in (False, True):
        monkeypatch.setattr(stages, "_STAGE", stages._Stage())
        stages._STAGE.spent = 5.0
        monkeypatch.setattr(stages, "files_of", lambda _: frozenset())
        monkeypatch.setattr(stages, "compile_beside", lambda *_, taken=taken: taken)
        monkeypatch.setattr(stages, "is_at_work", lambda: False)
        monkeypatch.setattr(Kernel, "load", lambda *_: False)
        counts = np.zeros(1, dtype=np.int64)
        with only("whatever is cheaper"):
            assert run(_doubled, (np.ones(3_000_000), counts)) == 6_000_000.0
        assert counts[0] == 3_000_000
        assert [form.loaded for form in stages._STAGE.forms.values()] == [True]


@pytest.mark.slow
def test_where_nothing_can_be_kept_the_process_beside_ends_and_a_warning_says_why(tmp_path: Path) -> None:
    """No file may grow beyond a few bytes, as on a full disk."""
    program = """
import logging, resource, time
logging.basicConfig()
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
import numpy as np
from cepctl.engines.kernels import stages
from cepctl.engines.columns.joins import _running_maximum
began = time.monotonic()
values = np.arange(50)
while not any(form.loaded for form in stages._STAGE.forms.values()):
    _running_maximum(values, np.array([0, 50]))
    assert time.monotonic() - began < 100
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert f"compiled kernels cannot be kept in {tmp_path}" in done.stderr


def test_a_kernel_is_sent_to_another_process_by_name() -> None:
    import pickle

    assert isinstance(_doubled, Kernel)
    assert pickle.loads(pickle.dumps(_doubled)) is _doubled


def test_a_watched_call_leaves_no_signal_behind() -> None:
    """With one, a dataclass that is made under a profiler afterwards never ends."""
    program = """
import cProfile
from dataclasses import dataclass
from cepctl.engines.kernels.stages import TooSlowError, Watched
@dataclass(frozen=True)
class Made:
    value: int
def work():
    for should_end in (False, True):
        try:
            with Watched(lambda _: should_end):
                sum(range(2_000_000))
        except TooSlowError:
            print("ended", end=" ")
        Made(1)
profile = cProfile.Profile()
profile.enable()
work()
print("made")
"""
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert told.split()[-1] == "made"


def test_an_exception_that_comes_at_any_step_leaves_no_lock_behind() -> None:
    """Tens of thousands of calls that end as they are being ended, switched between at every step."""
    program = """
import sys, time
from cepctl.engines.kernels import stages
stages._BETWEEN_LOOKS = 0.0
sys.setswitchinterval(1e-6)
until, ended, calls = time.monotonic() + 3, 0, 0
while time.monotonic() < until:
    calls += 1
    try:
        with stages.Watched(lambda _: True):
            sum(range(calls % 300))
    except stages.TooSlowError:
        ended += 1
print(ended > 100, calls > ended)
"""
    told = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert told == "True True\n"


def test_a_call_goes_on_unwatched_where_no_thread_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(stages, "_watching", [])
    monkeypatch.setattr(Thread, "start", refuse)
    with Watched(lambda _: True) as call:
        assert not call.sent

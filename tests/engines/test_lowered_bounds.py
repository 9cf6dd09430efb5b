"""Every bound of the engines ends in a refusal, or changes nothing: answers are right whatever it is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES


def answers_are_right_or_refused(examples: int) -> None:
    """In a process where nothing is compiled: compiled code keeps the bounds that it was made with."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.engines.lowered_bounds", str(examples)]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-20_000:]


def test_answers_are_right_or_refused_whatever_the_bounds() -> None:
    answers_are_right_or_refused(FEW_EXAMPLES)


@pytest.mark.slow
def test_answers_are_right_or_refused_whatever_the_bounds_many_times_over() -> None:
    answers_are_right_or_refused(MANY_EXAMPLES)

"""What says that an answer may not be the one asked for is a warning of Python, at the caller's line."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pytest

import cepctl

EVENTS = pa.table({"event_type": ["A", "B"], "lower": [1, 3], "upper": [4, 6]})


def test_a_type_that_no_event_has() -> None:
    with pytest.warns(cepctl.CepctlWarning, match="no event has the type 'Bb'; the nearest") as told:
        assert len(cepctl.match("PATTERN SEQ(A a, Bb b)", EVENTS)) == 0
    assert Path(told[0].filename) == Path(__file__)


def test_programs_may_take_warnings_for_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", cepctl.CepctlWarning)
        assert len(cepctl.match("PATTERN SEQ(A a, B b)", EVENTS)) == 1
        with pytest.raises(cepctl.CepctlWarning, match="no event has the type"):
            cepctl.match("PATTERN SEQ(A a, Bb b)", EVENTS)

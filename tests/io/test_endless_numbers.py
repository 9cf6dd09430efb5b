"""Numbers beyond what computers hold cost their record at most, wherever they stand in any log."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cepctl.errors import CepctlError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from tests.small_logs import SMALL_LOGS

_NUMBERS = ("9" * 5_000, "9" * 309, "-" + "9" * 400, "1e400", "1." + "9" * 5_000, "0" * 5_000 + "1")
_TEXTS = {name: (form, data.decode()) for name, (form, data) in SMALL_LOGS.items() if data.isascii()}


def assert_read_or_refused(name: str, places: slice, numbers: tuple[str, ...], scratch: Path) -> None:
    """Each of some numbers in a log is replaced by each of these, alone."""
    form, text = _TEXTS[name]
    file, output = scratch / "a.log", str(scratch / "events")
    for place in [*re.finditer(r"\d+", text)][places]:
        for number in numbers:
            file.write_text(text[: place.start()] + number + text[place.end() :])
            try:
                ingest([str(file)], output, IngestOptions(overwrite=True, input_format=form))
            except CepctlError as refusal:
                assert "defect" not in str(refusal)


@pytest.mark.parametrize("name", _TEXTS)
def test_a_number_of_thousands_of_digits_is_read_or_refused(name: str, tmp_path: Path) -> None:
    """One at the end of each log, where most have values."""
    assert_read_or_refused(name, slice(-1, None), _NUMBERS[:1], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", _TEXTS)
def test_every_number_is_read_or_refused(name: str, tmp_path: Path) -> None:
    assert_read_or_refused(name, slice(0, 60), _NUMBERS, tmp_path)

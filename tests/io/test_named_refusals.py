"""Files that are refused by the name of what they are, with a remedy; and some that look like them."""

from __future__ import annotations

from pathlib import Path

import pytest

import cepctl
from cepctl.errors import LogFormatError


def refusal(folder: Path, text: str, name: str = "x.json") -> str:
    (folder / name).write_text(text)
    with pytest.raises(LogFormatError) as told:
        cepctl.ingest(folder / name, folder / "events")
    return str(told.value)


def test_times_of_dotnet(tmp_path: Path) -> None:
    told = refusal(tmp_path, '{"Id":4625,"ProviderName":"x","TimeCreated":"/Date(1781417704978)/"}\n')
    assert "its times are such as /Date(1781417704978), which .NET writes" in told
    assert "ToString('o')" in told


def test_day_numbers_of_spreadsheets(tmp_path: Path) -> None:
    told = refusal(tmp_path, "event_type,time\na,46187.344\n", "x.csv")
    assert "the time 46187.344 may be the day number of a spreadsheet, 2026-06-14;" in told


def test_other_numbers_without_a_unit_are_asked_for_it(tmp_path: Path) -> None:
    assert "name its unit" in refusal(tmp_path, "event_type,time\na,461.344\n", "x.csv")


def test_the_history_of_zsh_is_read(tmp_path: Path) -> None:
    (tmp_path / "h").write_text(": 1781417704:0;ls -la\n: 1781417710:3;make all\n")
    types = cepctl.ingest(tmp_path / "h", tmp_path / "events").summary.type_counts
    assert types == {"ls -la": 1, "make all": 1}

"""What a newcomer runs into in the first hour, and what the commands say to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main

LOG = "event_type,time,x\nA,2024-05-01T10:00:01.5Z,7\nB,2024-05-03T10:00:02.5Z,8\n"
QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    file = tmp_path / "log.csv"
    file.write_text(LOG)
    return file


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a command says on standard error."""
    assert main([*arguments]) == code
    return capsys.readouterr().err


def test_a_file_of_rows_has_its_header_without_rows(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(B b, A a) WITHIN 1 s RETURN a.x"
    assert main(["match", query, "log.csv", "-q", "-o", "rows.csv"]) == 0
    assert log.with_name("rows.csv").read_text() == "a.x,confidence,start,end,match\n"
    assert main(["match", query, "log.csv", "-q"]) == 0
    assert capsys.readouterr().out == ""


def test_an_existing_file_is_not_replaced_in_silence(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = ("match", QUERY, "log.csv", "-o", "rows.csv")
    assert "rows.csv" not in said(capsys, *again)
    assert "note: rows.csv existed and is replaced; --no-clobber keeps such files" in said(capsys, *again)
    assert "rows.csv" not in said(capsys, *again, "-q")
    refused = said(capsys, *again, "--no-clobber", code=2)
    assert refused.startswith("error: rows.csv exists, and --no-clobber keeps it; name another file")
    assert main(["match", QUERY, "log.csv", "-o", "new.csv", "--no-clobber", "-q"]) == 0


def test_a_page_is_not_called_a_pdf(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = said(capsys, "report", QUERY, "log.csv", "-o", "r.pdf", code=2)
    assert refused.startswith("error: a page is HTML, not pdf; name it r.html")
    assert not log.with_name("r.pdf").exists()


def test_no_templates_are_said_to_be_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "warning: no templates: no input is a log of messages" in said(
        capsys, "inspect", "log.csv", "--templates"
    )


@pytest.mark.parametrize("command", [("match", QUERY), ("inspect",)])
def test_a_form_of_times_that_fits_nothing_is_named(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    refused = said(capsys, *command, "log.csv", "--time-format", "%d.%m.%Y", code=3)
    assert "log.csv:2: a time that is not written as '%d.%m.%Y', which --time-format names: A,2024" in refused


def test_records_whose_time_has_another_form_are_said_to_have_one(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.write_text("event_type,time\nA,01.03.2024\nB,02.03.2024\nB,02.03.2024 09:30\nB,\n")
    told = said(capsys, "match", QUERY, "log.csv", "--time-format", "%d.%m.%Y")
    assert "  log.csv:4: a time that is not written as '%d.%m.%Y', which --time-format names: B,02" in told
    assert "  log.csv:5: no time: B," in told


def test_percentages_are_taught(capsys: pytest.CaptureFixture[str]) -> None:
    assert "<=1.0; 50 percent is 50%" in said(
        capsys, "match", QUERY, "log.csv", "--min-confidence", "50", code=2
    )
    assert "; 50 percent is 50%" in said(capsys, "match", f"{QUERY} CONFIDENCE >= 50", "log.csv", code=2)


def test_any_type_is_taught(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no event has the type 'ANY'; any type is written *" in said(
        capsys, "match", "PATTERN SEQ(A a, ANY b)", "log.csv"
    )


def test_a_missing_window_on_a_long_log_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "note: the query has no WITHIN, and these matches are spread over 2 days" in said(
        capsys, "match", QUERY, "log.csv"
    )
    assert "no WITHIN" not in said(capsys, "match", f"{QUERY} WITHIN 3 days", "log.csv")


def test_a_misspelt_file_is_answered_by_the_one_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    missing = "there is no such file, directory or match"
    assert said(capsys, "match", QUERY, "log.cvs", code=3).endswith(f"{missing}; did you mean 'log.csv'?\n")
    assert said(capsys, "match", QUERY, "nowhere/log.csv", code=3).endswith(f"{missing}\n")
    assert said(capsys, "match", QUERY, "*.cvs", code=3).endswith(f"{missing}\n")


def test_an_option_that_is_missing_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    refused = said(capsys, "report", QUERY, "log.csv", code=2)
    assert refused.startswith("error: missing option -o FILE: write the page (HTML) to FILE\n")

"""Files with something beside a log of lines: nothing of it goes unsaid, and nothing grows without bound."""

from __future__ import annotations

from pathlib import Path
from random import Random
from string import ascii_lowercase

import pytest

from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.lines.recognition import layout_of
from cepctl.io.templates.files import load_templates

USUAL = "".join(
    f"2026-06-14 08:15:{n % 60:02},978 - INFO  [main:Gate@12] - badge {n} is in\n" for n in range(900)
)
OTHERS = [
    "Jun 14 08:15:04 web1 sshd[22]: hello {}\n",
    "[14/Jun/2026:08:15:04 +0000] asked for {}\n",
    "06/14/2026 08:15:04 opened {}\n",
]


def summary_of(folder: Path, text: str, **read: object) -> IngestSummary:
    log = folder / "x.log"
    log.write_text(text)
    options = IngestOptions(read=ReadOptions(**read), overwrite=True)  # type: ignore[arg-type]
    return ingest([str(log)], str(folder / "e"), options)


@pytest.mark.parametrize("line", OTHERS)
def test_lines_of_another_log_beyond_the_head_are_counted(line: str, tmp_path: Path) -> None:
    other = "".join(line.format(n) for n in range(70))
    summary = summary_of(tmp_path, USUAL + other)
    assert summary.events == 900
    (said,) = [note for note in summary.notices if "times of another layout than that of the log" in note]
    assert "before them: 70; divide the file" in said
    assert not any("without a time of their own" in note for note in summary.notices)


def test_a_stack_trace_is_no_other_log(tmp_path: Path) -> None:
    trace = "java.io.IOException: at 2026-06-14 08:15:04\n\tat Gate.read(Gate.java:7)\n"
    summary = summary_of(tmp_path, USUAL + trace)
    assert not any("another layout" in note for note in summary.notices)


def test_kinds_of_messages_are_bounded_and_the_rest_is_one_type_and_counted(tmp_path: Path) -> None:
    random = Random(1)
    word = ["".join(random.choices(ascii_lowercase, k=6)) for _ in range(400)]
    words = [" ".join(random.choices(word, k=4)) for _ in range(10_000)]
    text = "".join(f"2026-06-14 08:15:04 INFO {each}\n" for each in words)
    summary = summary_of(tmp_path, text)
    assert summary.events == 10_000
    assert len(summary.type_counts) <= 2_001
    others = summary.type_counts["Other"]
    assert any(f"{others:,}; they are of the type Other" in note for note in summary.notices)


def test_a_file_of_templates_of_another_log_changes_nothing_and_that_is_said(tmp_path: Path) -> None:
    plain = summary_of(tmp_path, USUAL)
    file = tmp_path / "t.toml"
    file.write_text('[[template]]\nevent_type = "A"\ntemplate = "door <*> opened"\n')
    other = summary_of(tmp_path, USUAL, templates=load_templates(str(file)))
    assert other.type_counts == plain.type_counts
    assert "of the messages looked at 0 fit the 1 templates given, 900 fit 1 new ones" in other.notices


@pytest.mark.parametrize("turn", range(2, 9))
def test_of_two_layouts_that_take_turns_the_one_that_more_lines_have_is_found(turn: int) -> None:
    lines = [
        f"14/Jun/2026:08:15:04 opened {n}" if n % turn == 0 else f"2026-06-14 08:15:04 opened {n}"
        for n in range(264)
    ]
    layout = layout_of(lines)
    assert layout is not None
    assert layout.stamp.name == "YYYY-MM-DD hh:mm:ss"
    assert layout.others == (("DD/Mon/YYYY:hh:mm:ss", len(lines[::turn])),)

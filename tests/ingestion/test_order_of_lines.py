"""Lines of logs are evidence of their order where nothing is said, by file and host; one note says so."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.cli import main
from cepctl.errors import CepctlError

PAIRS = "PATTERN SEQ(* a, * b) RETURN a.record AS first, b.record AS second"
SYSLOG = "Dec 10 06:55:52 {} sshd[{}]: Accepted password for ann from 203.0.113.40 port 22 ssh2\n"


def log(folder: Path, *clocks: str, name: str = "app.log") -> Path:
    """Lines with these times of day."""
    file = folder / name
    file.write_text("".join(f"2026-03-01 {clock} order {n} accepted\n" for n, clock in enumerate(clocks)))
    return file


def told(file: Path, **options: Any) -> tuple[str, ...]:
    made = cepctl.ingest(file, file.with_suffix(".events"), overwrite=True, **options)
    return made.summary.notices


def pairs(events: Any, **options: Any) -> dict[tuple[int, int], float]:
    rows = cepctl.match(PAIRS, events, **options)
    return {(row["first"], row["second"]): row["confidence"] for row in rows}


def test_lines_of_one_second_are_in_order_and_a_note_says_so(tmp_path: Path) -> None:
    file = log(tmp_path, "10:00:00", "10:00:00", "10:00:00")
    assert pairs(file) == {(1, 2): 1.0, (1, 3): 1.0, (2, 3): 1.0}
    assert any(
        note.startswith("app.log: the lines of a host happened in the order in which they stand")
        and "--no-writer leaves that out" in note
        for note in told(file)
    )
    assert pairs(file.with_suffix(".events"))[1, 2] == 1.0
    assert pairs(file.with_suffix(".events"), no_writer=True)[1, 2] < 0.5


def test_it_can_be_left_out_where_logs_are_read(tmp_path: Path) -> None:
    file = log(tmp_path, "10:00:00", "10:00:00")
    assert pairs(file, no_writer=True)[2, 1] == pytest.approx(0.4995)
    notices = told(file, no_writer=True)
    assert not any("order" in note for note in notices)
    assert "writer" not in pq.read_schema(file.with_suffix(".events") / "part-00000.parquet").names


def test_nothing_is_said_and_no_tick_changes_where_all_stamps_are_apart(tmp_path: Path) -> None:
    file = log(tmp_path, "10:00:00", "10:00:01", "10:00:02")
    assert not any("order" in note for note in told(file))
    stored = pq.read_schema(file.with_suffix(".events") / "part-00000.parquet")
    assert stored.metadata[b"cepctl.time_unit"] == b"1 ms"
    assert b"cepctl.given" not in stored.metadata


def test_stamps_that_are_apart_are_in_order_when_they_become_uncertain(tmp_path: Path) -> None:
    file = log(tmp_path, "10:00:00", "10:00:01")
    told(file)
    cepctl.assign(file.with_suffix(".events"), tmp_path / "later", uncertainty="±2 s")
    assert pairs(tmp_path / "later") == {(1, 2): 1.0}
    assert pairs(file, uncertainty="±2 s") == {(1, 2): 1.0}


def test_lines_that_a_collector_has_merged_are_in_order_by_host(tmp_path: Path) -> None:
    file = tmp_path / "merged.log"
    file.write_text("".join(SYSLOG.format(f"web{n % 2}", n) for n in range(4)))
    found = pairs(file, epoch="2026-01-01")
    assert found[1, 3] == found[2, 4] == 1.0
    assert (3, 1) not in found
    assert 0 < found[4, 1] < found[1, 4] < 1


def test_hosts_are_told_apart_whatever_names_them(tmp_path: Path) -> None:
    """A line without the name of a host is not of one that has a name."""
    file = tmp_path / "compose.log"
    line = "{} | 2026-03-01T10:00:00Z {{}}\n"
    file.write_text("".join(line.format(name).format(n) for n, name in enumerate(["web-1", "db-1", "web-1"])))
    cepctl.ingest(file, tmp_path / "events")
    stored = pq.read_table(tmp_path / "events").sort_by("record").column("writer").to_pylist()
    assert stored[0] == stored[2] != stored[1]


def test_a_file_that_steps_back_too_often_is_in_no_order_and_a_note_says_why(tmp_path: Path) -> None:
    file = log(tmp_path, *("10:00:05", "10:00:05", "10:00:01") * 4)
    (note,) = (each for each in told(file) if "step back" in each)
    assert note.startswith("app.log: 4 of 12 lines step back in time, more than 1 in 100")
    assert "(record 3 by " in note
    assert pairs(file)[2, 1] < 1
    assert pairs(file, writer="source")[1, 2] == 1.0


def test_a_rare_step_back_begins_the_order_anew(tmp_path: Path) -> None:
    clocks = [f"10:{n // 60:02}:{n % 60:02}" for n in range(100, 300)]
    file = log(tmp_path, *clocks, "10:00:00", "10:00:00")
    assert any("1 record steps back in time" in note for note in told(file))
    query = f"{PAIRS} WHERE a.record > 200 AND b.record > 200"
    rows = cepctl.match(query, file)
    assert [(row["first"], row["second"], row["confidence"]) for row in rows] == [(201, 202, 1.0)]


def test_what_a_file_in_no_order_needs_makes_no_tick_finer(tmp_path: Path) -> None:
    log(tmp_path, *["10:00:05.5", "10:00:05.5", "10:00:01.5"] * 4, name="a.log")
    log(tmp_path, "10:00:05", "10:00:06", name="b.log")
    cepctl.ingest([tmp_path / "a.log", tmp_path / "b.log"], tmp_path / "events")
    stored = pq.read_schema(tmp_path / "events" / "part-00000.parquet")
    assert stored.metadata[b"cepctl.time_unit"] == b"1 ms"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "event_type,time\nA,2026-03-01T10:00:00Z\nB,2026-03-01T10:00:00Z\n"),
        ("a.jsonl", '{"event_type": "A", "time": "2026-03-01T10:00:00Z"}\n' * 2),
    ],
)
def test_the_rows_of_a_table_may_have_been_sorted(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert pairs(tmp_path / name)[2, 1] < 1
    assert pairs(tmp_path / name, writer="source") == {(1, 2): 1.0}


@pytest.mark.parametrize("asked", [{"kleene": "summary"}, {"engine": "point"}])
def test_what_takes_no_order_leaves_it_out_and_a_note_says_so(
    asked: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = log(tmp_path, "10:00:00", "10:00:00")
    query = "PATTERN SEQ(* a, *+ b[])" if "kleene" in asked else "PATTERN SEQ(* a, * b)"
    with caplog.at_level("INFO", "cepctl.reading"):
        cepctl.match(query, file, time_unit="100 ms", **asked)
    assert "does not take the order of lines of logs, which is left out" in caplog.text
    with pytest.raises(CepctlError, match="GIVEN"):
        cepctl.match(query, file, writer="source", **asked)


def test_files_are_named_by_their_number(tmp_path: Path) -> None:
    for number in range(4):
        log(tmp_path, "10:00:00", "10:00:00", name=f"{number}.log")
    made = cepctl.ingest([str(tmp_path)], tmp_path / "events")
    assert any(
        note.startswith("4 files, 0.log the first: the lines of each file and host")
        for note in made.summary.notices
    )


def test_a_state_takes_the_order_of_lines_and_names_a_column_that_no_event_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = log(tmp_path, "10:00:00", "10:00:00", "10:00:30", "10:00:40")
    asked = ["match", "PATTERN SEQ(* a, * b) WITHIN 2 s", str(file), "--tz", "UTC", "--state"]
    assert main([*asked, str(tmp_path / "state"), "-o", str(tmp_path / "rows")]) == 0
    assert "the lines of a host happened in the order in which they stand" in capsys.readouterr().err
    (written,) = (tmp_path / "rows").iterdir()
    assert [row.partition(",")[0] for row in written.read_text().splitlines()[1:]] == ["1.0"]
    model = tmp_path / "along.toml"
    model.write_text('[[rule]]\nwriter = { by = "source", along = "order" }\n')
    assert main([*asked, str(tmp_path / "other"), "--uncertainty", str(model)]) != 0
    assert "writer 'order': no event has such an attribute" in capsys.readouterr().err


def test_a_log_that_grows_in_no_order_stays_in_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its first run decides, since rows that are final cannot be taken back."""
    file = log(tmp_path, *["10:00:30", "10:00:00"] * 3)
    query, out = "PATTERN SEQ(* a, * b) WITHIN 1 s", tmp_path / "rows"
    asked = ["match", query, str(file), "--tz", "UTC", "--slack", "1 min", "--state", str(tmp_path / "state")]
    assert main([*asked, "-o", str(out)]) == 0
    assert "their order says nothing" in capsys.readouterr().err
    log(tmp_path, *["10:00:30", "10:00:00"] * 3, "10:02:00", "10:02:00")
    assert main([*asked, "-o", str(out), "--final"]) == 0
    assert "in the order" not in capsys.readouterr().err
    last = (out / "run-000002.csv").read_text().splitlines()[-2:]
    assert [float(row.partition(",")[0]) for row in last] == pytest.approx([0.5, 0.5], abs=1e-3)


def test_late_lines_can_be_taken_in_where_the_order_is_left_out_from_the_first_run_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = log(tmp_path, "10:00:00", "10:00:30", "10:00:40")
    query = "PATTERN SEQ(* a, * b) WITHIN 2 s"
    asked = ["match", query, str(file), "--tz", "UTC", "--state"]
    assert main([*asked, str(tmp_path / "unordered"), "--reopen"]) == 0
    assert "--reopen does not take the order of lines" in capsys.readouterr().err
    assert main([*asked, str(tmp_path / "ordered")]) == 0
    assert main([*asked, str(tmp_path / "ordered"), "--reopen"]) != 0
    assert "begin a new state with --reopen" in capsys.readouterr().err
    log(tmp_path, "10:00:00", "10:00:30", "10:00:40", "10:00:01", "10:00:50")
    assert main([*asked, str(tmp_path / "unordered"), "--reopen", "--final"]) == 0

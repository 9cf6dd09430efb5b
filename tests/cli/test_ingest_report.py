"""What an ingest tells of every file: a table on standard error, and JSON with `--report`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.ingestion.results import FileAccount
from cepctl.render.ingest import print_accounts
from tests.forty_records import FORTY_RECORDS

COARSE = (
    "note: ticks of 1 ms; 60 times have no fraction, nor has any other of their column: each stands for "
    "its whole "
    "second; --exact-times takes them as exact"
)


@pytest.fixture(autouse=True)
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setenv("NO_COLOR", "1")
    directory = tmp_path / "logs"
    directory.mkdir()
    seconds = "".join(f"Tick,2024-05-01T10:00:{second:02}Z\n" for second in range(0, 60))
    (directory / "good.csv").write_text(f"event_type,time\n{seconds}")
    (directory / "bad.jsonl").write_text('{"event_type":"A","time":"?"}\nno json\n')
    (directory / "LICENSE").write_text("All rights given away.\n")
    return directory


def account(name: str, **facts: object) -> FileAccount:
    empty: dict[str, object] = dict.fromkeys(("first", "last", "granularity", "unreadable"))
    counts: dict[str, object] = {"event_types": {}, "rejected": {}, "skipped": {}, "warnings": ()}
    return FileAccount(file=name, format="csv", records=0, events=0, **{**empty, **counts, **facts})  # type: ignore[arg-type]


def table(*accounts: FileAccount) -> list[str]:
    out = io.StringIO()
    print_accounts(accounts, out)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_a_table_says_what_came_of_every_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "logs", "-o", "events"]) == 0
    told = capsys.readouterr().err
    assert [" ".join(line.split()) for line in told.splitlines()] == [
        COARSE,
        "warning: left out 1 of 3 files as unreadable:",
        "LICENSE: of no known format (cepctl formats lists them); its first line is 'All rights given "
        "away.'; nothing in its first 1 line is a time in a known layout, so no option makes events of it; "
        "where it has times of another kind, --patterns FILE says where (?P<time>...); else leave the file "
        "out",
        "warning: left out 2 of 62 records as bad:",
        'bad.jsonl:1: no time: {"event_type":"A","time":"?"}',
        "bad.jsonl:2: the line is not a JSON object: no json",
        "file format events types from to steps left out",
        "LICENSE unreadable 0 0 the file",
        "bad.jsonl jsonl 0 0 no time: 1, the line is not a JSON object: 1",
        "good.csv csv 60 1 2024-05-01 10:00:00 2024-05-01 10:00:59 1 s",
        "60 events of 1 type from 2 files in events (time unit 1 ms)",
    ]


def test_one_file_needs_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "logs/good.csv", "-o", "events"]) == 0
    assert (
        capsys.readouterr().err == f"{COARSE}\n60 events of 1 type from 1 file in events (time unit 1 ms)\n"
    )


def test_a_report_has_the_totals_and_every_file() -> None:
    assert main(["ingest", "logs", "-o", "events", "--report", "report.json", "--quiet"]) == 0
    report = json.loads(Path("report.json").read_text())
    assert {key: report[key] for key in ("files", "unreadable", "records", "events", "rejected")} == {
        "files": 2,
        "unreadable": 1,
        "records": 62,
        "events": 60,
        "rejected": {"the line is not a JSON object": 1, "no time": 1},
    }
    license_, bad, good = report["by_file"]
    assert license_["unreadable"].startswith("LICENSE: of no known format")
    assert bad["rejected"] == {"the line is not a JSON object": 1, "no time": 1}
    assert (good["first"], good["last"]) == ("2024-05-01T10:00:00.000Z", "2024-05-01T10:00:59.999Z")
    assert (good["format"], good["granularity"], good["event_types"]) == ("csv", "1 s", {"Tick": 60})


def test_a_report_is_also_written_of_an_ingest_that_is_refused() -> None:
    arguments = ["ingest", "logs", "-o", "events", "--max-errors", "1"]
    assert main([*arguments, "--rejects", "rejects.jsonl", "--report", "report.json"]) == 3
    assert not Path("events").exists()
    assert json.loads(Path("report.json").read_text())["rejected"]["no time"] == 1
    assert [json.loads(line) for line in Path("rejects.jsonl").read_text().splitlines()] == [
        {"source": "bad.jsonl", "line": 1, "cause": "no time", "raw": '{"event_type":"A","time":"?"}'},
        {"source": "bad.jsonl", "line": 2, "cause": "the line is not a JSON object", "raw": "no json"},
    ]


def test_strict_fails_at_a_file_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "logs", "-o", "events", "--strict"]) == 3
    assert "LICENSE: of no known format" in capsys.readouterr().err


def test_of_many_files_those_with_something_left_out_are_shown() -> None:
    accounts = [account(f"f{number}") for number in range(60)]
    lines = table(*accounts, account("odd", rejected={"no time": 2}))
    assert lines[-2] == "odd csv 0 0 no time: 2"
    assert lines[-1] == "... and 21 more files"


def test_a_long_path_is_shown_by_its_end() -> None:
    assert table(account("a/" * 40 + "name.csv"))[1].startswith("…/a/a/a/")
    assert "a/name.csv csv 0 0" in table(account("a/" * 40 + "name.csv"))[1]


def test_what_damage_takes_is_in_the_account_and_in_the_exit_code(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = FORTY_RECORDS["ganglia"][1]
    damaged = data.replace(b"</HOST>", b"<?HOST>", 1).replace(b'<METRIC NAME="m7"', b'<METRIC NAME="m7 <"')
    Path("poll.xml").write_bytes(damaged)
    assert main(["ingest", "-q", "poll.xml", "-o", "events", "--report", "report.json"]) == 0
    told = json.loads(Path("report.json").read_text())
    assert (told["events"], sum(told["rejected"].values())) == (39, 2)
    assert main(["ingest", "-q", "poll.xml", "-o", "none", "--max-errors", "1"]) == 3
    assert not Path("none").exists()


def test_records_lost_together_count_one_by_one(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = FORTY_RECORDS["jhist, binary"][1]
    place = len(data) - 20 * (len(data) - data.rindex(b"\n")) // 40
    Path("job.jhist").write_bytes(data[:place] + b"\xff" * 9 + data[place + 9 :])
    assert main(["ingest", "job.jhist", "-o", "events", "--rejects", "rejects.jsonl"]) == 3
    (reject,) = map(json.loads, Path("rejects.jsonl").read_text().splitlines())
    assert 15 <= reject["records"] <= 25
    assert "bytes are lost" in capsys.readouterr().err

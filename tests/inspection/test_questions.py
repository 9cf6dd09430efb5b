"""`cepctl inspect` says what can be asked: values, keys that join types, queries that run on these events."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pyarrow as pa
import pytest

from cepctl.cli import main
from cepctl.inspection.keys import SharedKey, example_queries
from cepctl.matching.inputs import EventInputs
from cepctl.schema import TimeUnit

STEPS = (("Begin", 2), ("Task end", 40))
HEADER = "event_type,event_id,time,task,host,load\n"


def write_log(tmp_path: Path, *, with_keys: bool = True) -> None:
    """Three tasks start and end on two hosts; the last one never ends."""
    lines = []
    for number in range(4):
        start, host = 60 * number, f"h{number % 2}"
        task = f"t{number}" if with_keys else ""
        lines.append(f"Begin,s{number},2026-01-01T00:{start // 60:02}:00Z,{task},{host},")
        if number < 3:
            lines.append(f"Task end,e{number},2026-01-01T00:{start // 60:02}:40Z,{task},,{number + 0.5}")
    (tmp_path / "log.csv").write_text(HEADER + "\n".join(lines) + "\n")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    write_log(tmp_path)
    return tmp_path


def inspected(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["inspect", "log.csv", *arguments]) == 0
    return capsys.readouterr().out


def test_values_are_counted_and_ranges_told(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [" ".join(line.split()) for line in inspected(capsys).splitlines()]
    assert "host string 4 2 h0 (2), h1 (2)" in rows
    assert "task string 7 4 t0 (2), t1 (2), t2 (2), t3 (1)" in rows
    assert "load double 3 3 0.5 (1), 1.5 (1), 2.5 (1)" in rows
    (load,) = (each for each in json.loads(inspected(capsys, "--format", "json"))["values"] if each["least"])
    assert (load["name"], load["least"], load["middle"], load["most"]) == ("load", 0.5, 1.5, 2.5)


def test_a_key_that_two_types_share_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(inspected(capsys, "--format", "json"))["keys"] == [
        {"name": "task", "other": None, "types": ["Begin", "Task end"], "shared": 3}
    ]
    assert "a.task = b.task       3  Begin, Task end" in inspected(capsys)


def test_a_key_that_two_logs_call_differently_is_found(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    more = "".join(f"Job,j{n},2026-01-01T00:00:0{n}Z,t{n}\n" for n in range(4))
    (folder / "jobs.csv").write_text(f"event_type,event_id,time,job:task\n{more}")
    assert "a.`job:task` = b.task" in inspected(capsys, "jobs.csv")


def test_every_query_that_is_offered_runs_here_and_finds_what_it_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    offered = [line for line in inspected(capsys).splitlines() if line.startswith("cepctl match ")]
    counts = []
    for line in offered:
        assert main([*shlex.split(line)[1:], "--quiet"]) == 0
        counts.append(len(capsys.readouterr().out.splitlines()) - 1)
    assert offered[0].startswith("""cepctl match "PATTERN SEQ(Begin a, 'Task end' b) WHERE a.task = b.task""")
    assert counts == [3, 3, 1]


def test_without_a_key_the_commonest_types_are_asked_for(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    (folder / "log.csv").write_text("event_type,time\nA,1\nA,2\nB,3\n")
    assert "cepctl match 'PATTERN SEQ(A a, B b) WITHIN 10 s' log.csv" in inspected(capsys)
    (folder / "log.csv").write_text("event_type,time\nA,1\n")
    assert "cepctl match 'PATTERN SEQ(A a, A b) WITHIN 10 s' log.csv" in inspected(capsys)
    (folder / "log.csv").write_text("event_type,time\n")
    assert "cepctl match" not in inspected(capsys)


def test_the_screen_is_short_and_the_rest_is_there_on_request(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    names = [f"x{number:03}" for number in range(80)]
    lines = [f"T{n},{n}," + ",".join(str((n + at) % 7) for at in range(80)) for n in range(40)]
    (folder / "log.csv").write_text(f"event_type,time,{','.join(names)}\n" + "\n".join(lines) + "\n")
    assert len(inspected(capsys).splitlines()) <= 50
    full = inspected(capsys, "--full")
    assert all(f"\n{name} " in full for name in (*names, "T0", "T39"))


def test_times_flags_and_fractions_are_no_keys(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "log.csv").write_text(
        "event_type,time,start_time,ok,share\nA,1,5,true,0.5\nB,2,5,true,0.5\nA,3,6,false,1.5\nB,4,6,false,1.5\n"
    )
    assert json.loads(inspected(capsys, "--format", "json"))["keys"] == []


def test_the_zones_of_stamps_are_no_key(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    zones = ("+02:00", "+01:00") * 4
    lines = [f"{'AB'[n // 4]},2026-01-01T00:00:0{n}{zone}" for n, zone in enumerate(zones)]
    (folder / "log.csv").write_text("event_type,time\n" + "\n".join(lines) + "\n")
    found = json.loads(inspected(capsys, "--format", "json"))
    assert [each["name"] for each in found["values"]] == ["zone_seconds"]
    assert found["keys"] == []


def test_many_keys_with_known_times_can_teach_a_law(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    rows = [f"{step},{1000 * i + t},{1000 * i + t},t{i}" for i in range(60) for step, t in STEPS]
    (folder / "log.csv").write_text("event_type,lower,upper,task\n" + "\n".join(rows))
    told = inspected(capsys).splitlines()
    (command,) = (line for line in told if line.startswith("cepctl learn"))
    assert command == "cepctl learn log.csv --by task --jitter '50 ms' -o laws.toml"
    assert told[told.index(command) - 1] == (
        "# in which order events of one task usually happen, for logs with coarser times"
    )
    assert main([*shlex.split(command)[1:], "--max-keys", "20"]) == 0


def test_few_keys_or_coarse_times_teach_none(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert "cepctl learn" not in inspected(capsys)
    rows = [f"{step},{1000 * i + t},{1000 * i + t + 30},t{i}" for i in range(60) for step, t in STEPS]
    (folder / "log.csv").write_text("event_type,lower,upper,task\n" + "\n".join(rows))
    assert "cepctl match" in inspected(capsys)
    assert "cepctl learn" not in inspected(capsys)


def test_a_log_of_cases_is_asked_by_its_case(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        f"{step},2026-01-01T0{case}:{minute:02}:00Z,c{case},r{case}{minute},v{case}{minute}"
        for case in range(6)
        for step, minute in (("Register", 1), ("Check", 20), ("Decide", 40))
    ]
    # Values that more events share than cases do, but only two of the types.
    extra = [
        f"{step},2026-01-01T07:{at:02}:00Z,c9,x{at},x{at}" for at in range(30) for step in ("Check", "Decide")
    ]
    (folder / "log.csv").write_text("\n".join(["event_type,time,case_id,entry,other", *rows, *extra, ""]))
    asked = inspected(capsys)
    assert "of the same case_id" in asked
    assert asked.index("WHERE a.case_id = b.case_id") < asked.index("GROUP BY a.case_id")


class CountedName(str):
    """The name of a type that counts how often it is compared with another."""

    __slots__ = ()
    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        CountedName.compared += 1
        return str.__eq__(self, other)


def test_the_work_for_an_example_grows_as_the_types_do() -> None:
    """As of a log whose messages are its types: a million of them, which one attribute joins."""
    types = [CountedName(f"type {number}") for number in range(2_000)]
    events = {"event_type": types[:2], "v": [1, 1], "lower": [0, 5]}
    key = SharedKey("v", None, tuple(CountedName(each) for each in types), 1)
    inputs = SimpleNamespace(
        read=lambda *_: pa.table(events), schema=SimpleNamespace(time_unit=TimeUnit(1_000))
    )
    (first, *_) = example_queries(cast(EventInputs, inputs), types, key)
    assert "SEQ('type 0' a, 'type 1' b) WHERE a.v = b.v" in first.query
    assert CountedName.compared < 10 * len(types)

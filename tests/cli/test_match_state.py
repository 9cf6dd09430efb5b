"""`cepctl match --state` as a scheduled job calls it: files in OUTDIR, notices, exit codes."""

from __future__ import annotations

import fcntl
import json
import re
import resource
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.library.selection import Matching
from cepctl.process.memory import MemoryBudget
from cepctl.state import store
from tests.cli.growing_log import begin_log, log

QUERY = "PATTERN SEQ(A a, B b) WITHIN 4 ticks"
HEADER = "confidence,start,end,match\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a log that grows."""
    begin_log(tmp_path, monkeypatch, "event_id,event_type,lower,upper", "a1,A,1,5", "b3,B,3,5")
    return tmp_path


def run(*arguments: str, code: int = 0, query: str = QUERY) -> None:
    words = ["match", "--state", "S", "-o", "out", "--time", "ticks", query, "e.csv", *arguments]
    assert main(words) == code


def emitted() -> dict[str, str]:
    """The files of all runs without their headers."""
    return {path.name: path.read_text().removeprefix(HEADER) for path in sorted(Path("out").iterdir())}


def kept_in_state() -> dict[Path, bytes]:
    """The files of the state, but its lock, which says who holds it."""
    files = (path for path in Path("S").rglob("*") if path.is_file() and path.name != "lock")
    return {path: path.read_bytes() for path in files}


def test_each_match_is_written_once_by_the_run_that_can_be_sure_of_it() -> None:
    run()
    log("c,C,30,35", "x,A,40,45")
    run()
    log("y,B,42,45")
    run()
    run("--final")
    assert emitted() == {
        "run-000001.csv": "",
        "run-000002.csv": "0.5333333333333333,1,5,a1 b3\n",
        "run-000003.csv": "",
        "run-000004.csv": "0.4583333333333333,40,45,x y\n",
    }


def test_a_run_says_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    run("--slack", "30 ms")
    note = capsys.readouterr().err.splitlines()[-1]
    assert note == (
        "note: 1 match pending until the logs reach 1970-01-01T00:00:00.036Z (slack 30 ms, window 4 ticks); "
        "--eager says them now"
    )
    log("c,C,35,35")
    run("--slack", "30 ms")
    assert "1 match pending until the logs reach 1970-01-01T00:00:00.036Z" in capsys.readouterr().err
    log("d,C,36,36")
    run("--slack", "30 ms")
    assert "pending" not in capsys.readouterr().err
    assert list(emitted().values()) == ["", "", "0.5333333333333333,1,5,a1 b3\n"]


def test_a_run_says_the_window_in_its_largest_unit(capsys: pytest.CaptureFixture[str]) -> None:
    run(query="PATTERN SEQ(A a, B b) WITHIN 600 s")
    assert "(slack 0 s, window 10 min)" in capsys.readouterr().err


def test_what_looks_behind_its_end_waits_for_that_too(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(A a, B b, !C c) WITHIN 10 ticks"
    run("--quiet", query=query)
    assert capsys.readouterr().err == "warning: line 1, column 23: no event has the type 'C'\n"
    log("d,D,3,3")
    run(query=query)
    assert (
        "1 match pending until the logs reach 1970-01-01T00:00:00.015Z (slack 0 s" in capsys.readouterr().err
    )
    log("e,D,15,15")
    run(query=query)
    assert "pending" not in capsys.readouterr().err


def test_nothing_waits_in_eager_and_final_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run("--eager")
    run("--eager", "--final")
    assert "pending" not in capsys.readouterr().err


def test_late_events_are_counted_listed_and_taken_in_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    run("--keep", "50 ms")
    log("c,C,30,35")
    run("--keep", "50 ms")
    log("b2,B,2,4")
    run("--keep", "50 ms", "--late", "late.jsonl")
    assert "1 event came too late and was left out" in capsys.readouterr().err
    (line,) = Path("late.jsonl").read_text().splitlines()
    assert json.loads(line)["event_id"] == "b2"
    run("--keep", "50 ms", "--reopen")
    changed = f"change,{HEADER}+,0.4,1,4,a1 b2\n"
    assert emitted()["run-000004.csv"] == changed


def test_slack_waits_for_events_that_come_late() -> None:
    run("--slack", "30 ms")
    log("c,C,30,35")
    run("--slack", "30 ms")
    log("b2,B,2,4")
    run("--slack", "30 ms", "--final")
    assert [row.split(",")[-1] for row in emitted()["run-000003.csv"].splitlines()] == ["a1 b2", "a1 b3"]


def test_eager_rows_are_taken_back_when_a_rival_comes() -> None:
    query = "PATTERN SEQ(A a, !N n, B b) WITHIN 9 ticks"
    Path("e.csv").write_text("event_id,event_type,lower,upper\na,A,1,1\nb,B,5,5\n")
    run("--eager", "--slack", "9 ms", query=query)
    log("n,N,3,3")
    run("--eager", "--slack", "9 ms", query=query)
    assert [text.partition("\n")[2] for text in emitted().values()] == ["+,1.0,1,5,a b\n", "-,1.0,1,5,a b\n"]


def test_on_standard_output_the_rows_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "--state", "S", "--final", "--time", "ticks", QUERY, "e.csv"]) == 0
    assert capsys.readouterr().out == f"{HEADER}0.5333333333333333,1,5,a1 b3\n"


def test_fail_on_match_tells_a_script() -> None:
    run("--fail-on-match")
    run("--final", "--fail-on-match", code=1)


@pytest.mark.parametrize(
    ("arguments", "query", "message"),
    [
        (("--top-k", "3"), QUERY, "--top-k cannot apply with --state S: no single run knows"),
        (("--min-confidence", "0.5"), QUERY, "was made with another minimum confidence"),
        ((), "PATTERN SEQ(B a, B b) WITHIN 4 ticks", "was made with another query"),
        (("--eager",), QUERY, "was made with another mode"),
        (("--uncertainty", "model.toml"), QUERY, "was made with another uncertainty model"),
        (("--slack", "soon"), QUERY, "--slack: 'soon' is not a duration"),
        (("--approximate", "0.1"), QUERY, "--approximate cannot apply with --state S: "),
        (("--format", "trace"), QUERY, "--format cannot apply with --state S: draw"),
    ],
)
def test_what_does_not_fit_the_state_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], query: str, message: str
) -> None:
    Path("model.toml").write_text('[[rule]]\ninterval = { before = "1 s", after = "0 s" }\n')
    run()
    run(*arguments, code=2, query=query)
    assert message in capsys.readouterr().err
    assert sorted(emitted()) == ["run-000001.csv"]


def test_options_of_incremental_runs_need_a_state(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, "e.csv", "--final"]) == 2
    assert "name their state with --state" in capsys.readouterr().err


def test_a_closed_state_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run("--final")
    run(code=2)
    assert "was closed by --final; start a new one" in capsys.readouterr().err


def test_a_second_run_at_once_ends_with_5(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    with Path("S/lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(code=5)
    assert "is in use by process" in capsys.readouterr().err
    run()


def test_an_attribute_that_has_not_come_yet_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE a.x = 1"
    run(code=2, query=query)
    assert "the next run takes the same input again" in capsys.readouterr().err
    assert emitted() == {}


def test_a_choice_that_is_new_leaves_old_states_open(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run()

    def binding(matching: Matching) -> dict[str, str]:
        return {"minimum confidence": "None", "top": str(matching.max_matches < 10_000_000)}

    monkeypatch.setattr(Matching, "binding", binding)
    run("--max-matches", "7", code=2)
    assert "was made with another top:\n  False\n  not with\n  True" in capsys.readouterr().err
    run()


def test_a_file_of_another_state_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out").mkdir()
    Path("out/run-000001.csv").write_text("precious")
    run(code=2)
    assert "exists and is not of this state" in capsys.readouterr().err
    assert Path("out/run-000001.csv").read_text() == "precious"


@pytest.mark.parametrize("largest", [0, 400, 1_500, 2_500])
def test_where_files_cannot_grow_nothing_changes(largest: int, capsys: pytest.CaptureFixture[str]) -> None:
    """A limit on the size of files, at which writes fail as on a full disk: in the ingest, in the state."""
    run()
    log("c,C,30,35")
    before = sorted(path.name for path in Path("S").rglob("*"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
    try:
        run(code=4)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "the next run takes the same input again" in capsys.readouterr().err
    assert (sorted(path.name for path in Path("S").rglob("*")), sorted(emitted())) == (
        before,
        ["run-000001.csv"],
    )
    run()
    assert emitted()["run-000002.csv"] == "0.5333333333333333,1,5,a1 b3\n"


def test_on_a_full_disk_nothing_is_emitted(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    log("c,C,0,35")
    run("--late", "/dev/full", code=4)
    assert "cannot write /dev/full: No space left on device" in capsys.readouterr().err
    assert sorted(emitted()) == ["run-000001.csv"]
    run("--final")
    assert emitted()["run-000002.csv"] == "0.5333333333333333,1,5,a1 b3\n"


def test_a_run_that_dies_after_printing_prints_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["match", "--state", "S", "--final", "--time", "ticks", QUERY, "e.csv"]

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store, "deliver", die)
        assert main(words) == 130
    assert main(words) == 0
    assert capsys.readouterr().out == 2 * f"{HEADER}0.5333333333333333,1,5,a1 b3\n"


def test_state_and_matches_beside_the_logs_are_no_logs(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "--state", "S", "-o", "out", "--time", "ticks", QUERY, "."]
    assert main(words) == 0
    assert main([*words, "--final"]) == 0
    assert "left out" not in capsys.readouterr().err
    assert emitted()["run-000002.csv"] == "0.5333333333333333,1,5,a1 b3\n"


@pytest.mark.parametrize("outdir", ["S", "S/matches"])
def test_matches_in_the_state_are_refused(outdir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "--state", "S", "-o", outdir, QUERY, "e.csv"]) == 2
    assert "lies in the state" in capsys.readouterr().err


def test_figures_tell_of_late_events_and_the_watermark() -> None:
    run("--metrics", "cepctl.prom")
    log("l,A,0,1")
    run("--metrics", "cepctl.prom")
    text = Path("cepctl.prom").read_text()
    assert 'cepctl_late_events{task="cepctl"} 1\n' in text
    assert 'cepctl_watermark_timestamp_seconds{task="cepctl"} 0.003\n' in text


def test_the_state_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    run()
    capsys.readouterr()
    assert main(["state", "show", "S", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["run"], shown["events_kept"], shown["inputs"]) == (1, 2, 1)
    assert shown["watermark"] == "1970-01-01T00:00:00.003Z"
    assert main(["state", "show", "S"]) == 0
    assert "events kept" in capsys.readouterr().out
    assert main(["state", "show", "out"]) == 2


def test_more_rows_than_fit_in_memory_are_refused_with_their_number_and_the_state_stays(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run()
    before = kept_in_state()
    log(*(f"x{number},{'AB'[number % 2]},50,53" for number in range(8)), "c,C,90,95")
    with monkeypatch.context() as little:
        little.setattr(MemoryBudget, "rows", 100)
        run(code=2)
    said = capsys.readouterr().err
    assert re.search(r"17 matches take \d{3,} B of memory, where 100 B are for rows", said)
    assert "run it more often" in said and "the state is as it was" in said
    assert kept_in_state() == before
    assert list(emitted()) == ["run-000001.csv"]
    run()
    assert len(emitted()["run-000002.csv"].splitlines()) == 17


def test_more_new_events_than_fit_in_memory_are_refused_before_they_are_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as little:
        little.setattr(MemoryBudget, "own", 100)
        run(code=2)
    assert "match --state holds all 2 events at once, which takes about" in (said := capsys.readouterr().err)
    assert "run it more often, or name fewer logs" in said
    run()


def test_whole_numbers_of_a_state_that_no_float_holds_become_the_nearest_beside_floats() -> None:
    query = "PATTERN SEQ(A a, B b) WITHIN 9 ticks RETURN a.x"
    Path("e.csv").write_text("event_id,event_type,lower,upper,x\na,A,1,1,9007199254740993\nb,B,3,3,1\n")
    run("--eager", query=query)
    log("c,B,4,4,2.5")
    run("--eager", query=query)
    assert [text.splitlines()[-1] for text in emitted().values()] == [
        "+,9007199254740993,1.0,1,3,a b",
        "+,9007199254740992.0,1.0,1,4,a c",
    ]

"""`cepctl clocks`: logs of daemons become one table; whatever cannot be used is said, with its lines."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import polars as pl
import pytest

from cepctl.cli import main

ROW = "{} 192.0.2.7 2 -3.541 0.075 {} N 2 9.000e-04 {} 1.534e-02 3.472e-04 {}\n"
FIRST = ROW.format("2026-03-02 09:00:12", "1.240e-02", "-2.000e-04", "2.130e-02")
SECOND = ROW.format("2026-03-02 09:01:16", "-6.100e-04", "1.500e-04", "2.140e-02")
THIRD = ROW.format("2026-03-02 09:02:20", "1.000e-04", "0.000e+00", "2.150e-02")
LOST = THIRD.replace(" N ", " ? ").replace("09:02:20", "09:03:24")
BANNER = "=" * 40 + "\n   Date (UTC) Time     IP Address   St\n" + "=" * 40 + "\n"
COLUMNS = [
    *("host", "from", "to", "ahead", "ahead_to", "low", "high", "sd"),
    *("epoch", "segment", "jump", "source", "line", "note"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("node07").mkdir()
    Path("node07/tracking.log").write_text(BANNER + FIRST + SECOND + THIRD)


def clocks(*words: str, code: int = 0) -> pl.DataFrame:
    """CLOCKS of some logs, without what is held before and after them."""
    assert main(["clocks", *words, "-o", "clocks.parquet", "--hold", "0 s"]) == code
    return pl.read_parquet("clocks.parquet") if code == 0 else pl.DataFrame()


def test_a_piece_lies_between_two_rows_and_names_the_later_one() -> None:
    found = clocks("node07", "--host", "{host}/tracking.log*")
    assert found.columns == COLUMNS
    nine = 1_772_442_012 * 10**9
    first = (nine, nine + 64 * 10**9, 12_600_000, -760_000, -34_000_000, 22_160_000, 5_527_954)
    second = (nine + 64 * 10**9, nine + 128 * 10**9, -760_000, 100_000, -21_600_000, 22_260_000, 966_058)
    # The estimates move by 13.36 and 0.86 ms, and 15 ppm of 128 s are 1.92 ms.
    jump = 13_360_000 + 860_000 + 1_920_000
    assert found.rows() == [
        ("node07", *first, 1, 1, None, "tracking.log", 5, "row"),
        ("node07", *second, 1, 2, jump, "tracking.log", 6, "row"),
    ]


def test_a_table_is_csv_by_its_name_and_has_the_same_values() -> None:
    found = clocks("node07", "--host", "{host}/tracking.log*")
    assert (
        main(["clocks", "node07", "-o", "clocks.csv", "--host", "{host}/tracking.log", "--hold", "0 s"]) == 0
    )
    assert pl.read_csv("clocks.csv", schema=found.schema).equals(found)


def test_the_summary_leaves_nothing_unsaid(capsys: pytest.CaptureFixture[str]) -> None:
    cut = FIRST[:50] + "\n"
    Path("node07/tracking.log").write_text(
        FIRST + SECOND.replace("2.140e-02", "1.000e-04") + cut + THIRD.replace("9.000e-04", "nan") + LOST
    )
    clocks("node07", "--host", "*/{host}/tracking.log")
    said = capsys.readouterr().err
    assert (
        "node07: 4 rows of tracking, 2026-03-02 09:00:12 to 2026-03-02 09:03:24, worst bound 21.5 ms" in said
    )
    assert "0 steps, 0 gaps, 1 stretch without synchronisation; 2 pieces in 2 segments" in said
    assert " columns (line 3)" in said
    assert "1 line not understood: a standard deviation" in said
    assert "(line 4)" in said
    assert "1 estimate outside of its own bound, which is widened to it (line 2)" in said


def test_the_summary_as_json_has_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    clocks("node07", "--host", "*/{host}/tracking.log", "--log-format", "json")
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    [host] = [each for each in told if each.get("host")]
    assert {
        "rows": 3,
        "steps": 0,
        "gaps": 0,
        "worst_bound": 21_500_000,
        "rows_of": "tracking",
    }.items() <= host.items()


def test_rotated_compressed_and_copied_files_are_one_log(capsys: pytest.CaptureFixture[str]) -> None:
    whole = clocks("node07", "--host", "*/{host}/tracking.log")
    Path("node07/tracking.log").write_text(SECOND + THIRD)
    members = [gzip.compress(FIRST.encode()), gzip.compress(SECOND.encode())]
    Path("node07/tracking.log.1.gz").write_bytes(b"".join(members))
    found = clocks("node07", "--host", "*/{host}/tracking.log*")
    values = ["from", "to", "ahead", "ahead_to", "low", "high"]
    assert found.select(values).equals(whole.select(values))
    assert "1 row equal to others and counted once" in capsys.readouterr().err


def test_a_truncated_archive_gives_what_came_before(capsys: pytest.CaptureFixture[str]) -> None:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=0) as file:
        file.write((FIRST + SECOND + THIRD).encode())
    Path("node07/tracking.log").write_bytes(packed.getvalue()[: -len(THIRD) // 2])
    assert len(clocks("node07", "--host", "*/{host}/tracking.log")) == 1
    assert "damaged" in capsys.readouterr().err


def test_readings_that_go_back_are_a_step(capsys: pytest.CaptureFixture[str]) -> None:
    Path("node07/tracking.log").write_text(SECOND + THIRD + FIRST)
    found = clocks("node07", "--host", "*/{host}/tracking.log")
    assert found["note"].to_list().count("row") == 1
    assert "1 step," in capsys.readouterr().err


def test_a_row_without_a_bound_borrows_the_newest_earlier_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("node07/loopstats").write_text(
        "61101 32412.0 -0.001 -3.5 0.0007 0.01 6\n61101 32476.0 -0.001 -3.5 0.0007 0.01 6\n"
    )
    Path("node07/peerstats").write_text(
        "61101 32400.0 192.0.2.7 961a -0.001 0.004 0.001 0.0007\n"
        "61101 32470.0 192.0.2.7 961a -0.001 0.002 0.001 0.0007\n"
    )
    Path("node07/tracking.log").unlink()
    found = clocks("node07", "--host", "*/{host}/*stats", "--drift", "0 ppm")
    assert found.select("ahead", "high").rows() == [(1_000_000, 3_000_000)]
    assert (
        "2 rows with a bound of other logs of this host; peerstats only lend bounds"
        in capsys.readouterr().err
    )


def test_bounds_of_the_user_come_last(capsys: pytest.CaptureFixture[str]) -> None:
    Path("node07/tracking.log").write_text(
        "".join(" ".join(row.split()[:10]) + "\n" for row in (FIRST, SECOND))
    )
    clocks("node07", "--host", "*/{host}/tracking.log", code=3)
    assert (
        "line 1; say how far such an estimate can be off, such as --bound '10 ms'" in capsys.readouterr().err
    )
    assert not Path("clocks.parquet").exists()
    found = clocks("node07", "--host", "*/{host}/tracking.log", "--bound", "10 ms", "--drift", "100 ppm")
    assert found.select("low", "high").rows() == [(-13_200_000, 13_200_000)]


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (["node07"], 2, "nothing tells whose clock it is; say where its path has the host, such as --host"),
        (["node07", "--host", "*/tracking.log"], 2, "name the host once"),
        (["node07", "--host", "*/{host}/other.log"], 2, "nothing tells whose clock"),
        (["node07", "--map", "x.log=n", "--host", "*/{host}/*"], 2, "--map x.log=... cannot apply"),
        (["node07", "--map", "tracking.log"], 2, "is not FILE=HOST"),
        (["node07", "--map", "tracking.log=n", "--bound", "10"], 2, "--bound: '10' is not a duration"),
        (["node07", "--map", "tracking.log=n", "--bound", "0 s"], 2, "--bound 0 s: from more than 0"),
        (
            ["node07", "--map", "tracking.log=n", "--drift", "15"],
            2,
            "write parts per million, such as '15 ppm'",
        ),
        (["node07", "--map", "tracking.log=n", "--tz", "Nowhere"], 2, "unknown time zone"),
        (["missing"], 3, "no input at missing"),
        (["notes.txt"], 3, "notes.txt: not a log of a clock that is known"),
        (["other"], 3, "no log of a clock in other"),
    ],
)
def test_what_is_wrong_is_one_line(
    words: list[str], code: int, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("notes.txt").write_text("nothing\n")
    Path("other").mkdir()
    Path("other/notes.txt").write_text("nothing\n")
    clocks(*words, code=code)
    said = capsys.readouterr().err
    assert complaint in said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", ["clocks.json", "clocks", "clocks.txt"])
def test_another_form_is_refused_before_anything_is_read(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["clocks", "missing", "-o", name]) == 2
    assert "clocks" in capsys.readouterr().err


def test_a_log_is_not_overwritten() -> None:
    assert main(["clocks", "node07/tracking.log", "-o", "node07/tracking.log"]) == 2


def test_other_files_in_a_folder_are_left_out_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    Path("node07/rtc.log").write_text("nothing\n")
    assert len(clocks("node07", "--host", "*/{host}/tracking.log")) == 2
    assert "left out rtc.log: not a log of a clock that is known" in capsys.readouterr().err


def test_a_clock_that_was_never_synchronised_has_no_piece() -> None:
    Path("node07/tracking.log").write_text(LOST)
    found = clocks("node07", "--host", "*/{host}/tracking.log")
    assert (len(found), found.columns) == (0, COLUMNS)
    words = ["clocks", "node07", "-o", "clocks.csv", "--host", "*/{host}/tracking.log", "--quiet"]
    assert main(words) == 0
    assert Path("clocks.csv").read_text() == ",".join(COLUMNS) + "\n"


def test_logs_without_a_row_say_what_they_have(capsys: pytest.CaptureFixture[str]) -> None:
    Path("syslog").write_text("2026-03-02T09:00:12Z n1 chronyd[9]: Selected source 192.0.2.7\n")
    clocks("syslog", code=3)
    assert (
        "no row of a clock in syslog: lines of other programs or about something else: 1"
        in capsys.readouterr().err
    )


def test_a_log_of_days_that_are_yet_to_come_says_so_whatever_names_its_host(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("loopstats").write_text("99999 32412.031 -0.012400000 -3.541 0.000743100 0.013380 6\n")
    clocks("loopstats", "--map", "loopstats=node07", "--bound", "1 s", code=3)
    assert "no row of a clock in loopstats: a day in the future; mend the number" in capsys.readouterr().err


def test_hosts_come_from_syslog_and_its_zone_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    line = "Mar  2 09:00:{:02} node07 ptp4l[711]: [1306.933] master offset {} s2 freq -6060 path delay 233\n"
    Path("syslog").write_text("".join(line.format(second, 5) for second in range(3)))
    found = clocks("syslog", "--bound", "1 us", "--tz", "Europe/Berlin")
    assert found["host"].unique().to_list() == ["node07"]
    assert found["from"][0] % (86_400 * 10**9) == 8 * 3_600 * 10**9
    clocks("syslog", "--bound", "1 us")
    assert "times without a zone, read as UTC: 3" in capsys.readouterr().err


def test_the_same_rows_give_the_same_bytes_in_any_order_of_files() -> None:
    Path("a.csv").write_text("host,time,ahead,bound\nn2,1,0,1\nn1,5,0,1\n")
    Path("b.csv").write_text("host,time,ahead,bound\nn1,9,0,1\nn2,70,0,1\n")
    clocks("a.csv", "b.csv")
    one = Path("clocks.parquet").read_bytes()
    clocks("b.csv", "a.csv")
    assert Path("clocks.parquet").read_bytes() == one

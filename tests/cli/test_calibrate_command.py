"""`cepctl calibrate` on the command line: its forms, its page, its exit codes, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import cepctl
from cepctl.cli import main

QUERY = "PATTERN SEQ(Open a, Shut b) WHERE [case_id]"
HEADER = "event_id,event_type,lower,upper,case_id,room\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a unit of 10 ticks o1 comes before s1 and after l1, o2 before s2 and s3 at its tick."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(
        HEADER + "o1,Open,1,1,c1,hall\ns1,Shut,3,3,c1,hall\nl1,Lock,0,0,c1,\no2,Open,5,5,c2,attic\n"
        "s2,Shut,9,9,c2,attic\ns3,Shut,5,5,c2,attic\no3,Open,12,12,c3,\ns4,Shut,29,29,c3,\n"
    )


def shown(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["calibrate", *words]) == code
    return capsys.readouterr().out


def test_pairs_are_told_by_deciles(capsys: pytest.CaptureFixture[str]) -> None:
    """Lock < Open, Lock < Shut, Open < Shut twice: each is stated at 45/100, and happened."""
    told = shown(capsys, "--pairs", "log.csv", "--coarsen", "10 ms").splitlines()
    assert told[0] == "Brier score 0.303, log score 0.799, calibration error 0.550, worst gap -"
    assert " ".join(told[2].split()) == "stated between rows stated happened gap 95 % of happened"
    assert " ".join(told[7].split()) == "0.4 and 0.5 4 0.450 1.000 +0.550 0.510 to 1.000"
    assert " ".join(told[8].split()) == "0.5 and 0.6 0"


def test_the_summary_says_what_was_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--pairs", "log.csv", "--coarsen", "10 ms"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "6 rows under coarsen 10 ms: 4 open, 1 certain, 1 tied in truth and left out"
    ]
    assert main(["calibrate", QUERY, "log.csv", "--coarsen", "10 ms", "--repeat", "2", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_types_are_told_the_worst_first(capsys: pytest.CaptureFixture[str]) -> None:
    told = shown(capsys, "--pairs", "log.csv", "--coarsen", "10 ms", "--types").splitlines()[14:]
    assert [" ".join(line.split()) for line in told] == [
        "first second rows stated happened gap",
        "Open Shut 2 0.450 1.000 +0.550",
        "Lock Open 1 0.450 1.000 +0.550",
        "Lock Shut 1 0.450 1.000 +0.550",
    ]


def test_steps_may_be_of_several_attributes(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--pairs", "log.csv", "--coarsen", "10 ms", "--step", "event_type, room", "--format", "json"
    types = json.loads(shown(capsys, *words))["types"]
    assert [each["steps"] for each in types] == [
        ["Lock+", "Open+hall"], ["Lock+", "Shut+hall"], ["Open+attic", "Shut+attic"],
        ["Open+hall", "Shut+hall"],
    ]  # fmt: skip


def test_json_has_all_figures(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(shown(capsys, QUERY, "log.csv", "--coarsen", "10 ms", "--format", "json"))
    assert list(found) == [
        *("blur", "seed", "repeat", "rows", "open", "tied", "certain", "happened", "brier", "log_score"),
        *("calibration_error", "worst", "impossible_happened", "deciles", "types"),
    ]
    assert (found["rows"], found["open"], found["tied"], found["certain"]) == (4, 2, 1, 1)
    assert (found["brier"], found["happened"], found["worst"]) == (pytest.approx(0.3025), 1.0, None)
    assert found["deciles"][4]["from"] == 0.4
    assert found["types"] == [{"steps": ["Open", "Shut"], "rows": 2, "stated": 0.45, "happened": 1.0}]


def document(page: str) -> dict[str, Any]:
    held = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert held is not None
    found: dict[str, Any] = json.loads(held[1])
    return found


def test_a_page_holds_the_deciles_and_the_worst_rows(tmp_path: Path) -> None:
    asked = ["calibrate", f"-- Was it open?\n{QUERY}", "log.csv", "--coarsen", "10 ms", "-o", "page.html"]
    assert main(asked) == 0
    page = (tmp_path / "page.html").read_text()
    found = document(page)
    assert (found["title"], found["blur"], found["open"]) == ("Was it open?", "coarsen 10 ms", 2)
    assert found["deciles"][4][:3] == [0.4, 0.5, 2]
    (kind,) = found["types"]
    assert kind["steps"] == ["Open", "Shut"]
    assert kind["shown"][0] == [
        *(1, 0.45, True),
        [
            ["o1", "Open", *(f"1970-01-01T00:00:00.{at}Z" for at in ("001", "000", "009"))],
            ["s1", "Shut", *(f"1970-01-01T00:00:00.{at}Z" for at in ("003", "000", "009"))],
        ],
    ]
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


def test_nothing_of_the_events_is_markup_in_a_page(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(HEADER + '"<script>x</script>",Open,1,1,c,\n"<b>",Shut,2,2,c,\n')
    assert main(["calibrate", "--pairs", "log.csv", "--coarsen", "10 ms", "-o", "page.html"]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "<b>" not in page
    assert page.count("<script") == 2
    assert document(page)["types"][0]["shown"][0][3][0][0] == "<script>x</script>"


def test_keys_of_group_by_are_one_list_in_a_page(tmp_path: Path) -> None:
    asked = ["calibrate", f"{QUERY} GROUP BY a.case_id", "log.csv", "--coarsen", "10 ms", "-o", "page.html"]
    assert main(asked) == 0
    (kind,) = document((tmp_path / "page.html").read_text())["types"]
    assert (kind["steps"], kind["stated"], len(kind["shown"])) == ([], None, 2)


def test_rows_of_group_by_have_no_types(capsys: pytest.CaptureFixture[str]) -> None:
    asked = f"{QUERY} GROUP BY a.case_id", "log.csv", "--coarsen", "10 ms", "--types"
    assert shown(capsys, *asked).splitlines()[-1] == "rows of GROUP BY have no types"


def test_other_files_are_tables_or_json(tmp_path: Path) -> None:
    asked = ["calibrate", "--pairs", "log.csv", "--coarsen", "10 ms"]
    assert main([*asked, "-o", "table.txt"]) == 0
    assert (tmp_path / "table.txt").read_text().startswith("Brier score 0.303")
    assert main([*asked, "-o", "found", "--format", "json"]) == 0
    assert json.loads((tmp_path / "found").read_text())["open"] == 4


def test_blurred_events_are_written_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["calibrate", "--pairs", "log.csv", "--jitter", "3 ms", "--blurred", "kept"]
    assert main(asked) == 0
    kept = pl.read_parquet(tmp_path / "kept" / "*.parquet")
    assert set((kept.get_column("upper") - kept.get_column("lower")).to_list()) == {6}
    assert sorted(kept.get_column("truth").to_list()) == [0, 1, 3, 5, 5, 9, 12, 29]
    capsys.readouterr()
    assert main(asked) == 2
    assert "kept exists; choose another output" in capsys.readouterr().err


def test_the_same_call_prints_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    asked = QUERY, "log.csv", "--jitter", "5 ms", "--repeat", "3", "--format", "json"
    assert shown(capsys, *asked) == shown(capsys, *asked) != shown(capsys, *asked, "--seed", "9")


def test_a_row_that_cannot_come_out_so_ends_with_4(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(Open a, Shut b) WHERE a.upper = 1"
    assert main(["calibrate", query, "log.csv", "--coarsen", "10 ms"]) == 4
    told = capsys.readouterr()
    assert told.out.startswith("Brier score")
    assert "error: 4 rows came out that cannot" in told.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([QUERY, "log.csv"], "name one blur, the way in which true times are hidden: --coarsen"),
        ([QUERY, "log.csv", "--coarsen", "1 s", "--jitter", "1 s"], "name one blur"),
        ([QUERY, "log.csv", "--coarsen", "1 ms"], "coarsen 1 ms hides nothing"),
        ([QUERY, "log.csv", "--jitter", "1 parsec"], "'1 parsec' is not a duration"),
        ([QUERY, "log.csv", "--clock", "room 1 s"], "write --clock 'by=node 500 ms'"),
        ([QUERY, "log.csv", "--clock", "by=rom 1 s"], "the attribute 'rom' (did you mean 'room'?)"),
        ([QUERY, "log.csv", "--model", "none.toml"], "cannot read the uncertainty model none.toml"),
        ([QUERY, "log.csv", "--coarsen", "1 s", "--part", "2/2"], "--part 2/2 is not a part; write I/K"),
        ([QUERY, "log.csv", "--coarsen", "1 s", "--part", "0/2"], "name their attribute with --by"),
        ([QUERY, "log.csv", "--coarsen", "1 s", "--by", "case"], "--by: no event has the attribute 'case'"),
        ([QUERY, "log.csv", "--coarsen", "1 s", "--by", "room", "--part", "7/8"], "no event is left"),
        (["--pairs", QUERY, "log.csv", "--coarsen", "1 s"], "--pairs asks without a query"),
        (["--pairs", "-f", "q.cep", "log.csv", "--coarsen", "1 s"], "--pairs asks without a query"),
        (["--pairs", "--coarsen", "1 s"], "name a dataset, an event file or a log after --pairs"),
        ([QUERY, "--coarsen", "1 s"], "EVENTS is missing"),
        ([QUERY, "log.csv", "--coarsen", "1 s", "-o", "p.html", "--format", "json"], "p.html is a page"),
        ([QUERY, "log.csv", "--coarsen", "1 s", "-o", "log.csv"], "-o would overwrite the input log.csv"),
        ([QUERY, "log.csv", "--coarsen", "1 s", "--repeat", "2", "--blurred", "kept"], "leave out --repeat"),
        (["PATTERN SEQ(Open a", "log.csv", "--coarsen", "1 s"], "expected"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["calibrate", *words]) in (2, 3)
    error = next(line for line in capsys.readouterr().err.splitlines() if line.startswith("error: "))
    assert told in error
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log.csv"]


def test_events_that_have_the_attribute_truth_are_not_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log.csv").write_text("event_type,lower,upper,case_id,truth\nA,1,1,c,1\nB,2,2,c,2\n")
    assert main(["calibrate", "--pairs", "log.csv", "--coarsen", "1 s", "--blurred", "kept"]) == 2
    assert "the attribute 'truth', which the events have already" in capsys.readouterr().err


def test_true_times_that_are_not_known_end_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.csv").write_text("event_type,lower,upper,case_id\nA,1,4,c\nB,2,2,c\n")
    assert main(["calibrate", "--pairs", "log.csv", "--coarsen", "1 s"]) == 2
    assert "error: 1 of 2 events have no true time" in capsys.readouterr().err


def test_pairs_that_do_not_fit_in_memory_are_refused_with_their_number() -> None:
    count = 2_000
    events = pl.DataFrame(
        {
            "event_type": ["A", "B"] * (count // 2), "case_id": ["c"] * count,
            "lower": list(range(count)), "upper": list(range(count)),
        }
    )  # fmt: skip
    assert cepctl.calibrate(None, events, coarsen="1 s").rows == (count // 2) ** 2
    with pytest.raises(cepctl.CepctlError, match=r"the intervals of 12,497,500 pairs overlap"):
        cepctl.calibrate(
            None, pl.concat([events] * 2 + [events.head(1_000)]), coarsen="1 h", max_memory="1100MB"
        )


def test_what_can_hardly_be_meant_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    query = "PATTERN SEQ(Opne a, Shut b)"
    assert main(["calibrate", query, "log.csv", "--coarsen", "10 ms", "--repeat", "3"]) == 0
    told = capsys.readouterr()
    assert told.err.count("the nearest type is Open") == 1
    assert told.out.startswith("Brier score -, log score -, calibration error -, worst gap -")


def test_events_that_no_clock_stamped_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", QUERY, "log.csv", "--clock", "by=room 3 ms", "--repeat", "2"]) == 0
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note")]
    assert notes == [
        "note: events that rule 1 passes over, since they have no 'room' to tell their clock by: 3"
    ]

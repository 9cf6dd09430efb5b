"""Audits of small logs: each verdict, each kind of finding with its worst case and remedy, none too many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cepctl
from cepctl.errors import UsageError
from cepctl.inspection.auditing.findings import KINDS, SourceAudit
from cepctl.library.audit import require_kinds
from cepctl.uncertainty.model import parse_model


def audited(folder: Path, text: str, name: str = "x.csv", **reading: Any) -> SourceAudit:
    (folder / name).write_text(text)
    (source,) = cepctl.audit(folder / name, **reading).sources
    return source


def said(source: SourceAudit) -> dict[str, str]:
    return {each.kind: each.said for each in source.findings}


def rows(*lines: str) -> str:
    return "event_type,time,node\n" + "".join(f"{line}\n" for line in lines)


def test_distinct_times_have_a_certain_order_and_nothing_to_settle(tmp_path: Path) -> None:
    source = audited(tmp_path, rows("A,2026-06-14T08:15:04.1Z,", "B,2026-06-14T08:15:04.2Z,"))
    assert (source.verdict, source.findings) == ("certain order", ())
    assert (source.events, source.types, source.first) == (2, 2, "2026-06-14T08:15:04.100Z")


def test_lines_of_one_second_are_ordered_by_their_file(tmp_path: Path) -> None:
    source = audited(
        tmp_path, rows(*(f"{kind},2026-06-14T08:15:0{at}Z," for kind, at in ("A1", "B1", "A2", "C9")))
    )
    assert source.verdict == "order by file"
    (finding,) = (each for each in source.findings if each.kind == "open-order")
    assert (finding.count, finding.of, finding.settles) == (1, 3, "--writer source")
    assert finding.said == ("1 of 3 neighbours may have happened in the other order, most often A and B (1)")
    assert (finding.worst, said(source)["ties"]) == ("x.csv#1", "2 of 4 events share their time with others")
    assert said(source)["unit"] == "4 times are written to the second, and stand for all of it"


def test_the_order_of_one_writer_is_certain_where_it_is_taken(tmp_path: Path) -> None:
    text = rows(*(f"{kind},2026-06-14T08:15:0{at}Z," for kind, at in ("A1", "B1", "A2", "C9")))
    assert audited(tmp_path, text, writer="source").verdict == "certain order"


def test_records_that_step_back_leave_the_order_weighted(tmp_path: Path) -> None:
    source = audited(
        tmp_path, rows("A,2026-06-14T08:15:09Z,", "B,2026-06-14T08:15:04Z,", "C,2026-06-14T08:15:04Z,")
    )
    assert source.verdict == "weighted"
    (finding,) = (each for each in source.findings if each.kind == "steps")
    assert finding.said == "2 of 3 records step back in time, by up to 5 s"
    assert (finding.worst, finding.settles) == ("x.csv#2", "--writer source,ATTRIBUTE of what wrote them")


def test_times_without_a_zone_may_be_wrong_until_it_is_said(tmp_path: Path) -> None:
    text = rows("A,2026-06-14T08:15:04.5,")
    source = audited(tmp_path, text)
    assert [(each.kind, each.severity, each.settles) for each in source.findings] == [
        ("zone", 3, "--tz ZONE")
    ]
    assert audited(tmp_path, text, tz="Europe/Berlin").findings == ()


def test_times_in_several_zones_are_told(tmp_path: Path) -> None:
    source = audited(tmp_path, rows("A,2026-06-14T08:15:04.5+02:00,", "B,2026-06-14T08:15:04.5-05:00,"))
    assert said(source) == {"zone": "written in several zones: UTC-05:00, UTC+02:00"}


def test_an_hour_that_happened_twice(tmp_path: Path) -> None:
    source = audited(tmp_path, rows("A,2026-10-25T02:30:00.5,"), tz="Europe/Berlin")
    assert said(source)["folds"].startswith("1 times in an hour that happened twice")


def test_fractions_that_some_times_lack(tmp_path: Path) -> None:
    source = audited(tmp_path, rows("A,2026-06-14T08:15:04.918Z,", "B,2026-06-14T08:15:05Z,"))
    assert said(source)["fractions"].startswith("1 times have no fraction, among others that have one")


def test_second_times_and_arrivals(tmp_path: Path) -> None:
    text = (
        '{"event_type":"A","time":"2026-06-14T08:15:04.5Z","arrival":"2026-06-14T08:15:03.5Z","due":1}\n'
        '{"event_type":"B","time":"2026-06-14T08:15:05.5Z","arrival":"2026-06-14T08:15:09.5Z","due":2}\n'
    )
    source = audited(tmp_path, text, "x.jsonl")
    assert said(source) == {
        "arrival": "1 of 2 records arrive before they can have happened",
        "second-time": "records arrive up to 1 s earlier and up to 4 s later than they happened",
    }
    assert [each.worst for each in source.findings] == ["x.jsonl#2", "x.jsonl#2"]


def test_numbers_that_do_not_hold_their_digits(tmp_path: Path) -> None:
    text = '{"event_type":"A","time":1.7e18}\n{"event_type":"B","time":1.700000000000000035e18}\n'
    source = audited(tmp_path, text, "x.jsonl")
    assert (source.verdict, "digits" in said(source)) == ("order by file", True)


def test_records_without_a_time_are_told(tmp_path: Path) -> None:
    good = [f"A,2026-06-14T08:15:{second:02}.5Z," for second in range(20)]
    source = audited(tmp_path, rows(*good, "A,?,"))
    assert said(source) == {"no-time": "1 records without a usable time became no events"}


def test_a_gap_that_is_far_longer_than_usual(tmp_path: Path) -> None:
    times = [f"A,2026-06-14T08:15:{second:02}.5Z," for second in range(30)]
    source = audited(tmp_path, rows(*times, "A,2026-06-14T09:15:29.5Z,"))
    (finding,) = source.findings
    assert (finding.kind, finding.worst) == ("gaps", "x.csv#30")
    assert finding.said == "no record for 1 h, far longer than usual"


def test_hosts_of_whose_clocks_nothing_is_known(tmp_path: Path) -> None:
    source = audited(tmp_path, rows("A,2026-06-14T08:15:04.1Z,n1", "B,2026-06-14T08:15:04.2Z,n2"))
    assert said(source) == {"clocks": "2 hosts, and nothing says how far their clocks are apart"}


def test_clocks_that_are_provably_wrong_leave_no_order_across_hosts(tmp_path: Path) -> None:
    """An attempt that starts before its task says so."""
    text = (
        "event_type,time,node,task_id,attempt_id,status\n"
        "TaskStart,2026-06-14T08:15:04.5Z,,t1,,\nMapAttemptStart,2026-06-14T08:15:01.5Z,n1,t1,a1,\n"
        "MapAttemptFinish,2026-06-14T08:15:05.5Z,n1,t1,a1,SUCCEEDED\nTaskFinish,2026-06-14T08:15:09.5Z,,t1,,\n"
        "MapAttemptStart,2026-06-14T08:15:06.5Z,n2,t1,a2,\n"
    )
    source = audited(tmp_path, text)
    assert source.verdict == "cannot be ordered across hosts"
    assert said(source)["clocks"].startswith(
        "clocks of 1 of 2 hosts are provably wrong, as that of n1, behind by"
    )


def test_the_worst_source_comes_first(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(rows("A,2026-06-14T08:15:04.1Z,"))
    (tmp_path / "b.csv").write_text(rows("A,2026-06-14T08:15:04.1,"))
    found = cepctl.audit([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert list(found.verdicts) == ["b.csv", "a.csv"]
    assert str(found).splitlines()[0] == "b.csv: certain order (1 event of 1 type)"
    assert str(found).splitlines()[-1] == "a.csv: certain order, nothing to settle"


def test_a_dataset_is_audited_by_what_it_has_not_forgotten(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(rows("A,2026-06-14T08:15:04,", "B,2026-06-14T08:15:04,"))
    dataset = cepctl.ingest(tmp_path / "x.csv", tmp_path / "events")
    (source,) = cepctl.audit(dataset).sources
    assert (source.verdict, set(said(source))) == ("order by file", {"open-order", "ties"})


def test_what_settles_findings_is_a_model_with_options_in_comments(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(rows("A,2026-06-14T08:15:04.5,"))
    model = cepctl.audit(tmp_path / "x.csv").model
    assert "#   --tz ZONE: x.csv\n" in model
    assert parse_model(model).rules == ()


def test_kinds_are_checked_and_all_of_them_are_described() -> None:
    assert require_kinds(["zone", "steps"]) == ("zone", "steps")
    with pytest.raises(UsageError, match="did you mean 'zone'"):
        require_kinds(["zones"])
    page = (Path(__file__).parents[3] / "docs" / "what-are-times-worth.md").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"| `{kind}` |" not in page] == []


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("x.log", "2026-06-14 08:15:05.1 INFO a: x\n  more\n\n2026-06-14 08:15:04.2 INFO a: y\n", 4),
        ("x.csv", 'event_type,time,m\nA,2026-06-14T08:15:05.1Z,"x\ny"\nB,2026-06-14T08:15:04.2Z,z\n', 4),
        ("x.syslog", "2026-06-14T08:15:05.1Z h a: x\n\n2026-06-14T08:15:04.2Z h a: y\n", 3),
    ],
)
def test_the_worst_case_is_named_by_its_line_too(tmp_path: Path, name: str, text: str, line: int) -> None:
    (finding,) = (each for each in audited(tmp_path, text, name, tz="UTC").findings if each.kind == "steps")
    assert finding.line == line
    (tmp_path / name).unlink()


def test_a_dataset_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(rows("A,2026-06-14T08:15:05.1Z,", "B,2026-06-14T08:15:04.2Z,"))
    cepctl.ingest(tmp_path / "x.csv", tmp_path / "events")
    (source,) = cepctl.audit(tmp_path / "events").sources
    assert [each.line for each in source.findings] == [None]

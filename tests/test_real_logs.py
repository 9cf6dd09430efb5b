"""Queries on real logs, held to the same question asked of another tool, or to what was put there."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from cepctl.cli import main
from tests.real_cases import first_cases

pytestmark = pytest.mark.realdata

LOAN_QUERY = """
    PATTERN SEQ(A_SUBMITTED a, A_ACCEPTED b, O_SENT c)
    WHERE [case_id]
    WITHIN 30 days
"""
LOAN_JOIN = """
    SELECT a.event_id AS a, b.event_id AS b, c.event_id AS c
    FROM events AS a
    JOIN events AS b ON a.case_id = b.case_id
    JOIN events AS c ON a.case_id = c.case_id
    WHERE a.event_type = 'A_SUBMITTED' AND b.event_type = 'A_ACCEPTED' AND c.event_type = 'O_SENT'
      AND a.lower < b.lower AND b.lower < c.lower AND c.lower - a.lower < 2592000000
"""
README_QUERY = """
    PATTERN SEQ(TaskStart a, CPU b, TaskFinish c, CPU d)
    WHERE   a.task_id = c.task_id AND [node] AND b.value > 95 AND d.value <= 70
    WITHIN  50 seconds
    RETURN  a.task_id, b.value AS peak, d.value AS calm
"""


def rows(query: str, *arguments: str) -> pl.DataFrame:
    """The rows of a match in this process."""
    output = Path("rows.parquet")
    assert main(["match", query, *arguments, "--runner", "local", "--quiet", "-o", str(output)]) == 0
    return pl.read_parquet(output)


# --- a workflow system: BPI Challenge 2012 ------------------------------------------------


@dataclass(frozen=True)
class Loans:
    """Loan applications of BPI Challenge 2012 as a dataset, and how many rows each question has."""

    dataset: Path
    in_doubt: int
    """Selected before created within three seconds, where each record has an error of its own."""
    in_order: int
    """The same on one clock."""
    sent: int
    sent_in_doubt: int
    """An offer was sent, and what a minute of doubt leaves uncertain of it."""


@pytest.fixture(
    scope="module",
    params=[
        (1_500, 746, 734, 819, 43),
        pytest.param((None, 6_566, 6_442, 6_938, 429), marks=pytest.mark.slow),
    ],
    ids=["some", "all"],
)
def loans(request: pytest.FixtureRequest, real_logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Loans:
    """Times are certain to the millisecond."""
    cases, *rows = request.param
    folder = tmp_path_factory.mktemp("loans")
    log = first_cases(real_logs / "xes" / "bpic2012.xes.gz", cases, folder)
    output = folder / "events"
    assert main(["ingest", str(log), "-o", str(output), "--runner", "local", "--quiet"]) == 0
    return Loans(output, *rows)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_one_clock_of_the_system_tells_in_which_order_a_clerk_worked(loans: Loans) -> None:
    """With an error of its own every record is in doubt; what one clock stamped is in order for certain."""
    query = "PATTERN SEQ(O_SELECTED a, O_CREATED b) WHERE [`org:resource`] WITHIN 3 s"
    rules = {
        "each": 'interval = { before = "1 s", after = "1 s" }',
        "shared": 'clock = { name = "system", offset = "1 s" }',
    }
    found = {}
    for name, rule in rules.items():
        Path(f"{name}.toml").write_text(f"[[rule]]\n{rule}\n")
        assert (
            main(["assign", str(loans.dataset), "-o", name, "--uncertainty", f"{name}.toml", "--quiet"]) == 0
        )
        found[name] = rows(query, name)
    assert (found["each"].height, found["each"].filter(pl.col("confidence") == 1).height) == (
        loans.in_doubt,
        0,
    )
    certain = found["shared"].filter(pl.col("confidence") == 1).height
    assert found["shared"].height == certain == loans.in_order


def test_certain_times_give_what_a_join_in_sql_gives(loans: Loans) -> None:
    tables = pl.SQLContext(events=pl.scan_parquet(loans.dataset / "*.parquet"))
    joined = tables.execute(LOAN_JOIN, eager=True)
    matches = rows(LOAN_QUERY, str(loans.dataset))
    found = [tuple(ids for (ids,) in signature) for signature in matches["signature"].to_list()]
    assert sorted(found) == sorted(joined.rows())
    assert len(found) == loans.sent
    assert matches["confidence"].unique().to_list() == [1.0]


def test_a_minute_of_doubt_makes_some_of_them_probable_only(loans: Loans) -> None:
    Path("minute.toml").write_text('[[rule]]\ninterval = { before = "30 s", after = "30 s" }\n')
    options = ["--uncertainty", "minute.toml", "--runner", "local", "--quiet"]
    assert main(["assign", str(loans.dataset), "-o", "minute", *options]) == 0
    certain, probable = rows(LOAN_QUERY, str(loans.dataset)), rows(LOAN_QUERY, "minute")
    assert set(certain["match"]) <= set(probable["match"])
    doubtful = probable.filter(pl.col("confidence") < 1 - 1e-9)
    assert (certain.height, probable.height, doubtful.height) == (
        loans.sent,
        loans.sent,
        loans.sent_in_doubt,
    )
    assert doubtful["confidence"].min() > 0  # type: ignore[operator]
    assert (probable["confidence"] <= 1).all()


# --- Hadoop and Ganglia -------------------------------------------------------------------


def gmond(at: dt.datetime, loads: dict[str, float]) -> str:
    """What gmond answers when it is asked at `at`: user time in percent per host, sent just now."""
    seconds = int(at.timestamp())
    hosts = "".join(
        f'<HOST NAME="{host}" IP="10.0.0.{number}" REPORTED="{seconds - 4}" TN="4" TMAX="20" DMAX="0">\n'
        f'<METRIC NAME="cpu_user" VAL="{load}" TYPE="float" UNITS="%" TN="0" TMAX="90" DMAX="0" '
        'SLOPE="both"/>\n'
        "</HOST>\n"
        for number, (host, load) in enumerate(loads.items(), start=1)
    )
    return (
        '<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>\n'
        f'<GANGLIA_XML VERSION="3.7.2" SOURCE="gmond">\n<CLUSTER NAME="c" LOCALTIME="{seconds}" OWNER="o" '
        f'LATLONG="" URL="">\n{hosts}</CLUSTER>\n</GANGLIA_XML>\n'
    )


@pytest.fixture
def cluster(real_logs: Path) -> list[str]:
    """A job of twelve overlapping tasks on one node, which is busy just before the last three finish.

    They finish at 23:27:47.421 and :48.600, between the samples of 100 % at :47 and of 20 % at :50; the
    other nine before.  Another host, that runs none of the tasks, is busy and calm all the time.
    """
    logs = sorted((real_logs / "hadoop" / "jhist").glob("job_1329348432655_0001-1329348443227-*.jhist"))
    if not logs:
        pytest.skip("CEPCTL_REALDATA has no job history of job_1329348432655_0001")
    Path("polls").mkdir()
    for second, load in {20: 80.0, 30: 80.0, 40: 80.0, 47: 100.0, 50: 20.0, 58: 80.0}.items():
        at = dt.datetime(2012, 2, 15, 23, 27, second, tzinfo=dt.UTC)
        loads = {"localhost": load, "other": 99.0 if second < 45 else 1.0}
        Path(f"polls/poll-{second}.xml").write_text(gmond(at, loads))
    return [str(logs[0]), "polls", "--name", "cpu_user=CPU"]


def model(name: str, ganglia: tuple[str, str], hadoop: str) -> list[str]:
    Path(name).write_text(
        f'[[rule]]\nsource = "*.xml"\ninterval = {{ before = "{ganglia[0]}", after = "{ganglia[1]}" }}\n'
        f'[[rule]]\nsource = "*.jhist"\ninterval = {{ before = "{hadoop}", after = "{hadoop}" }}\n'
    )
    return ["--uncertainty", name]


def test_the_tasks_that_kept_their_node_busy_are_found(cluster: list[str]) -> None:
    matches = rows(README_QUERY, *cluster, *model("good.toml", ("0.2 s", "0.2 s"), "0.2 s"))
    assert sorted(matches.select("a.task_id", "peak", "calm", "confidence").rows()) == [
        (f"task_1329348432655_0001_{task}", 100.0, 20.0, 1.0) for task in ("m_000008", "r_000000", "r_000001")
    ]


def test_with_the_doubts_of_real_clocks_every_task_is_a_suspect(cluster: list[str]) -> None:
    matches = rows(README_QUERY, *cluster, *model("real.toml", ("16 s", "2 s"), "0.5 s"))
    tasks = [f"task_1329348432655_0001_m_{i:06}" for i in range(10)]
    tasks += [f"task_1329348432655_0001_r_{i:06}" for i in range(2)]
    assert sorted(matches["a.task_id"]) == tasks
    assert matches["confidence"].is_between(0, 1, closed="none").all()
    assert set(matches.select("peak", "calm").rows()) == {(100.0, 20.0)}


# --- fines: every time is a whole day ------------------------------------------------------


def test_no_group_of_many_days_is_more_than_certain(real_logs: Path) -> None:
    """Of these rows 1,197 had a confidence of 1.0000000000000002."""
    log = real_logs / "xes" / "roadtraffic100traces.xes"
    if not log.exists():
        pytest.skip("CEPCTL_REALDATA has no roadtraffic100traces.xes")
    found = rows("PATTERN SEQ(* a, *+ b[], * c) WHERE [case_id]", str(log))["confidence"]
    assert len(found) == 1718
    assert found.max() == 1
    assert (found == 1).sum() == 1564

"""What the user chose and nothing could use is told, with the nearest name; what was used is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.type_names import TypeNames
from cepctl.io.contract.log_pattern import LogPattern
from cepctl.io.contract.reader import ReadOptions
from cepctl.uncertainty.model import parse_model

CSV = "event_type,time,x\nStart,2024-05-01T10:00:00.25Z,1\nStop,2024-05-01T10:00:05Z,2\n"
# The last record is one that cepctl knows: without any, an ingest ends with an error.
LOG = (
    "2024-05-01 10:00:00,123 INFO Job: it began\n2024-05-01 10:00:01,123 INFO Job: it ended\n"
    "2024-05-01 10:00:02,123 INFO org.apache.hadoop.mapreduce.v2.app.job.impl.TaskImpl: "
    "task_1_0001_m_000001 Task Transitioned from NEW to SCHEDULED\n"
)
NONE = "m.toml: rule 1 applies to no event"
WIDE = "interval = { before = '1 s', after = '1 s' }"


def notices(
    folder: Path, text: str, name: str = "log.csv", *, model: str = "", names: TypeNames = (), **read: Any
) -> list[str]:
    """What an ingest of one file says beside what it says without any choice."""
    file = folder / name
    file.write_text(text)
    plain = ingest([str(file)], str(folder / "plain"), IngestOptions(overwrite=True))
    rules = parse_model(model, "m.toml")
    options = IngestOptions(read=ReadOptions(**read), type_names=names, model=rules, overwrite=True)
    summary = ingest([str(file)], str(folder / "out"), options)
    return [notice for notice in summary.notices if notice not in plain.notices]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("event_type = 'Strat'", f"{NONE}: no event has the type 'Strat'; did you mean 'Start'?"),
        ("event_type = 'X*'", f"{NONE}: no event has the type 'X*'"),
        ("source = 'lgo.csv'", f"{NONE}; did you mean 'log.csv'?"),
        ("where = 'x > 2'", NONE),
        ("event_type = 'St*'", None),
        ("source = 'log.csv'", None),
        ("where = 'x > 1'", None),
    ],
)  # fmt: skip
def test_a_rule_that_fits_nothing_is_named(condition: str, said: str | None, tmp_path: Path) -> None:
    model = f"[[rule]]\n{condition}\n{WIDE}\n"
    assert notices(tmp_path, CSV, model=model) == ([] if said is None else [said])


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("node = 'n7'", "the rules before it take every event whose node is n7, or there is none"),
        ("source = 'log.csv'", "the rules before it take all its events"),
        ("event_type = 'Start'", "the rules before it take all its events"),
    ],
)
def test_a_rule_whose_events_another_one_takes_is_not_said_to_have_none(
    condition: str, why: str, tmp_path: Path
) -> None:
    log = "event_type,time,node\nStart,2024-05-01T10:00:00.25Z,n7\nStop,2024-05-01T10:00:05Z,n8\n"
    named = condition if not condition.startswith("node") else f"attribute = {{ {condition} }}"
    model = f"[[rule]]\nsource = 'log.*'\n{WIDE}\n[[rule]]\n{named}\n{WIDE}\n"
    assert notices(tmp_path, log, model=model) == [f"m.toml: rule 2 applies to no event: {why}"]


def test_a_rule_for_the_rest_may_find_none(tmp_path: Path) -> None:
    model = f"[[rule]]\nevent_type = 'St*'\n{WIDE}\n[[rule]]\n{WIDE}\n"
    assert notices(tmp_path, CSV, model=model) == []


def test_a_model_for_events_without_times_is_told_to_have_no_effect(tmp_path: Path) -> None:
    ticks = "event_type,lower,upper\nA,1,2\n"
    assert notices(tmp_path, ticks, model=f"[[rule]]\n{WIDE}\n") == [
        f"{NONE}: events without a time keep the interval that they bring"
    ]


def test_a_type_that_is_to_be_renamed_and_does_not_occur_is_named(tmp_path: Path) -> None:
    assert notices(tmp_path, CSV, names=(("Strat", "Begin"), ("Stop", "End"))) == [
        "--name Strat=Begin: no event has the type 'Strat'; did you mean 'Start'?"
    ]


def test_that_another_type_has_the_new_name_hides_no_misspelling(tmp_path: Path) -> None:
    assert notices(tmp_path, CSV, names=(("Strat", "Stop"),)) == [
        "--name Strat=Stop: no event has the type 'Strat'; did you mean 'Start'?"
    ]
    assert notices(tmp_path, CSV, names=(("Start", "Stop"), ("Strat", "Stop"))) == [
        "--name Strat=Stop: no event has the type 'Strat'; did you mean 'Start'?"
    ]


def test_a_pattern_that_fits_no_line_is_named(tmp_path: Path) -> None:
    patterns = (LogPattern("Begin", "it began"), LogPattern("Failure", "it failed"))
    assert notices(tmp_path, LOG, "a.log", patterns=patterns)[1:] == [
        "--patterns: pattern 2 (event_type 'Failure') fits no log line"
    ]


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (
            {"drop_domain": True},
            "--drop-domain was not used: it is for logs of Hadoop, Ganglia, Spark, OpenTelemetry, traces, "
            "log4j, the journal, syslog and other text",
        ),
        (
            {"intervals": True},
            "--intervals was not used: it is for logs of Zeek, Hadoop, XES, Spark, traces, MySQL and "
            "Kubernetes events",
        ),
        (
            {"epoch": 0},
            "--epoch was not used: it is for simulator workloads, traces of programs, syslog without years "
            "and other logs without years",
        ),
        ({"keep_unmatched": True}, "--keep-unmatched was not used: it is for log4j and other text logs"),
    ],
)
def test_a_choice_for_other_logs_is_said_to_have_no_effect(
    choice: dict[str, Any], said: str, tmp_path: Path
) -> None:
    assert notices(tmp_path, CSV, **choice) == [f"{said}, and there is none"]


def test_a_choice_that_is_used_is_not_mentioned(tmp_path: Path) -> None:
    choices: dict[str, Any] = {"drop_domain": True, "keep_unmatched": True, "time_zone": "UTC"}
    assert notices(tmp_path, LOG, "a.log", patterns=(LogPattern("Begin", "it began"),), **choices) == []

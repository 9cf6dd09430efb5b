"""`cepctl derive`: runs of samples become events that last."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.matching.inputs import read_events

HOT = "PATTERN cpu c WHERE [node] AND c.value > 95 WITHIN 12 ticks"
SAMPLES = [
    # node, tick, value
    *(("n1", tick, value) for tick, value in ((0, 10), (10, 96), (20, 97), (30, 20), (40, 99), (60, 98))),
    *(("n2", tick, value) for tick, value in ((5, 99), (14, 99), (15, 10))),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{node}-{tick},cpu,{tick},{tick},{node},{value}" for node, tick, value in SAMPLES]
    header = "event_id,event_type,lower,upper,node,value"
    Path("samples.csv").write_text("\n".join([header, *lines, "x,disk,12,12,n1,99", "y,cpu,12,12,,99", ""]))


def test_a_run_begins_and_ends_between_its_samples_and_those_beside_them() -> None:
    assert main(["derive", HOT, "samples.csv", "-o", "hot", "--type", "Hot", "--quiet"]) == 0
    found = read_events(["hot"]).to_pylist()
    ends = ("event_id", "node", "samples", "lower", "upper", "end_lower", "end_upper")
    assert [tuple(each[name] for name in ends) for each in found] == [
        # The sample before n2-5 and the one after n1-60 are not known: so far as samples may be apart.
        ("n2-5..n2-14", "n2", 2, -6, 5, 14, 14),
        ("n1-10..n1-20", "n1", 2, 1, 10, 20, 29),
        ("n1-40..n1-40", "n1", 1, 31, 40, 40, 51),
        ("n1-60..n1-60", "n1", 1, 49, 60, 60, 71),
    ]
    assert {each["event_type"] for each in found} == {"Hot"}


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("PATTERN cpu c WHERE c.value > 95", "WITHIN is missing"),
        ("PATTERN SEQ(cpu c, cpu d) WITHIN 5 ticks", "runs are made of the samples of one component"),
        ("PATTERN cpu c WHERE c.valeu > 95 WITHIN 5 ticks", "did you mean 'value'"),
    ],
)
def test_what_makes_no_runs_is_one_line(
    query: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", query, "samples.csv", "-o", "hot", "--type", "Hot"]) == 2
    assert complaint in capsys.readouterr().err
    assert not Path("hot").exists()

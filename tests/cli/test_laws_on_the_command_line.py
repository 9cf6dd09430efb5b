"""Laws of order on the command line: datasets keep them, options choose them, refusals name a way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cepctl
from cepctl.cli import main

EVENTS = "event_type,event_id,lower,upper,k\nA,a,1,4,x\nB,b,1,4,x\nC,c,3,6,x\n"
L1 = '[[law]]\nby = "k"\n[law.next."A"]\n"B" = 4\n'
L2 = '[[law]]\nby = "k"\n[law.before."A"]\n"B" = 4\n'
QUERY = "PATTERN SEQ(A a, B b)"
WITHOUT, UNDER_L1, UNDER_L2 = 3 / 8, 9 / 16, 3 / 5


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    (tmp_path / "events.csv").write_text(EVENTS)
    (tmp_path / "l1.toml").write_text(L1)
    (tmp_path / "l2.toml").write_text(L2)
    return tmp_path


def confidence(capfd: pytest.CaptureFixture[str], *arguments: str) -> float:
    """That of the one row of QUERY."""
    capfd.readouterr()
    assert main(["match", QUERY, *arguments, "--columns", "confidence"]) == 0
    return float(capfd.readouterr().out.splitlines()[1])


def refused(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    capfd.readouterr()
    assert main(list(arguments)) == 2
    out, said = capfd.readouterr()
    assert not out
    return next(line for line in said.splitlines() if line.startswith("error: "))


@pytest.fixture
def dataset(folder: Path) -> str:
    assert main(["ingest", "events.csv", "-o", "dataset", "--uncertainty", "l1.toml", "--quiet"]) == 0
    return "dataset"


def test_a_dataset_keeps_the_laws_of_its_model(dataset: str, capfd: pytest.CaptureFixture[str]) -> None:
    for engine in ("event", "worlds"):
        assert confidence(capfd, dataset, "--engine", engine) == pytest.approx(UNDER_L1)
        assert confidence(capfd, dataset, "--engine", engine, "--no-laws") == WITHOUT
        assert confidence(capfd, dataset, "--engine", engine, "--laws", "l2.toml") == pytest.approx(UNDER_L2)


def test_assigning_another_model_leaves_them_behind(dataset: str, capfd: pytest.CaptureFixture[str]) -> None:
    Path("plain.toml").write_text("")
    assert main(["assign", dataset, "-o", "other", "--uncertainty", "plain.toml", "--quiet"]) == 0
    assert confidence(capfd, "other") == WITHOUT


def test_the_model_of_raw_events_states_laws_as_well(capfd: pytest.CaptureFixture[str]) -> None:
    assert confidence(capfd, "events.csv", "--uncertainty", "l1.toml") == pytest.approx(UNDER_L1)


def test_the_summary_names_the_law(dataset: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, dataset]) == 0
    assert "; under the law of order of each k; " in capfd.readouterr().err
    assert main(["match", QUERY, dataset, "--no-laws"]) == 0
    assert "law" not in capfd.readouterr().err


def test_a_law_without_factors_is_as_if_there_were_none(capfd: pytest.CaptureFixture[str]) -> None:
    Path("even.toml").write_text(L1.replace("4", "1.0"))
    asked = ["match", QUERY, "events.csv", "--format", "csv"]
    assert main(asked) == 0
    plain = capfd.readouterr().out
    assert main([*asked, "--laws", "even.toml"]) == 0
    out, said = capfd.readouterr()
    assert out == plain
    assert "law" not in said


def test_rows_tell_what_they_are_without_the_law(capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["match", QUERY, "events.csv", "--laws", "l1.toml", "--format", "csv"]
    assert main([*asked, "--columns", "confidence,lawless"]) == 0
    lawful, lawless = map(float, capfd.readouterr().out.splitlines()[1].split(","))
    assert lawful == pytest.approx(UNDER_L1)
    assert lawless == WITHOUT
    assert "no column 'lawless'" in refused(capfd, "match", QUERY, "events.csv", "--columns", "lawless")


def test_keys_that_are_too_much_work_are_refused_or_computed_without(
    capfd: pytest.CaptureFixture[str],
) -> None:
    asked = ["match", QUERY, "events.csv", "--laws", "l1.toml", "--law-limit", "2", "--format", "csv"]
    said = refused(capfd, *asked)
    assert "k = x" in said
    assert "--law-limit" in said and "--beyond lawless" in said
    assert main([*asked, "--beyond", "lawless", "--columns", "confidence,law"]) == 0
    assert capfd.readouterr().out.splitlines() == ["confidence,law", f"{WITHOUT},false"]


def test_explain_tells_the_law_and_how_many_orders_are_open(
    dataset: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", QUERY, dataset]) == 0
    told = capfd.readouterr().out.splitlines()
    assert "Law         of the order of each k, in steps of event_type: 1 factor of what comes next" in told
    (orders,) = (line for line in told if line.startswith("Orders"))
    assert "1 run of events in open order, 3 events in all; the widest of k = x: 8 sets alive" in orders
    assert main(["explain", QUERY, dataset, "--format", "json", "--law-limit", "7"]) == 0
    facts = json.loads(capfd.readouterr().out)
    assert facts["laws"] == [{"by": "k", "step": ["event_type"], "factors": 1}]
    sets = {"sets": pytest.approx(8), "work": pytest.approx(8), "beyond": 1}
    assert facts["orders"] == {"runs": 1, "events": 3, "widest": "k = x", **sets}
    assert main(["explain", QUERY, dataset, "--no-laws"]) == 0
    assert "Law" not in capfd.readouterr().out
    assert "without EVENTS: a law is about the order" in refused(capfd, "explain", QUERY, "--laws", "l1.toml")


def test_show_tells_both_confidences(dataset: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["show", QUERY, dataset, "--rank", "1"]) == 0
    told = capfd.readouterr().out
    assert "confidence 0.5625 under the law of order of each k (without it 0.375)" in told
    assert ["a", "before", "b", "0.375", "0.5625"] in [line.split() for line in told.splitlines()]
    assert ["B", "right", "after", "A", "4", "0.375"] in [line.split() for line in told.splitlines()]
    assert main(["show", QUERY, dataset, "--match", "a b", "--json"]) == 0
    law = json.loads(capfd.readouterr().out)["answer"]["law"]
    assert law["neighbours"][0]["under"] == pytest.approx(UNDER_L1)
    assert main(["show", QUERY, dataset, "--match", "a b", "--no-laws"]) == 0
    assert "law" not in capfd.readouterr().out


def test_the_last_match_is_shown_under_the_law_that_it_was_under(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    assert main(["match", QUERY, "events.csv", "--laws", "l1.toml"]) == 0
    assert main(["show", "--last"]) == 0
    assert "confidence 0.5625 under the law of order of each k" in capfd.readouterr().out
    assert main(["show", "--last", "--no-laws"]) == 0
    assert "confidence 0.375, from" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("SEQ(A a, B+ b[])", "Kleene groups"),
        ("AND(A a, B b)", "AND groups"),
        ("OR(SEQ(A a, B b), SEQ(B b, C c))", "OR"),
        ("SEQ(A a, B b) WHERE b.time - a.time <= 2 ticks", "timing constraints"),
        ("SEQ(A a, B b) STRATEGY strict_contiguity", "strict_contiguity"),
        ("SEQ(A a, B b) GIVEN SEQ(A a, C c) IF a.k = c.k", "GIVEN"),
        ("SEQ(A a, B b) RETURN reached(0.5)", "reached(...)"),
    ],
)
def test_what_the_event_engine_does_not_run_under_a_law_is_named_with_the_way_out(
    query: str, named: str, capfd: pytest.CaptureFixture[str]
) -> None:
    asked = ["match", f"PATTERN {query}", "events.csv", "--laws", "l1.toml"]
    said = refused(capfd, *asked)
    assert said.startswith(f"error: not supported yet: {named} under the law of order of each k in the event")
    assert "--engine worlds runs it" in said and "--no-laws" in said
    assert main([*asked, "--engine", "worlds"]) == 0


def test_clocks_and_interval_events_under_a_law_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    Path("clocked.csv").write_text(
        "event_type,event_id,lower,upper,k,clock,clock_offset\nA,a,1,4,x,n,-1:1:1\nB,b,1,4,x,,\n"
    )
    Path("lasting.csv").write_text(
        "event_type,event_id,lower,upper,end_lower,end_upper,k\nA,a,1,4,5,6,x\nB,b,1,4,,,x\n"
    )
    for file, named in (("clocked.csv", "shared clocks"), ("lasting.csv", "interval events")):
        said = refused(capfd, "match", QUERY, file, "--laws", "l1.toml")
        assert f"{named} under the law of order of each k in the event engine" in said
        assert "--engine worlds runs it" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--engine", "point"], "SEQ of single events under the law of order of each k in the point engine"),
        (["--approximate", "0.1"], "--approximate under the law of order of each k; leave one of them out"),
        (["--state", "state", "--quiet"], "--state under the law of order of each k; leave one of them out"),
        (["--no-laws"], "--laws cannot apply with --no-laws: no law is left"),
    ],
)
def test_what_cannot_be_asked_under_a_law_is_named(
    options: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capfd, "match", QUERY, "events.csv", "--laws", "l1.toml", *options)


def test_a_summary_of_groups_under_a_law_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    asked = (
        "match",
        "PATTERN SEQ(A a, B+ b[], C c)",
        "events.csv",
        "--laws",
        "l1.toml",
        "--kleene",
        "summary",
    )
    assert "under the law of order of each k" in refused(capfd, *asked)
    assert "--kleene summary under the law" in refused(capfd, *asked, "--engine", "worlds")


def test_a_law_that_does_not_fit_the_events_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    asked = ("match", QUERY, "events.csv", "--laws", "laws.toml")
    Path("laws.toml").write_text(L1.replace('"k"', '"kk"'))
    assert "reads the attribute 'kk', which no event has; did you mean 'k'?" in refused(capfd, *asked)
    Path("laws.toml").write_text("time_unit = '1 ms'")
    assert "laws.toml states no law of order" in refused(capfd, *asked)
    assert "cannot read the uncertainty model nowhere" in refused(capfd, *asked[:-1], "nowhere.toml")
    Path("laws.toml").write_text(L1)
    query = "PATTERN SEQ(A a, B b) RETURN a.k AS law"
    assert "'law' is a column of its own" in refused(capfd, "match", query, *asked[2:])


def test_datasets_with_different_laws_of_one_attribute_are_an_error(
    dataset: str, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("more.csv").write_text(EVENTS.replace(",a,", ",a2,").replace(",b,", ",b2,").replace(",c,", ",c2,"))
    assert main(["ingest", "more.csv", "-o", "other", "--uncertainty", "l2.toml", "--quiet"]) == 0
    capfd.readouterr()
    assert main(["match", QUERY, dataset, "other"]) == 3
    said = capfd.readouterr().err
    assert "keeps another law of order of each k than a dataset before it" in said
    assert "--laws FILE" in said and "--no-laws" in said


def test_follows_under_a_law_is_refused_and_export_says_what_is_lost(
    dataset: str, capfd: pytest.CaptureFixture[str]
) -> None:
    said = refused(capfd, "follows", dataset, "--by", "k")
    assert "follows under [[law]] of the dataset is not supported; --no-laws leaves that out" in said
    assert main(["follows", dataset, "--by", "k", "--no-laws"]) == 0
    Path("timed.csv").write_text("event_type,event_id,time,k\nA,a,2024-05-01T10:00:00Z,x\n")
    assert main(["ingest", "timed.csv", "-o", "timed", "--uncertainty", "l1.toml", "--quiet"]) == 0
    assert main(["export", "timed", "--xes", "-o", "log.xes", "--by", "k"]) == 0
    assert "[[law]] of the dataset is not written" in capfd.readouterr().err


def test_rows_never_overwrite_the_laws(capfd: pytest.CaptureFixture[str]) -> None:
    Path("rows.csv").write_text(L1)
    for command in ("match", "report"):
        said = refused(capfd, command, QUERY, "events.csv", "--laws", "rows.csv", "-o", "rows.csv")
        assert "-o would overwrite the laws, rows.csv" in said
    assert Path("rows.csv").read_text() == L1


@pytest.mark.parametrize("engine", ["event", "worlds"])
def test_steps_of_numbers_are_the_texts_that_calibrate_writes(
    engine: str, capfd: pytest.CaptureFixture[str]
) -> None:
    header, a, b, c = EVENTS.splitlines()
    Path("sized.csv").write_text("\n".join([f"{header},size", f"{a},3.0", f"{b},0.5", f"{c},"]))
    factors = '[law.next."A+3"]\n"B+0.5" = 4\n'
    Path("sized.toml").write_text(f'[[law]]\nby = "k"\nstep = ["event_type", "size"]\n{factors}')
    found = confidence(capfd, "sized.csv", "--laws", "sized.toml", "--engine", engine)
    assert found == pytest.approx(UNDER_L1)


def test_programs_ask_the_same() -> None:
    (row,) = cepctl.match(QUERY, "events.csv", laws="l1.toml", lawless=True)
    assert (row["confidence"], row["lawless"]) == (pytest.approx(UNDER_L1), WITHOUT)
    with pytest.raises(cepctl.CepctlError, match="laws cannot apply with no_laws=True"):
        cepctl.match(QUERY, "events.csv", laws="l1.toml", no_laws=True)
    with pytest.raises(cepctl.CepctlError, match="these events are under none"):
        cepctl.match(QUERY, "events.csv", lawless=True)
    assert cepctl.explain(QUERY, "events.csv", laws="l1.toml").plan.laws[0].by == "k"

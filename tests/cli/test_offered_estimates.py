"""What is too costly offers an estimate, but not beside options that refuse one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main

LAW = '[[law]]\nby = "k"\n[law.next."A"]\n"B" = 4\n'
COSTLY = "SEQ(!X x, A a, !X y, B b, !X z, C c, !X w)"
GROUPED = "SEQ(A a, B b, A c, B d) GROUP BY ()"
OFFERED = "allow an error with --approximate"


@pytest.fixture(autouse=True)
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    rows = [f"{kind},{i},{i + 100_000},1" for i, kind in enumerate("ABC")]
    rows += [f"X,{i * 1000},{i * 1000 + 70_000},1" for i in range(30)]
    Path("events.csv").write_text("\n".join(["event_type,lower,upper,k", *rows, ""]))
    many = [f"{kind},{i},{i + 200},1" for i in range(14) for kind in "AB"]
    Path("many.csv").write_text("\n".join(["event_type,lower,upper,k", *many, ""]))
    Path("law.toml").write_text(LAW)


def refusal(capfd: pytest.CaptureFixture[str], pattern: str, *options: str) -> str:
    capfd.readouterr()
    events = "many.csv" if pattern == GROUPED else "events.csv"
    assert main(["match", f"PATTERN {pattern}", events, "--time", "ticks", *options]) == 2
    return next(line for line in capfd.readouterr().err.splitlines() if line.startswith("error: "))


def test_an_estimate_is_offered(capfd: pytest.CaptureFixture[str]) -> None:
    assert OFFERED in refusal(capfd, f"{COSTLY} WITHIN 90000 ticks")


@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        (f"{COSTLY} WITHIN 90000 ticks", ["--laws", "law.toml"]),
        (GROUPED, ["--laws", "law.toml", "--beyond", "lawless"]),
        (f"{COSTLY} WITHIN 90000 ticks", ["--exists"]),
        (f"{COSTLY} WITHIN 90000 ticks", ["--state", "state", "--final"]),
        (f"{COSTLY.replace('C c', 'C+ c[]')} WITHIN 90000 ticks", ["--kleene", "summary"]),
    ],
)
def test_none_is_offered_where_it_would_be_refused(
    pattern: str, options: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capfd, pattern, *options)
    assert "--approximate" not in said
    assert "narrow" in said
    refused = refusal(capfd, pattern, *options, "--approximate", "0.01")
    assert "cannot apply" in refused or "not supported yet: --approximate" in refused

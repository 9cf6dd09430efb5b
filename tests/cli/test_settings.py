"""Options from the environment and from a file: their names, their order, and mistakes in them."""

from __future__ import annotations

import json
import os
import re
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import pytest

from cepctl.cli import COMMANDS, all_commands, main
from cepctl.cli.options.settings import (
    CONFIG_VARIABLE,
    OF_ANY_FOLDER,
    OF_TESTS,
    defaults,
    file_settings,
    options_of,
    variables,
)
from cepctl.errors import CepctlError

QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with two events, and a home for local runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CEPCTL_RUNNER", raising=False)
    (tmp_path / "log.csv").write_text("event_type,event_id,lower,upper\nA,a,1,1\nB,b,2,3\n")
    return tmp_path


def configured(text: str, name: str = "cepctl.toml") -> str:
    Path(name).write_text(text)
    return name


def effective(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, tuple[Any, str]]:
    """What `cepctl config match` tells: value and place of each option."""
    assert main([*arguments, "config", "match", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["command"] for row in rows} == {"match"}
    return {row["option"]: (row["value"], row["from"]) for row in rows}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_options_have_the_names_of_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--format`, `--time` and `--name` are called otherwise inside the program."""
    configured('[match]\ntime = "ticks"\nname = ["A=X", "C=Y"]\n')
    monkeypatch.setenv("CEPCTL_MATCH_FORMAT", "jsonl")
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    assert main(["match", "PATTERN SEQ(X x, B b)", "log.csv"]) == 0
    assert json.loads(capsys.readouterr().out)["start"] == 1


def test_one_command_wins_over_all_and_the_environment_over_the_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configured('top-k = 1\nmax_matches = 2\norder = "sort"\n[match]\ntop-k = 3\nengine = "point"\n')
    monkeypatch.setenv("CEPCTL_ENGINE", "worlds")
    monkeypatch.setenv("CEPCTL_ORDER", "any-state")
    monkeypatch.setenv("CEPCTL_MATCH_ORDER", "selectivity")
    monkeypatch.setenv("CEPCTL_CONF", "a=1 b=2")
    monkeypatch.setenv("CEPCTL_SINCE", "")
    found = effective(capsys)
    assert found["top-k"] == (3, "cepctl.toml [match]")
    assert found["max-matches"] == (2, "cepctl.toml")
    assert found["engine"] == ("worlds", "CEPCTL_ENGINE")
    assert found["order"] == ("selectivity", "CEPCTL_MATCH_ORDER")
    assert found["conf"] == (["a=1", "b=2"], "CEPCTL_CONF")
    assert found["since"] == (None, "default")
    assert found["kleene"] == ("groups", "default")
    assert found["why-not"] == (False, "default")


def test_the_environment_may_name_the_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configured("top-k = 1\n")
    monkeypatch.setenv("CEPCTL_CONFIG", configured("top-k = 2\n", "other.toml"))
    assert effective(capsys)["top-k"] == (2, "other.toml")
    named = configured("top-k = 3\n", "named.toml")
    assert effective(capsys, "--config", named)["top-k"] == (3, "named.toml")


def test_what_config_prints_is_a_file_that_says_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEPCTL_TZ", 'Zone "\\ü\x7f')
    monkeypatch.setenv("CEPCTL_MIN_CONFIDENCE", "1e-05")
    assert main(["config"]) == 0
    printed = capsys.readouterr().out
    assert set(tomllib.loads(printed)) == {each.name for each in all_commands() if options_of(each)}
    before = effective(capsys)
    assert before["min-confidence"][0] == 1e-05
    monkeypatch.delenv("CEPCTL_TZ")
    monkeypatch.delenv("CEPCTL_MIN_CONFIDENCE")
    after = effective(capsys, "--config", configured(printed, "printed.toml"))
    assert {name: value for name, (value, _) in after.items()} == {
        name: value for name, (value, _) in before.items()
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("topk = 1\n", "cepctl.toml: no command has an option 'topk'; did you mean 'top-k'?"),
        ("[mach]\ntop-k = 1\n", "cepctl.toml: there is no command 'mach'; did you mean 'match'?"),
        ("[match]\nlisted = 1\n", "cepctl.toml: 'match' has no option 'listed'"),
        ("[match]\noutput_format = 'csv'\n", "cepctl.toml: 'match' has no option 'output-format'"),
        ("match = 1\n", "cepctl.toml: 'match' must be a table: [match]"),
        ("top-k = 'x'\n", "'x' is not a valid integer range (from cepctl.toml)"),
        ("[match]\ntop-k = 0\n", "0 is not in the range x>=1 (from cepctl.toml [match])"),
        ("[match]\ntop-k = 1.5\n", "'1.5' is not a valid integer range (from cepctl.toml [match])"),
        ("[match]\ntop-k = [1, 2]\n", "cepctl.toml [match]: 'top-k' takes one value, not a list"),
        ("[match]\nname = [['a=b']]\n", "'name' takes a list of values, not of lists or tables"),
        ("top-k = {a = 1}\n", "cepctl.toml: there is no command 'top-k'"),
        (f"top-k = {'9' * 5000}\n", "cepctl.toml is not valid TOML: a number in it has too many digits"),
    ],
)
def test_nothing_in_the_file_is_ignored(text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    configured(text)
    assert message in refused(capsys, "match", QUERY, "log.csv")
    assert message in refused(capsys, "config", "match")


VALUES = ("inf", "nan", "1e400", "[]", "[1]", "[[1]]", "{a = 1}", "07:00:00", "2026-06-14", "true", '""')


@pytest.mark.parametrize("command", all_commands(), ids=lambda each: each.name)
def test_a_value_of_the_file_is_taken_or_refused_whatever_its_type(command: click.Command) -> None:
    for value in VALUES:
        for name, option in options_of(command).items():
            configured(f"[{command.name}]\n{name} = {value}\n")
            with suppress(CepctlError, click.UsageError):
                settings = file_settings(command, all_commands, COMMANDS, "cepctl.toml")
                context = click.Context(command, default_map=defaults(command, settings))
                option.process_value(context, option.consume_value(context, {})[0])


def test_an_option_of_another_command_is_no_mistake_at_the_top(capsys: pytest.CaptureFixture[str]) -> None:
    configured("listed = 5\n")
    assert main(["match", QUERY, "log.csv", "--runner", "local"]) == 0


def test_a_value_from_the_environment_is_blamed_on_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEPCTL_TOP_K", "many")
    said = refused(capsys, "match", QUERY, "log.csv")
    assert "'many' is not a valid integer range (from CEPCTL_TOP_K)" in said
    assert "(from " not in refused(capsys, "match", QUERY, "log.csv", "--top-k", "many")


@pytest.mark.parametrize(
    ("variable", "remedy"),
    [
        ("CEPCTL_TOPK", "did you mean CEPCTL_TOP_K?"),
        ("CEPCTL_REPORT_LISTD", "did you mean CEPCTL_REPORT_LISTED?"),
        ("CEPCTL_CONFG", "did you mean CEPCTL_CONFIG?"),
        ("CEPCTL_QQ", "cepctl config lists what may be set"),
    ],
)
def test_nothing_in_the_environment_is_ignored(
    variable: str, remedy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    said = f"error: {variable} in the environment is an option of no command; {remedy}\n"
    assert said in refused(capsys, "match", QUERY, "log.csv")
    assert said in refused(capsys, "config")
    monkeypatch.setenv(variable, "")
    assert main(["match", QUERY, "log.csv"]) == 0


def test_variables_of_other_commands_and_of_the_tests_are_no_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CEPCTL_REPORT_LISTED", "CEPCTL_LISTED", *OF_TESTS):
        monkeypatch.setenv(variable, "7")
    assert main(["match", QUERY, "log.csv"]) == 0


def test_variables_that_tell_where_a_service_is_are_no_mistake(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kubernetes sets them in every container beside a service called cepctl, or cepctl-report."""
    for service in ("CEPCTL", "CEPCTL_REPORT"):
        for variable in ("SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT", "PORT_80_TCP"):
            monkeypatch.setenv(f"{service}_{variable}", "tcp://10.0.0.11:80")
        for variable in ("PROTO", "PORT", "ADDR"):
            monkeypatch.setenv(f"{service}_PORT_5353_UDP_{variable}", "udp")
    assert main(["match", QUERY, "log.csv", "--runner", "local"]) == 0
    assert "CEPCTL" not in capsys.readouterr().err
    for variable in ("CEPCTL_SERVICE", "CEPCTL_PORT_80", "CEPCTL_PORTS", "CEPCTL_TOP_K_TCP"):
        monkeypatch.setenv(variable, "1")
        assert f"error: {variable} in the environment is an option of no command" in refused(
            capsys, "match", QUERY, "log.csv"
        )
        monkeypatch.delenv(variable)


def test_the_variables_of_the_tests_are_those_that_they_read() -> None:
    texts = [path.read_text() for path in Path(__file__).parents[1].rglob("*.py") if path != Path(__file__)]
    read = {name for text in texts for name in re.findall(r"\bCEPCTL_[A-Z_]+\b", text)}
    options = {
        name
        for each in all_commands()
        for option in options_of(each)
        for name in variables(each.name or "", option)
    }
    assert read - options - {CONFIG_VARIABLE} == OF_TESTS


def test_config_names_a_command_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no command 'mach'" in refused(capsys, "config", "mach")
    assert "config" in COMMANDS


def test_verbose_says_what_does_not_come_from_the_command_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configured('[explain]\norder = "sort"\n')
    monkeypatch.setenv("CEPCTL_TZ", "UTC")
    assert main(["explain", QUERY, "-v", "--format", "json"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "note: --tz from CEPCTL_TZ is left out: it cannot apply without EVENTS: no log is read",
        "note: cepctl.toml of this directory sets --order; --config /dev/null leaves it out",
        "note: --order comes from cepctl.toml [explain]",
    ]
    assert main(["explain", QUERY, "-v", "--quiet"]) == 0
    assert main(["--config", "cepctl.toml", "explain", QUERY]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("whose", ["the file", "its directory", "the file behind a link"])
def test_a_file_of_the_working_directory_that_another_could_have_written_is_not_obeyed(
    folder: Path, capsys: pytest.CaptureFixture[str], whose: str
) -> None:
    """Its options start programs (`spark.driver.extraJavaOptions`) and write files (`output`)."""
    configured('[match]\noutput = "stolen.csv"\n')
    if whose == "its directory":
        folder.chmod(0o777)
    elif whose == "the file":
        (folder / "cepctl.toml").chmod(0o666)
    else:
        (folder / "cepctl.toml").rename(folder / "real.toml")
        (folder / "real.toml").chmod(0o666)
        (folder / "cepctl.toml").symlink_to("real.toml")
    it = "its directory" if whose == "its directory" else "it"
    told = refused(capsys, "match", QUERY, "log.csv")
    assert (
        f"{folder}/cepctl.toml is not obeyed: {it} can be written by everybody; name it with --config" in told
    )
    assert not (folder / "stolen.csv").exists()
    assert main(["--config", "/dev/null", "match", "--runner", "local", QUERY, "log.csv"]) == 0
    assert not (folder / "stolen.csv").exists()
    assert main(["--config", "cepctl.toml", "match", "--runner", "local", QUERY, "log.csv"]) == 0
    assert (folder / "stolen.csv").exists()


# What a file may not set that nobody named: what is run, and what is written or where.
RUN_OR_WRITTEN = (
    "blurred check clock coarsen columns-of conf eager file final follow follow-links given jitter keep "
    "keep-sketch last late laws listed master match metrics model on output overwrite pairs part patterns "
    "rank reference rejects reopen repeat report runner seed share show sketch sketch-on sketch-share "
    "slack state support templates type uncertainty warm write-model xes"
)


def test_what_is_run_or_written_comes_from_a_named_file_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Logs that were unpacked here may have brought the file with them."""
    planted = folder / "planted"
    conf = f"spark.driver.extraJavaOptions=-XX:OnOutOfMemoryError={planted}"
    for setting in (f'conf = ["{conf}"]', 'output = "log.csv"', 'master = "local[1]"', 'state = "s"'):
        configured(f"[match]\n{setting}\n")
        name = setting.partition(" ")[0]
        told = refused(capsys, "match", QUERY, "log.csv")
        assert f"cepctl.toml: '{name}' is not taken from a file that nobody named" in told
        assert "--config cepctl.toml" in told
    assert (folder / "log.csv").read_text().startswith("event_type")
    assert (
        main(["--config", "cepctl.toml", "match", "--runner", "local", QUERY, "log.csv", "-o", "m.csv"]) == 0
    )


def test_every_option_is_known_as_one_that_any_file_may_set_or_a_named_one() -> None:
    known = {name for command in all_commands() for name in options_of(command)}
    assert known - OF_ANY_FOLDER - set(RUN_OR_WRITTEN.split()) == set(), "say which kind a new option is"
    assert known >= OF_ANY_FOLDER


def test_what_such_a_file_sets_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    configured("[explain]\norder = 'sort'\n")
    said = "note: cepctl.toml of this directory sets --order; --config /dev/null leaves it out\n"
    for words, told in ((), said), (("-q",), ""):
        assert main(["explain", QUERY, *words]) == 0
        assert capsys.readouterr().err == told
    configured("quiet = true\n")
    assert main(["explain", QUERY]) == 0
    assert "sets --quiet" in capsys.readouterr().err


def test_a_file_of_another_user_is_not_obeyed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    configured('runner = "local"\n')
    if os.geteuid() == 0:
        os.chown("cepctl.toml", 54_321, -1)
    else:
        monkeypatch.setattr("cepctl.process.trust.ownership.os.geteuid", lambda: 54_321)
    assert "cepctl.toml is not obeyed: it belongs to the user " in refused(capsys, "config")


def test_a_file_of_ones_own_in_a_folder_like_tmp_is_obeyed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configured("top-k = 9\n")
    folder.chmod(0o1777)
    assert effective(capsys)["top-k"] == (9, "cepctl.toml")

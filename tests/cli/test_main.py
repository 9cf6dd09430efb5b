"""The command line as a whole: exit codes, messages, defaults from the environment and files."""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cepctl import __version__
from cepctl.cli import COMMANDS, main


@pytest.fixture
def csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "log.csv"
    file.write_text("event_type,time,x\nA,1,2\n")
    yield file


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented_and_said_to_be_what_it_is(name: str) -> None:
    command = importlib.import_module(f"cepctl.cli.commands.{name}").command
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help
    assert [p.name for p in command.params if isinstance(p, click.Option) and not p.help] == []


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)


def test_help_is_a_word_too(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["match"], ["state", "show"]):
        assert main([*words, "--help"]) == 0
        shown = capsys.readouterr().out
        assert main(["help", *words]) == 0
        assert capsys.readouterr().out == shown


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_told(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0
    assert capsys.readouterr().out.startswith(f"cepctl {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("ingest --overwrit", "no such option '--overwrit'; did you mean '--overwrite'?"),
        ("mach", "no such command 'mach'; did you mean 'match'?"),
        ("xyzzy", "no such command 'xyzzy'"),
        (
            "match --min-confidence x%",
            "invalid value for '--min-confidence': 'x%' is not a valid float range",
        ),
        ("ingest", "missing argument 'PATH...'"),
        ("completion", "missing argument '{bash|zsh|fish}'; choose from: bash, zsh, fish"),
        ("match --top-k 0", "invalid value for '--top-k': 0 is not in the range x>=1"),
        ("match", "a query is missing: give its text, @FILE or -f FILE"),
        ("match Q.cep", "QUERY is the text itself; to read the file write @Q.cep or -f Q.cep"),
        ("match Q log.csv -o no/rows", "cannot write no/rows: there is no directory no"),
        ("state show", "missing argument 'DIR'"),
        ("--nosuch", "no such option '--nosuch'"),
    ],
)
def test_what_is_wrong_with_a_command_line_is_said_in_one_style(
    csv: Path,
    arguments: str,
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["PATTERN SEQ(A a)" if word == "Q" else word for word in arguments.split()]
    assert main(words) == 2
    command = " ".join(word for word in words[:2] if word in {*COMMANDS, "show"})
    helped = f"cepctl {command}".strip()
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"error: {said}\nhint: try '{helped} --help'\n")
    monkeypatch.setenv("CEPCTL_LOG_FORMAT", "json")
    assert main(words) == 2
    error, hint = map(json.loads, capsys.readouterr().err.splitlines())
    assert (error["level"], error["kind"], error["message"]) == ("error", "error", said)
    assert (hint["level"], hint["kind"], hint["message"]) == ("info", "hint", f"try '{helped} --help'")


@pytest.mark.parametrize("given", [["@-"], ["-f", "-"]])
def test_a_query_may_come_from_standard_input(
    csv: Path, given: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["match", *given, "log.csv", "--runner", "local", "--min-confidence", "50%", "-q"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"PATTERN SEQ(A a) RETURN a.x")))
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("2,1.0,")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert main(words) == 2
    assert "error: the query on standard input is not UTF-8 text\n" in capsys.readouterr().err


@pytest.mark.parametrize("second", ["@q.cep", "PATTERN SEQ(A a)", "pattern\nseq(A a)"])
def test_a_query_that_is_given_twice_is_an_error(
    csv: Path, second: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("q.cep").write_text("PATTERN SEQ(A a)")
    assert main(["match", "-f", "q.cep", second, "log.csv", "--runner", "local"]) == 2
    assert "error: the query is given twice: by -f q.cep and as " in capsys.readouterr().err


def test_an_error_is_one_message_on_standard_error(csv: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csv.write_text("no log at all")
    assert main(["ingest", str(csv), "-o", "events", "--runner", "local"]) == 3
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: log.csv: of no known format (cepctl formats lists them")
    assert captured.err.count("\n") == 1


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch, csv: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cepctl.ingestion.jobs.ingest", interrupted)
    assert main(["ingest", str(csv), "-o", "events", "--runner", "local"]) == 130


def test_what_ends_too_early_is_no_interrupt(monkeypatch: pytest.MonkeyPatch, csv: Path) -> None:
    """Click takes the error of a file that is too short for Ctrl-C."""

    def ended(*_: object) -> None:
        raise EOFError

    monkeypatch.setattr("cepctl.ingestion.jobs.ingest", ended)
    with pytest.raises(RuntimeError, match="ended before"):
        main(["ingest", str(csv), "-o", "events", "--runner", "local"])


def test_a_closed_pipe_is_no_error(csv: Path) -> None:
    rows = "".join(f"Type{n},{n},{n}\n" for n in range(3_000))
    csv.write_text(f"event_type,time,x\n{rows}")
    command = [sys.executable, "-m", "cepctl", "inspect", "--quiet", str(csv)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_options_come_from_the_environment(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setenv("PATH", "")
    assert main(["ingest", str(csv), "-o", "events"]) == 0


def test_the_environment_wins_over_the_file_and_the_command_line_over_both(
    csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("named.toml").write_text('runner = "local"\n[ingest]\noutput = "from-file"\n')
    monkeypatch.setenv("CEPCTL_CONFIG", "named.toml")
    assert main(["ingest", str(csv)]) == 0
    monkeypatch.setenv("CEPCTL_INGEST_OUTPUT", "from-environment")
    assert main(["ingest", str(csv)]) == 0
    assert main(["ingest", str(csv), "-o", "from-line"]) == 0
    assert sorted(path.name for path in Path().iterdir() if path.is_dir()) == [
        "from-environment",
        "from-file",
        "from-line",
    ]


def test_a_named_configuration_replaces_that_of_the_directory(csv: Path) -> None:
    Path("cepctl.toml").write_text('[ingest]\noutput = "unused"\n')
    Path("other.toml").write_text('runner = "local"\n[ingest]\noutput = "used"\n')
    assert main(["--config", "other.toml", "ingest", str(csv)]) == 0
    assert Path("used").is_dir()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[ingest]\noverwrit = true\n", "'ingest' has no option 'overwrit'; did you mean 'overwrite'?"),
        ("ingest = 1\n", "'ingest' must be a table: [ingest]"),
        ("= 3", "cepctl.toml is not valid TOML"),
        ('map = ["time=a\\u0000b"]', "'map' has a NUL character in it"),
    ],
)
def test_a_mistake_in_the_file_is_named(
    csv: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("cepctl.toml").write_text(text)
    assert main(["ingest", str(csv), "-o", "events", "--runner", "local"]) == 2
    assert message in capsys.readouterr().err


def test_a_setting_that_is_no_pair_is_a_wrong_command_line(
    csv: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ingest", str(csv), "-o", "events", "--conf", "spark.ui.enabled"]) == 2
    assert "is not of the form key=value" in capsys.readouterr().err


def test_that_no_thread_can_be_had_is_said_without_a_traceback(
    csv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("can't start new thread")

    importlib.import_module("cepctl.cli.match.whole_run")
    monkeypatch.setattr("cepctl.cli.match.whole_run.find_matches", refuse)
    assert main(["match", "PATTERN SEQ(A a)", csv.name]) == 4
    told = capsys.readouterr().err
    assert "error: no thread can be started" in told
    assert "ulimit -u" in told

"""Every option of every command, and where it cannot apply: refused, or left out where a file says it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cepctl.cli import all_commands, cli, main
from cepctl.cli.options.exclusions import of_raw_input, settle
from cepctl.cli.options.settings import options_of, read_from_environment
from cepctl.errors import UsageError
from cepctl.library.exclusions import EXCLUSIONS, Exclusion

QUERY = "PATTERN SEQ(A a, B b)"
EVENTS = "event_type,event_id,lower,upper\nA,a,1,3\nB,b,2,4\n"
NEEDED = {"output": "out", "by": "case_id", "uncertainty": "model.toml", "match": "a b"}
# What an option is given to try it; flags need nothing.
GIVEN = {
    "runner": "local", "master": "local[2]", "conf": "spark.ui.enabled=true", "engine": "worlds",
    "order": "sort", "approximate": "0.1", "kleene": "summary", "format": "trace", "time": "ticks",
    "state": "states", "top-k": "3", "slack": "1h", "late": "late.jsonl", "keep": "1h", "file": "q.cep",
    "input-format": "csv", "uncertainty": "model.toml", "tz": "UTC", "name": "A=B", "patterns": "p.toml",
    "epoch": "2024-05-01", "map": "time=ts", "max-memory": "2GB", "epoch-unit": "s", "time-format": "%Y",
    "laws": "laws.toml", "beyond": "lawless", "law-limit": "5",
    "limit": "5", "rank": "2", "output": "rows.csv", "show": "csv", "zone": "CST=America/Chicago",
}  # fmt: skip
OF_FACTS = ("explain", "follows", "calibrate", "inspect", "formats", "config")
"""Commands whose --format is not of rows."""
ALWAYS = {
    "type": "derive alone has it, whose events need a name",
    "strict": "files that are named are errors in any case, and any log may be marked as uncertain",
    "report": "an account of every file, whatever the format",
    "rejects": "ingest alone has it, which reads every input",
    "max-errors": "as --rejects",
    "metrics": "every run has figures",
    "min-confidence": "every engine and every form of rows has confidences",
    "max-matches": "every engine counts its rows",
    "since": "every match has a start",
    "until": "as --since",
    "fail-on-match": "every run has matches or none",
    "fail-on": "audit alone has it, whose findings are of these kinds or not",
    "exists": "it excludes others",
    "by": "every event may have a case",
    "pairs": "it excludes the query",
    "max-keys": "learn alone has it, which always draws keys",
    "coarsen": "it excludes the other blurs",
    "jitter": "as --coarsen",
    "clock": "as --coarsen",
    "model": "as --coarsen",
    "step": "rows of any query have events with steps",
    "part": "it is refused without --by",
    "seed": "every blur may draw",
    "repeat": "as --seed",
    "types": "JSON and pages tell of types in any case",
    "blurred": "every blur makes events; it is refused with --repeat",
    "xes": "the only form of export, which has to be named",
    "explain": "ingest alone has it, which reads every input",
    "listed": "every page lists matches",
    "write-model": "all events have times",
    "no-given": "where nothing is given there is nothing to leave out",
    "no-laws": "as --no-given",
    "sketch": "off reads everything, which can always be asked for; ingest sketches any dataset",
    "sketch-on": "it asks for --sketch",
    "sketch-share": "it asks for --sketch",
    "share": "as --on",
    "on": "sketch alone has it, which takes datasets",
    "full": "inspect alone has it, which always prints",
    "rank": "it excludes others",
    "last": "it excludes others",
    "columns": "it is refused where rows take another form, which FILE's name may tell",
    "support": "it excludes others",
    "runner": "it excludes others; spark is what would hold without it",
    "engine": "it excludes others; require_engine refuses queries by name",
    "state": "it excludes others",
    "max-memory": "every run holds events or rows",
    "csv-safe": "it is refused where rows take another form, which FILE's name may tell",
    "host": "it is refused where it fits no file; so is --map of clocks",
    "bound": "any log of a clock may have rows without a bound",
    "drift": "every clock drifts",
    "hold": "every log of a clock begins and ends",
    "check": "it excludes others",
    "given": "it is refused without --check or --reference",
    "granularity": "it is refused without --check or --reference",
    "reference": "it is refused with --check",
    "window": "it is refused without --reference",
    "warm": "kernels are compiled on any runner",
    "quiet": "every command says something",
    "verbose": "every command takes options from elsewhere",
    "log-format": "as --quiet",
}


def cases() -> Iterator[tuple[str, Exclusion, str]]:
    for command in all_commands():
        for exclusion in EXCLUSIONS:
            for option in exclusion.options:
                if {option, exclusion.beside} <= options_of(command).keys():
                    yield command.name or "", exclusion, option


CASES = [
    pytest.param(*case, id=f"{case[0]} --{case[2]} beside --{case[1].beside} {case[1].values}")
    for case in cases()
    if (case[0], case[2]) != ("explain", "format") or case[1].beside in ("support", "json")
]


def words(command: str, option: str) -> list[str]:
    """An option as it stands on the command line."""
    known = options_of(next(each for each in all_commands() if each.name == command))[option]
    value = (
        ("csv" if command == "follows" else "json")
        if option == "format" and command in OF_FACTS
        else GIVEN.get(option, "")
    )
    return [f"--{option}"] if known.is_flag else [f"--{option}", value]


def settled(command: str, *arguments: str) -> click.Context:
    """The context of a command line once it has been looked at as a whole."""
    found = next(each for each in all_commands() if each.name == command)
    read_from_environment(found)
    needed = [
        word
        for name, option in options_of(found).items()
        if option.required and f"--{name}" not in arguments
        for word in (f"--{name}", NEEDED[name])
    ]
    paths = {
        "ingest": ["log"],
        "assign": ["events"],
        "inspect": ["log"],
        "learn": ["log"],
        "follows": ["log"],
        "sketch": ["events"],
        "doctor": [],
        "formats": [],
        "config": [],
    }
    words = [*arguments, *needed, *paths.get(command, [QUERY, "log"])]
    context = found.make_context(command, words, **cli.context_settings)
    settle(context)
    return context


def beside(command: str, exclusion: Exclusion) -> list[str]:
    if exclusion.values == (None,):
        return []
    found = words(command, exclusion.beside)
    return found if exclusion.values in ((), (True,)) else [found[0], str(exclusion.values[0])]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CEPCTL_RUNNER", raising=False)
    (tmp_path / "events.csv").write_text(EVENTS)
    (tmp_path / "laws.toml").write_text('[[law]]\nby = "k"\n')


@pytest.mark.parametrize("command", all_commands(), ids=lambda command: command.name)
def test_of_every_option_it_is_known_where_it_cannot_apply(command: click.Command) -> None:
    """A new option gets a row among the exclusions, or says above why it needs none."""
    excluded = {option for each in EXCLUSIONS for option in each.options} | {"format"}
    assert options_of(command).keys() <= ALWAYS.keys() | excluded | set(of_raw_input(command))


@pytest.mark.parametrize(("command", "exclusion", "option"), CASES)
def test_an_option_that_cannot_apply_is_refused_or_left_out(
    command: str, exclusion: Exclusion, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = settled(command, *beside(command, exclusion))
    parameter = options_of(context.command)[option].name or option
    untouched = context.params[parameter]
    asked = words(command, option)
    with pytest.raises(UsageError, match=f"--{option} cannot apply with"):
        settled(command, *beside(command, exclusion), *asked)
    name = option.upper().replace("-", "_")
    monkeypatch.setenv(f"CEPCTL_{command.upper()}_{name}", asked[1] if len(asked) > 1 else "true")
    assert settled(command, *beside(command, exclusion)).params[parameter] == untouched


@pytest.mark.parametrize(("command", "exclusion", "option"), CASES)
def test_an_option_that_says_what_holds_anyway_is_no_fault(
    command: str, exclusion: Exclusion, option: str
) -> None:
    context = settled(command, *beside(command, exclusion))
    default = context.params[options_of(context.command)[option].name or option]
    if isinstance(default, str):
        settled(command, *beside(command, exclusion), f"--{option}", default)


def test_what_is_refused_is_said_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    Path("cepctl.toml").write_text('[match]\nengine = "worlds"\n')
    assert main(["match", QUERY, "events.csv", "--order", "sort"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: --order cannot apply with --engine worlds (from cepctl.toml [match]): it has its own "
        "order of components",
        "hint: try 'cepctl match --help'",
    ]


def test_what_is_left_out_is_said_when_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEPCTL_MASTER", "spark://nowhere:7077")
    asked = ["match", QUERY, "events.csv", "--runner", "local"]
    assert main([*asked, "-v"]) == 0
    note, *others = capsys.readouterr().err.splitlines()
    assert note == (
        "note: --master from CEPCTL_MASTER is left out: it cannot apply with --runner local: "
        "no Spark is started"
    )
    assert not any("CEPCTL_MASTER" in line for line in others)
    assert main(asked) == 0
    assert "CEPCTL_MASTER" not in capsys.readouterr().err


def test_the_table_of_constructs_takes_no_query(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--support"]) == 0
    assert main(["explain", "--support", QUERY]) == 2
    assert "error: --support takes no QUERY and no EVENTS" in capsys.readouterr().err


def test_without_events_explain_reads_no_log(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["explain", "--support", "--drop-domain"]) == 2
    assert "error: --drop-domain cannot apply without EVENTS" in capsys.readouterr().err
    assert main(["explain", QUERY, "--tz", "UTC"]) == 2
    assert "error: --tz cannot apply without EVENTS: no log is read" in capsys.readouterr().err
    monkeypatch.setenv("CEPCTL_TZ", "UTC")
    assert main(["explain", QUERY]) == 0


def test_the_worlds_engine_counts_its_matches(capsys: pytest.CaptureFixture[str]) -> None:
    Path("more.csv").write_text("event_type,event_id,lower,upper\nA,a,1,3\nB,b,2,4\nB,c,5,5\n")
    asked = ["match", QUERY, "more.csv", "--engine", "worlds", "--max-matches"]
    assert main([*asked, "2"]) == 0
    assert main([*asked, "1"]) == 2
    assert "error: the query has more than 1 matches" in capsys.readouterr().err


# --- options for logs, and datasets ----------------------------------------------------------------

LOGS = [
    (name, option)
    for name in ("ingest", "match", "report", "show", "explain", "inspect")
    for option in of_raw_input(next(each for each in all_commands() if each.name == name))
    if (name, option)
    not in {
        ("ingest", each) for each in ("format", "uncertainty", "time-unit", "name", "follow-links", "writer")
    }
    and option != "no-writer"
]


def on(command: str, *inputs: str) -> list[str]:
    query = [] if command in ("ingest", "inspect") else [QUERY]
    more = {"ingest": ["-o", "out"], "report": ["-o", "page.html"], "show": ["--match", "a b"]}
    return [command, *query, *inputs, *more.get(command, [])]


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = tmp_path_factory.mktemp("ingested") / "events.csv"
    log.write_text(EVENTS)
    assert main(["ingest", str(log), "-o", str(log.with_name("ev")), "--runner", "local", "--quiet"]) == 0
    return log.with_name("ev")


@pytest.fixture
def dataset(folder: None, ingested: Path) -> str:
    shutil.copytree(ingested, "ev")
    return "ev"


@pytest.mark.parametrize(("command", "option"), LOGS)
def test_what_is_for_logs_cannot_apply_to_a_dataset(
    command: str,
    option: str,
    dataset: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = words(command, option)
    assert main([*on(command, dataset), *asked]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: --{option} cannot apply to the dataset ev: ")
    assert ("cepctl assign" in said) == (option == "uncertainty")
    assert not Path("out").exists()
    name = option.upper().replace("-", "_")
    monkeypatch.setenv(f"CEPCTL_{command.upper()}_{name}", asked[1] if len(asked) > 1 else "true")
    local = ["--runner", "local"] if command in ("ingest", "match", "report") else []
    assert main([*on(command, dataset), *local]) == 0


def test_an_ingest_applies_what_it_can_to_a_dataset(dataset: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", dataset, "-o", "other", "--name", "A=X", "--runner", "local", "--quiet"]) == 0
    assert main(["match", "PATTERN SEQ(X a, B b)", "other", "--runner", "local", "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_model_of_an_assign_applies_to_its_dataset_however_that_is_called(dataset: str) -> None:
    """The letters of its name were taken for inputs, of which a model cannot change datasets."""
    Path("model.toml").write_text("[[rule]]\ngranularity = '1 s'\n")
    Path(dataset).rename("e")
    asked = ["assign", "e", "-o", "wide", "--uncertainty", "model.toml", "--runner", "local"]
    assert main(asked) == 0


def test_beside_logs_it_is_said_what_a_dataset_is_not_told(
    dataset: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("more.csv").write_text("event_type,event_id,lower,upper\nC,c,5,5\n")
    query = "PATTERN SEQ(A a, X c)"
    assert main(["match", query, dataset, "more.csv", "--name", "C=X", "--runner", "local"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1].endswith(",a c")
    assert captured.err.startswith(
        "note: --name applies to the other inputs, not to the dataset ev: its events"
    )


@pytest.mark.parametrize("named", ["ev/*.parquet", "ev/part-00000.parquet", "mine.pq"])
def test_what_is_for_logs_cannot_apply_to_parts_of_a_dataset(
    named: str, dataset: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Parts were read as logs are, and the option was ignored."""
    Path("mine.pq").write_bytes((Path(dataset) / "part-00000.parquet").read_bytes())
    for option in ("tz", "map", "epoch-unit", "time-format", "drop-domain", "patterns"):
        assert main([*on("match", named), *words("match", option)]) == 2
        assert capsys.readouterr().err.startswith(
            f"error: --{option} cannot apply to {named}, parts of a dataset: its logs were read by ingest"
        )


def test_parts_of_a_dataset_get_other_types_and_say_what_a_log_beside_them_is_told(
    dataset: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("more.csv").write_text("event_type,event_id,lower,upper\nC,c,5,5\n")
    asked = on("match", "ev/*.parquet", "more.csv")
    asked[1] = "PATTERN SEQ(X a, C c)"
    assert main([*asked, "--name", "A=X", "--map", "x=y", "--runner", "local"]) == 3
    captured = capsys.readouterr()
    assert "note: --map applies to the other inputs, not to ev/*.parquet, parts of a dataset" in captured.err
    assert main([*asked, "--name", "A=X", "--runner", "local"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(",a c")

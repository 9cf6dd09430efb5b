"""Who wrote events, said in rules of a model, on the command line and in a program."""

from pathlib import Path
from typing import Any

import pytest

import cepctl
from cepctl.cli import main
from cepctl.errors import CepctlError
from cepctl.uncertainty.model import parse_model

HEAD = "event_type,event_id,time,host,seq,at,note\n"
SECOND = "2026-06-14 08:15:04"
TABLE = HEAD + (
    f"A,a,{SECOND},x,3,2026-06-14T08:15:04.3Z,third\n"
    f"B,b,{SECOND},x,1,2026-06-14T08:15:04.1Z,first\n"
    f"C,c,{SECOND},y,2,2026-06-14T08:15:04.2Z,second\n"
    f"D,d,{SECOND},x,2,2026-06-14T08:15:04.2Z,second\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path / "t.csv"


def certain(events: Any, **options: Any) -> set[str]:
    """The pairs that stand in this order in every world."""
    rows = cepctl.match("PATTERN SEQ(* a, * b)", events, **options)
    return {row["match"] for row in rows if row["confidence"] == 1.0}


RULES = {
    'writer = "source"': {"a b", "a c", "a d", "b c", "b d", "c d"},
    'writer = ["source", "host"]': {"a b", "a d", "b d"},
    'writer = { by = "host" }': {"a b", "a d", "b d"},
    'writer = { by = "host", along = "seq" }': {"b d", "d a", "b a"},
    'writer = { by = ["host"], along = "at" }': {"b d", "d a", "b a"},
    'event_type = "A"\nwriter = "source"': set(),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_says_who_wrote_an_event_and_along_what(rule: str, table: Path) -> None:
    model = table.with_name("model.toml")
    model.write_text(f"[[rule]]\n{rule}\n")
    assert certain(table, uncertainty=model) == RULES[rule]
    cepctl.ingest(table, table.with_name("events"))
    cepctl.assign(table.with_name("events"), table.with_name("again"), uncertainty=model)
    assert certain(table.with_name("again")) == RULES[rule]


def test_a_rule_for_some_events_leaves_the_others_alone(table: Path) -> None:
    model = table.with_name("model.toml")
    model.write_text(
        '[[rule]]\nwhere = "host = \'x\'"\nwriter = "source"\n[[rule]]\ninterval = { before = "1 s" }\n'
    )
    assert certain(table, uncertainty=model) == {"a b", "a d", "b d"}


@pytest.mark.parametrize("writer", ["host", ["host"], {"by": "host"}, {"by": ["source", "host"]}])
def test_a_program_says_it_as_text_list_or_mapping(writer: Any, table: Path) -> None:
    assert certain(table, writer=writer) == {"a b", "a d", "b d"}


def test_what_a_program_says_counts_whatever_the_model_does(table: Path) -> None:
    model = table.with_name("model.toml")
    model.write_text('[[rule]]\nwriter = "source"\n')
    assert certain(table, uncertainty=model, writer={"by": "host", "along": "seq"}) == {"b d", "d a", "b a"}
    assert certain(table, uncertainty=model, no_writer=True) == set()


def test_intervals_that_a_dataset_gets_later_are_surveyed_anew(table: Path) -> None:
    """Of two records one may now come a day before what stands before it."""
    cepctl.ingest(table, table.with_name("events"), writer="source")
    model = table.with_name("model.toml")
    model.write_text('[[rule]]\nevent_type = "D"\ninterval = { before = "1 day", after = "-1 h" }\n')
    made = cepctl.assign(table.with_name("events"), table.with_name("again"), uncertainty=model)
    assert any("1 record steps back in time" in note for note in made.summary.notices)
    assert certain(table.with_name("again")) == {"a b", "a c", "b c", "d a", "d b", "d c"}


JOBS = (
    "event_id,event_type,lower,upper,end_lower,end_upper\n"
    "a,A,0,50,100,150\nb,B,0,50,120,200\nc,C,0,50,60,90\nd,D,0,50,95,99\n"
)


def test_what_lasts_may_be_written_as_it_ends(tmp_path: Path) -> None:
    """C steps back: it ends before the others do.  Their starts stay open."""
    (tmp_path / "jobs.csv").write_text(JOBS)
    model = tmp_path / "ends.toml"
    model.write_text('[[rule]]\nwriter = { by = "source", of = "end" }\n')
    made = cepctl.ingest(tmp_path / "jobs.csv", tmp_path / "jobs", uncertainty=model)
    assert any("1 record steps back in time" in note for note in made.summary.notices)
    query = "PATTERN AND(A a, B b) WHERE b.{side} - a.{side} >= 1 ticks RETURN a.writer, b.writer"
    said: dict[str, Any] = {"writer": {"by": "source", "of": "end"}}
    for events, options in ((tmp_path / "jobs", {}), (tmp_path / "jobs.csv", said)):
        (row,) = cepctl.match(query.format(side="end"), events, time="ticks", **options)
        assert row["confidence"] == 1.0
        assert row["a.writer"] == row["b.writer"] == "jobs.csv ends"
        (row,) = cepctl.match(query.format(side="start"), events, time="ticks", **options)
        assert row["confidence"] == pytest.approx(0.5, abs=0.02)
    (row,) = cepctl.match("PATTERN AND(C c, D d) RETURN d.writer", tmp_path / "jobs", time="ticks")
    assert row["d.writer"] == "jobs.csv ends #2"


WRONG = {
    "writer = 3": "names no columns; write writer = ",
    "writer = []": "names no columns",
    'writer = { by = "host", until = "x" }': "writer: unknown key 'until'; known: by, along, of",
    'writer = { by = "host", along = 3 }': "writer: along must be a column in quotes",
    'writer = { by = "host", of = "middle" }': 'of is "start" or "end"',
}


@pytest.mark.parametrize("rule", WRONG)
def test_a_rule_that_says_nothing_of_use_is_refused_with_what_to_write(rule: str) -> None:
    with pytest.raises(CepctlError) as refused:
        parse_model(f"[[rule]]\n{rule}\n", "m.toml")
    assert str(refused.value).startswith("m.toml: rule 1: ")
    assert WRONG[rule] in str(refused.value)
    assert "\n" not in str(refused.value)


REFUSED = {
    "hots": "--writer hots: no event has such an attribute; did you mean 'host'?",
    "nothing": "--writer nothing: it is null in every event; name columns that events have",
}


@pytest.mark.parametrize("column", REFUSED)
def test_a_column_that_tells_nothing_is_refused(
    column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.csv").write_text(f"event_type,time,host,nothing\nA,{SECOND},x,\nB,{SECOND},x,\n")
    asked = ["ingest", str(tmp_path / "t.csv"), "-o", str(tmp_path / "e"), "--runner", "local"]
    assert main([*asked, "--writer", column]) == 2
    (line,) = (each for each in capsys.readouterr().err.splitlines() if each.startswith("error: "))
    assert REFUSED[column] in line
    assert not (tmp_path / "e").exists()


def test_an_order_along_text_is_refused(table: Path) -> None:
    with pytest.raises(
        CepctlError, match="along = 'note' is text, such as 'third'; name a column of integers"
    ):
        certain(table, writer={"by": "host", "along": "note"})


def test_a_writer_of_one_event_orders_nothing_and_a_note_says_so(table: Path) -> None:
    made = cepctl.ingest(table, table.with_name("e"), writer="event_id")
    assert any(
        "each writer has one event, so that no order is known" in note for note in made.summary.notices
    )


def test_where_every_record_steps_back_nothing_is_ordered_and_a_note_says_so(tmp_path: Path) -> None:
    rows = "".join(f"A,{n},2026-06-14T08:15:0{9 - n}.5Z\n" for n in range(5))
    (tmp_path / "t.csv").write_text("event_type,event_id,time\n" + rows)
    made = cepctl.ingest(tmp_path / "t.csv", tmp_path / "e", writer="source")
    (note,) = (each for each in made.summary.notices if "back" in each)
    assert note == (
        "t.csv: all 4 records after the first step back in time, so that nothing is ordered; if the newest "
        "stands first, turn the file round (tac)"
    )


@pytest.mark.parametrize("command", ["ingest", "match"])
def test_who_wrote_events_cannot_be_said_and_left_out(
    command: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["ingest", str(table), "-o", str(table.with_name("e"))]
    asked = asked if command == "ingest" else ["match", "PATTERN SEQ(* a, * b)", str(table)]
    assert main([*asked, "--writer", "host", "--no-writer"]) == 2
    assert "--no-writer cannot apply with --writer host: it says who wrote what" in capsys.readouterr().err


@pytest.mark.parametrize("unit", ["1 s", "1 ms"])
def test_too_little_room_is_said_with_what_to_do(unit: str, table: Path) -> None:
    made = cepctl.ingest(table, table.with_name("e"), writer="source", time_unit=unit)
    (note,) = (each for each in made.summary.notices if "thousandth" in each)
    ticks = {"1 s": "1 tick of 1 s", "1 ms": "1,000 ticks of 1 ms"}[unit]
    assert note.startswith(f"4 records of one writer share {ticks}")
    assert "(--time-unit)" in note


def test_records_that_share_a_tick_are_not_told_to_step_back(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("event_type,time\n" + "a,2026-06-01T10:00:00.123456789Z\n" * 9)
    made = cepctl.ingest(log, tmp_path / "events", writer="source")
    assert [each for each in made.summary.notices if "tick" in each][:2] == [
        "log.csv: 8 records have no tick left behind the record before; what lies before and after is not "
        "ordered",
        "9 records of one writer share 1 tick of 1 ns, of which a thousandth should be theirs; let ticks be "
        "finer (--time-unit), or leave the order out (--no-writer)",
    ]

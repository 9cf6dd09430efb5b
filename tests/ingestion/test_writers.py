"""The order in which a process wrote its records: whose they are, where they step back, and room for all."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.cli import main
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import UsageError
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import IN_WRITTEN_ORDER, MILLISECOND
from tests.engines.agreement import rows_by_signature

HEAD = "event_type,event_id,time,host\n"
ONE_SECOND = "2026-06-14 08:15:04"


def dataset(folder: Path, text: str, **options: Any) -> Any:
    (folder / "log.csv").write_text(text)
    return cepctl.ingest(folder / "log.csv", folder / "events", **options)


def rows(events: Any, query: str) -> dict[str, float]:
    return {row["match"]: row["confidence"] for row in cepctl.match(query, events).head(99).to_pylist()}


def test_lines_of_one_second_happened_in_their_order(tmp_path: Path) -> None:
    text = HEAD + "".join(f"{kind},{kind.lower()},{ONE_SECOND},x\n" for kind in "ABCD")
    assert len(rows(dataset(tmp_path, text), "PATTERN SEQ(* a, * b, * c, * d)")) == 24
    ordered = dataset(tmp_path, text, writer=["source"], overwrite=True)
    assert rows(ordered, "PATTERN SEQ(* a, * b, * c, * d)") == {"a b c d": 1.0}
    assert rows(ordered, "PATTERN SEQ(A a, D d) STRATEGY skip_till_next_match") == {"a d": 1.0}
    assert rows(ordered, "PATTERN SEQ(A a, !B b, D d)") == {}
    assert rows(ordered, "PATTERN SEQ(* a, * b) STRATEGY strict_contiguity") == {"a b": 1, "b c": 1, "c d": 1}


def test_ticks_become_so_fine_that_all_records_have_room(tmp_path: Path) -> None:
    """Two records share a millisecond, of which a thousandth may be theirs; others stay exact."""
    text = HEAD + f"A,a,{ONE_SECOND}.100,x\nA,b,{ONE_SECOND}.100,x\nB,c,2026-06-14 08:15:05.250,x\n"
    dataset(tmp_path, text, writer=["source"])
    stored = pq.read_table(tmp_path / "events")
    widths = pc.subtract(stored.column("upper"), stored.column("lower")).to_pylist()
    assert stored.schema.metadata[b"cepctl.time_unit"] == b"1 ns"
    assert dict(zip(stored.column("event_id").to_pylist(), widths, strict=True)) == {
        "a": 999_999,
        "b": 999_999,
        "c": 0,
    }


def test_a_step_back_begins_the_writer_anew_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        HEAD
        + f"A,a,{ONE_SECOND},x\nB,b,{ONE_SECOND},x\nC,c,2026-06-14 08:15:01,x\nD,d,2026-06-14 08:15:01,x\n"
    )
    assert (
        main(["ingest", str(log), "-o", str(tmp_path / "e"), "--writer", "source", "--runner", "local"]) == 0
    )
    told = capsys.readouterr().err
    assert "1 record steps back in time, and what lies before and after is not ordered (record 3 by 2" in told
    found = rows(tmp_path / "e", "PATTERN SEQ(* a, * b)")
    assert found == {"a b": 1, "c d": 1, "c a": 1, "c b": 1, "d a": 1, "d b": 1}


def test_events_of_different_writers_are_not_ordered(tmp_path: Path) -> None:
    text = HEAD + f"A,a,{ONE_SECOND},x\nB,b,{ONE_SECOND},y\nC,c,{ONE_SECOND},x\nD,d,{ONE_SECOND},\n"
    events = dataset(tmp_path, text, writer=["host"])
    found = rows(events, "PATTERN SEQ(A a, C c)")
    assert found == {"a c": 1.0}
    assert rows(events, "PATTERN SEQ(C c, A a)") == {}
    assert rows(events, "PATTERN SEQ(A a, D d)")["a d"] == pytest.approx(2 / 3, abs=1e-5)
    assert rows(events, "PATTERN SEQ(A a, B b)")["a b"] == pytest.approx(2 / 3, abs=1e-5)


def test_files_of_one_host_are_not_ordered_by_the_numbers_of_their_lines(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(HEAD + f"A,a,{ONE_SECOND},x\nB,b,{ONE_SECOND},x\n")
    (tmp_path / "two.csv").write_text(HEAD + f"C,c,{ONE_SECOND},x\nD,d,{ONE_SECOND},x\n")
    events = cepctl.ingest(tmp_path / "*.csv", tmp_path / "events", writer=["host"])
    assert rows(events, "PATTERN SEQ(A a, B b)") == {"a b": 1.0}
    assert rows(events, "PATTERN SEQ(A a, D d)")["a d"] == pytest.approx(5 / 6, abs=1e-5)
    assert rows(events, "PATTERN SEQ(D d, A a)")["d a"] == pytest.approx(1 / 6, abs=1e-5)


def test_no_two_writers_are_taken_for_one(tmp_path: Path) -> None:
    text = "event_type,event_id,time,host,unit\n" + "".join(
        f"{kind},{kind.lower()},{ONE_SECOND},{who}\n" for kind, who in (("A", "x y,z"), ("B", "x,y z"))
    )
    events = dataset(tmp_path, text, writer=["host", "unit"])
    assert set(rows(events, "PATTERN SEQ(* a, * b)")) == {"a b", "b a"}


def test_a_dataset_knows_which_record_its_events_were_and_its_order_stays(tmp_path: Path) -> None:
    text = HEAD + f"A,a,{ONE_SECOND},x\nB,b,{ONE_SECOND},x\n"
    unknown = dataset(tmp_path, text)
    (tmp_path / "more.csv").write_text(HEAD + f"C,c,{ONE_SECOND},x\nD,d,{ONE_SECOND},x\n")
    files = [unknown.output, str(tmp_path / "more.csv")]
    both = tmp_path / "both"
    assert main(["ingest", *files, "-o", str(both), "--writer", "source", "--runner", "local", "-qq"]) == 0
    assert rows(both, "PATTERN SEQ(A|B a, A|B b)") == {"a b": 1.0}
    assert rows(both, "PATTERN SEQ(C|D c, C|D d)") == {"c d": 1.0}
    cepctl.assign(both, tmp_path / "later", uncertainty="±2 s")
    assert rows(tmp_path / "later", "PATTERN SEQ(C|D c, C|D d)") == {"c d": 1.0}


def test_histograms_are_cut_as_finely(tmp_path: Path) -> None:
    model = tmp_path / "model.toml"
    model.write_text(
        '[[rule]]\nevent_type = "A"\nlatency = [["0 s", "1 s", 0.5], ["2 s", "3 s", 0.5]]\n'
        '[[rule]]\nevent_type = "*"\ngranularity = "1 s"\n'
    )
    text = HEAD + f"A,a,{ONE_SECOND},x\nB,b,{ONE_SECOND},x\nC,c,{ONE_SECOND},x\n"
    dataset(tmp_path, text, writer=["source"], uncertainty=model)
    stored = {row["event_id"]: row for row in pq.read_table(tmp_path / "events").to_pylist()}
    first, last = ((each["lo"], each["hi"]) for each in stored["a"]["pmf"])
    assert stored["b"]["upper"] - stored["b"]["lower"] == 999_999
    assert (first[1] - first[0], last[1] - last[0], last[0] - first[0]) == (999_999, 999_999, 2_000_000)
    assert (stored["a"]["lower"], stored["a"]["upper"]) == (first[0], last[1])
    assert stored["c"]["pmf"] is None


def test_the_worst_step_of_each_writer_is_told_by_its_own_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other writer of the file is a day ahead."""
    log = tmp_path / "log.csv"
    log.write_text(HEAD + "".join(f"A,{at},2026-06-{at},{host}\n" for at, host in ROWS_OF_TWO))
    asked = ["ingest", str(log), "-o", str(tmp_path / "e"), "--writer", "host", "--runner", "local"]
    assert main([*asked, "--exact-times"]) == 0
    assert "1 record steps back in time" in (told := capsys.readouterr().err)
    assert "(record 4 by 1 h)" in told


ROWS_OF_TWO = (
    ("20T08:00:00", "ahead"), ("14T08:00:00", "x"), ("14T09:00:00", "x"), ("14T08:00:00.0", "x"),
)  # fmt: skip


def test_an_unknown_column_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="writer hots: no event has such an attribute; did you mean 'host'"):
        dataset(tmp_path, HEAD + f"A,a,{ONE_SECOND},x\n", writer=["hots"])


# Writer w: a, n, c; writer v: b, d; each uniform on ticks 0..5.
WORKED = {
    "SEQ(A a, C c)": (1, 0, 5),
    "SEQ(C c, A a)": None,
    "SEQ(A a, B b)": (Fraction(73, 150), 0, 4),
    "SEQ(A a, B b, C c)": (Fraction(5, 12), 0, 5),
    "SEQ(A a, B b) WITHIN 2 ticks": (Fraction(13, 60), 0, 4),
    "SEQ(A a, C c) WITHIN 3 ticks": (Fraction(1, 5), 0, 5),
    "SEQ(A a, !N n, C c)": None,
    "SEQ(A a, !N n, B b)": (Fraction(49, 150), None, None),
    "SEQ(B b, !N n, D d)": (Fraction(49, 75), None, None),
    "SEQ(A a, B b) STRATEGY strict_contiguity": (Fraction(49, 150), None, None),
    "SEQ(B b, C c) STRATEGY strict_contiguity": (Fraction(14, 75), 1, 5),
}


@pytest.mark.parametrize("query", WORKED)
def test_worked_numbers_of_two_writers(query: str) -> None:
    written = [("A", "w", 1), ("N", "w", 2), ("C", "w", 3), ("B", "v", 1), ("D", "v", 2)]
    table = pa.table(
        {
            "event_id": [kind.lower() for kind, _, _ in written],
            "event_type": [kind for kind, _, _ in written],
            "lower": [0] * 5,
            "upper": [5] * 5,
            "pmf": pa.nulls(5),
            "writer": [writer for _, writer, _ in written],
            "record": [record for _, _, record in written],
        }
    )
    pattern, _, rest = query.partition(" STRATEGY ")
    text = f"PATTERN {pattern}{' STRATEGY ' + rest if rest else ''} GIVEN {IN_WRITTEN_ORDER}"
    plan = analyze(parse(text), EventSchema({"writer": pa.string(), "record": pa.int64()}, MILLISECOND))
    found = rows_by_signature(match_events(plan, table))
    judged = rows_by_signature(match_table(plan, table))
    assert sorted(found) == sorted(judged)
    wanted = WORKED[query]
    if wanted is None:
        assert not found
        return
    ((_, row),) = found.items()
    assert row["confidence"] == pytest.approx(float(wanted[0]), abs=1e-12)
    assert row["confidence"] == pytest.approx(float(judged[next(iter(judged))]["confidence"]), abs=1e-12)
    if wanted[1] is not None:
        assert (row["start"], row["end"]) == wanted[1:]


def test_the_order_of_a_dataset_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = HEAD + f"A,a,{ONE_SECOND},x\nB,b,{ONE_SECOND},x\n"
    events = dataset(tmp_path, text, writer=["source"])
    query, log = "PATTERN SEQ(A a, B b)", str(tmp_path / "log.csv")
    assert rows(events, query) == {"a b": 1.0}
    (row,) = cepctl.match(query, events, no_writer=True).head(2).to_pylist()
    assert row["confidence"] == pytest.approx(0.5, abs=1e-5)
    assert main(["match", query, log, "--writer", "source", "--no-writer"]) == 2
    assert "--no-writer cannot apply with --writer source: it says who wrote what" in capsys.readouterr().err

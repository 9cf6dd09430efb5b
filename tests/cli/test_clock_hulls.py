"""`cepctl clocks --reference`: events whose order is known bound the clocks of their hosts.

The spans of the worked numbers: a call of host a from 0 to 100 ms holds its work on host b, 30 to 50 ms by
the clock of b; five minutes later 40 to 100; ten minutes later 90 to 160.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from cepctl.cli import main

MS = 1_000_000
ENTERS = "SEQ(ParentStart p, ChildStart c) IF p.span = c.parent"
LEAVES = "SEQ(ChildFinish c, ParentFinish p) IF p.span = c.parent"
GIVEN = ("--given", ENTERS, "--given", LEAVES)
SPANS = ((0, 100, 30, 50), (300_000, 300_100, 300_040, 300_100), (600_000, 600_100, 600_090, 600_160))
HEAD = "event_id,event_type,time,node,span,parent"


def instant(ms: int) -> str:
    minutes, rest = divmod(ms, 60_000)
    return f"1970-01-01T{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}.{rest % 1000:03d}Z"


def log(
    spans: tuple[tuple[int, int, int, int], ...] = SPANS, hosts: str = "ab", name: str = "spans.csv"
) -> None:
    """Spans of one host that hold spans of another."""
    outer, inner = hosts[0], hosts[1]
    rows = [HEAD]
    for number, (start, finish, begin, end) in enumerate(spans, 1):
        rows += [
            f"ps{hosts}{number},ParentStart,{instant(start)},{outer},p{hosts}{number},",
            f"cs{hosts}{number},ChildStart,{instant(begin)},{inner},,p{hosts}{number}",
            f"cf{hosts}{number},ChildFinish,{instant(end)},{inner},,p{hosts}{number}",
            f"pf{hosts}{number},ParentFinish,{instant(finish)},{outer},p{hosts}{number},",
        ]
    Path(name).write_text("\n".join(rows) + "\n")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log()


def hulls(*words: str, events: tuple[str, ...] = ("spans.csv",), code: int = 0) -> dict[str, dict[str, Any]]:
    """The first row of CLOCKS of each host."""
    arguments = ["clocks", *events, "--reference", "a", "-o", "clocks.parquet", *words]
    assert main(arguments) == code
    rows = pl.read_parquet("clocks.parquet").to_dicts() if code == 0 else []
    return {row["host"]: row for row in reversed(rows)}


def error(capsys: pytest.CaptureFixture[str], *words: str, events: tuple[str, ...] = ("spans.csv",)) -> str:
    capsys.readouterr()
    hulls(*words, events=events, code=2)
    return capsys.readouterr().err


@pytest.mark.parametrize(("drift", "ahead", "to", "off"), [("200 ppm", -15, 75, 35), ("100 ppm", 10, 65, 10)])
def test_the_worked_spans(drift: str, ahead: int, to: int, off: int) -> None:
    """To 0.02 ms: the window ends with the last reading, 160 ms after ten minutes."""
    row = hulls(*GIVEN, "--by", "node", "--drift", drift)["b"]
    assert row["ahead"] / MS == pytest.approx(ahead, abs=0.02)
    assert row["ahead_to"] / MS == pytest.approx(to, abs=0.02)
    assert row["high"] / MS == pytest.approx(off, abs=0.02)
    assert row["low"] == -row["high"]
    assert (row["from"], row["to"], row["note"]) == (0, 600_160 * MS + 1, "hull")
    assert (row["sd"], row["epoch"], row["segment"], row["jump"]) == (None, 1, 1, None)
    assert (row["source"], row["line"]) == (None, None)


def test_what_was_found_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    hulls(*GIVEN)
    assert capsys.readouterr().err.splitlines() == [
        "a: the reference, 1970-01-01 00:00:00 to 1970-01-01 00:10:00",
        "b: ahead by -15.002 ms at 1970-01-01 00:00:00, 75.007 ms at 1970-01-01 00:10:00, within 35.008 ms; "
        "1 piece in 1 epoch",
        "6 ordered pairs of events of two hosts; 2 pieces in clocks.parquet",
    ]


def test_the_orders_of_a_dataset_are_enough() -> None:
    texts = "".join(f"[[given]]\nholds = '{text}'\n" for text in (ENTERS, LEAVES))
    wide = '[[rule]]\nclock = { by = "node", offset = "1 s" }\n'
    Path("model.toml").write_text(f'time_unit = "1 ms"\n{wide}{texts}')
    assert main(["ingest", "spans.csv", "-o", "events", "--uncertainty", "model.toml"]) == 0
    row = hulls(events=("events",))["b"]
    # The offsets of clocks that the model knows are no part of what was read.
    assert row["high"] / MS == pytest.approx(35, abs=0.02)


def test_intervals_of_events_widen_what_they_bound() -> None:
    rule = '[[rule]]\ninterval = { before = "1 ms", after = "2 ms" }\n'
    Path("model.toml").write_text(f'time_unit = "1 ms"\n{rule}')
    assert main(["ingest", "spans.csv", "-o", "events", "--uncertainty", "model.toml"]) == 0
    row = hulls(*GIVEN, events=("events",))["b"]
    # -53..33, -3..43, 57..93: at the begin at most 2 * 43 - 57 = 29.
    assert row["ahead"] / MS == pytest.approx(-12, abs=0.02)
    assert row["high"] / MS == pytest.approx(41, abs=0.02)
    assert row["from"] == -1 * MS


def test_a_stamp_that_stands_for_longer_widens_it_too() -> None:
    row = hulls(*GIVEN, "--granularity", "3 ms")["b"]
    assert row["high"] / MS == pytest.approx(41, abs=0.02)


def test_hosts_are_bounded_over_other_hosts() -> None:
    log(((0, 100, 40, 50), (300_000, 300_100, 300_040, 300_060)), "bc", "more.csv")
    found = hulls(*GIVEN, events=("spans.csv", "more.csv"))
    assert list(found) == ["c", "b", "a"]
    assert found["c"]["high"] > found["b"]["high"]


def test_hulls_are_the_clocks_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    """The work of the second call began 40 ms after it by the stamps, 10 ms by the middle of the hull."""
    hulls(*GIVEN)
    Path("model.toml").write_text(
        'time_unit = "1 ms"\n[[rule]]\n'
        'clock = { by = "node", from = "clocks.parquet", residual = "epoch", inside = "uniform" }\n'
    )
    assert main(["ingest", "spans.csv", "-o", "raw", "--quiet"]) == 0
    assert main(["assign", "raw", "-o", "assigned", "--uncertainty", "model.toml", "--quiet"]) == 0
    assert main(["ingest", "spans.csv", "-o", "events", "--uncertainty", "model.toml", "--quiet"]) == 0
    query = "PATTERN SEQ(ParentStart p, ChildStart c) WHERE p.span = c.parent"
    rows = []
    for events in ("assigned", "events"):
        capsys.readouterr()
        assert (
            main(["match", query, events, "--columns", "match,confidence", "--runner", "local", "--quiet"])
            == 0
        )
        rows.append(capsys.readouterr().out.splitlines()[1:])
    assert rows[0] == rows[1]
    found = dict(row.split(",") for row in rows[0])
    # 72 offsets of a tick: at -15 - 35 to -15 + 35 ms ahead the first began 80 to 10 ms later.
    assert found["psab1 csab1"] == "1.0"
    # About 30 ms ahead: 10 ms later, less -36 to 36: of 73 offsets 46 leave it after.
    assert float(found["psab2 csab2"]) == pytest.approx(46 / 73, abs=0.02)
    assert main(["show", query, "events", "--match", "psab2 csab2"]) == 0
    assert "b at 00:05:00.040: 30 ms ahead, -5 to 65 ms" in capsys.readouterr().out


def test_the_end_of_an_event_that_lasts_comes_before_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    """B begins when a has ended, at 100 ms, and the other way round at 200: 20 to 30 ms ahead."""
    rows = [
        ("x1,Job", 0, 100, "a", 1),
        ("y1,Job", 130, 220, "b", 1),
        ("x2,Job", 200, 300, "a", 2),
    ]
    lines = ["event_id,event_type,lower,upper,end_lower,end_upper,node,step"]
    lines += [f"{name},{start},{start},{end},{end},{node},{step}" for name, start, end, node, step in rows]
    Path("jobs.csv").write_text("\n".join(lines) + "\n")
    row = hulls(
        "--given", "SEQ(Job p, Job q) IF p.lower < q.lower AND q.lower < p.lower + 190", events=("jobs.csv",)
    )["b"]
    assert (row["ahead"] / MS, row["high"] / MS) == pytest.approx((25, 5), abs=0.1)


def test_the_check_allows_what_the_hulls_were_made_of() -> None:
    hulls(*GIVEN)
    assert main(["clocks", "--check", "spans.csv", "clocks.parquet", *GIVEN]) == 0


def test_clocks_that_were_set_are_refused_with_the_orders_that_say_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log((*SPANS[:2], (400_000, 400_100, 400_190, 400_260)))
    assert error(capsys, *GIVEN).splitlines()[:4] == [
        "error: no clocks that drift apart by at most 200 ppm allow two orders of b and a, by 99.956 ms:",
        f"  cfab3 before pfab3 ({LEAVES}): b is ahead by at least 160 ms at 1970-01-01T00:06:40.260Z",
        f"  psab2 before csab2 ({ENTERS}): b is ahead by at most 40 ms at 1970-01-01T00:05:00.040Z",
        "  so a clock was set between, or an order is wrong; say in IF which events are meant, or allow more "
        "with --drift or --granularity",
    ]


def test_bounds_from_one_side_tie_no_clock(capsys: pytest.CaptureFixture[str]) -> None:
    assert error(capsys, "--given", ENTERS).splitlines()[-2] == (
        "error: the known orders bound the clocks of these hosts from one side alone: b; say orders of their "
        "events the other way, too, or leave these hosts out by IF"
    )


def test_hosts_that_no_chain_ties_to_the_reference_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    log(SPANS, "cd", "more.csv")
    assert error(capsys, *GIVEN, events=("spans.csv", "more.csv")).splitlines()[-2] == (
        "error: no chain of known orders ties a to these hosts: c, d; say orders that do, or leave these "
        "hosts out by IF"
    )
    without = ("--given", f"{ENTERS} AND p.node = 'a'", "--given", f"{LEAVES} AND p.node = 'a'")
    assert set(hulls(*without, events=("spans.csv", "more.csv"))) == {"a", "b"}
    assert "nothing is known of their clocks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing says which events come before others"),
        (
            ("--given", "SEQ(ParentStart p, ParentFinish q) IF p.span = q.span"),
            "no two events of two hosts ('node')",
        ),
        ((*GIVEN, "--by", "host"), "--by host: no event has this attribute; attributes: node, parent, span"),
        ((*GIVEN, "--by", "nodes"), "--by nodes: no event has this attribute; did you mean --by node?"),
        ((*GIVEN, "--reference", "z"), "--reference z: no event has this 'node'; hosts: a, b"),
        ((*GIVEN, "--window", "10"), "--window:"),
        ((*GIVEN, "--window", "1 ms"), "--window 1 ms: from 1 s to 1 year"),
        ((*GIVEN, "--drift", "0 ppm"), "--drift 0 ppm is not a drift"),
        ((*GIVEN, "--host", "{host}/x"), "--host cannot apply with --reference"),
        ((*GIVEN, "--map", "a=b"), "--map cannot apply with --reference"),
        ((*GIVEN, "--bound", "1 s"), "--bound cannot apply with --reference"),
        ((*GIVEN, "--hold", "2 h"), "--hold cannot apply with --reference"),
        ((*GIVEN, "--format", "json"), "--format cannot apply without --check"),
        ((*GIVEN, "--check"), "--output cannot apply with --check"),
    ],
)
def test_what_is_wrong_is_one_line(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = error(capsys, *words).splitlines()
    assert any(line.startswith(f"error: {said}") for line in lines), lines
    assert not Path("clocks.parquet").exists()


def test_options_of_hulls_apply_to_events_alone(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (("--given", ENTERS), "--given cannot apply without --check or --reference"),
        (("--window", "1 min"), "--window cannot apply without --reference"),
    ):
        assert main(["clocks", "spans.csv", "-o", "c.csv", *words]) == 2
        assert said in capsys.readouterr().err


def test_events_on_recorded_clocks_do_not_tell_what_was_read(capsys: pytest.CaptureFixture[str]) -> None:
    hulls(*GIVEN)
    Path("model.toml").write_text(
        '[[rule]]\nclock = { by = "node", from = "clocks.parquet", residual = "epoch" }\n'
    )
    assert main(["ingest", "spans.csv", "-o", "events", "--uncertainty", "model.toml", "--quiet"]) == 0
    assert "ingest them without that rule" in error(capsys, *GIVEN, events=("events",))


def test_hosts_of_which_nothing_is_known_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    with Path("spans.csv").open("a") as file:
        file.write(f"x,Other,{instant(5)},idle,,\ny,ParentStart,{instant(7)},,nobody,\n")
    assert set(hulls(*GIVEN)) == {"a", "b"}
    said = capsys.readouterr().err
    assert (
        "no event of these hosts is ordered with one of another: idle; nothing is known of their clocks"
        in said
    )
    assert "1 event without 'node'; not used" in said

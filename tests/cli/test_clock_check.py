"""`cepctl clocks --check`: orders that are known of events and that the records of their clocks exclude.

Stamps of n1 are 5 ms ahead, for certain 3 to 8; those of n2 are right, for certain within 2 ms.
"""

from __future__ import annotations

import json
from fractions import Fraction
from math import ceil, floor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.cli import main

HEAD = "host,from,to,ahead,ahead_to,low,high,sd,epoch,segment,jump,source,line\n"
CLOCKS = HEAD + (
    "n1,0,1000000000,5000000,5000000,-2000000,3000000,,1,1,,n1/tracking.log,7\n"
    "n2,0,1000000000,0,0,-2000000,2000000,,1,1,,n2/tracking.log,9\n"
)
LOCAL = ("--runner", "local")
ORDER = "SEQ(Send a, Receive b) IF a.id = b.id"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("clocks.csv").write_text(CLOCKS)


def log(*rows: str, name: str = "log.csv") -> None:
    """Events; each row is id, type, milliseconds, node, key."""
    lines = ["event_id,event_type,time,node,id"]
    for row in rows:
        event, kind, at, node, key = row.split()
        lines.append(f"{event},{kind},1970-01-01T00:00:00.{int(at):03d}Z,{node.strip('-')},{key}")
    Path(name).write_text("\n".join(lines) + "\n")


def checked(*words: str, events: str = "log.csv", code: int) -> list[dict[str, Any]]:
    """The pairs that are excluded, as JSON has them."""
    from contextlib import redirect_stdout
    from io import StringIO

    told = StringIO()
    with redirect_stdout(told):
        assert main(["clocks", "--check", events, "clocks.csv", "--format", "json", *words]) == code
    excluded: list[dict[str, Any]] = json.loads(told.getvalue())["excluded"] if told.getvalue() else []
    return excluded


def named(pairs: list[dict[str, Any]]) -> list[tuple[str, str, float]]:
    return [(each["first"]["event"], each["second"]["event"], each["after_by_ms"]) for each in pairs]


def test_a_pair_is_excluded_if_even_the_extremes_leave_it_the_wrong_way_round() -> None:
    # Sent at 102 - 8 at the earliest, received at 90 + 2 at the latest.
    log("s Send 102 n1 k", "r Receive 90 n2 k")
    [pair] = checked("--given", ORDER, code=4)
    assert pair["after_by_ms"] == 2
    assert pair["given"] == ORDER
    assert pair["first"] == {
        "event": "s",
        "host": "n1",
        "reading": "1970-01-01T00:00:00.102Z",
        "ahead_ms": 5,
        "at_least_ms": 3,
        "at_most_ms": 8,
        "source": "n1/tracking.log",
        "line": 7,
    }
    assert (pair["second"]["at_least_ms"], pair["second"]["at_most_ms"]) == (-2, 2)
    assert (pair["second"]["source"], pair["second"]["line"]) == ("n2/tracking.log", 9)


def test_a_pair_at_the_very_bound_is_not_excluded(capsys: pytest.CaptureFixture[str]) -> None:
    log("s Send 100 n1 k", "r Receive 90 n2 k")
    assert checked("--given", ORDER, code=0) == []
    assert "the clocks allow every order that is known" in capsys.readouterr().err


def test_the_worst_pair_is_first_and_other_keys_are_not_ordered() -> None:
    log("s1 Send 102 n1 k", "r1 Receive 90 n2 k", "s2 Send 160 n1 l", "r2 Receive 140 n2 l")
    assert named(checked("--given", ORDER, code=4)) == [("s2", "r2", 10), ("s1", "r1", 2)]


def test_what_one_host_stamped_is_not_a_matter_of_two_clocks() -> None:
    log("s Send 102 n1 k", "r Receive 10 n1 k")
    assert checked("--given", ORDER, code=0) == []


def test_orders_of_a_dataset_are_checked_whatever_its_intervals_are() -> None:
    """Intervals that are wide enough keep a dataset possible that hard bounds exclude."""
    log("s Send 102 n1 k", "r Receive 90 n2 k")
    rule = '[[rule]]\ninterval = { before = "1 s", after = "1 s" }\n'
    Path("model.toml").write_text(f'time_unit = "1 ms"\n{rule}[[given]]\nholds = "{ORDER}"\n')
    assert main(["ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml", *LOCAL]) == 0
    assert named(checked(events="events", code=4)) == [("s", "r", 2)]


def test_a_dataset_on_recorded_clocks_is_checked_by_its_logged_times() -> None:
    log("s Send 102 n1 k", "r Receive 90 n2 k", "t Send 100 n1 l", "q Receive 90 n2 l")
    rule = '[[rule]]\nclock = { by = "node", from = "clocks.csv", residual = "epoch" }\n'
    Path("model.toml").write_text('time_unit = "1 ms"\n' + rule)
    assert main(["ingest", "log.csv", "-o", "events", "--uncertainty", "model.toml", *LOCAL]) == 0
    assert named(checked("--given", ORDER, events="events", code=4)) == [("s", "r", 2)]


def test_events_of_a_longer_order_are_compared_with_all_that_come_after() -> None:
    log("s Send 102 n1 k", "x Pass 500 n1 k", "r Receive 90 n2 k")
    order = "SEQ(Send a, Pass b, Receive c) IF a.id = b.id AND b.id = c.id"
    assert named(checked("--given", order, code=4)) == [("x", "r", 400), ("s", "r", 2)]


def test_an_event_without_a_record_leaves_the_others_of_an_order_comparable() -> None:
    order = "SEQ(Send a, Pass b, Receive c) IF a.id = b.id AND b.id = c.id"
    for host in ("n9", "-"):
        log("s Send 102 n1 k", f"x Pass 10 {host} k", "r Receive 90 n2 k")
        assert named(checked("--given", order, code=4)) == [("s", "r", 2)]


def test_clocks_that_are_known_exactly_exclude_what_is_a_microsecond_late() -> None:
    exact = "n1,0,1000000000,1000000,1000000,0,0,,1,1,,,\nn2,0,1000000000,1000,1000,0,0,,1,1,,,\n"
    Path("clocks.csv").write_text(HEAD + exact)
    log("s Send 91 n1 k", "r Receive 90 n2 k", "t Send 90 n1 k")
    assert named(checked("--given", ORDER, code=4)) == [("s", "r", 0.001)]


@pytest.mark.parametrize(
    ("ahead_to", "to", "rows", "gap"),
    [
        # The estimate is half a nanosecond: the earliest instant is rounded down, the latest up.
        (1, 1000, ("s Send 500 n1 k", "r Receive 499 n2 k"), 0.999999),
        (1, 1000, ("s Send 501 n2 k", "r Receive 500 n1 k"), 1),
        # It is one whole nanosecond, which floats miss: 49 * (1 / 49) < 1.
        (49, 49, ("s Send 3 n2 k", "r Receive 1 n1 k"), 2.000001),
    ],
)
def test_estimates_between_nanoseconds_are_rounded_outwards(
    ahead_to: int, to: int, rows: tuple[str, str], gap: float
) -> None:
    moving = f"n1,0,{to}000000,0,{ahead_to},0,0,,1,1,,,\nn2,0,1000000000,0,0,0,0,,1,1,,,\n"
    Path("clocks.csv").write_text(HEAD + moving)
    log(*rows)
    assert named(checked("--given", ORDER, code=4)) == [("s", "r", gap)]


def test_a_pair_of_two_clauses_is_told_once() -> None:
    log("s Send 102 n1 k", "r Receive 90 n2 k")
    other = "SEQ(* a, Receive b) IF a.id = b.id"
    assert named(checked("--given", ORDER, "--given", other, code=4)) == [("s", "r", 2)]


def test_conditions_read_the_intervals_of_the_events() -> None:
    log("s Send 102 n1 k", "r Receive 90 n2 k")
    logged = "SEQ(* a, * b) IF a.lower < b.lower"
    assert checked("--given", logged, code=0) == []
    assert named(checked("--given", logged.replace("<", ">"), code=4)) == [("s", "r", 2)]


def test_of_an_event_that_lasts_the_end_comes_first() -> None:
    rows = "event_id,event_type,time,end_time,node,id\n"
    at = "1970-01-01T00:00:00.{}Z"
    rows += f"s,Send,{at.format('010')},{at.format('102')},n1,k\nr,Receive,{at.format('090')},,n2,k\n"
    Path("log.csv").write_text(rows)
    assert named(checked("--given", ORDER, code=4)) == [("s", "r", 2)]


def test_a_coarse_stamp_stands_for_some_time() -> None:
    log("s Send 102 n1 k", "r Receive 90 n2 k")
    assert named(checked("--given", ORDER, "--granularity", "500 us", code=4)) == [("s", "r", 1.5)]
    assert checked("--given", ORDER, "--granularity", "2 ms", code=0) == []


def test_hosts_are_named_by_another_attribute() -> None:
    log("s Send 102 n1 k", "r Receive 90 n2 k")
    Path("log.csv").write_text(Path("log.csv").read_text().replace("node", "machine"))
    assert named(checked("--given", ORDER, "--by", "machine", code=4)) == [("s", "r", 2)]


def test_events_without_a_record_are_counted_by_cause(capsys: pytest.CaptureFixture[str]) -> None:
    Path("clocks.csv").write_text(CLOCKS.replace("n2,0,1000000000", "n2,0,90000000"))
    log("s Send 102 n1 k", "r Receive 90 n2 k", "t Send 102 n3 k", "u Receive 90 - k", "v Other 1 n9 k")
    assert checked("--given", ORDER, code=0) == []
    said = capsys.readouterr().err
    assert "1 event at times of which clocks.csv says nothing; not checked" in said
    assert "1 event of hosts that clocks.csv does not have; not checked" in said
    assert "1 event without 'node'; not checked" in said


def test_a_plain_table_of_ticks_has_no_times_of_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    Path("log.csv").write_text("event_type,lower,upper,node,id\nSend,1,1,n1,k\nReceive,0,0,n2,k\n")
    # A clock that is behind would exclude them if they were taken to be stamped at 0.
    Path("clocks.csv").write_text(CLOCKS.replace("5000000,5000000", "-50000000,-50000000"))
    assert checked("--given", ORDER, code=0) == []
    assert "2 events without a time of the log; not checked" in capsys.readouterr().err


def test_an_order_of_events_that_do_not_occur_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    log("s Send 102 n1 k")
    assert checked("--given", ORDER, code=0) == []
    assert f"GIVEN {ORDER}: no event fits some of its components" in capsys.readouterr().err


def test_a_table_names_both_stamps_and_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    log("s Send 102 n1 k", "r Receive 90 n2 k")
    assert main(["clocks", "--check", "log.csv", "clocks.csv", "--given", ORDER]) == 4
    told = capsys.readouterr()
    rows = [" ".join(line.split()) for line in told.out.splitlines()]
    assert rows[0] == f"order 1: {ORDER}"
    assert rows[3] == "2 1 before s n1 1970-01-01T00:00:00.102Z 5 3 8 n1/tracking.log line 7"
    assert rows[4] == "after r n2 1970-01-01T00:00:00.090Z 0 -2 2 n2/tracking.log line 9"
    assert "1 ordered pair excluded by the clocks, the worst by 2 ms" in told.err


def test_a_table_has_the_worst_and_says_how_many_more(capsys: pytest.CaptureFixture[str]) -> None:
    log(*(f"s{at} Send {at} n1 k" for at in range(200, 230)), "r Receive 90 n2 k")
    assert main(["clocks", "--check", "log.csv", "clocks.csv", "--given", ORDER]) == 4
    told = capsys.readouterr().out
    assert "and 10 pairs more, which --format json has" in told
    assert (" s229 " in told, " s209 " in told) == (True, False)
    assert len(checked("--given", ORDER, code=4)) == 30


def test_a_table_without_sources_is_checked_as_well() -> None:
    plain = "\n".join(line.rsplit(",", 2)[0] for line in CLOCKS.splitlines())
    Path("clocks.csv").write_text(plain)
    log("s Send 102 n1 k", "r Receive 90 n2 k")
    [pair] = checked("--given", ORDER, code=4)
    assert (pair["first"]["source"], pair["first"]["line"]) == (None, None)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--check", "clocks.csv"], "--check takes EVENTS and CLOCKS"),
        (["--check", "log.csv", "clocks.csv"], "nothing says which events come before others"),
        (["--check", "log.csv", "clocks.csv", "--given", "AND(Send a, Receive b) WITHIN 1 s IF a.id = b.id"],
         "says no order"),
        (["--check", "log.csv", "clocks.csv", "--given", "SEQ(Send a"], "expected"),
        (["--check", "log.csv", "clocks.csv", "--given", ORDER.replace("b.id", "b.idd")], "did you mean"),
        (["--check", "log.csv", "clocks.csv", "--given", ORDER, "--by", "nod"], "did you mean 'node'?"),
        (["--check", "log.csv", "clocks.csv", "--given", ORDER, "--granularity", "1"], "--granularity"),
        (["--check", "log.csv", "missing.csv", "--given", ORDER], "cannot read missing.csv"),
        (["--check", "log.csv", "clocks.csv", "-o", "x.csv"], "--output cannot apply with --check"),
        (["--check", "log.csv", "clocks.csv", "--drift", "1 ppm"], "--drift cannot apply with --check"),
        (["log.csv", "-o", "x.csv", "--given", ORDER], "--given cannot apply without --check"),
        (["log.csv", "-o", "x.csv", "--format", "json"], "--format cannot apply without --check"),
        (["log.csv"], "-o CLOCKS is missing"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    log("s Send 102 n1 k", "r Receive 90 n2 k")
    assert main(["clocks", *words]) in (2, 3)
    said = capsys.readouterr().err
    assert complaint in said
    assert "Traceback" not in said


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_exact_fractions_exclude_the_same_pairs(data: st.DataObject) -> None:
    """Estimates that move within a piece, with bounds on either side, over all pairs."""
    small = st.integers(-40, 40)
    hosts = {}
    rows = HEAD
    for host in ("n1", "n2", "n3"):
        ahead, to, low, high = (data.draw(small) for _ in range(4))
        length = data.draw(st.sampled_from([97, 100, 1000]))
        ends = [ahead * 10**6 + data.draw(st.integers(0, 3)), to * 10**6]
        bounds = [-abs(low) * 10**6, abs(high) * 10**6]
        hosts[host] = (length * 10**6, *ends, *bounds)
        rows += f"{host},0,{length * 10**6},{ends[0]},{ends[1]},{bounds[0]},{bounds[1]},,1,1,,,\n"
    Path("clocks.csv").write_text(rows)
    events = {
        f"{kind}{number}": (kind, data.draw(st.integers(0, 99)), data.draw(st.sampled_from([*hosts])))
        for kind in ("Send", "Receive")
        for number in range(4)
    }
    log(*(f"{name} {kind} {at} {host} k" for name, (kind, at, host) in events.items()))

    def span(name: str) -> tuple[int, int] | None:
        """The whole nanoseconds around the instants at which an event can have been written."""
        _, at, host = events[name]
        length, ahead, to, low, high = hosts[host]
        if at * 10**6 >= length:
            return None
        estimate = ahead + Fraction((to - ahead) * at * 10**6, length)
        return at * 10**6 - ceil(estimate) - high, at * 10**6 - floor(estimate) - low

    expected = {}
    for first, (kind, _, host) in events.items():
        for second, (other, _, elsewhere) in events.items():
            one, two = span(first), span(second)
            if (kind, other) == ("Send", "Receive") and host != elsewhere and one and two and one[0] > two[1]:
                expected[first, second] = (one[0] - two[1]) / 10**6
    found = named(checked("--given", ORDER, code=4 if expected else 0))
    assert {(first, second): gap for first, second, gap in found} == expected
    assert [gap for *_, gap in found] == sorted(expected.values(), reverse=True)

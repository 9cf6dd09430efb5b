"""Hulls hold the truth, whatever the delays; and spans alone find a drift."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.clocks.hulls.event_hulls import pieces_of_windows
from cepctl.clocks.hulls.windows import Windows
from cepctl.clocks.logs.table import table_of
from tests.clocks.hulls.hidden_clocks import PPM, RIGHT, HiddenClock, Log, pieces_of

MS, SECOND = 10**6, 10**9
MINUTE = 60 * SECOND
HOSTS = "abcd"


@st.composite
def logs(draw: st.DrawFn) -> Log:
    """Some hosts, few pairs of which exchange messages."""
    dice = random.Random(draw(st.integers(0, 2**32)))
    hosts = HOSTS[: draw(st.integers(1, 4))]
    offset = draw(st.sampled_from([0, MS, 200 * MS, 3_600 * SECOND]))
    drifts = st.integers(-95 * PPM, 95 * PPM)
    clocks = {host: HiddenClock(dice.randint(-offset, offset), draw(drifts)) for host in hosts}
    log = Log({"r": RIGHT, **clocks}, dice, draw(st.sampled_from([0, 10_000, 20 * MS])))
    names = ["r", *hosts]
    links = [(names[dice.randrange(at)], names[at]) for at in range(1, len(names))]
    links += [tuple(dice.sample(names, 2)) for _ in range(draw(st.integers(0, 2)))]
    delay, span = draw(st.sampled_from([1_000, MS, SECOND])), draw(st.sampled_from([1, 25, 60])) * MINUTE
    for link in links:
        for _ in range(draw(st.integers(2, 12))):
            first, second = dice.sample(link, 2)
            log.pair(first, dice.randint(0, span), second, dice.randint(1, delay))
    return log


@given(logs(), st.sampled_from([10, 3]))
def test_hulls_hold_the_truth(log: Log, minutes: int) -> None:
    if not log.rows or all("r" not in str(row["node"]) for row in log.rows):
        return
    found = log.hulls(minutes * MINUTE)
    assert not found.contradictions.height
    for piece in pieces_of(found):
        clock = log.clocks[piece.host]
        for reading in (piece.first, (2 * piece.first + piece.to) // 3, piece.to):
            assert piece.low <= clock.ahead(reading) - piece.estimate(reading) <= piece.high


def spans(seed: int, drift: int, minutes: int, per_minute: int) -> Log:
    """Calls of a server on the host r by a client on n: each call holds the span of the server.

    One way takes 0.4 ms and up to a few ms more, now and then 50; the server works for 5 to 80 ms.
    """
    dice = random.Random(seed)
    log = Log({"r": RIGHT, "n": HiddenClock(37 * MS, drift)}, dice)

    def way() -> int:
        slow = 50 * MS if dice.random() < 0.02 else 0
        return 400_000 + int(dice.expovariate(1 / (2 * MS))) + slow

    for _ in range(minutes * per_minute):
        sent = dice.randrange(minutes * MINUTE)
        client, server = dice.choice([("n", "r"), ("r", "n")])
        there = way()
        log.pair(client, sent, server, there)
        log.pair(server, sent + there + dice.randint(5 * MS, 80 * MS), client, way())
    return log


@pytest.mark.parametrize("seed", range(5))
def test_spans_alone_find_a_drift_of_60_ppm_with_hulls_at_most_4_ms_wide(seed: int) -> None:
    log = spans(seed, 60 * PPM, minutes=60, per_minute=20)
    pieces = [piece for piece in pieces_of(log.hulls(10 * MINUTE)) if piece.host == "n"]
    assert [piece.epoch for piece in pieces] == [1] * 6
    assert max(piece.high - piece.low for piece in pieces) <= 4 * MS
    first, last = pieces[0], pieces[-1]
    assert last.to - first.first >= 59 * MINUTE
    drift = Fraction(last.ahead_to - first.ahead, last.to - first.first) * 10**6
    assert abs(drift - 60) < 1
    clock = log.clocks["n"]
    for piece in pieces:
        for reading in (piece.first, piece.to):
            assert piece.low <= clock.ahead(reading) - piece.estimate(reading) <= piece.high


def chain(clocks: dict[str, HiddenClock], links: list[tuple[str, str]], delay: int) -> Log:
    """A message each way on every link, each second of two minutes, after a delay."""
    log = Log({"r": RIGHT, **clocks}, random.Random(0))
    for one, other in links:
        for second in range(120):
            log.pair(one, second * SECOND, other, delay)
            log.pair(other, second * SECOND + SECOND // 2, one, delay)
    return log


def test_hosts_of_a_chain_add_up() -> None:
    clocks = {"a": HiddenClock(5 * MS, 0), "b": HiddenClock(-7 * MS, 0)}
    found = {
        piece.host: piece
        for piece in pieces_of(chain(clocks, [("r", "a"), ("a", "b")], MS).hulls(MINUTE * 10))
    }
    assert [round(found[host].ahead / MS, 1) for host in "ab"] == [5, -7]
    # Both links are known to about a millisecond; over 12 ms clocks drift by 2.4 us.
    width = found["a"].high
    assert MS <= width <= 1_010_000
    assert 2 * width <= found["b"].high <= 2 * width + 10_000


def test_of_two_chains_the_narrower_counts() -> None:
    clocks = {"a": HiddenClock(5 * MS, 0), "b": HiddenClock(-7 * MS, 0)}
    log = chain(clocks, [("r", "a"), ("a", "b")], MS)
    slow = chain(clocks, [("r", "b")], 10 * MS)
    for row in slow.rows:
        row |= {"event_id": f"slow {row['event_id']}", "pair": -1 - int(str(row["pair"]))}
    log.rows += slow.rows
    found = {piece.host: piece for piece in pieces_of(log.hulls(MINUTE * 10))}
    assert found["b"].high < 2_100_000


def test_chains_that_contradict_each_other_are_counted() -> None:
    """Two clocks that agree with each other cannot differ from a third one by 5 and by -7 ms."""
    log = chain({"a": HiddenClock(5 * MS, 0), "b": HiddenClock(-7 * MS, 0)}, [("r", "a"), ("r", "b")], MS)
    lie = chain({"a": HiddenClock(0, 0), "b": HiddenClock(0, 0)}, [("a", "b")], MS)
    assert log.hulls(10 * MINUTE).contradicted == 0
    for row in lie.rows:
        row |= {"event_id": f"lie {row['event_id']}", "pair": -1 - int(str(row["pair"]))}
    log.rows += lie.rows
    assert log.hulls(10 * MINUTE).contradicted == 2


def test_an_epoch_ends_where_the_hulls_of_two_windows_do_not_meet() -> None:
    """A clock is set by 50 ms in a minute without messages; in the minutes around it all is as before."""
    log = chain({"a": HiddenClock(5 * MS, 0)}, [("r", "a")], MS)
    log.clocks["a"] = HiddenClock(55 * MS, 0)
    for second in range(120, 240):
        log.pair("r", second * SECOND, "a", MS)
        log.pair("a", second * SECOND + SECOND // 2, "r", MS)
    pieces = [piece for piece in pieces_of(log.hulls(2 * MINUTE)) if piece.host == "a"]
    assert [piece.epoch for piece in pieces] == [1, 2]
    assert [round(piece.ahead_to / MS) for piece in pieces] == [5, 55]
    assert max(piece.high for piece in pieces) < 2 * MS


def test_windows_of_wide_and_narrow_hulls_are_segments_tied_by_their_jump() -> None:
    """Drift times both lengths, and what both estimates move by: the second of 20 s, the drift of 200 ppm."""
    pieces = pieces_of_windows(
        Windows(
            *(
                np.array(column, np.int64)
                for column in ((0, 0), (0, 20 * SECOND), (20 * SECOND, 40 * SECOND))
            ),
            *(np.array(column, np.int64) * MS for column in ((-10, 0), (10, 2), (-9, -1), (11, 3))),
        )
    )
    assert pieces.ahead.tolist() == [0, MS]
    assert pieces.ahead_to.tolist() == [MS, MS]
    rows = table_of("a", pieces, 200 * PPM).to_pylist()
    assert [row["high"] for row in rows] == [10 * MS, 2 * MS]
    assert [(row["segment"], row["jump"]) for row in rows] == [(1, None), (2, 8 * MS + MS)]


def test_the_reference_is_right_all_the_time_and_says_so() -> None:
    found = pieces_of(chain({"a": HiddenClock(0, 0)}, [("r", "a")], MS).hulls(10 * MINUTE))
    [own] = [piece for piece in found if piece.host == "r"]
    assert (own.ahead, own.ahead_to, own.low, own.high, own.note) == (0, 0, 0, 0, "hull")
    assert (own.first, own.to) == (0, 119 * SECOND + SECOND // 2 + MS + 1)


@pytest.mark.parametrize(
    ("begin", "low", "high", "joins", "ahead"),
    [
        (600, 12, 16, True, 12),
        (600, 0, 5, False, 2),
        (600, 20, 25, False, 22),
        (601, 12, 16, False, 14),
    ],
)
def test_windows_join_where_they_meet_at_the_mean_of_both_middles(
    begin: int, low: int, high: int, joins: bool, ahead: int
) -> None:
    """The first of two windows ends at the reading 600, between 8 and 12: its middle is 10."""
    lowest, highest = np.array([8, low]), np.array([12, high])
    begins, ends = np.array([0, begin]), np.array([600, 1_200])
    windows = Windows(np.array([0, 0]), begins, ends, lowest, highest, lowest, highest)
    pieces = pieces_of_windows(windows)
    assert pieces.joins.tolist() == [False, joins]
    assert int(pieces.ahead[1]) == ahead
    assert int(pieces.ahead_to[0]) == (ahead if joins else 10)

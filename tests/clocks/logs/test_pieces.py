"""Rows become pieces, epochs, segments and jumps, as an oracle finds them in fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cepctl.clocks.logs.jumps import Totals
from cepctl.clocks.logs.pieces import Cutter
from cepctl.clocks.logs.segments import Segmenter
from cepctl.clocks.logs.survey import surveyed
from cepctl.clocks.logs.values import NONE, NOTES, SECOND, HostRows, PieceChoices, Pieces, joined_pieces
from cepctl.io.clocks.contract import JUMP, SYNCHRONISED, UNLOCKED, UNSYNCHRONISED
from cepctl.io.clocks.decimals import LARGEST, LAST_INSTANT
from tests.clocks.logs.clock_oracle import Piece, Row, pieces

MS = 1_000_000
START = 1_772_442_012 * SECOND
Step = tuple[int, int]


def host_rows(rows: list[Row], steps: list[Step] = []) -> HostRows:  # noqa: B006  never changed
    states = {0: UNLOCKED, 1: JUMP, 2: SYNCHRONISED}
    whole = {
        "time": [row.t for row in rows],
        "ahead": [row.a for row in rows],
        "sd": [NONE if row.s is None else row.s for row in rows],
        "since": [NONE if row.m is None else row.m for row in rows],
        "around": [NONE if row.b is None else row.b for row in rows],
        "file": [0] * len(rows),
        "line": list(range(1, len(rows) + 1)),
        "step_times": [time for time, _ in steps],
        "step_amounts": [amount for _, amount in steps],
    }
    state = [states[row.servo] if row.synchronised else UNSYNCHRONISED for row in rows]
    arrays = {name: np.array(values, np.int64) for name, values in whole.items()}
    return HostRows(state=np.array(state, np.uint8), **arrays)


def cut(rows: HostRows, choices: PieceChoices, parts: int = 1) -> list[Pieces]:
    """The pieces of rows that come in so many parts."""
    edges = np.linspace(0, len(rows), parts + 1).astype(int).tolist()
    given_parts = [rows.only(slice(*ends)) for ends in pairwise(edges) if ends[0] < ends[1]]
    return list(Cutter(surveyed(given_parts), choices).pieces(given_parts))


def table(rows: HostRows, choices: PieceChoices, parts: int = 1) -> list[Piece]:
    """The pieces with epochs, segments and jumps."""
    found = cut(rows, choices, parts)
    if not found:
        return []
    segmenter = Segmenter()
    for part in found:
        segmenter.take(part)
    begins, starts = segmenter.found()
    totals = Totals(starts)
    for part in found:
        totals.take(part)
    jumps = totals.jumps(begins, choices.drift)
    every = joined_pieces(found)
    listed = []
    for at in range(len(every)):
        numbers = [int(column[at]) for column in every.columns]
        start, stop, ahead, ahead_to, low, high = numbers[:6]
        segment = int(np.searchsorted(starts, at, side="right"))
        jump = int(jumps[segment - 1]) if starts[segment - 1] == at else NONE
        listed.append(
            Piece(
                start,
                stop,
                ahead,
                ahead_to,
                low,
                high,
                sd=None if numbers[6] == NONE else numbers[6],
                note=NOTES[numbers[8]],
                begins=at in begins,
                epoch=int(np.searchsorted(begins, at, side="right")),
                segment=segment,
                jump=None if jump == NONE else jump,
            )
        )
    return listed


@st.composite
def logs(draw: st.DrawFn, most: int = 30) -> list[Row]:
    """Rows in order of readings, mostly of one kind, with now and then what ends an epoch."""
    since = draw(st.booleans())
    with_sd = draw(st.booleans())
    count = draw(st.integers(1, most))
    spacing = st.sampled_from([0, 1, 16, 64, 64, 64, 65, 66, 300])
    times = list(accumulate(draw(st.lists(spacing, min_size=count, max_size=count))))
    rows = []
    for time in times:
        ahead = draw(
            st.one_of(st.integers(-MS, MS), st.integers(-50, 50), st.integers(-9 * SECOND, 9 * SECOND))
        )
        bound = draw(st.one_of(st.integers(1, 1_000), st.integers(1, 40 * MS)))
        rows.append(
            Row(
                START + time * SECOND + draw(st.sampled_from([0, 0, 1])),
                ahead,
                draw(st.one_of(st.none(), st.integers(1, 900))) if with_sd else None,
                bound if since else None,
                None if since else bound,
                synchronised=draw(st.sampled_from([True] * 9 + [False])),
                servo=draw(st.sampled_from([2] * 12 + [0, 1])),
            )
        )
    return sorted(rows, key=lambda row: row.t)


def never_set_back(rows: list[Row]) -> list[Row]:
    """The rows, with the estimate of the one before where they tell that the clock was set back."""
    found = rows[:1]
    for row in rows[1:]:
        before = found[-1]
        parted = (before.a - row.a) * 12 > row.t - before.t or before.servo < 2 or row.servo == 0
        found.append(replace(row, a=before.a) if parted and row.a < before.a else row)
    return found


@given(
    logs().map(never_set_back),
    st.sampled_from([0, 1, 15_000, 500_000]),
    st.sampled_from([0, 10, 64, 65, 1_000, 3_600]),
    st.integers(1, 4),
)
def test_pieces_are_those_of_the_definition(rows: list[Row], drift: int, hold: int, parts: int) -> None:
    """However the rows are cut into parts."""
    found = table(host_rows(rows), PieceChoices(drift, hold * SECOND), parts)
    assert found == pieces(rows, Fraction(drift, SECOND), hold * SECOND)


@given(st.data())
def test_long_epochs_have_eight_segments_at_most(data: st.DataObject) -> None:
    """Widths that differ by many powers of two, in an epoch that goes on through all parts."""
    widths = data.draw(st.lists(st.integers(0, 40).map(lambda power: 2**power), min_size=2, max_size=60))
    rows = [Row(START + 64 * SECOND * at, 0, None, width, None) for at, width in enumerate(widths)]
    found = table(host_rows(rows), PieceChoices(0, 0), data.draw(st.integers(1, 5)))
    assert found == pieces(rows, Fraction(0), 0)
    assert max(piece.segment for piece in found) <= 8


def chrony() -> list[Row]:
    """The rows of the sample in the documentation: two that hold, and one that is not synchronised."""
    return [
        Row(START, 12_600_000, 900_000, 21_300_000, None),
        Row(START + 64 * SECOND, -760_000, 850_000, 21_400_000, None),
        Row(START + 129 * SECOND, 200_000, 870_000, 9_100_000, None, synchronised=False),
    ]


def test_the_later_row_bounds_what_was_since_the_earlier_one() -> None:
    """At 09:00:44.000 ahead by 5.92 ms; in ticks of 1 ms the offset is -23..35."""
    found = [piece for piece in table(host_rows(chrony()), PieceChoices()) if piece.note == "row"]
    [piece] = found
    middle = piece.ahead + Fraction(piece.ahead_to - piece.ahead, 2)
    assert middle == 5_920_000
    assert (piece.low, piece.high) == (-34_000_000, 22_160_000)
    assert -((piece.high + MS // 2) // MS) - 1 == -23
    assert -((piece.low - MS // 2) // MS) == 35


def test_no_piece_touches_a_row_that_is_not_synchronised() -> None:
    found = table(host_rows(chrony()), PieceChoices(hold=0))
    assert [(piece.start, piece.stop) for piece in found] == [(START, START + 64 * SECOND)]


def test_a_held_estimate_is_cut_at_powers_of_two() -> None:
    rows = host_rows([Row(START, 5 * MS, None, None, MS)])
    after = [piece for piece in table(rows, PieceChoices(15_000, 200 * SECOND)) if piece.note == "after"]
    assert [((piece.start - START) // SECOND, (piece.stop - START) // SECOND) for piece in after] == [
        (0, 64),
        (64, 128),
        (128, 200),
    ]
    assert [piece.high for piece in after] == [MS + 960_000, MS + 1_920_000, MS + 3_000_000]


def test_a_jump_as_wide_as_both_ranges_ties_nothing() -> None:
    def jump(moved: int) -> int | None:
        rows = [
            Row(START, 0, None, None, 1),
            Row(START + 64 * SECOND, 0, None, None, 1),
            Row(START + 128 * SECOND, moved, None, None, 100),
        ]
        return table(host_rows(rows), PieceChoices(0, 0))[1].jump

    assert (jump(199), jump(200)) == (199, None)


def test_a_step_that_a_message_places_is_not_bridged() -> None:
    """The estimate is constant on either side; near the step, both laws hold."""
    rows = [
        Row(START + 64 * SECOND * at, ahead, None, None, MS)
        for at, ahead in enumerate((0, 0, 3 * SECOND, 3 * SECOND))
    ]
    step = START + 96 * SECOND
    found = table(host_rows(rows, [(step, 3 * SECOND)]), PieceChoices(0, 0))
    assert [
        ((piece.start - START) / SECOND, piece.ahead, piece.ahead_to, piece.epoch) for piece in found
    ] == [
        (0, 0, 0, 1),
        (64, 0, 0, 1),
        (92, 0, 3 * SECOND, 2),
        (101, 3 * SECOND, 3 * SECOND, 3),
        (128, 3 * SECOND, 3 * SECOND, 3),
    ]
    assert [(piece.low, piece.high) for piece in found] == [
        (-MS, MS),
        (-MS, MS),
        (-3 * SECOND - MS, 3 * SECOND + MS),
        (-MS, MS),
        (-MS, MS),
    ]


def test_a_row_near_a_step_may_still_show_what_was_stepped_away() -> None:
    """As chrony writes it: no estimate is drawn to it, and its law holds near the step alone."""
    rows = [
        Row(START, 0, None, MS, None),
        Row(START + 64 * SECOND, 2 * SECOND, None, 2 * SECOND, None),
        Row(START + 128 * SECOND, 0, None, MS, None),
    ]
    found = table(host_rows(rows, [(START + 64 * SECOND, -2 * SECOND)]), PieceChoices(0, 0))
    assert [((piece.start - START) // SECOND, piece.ahead, piece.low, piece.high) for piece in found] == [
        (0, 0, -MS, MS),
        (61, 0, -2 * SECOND, 2 * SECOND),
        (68, 0, -MS, MS),
    ]


def test_a_row_where_the_readings_around_a_step_end_is_doubtful_too() -> None:
    """Otherwise the pieces after it would share the residual of both sides."""
    rows = [Row(START + 64 * SECOND * at, 0, None, MS, None) for at in range(4)]
    found = table(host_rows(rows, [(START + 60 * SECOND, 2 * SECOND)]), PieceChoices(0, 0))
    assert [((piece.start - START) // SECOND, piece.epoch) for piece in found] == [
        (0, 1),
        (57, 2),
        (64, 3),
        (128, 3),
    ]


def test_nothing_is_said_beyond_a_step_where_no_row_follows() -> None:
    found = table(
        host_rows([Row(START, 0, None, MS, None)], [(START + 50 * SECOND, SECOND)]), PieceChoices(0)
    )
    assert max(piece.stop for piece in found) == START + 48 * SECOND


def test_nothing_is_said_between_two_steps_without_a_row() -> None:
    rows = [Row(START, 0, None, MS, None), Row(START + 100 * SECOND, 0, None, MS, None)]
    steps = [(START + 30 * SECOND, SECOND), (START + 60 * SECOND, -SECOND)]
    found = table(host_rows(rows, steps), PieceChoices(0, 0))
    assert [((piece.start - START) // SECOND, (piece.stop - START) // SECOND) for piece in found] == [
        (0, 28),
        (63, 100),
    ]


@st.composite
def any_rows(draw: st.DrawFn) -> list[Row]:
    """Rows in any order, with the largest figures that are believed."""
    sizes = st.one_of(st.sampled_from([1, LARGEST]), st.integers(1, LARGEST), st.integers(1, SECOND))
    readings = st.one_of(st.sampled_from([0, LAST_INSTANT]), st.integers(0, LAST_INSTANT))
    found = []
    for _ in range(draw(st.integers(1, 6))):
        since, bound, ahead = draw(st.booleans()), draw(sizes), draw(sizes) * draw(st.sampled_from([-1, 1]))
        m, b = (bound, None) if since else (None, bound)
        servo = draw(st.sampled_from([2, 2, 2, 1, 0]))
        found.append(Row(draw(readings), ahead, draw(sizes), m, b, draw(st.booleans()), servo))
    return found


@given(
    any_rows(), st.lists(st.tuples(st.integers(0, LAST_INSTANT), st.integers(-LARGEST, LARGEST)), max_size=2)
)
def test_pieces_are_disjoint_and_hold_their_estimate_whatever_the_rows(
    rows: list[Row], steps: list[Step]
) -> None:
    found = table(host_rows(rows, steps), PieceChoices(100_000_000, 2**55))
    assert all(one.stop <= other.start for one, other in pairwise(found))
    assert all(piece.low <= 0 <= piece.high and piece.start < piece.stop for piece in found)


@st.composite
def logs_that_go_back(draw: st.DrawFn) -> list[Row]:
    rows = draw(logs(8))
    shifts = st.integers(-200, 5)
    shift = 0
    found = []
    for row in rows:
        shift += draw(shifts) if draw(st.sampled_from([False, False, True])) else 0
        found.append(replace(row, t=row.t + shift * SECOND))
    return found


def test_readings_that_go_back_while_nothing_is_synchronised_are_shown_twice() -> None:
    readings = [(0, True), (100, True), (50, False), (60, True), (160, True)]
    rows = [Row(START + at * SECOND, 0, None, MS, None, known) for at, known in readings]
    found = table(host_rows(rows), PieceChoices(0, 0))
    assert [((piece.start - START) // SECOND, (piece.stop - START) // SECOND) for piece in found] == [
        (0, 60),
        (60, 100),
        (100, 160),
    ]


@given(logs_that_go_back())
def test_readings_shown_twice_hold_every_law(rows: list[Row]) -> None:
    """Pieces are disjoint, and each says no less than the pieces of the parts of the log that go forward.

    Where a piece is cut, its estimate is rounded and its range is a nanosecond wider.
    """
    choices = PieceChoices(15_000, 0)
    found = table(host_rows(rows), choices)
    assert all(one.stop <= other.start for one, other in pairwise(found))
    assert all(piece.low <= 0 <= piece.high and piece.start < piece.stop for piece in found)
    stretches: list[list[Row]] = []
    for row in rows:
        if not stretches or row.t < stretches[-1][-1].t:
            stretches.append([])
        stretches[-1].append(row)
    usual = sorted(b.t - a.t for a, b in pairwise(rows) if b.t > a.t)
    for stretch in stretches:
        for piece in table(host_rows(stretch), choices):
            inside = [each for each in found if each.start < piece.stop and piece.start < each.stop]
            covered = sum(min(each.stop, piece.stop) - max(each.start, piece.start) for each in inside)
            assert covered == piece.stop - piece.start, usual
            for each in inside:
                for reading in (max(each.start, piece.start), min(each.stop, piece.stop)):
                    assert each.low + estimate(each, reading) <= piece.low + estimate(piece, reading) + 2
                    assert each.high + estimate(each, reading) >= piece.high + estimate(piece, reading) - 2


def estimate(piece: Piece, reading: int) -> Fraction:
    part = Fraction(reading - piece.start, piece.stop - piece.start)
    return piece.ahead + part * (piece.ahead_to - piece.ahead)

"""A table of matches: a line for each row, the answer first, and what gives way on a narrow terminal."""

from __future__ import annotations

import io

import pyarrow as pa

from cepctl.render.matches import matches_text, print_matches

DAY = "2026-03-03T"
ROWS = pa.table(
    {
        "task": [f"task_1772009204117_0042_m_{number:06}" for number in (11, 10)],
        "confidence": [0.7737903449808344, 0.00000012345],
        "start": [f"{DAY}09:01:29.552Z", f"{DAY}09:01:21.604Z"],
        "end": [f"{DAY}09:02:17.000Z", f"{DAY}09:02:12.603Z"],
        "match": ["job_0042.jhist#73 gmond-2.xml#41", "job_0042.jhist#68 gmond-2.xml#30+gmond-2.xml#31"],
    }
)


def test_a_wide_terminal_shows_all_with_short_ids() -> None:
    assert matches_text(ROWS, 140).splitlines() == [
        f"task{' ' * 30}confidence  start{' ' * 21}end{' ' * 23}match",
        f"task_1772009204117_0042_m_000011    0.773790  {DAY}09:01:29.552Z  {DAY}09:02:17.000Z  1#73 2#41",
        f"task_1772009204117_0042_m_000010    1.23e-07  {DAY}09:01:21.604Z  {DAY}09:02:12.603Z"
        "  1#68 2#30+2#31",
        "match: 1# job_0042.jhist, 2# gmond-2.xml",
    ]


def test_the_date_that_all_times_share_gives_way_first() -> None:
    assert matches_text(ROWS, 100).splitlines() == [
        "task                              confidence  start          end            match",
        "task_1772009204117_0042_m_000011    0.773790  09:01:29.552Z  09:02:17.000Z  1#73 2#41",
        "task_1772009204117_0042_m_000010    1.23e-07  09:01:21.604Z  09:02:12.603Z  1#68 2#30+2#31",
        "match: 1# job_0042.jhist, 2# gmond-2.xml",
        "start and end: on 2026-03-03",
    ]


def test_then_ids_and_times_give_way_and_a_line_says_so() -> None:
    assert matches_text(ROWS, 64).splitlines() == [
        "task                              confidence  start",
        "task_1772009204117_0042_m_000011    0.773790  09:01:29.552Z",
        "task_1772009204117_0042_m_000010    1.23e-07  09:01:21.604Z",
        "start: on 2026-03-03",
        "no room for end, match: --columns end,match, a file or a pipe shows more",
    ]


def test_cells_are_broken_only_where_that_is_not_enough() -> None:
    lines = matches_text(ROWS.select(["task", "confidence"]), 40).splitlines()
    assert [line.split() for line in lines if line.strip("─ ")] == [
        ["task", "confidence"],
        ["task_1772009204117_0042_m_", "0.773790"],
        ["000011"],
        ["task_1772009204117_0042_m_", "1.23e-07"],
        ["000010"],
    ]


def test_times_on_several_days_keep_their_dates() -> None:
    later = ROWS.set_column(3, "end", pa.array([f"{DAY}09:02:17.000Z", "2026-03-04T00:00:00.000Z"]))
    assert f"{DAY}09:01:29.552Z" in matches_text(later, 120)


def test_a_pipe_gets_every_column_however_wide() -> None:
    held = io.StringIO()
    print_matches(pa.table({"note": ["x" * 500], "match": ["a b"]}), held)
    assert held.getvalue() == f"{'note':<500}  match\n{'x' * 500}  a b\n"


def test_an_id_that_a_log_gave_itself_stays_whole() -> None:
    assert "cart-17 1#4" in matches_text(pa.table({"match": ["cart-17 shop.log#4"]}), 80)

"""Marks of uncertainty in XES become intervals and masses; what has no model is counted, or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cepctl.errors import LogFormatError
from cepctl.ingestion.assigning import assign_dataset
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions
from cepctl.matching.inputs import read_events
from cepctl.uncertainty.model import load_model

DAY = 86_400_000
NOON = DAY // 2


def date(key: str, text: str) -> str:
    return f'<date key="{key}" value="{text}"/>'


def time(text: str) -> str:
    return date("time:timestamp", text)


def strong(*inside: str) -> str:
    return f'<list key="uncertainty:continuous_strong">{"".join(inside)}</list>'


def weak(function: str, *inside: str) -> str:
    named = f'<string key="uncertainty:density_function" value="{function}"/>'
    parameters = f'<list key="uncertainty:function_parameters">{"".join(inside)}</list>'
    return f'<container key="uncertainty:continuous_weak">{named}{parameters}</container>'


def event(*inside: str, name: str = '<string key="concept:name" value="A"/>') -> str:
    return f"<event>{name}{''.join(inside)}</event>"


def log(folder: Path, *events: str) -> str:
    file = folder / "a.xes"
    file.write_text(
        f'<log><trace><string key="concept:name" value="c"/>{"".join(events)}</trace></log>', encoding="utf-8"
    )
    return str(file)


def read(
    folder: Path, *events: str, options: IngestOptions | None = None
) -> tuple[list[dict[str, Any]], IngestSummary]:
    """The events in the order of the file, and what was said."""
    output = str(folder / "events")
    summary = ingest([log(folder, *events)], output, replace(options or IngestOptions(), overwrite=True))
    rows = read_events([output]).to_pylist()
    return sorted(rows, key=lambda row: int(row["event_id"].rpartition("#")[2])), summary


NOON_AND_MARK = "1970-01-02T12:00:00.000Z"


@pytest.mark.parametrize(
    "marks",
    [
        strong(time("1970-01-01T12:00:00Z"), time("1970-01-04T12:00:00Z")),
        strong(f"<values>{time('1970-01-01T12:00:00Z')}{time('1970-01-04T12:00:00Z')}</values>"),
        weak("UNIFORM", time("1970-01-01T12:00:00Z"), time("1970-01-04T14:00:00+02:00")),
        date("u:time:timestamp_min", "1970-01-01T12:00:00Z")
        + date("u:time:timestamp_max", "1970-01-04T12:00:00Z"),
        date("uncertainty:time:timestamp_min", "1970-01-01T12:00:00Z")
        + date("uncertainty:time:timestamp_max", "1970-01-04T12:00:00Z"),
        date("uncertainty:timestamp_min", "1970-01-01T12:00:00Z")
        + date("uncertainty:timestamp_max", "1970-01-04T12:00:00Z"),
    ],
    ids=["strong", "values", "uniform", "proved", "standard ends", "short ends"],
)
def test_an_uncertain_time_is_an_interval(marks: str, tmp_path: Path) -> None:
    (row, exact), summary = read(
        tmp_path, event(time(NOON_AND_MARK), marks), event(time("1970-01-09T00:00:00.000Z"))
    )
    assert (row["lower"], row["upper"], row["pmf"]) == (NOON, 3 * DAY + NOON, None)
    assert row["time"].isoformat() == "1970-01-02T12:00:00+00:00"
    assert (exact["lower"], exact["upper"]) == (8 * DAY, 8 * DAY)
    assert not any("uncertain" in name for name in row)
    assert not any("alternative" in note for note in summary.notices)


def test_a_last_time_alone_counts_from_the_time_itself(tmp_path: Path) -> None:
    marked = event(time(NOON_AND_MARK), date("uncertainty:time:timestamp_max", "1970-01-02T12:00:01.500Z"))
    (row,), _ = read(tmp_path, marked)
    assert (row["lower"], row["upper"]) == (DAY + NOON, DAY + NOON + 1_500)


def test_an_event_whose_time_is_in_its_marks_alone_has_one(tmp_path: Path) -> None:
    ends = date("u:time:timestamp_min", "1970-01-01T00:00:01.5Z") + date(
        "u:time:timestamp_max", "1970-01-01T00:00:02Z"
    )
    (row,), summary = read(tmp_path, event(ends))
    assert (row["lower"], row["upper"], summary.rejects) == (1_500, 2_000, ())


def test_ticks_are_as_fine_as_the_ends_of_intervals(tmp_path: Path) -> None:
    marks = strong(time("1970-01-01T00:00:00.0000005Z"), time("1970-01-01T00:00:01Z"))
    (row, other), _ = read(
        tmp_path, event(time(NOON_AND_MARK), marks), event(time("1970-01-01T00:00:00.250Z"))
    )
    assert (row["lower"], row["upper"], other["lower"]) == (500, 10**9, 250 * 10**6)


def test_midnights_beside_marks_are_no_days(tmp_path: Path) -> None:
    marked = event(
        time("1970-01-02T00:00:00.000Z"), strong(time("1970-01-01T00:00:00Z"), time("1970-01-03T00:00:00Z"))
    )
    (row, other), summary = read(tmp_path, marked, event(time("1970-01-05T00:00:00.000Z")))
    assert (row["lower"], row["upper"]) == (0, 2 * DAY)
    assert (other["lower"], other["upper"]) == (4 * DAY, 4 * DAY)
    assert not any("midnight" in note for note in summary.notices)


@pytest.mark.parametrize(
    ("mean", "deviation", "notes"),
    [
        (time("1970-01-02T12:00:00Z"), '<string key="parameter_stddev" value="2 s"/>', []),
        (time("1970-01-02T12:00:00Z"), '<float key="parameter_stddev" value="2"/>', ["deviations without"]),
        (
            '<double key="parameter_mean" value="129600"/>',
            '<double key="b" value="2"/>',
            ["deviations without"],
        ),
        (
            '<double key="parameter_mean" value="7"/>',
            '<double key="b" value="2"/>',
            ["deviations without", "not times"],
        ),
    ],
)
def test_a_gaussian_is_what_a_rule_gives(mean: str, deviation: str, notes: list[str], tmp_path: Path) -> None:
    (row,), summary = read(tmp_path, event(time(NOON_AND_MARK), weak("GAUSSIAN", mean, deviation)))
    model = tmp_path / "model.toml"
    model.write_text('[[rule]]\nnormal = { sigma = "2 s", cut = 4 }\n', encoding="utf-8")
    ruled = str(tmp_path / "ruled")
    assign_dataset(str(tmp_path / "events"), ruled, IngestOptions(model=load_model(str(model))))
    (expected,) = read_events([ruled]).to_pylist()
    assert {name: row[name] for name in ("lower", "upper", "pmf")} == {
        name: expected[name] for name in ("lower", "upper", "pmf")
    }
    assert len(row["pmf"]) == 64
    assert [note for note in notes if not any(note in said for said in summary.notices)] == []
    assert sum("seconds" in said or "not times" in said for said in summary.notices) == len(notes)


def test_a_histogram_has_its_masses_and_shares_no_tick(tmp_path: Path) -> None:
    def bucket(first: str, last: str, mass: float) -> str:
        ends = (time(f"1970-01-01T00:00:{second}Z") for second in (first, last))
        return "".join(ends) + f'<float key="uncertainty:probability" value="{mass}"/>'

    marks = weak("HISTOGRAM", bucket("00.100", "00.900", 0.25), bucket("00.950", "03.100", 0.75))
    written = event(time("1970-01-01T00:00:01.000Z"), marks)
    (row,), _ = read(tmp_path, written)
    assert row["pmf"] == [{"lo": 100, "hi": 900, "p": 0.25}, {"lo": 950, "hi": 3_100, "p": 0.75}]
    model = tmp_path / "model.toml"
    model.write_text('time_unit = "1 s"\n', encoding="utf-8")
    (row,), _ = read(tmp_path, written, options=IngestOptions(model=load_model(str(model))))
    assert row["pmf"] == [{"lo": 0, "hi": 0, "p": 0.25}, {"lo": 1, "hi": 3, "p": 0.75}]


@pytest.mark.parametrize("pair", ["one event", "start and complete"])
def test_both_ends_of_what_lasts_have_their_intervals(pair: str, tmp_path: Path) -> None:
    def mark(key: str, first: int, last: int) -> str:
        return "".join(date(key, f"1970-01-01T00:00:0{second}.000Z") for second in (first, last))

    if pair == "one event":
        marks = strong(mark("start_timestamp", 1, 2), mark("time:timestamp", 4, 6))
        own = date("start_timestamp", "1970-01-01T00:00:01.500Z") + time("1970-01-01T00:00:05.000Z")
        events = [event(own, marks)]
    else:
        step = '<string key="lifecycle:transition" value="{}"/>'
        events = [
            event(
                time("1970-01-01T00:00:01.500Z"), step.format("start"), strong(mark("time:timestamp", 1, 2))
            ),
            event(
                time("1970-01-01T00:00:05.000Z"),
                step.format("complete"),
                strong(mark("time:timestamp", 4, 6)),
            ),
        ]
    (row,), _ = read(tmp_path, *events, options=IngestOptions(read=ReadOptions(intervals=True)))
    assert [row[name] for name in ("lower", "upper", "end_lower", "end_upper")] == [
        1_000,
        2_000,
        4_000,
        6_000,
    ]


PERHAPS_NOT = '<bool key="uncertainty:indeterminacy" value="true"/>'
PERHAPS = f'<container key="uncertainty:discrete_strong">{PERHAPS_NOT}</container>'
WEAK_ACTIVITIES = (
    '<list key="uncertainty:discrete_weak"><values>'
    + "".join(
        f'<container key="uncertainty:entry"><string key="concept:name" value="{name}"/>'
        f'<float key="uncertainty:probability" value="{mass}"/></container>'
        for name, mass in (("B", 0.75), ("C", 0.25))
    )
    + "</values></list>"
)
AMOUNTS = strong('<float key="amount" value="1"/>', '<float key="amount" value="2"/>')


@pytest.mark.parametrize(
    ("marks", "what"),
    [
        (PERHAPS, "may not have happened: 1"),
        ('<string key="u:missing" value=""/>', "may not have happened: 1"),
        (f'<container key="uncertainty:entry">{PERHAPS_NOT}</container>', "may not have happened: 1"),
        (WEAK_ACTIVITIES, "of several activities: 1"),
        (AMOUNTS, "other values that are uncertain: 1"),
        (weak("GAMMA", '<float key="k" value="3"/>'), "density function is none of"),
        (strong(time("?"), time("1970-01-01T00:00:00Z")), "cannot be read: 1"),
        (strong(time("1970-01-02T00:00:00Z"), time("1970-01-01T00:00:00Z")), "cannot be read: 1"),
        (date("u:time:timestamp_min", "?"), "cannot be read: 1"),
        (weak("GAUSSIAN", time("1970-01-02T00:00:00Z"), '<float key="b" value="-1"/>'), "cannot be read: 1"),
        (weak("HISTOGRAM", time("1970-01-02T00:00:00Z")), "cannot be read: 1"),
    ],
)
def test_what_has_no_model_is_counted_and_refused_where_one_is_strict(
    marks: str, what: str, tmp_path: Path
) -> None:
    (row,), summary = read(tmp_path, event(time(NOON_AND_MARK), marks))
    assert (row["event_type"], row["lower"], row["upper"]) == ("A", DAY + NOON, DAY + NOON)
    (said,) = [note for note in summary.notices if what in note]
    assert "rows are computed as if" in said
    assert any(name.startswith(("uncertainty:", "u:")) for name in row)
    with pytest.raises(LogFormatError, match=r"a\.xes: event 1 .* without --strict"):
        read(tmp_path, event(time(NOON_AND_MARK), marks), options=IngestOptions(strict=True))


def test_strict_takes_marks_that_are_understood(tmp_path: Path) -> None:
    marks = strong(time("1970-01-01T12:00:00Z"), time("1970-01-04T12:00:00Z"))
    (row,), _ = read(tmp_path, event(time(NOON_AND_MARK), marks), options=IngestOptions(strict=True))
    assert row["upper"] == 3 * DAY + NOON


def test_an_event_without_a_name_has_that_of_its_first_alternative(tmp_path: Path) -> None:
    (row,), _ = read(tmp_path, event(time(NOON_AND_MARK), WEAK_ACTIVITIES, name=""))
    assert row["event_type"] == "B"


def test_the_trace_of_the_paper_is_read(tmp_path: Path) -> None:
    """Table 1 of the addendum to "An XES Extension for Uncertain Event Data"."""
    july = "2011-07-{:02}T12:00:00+00:00"
    alternatives = "".join(f'<string key="concept:name" value="{name}"/>' for name in ("PrTP", "SecTP"))
    rows, summary = read(
        tmp_path,
        event(time(july.format(5)), PERHAPS, name='<string key="concept:name" value="NightSweats"/>'),
        event(
            time(july.format(8)),
            f'<container key="uncertainty:discrete_strong">{alternatives}</container>',
            name='<string key="concept:name" value="PrTP"/>',
        ),
        event(
            time(july.format(7)),
            strong(time(july.format(4)), time(july.format(10))),
            name='<string key="concept:name" value="Splenomeg"/>',
        ),
    )
    assert [row["event_type"] for row in rows] == ["NightSweats", "PrTP", "Splenomeg"]
    assert rows[2]["upper"] - rows[2]["lower"] == 6 * DAY
    # As coarse as written: to the second.
    assert [row["upper"] - row["lower"] for row in rows[:2]] == [999, 999]
    assert sum("alternative" in note for note in summary.notices) == 2

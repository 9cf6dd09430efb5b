"""Blurs: what is read of true times, which intervals are made of it, and what a draw depends on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import cepctl
from cepctl.calibration.draws import drawn

COUNT = 4_000


def kept(folder: Path, table: pa.Table, **options: Any) -> pl.DataFrame:
    """The blurred events, sorted by id."""
    place = folder / f"kept-{len(list(folder.iterdir()))}"
    cepctl.calibrate(None, table, by="key", blurred=place, **options)
    return pl.read_parquet(place / "*.parquet").sort("event_id")


def many(**columns: list[Any]) -> pa.Table:
    """Events of two types at one tick, with ids of one width, so that their order is that of the table."""
    ticks = pa.array([1_000] * COUNT)
    return pa.table(
        {
            "event_id": [f"e{at:04}" for at in range(COUNT)],
            "event_type": ["A", "B"] * (COUNT // 2),
            "key": [str(at // 2) for at in range(COUNT)],
            "lower": ticks,
            "upper": ticks,
            **columns,
        }
    )


def shares(found: pl.DataFrame, low: int, high: int) -> np.ndarray[Any, Any]:
    """How often each error, true tick less reading, was drawn; 4.5 deviations from even are a fault."""
    error = found.get_column("truth") - (found.get_column("lower") + found.get_column("upper")) // 2
    assert error.is_between(low, high).all()
    return np.bincount(error.to_numpy() - low, minlength=high - low + 1) / COUNT


def test_coarsened_times_are_whole_units_and_draw_nothing(tmp_path: Path) -> None:
    found = kept(tmp_path, many(), coarsen="300 ms")
    assert found.get_column("lower").to_list() == [900] * COUNT
    assert found.get_column("upper").to_list() == [1_199] * COUNT
    assert found.get_column("time").dt.epoch("ms").to_list() == [900] * COUNT
    assert found.equals(kept(tmp_path, many(), coarsen="300 ms", seed=9))


def test_a_day_is_that_of_the_zone_in_which_a_time_was_written(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "event_type,key,time\n"
        "A,k,2024-05-01T00:30:00.123+02:00\nB,k,2024-05-01T09:00:00.123+02:00\nC,k,2024-05-02T01:00:00.123+02:00\n"
    )
    cepctl.calibrate(None, log, by="key", coarsen="1 day", blurred=tmp_path / "kept")
    found = pl.read_parquet(tmp_path / "kept/*.parquet").sort("event_type")
    begun = found.get_column("lower").cast(pl.Datetime("ms")).dt.to_string("%F %T").to_list()
    assert begun == ["2024-04-30 22:00:00", "2024-04-30 22:00:00", "2024-05-01 22:00:00"]
    assert (found.get_column("upper") - found.get_column("lower")).to_list() == [86_399_999] * 3


def test_jitter_is_even_over_all_ticks_of_both_ends(tmp_path: Path) -> None:
    found = kept(tmp_path, many(), jitter="2 ms")
    assert (found.get_column("upper") - found.get_column("lower")).to_list() == [4] * COUNT
    assert shares(found, -2, 2) == pytest.approx([0.2] * 5, abs=4.5 * (0.16 / COUNT) ** 0.5)


def test_what_one_clock_stamped_errs_by_one_offset(tmp_path: Path) -> None:
    nodes = [f"n{at // 4:03}" for at in range(COUNT)]
    found = kept(tmp_path, many(node=nodes), clock="by=node 3 ms")
    own = found.with_columns(reading=(pl.col("lower") + pl.col("upper")) // 2)
    errors = own.group_by("node").agg((pl.col("truth") - pl.col("reading")).unique())
    assert errors.get_column("truth").list.len().to_list() == [1] * (COUNT // 4)
    drawn_offsets = np.array([each[0] for each in errors.get_column("truth").to_list()])
    assert sorted(set(drawn_offsets)) == [-3, -2, -1, 0, 1, 2, 3]
    assert found.get_column("clock").to_list() == [f"node={node}" for node in nodes]
    assert (found.get_column("upper") - found.get_column("lower")).to_list() == [6] * COUNT


def test_a_model_draws_from_the_mass_of_the_rule_that_fits(tmp_path: Path) -> None:
    model = tmp_path / "model.toml"
    model.write_text(
        '[[rule]]\nevent_type = "A"\nlatency = [["0 ms", "1 ms", 0.75], ["1 ms", "3 ms", 0.25]]\n'
    )
    found = kept(tmp_path, many(), model=model)
    fits = found.get_column("event_type") == "A"
    others = found.filter(~fits)
    assert (
        others.get_column("lower").to_list() == others.get_column("upper").to_list() == [1_000] * (COUNT // 2)
    )
    delay = (found.filter(fits).get_column("upper") - 1_000).to_numpy()
    told = np.bincount(delay, minlength=3) / (COUNT // 2)
    assert told == pytest.approx([0.75, 0.125, 0.125], abs=4.5 * (0.1875 / (COUNT // 2)) ** 0.5)


def test_no_order_of_events_and_no_other_event_changes_a_draw(tmp_path: Path) -> None:
    table = many()
    whole = kept(tmp_path, table, jitter="1 s")
    turned = kept(tmp_path, table.take(list(reversed(range(COUNT)))), jitter="1 s")
    some = kept(tmp_path, table.slice(100, 50), jitter="1 s")
    columns = ["event_id", "lower", "upper", "time", "truth"]
    assert whole.select(columns).equals(turned.select(columns))
    assert whole.select(columns).slice(100, 50).equals(some.select(columns))
    assert not whole.select("lower").equals(kept(tmp_path, table, jitter="1 s", seed=2).select("lower"))


def test_a_draw_depends_on_all_of_its_name() -> None:
    names = pa.array([f"{'x' * 40}{at}" for at in range(100_000)])
    assert len(set(drawn(1, "tick", names).tolist())) == 100_000
    assert not (drawn(1, "tick", names) == drawn(1, "bucket", names)).any()


def test_what_is_kept_is_a_dataset_that_can_be_asked(tmp_path: Path) -> None:
    table = many().slice(0, 2)
    table = table.set_column(3, "lower", pa.array([3, 5])).set_column(4, "upper", pa.array([3, 5]))
    found = cepctl.calibrate("PATTERN SEQ(A a, B b)", table, coarsen="10 ms", blurred=tmp_path / "kept")
    rows = cepctl.match("PATTERN SEQ(A a, B b) RETURN a.truth", tmp_path / "kept", runner="local").polars()
    assert rows.get_column("a.truth").to_list() == [3]
    assert rows.get_column("confidence").to_list() == [found.shown[0][0].stated] == [0.45]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "name one blur"),
        ({"coarsen": "1 s", "jitter": "1 s"}, "name one blur"),
        ({"coarsen": "1 ms"}, "hides nothing: each of 4,000 events keeps its one tick of 1 ms"),
        ({"coarsen": "0 s"}, "granularity must be"),
        ({"jitter": "0 s"}, "hides nothing; write a duration above 0"),
        ({"jitter": "soon"}, "'soon' is not a duration"),
        ({"clock": "key 5 ms"}, "write clock='by=node 500 ms'"),
        ({"clock": "by=kye 5 ms"}, "no event has the attribute 'kye' \\(did you mean 'key'\\?\\)"),
        ({"clock": "by=key 0 ms"}, "hides nothing"),
        ({"clock": "by=key -5 ms"}, "write it without a sign"),
        ({"coarsen": "1 s", "by": "kye"}, "by: no event has the attribute 'kye'"),
        ({"coarsen": "1 s", "step": "kind"}, "step: no event has the attribute 'kind'"),
        ({"coarsen": "1 s", "part": "2/2"}, "part=2/2 is not a part"),
        ({"coarsen": "1 s", "part": "1"}, "part=1 is not a part"),
        ({"coarsen": "1 s", "part": "0/0"}, "part=0/0 is not a part"),
        ({"coarsen": "1 s", "repeat": 0}, "repeat=0"),
        ({"coarsen": "1 s", "repeat": 2, "blurred": "kept"}, "leave out repeat"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options: dict[str, Any], told: str) -> None:
    with pytest.raises(cepctl.CepctlError, match=told) as raised:
        cepctl.calibrate(None, many(), **{"by": "key", **options})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("", r"hides nothing, it has no \[\[rule\]\]"),
        ('time_unit = "1 us"\n[[rule]]\njitter = 1', "unknown key 'jitter'"),
        (
            'time_unit = "1 us"\n[[rule]]\ngranularity = "1 s"',
            "counts in ticks of 1 us, the events in ticks of 1 ms",
        ),
        ('[[rule]]\nevent_type = "Z"\ngranularity = "1 s"', "hides nothing"),
        ('[[rule]]\nend = { before = "1 s" }', "interval events is not supported"),
        (
            '[[rule]]\nclock = { by = "key", offset = "1 s", period = "1 h" }',
            "period of a clock is not supported",
        ),
        ('[[rule]]\ngranularity = "1 s"\n[[given]]\nholds = "SEQ(A a, B b) IF a.key = b.key"', "given"),
        (
            '[[rule]]\nevent_type = "A"\nclock = { name = "m", offset = "1 s" }\n'
            '[[rule]]\nclock = { name = "m", offset = "2 s" }',
            "two offsets",
        ),
    ],
)
def test_models_that_cannot_hide_times_are_refused(tmp_path: Path, rule: str, told: str) -> None:
    model = tmp_path / "model.toml"
    model.write_text(rule)
    with pytest.raises(cepctl.CepctlError, match=told):
        cepctl.calibrate(None, many(), by="key", model=model)


def test_true_times_are_those_of_the_log_or_intervals_of_one_tick(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("event_type,key,lower,upper\nA,k,1,1\nB,k,2,4\nB,k,3,4\n")
    with pytest.raises(cepctl.CepctlError, match=r"^2 of 3 events have no true time") as raised:
        cepctl.calibrate(None, log, by="key", coarsen="1 s")
    assert raised.value.exit_code == 2
    log.write_text("event_type,key,time\nA,k,2024-05-01T00:00:01\nB,k,2024-05-01T00:00:02\n")
    assert cepctl.calibrate(None, log, by="key", coarsen="1 min").open == 1


def test_events_without_a_key_have_no_pairs(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("event_type,case_id,lower,upper\nA,k,1,1\nB,k,2,2\nB,,3,3\n")
    assert cepctl.calibrate(None, log, coarsen="1 s").rows == 1
    query = "PATTERN SEQ(A a, B b)"
    assert cepctl.calibrate(query, log, coarsen="1 s", by="case_id").rows == 2
    assert cepctl.calibrate(query, log, coarsen="1 s", by="case_id", part="0/1").rows == 1


def test_parts_are_every_so_manieth_key_in_code_point_order() -> None:
    keys = [name for name in ("10", "9", "B", "a", "é") for _ in "AB"]
    ticks = list(range(len(keys)))
    columns = {"event_type": ["A", "B"] * 5, "key": keys, "lower": ticks, "upper": ticks}
    for part, wanted in (("0/2", {"10", "B", "é"}), ("1/2", {"9", "a"}), ("2/3", {"B"})):
        found = cepctl.calibrate(None, pa.table(columns), by="key", coarsen="1 s", part=part)
        ids = {each.event_id for (row,) in zip(found.shown[0], strict=True) for each in row.events}
        assert {keys[int(each.partition("#")[2]) - 1] for each in ids} == wanted


def test_interval_events_and_what_is_given_are_refused_by_name(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("event_type,key,lower,upper,end_lower,end_upper\nA,k,1,1,2,2\n")
    with pytest.raises(cepctl.CepctlError, match="interval events is not supported"):
        cepctl.calibrate(None, log, by="key", coarsen="1 s")
    model = tmp_path / "model.toml"
    model.write_text(
        '[[rule]]\ninterval = { before = "1 ms" }\n[[given]]\nholds = "SEQ(A a, B b) IF a.key = b.key"\n'
    )
    log.write_text("event_type,key,time\nA,k,2024-05-01T00:00:01.5\nB,k,2024-05-01T00:00:02.5\n")
    with pytest.raises(cepctl.CepctlError, match="no_given leaves that out"):
        cepctl.calibrate(None, log, by="key", coarsen="1 s", uncertainty=model)
    assert cepctl.calibrate(None, log, by="key", coarsen="1 h", uncertainty=model, no_given=True).open == 1

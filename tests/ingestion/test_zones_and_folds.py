"""What a log says of zones, and the hours that clocks have twice or never, as matches see it."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.errors import UncertaintyModelError

TWO_ZONES = (
    "2026-06-14 14:56:15.123 EST [main] INFO a.b.C: job a ended\n"
    "2026-06-14 20:56:15.500 CEST [main] INFO a.b.C: job b ended\n"
)
ORDERS = "event_type,time\nEnter,2023-10-29 02:59:35\nLeave,2023-10-29 02:30:00\n"
PATTERNS = (
    '[[pattern]]\nevent_type = "A"\nmessage = "a ended"\n[[pattern]]\nevent_type = "B"\nmessage = "b ended"\n'
)
HOUR = 3_600_000


def confidences(first: str, second: str, events: Path) -> list[float]:
    found = cepctl.match(f"PATTERN SEQ({first} a, {second} b)", events)
    return [row["confidence"] for row in found.head(9).to_pylist()]


def dataset(folder: Path, name: str, text: str, **options: object) -> Path:
    (folder / name).write_text(text)
    cepctl.ingest(folder / name, folder / "events", overwrite=True, **options)  # type: ignore[arg-type]
    return folder / "events"


def test_two_lines_in_two_zones_are_in_the_order_of_their_instants(tmp_path: Path) -> None:
    table = pq.read_table(dataset(tmp_path, "two.log", TWO_ZONES))
    assert [text[-7:-6] for text in table.column("message").to_pylist()] == ["b", "a"]
    first, last = table.column("lower").to_pylist()
    assert last - first == HOUR - 377


def test_a_line_with_a_word_of_several_zones_is_a_reject_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "two.log").write_text(TWO_ZONES + TWO_ZONES.replace(" EST", " CST"))
    summary = cepctl.ingest(tmp_path / "two.log", tmp_path / "events")
    assert [reject.line for reject in summary.summary.rejects] == [3]
    assert "--zone CST=America/Chicago" in summary.summary.rejects[0].cause
    said = cepctl.ingest(
        tmp_path / "two.log", tmp_path / "events", zone={"CST": "America/Chicago"}, overwrite=True
    )
    assert not said.summary.rejects


def test_a_model_says_what_a_zone_word_means_and_the_option_wins(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("2026-06-14 14:56:15 CST job a ended\n")
    (tmp_path / "model.toml").write_text('zone = { CST = "America/Chicago" }\n')

    def hour(**chosen: object) -> int:
        made = {"uncertainty": tmp_path / "model.toml", "overwrite": True, **chosen}
        cepctl.ingest(tmp_path / "x.log", tmp_path / "events", **made)  # type: ignore[arg-type]
        (row,) = pq.read_table(tmp_path / "events").to_pylist()
        return int(row["time"].hour)

    assert hour() == 20
    assert hour(zone={"CST": "Asia/Shanghai"}) == 6
    (tmp_path / "model.toml").write_text('zone = "UTC"\n')
    with pytest.raises(UncertaintyModelError, match=r"zone takes a table: write zone = . CST"):
        hour()


@pytest.mark.parametrize(("first", "second", "share"), [("Enter", "Leave", 0.25), ("Leave", "Enter", 0.75)])
def test_an_hour_that_happens_twice_is_two_instants_with_one_half_each(
    tmp_path: Path, first: str, second: str, share: float
) -> None:
    events = dataset(tmp_path, "orders.csv", ORDERS, tz="Europe/Paris")
    assert confidences(first, second, events) == [share]


def test_each_of_two_instants_is_as_wide_as_the_unit_or_the_rule(tmp_path: Path) -> None:
    def buckets(**options: object) -> list[tuple[int, int, float]]:
        events = dataset(tmp_path, "one.csv", ORDERS.rpartition("Leave")[0], tz="Europe/Paris", **options)
        (row,) = pq.read_table(events).to_pylist()
        assert (row["lower"], row["upper"]) == (row["pmf"][0]["lo"], row["pmf"][-1]["hi"])
        return [(each["lo"] - row["lower"], each["hi"] - row["lower"], each["p"]) for each in row["pmf"]]

    assert buckets() == [(0, 999, 0.5), (HOUR, HOUR + 999, 0.5)]
    (tmp_path / "model.toml").write_text('rule = [{ granularity = "1 min" }]')
    assert buckets(uncertainty=tmp_path / "model.toml") == [(0, 59_999, 0.5), (HOUR, HOUR + 59_999, 0.5)]
    (tmp_path / "model.toml").write_text('rule = [{ granularity = "1 d" }]')
    first, both, last = buckets(uncertainty=tmp_path / "model.toml")
    assert first[1] + 1 == both[0] == HOUR
    assert last[2] == pytest.approx(1 / 48)
    assert both[2] == pytest.approx(23 / 24)


@pytest.mark.parametrize("name", ["gap.log", "gap.csv"])
def test_a_time_that_the_clocks_skipped_is_a_reject_that_says_so(tmp_path: Path, name: str) -> None:
    texts = {
        "gap.log": "2026-03-29 02:30:00 job a\n2026-03-29 04:30:00 job b\n2026-03-29 05:30:00 job c\n",
        "gap.csv": "event_type,time\nA,2026-03-29 02:30:00\nB,2026-03-29 04:30:00\nC,2026-03-29 05:30:00\n",
    }
    (tmp_path / name).write_text(texts[name])
    summary = cepctl.ingest(tmp_path / name, tmp_path / "events", tz="Europe/Berlin")
    assert [reject.cause for reject in summary.summary.rejects] == [
        "the clocks of Europe/Berlin skipped this hour"
    ]

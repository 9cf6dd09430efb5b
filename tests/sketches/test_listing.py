"""Which events of a part are listed one by one, and what is kept of each."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from cepctl.plan.event_schema import EventSchema
from cepctl.schema import MILLISECOND
from cepctl.sketches.listing import Indexed
from cepctl.sketches.places import PartPlaces, places_of
from cepctl.sketches.probing import probe_rows
from cepctl.sketches.skipping import row_groups_to_read
from tests.plans import ATTRIBUTES, Event, event_table, plan_of
from tests.sketched_tables import archive_of, row_groups, sketch_of_table

COMMON = [Event(f"c{number}", "C", 10 * number, 10 * number + 1, x=number) for number in range(96)]
RARE = Event("r", "R", 123, 900_000, k="k1")


def kept(share: float, indexed: Indexed | None = None) -> PartPlaces:
    events = event_table([*COMMON, RARE])
    return places_of(enumerate(row_groups(events, 64)), indexed or Indexed(), share)


def test_events_of_the_rarest_types_are_listed_and_stand_in_no_place() -> None:
    part = kept(0.125)
    assert part.listed.to_pylist() == [{"lower": 123, "width": 899_877, "group": 0}]
    assert sum(part.types.column("events").to_pylist()) == len(COMMON)
    assert len(part.types.column("hash").unique()) == 1


def test_a_share_of_all_lists_everything() -> None:
    part = kept(1.0)
    assert (len(part.listed), len(part.types)) == (len(COMMON) + 1, 0)


def test_a_share_that_no_type_fits_in_lists_nothing() -> None:
    assert len(kept(0.001).listed) == 0


def test_the_32nd_part_with_the_extreme_numbers_is_listed() -> None:
    part = kept(0.001, Indexed((), ("x",)))
    common = part.lists.filter(pa.compute.greater(part.lists.column("rows"), 0))
    assert common.select(["which", "rows"]).to_pylist() == [{"which": 1, "rows": 3}, {"which": 2, "rows": 3}]
    assert part.listed.column("lower").to_pylist() == [0, 10, 20, 930, 940, 950]


def test_a_very_wide_listed_event_blurs_nothing_of_its_neighbours(tmp_path: Path) -> None:
    events = event_table([*COMMON, RARE])
    sketch = sketch_of_table(tmp_path / "wide.sketch", events, Indexed(), 64)
    asked = archive_of([sketch], EventSchema(ATTRIBUTES, MILLISECOND))
    rows = probe_rows(plan_of("PATTERN SEQ(C a, C b) WITHIN 15 ticks"), asked)
    assert rows.select(["start", "end"]).to_pylist() == [{"start": 0, "end": 951}]


def test_values_are_not_read_where_that_costs_more_than_it_can_spare(tmp_path: Path) -> None:
    events = [Event(f"e{at}", "AB"[at % 2], at, at, k=f"k{at // 4}") for at in range(32)]
    sketch = sketch_of_table(tmp_path / "keys.sketch", event_table(events), Indexed(("k",)), 8, share=0.01)
    plan = plan_of("PATTERN SEQ(A a, B b) WHERE [k] AND a.time >= '1970-01-01T00:00:00.028Z' WITHIN 9 ticks")
    schema = EventSchema(ATTRIBUTES, MILLISECOND)
    read = [row_groups_to_read(plan, archive_of([sketch], schema), effort).read for effort in (1e9, 0)]
    assert read[0] <= read[1]
    opened = sketch._opened
    opened.clear()
    row_groups_to_read(plan, archive_of([sketch], schema), 0)
    assert "values.parquet" not in opened
    row_groups_to_read(plan, archive_of([sketch], schema), 1e9)
    assert "values.parquet" in opened

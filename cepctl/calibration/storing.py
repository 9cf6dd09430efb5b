"""Events of a calibration as a dataset of their own: for a query to run on, or to be kept."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cepctl import __version__
from cepctl.calibration.blurring import BlurredEvents
from cepctl.clocks.shared import Clocks, clocks_metadata
from cepctl.datasets.marker import SUCCESS, part_name
from cepctl.errors import UsageError
from cepctl.ingestion.publishing import aside, publish, refuse_existing
from cepctl.io.source.locations import Location
from cepctl.schema import META_TIME_UNIT, META_TYPE_COUNTS, META_VERSION, TimeUnit

TRUTH = "truth"
"""The attribute of blurred events that are kept: their true ticks."""
_ROW_GROUP_EVENTS = 65_536


def write_dataset(table: pa.Table, clocks: Clocks, unit: TimeUnit, folder: Location) -> None:
    """Write events, sorted by `lower` and id, as a dataset into a folder that is there and empty."""
    filesystem, directory = folder.resolve()
    counts = pc.value_counts(table.column("event_type")).to_pylist()
    metadata = {
        META_TIME_UNIT: str(unit).encode(),
        META_VERSION: __version__.encode(),
        META_TYPE_COUNTS: json.dumps(
            dict(sorted((each["values"], each["counts"]) for each in counts)), ensure_ascii=False
        ).encode(),
        **clocks_metadata(clocks),
    }
    place = f"{directory}/{part_name(0)}"
    described = table.replace_schema_metadata(metadata)
    pq.write_table(described, place, filesystem=filesystem, row_group_size=_ROW_GROUP_EVENTS)
    with filesystem.open_output_stream(f"{directory}/{SUCCESS}"):
        pass


def refuse_to_keep(attributes: list[str], output: str) -> None:
    """Raise UsageError where blurred events with these attributes cannot be kept at a place."""
    refuse_existing(Location.of(output), overwrite=False)
    if TRUTH in attributes:
        raise UsageError(
            f"--blurred would write the attribute '{TRUTH}', which the events have already; rename it there"
        )


def keep(blurred: BlurredEvents, unit: TimeUnit, output: str) -> None:
    """Write blurred events with the attribute `truth` as a dataset, which appears whole or not at all."""
    target = Location.of(output)
    refuse_existing(target, overwrite=False)
    table = blurred.table.append_column(TRUTH, pa.array(blurred.truth.tick))
    with aside(target) as (_, events):
        write_dataset(table, blurred.clocks, unit, events)
        publish(events, target, overwrite=False)

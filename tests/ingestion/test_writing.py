"""How the parts of a dataset are written: each column as takes least room."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions


def test_only_columns_that_repeat_their_values_have_a_dictionary(tmp_path: Path) -> None:
    rows = "".join(f"{place},e{place},{place % 7},h{place // 9}\n" for place in range(3_000))
    (tmp_path / "a.csv").write_text(f"time,event_type,some,host\n{rows}")
    ingest([str(tmp_path / "a.csv")], str(tmp_path / "events"), IngestOptions())
    group = pq.read_metadata(tmp_path / "events" / "part-00000.parquet").row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    with_dictionary = {each.path_in_schema for each in columns if "RLE_DICTIONARY" in each.encodings}
    assert {"some", "host", "source"} <= with_dictionary
    assert not {"event_id", "event_type", "lower", "upper", "time"} & with_dictionary
    by_difference = {each.path_in_schema for each in columns if "DELTA_BINARY_PACKED" in each.encodings}
    assert by_difference >= {"lower", "upper", "time"}

"""Parts of datasets that are named as files: by their names or by a glob."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.datasets.stored import STANDARD_INPUT
from cepctl.errors import LogFormatError
from cepctl.io.source.locations import InputFile, is_stream, list_inputs
from cepctl.schema import META_TIME_UNIT


def names_parts(path: str) -> bool:
    """Whether all files that a PATH names hold events as the parts of a dataset do.

    A PATH that names nothing readable does not; who reads it will say so.
    """
    if path == STANDARD_INPUT or is_stream(path):
        return False
    try:
        files = list_inputs([path])
    except LogFormatError:
        return False
    return all(map(_is_part, files))


def _is_part(file: InputFile) -> bool:
    if file.left_out is not None:
        return False
    filesystem, place = file.location.resolve()
    try:
        return META_TIME_UNIT in (pq.read_schema(place, filesystem=filesystem).metadata or {})
    except (pa.ArrowException, OSError):
        return False

"""Whether a dataset is whole: its completion marker, which parts given as files need too, and its count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

from pyarrow import fs

from cepctl.errors import EventSchemaError
from cepctl.io.source.locations import InputFile, Location

SUCCESS = "_SUCCESS"
PARQUET = ".parquet"
_PART = re.compile(r"part-\d+\.parquet")


def part_name(number: int, ending: str = PARQUET) -> str:
    """What a part of a dataset is called."""
    return f"part-{number:05d}{ending}"


def dataset_of(file: InputFile) -> Location:
    """The dataset that a file, which holds events as a dataset does, is a part of; its directory.

    Raises
    ------
    EventSchemaError
        If that has no completion marker, so that other parts may be missing.
    """
    filesystem, path = file.location.resolve()
    directory = str(PurePosixPath(path).parent)
    if filesystem.get_file_info(f"{directory}/{SUCCESS}").type is not fs.FileType.File:
        raise EventSchemaError(incomplete(directory))
    return file.location.beside(directory)


def is_part(file: InputFile) -> bool:
    """Whether a file is called like a part of a dataset."""
    return is_part_name(PurePosixPath(file.location.resolve()[1]).name)


def is_part_name(name: str) -> bool:
    """Whether a part of a dataset may be called so."""
    return _PART.fullmatch(name) is not None


def incomplete(dataset: str) -> str:
    """What is said of a dataset without its completion marker."""
    return f"{dataset}: the dataset is incomplete, it has no {SUCCESS}; ingest it again or copy it whole"


def check_count(dataset: Location, held: int, written: int | None) -> None:
    """Hold the number of events in all parts of a dataset to what its ingest wrote (None: unknown).

    Raises
    ------
    EventSchemaError
        If they differ.
    """
    if written not in (None, held):
        raise EventSchemaError(
            f"{dataset.uri}: the parts of this dataset hold {held:,} events, but its ingest wrote {written:,}"
            "; ingest it again or copy it whole"
        )


def parts_alone(datasets: Iterable[Location]) -> list[str]:
    """What is to be said of datasets of which some parts alone are read; each is given once for each part."""
    notices = []
    for dataset, read in Counter(datasets).items():
        filesystem, directory = dataset.resolve()
        entries = filesystem.get_file_info(fs.FileSelector(directory))
        parts = sum(_PART.fullmatch(entry.base_name) is not None for entry in entries)
        if read < parts:
            notices.append(
                f"{directory}: {read:,} of the {parts:,} parts of this dataset read; name the directory to "
                "read all"
            )
    return notices

"""The files of an ingest, read in the time unit that is the finest of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cepctl.datasets.kinds import Kind
from cepctl.ingestion.needed import all_ids_differ, read_as_they_are
from cepctl.ingestion.parts import read_files
from cepctl.ingestion.reading import discard
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.schemas import unify
from cepctl.ingestion.task import ReadTask
from cepctl.ingestion.written_units import finest
from cepctl.runners.runner import Runner
from cepctl.schema import TimeUnit


def read_in_one_unit(
    tasks: Sequence[ReadTask], known: Mapping[str, Kind], runner: Runner
) -> tuple[list[FileResult], TimeUnit]:
    """The results of all files in one unit; where what was left behind may matter, all are read again.

    `known` are the kinds of attributes in events before these.
    """
    results, unit = _in_one_unit(tasks, read_files(tasks, runner), runner)
    unneeded = [result.unneeded for result in results]
    kinds = {name: kind for _, name, kind in unify(results, known).attributes}
    written = any(chunk.written for result in results for chunk in result.chunks)
    stays = read_as_they_are(unneeded, kinds) and not (written and any(each.events for each in unneeded))
    if stays and any(result.ids_given for result in results) and any(each.events for each in unneeded):
        filesystem, _ = tasks[0].scratch.resolve()
        stays = all_ids_differ(unneeded, sum(result.events for result in results), filesystem)
    if stays:
        return results, unit
    for task, result in zip(tasks, results, strict=True):
        discard(task.scratch, result)
    whole = [replace(task, needed=None) for task in tasks]
    return _in_one_unit(whole, read_files(whole, runner), runner)


def _in_one_unit(
    tasks: Sequence[ReadTask], results: list[FileResult], runner: Runner
) -> tuple[list[FileResult], TimeUnit]:
    """The results of all files in the finest unit of all; files that were read in another are read again."""
    unit = finest(
        [
            *(task.written.unit for task in tasks[:1]),
            *(result.written.unit for result in results if result.chunks),
        ]
    )
    again = [n for n, result in enumerate(results) if result.chunks and result.written.unit != unit]
    for number in again:
        discard(tasks[number].scratch, results[number])
    finer = [replace(tasks[number], written=replace(results[number].written, unit=unit)) for number in again]
    for number, result in zip(again, read_files(finer, runner), strict=True):
        results[number] = result
    return results, unit


def held_to_size(task: ReadTask, result: FileResult) -> FileResult:
    """The result, which tells where its file has lost bytes since it was listed."""
    location, size = task.file.location, task.file.size
    if size is None or not location.is_local or task.file.left_out is not None:
        return result
    filesystem, path = location.resolve()
    now = filesystem.get_file_info(path).size or 0
    if now >= size:
        return result
    cut = (
        f"the file had {size:,} bytes when it was found and has {now:,} now: it was cut while it was read, "
        "as a log is when it is rotated; records may be missing: read it again, with the file that has them"
    )
    return replace(result, warnings=(*result.warnings, cut))

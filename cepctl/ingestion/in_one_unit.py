"""The files of an ingest in the finest time unit of all; they are read again where that takes more events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cepctl.datasets.kinds import Kind
from cepctl.ingestion.needed import all_ids_differ, need_hashes, read_as_they_are
from cepctl.ingestion.parts import read_files
from cepctl.ingestion.reading import discard
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.room import key_bytes
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
    if any(each.events for each in unneeded) and need_hashes(unneeded):
        for task, result in zip(tasks, results, strict=True):
            discard(task.scratch, result)
        tasks = [replace(task, ids_may_ascend=False) for task in tasks]
        results, unit = _in_one_unit(tasks, read_files(tasks, runner), runner)
        unneeded = [result.unneeded for result in results]
    kinds = {name: kind for _, name, kind in unify(results, known).attributes}
    written = any(chunk.written for result in results for chunk in result.chunks)
    stays = read_as_they_are(unneeded, kinds) and not (written and any(each.events for each in unneeded))
    if stays and any(result.ids_given for result in results) and any(each.events for each in unneeded):
        filesystem, _ = tasks[0].scratch.resolve()
        events, room = sum(result.events for result in results), key_bytes(tasks[0].memory)
        stays = all_ids_differ(unneeded, events, filesystem, room)
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

"""How well logs of lines are read: right times, grouping accuracy of templates, and how fast.

Needs the environment variable CEPCTL_LABELLED_LOGS: a folder with NAME/NAME_2k.log and, beside it,
NAME_2k.log_structured.csv, whose columns are Content, EventId and parts of the time, as collections of
labelled logs have them.  Grouping accuracy is the share of messages whose type is given to exactly the
messages that have their label (Zhu et al., ICSE-SEIP 2019).
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.lines.log import LinesLog, messages
from cepctl.io.templates.survey import survey_of, templates_of

FOLDER = "CEPCTL_LABELLED_LOGS"
_REPEATED_BYTES = 32 << 20
_DIGITS = re.compile(r"\d+")


def grouping_accuracy(types: Sequence[str], labels: Sequence[str]) -> float:
    """The share of messages whose type has exactly the messages of their label.

    Examples
    --------
    >>> grouping_accuracy(["a", "a", "b", "c"], ["x", "x", "y", "y"])
    0.5
    """
    of_type, of_label = defaultdict(set), defaultdict(set)
    for place, (each, label) in enumerate(zip(types, labels, strict=True)):
        of_type[each].add(place)
        of_label[label].add(place)
    right = {frozenset(places) for places in of_label.values()}
    return sum(len(places) for places in of_type.values() if frozenset(places) in right) / len(types)


def _read(data: bytes, options: ReadOptions) -> tuple[list[dict[str, object]], float]:
    """The rows of a log typed by templates mined from it, and how many seconds mining and reading took."""
    begin = time.process_time()
    found = templates_of(survey_of(messages(io.BytesIO(data), "x", options))).templates
    reading = ReadOptions(epoch=options.epoch, templates=found)
    batches = list(LinesLog().read(io.BytesIO(data), "x", reading, ReadReport()))
    seconds = time.process_time() - begin
    return [
        row for batch in batches for row in batch.select(["number", "event_type", "time"]).to_pylist()
    ], seconds


def _right_times(rows: Sequence[dict[str, object]], labelled: Sequence[dict[str, str]]) -> float:
    """The share of records whose month, day and time of day are the numbers that the labels have."""
    right = 0
    for row, label in zip(rows, labelled, strict=True):
        moment = row["time"]
        if not isinstance(moment, datetime):
            continue
        text = " ".join(label.get(name) or "" for name in ("Month", "Date", "Day", "Time", "Timestamp"))
        numbers = [int(number) for number in _DIGITS.findall(text)]
        clock = [moment.hour, moment.minute, moment.second]
        spelled = [numbers[place : place + 3] for place in range(len(numbers))]
        tight = int(f"{moment:%H%M%S}") in numbers and int(f"{moment:%y%m%d}") in numbers
        dated = moment.day in numbers or int(f"{moment:%Y%m%d}") in numbers
        right += (clock in spelled and dated) or tight or int(moment.timestamp()) in numbers
    return right / len(labelled)


def main() -> int:
    folder = os.environ.get(FOLDER)
    if not folder:
        sys.stderr.write(f"{FOLDER} names no folder of labelled logs\n")
        return 2
    options = ReadOptions(epoch=int(datetime(2005, 1, 1, tzinfo=UTC).timestamp()) * 10**6)
    figures = []
    sys.stdout.write(
        f"{'log':<12} {'records':>8} {'types':>6} {'grouping':>9} {'times':>7} {'MB/s':>6}" + "\n"
    )
    for labels in sorted(Path(folder).glob("*/*_2k.log_structured.csv")):
        data = labels.with_name(labels.name.removesuffix("_structured.csv")).read_bytes()
        with labels.open(encoding="utf-8", newline="") as file:
            labelled = list(csv.DictReader(file))
        rows, _ = _read(data, options)
        whole = len(rows) == len(labelled)
        types = [str(row["event_type"]) for row in rows]
        accuracy = grouping_accuracy(types, [row["EventId"] for row in labelled]) if whole else 0.0
        times = _right_times(rows, labelled) if whole else 0.0
        large = data * (_REPEATED_BYTES // len(data))
        rate = len(large) / _read(large, options)[1] / 1e6
        figures.append((accuracy, times))
        name = labels.parent.name
        sys.stdout.write(
            f"{name:<12} {len(rows):>8} {len(set(types)):>6} {accuracy:>9.3f} {times:>7.4f} {rate:>6.1f}"
            + "\n"
        )
    count = max(len(figures), 1)
    mean = [sum(each[place] for each in figures) / count for place in (0, 1)]
    sys.stdout.write(f"{'mean':<12} {'':>8} {'':>6} {mean[0]:>9.3f} {mean[1]:>7.4f}" + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

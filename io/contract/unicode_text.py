r"""Text that is Unicode: what every text of an event is, in every column and every name.

JSON can write half of a surrogate pair (`\ud800`), and files of columns can hold bytes that are no text.
There is no UTF-8 for either, so nothing that is written could hold it: a record with such a text is a reject.
Readers that decode JSON ask `is_unicode` of what they have decoded; whatever else gets past a reader is held
back here, between it and the ingest.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadReport, Reject

NOT_UNICODE = "text that is not Unicode"


class NotUnicodeError(ValueError):
    """A value holds text that is none."""


def is_unicode(value: Any) -> bool:
    r"""Whether all text in a value as JSON has it is Unicode.

    Examples
    --------
    >>> is_unicode({"a": ["\U0001f600"]}), is_unicode({"a": ["\ud800"]}), is_unicode({"\ud800": 1})
    (True, False, False)
    """
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def unicode_events(
    batches: Iterable[pa.RecordBatch], source: str, report: ReadReport
) -> Iterator[pa.RecordBatch]:
    """The events of a file but those with text that is not Unicode, which are rejects.

    Raises
    ------
    LogFormatError
        If what is around the events, such as the names of columns, is not Unicode.
    """
    try:
        for batch in batches:
            bad = _rows_with_bad_text(batch)
            if not bad:
                yield batch
                continue
            numbers = batch.column("number").to_pylist()
            for row, column in bad.items():
                report.rejects.append(
                    Reject(source, None, NOT_UNICODE, f"record {numbers[row]}, column {column}")
                )
            kept = np.ones(len(batch), dtype=np.bool_)
            kept[list(bad)] = False
            yield batch.filter(pa.array(kept))
    except UnicodeError as problem:
        raise LogFormatError(
            f"{source}: it holds text that is not Unicode where no record can be told; "
            "correct it, or leave the file out"
        ) from problem


def _rows_with_bad_text(batch: pa.RecordBatch) -> dict[int, str]:
    """The rows with text that is none, each with the first such column."""
    bad: dict[int, str] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            for row, text in enumerate(column.view(_BYTES[column.type]).to_pylist()):
                if text is not None and not _is_text(text):
                    bad.setdefault(row, name)
    return dict(sorted(bad.items()))


_BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True

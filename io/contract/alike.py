"""How small files of a format that are written alike are read as one text, and told apart again.

To read a file of a few lines costs hundreds of times as much as its lines do in a large one.  So neighbours
whose lines are all records of one form are joined; what comes of each is what it gives alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from cepctl.io.contract.reader import ReadOptions, ReadReport


class AlikeFiles(Protocol):
    """Reads small files of a format as one."""

    def form(self, text: bytes, forms: Mapping[str, str]) -> Hashable | None:
        """What files have to have in common to be read as one; None of one that has to be read alone.

        Each line of a text that may be joined to others is a record.  `forms` are those that the head of the
        file told (`ReadReport.time_forms`).
        """

    def forms_read(self, forms: Mapping[str, str]) -> dict[str, str]:
        """What the forms of its times are once the file was read."""

    def read(
        self, texts: Sequence[bytes], forms: Mapping[str, str], options: ReadOptions, report: ReadReport
    ) -> pa.RecordBatch | None:
        """The events of texts of one form, in order; `forms` are those of one of them.

        None where some lines are no records after all.
        """

    def messages(
        self, texts: Sequence[bytes], forms: Mapping[str, str], options: ReadOptions
    ) -> Iterator[pa.Array]:
        """As `LogFormat.messages`, of texts of one form."""

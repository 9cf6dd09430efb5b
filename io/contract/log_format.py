"""What a format of logs is: the one value by which its module tells everything else about it.

    told by the value                          read by
    name, description, events, uncertainty     `cepctl formats`, --format, reports, docs/events.md
    kinds                                      `cepctl formats`, and the pages that have a question for each
    example                                    `cepctl formats --show`
    reader, recognises_mapped, _patterned      io/formats.py, which tells formats apart
    options                                    cepctl/ingestion/unused.py: options that no file could use
    messages                                   cepctl/ingestion/templates.py: mining
    lines                                      cepctl/ingestion/parts.py: large files; cepctl/state: new parts
    alike                                      cepctl/ingestion/alike_files.py: small files
    whole_days                                 cepctl/ingestion/reading.py: times without a clock
    repeats                                    cepctl/ingestion/leaving_out.py: what several files show again

No other module knows a format by its name.  How one is added is told in CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

import pyarrow as pa

from cepctl.io.contract.alike import AlikeFiles
from cepctl.io.contract.line_records import LineRecords
from cepctl.io.contract.reader import Reader, ReadOptions, ReadReport
from cepctl.io.contract.unicode_text import unicode_events

ZONELESS = "logs that write times without a zone"
"""What a message calls the files that `time_zone` is for."""
WORDED = "text whose times may name zones"
"""What a message calls the files that `zone_words` is for."""
WRITTEN = "logs whose times are written"
"""What a message calls the files that `exact_times` is for."""


@dataclass(frozen=True)
class Repeats:
    """Events that several files of a format may show again, such as polls of one sample.

    Attributes
    ----------
    columns
        The columns of events (attributes, `time`) that tell which are the same; a reader that may repeat
        gives all of them in every batch.
    drop
        Of a table with these columns and others: the rows that stay, in their order, and how many went.
    called
        What reports call those that are left out.
    """

    columns: tuple[str, ...]
    drop: Callable[[pa.Table], tuple[pa.Table, int]]
    called: str


@dataclass(frozen=True)
class LogFormat:
    """One format of logs.

    Attributes
    ----------
    name
        What `--format`, reports and states call it.  States keep it, so it stays.
    description
        What it is, in a line.
    events
        Which types of events it gives, and with which attributes, in a line.
    uncertainty
        How far its times are trusted without a model, in a line.
    example
        A short file of the format, or what to know of one that is not text.
    page
        The page in docs/ that tells about it.
    kinds
        Logs that it reads and that people call by names of their own.  Each stands in the heading of a
        section of a page, with a question and its answer.
    reader
        Recognises files of the format, and reads them.
    options
        The fields of ReadOptions that the reader looks at, each with what a message calls the files that it
        is for: `{"drop_domain": "Hadoop"}`.  `time_unit` and `patterns` are not named here.
    lines
        Of a format whose records begin where lines do, and depend on nothing before them: how a file that
        begins so, with these options, falls into records.  Its large files are then read in parts,
        and of a log that grows only what is new.  None, or where it gives
        None: the file is read as a whole.
    row_groups
        Of a format that is Parquet: how many bytes each row group of a file takes.
    recognises_mapped
        Whether a file that begins so may be one of the format whose columns `--map` names.  None: it has no
        columns that could be mapped.
    recognises_patterned
        Whether a file that begins so, and that no reader recognises, may be one of lines that the patterns of
        the user fit.
    timed_patterns
        Whether those patterns have to say where the time is, in a group `time`.
    recognises_otherwise
        Whether a file that begins so, and that is nothing else, may be one of the format.
    recognises_named
        Whether a file that begins so, and that is nothing at all, would be read if its format were named
        (--format): what a refusal then offers.
    messages
        Of a format that types its records by templates: those messages of a file, in batches, from which
        templates are mined.
    alike
        Reads small files that are written alike as one; None: each is read alone.
    whole_days
        Whether the times of a file all of which are midnights mean whole days.
    appended
        Whether a process appends its records as things happen, so that the order of its lines is evidence.
    repeats
        What several of its files may show again; None: nothing.
    """

    name: str
    description: str
    events: str
    uncertainty: str
    page: str
    reader: Reader
    kinds: tuple[str, ...] = ()
    example: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    lines: Callable[[bytes, ReadOptions], LineRecords | None] | None = None
    row_groups: Callable[[IO[bytes]], Sequence[int]] | None = None
    recognises_mapped: Callable[[bytes], bool] | None = None
    recognises_patterned: Callable[[bytes], bool] | None = None
    timed_patterns: bool = False
    recognises_otherwise: Callable[[bytes], bool] | None = None
    recognises_named: Callable[[bytes], bool] | None = None
    messages: Callable[[IO[bytes], str, ReadOptions], Iterator[pa.Array]] | None = None
    alike: AlikeFiles | None = None
    whole_days: bool = False
    appended: bool = False
    repeats: Repeats | None = None

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        """The events of one file in file order, all text of which is Unicode; raises as the reader does."""
        yield from unicode_events(self.reader.read(stream, source, options, report), source, report)

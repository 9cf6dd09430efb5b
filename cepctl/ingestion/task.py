"""What the task needs that reads one file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cepctl.ingestion.needed import Needed
from cepctl.ingestion.type_names import TypeNames
from cepctl.ingestion.writer_names import Writing
from cepctl.ingestion.written_units import KnownTimes
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.locations import InputFile, Location, RowGroupPart
from cepctl.process.memory import MemoryBudget, reading_budget
from cepctl.uncertainty.model import UncertaintyModel


@dataclass(frozen=True, slots=True)
class ReadTask:
    """What reading one file needs.

    `scratch` is the directory that chunks are written to, and with `keep_rejects` all rejects.  Ticks
    that the file gives are counted in the time unit of `options`, those of the dataset in that of `written`,
    which is what is known before of its times; a file that `declares_unit` gives the latter itself.
    Where `max_rejects` is given, reading stops at one reject more.  A file that `may_be_unreadable` is then
    left out, with the reason in its result, and so is any part of a file whose reading did not finish.
    Chunks are of Parquet, or `in_arrow` as long as they are few.  `writing`: who wrote the events.
    What is not `needed` is left behind; None where all is, or of `all_columns` that of rows alone.
    """

    file: InputFile
    number: int
    scratch: Location
    options: ReadOptions
    model: UncertaintyModel
    written: KnownTimes
    type_names: TypeNames = ()
    input_format: str | None = None
    may_be_unreadable: bool = False
    keep_rejects: bool = False
    max_rejects: int | None = None
    memory: MemoryBudget = field(default_factory=reading_budget)
    declares_unit: bool = False
    in_arrow: bool = False
    writing: Writing = field(default_factory=Writing)
    needed: Needed | None = None
    ids_may_ascend: bool = True
    all_columns: bool = False

    @property
    def reading(self) -> ReadOptions:
        """What the reader is told."""
        part = self.file.part
        groups = (part.first, part.stop) if isinstance(part, RowGroupPart) else None
        unit = self.written.unit if self.declares_unit else self.options.time_unit
        return replace(self.options, time_unit=unit, row_groups=groups)

"""What a user chooses of how logs become a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cepctl.datasets.kinds import Kind
from cepctl.ingestion.growing_writers import Growth
from cepctl.ingestion.needed import Needed
from cepctl.ingestion.type_names import TypeNames
from cepctl.io.contract.reader import ReadOptions
from cepctl.process.memory import MemoryBudget, reading_budget
from cepctl.schema import TimeUnit
from cepctl.uncertainty.model import UncertaintyModel
from cepctl.uncertainty.writer_rules import WriterRule


@dataclass(frozen=True)
class IngestOptions:
    """Choices of the user.

    `type_names` are other names for event types. `max_errors` is how many rejects are allowed, None for the
    larger of 10 and 0.1 % of the records; `rejects` the JSON lines file that they are written to, `report`
    the JSON file for the account of every file; both are also written when the ingest is then refused. With
    `strict` a file in a directory that cannot be read is an error, as one that was named always is, and so
    are marks of uncertainty that have no model here.
    `follow_links` is for links that lead out of a directory. Of input that `is_rest`, what is new in logs
    that were read before, most records may be bad. `known_kinds` are those of attributes in earlier events,
    which these join, and `known_unit` is their time unit. All tasks at one time share the `memory`. A dataset
    that is `read_once` and then gone is written fast rather than small, and `in_arrow` where it is small and
    this process alone reads it. The time unit of `read` is chosen anew: the model's, else that of earlier
    events, else the finest of those that files declare, of 1 ms for those that do not, and of the digits that
    occur in their times and in durations of the model.  `writers`: who wrote the events, in the
    order of their records, whatever the model says; none where that is left out, and None where nothing is
    said.  Then lines of logs are in order, if it `orders_lines`.  Of logs that grow, `growth` is what
    earlier runs have decided of the order of their records.  What is not `needed` is left behind, None where
    all is.
    """

    input_format: str | None = None
    read: ReadOptions = field(default_factory=ReadOptions)
    type_names: TypeNames = ()
    model: UncertaintyModel = field(default_factory=UncertaintyModel)
    max_errors: int | None = None
    rejects: str | None = None
    report: str | None = None
    strict: bool = False
    overwrite: bool = False
    follow_links: bool = False
    is_rest: bool = False
    known_kinds: Mapping[str, Kind] = field(default_factory=dict)
    known_unit: TimeUnit | None = None
    memory: MemoryBudget = field(default_factory=reading_budget)
    read_once: bool = False
    in_arrow: bool = False
    writers: tuple[WriterRule, ...] | None = None
    orders_lines: bool = True
    growth: Growth | None = None
    needed: Needed | None = None

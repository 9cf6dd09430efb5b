"""How raw logs are read: the choices of a user, and the options of the ingest that they come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cepctl.errors import UncertaintyModelError, UsageError
from cepctl.process.memory import MemoryBudget, reading_budget

if TYPE_CHECKING:
    from cepctl.ingestion.options import IngestOptions
    from cepctl.schema import TimeUnit
    from cepctl.uncertainty.writer_rules import WriterRule


@dataclass(frozen=True)
class RawInput:
    """How raw logs are read, in the words of the user; paths and texts are not looked at yet.

    `uncertainty`: the path of a model, or rules in one line each (cepctl/uncertainty/short_rules.py).
    `writer`, `writer_along`: what events of one writer share, and along what it wrote them where that is not
    their records; `writer_of_ends`: what lasts is written as it ends.  `no_writer`: the order in which events
    were written is left out.
    """

    input_format: str | None = None
    uncertainty: tuple[str, ...] = ()
    tz: str | None = None
    zones: tuple[tuple[str, str], ...] = ()
    renames: tuple[tuple[str, str], ...] = ()
    drop_domain: bool = False
    patterns: str | None = None
    keep_unmatched: bool = False
    intervals: bool = False
    epoch: str | None = None
    columns: tuple[str, ...] = ()
    columns_of: str | None = None
    follow_links: bool = False
    epoch_unit: str | None = None
    time_format: str | None = None
    per_object: str | None = None
    time_unit: str | None = None
    exact_times: bool = False
    templates: str | None = None
    writer: tuple[str, ...] | None = None
    writer_along: str | None = None
    writer_of_ends: bool = False
    no_writer: bool = False

    def with_files(self, named: Callable[[str | None], str | None]) -> RawInput:
        """These choices, with the model and the patterns as `named` calls these files."""
        from cepctl.uncertainty.short_rules import short_rule

        words = (word if short_rule(word) else named(word) or word for word in self.uncertainty)
        return replace(self, uncertainty=tuple(words), patterns=named(self.patterns))


def given_ingest_options(raw_input: RawInput) -> IngestOptions | None:
    """The options of the ingest; None where none was given, as datasets need no reader."""
    return None if raw_input == RawInput() else ingest_options(raw_input)


def ingest_options(
    raw_input: RawInput,
    *,
    overwrite: bool = False,
    strict: bool = False,
    report: str | None = None,
    rejects: str | None = None,
    max_errors: int | None = None,
    memory: MemoryBudget | None = None,
) -> IngestOptions:
    """The options of the ingest; reads the uncertainty model and the patterns.

    Raises
    ------
    UncertaintyModelError, LogPatternError
        If they cannot be read.
    UsageError
        If another text is not what it should be.
    """
    from cepctl.ingestion.options import IngestOptions
    from cepctl.ingestion.type_names import check_names
    from cepctl.io.contract.reader import ReadOptions
    from cepctl.io.contract.written_times import check_form
    from cepctl.io.log4j.patterns import load_patterns
    from cepctl.io.tabular.mapping import parse_mapping
    from cepctl.io.tabular.named_columns import columns_named
    from cepctl.io.templates.files import load_templates
    from cepctl.uncertainty.short_rules import model_of

    model = model_of(raw_input.uncertainty)
    unit = _unit(raw_input.time_unit)
    return IngestOptions(
        input_format=raw_input.input_format,
        read=ReadOptions(
            time_zone=raw_input.tz,
            zone_words=tuple({**dict(model.zones), **dict(raw_input.zones)}.items()),
            drop_domain=raw_input.drop_domain,
            patterns=load_patterns(raw_input.patterns) if raw_input.patterns is not None else (),
            keep_unmatched=raw_input.keep_unmatched,
            intervals=raw_input.intervals,
            epoch=_instant(raw_input.epoch, raw_input.tz),
            columns=parse_mapping(raw_input.columns),
            column_names=() if raw_input.columns_of is None else columns_named(raw_input.columns_of),
            epoch_unit=raw_input.epoch_unit,
            time_format=None if raw_input.time_format is None else check_form(raw_input.time_format),
            per_object=raw_input.per_object,
            exact_times=raw_input.exact_times,
            templates=load_templates(raw_input.templates) if raw_input.templates is not None else (),
        ),
        type_names=check_names(raw_input.renames),
        model=model if unit is None else replace(model, time_unit=unit),
        max_errors=max_errors,
        rejects=rejects,
        report=report,
        strict=strict,
        overwrite=overwrite,
        follow_links=raw_input.follow_links,
        writers=_writers(raw_input),
        memory=memory or reading_budget(),
    )


def _writers(raw_input: RawInput) -> tuple[WriterRule, ...] | None:
    from cepctl.uncertainty.writer_rules import read_writer

    if raw_input.no_writer:
        return ()
    if raw_input.writer is None:
        return None
    along = {} if raw_input.writer_along is None else {"along": raw_input.writer_along}
    of = {"of": "end" if raw_input.writer_of_ends else "start"}
    return (read_writer({"by": raw_input.writer, **along, **of}),)


def _unit(text: str | None) -> TimeUnit | None:
    from cepctl.schema import TimeUnit

    try:
        return None if text is None else TimeUnit.parse(text)
    except UncertaintyModelError as problem:
        raise UsageError(f"the time unit: {problem}") from None


def _instant(text: str | None, tz: str | None) -> int | None:
    """A time that a user wrote in microseconds since 1970; without a zone it is in `tz`, else UTC."""
    from cepctl.io.contract.times import named_zone, parse_time

    if text is None:
        return None
    time = parse_time(text, named_zone(tz))
    if time is None:
        raise UsageError(f"--epoch '{text}' is not a time; write it as 2024-05-01T12:00:00Z")
    return time.micros

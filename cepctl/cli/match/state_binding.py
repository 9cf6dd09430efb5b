"""How an incremental run goes, what its state is bound to, and what is refused."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.cli.match.request import MatchRequest
from cepctl.errors import CepctlError, StateError, UnsupportedQueryError, UsageError
from cepctl.io.rows.forms import FORMS, forms_by_rows

if TYPE_CHECKING:
    from cepctl.ingestion.jobs import IngestOptions
    from cepctl.schema import TimeUnit
    from cepctl.state.advancing import RunOptions
    from cepctl.state.store import Saved


def refuse_options(request: MatchRequest) -> None:
    """Reject options that make no sense in an incremental run, and queries that have none yet."""
    if request.question.query.group_by is not None:
        raise UnsupportedQueryError(
            "not supported yet: GROUP BY with --state, because later events change emitted rows; leave it "
            "out, or match all events at once"
        )
    if request.question.query.given:
        raise UnsupportedQueryError(
            "not supported yet: GIVEN with --state, because later events change which worlds are left; leave "
            "it out, or match all events at once"
        )
    form, output = request.rows.form, request.rows.output
    if form is not None and not FORMS[form].by_rows and output is not None:
        raise UsageError(f"--format {form} with --state and -o: choose {', '.join(forms_by_rows())}")
    if not request.paths and not request.incremental.final:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")


def binding_of(request: MatchRequest, options: IngestOptions) -> dict[str, str]:
    """What the rows depend on, beside the events."""
    from cepctl.language.printer import to_text

    reading = {**asdict(request.question.raw_input), "uncertainty": None, "patterns": None}
    del reading["follow_links"]  # says which files are read, not how
    return {
        "query": to_text(request.question.query),
        "minimum confidence": str(request.question.matching.min_confidence),
        "uncertainty model": options.model.text,
        "reading of logs": json.dumps(reading, sort_keys=True),
        "patterns of log lines": repr(options.read.patterns),
        "mode": "eager" if request.incremental.eager else "delayed",
    }


def require_same(saved: Saved | None, binding: dict[str, str], directory: Path) -> None:
    """Refuse a state that is bound to something else, or closed; raises StateError."""
    if saved is None:
        return
    for name, text in binding.items():
        if saved.binding.get(name) != text:
            raise StateError(
                f"the state {directory} was made with another {name}:\n  {saved.binding.get(name)}\n"
                f"not with\n  {text}\nend it with the former (--final), and start a new one with "
                "--state"
            )
    if saved.progress.closed:
        raise StateError(f"the state {directory} was closed by --final; start a new one with --state")


def run_options(request: MatchRequest, unit: TimeUnit) -> RunOptions:
    """How the run goes, in ticks."""
    from cepctl.state.advancing import RunOptions

    given = request.incremental
    return RunOptions(
        slack=_ticks("--slack", given.slack, unit),
        keep=_ticks("--keep", given.keep, unit),
        eager=given.eager,
        reopen=given.reopen,
        final=given.final,
    )


def _ticks(option: str, duration: str | None, unit: TimeUnit) -> int:
    """A duration of the command line in ticks, rounded up."""
    from cepctl.schema import parse_duration

    if duration is None:
        return 0
    try:
        length = parse_duration(duration)
    except CepctlError as problem:
        raise UsageError(f"{option}: {problem}") from None
    if length < 0:
        raise UsageError(f"{option}: '{duration}' is negative")
    return int(-(-length // unit.microseconds))

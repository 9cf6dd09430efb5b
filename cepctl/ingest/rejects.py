"""Records that could not become events: how many are borne, and how they are shown and written."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Sequence

from cepctl.errors import JobError, LogFormatError
from cepctl.io.locations import Location
from cepctl.io.reading import Reject

REJECTS_ALLOWED = 10
REJECTED_SHARE = 0.001
_SAMPLED = 5


def refuse_too_many(rejects: Sequence[Reject], records: int, max_errors: int | None) -> None:
    """Raise LogFormatError when there are more rejects than are borne.

    `max_errors` is how many are, None for the larger of REJECTS_ALLOWED and REJECTED_SHARE of the
    records.
    """
    borne = max(REJECTS_ALLOWED, int(records * REJECTED_SHARE)) if max_errors is None else max_errors
    if len(rejects) > borne:
        raise LogFormatError(
            f"{len(rejects):,} of {records:,} records are bad, more than the {borne:,} that are borne; "
            f"nothing was written\n{sampled(rejects)}\n"
            "  mend the input, see all with --rejects FILE, or bear more with --max-errors"
        )


def sampled(rejects: Sequence[Reject]) -> str:
    """The first few rejects, one per line, for standard error."""
    lines = []
    for reject in rejects[:_SAMPLED]:
        place = reject.source if reject.line is None else f"{reject.source}:{reject.line}"
        lines.append(f"  {place}: {reject.cause}" + (f": {reject.text}" if reject.text else ""))
    if len(rejects) > _SAMPLED:
        lines.append(f"  ... and {len(rejects) - _SAMPLED:,} more")
    return "\n".join(lines)


def write_rejects(file: str, rejects: Sequence[Reject]) -> None:
    """All rejects as CSV (source, line, cause, text), written aside and renamed."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["source", "line", "cause", "text"])
    rows.writerows([reject.source, reject.line, reject.cause, reject.text] for reject in rejects)
    filesystem, path = Location.of(file).resolve()
    aside = f"{path}.partial-{uuid.uuid4().hex[:12]}"
    try:
        with filesystem.open_output_stream(aside) as stream:
            stream.write(text.getvalue().encode())
        filesystem.move(aside, path)
    except OSError as problem:
        raise JobError(f"cannot write the rejects to {file}: {problem}") from problem

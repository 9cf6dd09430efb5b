"""What settles the findings of an audit, as a file: the model that times suggest, and options in comments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from cepctl.inspection.auditing.findings import Audit
from cepctl.inspection.overview import Inspection
from cepctl.inspection.suggestion import suggested_model

_HEAD = (
    "# What settles the findings of cepctl audit.  Options of ingest and match, each for the sources named:\n"
)
_SHOWN = 3


def settling_model(audit: Audit, inspection: Inspection) -> str:
    """A model to be read with --uncertainty; what only options settle stands in its comments."""
    options = "".join(_options(audit))
    return (_HEAD + options + "\n" if options else "") + suggested_model(inspection)


def _options(audit: Audit) -> Iterator[str]:
    sources: dict[str, list[str]] = defaultdict(list)
    for source in audit.sources:
        for each in source.findings:
            if each.settles is not None and each.settles.startswith("--"):
                sources[each.settles].append(source.source)
    for option, named in sources.items():
        known = list(dict.fromkeys(named))
        more = f" and {len(known) - _SHOWN:,} more" if len(known) > _SHOWN else ""
        shown = ", ".join(" ".join(name.split()) for name in known[:_SHOWN])
        yield f"#   {option}: {shown}{more}\n"

"""cepctl: pattern matching over logs whose timestamps cannot be trusted to the tick.

    ingest     logs -> a dataset of events
    match      a query and events -> its probable matches
    explain    a query -> how it would run
    inspect    events -> what is in them, and what their times can be trusted for
    assign     a dataset -> one with other uncertainty intervals

These are imported when they are first asked for, so that `import cepctl` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepctl.errors import CepctlError
    from cepctl.library.match import match
    from cepctl.library.matches import Matches

__version__ = "0.1.0"
__all__ = ["CepctlError", "Matches", "__version__", "match"]
_HOMES = {
    "CepctlError": "cepctl.errors",
    "Matches": "cepctl.library.matches",
    "match": "cepctl.library.match",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'cepctl' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

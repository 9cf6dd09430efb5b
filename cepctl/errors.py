"""Every error a user can meet, one family under CepctlError.

The command line catches this family alone and prints the message; anything else is a
defect of ours.  The class says what the user has to mend, `exit_code` how a script sees it.
"""

from __future__ import annotations

from typing import ClassVar


class CepctlError(Exception):
    """A problem that the user can mend; the message names place, cause and remedy."""

    exit_code: ClassVar[int] = 2


class UsageError(CepctlError):
    """The command line itself is wrong."""


class WarningError(CepctlError):
    """A warning, where `--strict` makes it an error."""


class NoMatchError(CepctlError):
    """Events that are to be shown as a match are none."""


class QuerySyntaxError(CepctlError):
    """The query text does not parse."""


class QuerySemanticError(CepctlError):
    """The query parses, but names or types in it do not fit together or fit the events.

    `texts`: attributes of text that it compares with numbers.
    """

    texts: tuple[str, ...] = ()


class UnsupportedQueryError(CepctlError):
    """The query is meaningful, but this engine, strategy or version refuses it by name."""


class ContradictionError(CepctlError):
    """What is given contradicts the events: no possible world satisfies it."""


class QueryTooLargeError(CepctlError):
    """Answering the query would exceed a stated bound on work or on the number of matches."""


class UncertaintyModelError(CepctlError):
    """The uncertainty model cannot be read, or gives no valid interval."""


class NoLawError(CepctlError):
    """Events teach no law of order: their times are no finer, or no law tells their orders better."""


class LogPatternError(CepctlError):
    """The patterns that make events of log lines cannot be read, or one of them is wrong."""


class EventSchemaError(CepctlError):
    """An event table lacks a column that it must have, or holds values that cannot be."""

    exit_code = 3


class LogFormatError(CepctlError):
    """An input file cannot be read, is damaged, or is of no known format."""

    exit_code = 3


class SketchError(CepctlError):
    """A sketch is missing, damaged, of a newer version, or not of these events."""

    exit_code = 3


class JobError(CepctlError):
    """The job itself failed: no Java, a lost worker, a full disk."""

    exit_code = 4


class StateError(CepctlError):
    """The state of incremental runs is damaged, of another version, or belongs to something else."""


class StateHeldError(CepctlError):
    """Another run holds the state."""

    exit_code = 5

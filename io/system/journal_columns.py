"""Entries of a journal many at a time, in columns: those all of whose fields are text.

What is here tells of them what journal.py tells of each.  Entries with other values, such as a message that
is not UTF-8, are left to it; and so are all of a block in which more than two fields would have one short
name, or one of them would have that of another attribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.hosts import node_names
from cepctl.io.contract.local_instants import Instants, no_problems
from cepctl.io.contract.shaped_times import ShapedTimes
from cepctl.io.contract.times import LAST_SECOND
from cepctl.io.source.event_lines import SEVERITIES
from cepctl.io.source.json_objects import TextObjects
from cepctl.io.source.line_blocks import Lines
from cepctl.io.source.line_columns import LineColumns
from cepctl.io.system.journal_fields import (
    GIVEN,
    MOST_DIGITS,
    OF_ITS_OWN,
    OWN,
    RECEIVED,
    UNTYPED,
    is_of_journal,
    short_name,
)
from cepctl.numeric.arrays import Flags, Numbers

_NO_TEXT = pa.scalar(None, pa.string())
_NUMBERS = pa.array([str(number) for number in range(len(SEVERITIES))])
_MICRO_DIGITS = 6
_MOST_FIELDS = 500


@dataclass
class EntryColumns:
    """Understands the lines of one file, many at a time."""

    drop_domain: bool
    objects: TextObjects = field(default_factory=partial(TextObjects, _MOST_FIELDS))

    def known_lines(self, lines: Lines) -> Iterator[tuple[Numbers, LineColumns]]:
        """The rows of entries of text, with what these tell."""
        found = self.objects.of(lines)
        if found is None or RECEIVED not in found[1]:
            return
        rows, fields = found
        others = _others(fields)
        if others is not None:
            yield rows, self._columns(fields, others, len(rows))

    def _columns(
        self, fields: Mapping[str, pa.Array], others: Mapping[str, pa.Array], count: int
    ) -> LineColumns:
        said = {
            name: _said(fields.get(name, pa.nulls(count, pa.string())))
            for name in ("SYSLOG_IDENTIFIER", "_COMM", "_HOSTNAME", "PRIORITY", "MESSAGE")
        }
        program = pc.coalesce(said["SYSLOG_IDENTIFIER"], said["_COMM"])
        severities = pa.array(SEVERITIES).take(pc.index_in(said["PRIORITY"], _NUMBERS))
        attributes = {
            "node": node_names(said["_HOSTNAME"], self.drop_domain),
            "program": program,
            "severity": pc.coalesce(severities, said["PRIORITY"]),
            "message": said["MESSAGE"],
        }
        micros, known = _instants([fields[name] for name in (GIVEN, RECEIVED) if name in fields])
        known &= fields[RECEIVED].is_valid().to_numpy(zero_copy_only=False)
        zeros, yes = np.zeros(count, np.int64), np.ones(count, np.bool_)
        digits = np.full(count, _MICRO_DIGITS)
        return LineColumns(
            pc.coalesce(program, pa.scalar(UNTYPED)),
            ShapedTimes(known, micros, zeros, zeros, zeros, yes, digits, zeros),
            Instants(micros, zeros, zeros, no_problems(count)),
            attributes,
            others,
        )


def _said(texts: pa.Array) -> pa.Array:
    """Texts, null where they are empty."""
    return pc.if_else(pc.equal(texts, ""), _NO_TEXT, texts)


def _instants(written: Sequence[pa.Array]) -> tuple[Numbers, Flags]:
    """The first of some columns of numbers that is a time, and which rows have one."""
    micros = np.zeros(len(written[0]), np.int64)
    known = np.zeros(len(micros), np.bool_)
    for texts in written:
        digits = pc.match_substring_regex(texts, f"^[0-9]{{1,{MOST_DIGITS}}}$")
        plain = pc.fill_null(pc.if_else(digits, texts, _NO_TEXT).cast(pa.int64()), 0).to_numpy()
        new = ~known & (plain > 0) & (plain < LAST_SECOND * 1_000_000)
        micros, known = np.where(new, plain, micros), known | new
    return micros, known


def _others(fields: Mapping[str, pa.Array]) -> dict[str, pa.Array] | None:
    """The fields that have no attribute of their own, by their attributes; None where names meet oddly."""
    by_short: dict[str, list[str]] = {}
    found: dict[str, pa.Array] = {}
    for name in filter(lambda name: name not in OWN, fields):
        if (short := short_name(name)) in OF_ITS_OWN:
            found[name] = fields[name]
        else:
            by_short.setdefault(short, []).append(name)
    for short, names in by_short.items():
        first, *more = sorted(names, key=lambda name: not is_of_journal(name))
        if len(more) > 1 or (more and (is_of_journal(more[0]) or not is_of_journal(first))):
            return None
        found[short] = fields[first]
        for name in more:
            # What the journal itself knows has the short name; where it knows nothing the client's has.
            found[short] = pc.coalesce(fields[first], fields[name])
            found[name] = pc.if_else(fields[first].is_valid(), fields[name], _NO_TEXT)
    kept = sum(name not in OWN for name in fields)
    return None if len(found) < kept or found.keys() & OF_ITS_OWN else found

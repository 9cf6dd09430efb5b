"""Events of the event table from those of an object-centric log, and from the changes of its objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from cepctl.io.contract.batches import EventBatches
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import (
    BELOW_NANOSECONDS,
    NO_TIME,
    NO_ZONE,
    TWICE,
    ReadOptions,
    ReadReport,
    Reject,
    zones_said,
)
from cepctl.io.contract.times import LogTime, parse_time, why_no_time
from cepctl.io.ocel.objects import UNLISTED, Objects, Related
from cepctl.io.ocel.records import OTHERS, LogEvent, LogObject
from cepctl.schema import ATTRIBUTE_PREFIX

CHANGE = "ObjectChange"
_UNLISTED = f"events about objects that the log does not list, kept in the attribute '{UNLISTED}': {{:,}}"
_SEVERAL = (
    "events about several objects of one type, whose key is the JSON list of them: {:,}; "
    "--per-object TYPE makes one event for each"
)
_COPIED = "events that became several, one for each object of the type of --per-object: {:,}"


@dataclass
class ObjectCentricEvents:
    """The events of one log.

    Raises UsageError if the zone of the user does not exist.
    """

    source: str
    options: ReadOptions
    report: ReadReport
    objects: Objects
    rows: EventBatches = field(init=False)

    def __post_init__(self) -> None:
        self.rows = EventBatches(self.options)
        self._zone, self._words = zones_said(self.options)
        wanted, known = self.options.per_object, self.objects.of_type()
        if wanted is not None and wanted not in known:
            near = get_close_matches(wanted, known, 1)
            hint = f"did you mean '{near[0]}'? " if near else ""
            listed = ", ".join(f"'{name}'" for name in sorted(known)) or "none"
            self.report.warnings.append(f"no object has the type '{wanted}'; {hint}types are: {listed}")

    def add(self, event: LogEvent) -> None:
        """Take an event, once or for each of the objects of the type that the user has named."""
        self.report.records += 1
        time = self._time(event.time)
        if time is None:
            self.report.rejects.append(Reject(self.source, event.line, self._cause(event.time), event.raw))
            return
        if event.others:
            self.report.notes[OTHERS] += 1
        own = {
            "ocel_id": event.id,
            **event.others,
            **self.objects.typed("event", event.type, event.attributes),
        }
        for related in self._flattened(self.objects.related(event.relations)):
            self._note(related)
            self._add(event.type, time, own, self.objects.keys(related))

    def add_changes(self, record: LogObject) -> None:
        """Take what changed of an object."""
        known = self.objects.known[record.id]
        for change in self.objects.changes(record):
            self.report.records += 1
            time = self._time(change.time)
            if time is None:
                shown = f"{record.id}: {change.attribute} = {change.value} at {change.time}"
                self.report.rejects.append(Reject(self.source, record.line, self._cause(change.time), shown))
                continue
            own = {change.attribute: change.value, f"{change.attribute}:was": change.was}
            keys = {known.type: record.id, **known.constants}
            self._add(CHANGE, time, {"changed": change.attribute, "object_type": record.type, **own}, keys)

    def _add(
        self, event_type: str, time: LogTime, own: Mapping[str, Value], keys: Mapping[str, Value]
    ) -> None:
        named = {ATTRIBUTE_PREFIX + name if name in keys else name: value for name, value in own.items()}
        self.rows.add_at(event_type, time, {**named, **keys}, grain=time.grain)

    def _flattened(self, related: Related) -> Iterator[Related]:
        """The objects of each of the events that one becomes: of the type in question one."""
        wanted = self.options.per_object
        several = related.get(wanted, {}) if wanted is not None else {}
        if len(several) < 2:
            yield related
            return
        self.report.notes[_COPIED] += 1
        for object_id, qualifiers in several.items():
            yield {**related, wanted: {object_id: qualifiers}}

    def _note(self, related: Related) -> None:
        if None in related:
            self.report.notes[_UNLISTED] += 1
        if any(len(ids) > 1 for object_type, ids in related.items() if object_type is not None):
            self.report.notes[_SEVERAL] += 1

    def _cause(self, written: str | None) -> str:
        return why_no_time(written, self._zone, self._words) or NO_TIME

    def _time(self, written: str | None) -> LogTime | None:
        time = parse_time(written, self._zone, self._words)
        if time is not None and time.cut:
            self.report.notes[BELOW_NANOSECONDS] += 1
        if time is not None and not time.zone_given:
            notes = self.report.notes
            for note, holds in (
                (NO_ZONE, self._zone is None),
                (TWICE, time.fold),
            ):
                if holds:
                    notes[note] += 1
        return time

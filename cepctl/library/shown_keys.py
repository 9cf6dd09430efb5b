"""What rows without RETURN show for people beside ids: what joins their events, and types left open.

`cepctl match --format table` asks for the same columns with the query.  Here they are looked up for the few
rows that are shown, so that a program's rows have no columns that nobody asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cepctl.language.ast import Attribute, ReturnItem

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.library.found import Found


def with_shown_keys(found: Found, rows: pa.Table) -> pa.Table:
    """Some rows with these columns first; without them where rows are of no events, or the query has RETURN.

    `rows`: with the ids of their events (`signature`), which can still be read.
    """
    from cepctl.language.parser import parse
    from cepctl.plan.returned_items import with_keys
    from cepctl.render.pictures.matched_events import bound_ids

    query = parse(found.query)
    if query.returns or found.plan.group_by is not None or not (found.summary.judged and rows.num_rows):
        return rows
    items = with_keys(query).returns
    if not items:
        return rows
    plan, inputs = found.plan, found.inputs
    kept = {*plan.attributes} | {_of(item).name for item in items} & {*inputs.schema.attributes}
    events = inputs.read_ids(bound_ids(rows.column("signature")), sorted(kept))
    bound = _bound_rows(found, rows, events)
    for place, item in enumerate(items):
        rows = rows.add_column(place, item.alias or item.text, _values(item, bound, events))
    return rows


def _bound_rows(found: Found, rows: pa.Table, events: pa.Table) -> list[dict[str, int]]:
    """Of each match the row of the event that each variable has, by its name in small letters."""
    from cepctl.engines.columns.events import events_of
    from cepctl.engines.diagnosis.valid_intervals import bound_events, valid_intervals
    from cepctl.render.pictures.records import variables

    plan, names = found.plan, variables(found.plan)
    bound = bound_events(rows.column("signature"), events.column("event_id").combine_chunks())
    read = [0] * rows.num_rows
    if len(names) > 1:
        read = valid_intervals(plan, events_of(events, plan.clocks), bound).alternatives.tolist()
    of_rows, places, offsets = bound.rows.tolist(), bound.places.tolist(), bound.offsets.tolist()
    return [
        {names[read[match]][places[at]].lower(): of_rows[at] for at in range(*offsets[match : match + 2])}
        for match in range(rows.num_rows)
    ]


def _values(item: ReturnItem, bound: list[dict[str, int]], events: pa.Table) -> Any:
    """The value of an attribute for each match, null where its variable has no event."""
    import pyarrow as pa

    variable, column = _of(item).variable.lower(), events.column(_of(item).name)
    return column.take(pa.array([each.get(variable) for each in bound], pa.int64()))


def _of(item: ReturnItem) -> Attribute:
    assert isinstance(item.expression, Attribute)
    return item.expression

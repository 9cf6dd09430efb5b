"""One match drawn on one axis of time, an event a line.

▁▂▃▄▅▆▇█   where the event lies given the match (or, of rivals and without a match, by itself)
─          part of its interval that the match cannot use
│          its raw time
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.text import Text

from cepctl.render.match_times import MatchTimes

if TYPE_CHECKING:
    from cepctl.engines.diagnosis.shown import BoundMember, EventShown, OneMatch

_HEIGHTS = "▁▂▃▄▅▆▇█"
_FEWEST_COLUMNS = 20
_LONGEST_LABEL = 40


def drawing(match: OneMatch, times: MatchTimes, names: Mapping[str, str], width: int) -> Iterator[Text]:
    """The lines of the drawing; `names` are what events are called, by their ids."""
    labels = [f"{each.variable} {names[each.event.event_id]}" for each in match.members]
    labels += [f"rival {names[each.event.event_id]}" for each in match.rivals]
    margin = min(max(map(len, [*labels, "match"])), _LONGEST_LABEL) + 1
    columns = max(width - margin - 1, _FEWEST_COLUMNS)
    first, last = times.short(math.ceil(match.bins[0])), times.short(math.ceil(match.bins[-1]) - 1)
    yield Text(f"{'':<{margin}}{first}{last:>{max(columns - len(first), len(last) + 1)}}", style="dim")
    lanes = [_bar(match, each.event, each, columns) for each in match.members]
    lanes += [_bar(match, each.event, None, columns) for each in match.rivals]
    for label, lane in zip(labels, lanes, strict=True):
        yield _shown(label, margin).append_text(lane)
    if not match.reasons:
        line = _shown("match", margin)
        begin, end = _column(match, match.start, columns), _column(match, match.end, columns, at_end=True)
        line.append(" " * begin + "╰" + "─" * max(end - begin - 1, 0) + ("╯" if end > begin else ""), "green")
        yield line
    known = any(each.posterior is not None for each in match.members)
    heights = "how probable its time is, given the match" if known else "how probable its time is"
    if any(each.event.until is not None for each in match.members):
        yield Text(f"{'':<{margin}}▁▄█ how probable it is that it is under way   │ raw times", style="dim")
    else:
        yield Text(f"{'':<{margin}}▁▄█ {heights}   ─ of no use to the match   │ raw time", style="dim")
    yield from (Text(each) for each in match.relations)


def _shown(label: str, margin: int) -> Text:
    shown = label if len(label) < margin else f"{label[: margin - 2]}…"
    return Text(f"{shown:<{margin}}")


def _bar(match: OneMatch, event: EventShown, member: BoundMember | None, columns: int) -> Text:
    """One lane: heights where the event may lie, a line where its interval is of no use, the raw time."""
    shares = event.prior if member is None or member.posterior is None else member.posterior
    ticks = [max(b - a, 1) for a, b in _bin_ticks(match)]
    heights = [float(share) / count for share, count in zip(shares, ticks, strict=True)]
    highest = max(heights)
    lane = []
    for column in range(columns):
        bin_number = column * len(heights) // columns
        height = heights[bin_number]
        if height > 0:
            lane.append(_HEIGHTS[min(math.ceil(height / highest * len(_HEIGHTS)), len(_HEIGHTS)) - 1])
        else:
            lane.append("─" if event.prior[bin_number] > 0 else " ")
    text = Text("".join(lane), style="red" if member is None else "cyan")
    for nanoseconds in (event.raw_nanoseconds, event.raw_end_nanoseconds):
        raw = _raw_tick(match, nanoseconds)
        if raw is not None and match.bins[0] <= raw <= match.bins[-1]:
            at = _column(match, raw, columns)
            text = Text.assemble(text[:at], ("│", "bold yellow"), text[at + 1 :])
    return text


def _bin_ticks(match: OneMatch) -> list[tuple[int, int]]:
    cuts = [math.ceil(edge) for edge in match.bins]
    return list(pairwise(cuts))


def _column(match: OneMatch, tick: int, columns: int, *, at_end: bool = False) -> int:
    """The column of a tick: the first that shows it, or the last."""
    number = next((n for n, (_, stop) in enumerate(_bin_ticks(match)) if tick < stop), len(match.bins) - 2)
    count = len(match.bins) - 1
    if at_end:
        return -(-(number + 1) * columns // count) - 1
    return -(-number * columns // count)


def _raw_tick(match: OneMatch, nanoseconds: int | None) -> int | None:
    return None if nanoseconds is None else nanoseconds // match.plan.time_unit.nanoseconds

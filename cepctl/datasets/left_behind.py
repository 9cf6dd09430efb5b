"""Events and attributes that a dataset made for one query does not hold: they cannot matter to it."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class LeftBehind:
    """What is known of events that were read and left behind.

    `events` is how many there are, `last_tick` the largest `upper` or end of them.  Some is an interval event
    where it is `lasting`.  `inexact` are the types of which some has an interval of more than a tick.  Of no
    event, left behind or not, the attributes `unread` were read.
    """

    events: int
    last_tick: int
    lasting: bool
    inexact: frozenset[str]
    unread: frozenset[str] = frozenset()


def left_behind_text(left: LeftBehind) -> bytes:
    """As the metadata of a dataset have it."""
    values = {"events": left.events, "last_tick": left.last_tick, "lasting": left.lasting}
    return json.dumps({**values, "inexact": sorted(left.inexact), "unread": sorted(left.unread)}).encode()


def left_behind_in(text: bytes | None) -> LeftBehind | None:
    """What the metadata of a dataset say; None where it holds all events."""
    if text is None:
        return None
    said = json.loads(text)
    names = frozenset(said["inexact"]), frozenset(said["unread"])
    return LeftBehind(said["events"], said["last_tick"], said["lasting"], *names)

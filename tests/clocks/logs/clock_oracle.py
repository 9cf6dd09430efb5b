"""Pieces, epochs, segments and jumps of a clock, one by one, in fractions, as their definition reads.

Shares no code with cepctl/clocks/logs.  Rows are in order of readings, and no message tells of a step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import isqrt


@dataclass(frozen=True)
class Row:
    """A row: ahead by `a` at `t`, sd `s`, and either `m` (since the row before) or `b` (around)."""

    t: int
    a: int
    s: int | None
    m: int | None
    b: int | None
    synchronised: bool = True
    servo: int = 2


@dataclass(frozen=True)
class Piece:
    """A piece, and whether it begins an epoch."""

    start: int
    stop: int
    ahead: int
    ahead_to: int
    low: int
    high: int
    sd: int | None
    note: str
    begins: bool = True
    epoch: int = 0
    segment: int = 0
    jump: int | None = None


def up(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def root(value: Fraction) -> int:
    """The least whole number whose square is not below a value."""
    found = isqrt(value.numerator // value.denominator)
    while found * found < value:
        found += 1
    return found


def truth(row: Row) -> tuple[int, int]:
    """What the clock can really be ahead at the time of a row."""
    if row.m is not None:
        most = max(row.m, abs(row.a))
        return -most, most
    assert row.b is not None
    return row.a - row.b, row.a + row.b


def around(row: Row) -> int:
    return row.b if row.b is not None else truth(row)[1] + abs(row.a)


def between(one: Row, other: Row, drift: Fraction, spacing: int) -> Piece | None:
    """The piece between two rows."""
    length = other.t - one.t
    if not (one.synchronised and other.synchronised) or not length:
        return None
    step = abs(other.a - one.a) * 12 > length or one.servo < 2 or other.servo == 0
    gap = length > 4 * spacing
    if step:
        grown = up(drift * length)
        least = min(truth(one)[0], truth(other)[0]) - grown
        most = max(truth(one)[1], truth(other)[1]) + grown
        low, high = least - max(one.a, other.a), most - min(one.a, other.a)
    elif other.m is not None:
        most = max(other.m, abs(one.a), abs(other.a))
        low, high = -most - max(one.a, other.a), most - min(one.a, other.a)
    else:
        high = max(around(one), around(other)) + up(drift * length / 2)
        low = -high
    sd = None
    if one.s is not None and other.s is not None:
        sd = root(Fraction(one.s**2 + other.s**2, 2) + Fraction((other.a - one.a) ** 2, 6))
    note = "step" if step else "gap" if gap else "row"
    return Piece(one.t, other.t, one.a, other.a, low, high, sd, note)


def held(row: Row, note: str, drift: Fraction, hold: int) -> list[Piece]:
    """The pieces before the first or after the last row."""
    if not row.synchronised:
        return []
    edges, cut = [0], 64 * 10**9
    while cut < hold:
        edges.append(cut)
        cut *= 2
    edges += [hold] if hold else []
    found = []
    for near, far in pairwise(edges):
        grown = up(drift * far)
        least, most = truth(row)
        ends = (row.t - far, row.t - near) if note == "before" else (row.t + near, row.t + far)
        law = (least - grown - row.a, most + grown - row.a)
        found.append(Piece(*ends, row.a, row.a, *law, row.s, note))
    found.sort(key=lambda piece: piece.start)
    return [replace(piece, begins=not at) for at, piece in enumerate(found)]


def pieces(rows: list[Row], drift: Fraction, hold: int) -> list[Piece]:
    """All pieces, with epochs, segments and jumps."""
    spacings = sorted(b.t - a.t for a, b in pairwise(rows) if b.t > a.t)
    spacing = spacings[(len(spacings) - 1) // 2] if spacings else 0
    found = held(rows[0], "before", drift, hold)
    goes_on = False
    for one, other in pairwise(rows):
        piece = between(one, other, drift, spacing)
        if piece is not None:
            found.append(replace(piece, begins=piece.note != "row" or not goes_on))
        if other.t > one.t:
            goes_on = piece is not None and piece.note == "row"
        elif one.a != other.a or one.servo < 2 or other.servo == 0:
            goes_on = False
        else:
            goes_on = goes_on and one.synchronised and other.synchronised
    found += held(rows[-1], "after", drift, hold)
    return tied(numbered(found), drift)


def numbered(found: list[Piece]) -> list[Piece]:
    """The pieces with their epochs and segments."""
    epochs: list[list[Piece]] = []
    for piece in found:
        if piece.begins:
            epochs.append([])
        epochs[-1].append(piece)
    done: list[Piece] = []
    segment = 0
    for epoch, members in enumerate(epochs, 1):
        factor = 2
        while len(groups := grouped(members, factor)) > 8 and factor < 2**62:
            factor *= 2
        for group in groups:
            segment += 1
            done += [replace(piece, epoch=epoch, segment=segment) for piece in group]
    return done


def grouped(members: list[Piece], factor: int) -> list[list[Piece]]:
    groups: list[list[Piece]] = []
    for piece in members:
        if groups and fit([*groups[-1], piece], factor):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def fit(group: list[Piece], factor: int) -> bool:
    widths = [piece.high - piece.low for piece in group]
    deviations = [piece.sd for piece in group if piece.sd is not None]
    if deviations and len(deviations) < len(group):
        return False
    return max(widths) <= factor * min(widths) and (
        not deviations or max(deviations) <= factor * min(deviations)
    )


def tied(found: list[Piece], drift: Fraction) -> list[Piece]:
    """The pieces with their jumps."""
    segments: dict[int, list[Piece]] = {}
    for piece in found:
        segments.setdefault(piece.segment, []).append(piece)
    jumps: dict[int, int] = {}
    for number, own in segments.items():
        before = segments.get(number - 1)
        if before is None or before[0].epoch != own[0].epoch:
            continue
        length = own[-1].stop - own[0].start + before[-1].stop - before[0].start
        moved = sum(abs(piece.ahead_to - piece.ahead) for piece in [*before, *own])
        jump = up(drift * length) + moved
        every = [*before, *own]
        if jump < max(piece.high for piece in every) - min(piece.low for piece in every):
            jumps[number] = jump
    firsts = {number: own[0] for number, own in segments.items()}
    return [
        replace(piece, jump=jumps.get(piece.segment)) if piece is firsts[piece.segment] else piece
        for piece in found
    ]

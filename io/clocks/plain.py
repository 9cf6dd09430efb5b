"""A plain CSV: host,time,ahead,bound[,sd]; numbers are seconds, a time may also be written as ISO 8601.

An empty bound or sd is none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np
import polars as pl

from cepctl.io.clocks.blocks import blocks
from cepctl.io.clocks.columns import (
    BAD_BOUND,
    BAD_DEVIATION,
    BAD_TIME,
    NOT_COLUMNS,
    Fields,
    is_usable,
    known_where,
)
from cepctl.io.clocks.contract import Account, ClockLog, ClockRows, rows_of
from cepctl.io.clocks.decimals import LAST_INSTANT, nanoseconds
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.reader import ReadOptions, zones_said
from cepctl.io.contract.times import parse_time
from cepctl.io.source.text_encoding import decoded
from cepctl.numeric.arrays import Flags, Numbers

DAEMON = "plain CSV"
NO_HOST = "a row without a host"
_HEADERS = (["host", "time", "ahead", "bound"], ["host", "time", "ahead", "bound", "sd"])


def _cells(lines: pl.Series) -> pl.Series:
    return lines.str.strip_chars(" \t\r\0").str.replace_all(r'"', "").str.split(",")


def recognises(head: bytes) -> bool:
    """Whether the first line is the header."""
    return [each.strip().strip('"') for each in decoded(head).partition("\n")[0].split(",")] in list(_HEADERS)


def read(stream: IO[bytes], source: str, options: ReadOptions, account: Account) -> Iterator[ClockRows]:
    """The rows of the table."""
    width = 0
    for block in blocks(stream, source, account, may_lack_end=True):
        numbered = block.numbered()
        cells, lines = _cells(numbered["text"]), numbered["line"].to_numpy()
        if not width and len(cells):
            width, cells, lines = len(cells[0]), cells[1:], lines[1:]
        own = (cells.list.len() == width).to_numpy()
        account.refuse(NOT_COLUMNS.format("other"), lines[~own].tolist())
        fields = Fields(
            cells.filter(pl.Series(own)).list.eval(pl.element().str.strip_chars()), lines[own], account
        )
        if len(fields):
            yield ClockRows("csv", fields.kept(_rows(fields, width, options)))


def _rows(fields: Fields, width: int, options: ReadOptions) -> pl.DataFrame:
    hosts = pl.Series([node_name(text) for text in fields.text(1)], dtype=pl.String)
    fields.refuse(hosts.is_null().to_numpy(), NO_HOST)
    offset = fields.estimate(3)
    around = _usable(fields, 4, BAD_BOUND)
    bound = around.to_numpy() if not around.null_count() else around.fill_null(0).to_numpy()
    bound = bound + np.where(bound > 0, ~offset.exact, 0)
    columns = {"host": hosts, "time": _times(fields, options), "ahead": offset.nearest, "line": fields.lines}
    columns["around"] = known_where(bound, bound > 0)
    if width > 4:
        columns["sd"] = _usable(fields, 5, BAD_DEVIATION)
    return rows_of(columns, len(fields))


def _usable(fields: Fields, column: int, cause: str) -> pl.Series:
    """A column that may be empty; the lines of a bound that is not usable are refused."""
    texts = fields.text(column)
    empty: Flags = (texts == "").to_numpy()
    found = nanoseconds(texts)
    usable = is_usable(found)
    if cause == BAD_BOUND:
        fields.refuse(~usable & ~empty, cause)
    else:
        fields.account.refuse(cause, fields.lines[~usable & ~empty & ~fields.refused].tolist())
    return known_where(found.up, usable)


def _times(fields: Fields, options: ReadOptions) -> Numbers:
    texts = fields.text(2)
    seconds = nanoseconds(texts)
    zone, words = zones_said(options)
    instants = seconds.nearest.copy()
    known = seconds.known.copy()
    for at in np.flatnonzero(~known).tolist():
        time = parse_time(texts[at], zone, words)
        if time is not None:
            instants[at], known[at] = time.micros * 1_000 + time.nanos, True
    fields.refuse(~known | (instants < 0) | (instants > LAST_INSTANT), BAD_TIME)
    return instants


LOG = ClockLog("plain CSV", DAEMON, recognises, read)

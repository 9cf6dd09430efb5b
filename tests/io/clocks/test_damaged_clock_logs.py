"""Damage costs the lines that it hits, never the command: what is left are figures that can be."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.io.clocks.contract import Account
from cepctl.io.clocks.decimals import LARGEST, LAST_INSTANT
from cepctl.io.clocks.kinds import clock_log
from tests.io.clocks.test_other_clock_logs import answer
from tests.io.clocks.test_signs_of_clock_logs import (
    BANNER,
    CHANGED,
    LINUXPTP,
    LOOPSTATS,
    LOST,
    MEASUREMENTS,
    PEERSTATS,
    STATISTICS,
    TRACKING,
)

LOGS = {
    "tracking": BANNER + TRACKING + LOST + TRACKING,
    "statistics": STATISTICS * 3,
    "measurements": MEASUREMENTS * 3,
    "loopstats": LOOPSTATS * 3,
    "peerstats": PEERSTATS * 2,
    "syslog": LINUXPTP * 2 + "Mar  2 09:00:15 node07 chronyd[9]: System clock was stepped by -2.3 seconds\n",
    "csv": "host,time,ahead,bound,sd\n"
    "n1,1772442012.000000001,0.01,0.03,9e-4\n"
    "n2,2026-03-02 09:00:12,-1e-3,,\n",
    "prometheus": answer(offset_seconds=[[1, "-0.002"]], maxerror_seconds=[[1, "0.02"]]),
}
PIECES = [
    b"\0",
    b"\n",
    b"\r",
    b"\xff",
    b"9" * 40,
    b"-",
    b" ",
    b"e",
    b".",
    b"nan",
    b"inf",
    b":",
    b'"',
    b",",
    b"1e308",
]
PIECES += [b"\xef\xbb\xbf", "٣".encode(), b"[", b"null", b"{}", b"0", b"?"]


@pytest.mark.parametrize("name", LOGS)
@given(data=st.data())
def test_what_is_left_of_a_damaged_log_can_be(name: str, data: st.DataObject) -> None:
    raw = bytearray(LOGS[name].encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        raw[at : at + data.draw(st.integers(0, 8))] = data.draw(st.sampled_from(PIECES))
    log, account = clock_log(bytes(raw)), Account()
    if log is None:
        return
    try:
        batches = list(log.read(io.BytesIO(bytes(raw)), "log", CHANGED, account))
    except CepctlError:
        return
    for batch in batches:
        rows = batch.rows
        assert rows["time"].is_between(0, LAST_INSTANT).all()
        assert (rows["ahead"].abs() <= LARGEST + 1).all()
        for bound in ("sd", "since", "around"):
            assert rows[bound].drop_nulls().is_between(1, 8 * LARGEST).all()

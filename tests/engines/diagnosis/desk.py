"""Two events that may overlap, unless the first of two clauses is given, which the second does not say."""

from __future__ import annotations

from dataclasses import replace

from tests.plans import Event, lasting

DESK = (
    replace(lasting("w1", "W", (0, 4), (6, 9)), k="p"),
    replace(lasting("w2", "V", (3, 8), (9, 12)), k="p"),
    Event("x", "X", 7, 7),
)
FIRST = "GIVEN SEQ(W p, V q) IF p.k = q.k"
LATE = "GIVEN SEQ(X p, V q) IF TRUE"

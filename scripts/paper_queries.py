"""Queries and forms of the papers, of SASE and of SASE+: in this language, as near to the print as it goes.

`note` tells how a query is written otherwise than printed, or where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

WORKS = {
    "SASE": "SASE and SASE+: RFID, medicine, stocks",
    "ZDI10": "ZDI10: imprecise timestamps",
    "ZDI14": "ZDI14: a cluster's logs, and groups that grow",
    "Li10": "Li10: out of order, constraints, events that last",
    "PTJ06": "PTJ06: timing joins of histograms",
    "B21": "B21: the operators",
}
"""Headings of the page, by the short name of the work; docs/glossary.md has the full ones."""


@dataclass(frozen=True)
class PaperQuery:
    """One query, or one form of writing."""

    work: str
    name: str
    text: str
    note: str = ""


_STOCK = "[symbol] AND a[1].volume > 1000 AND a[i].price > avg(a[..i-1].price)"
_INTERVALS = "WITHIN 30 ticks"

PAPER_QUERIES = (
    PaperQuery("SASE", "stolen goods",
               "PATTERN SEQ(ShelfReading x, ~(CounterReading y), ExitReading z) WHERE [id] WITHIN 12 hours"),
    PaperQuery("SASE", "misplaced goods",
               "PATTERN SEQ(ShelfReading x, ShelfReading y, ~(CounterReading|ShelfReading z)) WHERE [id] "
               "AND x.shelf_id ≠ y.shelf_id AND x.shelf_id = z.shelf_id WITHIN 1 hour",
               "`ANY(A, B)` is written `A|B`"),
    PaperQuery("SASE", "pallets of a loading",
               "PATTERN SEQ(StartLoading a, RfidReading+ b[], EndLoading c) WHERE [loading_dock] "
               "AND a.session_id = c.session_id AND b[i].packaging_level = 'pallet' "
               "RETURN a.session_id, count(b[]), b",
               "the members are returned by their ids"),
    PaperQuery("SASE", "too much medicine",
               "PATTERN SEQ(MedicineTaken x, MedicineTaken y) WHERE [name] AND x.name = 'John' "
               "AND [medicine] AND x.medicine = 'Antibiotics' AND x.amount + y.amount > 1000 WITHIN 4 hours",
               "`[name = 'John']` is written as two conditions"),
    PaperQuery("SASE", "trade after bad news",
               "PATTERN SEQ(News a, Stock+ b[]) WHERE [symbol] AND a.type = 'bad' AND b[i].symbol = 'GOOG' "
               "AND b[b.LEN].volume < 0.8 * b[1].volume WITHIN 4 hours RETURN sum(b[].volume)",
               "`80%*x` is written `0.8 * x`"),
    PaperQuery("SASE", "from 10 to 20 at a stable volume",
               "PATTERN Stock+ a[] WHERE [symbol] AND a[1].price = 10 AND a[i].price > a[i-1].price "
               "AND a[a.LEN].price = 20 AND avg(a[].volume) >= a[1].volume WITHIN 1 hour RETURN a[1].symbol",
               "HAVING is part of WHERE"),
    PaperQuery("SASE", "the volume plummets",
               f"PATTERN SEQ(Stock+ a[], Stock b) WHERE {_STOCK} AND b.volume < 0.8 * a[a.LEN].volume "
               "WITHIN 1 hour RETURN a[1].symbol, b.(price, volume)",
               "SASE+'s stock query, printed under next match"),
    PaperQuery("SASE", "contaminated food",
               "PATTERN SEQ(Alert a, Shipment+ b[]) WHERE a.type = 'contaminated' AND b[1].`from` = a.site "
               "AND b[i].`from` = b[i-1].`to` WITHIN 3 hours",
               "printed under any match"),
    PaperQuery("SASE", "a strategy with its conditions",
               "PATTERN SEQ(Alert a, Shipment+ b[]) WHERE skip_till_any_match(a, b[]) "
               "{ a.type = 'contaminated' AND b[1].`from` = a.site } WITHIN 3 hours"),
    PaperQuery("SASE", "negation of two", "PATTERN SEQ(A a, NOT(B, D), C c) WITHIN 1 hour"),
    PaperQuery("SASE", "a union", "PATTERN SEQ(A a, B b) ∪ SEQ(A a, C c)"),
    PaperQuery("SASE", "a sequence, repeated", "PATTERN SEQ(A a, SEQ(B b[], C c[])+) WITHIN 1 hour"),
    PaperQuery("ZDI10", "Query 1: a task that maxed out its node",
               "PATTERN SEQ(TaskStart a, CPU b, TaskFinish c, CPU d) WHERE a.taskId = c.taskId "
               "AND b.nodeId = a.nodeId AND d.nodeId = a.nodeId AND b.value > 95% AND d.value <= 70% "
               "WITHIN 15 seconds RETURN a, b, c"),
    PaperQuery("ZDI10", "Fig. 1", "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks"),
    PaperQuery("ZDI10", "Appendix C",
               "PATTERN SEQ(E a, E b, E c) WHERE a.val % 100 = 10 AND b.val % 100 = 20 AND c.val % 100 = 30 "
               "WITHIN 100 ticks"),
    PaperQuery("ZDI14", "Q1: how long the maps of a job took",
               "PATTERN SEQ(JobStart a, Mapper+ b[], JobEnd c) WHERE a.job_id = b[i].job_id "
               "AND a.job_id = c.job_id WITHIN 1 day RETURN avg(b[].period), max(b[].period)"),
    PaperQuery("ZDI14", "Q2: how long its reducers took",
               "PATTERN SEQ(JobStart a, Reducer+ b[], JobEnd c) WHERE [job_id] WITHIN 1 day "
               "RETURN avg(b[].period), max(b[].period)"),
    PaperQuery("ZDI14", "Q3: reducers that pull data too slowly",
               "PATTERN SEQ(ReducerStart a, DataPull+ b[]) WHERE [task_id] "
               "AND b[b.len].period > 2 × avg(b[].period) WITHIN 10 minutes RETURN a.(task_id, period)"),
    PaperQuery("ZDI14", "Q4: how much data a job has moved",
               "PATTERN SEQ(JobStart a, DataIO+ b[]) WHERE [task_id] WITHIN 1 day "
               "RETURN a.timestamp, b[b.LEN].timestamp, sum(b[].size)"),
    PaperQuery("ZDI14", "Q4 as it grows",
               "PATTERN SEQ(JobStart a, RUNNING DataIO+ b[]) WHERE [task_id] WITHIN 1 day "
               "RETURN a.timestamp, b[b.LEN].timestamp, sum(b[].size)",
               "one row for each prefix, for the queue of data over time (Fig. 7c)"),
    PaperQuery("ZDI14", "Q5: reducers that make a cluster unbalanced",
               "PATTERN SEQ(Balance a, ReducerStart b, Imbalance+ c[], ReducerEnd d, Balance e) "
               "WHERE [task_id] WITHIN 10 minutes RETURN a.task_id"),
    PaperQuery("ZDI14", "Q6: the load keeps rising",
               "PATTERN SEQ(ReducerStart a, LoadStd+ b[], ReducerEnd c) WHERE [task_id] "
               "AND b[i].val ≥ b[i-1].val WITHIN 10 minutes RETURN a.task_id"),
    PaperQuery("ZDI14", "Q6 by its running maximum",
               "PATTERN SEQ(ReducerStart a, LoadStd+ b[], ReducerEnd c) WHERE [task_id] "
               "AND b[i].val ≥ max(b[1..i-1].val) WITHIN 10 minutes RETURN a.task_id"),
    PaperQuery("ZDI14", "Section 2.1: five values that do not fall",
               "PATTERN B+ b[] WHERE b[i].v >= b[i-1].v WITHIN 100 ticks"),
    PaperQuery("ZDI14", "Fig. 5: a group without a condition",
               "PATTERN SEQ(A a, B+ b[], C c) WITHIN 1000 ticks"),
    PaperQuery("ZDI14", "Fig. 5: true-consistent",
               "PATTERN SEQ(A a, B+ b[], C c) WHERE b[i].v > max(b[..i-1].v) WITHIN 1000 ticks"),
    PaperQuery("ZDI14", "Fig. 5: false-consistent",
               "PATTERN SEQ(A a, B+ b[], C c) WHERE c.v < max(b[..i].v) WITHIN 1000 ticks"),
    PaperQuery("Li10", "sequence with equal ids", "EVENT SEQ(A, B) WHERE A.id = B.id"),
    PaperQuery("Li10", "one of two types first", "EVENT SEQ(OR(P|Q), A, B)"),
    PaperQuery("Li10", "negation", 'EVENT SEQ(A, !B, C) WHERE A.id = "3"'),
    PaperQuery("Li10", "what the workflow allows",
               "PATTERN SEQ(A a, C c) WHERE [id] GIVEN SEQ(A x, C y) IF x.id = y.id",
               "chapter 3: a constraint is GIVEN"),
    PaperQuery("Li10", "ISEQ", f"PATTERN ISEQ(A a, B b) WHERE a OVERLAPS b {_INTERVALS}"),
    PaperQuery("Li10", "ISEQ by ends",
               f"PATTERN ISEQ(A a, B b) WHERE a.start < b.start AND b.start < a.end {_INTERVALS}"),
    PaperQuery("Li10", "ISEQ with brackets", "ISEQ[A.ts < B.ts AND B.ts < A.te](A, B; 30)"),
    PaperQuery("Li10", "Example 5.4", "ISEQ[A^- < B^+ < C^+ < D^+](A, B, C, D; 30)"),
    PaperQuery("Li10", "an interval event that lasts in none",
               f"PATTERN ISEQ(A a, !N n) WHERE n DURING a {_INTERVALS}"),
    PaperQuery("PTJ06", "the join (d, δ)", "PATTERN AND(A a, B b) WITHIN 2001 ticks CONFIDENCE >= 0.6"),
    PaperQuery("PTJ06", "Example 4", "PATTERN AND(X2 b, X3 c) WHERE c.time - 90 ticks >= b.time"),
    PaperQuery("PTJ06", "a threshold for each constraint",
               "PATTERN AND(A a, B b) WHERE prob(b.time - a.time <= 40 ticks) >= 0.8",
               "the paper's PTC"),
    PaperQuery("PTJ06", "satisfaction time", "PATTERN AND(A a, B b) WITHIN 61 ticks RETURN reached(0.8)"),
    PaperQuery("B21", "SEQ", "PATTERN SEQ(A a, B b, C c) WITHIN 100 ticks"),
    PaperQuery("B21", "OR", "PATTERN SEQ(A a, OR(B b, C c)) WITHIN 100 ticks"),
    PaperQuery("B21", "AND", "PATTERN AND(A a, B b) WITHIN 100 ticks"),
    PaperQuery("B21", "AND behind an event", "PATTERN SEQ(A a, AND(B b, C c)) WITHIN 100 ticks"),
    PaperQuery("B21", "NOT", "PATTERN SEQ(A a, !B b, C c) WITHIN 100 ticks"),
    PaperQuery("B21", "NOT of a sequence", "PATTERN SEQ(A a, !SEQ(B b, C c), D d) WITHIN 100 ticks"),
    PaperQuery("B21", "NOT of both", "PATTERN SEQ(A a, !AND(B b, C c), D d) WITHIN 100 ticks"),
)  # fmt: skip

"""ZDI14's six queries of its case study, on the events that the sample's cluster has.

the paper's event                   here
Mapper, Reducer                     MapAttemptFinish, ReduceAttemptFinish
DataPull of a reducer               samples of the load on its node
DataIO                              the end of a map or a shuffle, with the records that it wrote
Balance, Imbalance                  a node's CPU up to 20 %, and above
LoadStd                             a node's CPU
"""

from __future__ import annotations

from dataclasses import dataclass

ANY, NEXT = "skip_till_any_match", "skip_till_next_match"


@dataclass(frozen=True)
class ClusterQuery:
    """One of the queries; `summary`: under any match it has too many groups to be listed.

    `run`: under next match its group is a run of many members, and each costs much.  `late`: the conditions
    that a system may leave until groups are finished.
    """

    name: str
    pattern: str
    where: str
    within: str
    returns: str
    late: str = ""
    summary: bool = False
    run: bool = False

    def under(self, strategy: str, *, summary: bool = False) -> str:
        """The whole query; a row for many groups returns none of their attributes."""
        return self._of(f"{self.where}{self.late}", strategy, summary)

    def unfiltered(self, strategy: str) -> str:
        """The query without the conditions that may be left until later."""
        return self._of(self.where, strategy, False)

    def _of(self, where: str, strategy: str, summary: bool) -> str:
        returns = "" if summary else f" RETURN {self.returns}"
        return f"PATTERN {self.pattern} WHERE {where} STRATEGY {strategy} WITHIN {self.within}{returns}"


CLUSTER_QUERIES = (
    ClusterQuery("Q1", "SEQ(JobStart a, MapAttemptFinish+ b[], JobFinish c)", "[job_id]", "1 day",
                 "avg(b[].period), max(b[].period)", summary=True),
    ClusterQuery("Q2", "SEQ(JobStart a, ReduceAttemptFinish+ b[], JobFinish c)", "[job_id]", "1 day",
                 "avg(b[].period), max(b[].period)"),
    ClusterQuery("Q3", "SEQ(ReduceAttemptStart a, load_one+ b[])", "[node]", "10 minutes",
                 "a.task_id, a.period", late=" AND b[last].value > 1.2 * avg(b[].value)"),
    ClusterQuery("Q4", "SEQ(JobStart a, MapAttemptFinish|ReduceAttemptFinish+ b[])", "[job_id]",
                 "10 minutes", "a.time, b[last].time, sum(b[].size)", summary=True, run=True),
    ClusterQuery("Q5", "SEQ(CPU a, ReduceAttemptStart b, CPU+ c[], ReduceAttemptFinish d, CPU e)",
                 "[node] AND b.task_id = d.task_id AND a.value <= 20 AND e.value <= 20", "2 minutes",
                 "b.task_id", late=" AND c[i].value > 20"),
    ClusterQuery("Q6", "SEQ(ReduceAttemptStart a, CPU+ b[], ReduceAttemptFinish c)",
                 "[node] AND a.task_id = c.task_id", "10 minutes", "a.task_id",
                 late=" AND b[i].value >= b[i-1].value"),
)  # fmt: skip

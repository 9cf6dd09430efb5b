"""However a log is cut into appended bytes, runs take the records that one run would, with the same ids."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import strategies as st

from cepctl.ingestion.options import IngestOptions
from cepctl.io.contract.reader import ReadOptions
from cepctl.matching.inputs import open_events
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.state.test_news import Taking

_LOGGER = "INFO [main] org.apache.hadoop.mapreduce.v2.app.MRAppMaster:"
LOGS = {
    "a.csv": 'event_type,lower,upper,text\r\nA,1,1,"one\ntwo ""2"""\r\n\nB,2,2,é\n'
    'C,3,3\nD,4,4,"x,y"\nE,5,5,last',
    "semicolons.csv": 'event_type;lower;upper;text\nA;1;1;"one\ntwo; three"\nB;2;2;1,5\nC;3;3;x,y\n',
    "a.tsv": "event_type\tlower\tupper\nA\t1\t1\nB\t2\t2\n",
    "a.jsonl": '{"event_type": "A", "lower": 1, "upper": 1}\n\n{"broken\n'
    '{"event_type": "B", "lower": 2, "upper": 2, "text": "é"}\r\n{"event_type": "C", "lower": 3, "upper": 3}',
    "numbers.csv": "event_type,time\nA,1714557600\nB,5\nC,1714557602.5\nD,1714557603000\nE,1714557604\n",
    "dates.csv": "event_type,time\nA,2024-05-01T10:00:00Z\nB,01.05.2024\nC,2024-05-03\n",
    "app.log": f"2015-10-18 18:01:01,978 {_LOGGER} one\n2015-10-18 18:01:02,978 {_LOGGER} two\n"
    f"java.lang.Exception: because\n\tat here\n\n2015-10-18 18:01:03,978 {_LOGGER} three é\r\n"
    f"2015-10-18 18:01:04,978 {_LOGGER} four",
}
OPTIONS = IngestOptions(max_errors=10, read=ReadOptions(keep_unmatched=True))


def events_at_once(path: Path) -> list[dict[str, object]]:
    with open_events([str(path)], OPTIONS) as events:
        table = events.read([])
    return sorted(table.select(["event_id", "source", "lower"]).to_pylist(), key=str)


@pytest.mark.parametrize("name", LOGS)
def test_any_cut_gives_the_records_of_the_whole_log(name: str) -> None:
    data = LOGS[name].encode()

    def taken_in_pieces(cuts: list[int]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, name)
            log.touch()
            runs = Taking((str(log),), OPTIONS)
            found: list[str] = []
            edges = [0, *sorted(cuts), len(data)]
            for first, last in pairwise(edges):
                with log.open("ab") as file:
                    file.write(data[first:last])
                found += runs.take()
            found += runs.take(final=True)
            whole = [str(event["event_id"]) for event in events_at_once(log)]
        assert sorted(found) == sorted(whole)
        assert len(whole) > 1

    check(st.lists(st.integers(0, len(data)), max_size=4), taken_in_pieces, max(FEW_EXAMPLES // 2, 1))

"""The rows of a case are those of a file that holds its events, read as far as its query needs them."""

from __future__ import annotations

import csv
import io
import json
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.clocks.ties import ties_of
from cepctl.library.ingest import ingest
from cepctl.library.match import match
from cepctl.notices import CepctlWarning
from cepctl.plan.plan import Plan
from cepctl.schema import WRITER
from tests.fuzzing.answers import Answer, answer_of
from tests.fuzzing.case_files import events_csv, laws_toml, query_of_file
from tests.fuzzing.queries import Case
from tests.plans import ATTRIBUTES

FORMS = ("csv", "jsonl", "parquet", "dataset")
_NUMBERS = ("lower", "upper", "end_lower", "end_upper", "length_lower", "length_upper", "x", "record")


def answer_of_file(case: Case, plan: Plan, form: str) -> Answer | None:
    """Rows of a file of that form; None where no file says what the case has.

    That are clocks tied to each other, writers of what lasts, whose starts or ends alone are in order, and
    the types of attributes without a value.
    """
    if ties_of(case.used_clocks) or (case.lasting and WRITER in str(case.query)):
        return None
    if any(all(getattr(event, name) is None for event in case.events) for name in ATTRIBUTES):
        return None
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", CepctlWarning)
        return answer_of(plan, lambda _, __: _rows(case, Path(folder), form), case.table)


def _rows(case: Case, folder: Path, form: str) -> pa.Table:
    source, laws = _written(case, folder, form), folder / "laws.toml"
    laws.write_text(laws_toml(case), encoding="utf-8")
    asked = {"runner": "local", "laws": laws if case.laws else None, "time": "ticks"}
    with match(query_of_file(case), source, **asked) as found:  # type: ignore[arg-type]
        return found.table()


def _written(case: Case, folder: Path, form: str) -> Path:
    text = events_csv(case)
    if form == "csv":
        (folder / "events.csv").write_text(text, encoding="utf-8")
        return folder / "events.csv"
    rows = [
        {name: int(cell) if name in _NUMBERS else cell for name, cell in row.items() if cell != ""}
        for row in csv.DictReader(io.StringIO(text))
    ]
    if form == "jsonl":
        (folder / "events.jsonl").write_text(
            "".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8"
        )
        return folder / "events.jsonl"
    names = text.splitlines()[0].split(",")
    kinds = [pa.int64() if name in _NUMBERS else pa.string() for name in names]
    columns = [
        pa.array([row.get(name) for row in rows], kind) for name, kind in zip(names, kinds, strict=True)
    ]
    pq.write_table(pa.table(columns, names), folder / "events.parquet")
    if form == "parquet":
        return folder / "events.parquet"
    ingest(folder / "events.parquet", folder / "dataset", runner="local")
    return folder / "dataset"

"""Logs of the audit of Linux: every known key is an attribute, whatever other lines of the log have."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.contract.message_template import templates_in
from cepctl.io.lines.pairs import pairs_in
from cepctl.schema import META_TEMPLATES

AUDIT = (
    "type=USER_LOGIN msg=audit(1781417700.120:440): pid=2213 uid=0 ses=3 msg='op=login "
    'exe="/usr/sbin/sshd" addr=198.51.100.7 res=success\'\n'
    "type=SYSCALL msg=audit(1781417705.120:443): arch=c000003e success=yes a0=ffffff9c ses=3 "
    'comm="my vi" exe="/usr/bin/vi" key="shadow"\x1dARCH=x86_64 AUID="ann"\n'
    'type=EXECVE msg=audit(1781417705.120:444): argc=300 a0="ls" a299="-l" wanted="yes"\n'
)


def test_keys_are_attributes_also_where_their_value_never_varies(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_text(AUDIT)
    summary = ingest([str(tmp_path / "audit.log")], str(tmp_path / "events"), IngestOptions())
    (part,) = (tmp_path / "events").glob("*.parquet")
    login, call, run = pq.read_table(part).sort_by("event_id").to_pylist()
    assert (summary.events, summary.rejects) == (3, ())
    assert [login[name] for name in ("event_type", "op", "exe", "addr", "res", "uid", "key")] == [
        *("USER_LOGIN", "login", "/usr/sbin/sshd", "198.51.100.7", "success", 0, None)
    ]
    assert [call[name] for name in ("event_type", "comm", "key", "arch_name", "auid_name", "ses")] == [
        *("SYSCALL", "my vi", "shadow", "x86_64", "ann", 3)
    ]
    assert (run["event_type"], run["argc"], run["a0"]) == ("EXECVE", 300, "ls")
    assert not {"a299", "wanted"} & set(run)
    assert 'wanted="yes"' in run["message"]


def test_no_templates_are_mined_from_them(tmp_path: Path) -> None:
    (tmp_path / "audit.log").write_text(AUDIT)
    ingest([str(tmp_path / "audit.log")], str(tmp_path / "events"), IngestOptions())
    (part,) = (tmp_path / "events").glob("*.parquet")
    assert templates_in(pq.read_schema(part).metadata.get(META_TEMPLATES, b"[]")) == ()


def test_one_line_of_signs_costs_no_more_than_its_bytes() -> None:
    found = pairs_in(pa.array(["uid=0 " + "=" * 1_000_000 + " gid=7", "uid=a=b=c"]))
    assert {name: values.to_pylist() for name, values in found.items()} == {
        "uid": ["0", "a=b=c"],
        "gid": ["7", None],
    }

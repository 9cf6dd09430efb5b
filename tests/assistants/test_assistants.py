"""`cepctl mcp`, spoken to by the client of the SDK."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cepctl.assistants.places import OpenFolders
from cepctl.assistants.tools import MOST_CHARACTERS, bounded
from cepctl.cli import main
from cepctl.errors import UsageError

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="mcp is not installed")
ROOT = Path(__file__).parents[2]
LOGS: dict[str, Any] = {"events": ["logs"], "uncertainty": "uncertainty.toml", "names": {"cpu_user": "CPU"}}


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "sample_data", tmp_path / "samples")
    (tmp_path / "secret.csv").write_text("event_type,lower,upper\nA,1,2\n")
    (tmp_path / "samples" / "link.csv").symlink_to(tmp_path / "secret.csv")
    return tmp_path / "samples"


def asked(folder: Path, calls: Sequence[tuple[str, dict[str, Any]]], *, apart: bool = False) -> list[Any]:
    """The answers to some calls, of a server in this process, or of one that is started."""
    import mcp

    from cepctl.assistants.server import server

    async def run() -> list[Any]:
        told: Any = server(OpenFolders.of([str(folder)]))
        if apart:
            environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"}
            told = mcp.StdioServerParameters(
                command=sys.executable, args=["-m", "cepctl", "mcp", str(folder)], env=environment
            )
        async with mcp.Client(told) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(run())


def answer(found: Any) -> dict[str, Any]:
    assert not found.is_error, found.content
    # All that is sent, whatever of it a client reads.
    assert len(found.model_dump_json()) <= MOST_CHARACTERS
    text: dict[str, Any] = json.loads(found.content[0].text)
    return text


def test_the_question_of_the_readme_is_answered_in_three_calls(samples: Path) -> None:
    query = (samples / "query.cep").read_text()
    (first,) = asked(samples, [("inspect", LOGS)], apart=True)
    assert len(first.content[0].text) <= 4_000
    assert {"TaskStart: 19", "CPU: 82", "TaskFinish: 19"} <= {*answer(first)["types"]}
    assert "full=true tells all, also of" in answer(first)["more"]
    (second,) = asked(samples, [("match", {"query": query, **LOGS})])
    rows = answer(second)["rows"]
    assert len(rows) == 7
    best = rows[0]
    assert best["a.task_id"] == "task_1772009204117_0042_m_000011"
    assert best["confidence"] == pytest.approx(0.773790, abs=1e-6)
    assert best["start"] == "2026-03-03T09:01:29.552Z"
    (third,) = asked(samples, [("show", {"query": query, "match": best["match"], **LOGS})])
    assert answer(third)["confidence"] == pytest.approx(best["confidence"], rel=1e-9)
    assert [each["variable"] for each in answer(third)["events"]] == ["a", "b", "c", "d"]


def test_four_tools_say_what_they_take_and_that_they_only_read(samples: Path) -> None:
    import mcp

    from cepctl.assistants.server import server

    async def listed() -> Any:
        async with mcp.Client(server(OpenFolders.of([str(samples)]))) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}
    assert sorted(tools) == ["inspect", "match", "show", "why_not"]
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools.values())
    assert tools["match"].input_schema["required"] == ["query", "events"]


def test_why_nothing_matches_is_told(samples: Path) -> None:
    query = "PATTERN SEQ(TaskStart a, CPU b) WHERE b.value > 1000"
    (found,) = asked(samples, [("why_not", {"query": query, **LOGS})])
    assert "why_not" in answer(found)


@pytest.mark.parametrize("path", ["../secret.csv", "/etc/passwd", "link.csv", "logs/../../secret.csv"])
def test_what_lies_outside_of_the_folders_is_refused(path: str, samples: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("match", {"query": "PATTERN A a", "events": [path]}),
        ("inspect", {"events": ["logs"], "uncertainty": path}),
    ]
    for found in asked(samples, calls):
        assert found.is_error
        assert "outside of the folders that may be read" in found.content[0].text


def test_a_pipe_is_refused_and_not_waited_for(samples: Path) -> None:
    os.mkfifo(samples / "pipe.csv")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("match", {"query": "PATTERN A a", "events": ["pipe.csv"]}),
        ("inspect", {"events": ["logs"], "uncertainty": "pipe.csv"}),
    ]
    for found in asked(samples, calls):
        assert found.is_error
        assert "pipe.csv is neither a file nor a folder" in found.content[0].text


def test_what_a_user_can_mend_is_told_as_it_is(samples: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("match", {"query": "PATTERN SEQ(", "events": ["logs"]}),
        ("match", {"query": "PATTERN A a", "events": ["nowhere"]}),
        ("match", {"query": "PATTERN CPU a", "events": ["logs"], "limit": 1000}),
    ]
    said = [found.content[0].text for found in asked(samples, calls)]
    assert "line 1" in said[0]
    assert "there is no nowhere" in said[1]
    assert "limit is from 1 to 50" in said[2]


def test_no_option_is_named_that_the_tools_lack_as_if_they_took_it(samples: Path) -> None:
    (samples / "here").mkdir()
    (samples / "here" / "link.csv").symlink_to(samples.parent / "secret.csv")
    (samples / "door.log").write_text("2026-06-14 08:15:04 door 1 open\n")
    query = "PATTERN SEQ(A a, B b)"
    refused, answered = asked(
        samples,
        [
            ("inspect", {"events": ["here"]}),
            ("match", {"query": query, "events": ["here", "door.log"]}),
        ],
    )
    assert refused.is_error
    assert "no tool follows it" in refused.content[0].text
    told = " ".join(answer(answered)["warnings"])
    assert "no tool follows it" in told
    assert "the tools do not take --tz" in told
    assert "follow" not in (refused.content[0].text + told).replace("no tool follows it", "")


def test_all_that_inspect_knows_is_there_for_who_asks(samples: Path) -> None:
    (found,) = asked(samples, [("inspect", {**LOGS, "full": True})])
    assert {"CPU", "TaskStart"} <= {each["event_type"] for each in answer(found)["types"]}
    assert {"clocks", "grains", "values"} <= answer(found).keys()


def test_a_type_that_no_event_has_is_told_beside_no_rows(samples: Path) -> None:
    (found,) = asked(samples, [("match", {"query": "PATTERN SEQ(TaskStart a, CPUs b)", **LOGS})])
    assert answer(found)["rows"] == []
    assert "no event has the type 'CPUs'; the nearest type is CPU" in answer(found)["warnings"][-1]


def test_rows_beyond_the_limit_are_said_to_be_cut(samples: Path) -> None:
    (found,) = asked(samples, [("match", {"query": "PATTERN CPU a", "limit": 2, **LOGS})])
    assert len(answer(found)["rows"]) == 2
    assert answer(found)["cut"] == ["rows: the 2 most probable of 82; limit asks for more"]


def test_an_answer_is_no_larger_than_its_bound() -> None:
    huge = {"rows": [{"text": "x" * 5_000, "of": list(range(500))} for _ in range(1_000)]}
    found = bounded(huge, 10_000)
    assert len(json.dumps(found)) <= 10_000
    assert found["cut"][0].startswith("rows: the first ")
    assert bounded({"rows": [1]}) == {"rows": [1], "cut": []}


@pytest.mark.parametrize(
    "answer",
    [
        {"types": {f"type {n}": {"count": n, "first": "x" * 50} for n in range(5_000)}},
        {"a" * 30_000: 1},
        {f"k{n}": "x" * 2_000 for n in range(19)},
        {"rows": [{f"{'column' * 100}{n}": "y" * 500 for n in range(30)}] * 9},
        {"deep": {str(n): {str(m): "z" * 300 for m in range(30)} for n in range(30)}},
    ],
)
def test_no_answer_is_longer_than_it_may_be(answer: dict[str, Any]) -> None:
    found = bounded(answer)
    text = json.dumps(found, ensure_ascii=False, indent=2)
    assert len(json.dumps(text, ensure_ascii=False)) <= MOST_CHARACTERS
    assert found["cut"]


@pytest.mark.parametrize(
    "given",
    [
        {"query": f"PATTERN SEQ(A a, B b) WHERE a.{'x' * 30_000} = 1 WITHIN 1 s"},
        {"query": "PATTERN SEQ(A a, B b) WITHIN 1 s", "uncertainty": f"±{'9' * 30_000} ms"},
        {"query": "PATTERN SEQ(A a, B b) WITHIN 1 s", "uncertainty": f"±{'9' * 4_000} {'m' * 30_000}"},
    ],
)
def test_no_error_is_longer_than_an_answer(samples: Path, given: dict[str, Any]) -> None:
    (found,) = asked(samples, [("match", {"events": [str(samples / "services" / "basket.logfmt")], **given})])
    assert found.is_error
    assert len(found.model_dump_json()) <= MOST_CHARACTERS
    assert re.search("no event has an attribute|too many digits|is not a duration", found.content[0].text)


def test_a_folder_that_is_none_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", str(tmp_path / "nowhere")]) == 2
    assert "is not a folder; name the folders that assistants may read" in capsys.readouterr().err


def test_without_the_sdk_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    from cepctl.assistants.server import server

    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(UsageError, match=r"pip install 'cepctl\[mcp\]'"):
        server(OpenFolders.of([str(tmp_path)]))

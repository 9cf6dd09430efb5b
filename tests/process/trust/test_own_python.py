"""Nothing that lies in the working folder is imported, by cepctl or by any Python that it starts."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from cepctl.process.trust.own_python import python_command

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "sample_data"
SECONDS = 300
MARK = "executed"
# Whatever is called at all is worth a process that compiles it.
PROGRAM = """
from cepctl.engines.kernels import stages
stages._TO_START_COMPILER = stages._TO_LOAD = stages._TO_COMPILE = stages._TO_BE_COMPILED = 0.0
from cepctl.cli import main
sys.exit(main(sys.argv[1:]))
"""
QUERY = "PATTERN SEQ(A a, B b) WITHIN 10 ticks"
EVENTS = "event_type,event_id,lower,upper,k\nA,a,1,5,x\nB,b,3,7,x\nB,c,4,9,x\n"
QUESTION = (
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"test","version":"1"}}}\n'
    '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"match","arguments":'
    '{"query":"' + QUERY + '","events":["events.csv"]}}}\n'
)
COMMANDS = [
    ["match", QUERY, "events.csv", "--runner", "local"],
    ["match", QUERY + " GROUP BY a.k", "events.csv", "--runner", "local"],
    ["match", QUERY, "events.csv", "--runner", "local", "--why-not"],
    ["derive", "PATTERN B b WHERE [k] WITHIN 5 ticks", "events", "-o", "lasting", "--type", "C"],
    ["clocks", "exact.csv", "--by", "k", "--reference", "x", "-o", "c.csv",
     "--given", "SEQ(A a, B b) IF a.m = b.m", "--given", "SEQ(B b, A a) IF b.m < a.m"],
    ["mcp", "."],
    ["calibrate", QUERY, "exact.csv", "--jitter", "5 ms"],
    ["learn", "exact.csv", "--by", "k", "--jitter", "1 s", "-o", "law.toml"],
    ["follows", "events", "--by", "k"],
    ["report", QUERY, "events.csv", "-o", "page.html"],
    ["inspect", "events.csv", "--full"],
    ["explain", QUERY, "events.csv"],
    ["doctor"],
]  # fmt: skip


def planted_folder(folder: Path) -> Path:
    """Plant a module for each name that Python or a library is imported by; what they leave when run."""
    names = {*sys.stdlib_module_names, *packages_distributions(), "cepctl", "sitecustomize", "usercustomize"}
    assert len(names) > 300
    mark = folder / MARK
    for name in names:
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r} + chr(10))\n")
    (folder / "events.csv").write_text(EVENTS)
    return mark


def run(words: Sequence[str], folder: Path, kernels: Path) -> subprocess.CompletedProcess[str]:
    """A command in a folder, by a process that keeps no kernel elsewhere."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(kernels), "NUMBA_DISABLE_JIT": "0"}
    run_in = partial(subprocess.run, cwd=folder, env=environment, timeout=SECONDS, check=False)
    done: subprocess.CompletedProcess[str] = run_in(
        python_command(PROGRAM, *words), input=QUESTION, capture_output=True, text=True
    )
    return done


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with logs and planted modules."""
    folder = tmp_path_factory.mktemp("evidence")
    planted_folder(folder)
    (folder / "exact.csv").write_text(
        "event_type,event_id,time,k\n"
        + "".join(
            f"{kind},{kind}{at},2024-01-01T00:00:0{at}.{kind == 'B':d}00Z,{'xy'[kind == 'B']}\n"
            for kind in "AB"
            for at in range(9)
        )
    )
    made = run(["ingest", "events.csv", "-o", "events", "--runner", "local"], folder, folder / "kernels")
    assert made.returncode == 0, made.stderr
    return folder


# Every day those that start another Python: to match, to read orders, and for good.
EVERYDAY = [COMMANDS[0], COMMANDS[4], COMMANDS[5]]


@pytest.mark.parametrize(
    "words",
    [pytest.param(each, id=each[0], marks=[] if each in EVERYDAY else pytest.mark.slow) for each in COMMANDS],
)
def test_no_command_imports_from_the_folder_of_the_logs(words: list[str], evidence: Path) -> None:
    done = run(words, evidence, evidence / "kernels")
    assert "--help" not in done.stderr, "the command was not understood"
    assert "Traceback" not in done.stderr
    assert not (evidence / MARK).exists(), (evidence / MARK).read_text()


def test_the_process_beside_is_started_in_such_a_folder(tmp_path: Path) -> None:
    """The test above starts one: else it would hold for want of a child."""
    mark = planted_folder(tmp_path)
    kept = tmp_path / "kept"
    kept.mkdir()
    program = PROGRAM.replace(
        "sys.exit(main(sys.argv[1:]))",
        "main(sys.argv[1:])\n"
        "from cepctl.engines.kernels import beside\n"
        "import time\n"
        "while beside.is_at_work() and beside.compiling_beside(): time.sleep(0.1)",
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(kept), "NUMBA_DISABLE_JIT": "0"}
    command = python_command(program, *COMMANDS[0])
    subprocess.run(command, cwd=tmp_path, env=environment, timeout=SECONDS, capture_output=True, check=True)
    assert [*kept.rglob("*")], "nothing was compiled"
    assert not mark.exists(), mark.read_text()


def test_a_child_imports_the_cepctl_that_started_it(tmp_path: Path) -> None:
    """Also in a folder with another one, as after `pip install .` in a checkout."""
    shutil.copytree(ROOT / "cepctl" / "process", tmp_path / "cepctl" / "process")
    (tmp_path / "cepctl" / "__init__.py").write_text("")
    command = python_command("import cepctl; print(cepctl.__path__[0])")
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert told.strip() == str(ROOT / "cepctl")


def test_a_child_finds_a_cepctl_that_is_not_on_its_path(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "cepctl" / "process", tmp_path / "cepctl" / "process")
    (tmp_path / "cepctl" / "__init__.py").write_text("where = 'copied'")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import subprocess, cepctl\n"
        "from cepctl.process.trust.own_python import python_command\n"
        "subprocess.run(python_command('import cepctl; print(cepctl.where)'), check=True)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert told.stdout == "copied\n"


def test_every_python_is_started_by_that_command() -> None:
    """Java is the only other program that cepctl starts."""
    starting = {"subprocess": {"Popen", "run", "call", "check_call", "check_output"}}
    starting["os"] = {name for name in dir(os) if name.startswith(("exec", "spawn", "posix_spawn", "popen"))}
    starting["os"].add("system")
    for path in (each for room in ("cepctl", "engines", "io") for each in (ROOT / room).rglob("*.py")):
        text = path.read_text()
        if not any(word in text for word in ("subprocess", "import os", "python_command")):
            continue
        calls = [each.func for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Call)]
        starts = any(
            isinstance(each, ast.Attribute)
            and isinstance(each.value, ast.Name)
            and each.attr in starting.get(each.value.id, ())
            for each in calls
        )
        asks = any(isinstance(each, ast.Name) and each.id == "python_command" for each in calls)
        assert starts == asks or path.name == "java.py", path

"""The pages say what is true: every command in them runs, every link leads somewhere.

How a page is tested.  The `console` and `sh` blocks of README.md and of each page in docs/ run in
order, all blocks of one page in one temporary folder that holds a copy of sample_data/.

    ```console   lines after `$ ` (continued by `> `) are run, the lines below them are the output,
                 in which `...` stands for anything; a command without output lines may print anything
    ```sh        run as a whole if some line calls cepctl, else only shown (git, pip, scripts)

A comment before a block says otherwise: `<!-- not run: WHY -->`, `<!-- file: NAME -->` (the block is
the content of that file, whatever its language) or `<!-- exit code: N -->`.  CEPCTL_RUNNER=local holds
where a command names no runner: both runners write the same bytes, as other tests make sure.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest

from cepctl.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ALL_PAGES = [*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))]
BLOCK = re.compile(
    r"(?:<!-- *(?P<note>[a-z ]+?): *(?P<value>.*?) *-->\s*\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
CALLS_CEPCTL = re.compile(r"(?:^|[|;&(] *|\w=\S* +)cepctl\b", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
SECONDS = 300


@dataclass(frozen=True)
class PageStep:
    """One thing to do with a page: write a file, or run a script and compare what it prints."""

    line: int
    script: str
    expected: str | None = None
    file: str | None = None
    exit_code: int = 0


def steps_of(page: str) -> Iterator[PageStep]:
    for block in BLOCK.finditer(page):
        line = page.count("\n", 0, block.start("text")) + 1
        note, value, text = block["note"], block["value"], block["text"]
        if note == "not run":
            continue
        code = int(value) if note == "exit code" else 0
        if note == "file":
            yield PageStep(line, text, file=value)
        elif block["language"] == "sh" and CALLS_CEPCTL.search(text):
            yield PageStep(line, f"set -e -o pipefail\n{text}", exit_code=code)
        elif block["language"] == "console":
            yield from console_steps(text, line, code)


def console_steps(text: str, line: int, code: int) -> Iterator[PageStep]:
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        lines = part.splitlines(keepends=True)
        head = [entry[2:] for entry in lines if entry.startswith(("$ ", "> "))]
        if head:
            yield PageStep(
                line, f"set -o pipefail\n{''.join(head)}", "".join(lines[len(head) :]) or None, exit_code=code
            )
        line += len(lines)


def run(step: PageStep, folder: Path, programs: Path) -> None:
    if step.file is not None:
        (folder / step.file).parent.mkdir(parents=True, exist_ok=True)
        (folder / step.file).write_text(step.script, encoding="utf-8")
        return
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "CEPCTL_RUNNER": "local", "COLUMNS": "100", "NO_COLOR": "1"}
    environment["XDG_CACHE_HOME"] = str(
        folder.with_name(f"{folder.name}-cache")
    )  # The page has a last match of its own.
    done = subprocess.run(
        ["bash", "-c", step.script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    told = done.stdout if step.exit_code == 0 else done.stdout + done.stderr
    # Whoever writes more than `head` reads is ended by a signal, or is done before: that is not a failure.
    cut_short = "| head" in step.script and done.returncode == 128 + signal.SIGPIPE
    as_wanted = cut_short or done.returncode == step.exit_code
    assert as_wanted, f"line {step.line}: {step.script}\n{done.stdout}{done.stderr}"
    if step.expected is not None:
        agrees = doctest.OutputChecker().check_output(step.expected, told, doctest.ELLIPSIS)
        assert agrees, f"line {step.line}: {step.script}\nprints\n{told}\nbut the page says\n{step.expected}"


def anchors(page: str) -> set[str]:
    """Anchors of the headings, made as code forges make them."""
    headings = re.findall(r"^#+ +(.*)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_the_page_runs(page: Path, tmp_path: Path, programs: Path) -> None:
    steps = list(steps_of(page.read_text(encoding="utf-8")))
    if not steps:
        pytest.skip("the page shows no command")
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    for step in steps:
        run(step, tmp_path, programs)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("asked-*.md")), ids=lambda page: page.name)
def test_a_question_is_answered_in_at_most_three_commands(page: Path) -> None:
    steps = list(steps_of(page.read_text(encoding="utf-8")))
    calls = [step for step in steps if step.file is None and CALLS_CEPCTL.search(step.script)]
    assert 1 <= len(calls) <= 3
    assert calls[0].expected is not None


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.name)
def test_every_link_of_the_page_leads_somewhere(page: Path) -> None:
    dead = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        target, _, anchor = link.partition("#")
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file = page.parent / target if target else page
        if not file.exists() or (anchor and anchor not in anchors(file.read_text(encoding="utf-8"))):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "index.md"], ids=lambda page: page.name)
def test_a_first_page_shows_a_small_picture_before_its_commands(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert 1_000 < (page.parent / picture).stat().st_size < 60_000
    assert text.index(picture) < text.index("$ cepctl demo") < text.index("##")


def test_the_index_leads_to_every_page() -> None:
    links = set(LINK.findall((ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    # One is for an index of packages, one is led to by the page on performance.
    assert pages - links == {"index.md", "package.md", "performance-tables.md"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    assert f"`cepctl {command}`" in (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert re.search(
        rf"\bcepctl {command}\b", "".join(page.read_text(encoding="utf-8") for page in PAGES[:1])
    )


@pytest.mark.parametrize("script", ["make_command_page.py", "make_formats_table.py", "make_papers_page.py"])
def test_what_is_made_from_the_code_is_as_the_code_is(script: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def lines_without_a_reason(pyproject: str) -> list[str]:
    """Lines that name a dependency and have no comment to say why it is there."""
    project = tomllib.loads(pyproject)["project"]
    required = {*project["dependencies"], *chain(*project["optional-dependencies"].values())}
    named = {line.strip(): required & set(re.findall(r'"([^"]+)"', line)) for line in pyproject.splitlines()}
    lines = [line for line, dependencies in named.items() if dependencies]
    assert set(chain(*named.values())) == required
    return [line for line in lines if not re.fullmatch(r'"[^"]+",\s+# \w.{10,}', line)]


def test_every_dependency_is_justified() -> None:
    assert lines_without_a_reason((ROOT / "pyproject.toml").read_text(encoding="utf-8")) == []


def test_a_dependency_without_a_reason_would_be_noticed() -> None:
    project = """
[project]
dependencies = [
    "click>=8.3",  # commands, options and their help
    "leftpad>=1",
]
optional-dependencies.dev = ["pytest>=8", "ruff>=0.17"]
"""
    bare = ['"leftpad>=1",', 'optional-dependencies.dev = ["pytest>=8", "ruff>=0.17"]']
    assert lines_without_a_reason(project) == bare


def test_a_page_that_shows_other_output_would_be_noticed(tmp_path: Path, programs: Path) -> None:
    page = "```console\n$ echo one; : cepctl\none\n$ echo two\nthree\n```\n"
    good, bad = steps_of(page)
    run(good, tmp_path, programs)
    with pytest.raises(AssertionError, match=r"line 4(.|\n)*but the page says\s*three"):
        run(bad, tmp_path, programs)


def test_blocks_are_told_apart() -> None:
    page = (
        "<!-- not run: needs a cluster -->\n```sh\ncepctl match q events --master yarn\n```\n"
        "```sh\ngit clone somewhere\n```\n"
        "<!-- file: q.cep -->\n```sql\nPATTERN A a\n```\n"
        "```sh\ncat events.csv | cepctl match @q.cep -\n```\n"
        "<!-- exit code: 2 -->\n```console\n$ cepctl match nonsense \\\n> events.csv\nerror: ...\n```\n"
    )
    assert list(steps_of(page)) == [
        PageStep(line=10, script="PATTERN A a\n", file="q.cep"),
        PageStep(line=13, script="set -e -o pipefail\ncat events.csv | cepctl match @q.cep -\n"),
        PageStep(
            line=17,
            script="set -o pipefail\ncepctl match nonsense \\\nevents.csv\n",
            expected="error: ...\n",
            exit_code=2,
        ),
    ]

"""What a stranger installs holds everything, and runs outside the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("cepctl", "engines", "io", "sample_data", "docs", "pyproject.toml", "LICENSE")

pytestmark = pytest.mark.slow


# Without the checkout, which other tests have on their path.
ELSEWHERE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the sdist and the wheel made from it, built from a copy of the checkout."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, symlinks=True)
        else:
            shutil.copy(ROOT / name, copy / name)
    subprocess.run([sys.executable, "-m", "build", "--outdir", copy / "dist", copy], check=True)
    return copy / "dist"


README_QUERY = """
import cepctl, pathlib
samples = pathlib.Path({samples!r})
events = cepctl.ingest(
    samples / "logs", "events", uncertainty=samples / "uncertainty.toml", name={{"cpu_user": "CPU"}}
)
print(cepctl.match(samples / "query.cep", events))
"""


def modules(folder: Path, prefix: str) -> set[str]:
    """Modules, and the tables that they read."""
    files = [path for end in ("py", "toml", "html", "css", "js") for path in folder.rglob(f"*.{end}")]
    return {f"{prefix}/{path.relative_to(folder)}" for path in files}


def test_the_wheel_holds_engines_and_io_through_the_links(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = modules(ROOT / "engines", "cepctl/engines") | modules(ROOT / "io", "cepctl/io")
    wanted |= modules(ROOT / "cepctl" / "render" / "pictures", "cepctl/render/pictures") | {"cepctl/py.typed"}
    assert wanted - names == set()
    assert {name.split("/")[0] for name in names if not name.split("/")[0].endswith(".dist-info")} == {
        "cepctl"
    }


def test_the_source_archive_holds_engines_and_io(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    assert modules(ROOT / "engines", "cepctl/engines") | modules(ROOT / "io", "cepctl/io") <= names


def test_an_index_would_take_both_and_show_their_page(built: Path) -> None:
    archives = [str(path) for path in built.iterdir()]
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *archives],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("PASSED") == len(archives) == 2


def test_the_page_of_an_index_links_to_nothing_that_is_only_in_the_checkout() -> None:
    page = (ROOT / "docs" / "package.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((?!https?://)[^)]*\)", page) == []


def installed(python: Path, what: str, folder: Path) -> None:
    """Install where the checkout is not on the path: its metadata would say that cepctl is there already."""
    words = [str(python), "-m", "pip", "install", "--quiet", what]
    subprocess.run(words, cwd=folder, env=ELSEWHERE, check=True)


def test_the_demo_of_an_installed_wheel_answers_outside_of_the_checkout(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "stranger"], check=True)
    programs = tmp_path / "stranger" / "bin"
    installed(programs / "python", str(wheel), tmp_path)
    shown = subprocess.run(
        [programs / "cepctl", "demo"], cwd=tmp_path, env=ELSEWHERE, capture_output=True, text=True, check=True
    ).stdout
    assert "task_1772009204117_0042_m_000011  node04  99.1  46.6    0.773790" in shown


def test_the_wheel_installs_with_its_dependencies_and_answers(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "fresh"], check=True)
    programs = tmp_path / "fresh" / "bin"
    installed(programs / "python", str(wheel), tmp_path)
    answer = subprocess.run(
        [programs / "cepctl", "--help"],
        cwd=tmp_path,
        env=ELSEWHERE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.startswith("Usage: cepctl")
    where = subprocess.run(
        [programs / "python", "-c", "import cepctl.engines, cepctl.io.formats as f; print(f.__file__)"],
        cwd=tmp_path,
        env=ELSEWHERE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert where.stdout.startswith(str(tmp_path))
    asked = subprocess.run(
        [programs / "python", "-c", README_QUERY.format(samples=str(ROOT / "sample_data"))],
        cwd=tmp_path,
        env=ELSEWHERE,
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout.splitlines()[-1].startswith("7 matches in 325 events, 119 after filters, ")
    assert asked.stderr == ""


def test_the_notebook_shows_in_jupyter_what_it_holds(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "jupyter"], check=True)
    python = tmp_path / "jupyter" / "bin" / "python"
    installed(python, f"{wheel}[notebook]", tmp_path)
    script = ROOT / "scripts" / "execute_notebook.py"
    done = subprocess.run(
        [python, script, "--check"], cwd=tmp_path, env=ELSEWHERE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

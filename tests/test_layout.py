"""The lines that keep the tree as it is: links, names, and imports that point one way.

Each check reads the files themselves, so it holds for modules that no other test imports.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "cepctl"
LINKED = ("engines", "io")

# What each part may import of cepctl, beside itself.  A new part is a new row here.
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "memory": {"errors"},
    "interrupts": {"whole"},
    "schema": {"errors"},
    "whole": set(),
    "trust": set(),
    "language": {"errors", "schema"},
    "plan": {"errors", "schema", "language"},
    "io": {"errors", "schema", "whole"},
    "uncertainty": {"errors", "schema", "language", "plan", "engines"},
    "start_up": set(),
    "terminal": set(),
    "worker_daemon": {"start_up"},
    "java": {"errors", "trust", "whole"},
    "java_classes": {"errors", "java", "trust"},
    "java_output": set(),
    "spark_master": {"errors"},
    "spark_jobs": {"errors"},
    "session": {"spark_jobs", "spark_master", "errors", "java", "java_classes", "java_output", "whole"},
    "engines": {"errors", "schema", "language", "plan", "memory", "spark_jobs", "whole", "trust"},
    "ingest": {
        *("errors", "schema", "language", "plan", "io", "uncertainty"),
        *("session", "spark_jobs", "whole", "interrupts"),
    },
    "stored_events": {"errors", "schema", "plan", "io", "ingest", "engines"},
    "dataset": {
        *("errors", "schema", "language", "plan", "io", "uncertainty", "ingest", "stored_events", "whole"),
    },
    "state": {"errors", "schema", "language", "plan", "engines", "io", "ingest", "dataset", "trust"},
    "inspection": {"errors", "schema", "language", "dataset"},
    "doctor": {
        *("errors", "schema", "language", "plan", "engines", "ingest"),
        *("java", "java_classes", "memory", "session", "trust", "whole"),
    },
    "report": {"errors", "schema", "language", "plan", "engines", "io", "dataset"},
    "render": {"errors", "schema", "language", "plan", "io", "ingest", "inspection", "state", "terminal"},
}
TOP = {"cli", "__main__"}  # may import every part
# may import PySpark
SPARK_MODULES = re.compile(
    r"cepctl\.(session|spark_jobs|worker_daemon|ingest(\..+)?|doctor\.workers|engines\.spark\w*)"
)
START_UP_FORBIDS = ("pyspark", "py4j", "polars", "numba", "pyarrow", "numpy", "lxml", "rich", "pandas")


@dataclass(frozen=True)
class Import:
    """One import statement: who, what, and whether it runs when the importing module is loaded."""

    importer: str
    imported: str
    at_load: bool


def source_files() -> list[Path]:
    """Every module of the package, through the links (which `rglob` would not follow)."""
    plain = [path for path in PACKAGE.rglob("*.py") if not set(path.relative_to(PACKAGE).parts) & set(LINKED)]
    linked = [
        PACKAGE / name / path.relative_to(ROOT / name)
        for name in LINKED
        for path in (ROOT / name).rglob("*.py")
    ]
    return sorted(plain + linked)


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """`cepctl.engines.event.match` belongs to the part `engines`; the package itself to ``."""
    return module.partition(".")[2].partition(".")[0]


def is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def imports_in(tree: ast.AST, module: str, at_load: bool = True) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(module, alias.name, at_load) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative imports hide who needs whom"
            yield from (Import(module, f"{node.module}.{alias.name}", at_load) for alias in node.names)
        elif is_for_type_checkers(node):
            continue
        else:
            in_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports_in(node, module, at_load and not in_function)


def all_imports() -> list[Import]:
    return [
        found
        for path in source_files()
        for found in imports_in(ast.parse(path.read_text(encoding="utf-8")), module_name(path))
    ]


def inside(module: str, tops: set[str]) -> bool:
    return any(module == top or module.startswith(f"{top}.") for top in tops)


@pytest.mark.parametrize("name", LINKED)
def test_engines_and_io_are_committed_relative_links(name: str) -> None:
    assert (PACKAGE / name).is_symlink()
    assert (PACKAGE / name).readlink() == Path("..") / name
    assert (ROOT / name).is_dir()
    assert not (ROOT / name).is_symlink()


def test_io_is_no_regular_package_and_shadows_nothing() -> None:
    assert not (ROOT / "io" / "__init__.py").exists()  # python -X frozen_modules=off would die in the root
    names = {path.stem for path in (ROOT / "io").iterdir()}
    assert not names & sys.stdlib_module_names


def test_python_without_frozen_modules_starts_in_the_root() -> None:
    subprocess.run(
        [sys.executable, "-X", "frozen_modules=off", "-c", "import io; io.StringIO"], cwd=ROOT, check=True
    )


def test_test_folders_are_no_packages_and_file_names_are_unique() -> None:
    tests = [path for path in (ROOT / "tests").rglob("*.py") if "fixtures" not in path.parts]
    assert not [path for path in tests if path.name == "__init__.py"]
    names = [path.name for path in tests if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))


def test_every_module_says_first_what_it_is() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in source_files()
        if not (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").strip()
    ]
    assert silent == []


def test_every_part_has_its_row_in_the_import_table() -> None:
    parts = {part_of(module_name(path)) for path in source_files()} - {""}
    assert parts - TOP <= set(MAY_IMPORT)


def test_imports_point_one_way() -> None:
    wrong = []
    for found in all_imports():
        importer, imported = part_of(found.importer), part_of(found.imported)
        if found.imported.partition(".")[0] != "cepctl" or importer in {*TOP, imported}:
            continue
        if imported == "__version__" and found.imported == "cepctl.__version__":
            continue
        asks_for_session = imported == "session" and SPARK_MODULES.fullmatch(found.importer)
        if imported not in MAY_IMPORT.get(importer, set()) and not asks_for_session:
            wrong.append(f"{found.importer} imports {found.imported}")
    assert wrong == []


def test_the_import_table_has_no_circle() -> None:
    settled: set[str] = set()
    while ready := {part for part, needs in MAY_IMPORT.items() if part not in settled and needs <= settled}:
        settled |= ready
    assert settled == set(MAY_IMPORT)


def test_spark_is_imported_by_few_and_only_when_a_function_runs() -> None:
    spark = [found for found in all_imports() if found.imported.split(".")[0] in {"pyspark", "py4j"}]
    assert [f"{found.importer} at load" for found in spark if found.at_load] == []
    assert {found.importer for found in spark if not SPARK_MODULES.fullmatch(found.importer)} == set()


def test_rich_is_imported_by_render_alone() -> None:
    rich = {found.importer for found in all_imports() if found.imported.split(".")[0] == "rich"}
    assert {module for module in rich if not inside(module, {"cepctl.render"})} == set()


def test_the_short_name_of_engines_is_never_imported() -> None:
    assert [found for found in all_imports() if found.imported.split(".")[0] == "engines"] == []


def test_the_command_line_starts_without_the_heavy_libraries() -> None:
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import cepctl.cli"],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
    assert "cepctl.cli" in loaded
    assert sorted(module for module in loaded if inside(module, set(START_UP_FORBIDS))) == []


def test_help_costs_less_than_half_a_second_of_processor_time() -> None:
    """Processor time, the best of three: a busy machine must not fail the test."""
    measure = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'cepctl', '--help'], check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)\n"
    )
    times = [
        float(
            subprocess.run([sys.executable, "-c", measure], capture_output=True, text=True, check=True).stdout
        )
        for _ in range(3)
    ]
    assert min(times) < 0.5

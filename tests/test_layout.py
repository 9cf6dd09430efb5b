"""The lines that keep the tree as it is: links, names, and imports that point one way.

Each check reads the files themselves, so it holds for modules that no other test imports.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "cepctl"
LINKED = ("engines", "io")

# Parts that every other one may import.
BASE = (
    "errors",
    "process",
    "process.trust",
    "atomic",
    "numeric",
    "process.memory",
    "schema",
    "event_table",
    "clocks",
    "notices",
    "side_figures",
    "engines.kernels",
)
# What each room may import of cepctl, beside itself and BASE: each stands after what it needs.  A module
# belongs to the innermost room that is named here.  A new room is a new row.
MAY_IMPORT: dict[str, set[str]] = {
    "atomic": set(),
    "numeric": set(),
    "engines.concurrency": set(),
    "errors": set(),
    "process": set(),
    "process.start_up": set(),
    "process.terminal": set(),
    "process.trust": set(),
    "engines.kernels": set(),
    "process.limited_memory": set(),
    "process.interrupts": {"process.limited_memory"},
    "process.memory": {"errors"},
    "notices": {"errors"},
    "side_figures": {"errors", "notices"},
    "schema": {"errors"},
    "event_table": {"schema"},
    "clocks": {"errors", "schema"},
    "runners": {"process.interrupts", "engines.concurrency"},
    "runners.spark": {"process.start_up", "runners", "engines.concurrency"},
    "laws": set(),
    "engines": set(),
    "io.contract": set(),
    "io.rows": {"engines.concurrency"},
    "language": set(),
    "io.source": {"io.contract"},
    "plan": {"laws", "language"},
    "plan.polars_expressions": {"language"},
    "datasets": {"laws", "io.contract", "io.source", "plan"},
    "sketches": {"io.contract", "io.source", "language", "plan", "datasets"},
    "engines.columns": {"language", "plan", "plan.polars_expressions"},
    "engines.rows": {"laws", "plan", "engines.columns", "engines.concurrency"},
    "io.templates": {"io.contract"},
    "io.containers": {"io.contract", "io.source", "io.templates"},
    "io.databases": {"io.contract", "io.source"},
    "io.ganglia": {"io.contract", "io.source"},
    "io.hadoop": {"io.contract", "io.source"},
    "io.log4j": {"io.contract", "io.source", "io.templates"},
    "io.metrics": {"io.contract", "io.source"},
    "io.ocel": {"io.contract", "io.source"},
    "io.spark_history": {"io.contract", "io.source"},
    "io.system": {"io.contract", "io.source", "io.templates"},
    "io.clocks": {"io.contract", "io.source", "io.system"},
    "io.tabular": {"io.contract", "io.source", "io.templates"},
    "io.headed": {"io.contract", "io.source", "io.tabular"},
    "io.lines": {"io.contract", "io.source", "io.log4j", "io.templates"},
    "io.text": {"io.contract", "io.source", "io.log4j"},
    "io.traces": {"io.contract", "io.source", "io.templates"},
    "io.web": {"io.contract", "io.source"},
    "io.xes": {"io.contract", "io.source"},
    "uncertainty": {"laws", "language", "plan.polars_expressions"},
    "engines.pattern": {"language", "plan", "engines.columns"},
    "engines.worlds": {"laws", "language", "plan", "engines.rows"},
    "io.clues": {"io.contract", "io.source"},
    "io.trial": {"io.contract", "io.templates"},
    "io.formats": {"io.contract", "io.source", "io.clues", "io.trial"},
    "engines.confidence": {"plan", "engines.columns", "engines.pattern"},
    "engines.order_laws": {"laws", "engines.columns", "engines.confidence"},
    "ingestion": {
        "laws",
        "process.interrupts",
        "runners",
        "io.contract",
        "io.source",
        "datasets",
        "uncertainty",
        "io.tabular",
        "io.templates",
        "io.trial",
        "io.formats",
    },
    "clocks.logs": {"io.contract", "io.source", "io.clocks", "io.formats", "ingestion"},
    "io.catalogue": {"io.formats"},
    "engines.confidence.gaps": {"engines.columns", "engines.pattern", "engines.confidence"},
    "engines.confidence.chain": {"engines.columns", "engines.pattern"},
    "engines.confidence.coupled": {
        "plan",
        "engines.columns",
        "engines.pattern",
        "engines.confidence",
        "engines.confidence.chain",
    },
    "engines.confidence.orders": {
        "laws",
        "engines.columns",
        "engines.order_laws",
        "engines.confidence",
    },
    "engines.search": {
        "plan",
        "engines.columns",
        "engines.rows",
        "engines.pattern",
        "engines.confidence.chain",
    },
    "engines.confidence.occurrence": {
        "engines.columns",
        "engines.pattern",
        "engines.confidence",
        "engines.confidence.chain",
        "engines.confidence.coupled",
    },
    "engines.confidence.points": {
        "engines.columns",
        "engines.pattern",
        "engines.confidence",
        "engines.confidence.gaps",
        "engines.confidence.chain",
        "engines.confidence.coupled",
        "engines.confidence.occurrence",
    },
    "engines.confidence.clocks": {
        "engines.columns",
        "engines.pattern",
        "engines.confidence",
        "engines.confidence.chain",
        "engines.confidence.coupled",
        "engines.confidence.occurrence",
    },
    "engines.search.kleene": {
        "language",
        "plan",
        "engines.columns",
        "engines.pattern",
        "engines.search",
        "engines.confidence.points",
    },
    "engines.confidence.given": {
        "language",
        "plan",
        "engines.columns",
        "engines.pattern",
        "engines.confidence",
        "engines.confidence.coupled",
        "engines.search",
        "engines.confidence.points",
        "engines.confidence.occurrence",
        "engines.confidence.clocks",
    },
    "engines.confidence.intervals": {
        "language",
        "plan",
        "engines.columns",
        "engines.pattern",
        "engines.confidence",
        "engines.confidence.chain",
        "engines.confidence.coupled",
        "engines.confidence.occurrence",
        "engines.confidence.clocks",
        "engines.confidence.given",
    },
    "engines.solve": {
        "plan",
        "engines.columns",
        "engines.pattern",
        "engines.confidence",
        "engines.confidence.gaps",
        "engines.confidence.chain",
        "engines.confidence.coupled",
        "engines.confidence.occurrence",
        "engines.confidence.orders",
        "engines.confidence.points",
        "engines.confidence.clocks",
        "engines.confidence.given",
        "engines.confidence.intervals",
    },
    "engines.event": {
        "laws",
        "engines.concurrency",
        "language",
        "plan",
        "plan.polars_expressions",
        "engines.columns",
        "engines.rows",
        "engines.pattern",
        "engines.confidence",
        "engines.confidence.coupled",
        "engines.confidence.orders",
        "engines.search",
        "engines.confidence.points",
        "engines.confidence.clocks",
        "engines.confidence.occurrence",
        "engines.confidence.intervals",
        "engines.search.kleene",
        "engines.confidence.given",
        "engines.solve",
    },
    "process.doctor": {
        "laws",
        "runners",
        "runners.spark",
        "language",
        "plan",
        "ingestion",
        "engines.event",
    },
    "engines.diagnosis": {
        "laws",
        "language",
        "plan",
        "plan.polars_expressions",
        "engines.columns",
        "engines.confidence.orders",
        "engines.rows",
        "engines.pattern",
        "engines.confidence",
        "engines.search",
        "engines.confidence.points",
        "engines.confidence.clocks",
        "engines.confidence.given",
        "engines.solve",
        "engines.event",
        "engines.confidence.intervals",
    },
    "engines.point": {"language", "plan", "engines.columns", "engines.event"},
    "engines.runners": {
        "engines.concurrency",
        "runners",
        "language",
        "plan",
        "datasets",
        "engines.columns",
        "engines.rows",
        "engines.pattern",
        "engines.confidence.orders",
        "engines.confidence.points",
        "engines.confidence.given",
        "engines.confidence.intervals",
        "engines.event",
    },
    "matching": {
        "laws",
        "runners",
        "runners.spark",
        "language",
        "plan",
        "io.contract",
        "io.source",
        "datasets",
        "sketches",
        "engines.rows",
        "engines.worlds",
        "ingestion",
        "engines.confidence.coupled",
        "engines.event",
        "engines.point",
        "engines.runners",
    },
    "inspection.follows": {"engines.columns"},
    "clocks.checks": {
        "plan",
        "engines.columns",
        "uncertainty",
        "engines.pattern",
        "engines.confidence.given",
    },
    "clocks.hulls": {
        "plan",
        "engines.columns",
        "uncertainty",
        "engines.pattern",
        "engines.confidence.given",
        "clocks.logs",
    },
    "inspection": {
        "language",
        "plan",
        "uncertainty",
        "matching",
        "clocks.checks",
        "clocks.hulls",
        "ingestion",
    },
    "inspection.auditing": {
        "ingestion",
        "inspection",
        "io.contract",
        "io.formats",
        "io.log4j",
        "io.source",
        "matching",
    },
    "calibration": {
        "engines.confidence.clocks",
        "io.contract",
        "laws",
        "io.source",
        "language",
        "plan",
        "datasets",
        "sketches",
        "engines.columns",
        "engines.concurrency",
        "engines.confidence.orders",
        "engines.order_laws",
        "uncertainty",
        "ingestion",
        "engines.event",
        "engines.diagnosis",
    },
    "laws.learning": {"calibration", "engines.columns", "engines.concurrency", "engines.order_laws", "laws"},
    "render.pictures": {
        "laws",
        "calibration",
        "io.rows",
        "plan",
        "engines.columns",
        "engines.confidence.given",
        "engines.event",
        "engines.diagnosis",
        "matching",
    },
    "state": {
        "io.contract",
        "io.source",
        "plan",
        "datasets",
        "sketches",
        "engines.rows",
        "engines.pattern",
        "io.formats",
        "ingestion",
        "engines.event",
        "engines.runners",
        "matching",
    },
    "render": {
        "laws",
        "calibration",
        "laws.learning",
        "process.terminal",
        "clocks.checks",
        "clocks.hulls",
        "clocks.logs",
        "plan",
        "inspection.follows",
        "ingestion",
        "io.catalogue",
        "engines.diagnosis",
        "inspection.auditing",
        "inspection",
        "state",
    },
    "library": {
        "laws",
        "calibration",
        "laws.learning",
        "clocks.checks",
        "clocks.hulls",
        "clocks.logs",
        "engines.columns",
        "engines.solve",
        "inspection.follows",
        "engines.concurrency",
        "runners",
        "runners.spark",
        "io.contract",
        "io.rows",
        "io.source",
        "io.xes",
        "language",
        "plan.polars_expressions",
        "plan",
        "datasets",
        "sketches",
        "engines.rows",
        "io.log4j",
        "io.templates",
        "io.tabular",
        "uncertainty",
        "ingestion",
        "engines.event",
        "engines.diagnosis",
        "engines.runners",
        "matching",
        "inspection.auditing",
        "inspection",
        "render.pictures",
        "state",
        "render",
    },
    "frames": {"library"},
    "assistants": {"language", "uncertainty", "matching", "engines.diagnosis", "library", "render"},
    "cli.output": {"runners.spark", "process.terminal", "io.rows", "ingestion", "library", "render"},
    "cli.options": {
        "laws",
        "language",
        "datasets",
        "runners",
        "runners.spark",
        "plan",
        "io.formats",
        "matching",
        "cli.output",
        "library",
    },
    "cli": {"process.start_up", "process.interrupts", "cli.output", "cli.options"},
    "cli.match": {
        "process.doctor",
        "datasets",
        "sketches",
        "io.source",
        "process.terminal",
        "runners",
        "runners.spark",
        "io.rows",
        "language",
        "engines.diagnosis",
        "engines.runners",
        "matching",
        "render.pictures",
        "state",
        "render",
        "cli.output",
        "cli.options",
        "library",
    },
    "cli.commands": {
        "laws",
        "assistants",
        "runners.spark",
        "io.rows",
        "language",
        "plan",
        "io.catalogue",
        "process.doctor",
        "engines.diagnosis",
        "matching",
        "render.pictures",
        "state",
        "render",
        "cli.output",
        "cli.options",
        "cli",
        "cli.match",
        "library",
    },
}
# may import PySpark
SPARK_MODULES = re.compile(r"cepctl\.runners\.spark\.\w+")
START_UP_FORBIDS = ("pyspark", "py4j", "polars", "numba", "pyarrow", "numpy", "lxml", "rich", "pandas")


@dataclass(frozen=True)
class Import:
    """One import: who, what, and whether it runs when the importing module is loaded, or for types alone."""

    importer: str
    imported: str
    at_load: bool
    for_types: bool = False


@cache
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


def room_of(module: str) -> str:
    """`cepctl.engines.event.match` belongs to the room `engines.event`; the package itself to ``."""
    name = module.partition(".")[2]
    while name and name not in MAY_IMPORT:
        name = name.rpartition(".")[0]
    return name


def is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and is_named(node.test, "TYPE_CHECKING")


def is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def imports_in(tree: ast.AST, module: str, at_load: bool = True, for_types: bool = False) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(module, alias.name, at_load, for_types) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative imports hide who needs whom"
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (Import(module, name, at_load, for_types) for name in names)
        elif is_for_type_checkers(node):
            yield from imports_in(node, module, at_load=False, for_types=True)
        else:
            in_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from imports_in(node, module, at_load and not in_function, for_types)
            yield from (Import(module, name, at_load=False) for name in named_imports(node))


def named_imports(node: ast.AST) -> Iterator[str]:
    """The module that `import_module("...")` names, also as the arguments of a thread."""
    if isinstance(node, ast.Call) and any(is_named(each, "import_module") for each in called_in(node)):
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and str(each.value).startswith("cepctl."):
                yield str(each.value)


def called_in(call: ast.Call) -> Iterator[ast.expr]:
    yield call.func
    yield from (keyword.value for keyword in call.keywords)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def functions() -> tuple[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef], ...]:
    """Every function, with its name and that of its module; to walk through all trees takes a second."""
    return tuple(
        (f"{module_name(path)}.{node.name}", node)
        for path in source_files()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@cache
def all_imports() -> tuple[Import, ...]:
    """Those that happen; `every_import` has what type checkers alone see, too."""
    return tuple(found for found in every_import() if not found.for_types)


@cache
def every_import() -> tuple[Import, ...]:
    return tuple(found for path in source_files() for found in imports_in(tree_of(path), module_name(path)))


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
        if not (ast.get_docstring(tree_of(path)) or "").strip()
    ]
    assert silent == []


def lacks_types(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether mypy would ask for types: of what a function returns, and of all that it takes but `self`."""
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    untyped = [each.arg for each in named if each is not None and each.annotation is None]
    return function.returns is None or not set(untyped) <= {"self", "cls"}


def is_kernel(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(each) in {"kernel", "inner", "inlined"} for each in function.decorator_list)


def test_in_the_engines_only_kernels_lack_types() -> None:
    """pyproject.toml asks for none there, because of the kernels, whose types Numba infers."""
    lacking = [name for name, function in functions() if lacks_types(function) and not is_kernel(function)]
    assert lacking == []


def test_every_module_belongs_to_a_room_of_the_import_table() -> None:
    homeless = {module_name(path) for path in source_files() if not room_of(module_name(path))}
    assert homeless == {"cepctl", "cepctl.__main__"}


def test_every_folder_of_modules_is_a_room() -> None:
    """Otherwise its modules would be taken for those of the folder around it."""
    folders = {module_name(path) for path in source_files() if path.name == "__init__.py"} - {"cepctl"}
    folders |= {module_name(path).rpartition(".")[0] for path in source_files()} - {"", "cepctl", "cepctl.io"}
    assert {folder.removeprefix("cepctl.") for folder in folders} <= set(MAY_IMPORT)


def test_imports_point_one_way() -> None:
    wrong = []
    for found in all_imports():
        importer, imported = room_of(found.importer), room_of(found.imported)
        if importer and imported not in {"", importer, *BASE, *MAY_IMPORT[importer]}:
            wrong.append(f"{found.importer} imports {found.imported}")
    assert wrong == []


def test_every_room_stands_after_what_it_needs() -> None:
    """So no circle of rooms can be."""
    rooms = list(MAY_IMPORT)
    early = [
        (room, need) for at, room in enumerate(rooms) for need in MAY_IMPORT[room] if need not in rooms[:at]
    ]
    assert early == []
    assert [(room, need) for room in BASE for need in MAY_IMPORT[room] if need not in BASE] == []


def test_there_are_few_places_to_begin_with() -> None:
    """What belongs together stands in one room, so that a stranger sees all of them at a glance."""
    top = {path.relative_to(PACKAGE).parts[0] for path in source_files()}
    assert len(top - {"__init__.py", "__main__.py"} | {"py.typed", "sample_data"}) <= 30


def test_functions_are_read_on_one_screen() -> None:
    long = [name for name, node in functions() if (node.end_lineno or 0) - node.lineno + 1 > 60]
    assert long == []


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many things a caller can say: not what a method is of, nor what stands together in `**named`."""
    given = function.args
    named = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len(named) - (named[:1] in (["self"], ["cls"]))


def test_functions_take_few_things() -> None:
    """What belongs together is one value."""
    many = [name for name, function in functions() if parameters_of(function) > 10]
    assert many == []


def test_a_class_has_a_name_of_its_own() -> None:
    """So that whoever reads or seeks a name meets one thing; what is nested in a class is its own affair."""
    homes: dict[str, list[str]] = {}
    for path in source_files():
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(module_name(path))
    assert {name: modules for name, modules in homes.items() if len(modules) > 1} == {}


def test_every_room_says_what_lives_there() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in source_files()
        if path.name == "__init__.py" and not ast.get_docstring(tree_of(path))
    ]
    assert silent == []


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


def needed_by_module(imports: Iterable[Import], modules: set[str]) -> dict[str, set[str]]:
    """Of each module the modules that it imports: also inside functions, and for types alone."""
    needed: dict[str, set[str]] = {module: set() for module in modules}
    for found in imports:
        if found.importer in modules:
            # `from room import module`, else a name of a module.
            names = found.imported, found.imported.rpartition(".")[0]
            needed[found.importer] |= {*[name for name in names if name in modules][:1]}
    return needed


def circles_of(needed: dict[str, set[str]]) -> list[str]:
    """The modules of a circle, in which each imports the one before it; none where there is none."""
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as circle:
        return list(circle.args[1])
    return []


def test_no_modules_need_each_other_in_a_circle() -> None:
    """Not behind imports inside functions or for types either: what two modules share stands below both.

    `cepctl` itself only names what a program is offered.
    """
    modules = {module_name(path) for path in source_files()} - {"cepctl"}
    assert circles_of(needed_by_module(every_import(), modules)) == []


CIRCLES = {
    "at load": ("from cepctl.b import x", "from cepctl import a"),
    "in a function": ("import cepctl.b", "def f():\n    from cepctl.a import x"),
    "for types": ("from cepctl.b import x", "if TYPE_CHECKING:\n    from cepctl.a import x"),
    "by name": ("from cepctl.b import x", "Thread(target=import_module, args=('cepctl.a',)).start()"),
}


@pytest.mark.parametrize("hidden", CIRCLES)
def test_a_circle_is_seen_wherever_it_hides(hidden: str) -> None:
    names = ("cepctl.a", "cepctl.b")
    texts = dict(zip(names, CIRCLES[hidden], strict=True))
    imports = [found for name, text in texts.items() for found in imports_in(ast.parse(text), name)]
    assert set(circles_of(needed_by_module(imports, {*names}))) == {*names}
    assert circles_of(needed_by_module(imports[:1], {*names})) == []


def test_a_module_that_imports_itself_is_a_circle() -> None:
    imports = [*imports_in(ast.parse("from cepctl.room import a"), "cepctl.room.a")]
    assert set(circles_of(needed_by_module(imports, {"cepctl.room.a"}))) == {"cepctl.room.a"}


def test_the_engines_need_few_libraries() -> None:
    """They run inside Spark workers, which load no more than that."""
    engines = {found for found in all_imports() if inside(found.importer, {"cepctl.engines"})}
    libraries = {found.imported.split(".")[0] for found in engines} - sys.stdlib_module_names - {"cepctl"}
    assert libraries == {"numba", "numpy", "polars", "pyarrow"}


DOCUMENTED = re.compile(r'"""(.*?)"""', re.DOTALL)


def words_of_code() -> set[str]:
    """Every word of the code, of its names and short texts, but for what only explains it."""
    words = {part for path in source_files() for part in path.relative_to(ROOT).with_suffix("").parts}
    for path in source_files():
        code = re.sub(r" *#.*", "", DOCUMENTED.sub("", path.read_text(encoding="utf-8")))
        words.update(re.findall(r"\w+", code))
    return words


def test_docstrings_name_only_what_exists() -> None:
    """A name between backticks is one of the code; a file stands where its path says, or beside or below."""
    words, modules = words_of_code(), {module_name(path) for path in source_files()}
    wrong = []
    for path in source_files():
        beside: set[str] | None = None
        for text in DOCUMENTED.findall(path.read_text(encoding="utf-8")):
            names = set(re.findall(r"`([a-z]\w+_\w+)`", text)) - words
            places = {
                name for name in re.findall(r"\b(?:\w+/)+\w+\.py\b", text) if not (ROOT / name).exists()
            }
            if named := {*re.findall(r"(?<![\w/.])\w+\.py\b", text)}:
                beside = beside or {each.name for each in path.parent.rglob("*.py")}
                places |= named - beside
            dotted = {
                name for name in re.findall(r"`(cepctl(?:\.\w+)+)`", text) if not is_of_code(name, modules)
            }
            wrong += [f"{module_name(path)}: {name}" for name in sorted(names | places | dotted)]
    assert wrong == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/derivations.md", "docs/how-data-flows.md"])
def test_pages_about_the_code_name_only_files_that_stand_there(page: str) -> None:
    """By their path or the end of it; that of a format that a stranger adds is an example."""
    others = [path for folder in ("tests", "scripts") for path in (ROOT / folder).rglob("*.py")]
    paths = [f"/{path.relative_to(ROOT)}" for path in [*source_files(), *others]]
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", (ROOT / page).read_text(encoding="utf-8")))
    missing = {name for name in named if not any(path.endswith(f"/{name}") for path in paths)}
    assert named
    assert {name for name in missing if not name.startswith("io/doors/")} == set()


def is_of_code(name: str, modules: set[str]) -> bool:
    """Whether a dotted name is that of a module, or of something in one."""
    return name in modules or name.rpartition(".")[0] in modules

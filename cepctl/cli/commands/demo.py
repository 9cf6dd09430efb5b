"""`cepctl demo`: the sample logs in a folder, a question that is answered there, and what to try next."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import sys
from pathlib import Path

import click

from cepctl.errors import JobError, UsageError

SAMPLES = Path(__file__).parents[2] / "sample_data"
"""In an installation, and in a checkout by a link."""
COPIED = ("logs", "uncertainty.toml", "query.cep", "who.cep")
_COLUMNS = "a.task_id,a.node,peak,calm,confidence"
RUN = (
    "cepctl ingest logs -o events --uncertainty uncertainty.toml --name cpu_user=CPU --quiet",
    f"cepctl match @query.cep events --format table --columns {_COLUMNS}",
)
NEXT = {
    "cepctl match @who.cep events --format table": "which task was it, all rows together?",
    "cepctl show --last": "why has the first row this confidence?",
    "cepctl report @query.cep events -o report.html": "all rows as a page for a browser",
}


@click.command("demo")
@click.argument("folder", default="cepctl-demo", type=click.Path(path_type=Path), metavar="[FOLDER]")
def command(folder: Path) -> None:
    """Write the sample logs into FOLDER (cepctl-demo), ask them a question, and name what to try next.

    The logs are three minutes of a small cluster whose clocks disagree; the question is which task drove
    its node to the limit.  No network and no Java is needed.
    """
    _refuse(folder)
    write_samples(folder)
    click.echo(f"Sample logs, an uncertainty model and two queries are in {folder}.  query.cep asks:\n")
    click.echo((folder / "query.cep").read_text(encoding="utf-8"))
    with contextlib.chdir(folder):
        for line in RUN:
            _run(line)
    click.echo("\nEach row is one way in which it can have happened, and how probable that is.  Try next:\n")
    click.echo(f"  cd {shlex.quote(str(folder))}")
    width = max(map(len, NEXT))
    for line, why in NEXT.items():
        click.echo(f"  {line:<{width}}  # {why}")


def write_samples(folder: Path) -> None:
    """Copy the sample logs, their uncertainty model and the queries into a folder, which is made.

    Raises
    ------
    JobError
        If something cannot be written.
    """
    was_there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            if (SAMPLES / name).is_dir():
                shutil.copytree(SAMPLES / name, folder / name)
            else:
                shutil.copyfile(SAMPLES / name, folder / name)
    except OSError as problem:
        # It was empty: what is in it now is half of the samples.
        for name in COPIED:
            place = folder / name
            shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        if not was_there and folder.is_dir():
            folder.rmdir()
        raise JobError(f"cannot write {problem.filename or folder}: {_why(problem)}") from None


def _why(problem: OSError) -> str:
    """What went wrong; of many files that were copied together, with the first."""
    several = isinstance(problem, shutil.Error) and problem.args and isinstance(problem.args[0], list)
    reason = str(problem.args[0][0][-1]) if several else problem.strerror or str(problem)
    return re.sub(r"^\[Errno \d+\] |: '.*", "", reason)


def _refuse(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "holds files" if folder.is_dir() else "is a file"
        raise UsageError(f"{folder} {what}; name a folder that is empty or not there: cepctl demo FOLDER")


def _run(line: str) -> None:
    """Show a command, and run it here."""
    from cepctl.cli import main

    click.echo(f"$ {line}")
    sys.stdout.flush()
    code = main(shlex.split(line)[1:])
    if code:
        raise JobError(f"'{line}' ended with {code}")

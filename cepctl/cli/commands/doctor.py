"""`cepctl doctor`: whether this machine has what cepctl needs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.shared import json_option, runner_options
from cepctl.cli.output.answers import print_answer
from cepctl.cli.output.notices import say
from cepctl.matching.execution import RunnerChoice
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.process.doctor.checks import CheckFinding

FAILED = 4


@click.command("doctor", cls=CheckedCommand)
@click.option(
    "--warm",
    is_flag=True,
    help="Compile the kernels now (some minutes), so no match has to interpret them; with --runner "
    "spark and a local master also record Java's classes (200 MB), so Spark starts faster.",
)
@json_option
@runner_options
def command(warm: bool, as_json: bool, runner: RunnerChoice) -> int:
    """Check Python, disk, memory, compiled kernels, Java, Spark and its workers' Python.

    Each line shows a finding, and the remedy if something is missing; Spark is started for this.
    With --runner local, Java and Spark are not checked; with --runner spark, a missing Java is an error.
    Exits with 4 if a check fails.
    """
    from cepctl.process.doctor.checks import findings

    if warm:
        _warm(runner)
    failed, listed = 0, []
    java_too, needed = runner.may_need_java, runner.on_spark
    for finding in findings(runner.master, runner.conf, java_too=java_too, needed=needed):
        failed += finding.verdict == "failed"
        if as_json:
            listed.append(asdict(finding))
        else:
            click.echo("\n".join(_lines(finding)))
    if as_json:
        print_answer("doctor", {"findings": listed})
    return FAILED if failed else 0


def _lines(finding: CheckFinding) -> list[str]:
    line = f"{finding.verdict:8} {finding.what:8} {finding.told}"
    return [line] if finding.remedy is None else [line, f"{'':17} -> {finding.remedy}"]


def _warm(runner: RunnerChoice) -> None:
    from cepctl.cli.match.progress import shown_progress
    from cepctl.process.doctor.recording import record_classes
    from cepctl.process.doctor.warming import warm_up
    from cepctl.runners.spark.settings import is_local

    with shown_progress(quiet=False) as progress:
        done = warm_up(progress.tell)
    kernels = counted(done.compiled, "kernel")
    say("summary", f"{kernels} compiled, {done.found} found compiled, {done.seconds:.0f} s")
    if runner.on_spark and is_local(runner.master):
        kept = record_classes()
        say("summary", f"Java's classes in {kept.archive} ({kept.size >> 20} MB), {kept.seconds:.0f} s")

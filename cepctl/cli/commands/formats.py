"""`cepctl formats`: which logs can be read, and what each gives."""

from __future__ import annotations

from dataclasses import asdict

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.shared import json_option, words_or_json
from cepctl.cli.output.answers import print_answer


@click.command("formats", cls=CheckedCommand)
@words_or_json
@json_option
@click.option(
    "--show", "shown", metavar="NAME", help="Print a short example of one format, and nothing else."
)
def command(output_format: str, as_json: bool, shown: str | None) -> None:
    """List the formats that ingest, match, explain and inspect read, and their events.

    The content of a file tells its format, never its name; --format (--input-format in
    match, explain and inspect) overrides.  Every format may be compressed with gzip, bzip2, xz or
    zstd, or lie in a zip or tar archive, alone or with others.
    """
    from cepctl.io.catalogue import all_formats, example_of
    from cepctl.render.formats import print_formats

    if as_json:
        print_answer("formats", {"formats": [asdict(facts) for facts in all_formats()]})
        return
    if shown is not None:
        click.echo(example_of(shown), nl=False)
        return

    print_formats(all_formats(), as_json=output_format == "json")

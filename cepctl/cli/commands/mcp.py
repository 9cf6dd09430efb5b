"""`cepctl mcp`: a server for assistants, over standard input and output."""

from __future__ import annotations

import click


@click.command("mcp")
@click.argument("folders", nargs=-1, required=True, type=click.Path(), metavar="FOLDER...")
def command(folders: tuple[str, ...]) -> None:
    """Serve four tools to an assistant: inspect, match, why_not and show.

    They only read, and only below each FOLDER.  The assistant speaks the Model Context Protocol over
    standard input and output; its SDK comes with the extra `mcp`: pip install 'cepctl[mcp]'.
    """
    from cepctl.assistants.places import OpenFolders
    from cepctl.assistants.server import server

    server(OpenFolders.of(folders)).run()

"""`cepctl completion`: completion for bash, zsh and fish, and what it offers for arguments."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script for SHELL that completes commands, options, their values and files.

    bash: eval "$(cepctl completion bash)" in ~/.bashrc.  zsh: the same with zsh in ~/.zshrc, after
    compinit.  fish: cepctl completion fish > ~/.config/fish/completions/cepctl.fish
    """
    completing = get_completion_class(shell)
    assert completing is not None
    click.echo(completing(context.find_root().command, {}, "cepctl", "_CEPCTL_COMPLETE").source(), nl=False)

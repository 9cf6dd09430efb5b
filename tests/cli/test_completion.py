"""Completion in real shells: the script is sourced, and asked what it offers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# What is typed, and what the shell then offers.
CASES = {
    "cepctl exp": ["explain", "export"],
    "cepctl match --eng": ["--engine"],
    "cepctl match --engine w": ["worlds"],
    "cepctl ingest --format jh": ["jhist", "jhist1"],
    "cepctl match @q": ["@query.cep"],
    "cepctl inspect lo": ["log.csv"],
}

# Each reads lines from standard input and prints what is offered for them, then a line `@@@@@`.
BASH = r"""
eval "$(cepctl completion bash)"
compopt() { COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")); }
while IFS= read -r line; do
    read -ra COMP_WORDS <<< "$line"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
    _cepctl_completion cepctl
    printf '%s\n' "${COMPREPLY[@]}" @@@@@
done
"""
FISH = r"""
cepctl completion fish | source
while read -l line; complete -C $line | string split -f1 \t; echo @@@@@; end
"""
ZSH = r"""
compdef() { : }
autoload -Uz compinit
eval "$(cepctl completion zsh)"
_path_files() { print -rl -- ${words[CURRENT]}*(N) }
_describe() { print -rl -- ${completions_with_descriptions%%:*} }
compadd() { print -rl -- $completions }
while IFS= read -r line; do
    words=(${=line}); CURRENT=$#words
    _cepctl_completion
    print @@@@@
done
"""


@pytest.mark.parametrize(("shell", "script"), [("bash", BASH), ("zsh", ZSH), ("fish", FISH)])
def test_a_shell_offers_commands_options_values_and_files(shell: str, script: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    for name in ("log.csv", "query.cep"):
        (tmp_path / name).touch()
    (tmp_path / "cepctl.toml").write_text("what stands here does not matter now")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [shell, "-c", script],
        input="".join(f"{line}\n" for line in CASES),
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    offered = [answer.split() for answer in done.stdout.split("@@@@@\n")[:-1]]
    assert dict(zip(CASES, offered, strict=True)) == CASES, done.stderr

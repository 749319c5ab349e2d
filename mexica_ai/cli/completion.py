"""`mexica-ai completion`: what a shell needs to complete the command line."""

from __future__ import annotations

import argparse

from mexica_ai.cli import common

DESCRIPTION = """\
Print the script that makes a shell complete the commands and options of
mexica-ai.

Examples:
  mexica-ai completion bash > mexica-ai.bash  # then: . ./mexica-ai.bash
  mexica-ai completion zsh > ~/.zfunc/_mexica-ai
  mexica-ai completion fish > ~/.config/fish/completions/mexica-ai.fish
"""
SHELLS = ("bash", "zsh", "fish", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"one of {', '.join(SHELLS)}")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with common.needing("completion"):
        import shtab

    print(shtab.complete(args.whole_parser(), args.shell))
    return 0

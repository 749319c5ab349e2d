"""`mexica-ai man`: the manual page, made of the help texts."""

from __future__ import annotations

import argparse

from mexica_ai.cli import common

DESCRIPTION = """\
Print the manual page of mexica-ai, made of the help texts of all commands.

Examples:
  mexica-ai man | man -l -
  mexica-ai man > ~/.local/share/man/man1/mexica-ai.1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: none."""


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with common.needing("completion"):
        from argparse_manpage.manpage import Manpage

    page = Manpage(args.whole_parser())
    page.description = "an AI opponent for board games with long turns"  # of the line NAME, which `whatis` reads
    page.manual = "mexica-ai"
    print(page)
    return 0

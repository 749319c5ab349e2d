"""The subcommands in the order of the help, and what each is for."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType

COMMANDS = {
    "play": "play a game against engines",
    "best": "find the best turn",
    "analyze": "search and print the candidates as they change",
    "new": "deal a new game",
    "show": "print a position, or one of a played game, as text",
    "legal": "list the legal actions",
    "apply": "play a turn and print the next position",
    "validate": "find all faults of positions",
    "replay": "check game records",
    "annotate": "evaluate the turns of a played game",
    "drill": "make exercises of your mistakes, and solve them",
    "levels": "list the levels of play of a game, and own results against them",
    "tree": "write the tree of a search",
    "export": "write positions, policies and results of records as data for learning",
    "perft": "count action sequences (to check the rules)",
    "check-game": "check a game of one's own against the contract",
    "engine": "answer requests of another program (stdio protocol)",
    "serve": "answer requests over gRPC",
    "client": "call a running server",
    "load": "put load on a server, and measure it",
    "web": "play, analyse, review and edit in the browser",
    "arena": "play a tournament between engines",
    "train": "make new weights of a game by self-play, from those in use; or learn what beats them",
    "completion": "print a script that completes this command in a shell",
    "man": "print the manual page",
    "help": "describe a command",
}


def module(name: str) -> ModuleType:
    """Import the module of a command. No command waits for what only another imports."""
    return importlib.import_module(f"mexica_ai.cli.{name.replace('-', '_')}")


def import_named(args: Sequence[str]) -> None:
    """Import the module of the command that the arguments of the process name, if they name one."""
    for name in args:
        if name in COMMANDS:
            module(name)
            break

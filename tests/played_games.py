"""Finished games for tests that depend on what was played: those in examples/ change with the engine."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "games"


def path_of(game):
    """Return the file of games of a game."""
    return FOLDER / f"{game}.jsonl"


def records_of(game):
    """Return the records of a game."""
    return [json.loads(line) for line in path_of(game).read_text(encoding="utf-8").splitlines()]

"""Learning nim: words for its piles, and the one point of the seat that wins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mexica_ai.game.contract import Fields, Teaching
from mexica_ai.game.phrases import Phrase, phrase
from mexica_ai.game.score_rows import Move, ScoreRow


def hints(fields: Fields) -> dict[str, Phrase]:
    """Return words for the piles; see `Teaching.hints`."""
    return {
        f"pile:{number}": phrase("hint.pile" if objects else "hint.gone", number=number, objects=objects)
        for number, objects in enumerate(fields["piles"], 1)
    }


def projected(fields: Fields) -> list[float]:
    """Return the scores: 1 for the seat that took the last object, nothing before."""
    is_over = not any(fields["piles"])
    return [float(is_over and seat == fields["to_move"]) for seat in range(fields["players"])]


def score_sheet(start: Fields, moves: Sequence[Move]) -> list[ScoreRow]:
    """Return the row of the last object; see `Teaching.score_sheet`."""
    if not moves:
        return []
    return [ScoreRow(phrase("sheet.end"), phrase("sheet.last"), projected(moves[-1].after))]


TEACHING = Teaching(Path(__file__).with_name("texts"), ("disc", "number"), hints, score_sheet, projected)

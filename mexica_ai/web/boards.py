"""The picture of a position: that of its game or, if the game draws none, its text board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mexica_ai.draw.palette import Paint
from mexica_ai.draw.svg import document, element, text
from mexica_ai.game.contract import Game
from mexica_ai.game.messages import speaking
from mexica_ai.game.phrases import ENGLISH
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.io.json_types import JsonObject

_SIZE, _LINE, _MARGIN = 15, 22, 16  # of the text board, in pixels


def parts_of(game: Game) -> tuple[str, ...]:
    """Return the parts of the pictures of a game; a text board is one."""
    return game.picture.parts or ("board",)


def draw(
    game: Game,
    fields: JsonObject,
    *,
    turn: Sequence[tuple[str, JsonObject]] = (),
    theme: str = "page",
    **options: Any,
) -> str:
    """Return a picture of a position; see `Picture.draw`. The text board of a faulty position is empty.

    Its words have the room that the English ones need, so they are in English.
    """
    with speaking(ENGLISH):
        return _drawn(game, fields, turn, theme, options)


def _drawn(
    game: Game, fields: JsonObject, turn: Sequence[tuple[str, JsonObject]], theme: str, options: Mapping[str, Any]
) -> str:
    if game.picture.draw is not None:
        return game.picture.draw(fields, turn=turn, theme=theme, **options)
    try:
        lines = game.board(game.text.parse_position(turn[-1][1] if turn else fields)).splitlines()
    except MexicaAIError:
        lines = []
    paint = Paint(theme)
    width = 2 * _MARGIN + 0.62 * _SIZE * max([40, *map(len, lines)])
    height = 2 * _MARGIN + _LINE * max(len(lines), 4)
    body = [element("rect", width=float(width), height=float(height), **paint("paper"))]
    for number, line in enumerate(lines, 1):
        kept = line.replace(" ", "\N{NO-BREAK SPACE}")  # else blanks in a row would be one
        body.append(text(_MARGIN, _LINE * number, kept, _SIZE, font_family="monospace", **paint("ink")))
    return document(width, height, "".join(body), lines[0] if lines else game.title)

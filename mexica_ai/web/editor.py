"""Routes of the editor, without state: they draw and check positions that need not be valid, and apply edits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.game.position_text import position_data
from mexica_ai.io.errors import MexicaAIError, NotationError, Violation
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import check_shape, quote
from mexica_ai.web import boards
from mexica_ai.web.errors import in_words
from mexica_ai.web.requests import body_of

_PATH = "$"  # of a position, in faults
_WIDTH, _MAX_TEXT = 100, 20_000  # characters: of a line of a position's text, and of text that is broken into lines


def draw(data: JsonObject) -> JsonObject:
    """Return the picture of a position as far as it can be read, its palette, and its faults.

    Parameters
    ----------
    data : dict
        ``position``: an object, or text in the JSON or the compact form.

    Returns
    -------
    dict
        ``given``: the JSON form as it was read, None if the text cannot be read; its ``text``; ``position``: the
        canonical form, None if it is faulty; ``picture``, ``palette`` and the labels of ``targets``: empty without a
        known game; ``faults``; and ``compact``, if there are none.
    """
    check_shape(data, {"position": object}, _PATH)
    try:
        given = _read(data["position"])
    except MexicaAIError as error:
        return {**_describe(None), "position": None, "faults": _faults(None, error)}
    return {**_describe(given), **_check(given)}


def validate(data: JsonObject) -> JsonObject:
    """Return the ``faults`` of a position, and if it has none its canonical form ``position`` and ``compact``."""
    check_shape(data, {"position": object}, _PATH)
    try:
        return _check(_read(data["position"]))
    except MexicaAIError as error:
        return {"position": None, "faults": _faults(None, error)}


def edit(data: JsonObject) -> JsonObject:
    """Return a position after a command of its palette: ``given``, ``picture``, ``palette``, ``targets``.

    Instead of ``position`` and ``command`` there may be a ``game`` and the number of ``players``: a new game.
    """
    if "game" in data:
        check_shape(data, {"game": str, "players?": int}, _PATH)
        given = new_game(data["game"], players=data.get("players", 2)).to_json()
    else:
        check_shape(data, {"position": object, "command": dict}, _PATH)
        before = _read(data["position"])
        editor = registry.get(_game_name(before)).editor
        if editor is None:
            raise NotationError(
                f"command: {before['game']} is edited as JSON; expected a game with a palette",
                reason="BAD_COMMAND",
                path="command",
            )
        given = editor.edit(before, data["command"])
    return _describe(given)


def pretty(value: Any, indent: str = "") -> str:
    """Return JSON as readable text. A value that fits, or is far too long or deep, stands on one line."""
    line = json.dumps(value)
    is_huge = len(line) > _MAX_TEXT or len(indent) > _WIDTH
    if len(line) + len(indent) <= _WIDTH or is_huge or not isinstance(value, (dict, list)):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        entries = [f"{inner}{json.dumps(key)}: {pretty(entry, inner)}" for key, entry in value.items()]
        start, end = "{}"
    else:
        entries = [inner + pretty(entry, inner) for entry in value]
        start, end = "[]"
    return f"{start}\n" + ",\n".join(entries) + f"\n{indent}{end}"


def _read(given: Any) -> Any:
    """Return the JSON form of a position that is given as JSON or as text."""
    return position_data(given, _PATH) if isinstance(given, str) else given


def _game_name(given: Any) -> str:
    """Return the name of a position's game; NotationError if there is none."""
    game = given.get("game") if isinstance(given, dict) else None
    if not isinstance(game, str):
        raise NotationError(
            f"{_PATH}.game: given {quote(game)}; expected the name of a game", reason="WRONG_TYPE", path=f"{_PATH}.game"
        )
    return registry.get(game).name


def _describe(given: Any) -> JsonObject:
    """Return a position, its text, its picture and its palette."""
    answer: JsonObject = {"given": given, "text": pretty(given), "picture": None, "palette": None, "targets": {}}
    try:
        game = registry.get(_game_name(given))
    except MexicaAIError:
        return answer
    answer["picture"] = boards.draw(game, given, theme="page", targets=True, viewer=None)
    if (editor := game.editor) is not None:
        answer["palette"] = editor.palette(given)
        answer["targets"] = game.picture.describe_targets(editor.drawable(given))
    return answer


def _check(given: Any) -> JsonObject:
    """Return the canonical forms of a position, or its faults."""
    try:
        position = Position.from_json(given, path=_PATH)
    except MexicaAIError as error:
        return {"position": None, "faults": _faults(given, error)}
    return {"position": position.to_json(), "compact": position.to_compact(), "faults": []}


def _faults(given: Any, error: MexicaAIError) -> list[JsonObject]:
    """Return each fault with its path, in words, with its targets in the picture and its controls."""
    violations = error.violations or [Violation(error.path or _PATH, error.reason, str(error))]
    try:
        editor = registry.get(_game_name(given)).editor
    except MexicaAIError:
        editor = None
    places = (
        editor.places(given, [violation.path for violation in violations])
        if editor
        else [{"targets": [], "controls": []}] * len(violations)
    )
    return [
        {**violation._asdict(), "words": in_words(violation, given), **place}
        for violation, place in zip(violations, places, strict=True)
    ]


def _route(path: str, answer: Callable[[JsonObject], JsonObject]) -> Route:
    """Return the route of a function from JSON to JSON, which runs in a thread: streams of events go on meanwhile."""

    async def endpoint(request: Request) -> JSONResponse:
        data = await body_of(request, dict, path=_PATH)
        try:
            return JSONResponse(await asyncio.to_thread(answer, data))
        except RecursionError:
            raise NotationError(f"{_PATH}: the JSON is nested too deeply", reason="BAD_JSON", path=_PATH) from None

    return Route(path, endpoint, methods=["POST"])


ROUTES = [_route("/api/draw", draw), _route("/api/validate", validate), _route("/api/edit", edit)]

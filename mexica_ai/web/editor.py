"""Routes of the editor: they draw and check positions that need not be valid, and apply edits. They keep nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from mexica_ai.game import registry
from mexica_ai.game.position import Position, new_game
from mexica_ai.game.position_text import position_data
from mexica_ai.io.errors import MexicaAIError, NotationError, Violation
from mexica_ai.io.strict import Nullable, check_shape, parse_json, quote
from mexica_ai.web import boards

_PATH = "$"  # of a position, in faults
_MAX_PARTS = 8
_WIDTH, _MAX_TEXT = 100, 20_000  # of the text of a position: its lines, and what is laid out at all


def draw(data: dict[str, Any]) -> dict[str, Any]:
    """Return the picture of a position as far as it can be read, its palette, and its faults.

    Parameters
    ----------
    data : dict
        ``position``, an object, or text in the JSON or the compact form; perhaps ``parts`` of the picture, and the
        ``viewer``.

    Returns
    -------
    dict
        ``given``, the JSON form as it was read, None if the text cannot be read, and its ``text``; ``position``, the
        canonical form, None if it is faulty; ``parts``, ``palette`` and the words for ``targets``, empty without a
        known game; ``faults``; and ``compact``, if there are none.
    """
    check_shape(data, {"position": object, "parts?": [str], "viewer?": Nullable(int)}, _PATH)
    try:
        given = _read(data["position"])
    except MexicaAIError as error:
        return {
            "given": None,
            "position": None,
            "parts": {},
            "palette": None,
            "targets": {},
            "faults": _faults(None, error),
        }
    return {**_shown(given, data), **_checked(given)}


def validate(data: dict[str, Any]) -> dict[str, Any]:
    """Return the ``faults`` of a position, and if it has none its canonical form ``position`` and ``compact``."""
    check_shape(data, {"position": object}, _PATH)
    try:
        return _checked(_read(data["position"]))
    except MexicaAIError as error:
        return {"position": None, "faults": _faults(None, error)}


def edit(data: dict[str, Any]) -> dict[str, Any]:
    """Return a position after a command of its palette: ``given``, ``parts``, ``palette``, ``targets``.

    Instead of ``position`` and ``command`` there may be a ``game`` and the number of ``players``: a new game.
    """
    if "game" in data:
        check_shape(data, {"game": str, "players?": int, "parts?": [str]}, _PATH)
        given = new_game(data["game"], players=data.get("players", 2)).to_json()
    else:
        check_shape(data, {"position": object, "command": dict, "parts?": [str]}, _PATH)
        before = _read(data["position"])
        editor = registry.get(_game(before)).editor
        if editor is None:
            raise NotationError(
                f"command: {before['game']} is edited as JSON; expected a game with a palette",
                reason="BAD_COMMAND",
                path="command",
            )
        given = editor.edit(before, data["command"])
    return _shown(given, data)


def pretty(value: Any, indent: str = "") -> str:
    """Return JSON as text that a person can read: what fits, or is far too long or deep, stands on one line."""
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


def _read(given):
    """Return a position as JSON that is an object or a text."""
    return position_data(given, _PATH) if isinstance(given, str) else given


def _game(given):
    """Return the name of a position's game; raise an error if there is none."""
    game = given.get("game") if isinstance(given, dict) else None
    if not isinstance(game, str):
        raise NotationError(
            f"{_PATH}.game: given {quote(game)}; expected the name of a game", reason="WRONG_TYPE", path=f"{_PATH}.game"
        )
    return registry.get(game).name


def _shown(given, data):
    """Return a position, its text, the parts of its picture that are asked for, and its palette."""
    shown = {"given": given, "text": pretty(given), "parts": {}, "palette": None, "targets": {}}
    try:
        game = registry.get(_game(given))
    except MexicaAIError:
        return shown
    options: dict[str, Any] = {"theme": "page", "targets": True, "viewer": data.get("viewer")}
    for part in data.get("parts", ["all"])[:_MAX_PARTS]:
        shown["parts"][part] = boards.draw(game, given, **({} if part == "all" else {"parts": [part]}), **options)
    if (editor := game.editor) is not None:
        shown["palette"] = editor.palette(given)
        shown["targets"] = game.picture.describe_targets(editor.drawable(given))
    return shown


def _checked(given):
    try:
        position = Position.from_json(given, path=_PATH)
    except MexicaAIError as error:
        return {"position": None, "faults": _faults(given, error)}
    return {"position": position.to_json(), "compact": position.to_compact(), "faults": []}


def _faults(given, error):
    """Return each fault with its path and the places that it concerns."""
    found = error.violations or [Violation(error.path or _PATH, error.reason, str(error))]
    try:
        editor = registry.get(_game(given)).editor
    except MexicaAIError:
        editor = None
    places = (
        editor.places(given, [fault.path for fault in found])
        if editor
        else [{"targets": [], "controls": []}] * len(found)
    )
    return [{**fault._asdict(), **place} for fault, place in zip(found, places, strict=True)]


def _route(path: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Route:
    """Return the route that answers a JSON object; drawing and checking do not hold up the streams of others."""

    async def endpoint(request: Request) -> JSONResponse:
        data = parse_json(await request.body(), _PATH)
        check_shape(data, dict, _PATH)
        try:
            return JSONResponse(await run_in_threadpool(answer, data))
        except RecursionError:
            raise NotationError(f"{_PATH}: the JSON is nested too deeply", reason="BAD_JSON", path=_PATH) from None

    return Route(path, endpoint, methods=["POST"])


ROUTES = [_route("/api/draw", draw), _route("/api/validate", validate), _route("/api/edit", edit)]

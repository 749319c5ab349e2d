"""Parsers of requests to the page: of their bodies, paths and queries."""

from __future__ import annotations

import re
from typing import Any, TypedDict

from starlette.requests import Request

from mexica_ai.draw.palette import THEMES
from mexica_ai.io.strict import check_shape, parse_json, quote
from mexica_ai.web.errors import ApiError

_NUMBER = re.compile(r"\d{1,6}", re.ASCII)


async def body_of(request: Request, shape: object = object, *, path: str = "request") -> Any:
    """Return the JSON of the body; NotationError if it does not have a shape of `check_shape`."""
    data = parse_json(await request.body(), path)
    check_shape(data, shape, path)
    return data


def number_of(request: Request, name: str) -> int | None:
    """Return a number of the query."""
    text = request.query_params.get(name)
    if not text:
        return None
    if not _NUMBER.fullmatch(text):
        raise ApiError(400, "BAD_NUMBER", f"{name}: given {quote(text)}; expected a number from 0")
    return int(text)


def turn_of(request: Request) -> int:
    """Return the number of the turn in the path; a converter of the route would take any number of digits."""
    text = request.path_params["number"]
    if not _NUMBER.fullmatch(text):
        raise ApiError(404, "NO_TURN", f"no turn {quote(text)}; expected a number from 0")
    return int(text)


def theme_of(request: Request) -> str:
    """Return the theme of a picture."""
    theme = request.query_params.get("theme", "page")
    if theme not in THEMES:
        raise ApiError(400, "BAD_THEME", f"theme: given {quote(theme)}; expected page, light or dark")
    return theme


def actions_of(request: Request) -> list[str]:
    """Return the actions at the beginning of a turn."""
    text = request.query_params.get("actions", "")
    return [action.strip() for action in text.split(";") if action.strip()]


def line_of(request: Request) -> list[list[str]]:
    """Return the turns of a side line."""
    text = request.query_params.get("line", "")
    if not text:
        return []
    line: list[list[str]] = parse_json(text, "request.line")
    check_shape(line, [[str]], "request.line")
    return line


class Shown(TypedDict):
    """What the query of a picture asks for: parameters of `pictures.steps_of`."""

    with_turn: bool
    count: int | None
    since: int
    line: list[list[str]]
    actions: list[str]


def shown_of(request: Request) -> Shown:
    """Return what the query of a picture asks for."""
    return {
        "with_turn": request.query_params.get("turn") == "1",
        "count": number_of(request, "count"),
        "since": number_of(request, "since") or 0,
        "line": line_of(request),
        "actions": actions_of(request),
    }

"""What requests to the page say: their bodies, and the parts of their paths and queries."""

from __future__ import annotations

import re
from typing import Any

from starlette.requests import Request

from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import check_shape, parse_json, quote
from mexica_ai.web.errors import ApiError

_NUMBER = re.compile(r"\d{1,6}", re.ASCII)


async def body_of(request: Request, shape: Any = None) -> Any:
    """Return the JSON of the body; NotationError if it has not a shape of `check_shape`."""
    data = parse_json(await request.body(), "request")
    if shape is not None:
        check_shape(data, shape, "request")
    return data


def out_of_range(name: str, given: object, expected: str) -> NotationError:
    """Return the error for a key of the body."""
    path = f"request.{name}"
    return NotationError(f"{path}: given {quote(given)}; expected {expected}", reason="OUT_OF_RANGE", path=path)


def number_in(request: Request, name: str, default: int | None) -> int | None:
    """Return a number of the query."""
    text = request.query_params.get(name)
    if text in (None, ""):
        return default
    if not _NUMBER.fullmatch(text):
        raise ApiError(400, "BAD_NUMBER", f"{name}: given {quote(text)}; expected a number from 0")
    return int(text)


def turn_in_path(request: Request) -> int:
    """Return the number of the turn in the path; a converter of the route would take any number of digits."""
    text = request.path_params["number"]
    if not _NUMBER.fullmatch(text):
        raise ApiError(404, "NO_TURN", f"no turn {quote(text)}; expected a number from 0")
    return int(text)


def viewer_of(request: Request) -> int | None:
    """Return the seat whose view is asked for."""
    return number_in(request, "viewer", None)


def actions_of(request: Request) -> list[str]:
    """Return the beginning of a turn."""
    text = request.query_params.get("actions", "")
    return [action.strip() for action in text.split(";") if action.strip()]


def line_of(request: Request) -> list[list[str]]:
    """Return turns that were not played."""
    text = request.query_params.get("line", "")
    if not text:
        return []
    line = parse_json(text, "request.line")
    check_shape(line, [[str]], "request.line")
    return line

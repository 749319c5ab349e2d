"""The language of each request: what its page has chosen, or what its browser prefers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from mexica_ai.game.messages import languages, speaking
from mexica_ai.game.phrases import ENGLISH

_STATIC = Path(__file__).with_name("static")
_RANGE = re.compile(r"\s*([a-zA-Z]{1,8})[-\w]*\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?", re.ASCII)


@cache
def page_languages() -> tuple[str, ...]:
    """Return the languages that the page has message files of; it speaks English without one."""
    return tuple(sorted(path.stem for path in (_STATIC / "messages").glob("*.json")))


def preferred(header: str) -> str:
    """Return the language of ``Accept-Language`` that the server speaks and that is wanted most; English if none is."""
    found: dict[str, float] = {}
    for part in header.split(",")[:20]:
        if (match := _RANGE.fullmatch(part)) and float(match[2] or 1) > 0:
            found.setdefault(match[1].lower(), float(match[2] or 1))
    known = [one for one in found if one in languages()]
    return max(known, key=lambda one: found[one], default=ENGLISH)


class Languages:
    """ASGI middleware: what a request is answered is said in its language (``lang`` of the query, else the header)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("lang", [""])[0]
        with speaking(asked if asked in languages() else preferred(Headers(scope=scope).get("accept-language", ""))):
            await self._app(scope, receive, send)

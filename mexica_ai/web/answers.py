"""Answers of the page that are no plain JSON: files, content that a browser may keep, and those to errors."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from mexica_ai.io.errors import MexicaAIError
from mexica_ai.web.errors import Refusal, refusal_of

_logger = logging.getLogger("mexica_ai.web")


def tagged(request: Request, content: str, media_type: str, name: str | None = None) -> Response:
    """Return content with a strong ETag, or the answer that the browser has it already."""
    data = content.encode()
    tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if name is not None:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=media_type, headers=headers)


def download(text: str, name: str, media_type: str = "application/json") -> Response:
    """Return a file that a browser saves."""
    return Response(text, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def _answer_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    headers = {"Retry-After": "5"} if error.status in (429, 503) else None
    return JSONResponse(error.to_json(), error.status, headers)


async def _answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, MexicaAIError)
    status, body, headers = refusal_of(error)
    return JSONResponse(body, status, headers)


async def _answer_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    reason = {404: "NOT_FOUND", 405: "WRONG_METHOD"}.get(error.status_code, "REFUSED")
    return JSONResponse(
        {"reason": reason, "message": str(error.detail), "violations": []}, error.status_code, error.headers
    )


async def _answer_nobody(request: Request, error: Exception) -> Response:
    return Response(status_code=400)  # the connection was closed before the body was there


async def _answer_failure(request: Request, error: Exception) -> Response:
    body = {"reason": "INTERNAL", "message": "an error of the page's process; its log says more", "violations": []}
    return JSONResponse(body, 500)


async def _answer_disk(request: Request, error: Exception) -> Response:
    _logger.error("cannot write the journal: %s", error)
    body = {"reason": "DISK", "message": f"the game cannot be kept on disk: {error}", "violations": []}
    return JSONResponse(body, 503, {"Retry-After": "5"})


ERROR_ANSWERS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    Refusal: _answer_refusal,
    MexicaAIError: _answer_error,
    HTTPException: _answer_http,
    ClientDisconnect: _answer_nobody,
    OSError: _answer_disk,
    Exception: _answer_failure,
}

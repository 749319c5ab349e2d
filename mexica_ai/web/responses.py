"""Responses other than JSON of a handler: files, content that a browser may keep, and errors."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Awaitable, Callable

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from mexica_ai.io.errors import MexicaAIError
from mexica_ai.web.errors import ApiError, api_error

_logger = logging.getLogger("mexica_ai.web")


def cacheable(request: Request, content: str, media_type: str, name: str | None = None) -> Response:
    """Return content with a strong ETag, or status 304 if the browser has it already."""
    data = content.encode()
    tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if name is not None:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=media_type, headers=headers)


def download(text: str, name: str) -> Response:
    """Return a JSON file that a browser saves."""
    return Response(
        text, media_type="application/json", headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def error_response(error: ApiError) -> JSONResponse:
    """Return the response to a request that has failed."""
    headers = {} if error.retry_after_s is None else {"Retry-After": str(max(1, round(error.retry_after_s)))}
    return JSONResponse(error.to_json(), error.status, headers)


async def _handle_api_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error_response(error)


async def _handle_package_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, MexicaAIError)
    return error_response(api_error(error))


async def _handle_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    reason = {404: "NOT_FOUND", 405: "WRONG_METHOD"}.get(error.status_code, "REFUSED")
    response = error_response(ApiError(error.status_code, reason, str(error.detail)))
    response.headers.update(error.headers or {})
    return response


async def _handle_disconnect(request: Request, error: Exception) -> Response:
    return Response(status_code=400)  # the connection was closed before the body was there


async def _handle_other(request: Request, error: Exception) -> Response:
    return error_response(ApiError(500, "INTERNAL", "internal error; the log of `mexica-ai web` has details"))


async def _handle_disk_error(request: Request, error: Exception) -> Response:
    _logger.error("cannot write the journal: %s", error)
    return error_response(ApiError(503, "DISK", f"the game cannot be kept on disk: {error}"))


EXCEPTION_HANDLERS: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
    ApiError: _handle_api_error,
    MexicaAIError: _handle_package_error,
    HTTPException: _handle_http_exception,
    ClientDisconnect: _handle_disconnect,
    OSError: _handle_disk_error,
    Exception: _handle_other,
}

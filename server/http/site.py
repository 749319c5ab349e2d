"""The application behind the door: routes from the annotations of the service, and what comes before all of them.

A page of any site can make the browser of its user ask a server on the same machine. It cannot send JSON without asking
first, which only the origins in `http_cors_origins` may; and, against DNS rebinding, a server that asks for no token
answers only under the names that are its own.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

from google.api import annotations_pb2
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mexica_ai.io.strict import quote
from mexica_ai.server.config import ServerConfig
from mexica_ai.server.errors import status_of
from mexica_ai.server.http import problems
from mexica_ai.server.http.calls import Calls
from mexica_ai.server.http.connections import REQUEST_S
from mexica_ai.server.http.endpoints import TIMEOUT_HEADER, Endpoint, Method
from mexica_ai.server.http.problems import RefusedError
from mexica_ai.server.logs import ID_KEY, request_id_of
from mexica_ai.server.slots import loop_time
from mexica_ai.server.workers import FairWorkers
from mexica_ai.v1 import engine_pb2

OPENAPI = "openapi.json"
HEALTH_PATH, OPENAPI_PATH = "/healthz", f"/v1/{OPENAPI}"
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_CORS_HEADERS = ["authorization", "content-type", ID_KEY, TIMEOUT_HEADER, "traceparent", "tracestate"]
_EXPOSED = [ID_KEY, "retry-after"]
_CORS_AGE_S = 600
_REASONS = {404: "UNKNOWN_PATH", 405: "WRONG_METHOD"}


def methods(max_bytes: int, large_bytes: int, large: frozenset[str]) -> list[Method]:
    """Return the methods of the service that have a path for HTTP.

    Parameters
    ----------
    max_bytes, large_bytes : int
        Of a request, and of one of the methods in `large`.
    large : frozenset of str
        Paths in gRPC.
    """
    found = []
    for descriptor in engine_pb2.DESCRIPTOR.services_by_name["EngineService"].methods:
        rule = descriptor.GetOptions().Extensions[annotations_pb2.http]
        verb = rule.WhichOneof("pattern")
        if verb is None:
            continue
        path = getattr(rule, verb)
        assert "{" not in path, path  # nothing here reads fields from the path
        assert (verb, rule.body) in (("post", "*"), ("get", "")), path
        method = Method(descriptor, verb.upper(), path, max_bytes)
        found.append(method._replace(max_bytes=large_bytes) if method.name in large else method)
    return found


class Site:
    """An ASGI application.

    Parameters
    ----------
    config : ServerConfig
    calls : Calls
    served : sequence of Method
    workers : FairWorkers
        For large texts.

    Attributes
    ----------
    running : set of asyncio.Task
        The calls in work.
    is_healthy : bool
        What a balancer is told.
    is_open : bool
        Whether calls are answered.
    """

    def __init__(self, config: ServerConfig, calls: Calls, served: Sequence[Method], workers: FairWorkers) -> None:
        self.running: set[asyncio.Task[None]] = set()
        self.is_healthy = self.is_open = True
        self._max_age_s = config.max_connection_age_s
        self._is_guarded = not (config.tokens_file or config.tls_client_ca)
        self._hosts = {name.lower() for name in config.http_hosts}
        openapi = resources.files(__package__).joinpath(OPENAPI).read_bytes()

        def health(_request: Request) -> Response:
            if self.is_healthy:
                return JSONResponse({"status": "SERVING"})
            return JSONResponse({"status": "NOT_SERVING"}, 503)

        def description(_request: Request) -> Response:
            return Response(openapi, media_type="application/json")

        routes: list[BaseRoute] = [Route(HEALTH_PATH, health), Route(OPENAPI_PATH, description)]
        for method in served:
            endpoint: Any = Endpoint(method, calls, workers, self.running)
            routes.append(Route(method.path, endpoint, methods=[method.verb]))
        middleware = []
        if config.http_cors_origins:
            middleware.append(
                Middleware(
                    CORSMiddleware,
                    allow_origins=config.http_cors_origins,
                    allow_methods=["GET", "POST"],
                    allow_headers=_CORS_HEADERS,
                    expose_headers=_EXPOSED,
                    max_age=_CORS_AGE_S,
                )
            )
        middleware.append(Middleware(_Refusing, site=self))
        handlers: Any = {HTTPException: _refuse, Exception: _fail}
        self._app = Starlette(routes=routes, middleware=middleware, exception_handlers=handlers)
        self._app.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with its id and the headers that every answer has."""
        if scope["type"] != "http":
            return
        request_id = request_id_of(Headers(scope=scope))
        scope["state"]["request_id"] = request_id

        given = Headers(scope=scope)
        is_read = "transfer-encoding" not in given and given.get("content-length", "0") == "0"

        async def receive_on() -> Message:
            nonlocal is_read
            message = await receive()
            is_read = is_read or (message["type"] == "http.request" and not message.get("more_body", False))
            return message

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in {**_HEADERS, ID_KEY: request_id}.items():
                    headers[name] = value
                if not self.is_open or loop_time() > scope["state"]["opened_s"] + self._max_age_s:
                    headers["Connection"] = "close"
                # Nobody waits for the rest of what was refused, or of a body that no answer depends on.
                if not is_read and (message["status"] >= 400 or scope["method"] != "POST"):
                    headers["Connection"] = "close"
            try:
                async with asyncio.timeout(REQUEST_S):
                    await send(message)
            except TimeoutError:  # the client does not read; the rest is dropped, and the call cancelled
                scope["state"]["drop"]()
                while (await receive())["type"] != "http.disconnect":
                    pass

        await self._app(scope, receive_on, send_on)

    def refusal(self, scope: Scope) -> RefusedError | None:
        """Return why a request is refused, None if it is not."""
        if self._is_guarded and not self._is_own(Headers(scope=scope).getlist("host")):
            names = "an address, localhost or a name of http_hosts"
            return RefusedError(421, "WRONG_HOST", f"host: is not a name of this server; expected {names}")
        if not self.is_open and scope["path"] != HEALTH_PATH:
            problem = "the server is shutting down; retry elsewhere"
            return RefusedError(503, "SHUTTING_DOWN", problem, {"Retry-After": "1"})
        return None

    def _is_own(self, hosts: Sequence[str]) -> bool:
        if len(hosts) != 1:
            return False
        name = re.sub(r":\d*$", "", hosts[0]).lower()
        try:
            ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
        except ValueError:
            return name == "localhost" or name in self._hosts
        return True  # a page has a name if its name was bound to another address


class _Refusing:
    """ASGI middleware: answers what the site refuses."""

    def __init__(self, app: ASGIApp, site: Site) -> None:
        self._app, self._site = app, site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        error = self._site.refusal(scope)
        await (error.response(scope["state"]["request_id"]) if error else self._app)(scope, receive, send)


def _fail(request: Request, error: Exception) -> Response:
    """Answer a request after an error of the door itself, whose traceback uvicorn then logs."""
    request_id = request.state.request_id
    return problems.response(problems.of_status(status_of(error), request_id))


def _refuse(request: Request, error: HTTPException) -> Response:
    """Answer a request that no route takes."""
    expected = f"one of those in {OPENAPI_PATH}" if error.status_code == 404 else (error.headers or {}).get("Allow", "")
    given = request.url.path if error.status_code == 404 else request.method
    refused = RefusedError(
        error.status_code,
        _REASONS.get(error.status_code, "WRONG_REQUEST"),
        f"{'path' if error.status_code == 404 else 'method'}: given {quote(given)}; expected {expected}",
        error.headers,
    )
    return refused.response(request.state.request_id)

"""The guard before the page: it checks the session, the host, the origin and the size of each request.

Every page in the browser of its user can reach a local server. So a request must name the server's address in its
``Host`` (against DNS rebinding), must not come from a page of another origin, and must have the cookie of the session,
which a browser gets in exchange for the token of the URL. Without it a person sees a page that says what to do. The
link of a seat gives the cookie of a guest, who may ask for what `guests` passes.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Iterator
from importlib import resources
from urllib.parse import parse_qs, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mexica_ai.web import guests
from mexica_ai.web.credentials import Credentials
from mexica_ai.web.errors import ApiError
from mexica_ai.web.responses import error_response

MAX_BODY = 1 << 16
MAX_RECORD = 1 << 20
LARGE = ("/api/games", "/api/draw", "/api/validate", "/api/edit")  # may have bodies of `MAX_RECORD`
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types lit-html board"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
COOKIE_S = 180 * 24 * 3600  # for which a browser keeps the session; each visit of the URL begins anew
_PUBLIC = ("/static/app.css", "/static/palette.css")  # the style of the page without a session
NO_DOCUMENT = "default-src 'none'; frame-ancestors 'none'"  # the policy of all that is no page and loads nothing
_CHANGES = ("POST", "PUT", "DELETE")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Guard:
    """ASGI middleware: passes on the requests of this server's own page, and adds security headers to all responses.

    Parameters
    ----------
    app : ASGI application
    credentials : Credentials
    find : callable
        Returns the table of a game, None if there is none; for its invitations.
    load : callable
        Reads a game from disk if that is due; a coroutine function, so that no other request waits for it.
    port : int
        The port in use.
    is_lasting : bool
        Whether browsers keep the session when they end: not if the next server will have another port.
    is_tls : bool
        Whether browsers speak TLS with this process.
    origin : str, optional
        Where browsers see the page behind a proxy, such as ``https://play.example.org``.
    """

    def __init__(
        self,
        app: ASGIApp,
        credentials: Credentials,
        find: guests.Find,
        load: Callable[[str], Awaitable[object]],
        *,
        port: int,
        is_lasting: bool = True,
        is_tls: bool = False,
        origin: str | None = None,
    ) -> None:
        self._app, self._port = app, port
        self._scheme = "https" if is_tls else "http"
        self._origin = origin
        self._token, self._session, self._key = credentials
        self._find, self._load = find, load
        self._max_age = COOKIE_S if is_lasting else None
        # Cookies ignore ports, so two servers on one machine need two names.
        self._cookie = f"mexica_ai_{port}"
        self._is_secure = is_tls or (origin or "").startswith("https:")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if not headers.get("content-type", "text/html").startswith("text/html"):
                    headers["Content-Security-Policy"] = NO_DOCUMENT
                    del headers["Cross-Origin-Opener-Policy"]  # of pages alone
                headers.setdefault("Cache-Control", "no-store" if scope["path"].startswith("/api") else "no-cache")
            await send(message)

        try:
            self._check_address(scope)
            for game in self._named(scope):
                await self._load(game)
            response = self._check(scope)
        except ApiError as error:
            is_closed = (error.status == 401 or error.reason == "GUEST") and _is_page(scope)  # people read it
            response = _closed_page() if is_closed else error_response(error)
        if response is None:
            await self._app(scope, _LimitedReceive(receive, _max_body(scope["path"])), send_guarded)
        else:
            await response(scope, receive, send_guarded)

    def _check_address(self, scope: Scope) -> None:
        """Raise an `ApiError` if a request names another host, or comes from a page of another origin."""
        headers, hosts = Headers(scope=scope), self._hosts(scope)
        if headers.get("host", "").lower() not in hosts or len(headers.getlist("host")) != 1:
            raise ApiError(421, "WRONG_HOST", "the Host is not the address of this server")
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in self._origins(hosts):
            raise ApiError(403, "WRONG_ORIGIN", "the request comes from a page of another origin")
        site = headers.get("sec-fetch-site", "none")
        if not _is_page(scope) and site not in ("none", "same-origin"):
            raise ApiError(403, "WRONG_SITE", "the request comes from a page of another site")

    def _named(self, scope: Scope) -> list[str]:
        """Return the ids of the games that `_check` may look for: that of a request, else those of its cookies."""
        asked = guests.asked_game(scope)
        if asked is not None:
            return [asked]
        headers, prefix = Headers(scope=scope), self._name("")
        if self._has_session(headers):
            return []
        return [name.removeprefix(prefix) for name, _ in _cookies(headers) if name.startswith(prefix)]

    def _check(self, scope: Scope) -> Response | None:
        """Return the response to a request with the token, None to one that may pass; else raise an `ApiError`."""
        headers, path, method, is_page = Headers(scope=scope), scope["path"], scope["method"], _is_page(scope)
        if is_page and path == "/" and b"token=" in scope["query_string"]:
            return self._exchange(scope, headers)
        if is_page and (links := guests.query_of(scope).get("invite")) and (game := guests.game_of(path, {})):
            return self._accept(scope, headers, game, links[-1])
        if path in _PUBLIC and method in ("GET", "HEAD"):
            return None
        if not self._has_session(headers):
            guest = self._guest(scope, headers)
            if guest is None:
                raise ApiError(401, "NO_SESSION", "open the URL that `mexica-ai web` printed, or the link of a seat")
            guests.check(guest, self._find, method, path)
            guests.note(scope, guest)
        if method in _CHANGES:
            if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
                raise ApiError(415, "WRONG_CONTENT_TYPE", "expected the Content-Type application/json")
            length = headers.get("content-length", "0")
            if not length.isdecimal() or int(length) > _max_body(path):
                raise ApiError(413, "TOO_LARGE", f"the body has more than {_max_body(path)} bytes")
        elif method not in ("GET", "HEAD"):
            raise ApiError(405, "WRONG_METHOD", "expected GET, POST, PUT or DELETE")
        return None

    def _exchange(self, scope: Scope, headers: Headers) -> Response:
        """Return the redirect to the page, with the cookie of the session in exchange for the token.

        An old token is no matter to a browser that has the session.
        """
        query = parse_qs(scope["query_string"].decode("latin-1"))
        token = query.pop("token", [""])[0]
        is_right = hmac.compare_digest(token.encode(), self._token.encode())
        if not is_right and not self._has_session(headers):
            raise ApiError(
                401, "WRONG_TOKEN", "the token is of another process; open the URL that `mexica-ai web` printed"
            )
        rest = urlencode(query, doseq=True)
        return self._admit("/" + (f"?{rest}" if rest else ""), self._cookie, self._session)

    def _accept(self, scope: Scope, headers: Headers, game: str, link: str) -> Response:
        """Return the redirect to the game of a link, with the cookie of its seat in exchange for the token.

        A browser that has the session of the owner, or that of the seat, needs none.
        """
        path = f"/g/{game}"
        guest = guests.by_link(self._key, self._find, game, link)
        if self._has_session(headers) or (guest is None and self._guest(scope, headers) is not None):
            return RedirectResponse(path, 303)
        if guest is None:
            raise ApiError(401, "WRONG_TOKEN", "the link is worthless by now; ask for a new one")
        return self._admit(path, self._name(guest.game), guests.cookie_of(self._key, guest))

    def _admit(self, path: str, name: str, value: str) -> Response:
        """Return the redirect to a page, with a cookie."""
        response = RedirectResponse(path, 303)
        # With Strict Chromium sends no cookie after the redirect from the file that opens the browser, or from a chat.
        response.set_cookie(name, value, max_age=self._max_age, httponly=True, samesite="lax", secure=self._is_secure)
        return response

    def _has_session(self, headers: Headers) -> bool:
        is_valid = False
        for name, value in _cookies(headers):
            is_valid |= name == self._cookie and hmac.compare_digest(value.encode(), self._session.encode())
        return is_valid

    def _name(self, game: str) -> str:
        """Return the name of the cookie of guests of a game: a browser may play in several."""
        return f"{self._cookie}_{game}"

    def _guest(self, scope: Scope, headers: Headers) -> guests.Guest | None:
        """Return whose request it is: of the game that it is about, or of any game if it is about none."""
        asked = guests.asked_game(scope)
        prefix = self._name("" if asked is None else asked)
        tried = 0
        for name, value in _cookies(headers):
            if not name.startswith(prefix) or (asked is not None and name != prefix):
                continue
            tried += 1
            if tried > guests.MAX_COOKIES:
                break
            if guest := guests.by_cookie(self._key, self._find, name.removeprefix(self._name("")), value):
                return guest
        return None

    def _hosts(self, scope: Scope) -> set[str]:
        """Return the allowed values of Host: the address that the connection came to, and localhost."""
        address = (scope.get("server") or ("127.0.0.1", 0))[0]
        plain = address.removeprefix("::ffff:")  # of IPv4, where IPv6 listens for both
        names = {"localhost", *(f"[{one}]" if ":" in one else one for one in (address, plain))}
        hosts = {f"{name}:{self._port}" for name in names}
        if self._port == _DEFAULT_PORTS[self._scheme]:
            hosts.update(names)
        if self._origin is not None:
            hosts.add(urlsplit(self._origin).netloc.lower())
        return hosts

    def _origins(self, hosts: set[str]) -> set[str]:
        origins = {f"{self._scheme}://{host}" for host in hosts}
        return origins if self._origin is None else origins | {self._origin.lower()}


class _LimitedReceive:
    """An ASGI `receive` that raises an `ApiError` when a body is too large."""

    def __init__(self, receive: Receive, max_size: int) -> None:
        self._receive, self._max_size, self._size = receive, max_size, 0

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            if self._size > self._max_size:
                raise ApiError(413, "TOO_LARGE", f"the body has more than {self._max_size} bytes")
        return message


def _cookies(headers: Headers) -> Iterator[tuple[str, str]]:
    """Yield the names and values of all cookies of a request."""
    for line in headers.getlist("cookie"):
        yield from cookie_parser(line).items()  # those of other programs of this host may be odd


def _is_page(scope: Scope) -> bool:
    """Return whether a request asks for what the address bar of a browser shows."""
    return scope["method"] in ("GET", "HEAD") and not scope["path"].startswith(("/api", "/static"))


def _closed_page() -> Response:
    """Return the page for a browser without a session."""
    page = resources.files("mexica_ai.web") / "static" / "closed.html"
    return Response(page.read_bytes(), 401, {"Cache-Control": "no-store"}, "text/html; charset=utf-8")


def _max_body(path: str) -> int:
    return MAX_RECORD if path in LARGE else MAX_BODY

"""Invitations: the link of a seat, and what the page that it opens may ask for.

A link has a token of its game, its seat and a nonce of the journal; a browser gets a cookie for it. Its page is a
guest: it uses this game as this seat, and nothing else. `Guard` lets a guest ask for what `check` passes, and the
handlers take the seat of a request from `viewer_of` and `player_of`. A new invitation of a seat makes those before
worthless.
"""

from __future__ import annotations

import base64
import functools
import hmac
import re
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.types import Scope

from mexica_ai.table.events import Table
from mexica_ai.web.errors import ApiError

if TYPE_CHECKING:
    from mexica_ai.web.events import Stream
    from mexica_ai.web.games import Game

KEY = "mexica_ai.guest"  # of the scope of a request
MAX_COOKIES = 1000  # that are tried, of those for guests: more than the server takes in a request

# What a guest may ask for: method and path, below that of the game; while the game goes on, and after it.
_ALWAYS = (
    ("GET", ""),
    ("PUT", "/draft"),
    ("POST", "/turn"),
    ("GET", "/why"),
    ("GET", "/at/[^/]+"),
    ("GET", "/at/[^/]+/[^/]+\\.svg"),
    ("GET", "/at/[^/]+/(hints|projected)"),
    ("GET", "/position"),
)
_AFTERWARDS = (
    ("GET", "/record"),
    ("GET", "/sheet"),
    ("GET", "/shares\\.svg"),
    ("PUT", "/analysis"),
    ("DELETE", "/analysis"),
    ("PUT", "/annotation"),
)
_PUBLIC = ("/static/", "/api/rules/", "/api/guides/")  # below them all is the same for everybody
_COMMANDS = {"takeback", "resign"}  # of POST turn, besides a turn
_GAME = re.compile(r"/(?:api/games|g)/([0-9a-f]{32})(/.*)?", re.ASCII)
_IDENT = re.compile(r"[0-9a-f]{32}", re.ASCII)
_VALUE = re.compile(r"([0-3])\.([\w-]{43})", re.ASCII)


class Guest(NamedTuple):
    """The page of a link.

    Parameters
    ----------
    game : str
        Its id.
    seat : int
    nonce : str
        Of the invitation.
    """

    game: str
    seat: int
    nonce: str


Find = Callable[[str], Table | None]  # returns the table of a game


def new_nonce() -> str:
    """Return what makes an invitation another one than all before."""
    return secrets.token_hex(16)


def token_of(key: str, guest: Guest) -> str:
    """Return the token of a link; `key` is that of `Credentials`."""
    return _derive(key, "token", guest)


def path_of(key: str, guest: Guest) -> str:
    """Return the path and the query of a link."""
    return f"/g/{guest.game}?invite={guest.seat}.{token_of(key, guest)}"


def cookie_of(key: str, guest: Guest) -> str:
    """Return the value of the cookie of a guest."""
    return f"{guest.seat}.{_derive(key, 'session', guest)}"


def _derive(key: str, purpose: str, guest: Guest) -> str:
    text = f"{purpose}:{guest.game}:{guest.seat}:{guest.nonce}"
    return base64.urlsafe_b64encode(hmac.digest(key.encode(), text.encode(), "sha256")).rstrip(b"=").decode()


def by_link(key: str, find: Find, game: str, value: str) -> Guest | None:
    """Return the guest whose link has a value of the query; None if no invitation is it."""
    return _guest(find, game, value, functools.partial(_derive, key, "token"))


def by_cookie(key: str, find: Find, game: str, value: str) -> Guest | None:
    """Return the guest whose cookie has a value; None if it is that of no invitation."""
    return _guest(find, game, value, functools.partial(_derive, key, "session"))


def _guest(find: Find, game: str, value: str, expected: Callable[[Guest], str]) -> Guest | None:
    match = _VALUE.fullmatch(value)
    table = find(game) if match and _IDENT.fullmatch(game) else None
    if match is None or table is None:
        return None
    seat = int(match[1])
    nonce = table.invites.get(seat)
    if nonce is None:
        return None
    guest = Guest(game, seat, nonce)
    return guest if hmac.compare_digest(expected(guest).encode(), match[2].encode()) else None


def game_of(path: str, query: dict[str, list[str]]) -> str | None:
    """Return the id of the game that a request is about; None if it is about none."""
    if path == "/api/events":
        return query.get("game", [""])[-1]
    match = _GAME.fullmatch(path)
    return match[1] if match else None


def asked_game(scope: Scope) -> str | None:
    """Return the id of the game that a request is about; None if it is about none."""
    return game_of(scope["path"], query_of(scope))


def query_of(scope: Scope) -> dict[str, list[str]]:
    """Return the query of a request."""
    return parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def check(guest: Guest, find: Find, method: str, path: str) -> None:
    """Raise an ApiError, reason GUEST, unless a guest may ask for a path."""
    method = "GET" if method == "HEAD" else method
    if method == "GET" and (path.startswith(_PUBLIC) or path in ("/api/info", "/api/events", f"/g/{guest.game}")):
        return
    match = _GAME.fullmatch(path)
    rest = match[2] or "" if match and path.startswith("/api/") and match[1] == guest.game else None
    if rest is None or not _is_among(_ALWAYS + _AFTERWARDS, method, rest):
        raise ApiError(403, "GUEST", "an invitation lets you use one game as one seat; this is for its owner")
    table = find(guest.game)
    if not _is_among(_ALWAYS, method, rest) and not (table and table.is_over):
        raise ApiError(403, "GUEST", "an invitation does not let you ask for this before the game is over")


def _is_among(allowed: tuple[tuple[str, str], ...], method: str, rest: str) -> bool:
    return any(method == one and re.fullmatch(pattern, rest) for one, pattern in allowed)


# --- in the handlers


def guest_of(request: Request) -> Guest | None:
    """Return the guest who asks; None if it is the owner."""
    guest: Guest | None = request.scope.get(KEY)
    return guest


def note(scope: Scope, guest: Guest) -> None:
    """Keep in a request whose it is."""
    scope[KEY] = guest


def player_of(request: Request, game: Game, given: int | None) -> int | None:
    """Return the seat that a command comes from; None: whoever is at the screen of the owner.

    Parameters
    ----------
    given : int or None
        The viewer of the request.

    Raises
    ------
    ApiError
        It is not that of the page; reason OTHER_SEAT, or NO_SESSION if the invitation is worthless by now.
    """
    guest, invites = guest_of(request), game.table.invites
    if guest is None:
        if given in invites:
            raise ApiError(403, "OTHER_SEAT", f"viewer: seat {given} is played by an invitation")
        return given
    if guest.game != game.id or invites.get(guest.seat) != guest.nonce:
        raise ApiError(401, "NO_SESSION", "the invitation is worthless by now; ask for a new link")
    if given not in (None, guest.seat):
        raise ApiError(403, "OTHER_SEAT", f"viewer: given {given}; expected {guest.seat}, the seat of the invitation")
    return guest.seat


def page_of(request: Request, game: Game, given: int | None) -> int | None:
    """Return the viewer of a page for `Game.snapshot`: of a guest its seat, else what is given.

    Raises
    ------
    ApiError
        As `player_of`.
    """
    return given if game.is_over and guest_of(request) is None else player_of(request, game, given)


def viewer_of(request: Request, game: Game, given: int | None) -> int | None:
    """Return the seat whose view a request is about, for `visibility`; after the game a guest sees all.

    Raises
    ------
    ApiError
        As `player_of`.
    """
    seat = page_of(request, game, given)
    return None if game.is_over and guest_of(request) is not None else seat


def require_command(request: Request, chosen: list[str]) -> None:
    """Raise an ApiError, reason GUEST, if a guest gives a command that is for the owner."""
    if guest_of(request) is not None and not set(chosen) <= _COMMANDS:
        raise ApiError(403, "GUEST", f"an invitation does not let you do this: {', '.join(chosen)}")


def may_follow(stream: Stream, table: Table) -> bool:
    """Return whether a stream may still show a game: not as a seat that is not that of its page any more."""
    if stream.guest is not None:
        return table.invites.get(stream.guest.seat) == stream.guest.nonce
    return table.is_over or stream.viewer not in table.invites

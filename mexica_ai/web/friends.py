"""The routes of the owner who plays with friends: links of seats; and who has a game open."""

from __future__ import annotations

import contextlib
import functools

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from mexica_ai.web import commands, guests
from mexica_ai.web.errors import ApiError
from mexica_ai.web.events import Hub
from mexica_ai.web.jobs import Jobs
from mexica_ai.web.requests import body_of
from mexica_ai.web.store import Store

_INVITE = {"version": int, "seat": int, "withdraw?": bool}


class Friends:
    """The routes.

    Parameters
    ----------
    store : Store
    hub : Hub
    jobs : Jobs
    key : str
        From which links follow: `Credentials.invites`.
    """

    def __init__(self, store: Store, hub: Hub, jobs: Jobs, key: str) -> None:
        self._store, self._hub, self._jobs, self._key = store, hub, jobs, key
        self.routes = [Route("/api/games/{game}/invites", self.invite, methods=["POST"])]

    async def invite(self, request: Request) -> JSONResponse:
        """Make the link of a seat, which makes those before worthless; or take the seat back."""
        game, data = self._store.find(request.path_params["game"]), await body_of(request, _INVITE)
        seat, withdraws = data["seat"], data.get("withdraw", False)
        nonce = None if withdraws else guests.new_nonce()
        game.change(functools.partial(commands.invite, seat=seat, nonce=nonce), version=data["version"])
        path = None if nonce is None else guests.path_of(self._key, guests.Guest(game.id, seat, nonce))
        self._jobs.send_state(game)
        self.tell_presence(game.id)
        return JSONResponse({"path": path, "snapshot": game.snapshot(None)}, 200 if withdraws else 201)

    def tell_presence(self, ident: str) -> None:
        """Tell the pages of a game with invitations whose persons have it open."""
        with contextlib.suppress(ApiError):  # it was deleted
            game = self._store.find(ident)
            if not game.table.invites:
                return
            seats: set[int] = set()
            for stream in self._hub.of(ident):
                seats.update(game.table.local if stream.guest is None else [stream.guest.seat])
            data = {"game": ident, "version": game.version, "seats": sorted(seats)}
            self._hub.broadcast(ident, "presence", data)

"""What somebody who learns from games asks for: lines beside a game, and how good a turn is before it stays."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mexica_ai.analysis import words
from mexica_ai.analysis.blunder import estimate_of, warning
from mexica_ai.analysis.drill import seen_by_mover
from mexica_ai.game.messages import language
from mexica_ai.game.notes import SHAPE, Note, noted, read_note
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.game.records import VERSION
from mexica_ai.game.variations import Line, Path, Turn, check_comment, climb, format_path, turns_along
from mexica_ai.io.errors import MexicaAIError
from mexica_ai.io.json_types import JsonObject
from mexica_ai.io.strict import Nullable, check_shape
from mexica_ai.rpc.client import AsyncClient
from mexica_ai.table.events import Event, Table
from mexica_ai.web import commands, pictures, visibility
from mexica_ai.web.engines import Cores
from mexica_ai.web.errors import ApiError
from mexica_ai.web.guests import asked_game, page_of, player_of
from mexica_ai.web.requests import body_of
from mexica_ai.web.snapshot_types import LineJson, LineTurnJson
from mexica_ai.web.telling import Words

if TYPE_CHECKING:
    from mexica_ai.web.games import Game

SEARCH_S = 0.15  # of each of the searches, three at most, that look at a turn before it stays
WAIT_S = 2.0  # for all of them: without an answer until then the turn is played
MAX_CHECKS = 2  # at a time

_CHECK = {"version": int, "viewer?": Nullable(int), "actions?": [str]}


class ToldBefore:
    """ASGI middleware: many lines beside a game are put into words in another thread, before a request that shows them.

    Parameters
    ----------
    app : ASGI application
    load : callable
        Returns the game of an id.
    """

    def __init__(self, app: ASGIApp, load: Callable[[str], Awaitable[Game]]) -> None:
        self._app, self._load = app, load

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["path"].startswith("/api") and (ident := asked_game(scope)):
            with contextlib.suppress(ApiError):  # that whoever answers finds, too
                await tell_lines(await self._load(ident))
        await self._app(scope, receive, send)


async def tell_lines(game: Game) -> None:
    """Put the lines beside a game into words, in another thread if they are many."""
    if game.is_open and not game.telling.is_ready(game):
        await asyncio.to_thread(game.telling.lines, game)


class Study:
    """The routes.

    Parameters
    ----------
    find : callable
        Returns the game of a request.
    respond : callable
        Returns the answer to a command of a viewer that has changed a game, with further keys.
    client : AsyncClient
    cores : Cores
    """

    def __init__(
        self,
        find: Callable[[Request], Game],
        respond: Callable[..., JSONResponse],
        client: AsyncClient,
        cores: Cores,
    ) -> None:
        self._find, self._respond, self._client, self._cores = find, respond, client, cores
        self._checks = 0
        self.routes = [
            Route("/api/games/{game}/lines", self.lines, methods=["POST"]),
            Route("/api/games/{game}/check", self.check, methods=["POST"]),
        ]

    async def lines(self, request: Request) -> JSONResponse:
        """Add a line beside the game, comment a turn, or remove a line; `line` of the answer is where the change is."""
        game, data = self._find(request), await body_of(request)
        check_shape(data, {"version": int, "viewer?": Nullable(int), **SHAPE}, "request")
        viewer = page_of(request, game, data.get("viewer"))
        game.check_version(data["version"], viewer)
        visibility.require_open(game.table)
        note = read_note({key: data[key] for key in data if key not in ("version", "viewer")}, "request")
        check_comment(note.text, "request.text")
        if note.change == "add":
            note = _whole(game, note)
        path: Path = ()

        def change(table: Table) -> list[Event]:
            nonlocal path
            events = commands.note(table, note)
            path = noted(table.tree, note)[1]
            return events

        game.change(change, version=data["version"], viewer=viewer)
        return self._respond(game, viewer, line=format_path(path))

    async def check(self, request: Request) -> JSONResponse:
        """Say whether the turn that a person is about to play surely gives much away; null if not, or if it is late."""
        game, data = self._find(request), await body_of(request, _CHECK)
        viewer = player_of(request, game, data.get("viewer"))
        game.check_version(data["version"], viewer)
        if game.drill is not None:
            raise ApiError(422, "DRILL", "the game is an exercise of a drill; expected a game")
        turn = commands.whole_turn(game.table, viewer, data.get("actions"))
        if self._checks >= MAX_CHECKS:
            return JSONResponse({"warning": None})
        self._checks += 1
        try:
            async with asyncio.timeout(WAIT_S):
                found = await self._warning(game.now, turn)
        except (MexicaAIError, OSError, TimeoutError):
            found = None
        finally:
            self._checks -= 1
        return JSONResponse({"warning": found})

    async def _warning(self, position: Position, turn: list[str]) -> JsonObject | None:
        """Return what to ask about a turn; the searches know no more than the seat that plays it."""
        start = seen_by_mover(position).guess(0)
        record = {"game": start.game, "version": VERSION, "start": start.to_json(), "turns": [turn]}
        with self._cores.of_service() as threads:
            async for evaluation in self._client.evaluate_record(record, time_s=SEARCH_S, threads=threads):
                if (said := warning(evaluation)) is not None:
                    return {"text": words.say(said, language()), "loss": estimate_of(evaluation).loss}
        return None


def _whole(game: Game, note: Note) -> Note:
    """Return a note that adds turns with the random events that a page leaves out."""
    tree = game.table.tree
    along = turns_along(tree, climb(tree, note.line, note.at))[: note.at]
    position = game.table.position_along(along)
    turns = pictures.with_events(game, position, list(map(list, note.turns)), note.at)
    return Note("add", note.line, note.at, tuple(map(tuple, turns)))


# --- the lines of a snapshot


def lines_json(game: Game) -> list[LineJson]:
    """Return the variations beside a game, each after the one that it leaves."""
    return [_line_json(*each) for each in game.telling.lines(game)]


def _line_json(path: Path, line: Line, told: Words) -> LineJson:
    return {
        "path": format_path(path),
        "at": line.at,
        "comment": line.comment,
        "turns": [
            _turn_json(turn, seat, words, comment)
            for turn, (seat, words), comment in zip(line.turns, told, line.comments, strict=True)
        ],
    }


def _turn_json(turn: Turn, seat: int | None, told: str, comment: str) -> LineTurnJson:
    return {
        "actions": list(turn),
        "text": TURN_SEPARATOR.join(turn),
        "words": told,
        "seat": seat,
        "comment": comment,
    }


def comments_json(game: Game) -> dict[str, str]:
    """Return the comments on the turns that were played, by the number of turns so far."""
    tree = game.table.tree
    return {str(number): text for number, text in enumerate((tree.comment, *tree.comments)) if text}

"""The routes of the page."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
from collections.abc import AsyncIterator
from importlib import resources
from pathlib import Path
from typing import Literal

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from mexica_ai.analysis import levels
from mexica_ai.analysis.report import graph_turns
from mexica_ai.draw.palette import style_sheet
from mexica_ai.draw.shares import draw_shares
from mexica_ai.game import proposals, registry, teaching
from mexica_ai.game.messages import language, say
from mexica_ai.game.proposals import Verdict
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import Nullable, check_shape, choice
from mexica_ai.rpc.client import AsyncClient
from mexica_ai.table.events import Table
from mexica_ai.table.seats import names_of
from mexica_ai.web import boards, commands, editor, pictures, starts, visibility
from mexica_ai.web.clicks import why_not
from mexica_ai.web.engines import Cores, Specs
from mexica_ai.web.errors import ApiError
from mexica_ai.web.events import Hub, Stream
from mexica_ai.web.friends import Friends
from mexica_ai.web.games import Game
from mexica_ai.web.guard import MAX_RECORD
from mexica_ai.web.guests import guest_of, page_of, player_of, require_command, viewer_of
from mexica_ai.web.jobs import Jobs
from mexica_ai.web.journal import Folder
from mexica_ai.web.language import Languages, page_languages
from mexica_ai.web.lessons import Lessons
from mexica_ai.web.own import Results
from mexica_ai.web.requests import actions_of, body_of, line_of, number_of, shown_of, theme_of, turn_of
from mexica_ai.web.responses import EXCEPTION_HANDLERS, cacheable, download
from mexica_ai.web.seats import DEFAULT_LEVEL, MAX_SECONDS, bad_value
from mexica_ai.web.snapshot_types import GameInfo, Info
from mexica_ai.web.store import Store
from mexica_ai.web.study import Study, ToldBefore, tell_lines
from mexica_ai.web.turn_entry import learn_samples

MAX_CANDIDATES = 20
_PICTURES_KEPT = 64

_logger = logging.getLogger("mexica_ai.web")

_VERSION = {"version": int, "viewer?": Nullable(int)}
_DRAFT = {**_VERSION, "actions": [str]}
_TURN = {
    **_VERSION,
    "actions?": Nullable([str]),
    "takeback?": bool,
    "stop?": bool,
    "retry?": bool,
    "resign?": bool,
    "seat?": int,
    "person?": bool,
    "play_on?": bool,
}
_EXERCISE = {**_VERSION, "do": choice("answer", "hint", "show", "next"), "actions?": [str]}
_ANALYSIS = {
    "at": int,
    "line?": [[str]],
    "draft?": [str],
    "seconds?": Nullable(float),
    "candidates?": int,
    "viewer?": Nullable(int),
    "everybody?": bool,
}
_COMMANDS = ("takeback", "event", "stop", "retry", "resign", "person", "play_on")


class Site:
    """The routes of the page, and their games, jobs and streams.

    Parameters
    ----------
    folder : Folder
    client : AsyncClient
    engines : mapping of str to EngineSpec
    invites : str
        That of the `Credentials`.
    cores : Cores, optional
        By default one thread a search.
    """

    def __init__(
        self, folder: Folder, client: AsyncClient, engines: Specs, invites: str = "", cores: Cores | None = None
    ) -> None:
        self._client = client
        self.hub = Hub()
        self.jobs = Jobs(client, self.hub, engines, cores)
        self.store = Store(folder, starts.restore)
        self._examples = _read_examples()
        for name, text in self._examples.items():
            if name.endswith(".jsonl"):
                learn_samples(json.loads(text.splitlines()[0]))
        self._pictures: dict[str, str] = {}
        self.hub.on_leave = self._left
        self.hub.on_join = self._joined
        friends = Friends(self.store, self.hub, self.jobs, invites)
        self.hub.on_change = friends.tell_presence
        self.routes = [
            Route("/", self.page),
            Route("/edit", self.page),
            Route("/g/{game}", self.page),
            Route("/static/palette.css", self.palette),
            Mount("/static", StaticFiles(packages=[("mexica_ai.web", "static")])),
            Route("/api/info", self.info),
            Route("/api/games", self.list_games, methods=["GET"]),
            Route("/api/games", self.new_game, methods=["POST"]),
            Route("/api/games/{game}", self.snapshot, methods=["GET"]),
            Route("/api/games/{game}", self.remove, methods=["DELETE"]),
            Route("/api/games/{game}/restore", self.put_back, methods=["POST"]),
            Route("/api/games/{game}/draft", self.draft, methods=["PUT"]),
            Route("/api/games/{game}/turn", self.turn, methods=["POST"]),
            Route("/api/games/{game}/drill", self.drill, methods=["POST"]),
            Route("/api/games/{game}/why", self.why),
            Route("/api/games/{game}/at/{number}", self.at),
            Route("/api/games/{game}/at/{number}/{part}.svg", self.picture),
            Route("/api/games/{game}/analysis", self.analyze, methods=["PUT"]),
            Route("/api/games/{game}/analysis", self.end_analysis, methods=["DELETE"]),
            Route("/api/games/{game}/annotation", self.annotate, methods=["PUT"]),
            Route("/api/games/{game}/annotation", self.end_annotation, methods=["DELETE"]),
            Route("/api/games/{game}/record", self.record),
            Route("/api/games/{game}/position", self.position),
            Route("/api/games/{game}/shares.svg", self.shares),
            Route("/api/proposal", self.proposal, methods=["POST"]),
            Route("/api/events", self.events),
            *Lessons(self.store).routes,
            *friends.routes,
            *Results(self.store).routes,
            *editor.ROUTES,
            *Study(self._game_of, self._respond, client, self.jobs.cores).routes,
        ]

    # --- games

    def _joined(self, ident: str) -> None:
        game = self.store.find(ident)
        before, was_paused = game.version, game.clock is not None and game.clock.is_paused
        game.resume_clock()
        self.jobs.flags.watch(game)
        self.jobs.go_on(game)
        if was_paused or game.version != before:
            self.jobs.send_state(game)  # the first one of the page was taken before

    def _left(self, ident: str) -> None:
        with contextlib.suppress(ApiError):  # it was deleted
            self.jobs.leave(self.store.find(ident))

    def table_of(self, ident: str) -> Table | None:
        """Return the table of a game, for the guard."""
        try:
            return self.store.find(ident).table
        except ApiError:
            return None

    async def load(self, ident: str) -> None:
        """Read a game from disk if that is due, and it can be read."""
        with contextlib.suppress(ApiError):
            await self.store.load(ident)

    def _game_of(self, request: Request) -> Game:
        return self.store.find(request.path_params["game"])

    def _respond(self, game: Game, viewer: int | None, status: int = 200, **more: str) -> JSONResponse:
        """Finish a command: let engines go on, send the new state to all pages, return the new snapshot, and `more`."""
        self.jobs.go_on(game)
        self.jobs.send_state(game)
        return JSONResponse({**game.snapshot(viewer), **more}, status)

    async def page(self, request: Request) -> Response:
        """The shell page."""
        shell = (resources.files("mexica_ai.web") / "static" / "index.html").read_text(encoding="utf-8")
        spoken = '<html lang="en" data-languages="{}">'.format(" ".join(page_languages()))
        return Response(shell.replace('<html lang="en">', spoken, 1), media_type="text/html; charset=utf-8")

    async def palette(self, request: Request) -> Response:
        """The colours of pictures, and of the page around them."""
        return cacheable(request, style_sheet(), "text/css")

    async def info(self, request: Request) -> JSONResponse:
        """Games, options, levels, engines and limits."""
        info: Info = {
            "games": [
                _game_info(name, [key for key, text in self._examples.items() if _game_name(text) == name])
                for name in registry.names()
            ],
            "levels": list(levels.LEVELS),
            "levels_default": DEFAULT_LEVEL,
            "engines": list(self.jobs.engines.specs) if guest_of(request) is None else [],
            "caps": {"seconds": MAX_SECONDS, "candidates": MAX_CANDIDATES, "body": MAX_RECORD},
        }
        return JSONResponse(info)

    async def list_games(self, request: Request) -> JSONResponse:
        """All games, the newest first."""
        games = []
        for ident in list(self.store):
            try:
                games.append((await self.store.load(ident)).summary())
            except ApiError as error:
                if error.status != 404:  # else its file is gone
                    games.append({"id": ident, "error": str(error)})
            await asyncio.sleep(0)
        return JSONResponse({"games": games})

    async def new_game(self, request: Request) -> JSONResponse:
        """Begin a game."""
        data = await body_of(request)
        self.store.require_room()
        make = functools.partial(
            starts.create,
            data,
            names=list(self.jobs.engines.specs),
            examples=self._examples,
            find=self.store.find,
        )
        game = await asyncio.to_thread(make)
        self.store.add(game)
        await tell_lines(game)
        return self._respond(game, None, 201)

    async def snapshot(self, request: Request) -> JSONResponse:
        """The state of a game, as a page shows it."""
        await _explain(self._game_of(request))
        game = self._game_of(request)
        viewer = page_of(request, game, number_of(request, "viewer"))
        if request.query_params.get("open") == "1":
            game.change(functools.partial(commands.hand_over, viewer=viewer))
        return JSONResponse(game.snapshot(viewer))

    async def remove(self, request: Request) -> Response:
        """Delete a game; it can be put back."""
        ident = request.path_params["game"]
        game = await asyncio.to_thread(self.store.remove, ident)  # it may wait for another game that is being read
        if game is not None:
            self.jobs.forget(game)
        for stream in list(self.hub.of(ident)):
            stream.put("notice", {"game": ident, "level": "warning", "message": "the game was deleted"})
            stream.close()
        return Response(status_code=204)

    async def put_back(self, request: Request) -> JSONResponse:
        """Put back a game that was deleted."""
        game = await asyncio.to_thread(self.store.put_back, request.path_params["game"])
        await tell_lines(game)
        return JSONResponse(game.snapshot(None))

    async def draft(self, request: Request) -> JSONResponse:
        """Replace the turn being entered."""
        game, data = self._game_of(request), await body_of(request, _DRAFT)
        viewer = player_of(request, game, data.get("viewer"))
        is_theirs = visibility.is_theirs(game.table, viewer, game.mover)
        if is_theirs and data["version"] == game.version - 1 and data["actions"] == game.draft:
            return JSONResponse(game.snapshot(viewer))  # the answer to the same request was lost
        enter = functools.partial(commands.enter, viewer=viewer, actions=data["actions"])
        game.change(enter, version=data["version"], viewer=viewer)
        return self._respond(game, viewer)

    async def turn(self, request: Request) -> JSONResponse:
        """Play, take back, draw, stop, resign."""
        game, data = self._game_of(request), await body_of(request)
        event = data.pop("event", None) if isinstance(data, dict) else None
        check_shape(data, _TURN, "request")
        viewer = player_of(request, game, data.get("viewer"))
        chosen = [name for name in _COMMANDS if data.get(name)] + ["event"] * bool(event)
        if len(chosen) > 1:
            raise NotationError(
                f"request: given {', '.join(chosen)}; expected one of them", reason="BAD_REQUEST", path="request"
            )
        require_command(request, chosen)
        self.jobs.flags.fall(game)
        game.check_version(data["version"], viewer)
        if game.drill is not None:
            raise ApiError(422, "DRILL", "the game is an exercise of a drill; expected an answer, not a turn")
        change = functools.partial(game.change, version=data["version"], viewer=viewer)
        match chosen:
            case ["takeback"]:
                change(functools.partial(commands.take_back, viewer=viewer))
                await self.jobs.cancel_thinking(game)
            case ["event"]:
                change(functools.partial(commands.happen, event=event))
            case ["stop"]:
                await self.jobs.stop_thinking(game)
            case ["retry"]:
                game.thinking = None
            case ["person"]:
                change(functools.partial(commands.seat_person, seat=data.get("seat", -1)))
                await self.jobs.cancel_thinking(game)
                self.jobs.engines.close(game, data["seat"])
            case ["play_on"]:
                change(commands.play_on)
            case ["resign"]:
                change(functools.partial(commands.resign, viewer=viewer))
            case _:
                change(functools.partial(commands.commit, viewer=viewer, actions=data.get("actions")))
        return self._respond(game, viewer)

    async def drill(self, request: Request) -> JSONResponse:
        """Answer an exercise, ask for a hint or the better turn, go on to the next one."""
        game, data = self._game_of(request), await body_of(request, _EXERCISE)
        drill, viewer = game.drill, data.get("viewer")
        if drill is None:
            raise ApiError(422, "NO_DRILL", "the game is no drill; expected one")
        game.check_version(data["version"], viewer)
        if data["do"] in ("answer", "hint", "show") and drill.state != "enter":
            raise ApiError(422, "NOT_NOW", f"the exercise is {drill.state}; expected one that waits for a turn")
        match data["do"]:
            case "answer":
                actions = data.get("actions", game.draft)
                turn = commands.whole_turn(game.table, viewer, actions)
                await self._require_service()
                enter = functools.partial(commands.enter, viewer=viewer, actions=actions)
                game.change(enter, version=data["version"], viewer=viewer)  # others may have come first meanwhile
                self.jobs.judge(game, turn)
            case "hint":
                drill.hint = drill.attempt.hint()
                game.renew()
            case "show":
                attempt, outcome = drill.given_up()
                game.change(functools.partial(commands.note_outcome, outcome=outcome))
                drill.go_on(attempt, None)
            case _:
                game.change(functools.partial(commands.pose, number=drill.following()))
                await self.jobs.drop_judged(game)
        return self._respond(game, viewer)

    async def why(self, request: Request) -> JSONResponse:
        """Why what a person clicks is not possible."""
        query = request.query_params
        game = self._game_of(request)
        viewer = player_of(request, game, number_of(request, "viewer"))
        answer = why_not(game, viewer, query.get("tool", ""), query.getlist("targets"))
        return JSONResponse(answer)

    # --- positions, pictures, files

    async def at(self, request: Request) -> JSONResponse:
        """A position of a game as text."""
        game = self._game_of(request)
        viewer = game.require_view(seat_of(request, game))
        position = pictures.position_of(game, turn_of(request), viewer, line_of(request), actions_of(request))
        return JSONResponse({"text": str(position)})

    async def picture(self, request: Request) -> Response:
        """A picture of a position of a game."""
        game = self._game_of(request)
        viewer = game.require_view(seat_of(request, game))
        theme = theme_of(request)
        number, part = turn_of(request), request.path_params["part"]
        shown = shown_of(request)
        turns = game.turns[: number + max(shown["since"], shown["with_turn"])]
        exercise = game.table.number if game.drill is not None else None
        names = names_of(game.seats)
        key = json.dumps([game.id, exercise, number, part, viewer, theme, shown, turns, names])
        svg = self._pictures.pop(key, None)
        if svg is None:
            svg = pictures.picture(game, number, part, viewer, theme=theme, **shown)
        self._pictures[key] = svg
        if len(self._pictures) > _PICTURES_KEPT:
            del self._pictures[next(iter(self._pictures))]
        name = f"{game.name}-{number}{'-line' if shown['line'] else ''}.svg"
        return cacheable(request, svg, "image/svg+xml", name if theme != "page" else None)

    async def record(self, request: Request) -> Response:
        """The record of a game, as a file."""
        game = self._game_of(request)
        visibility.require_open(game.table)
        return download(json.dumps(game.record()) + "\n", f"{game.name}-{game.id[:8]}.jsonl")

    async def position(self, request: Request) -> Response:
        """A position of a game or of a side line, as a file."""
        game = self._game_of(request)
        number = number_of(request, "at")
        if number is None:
            number = len(game.positions) - 1
        viewer = game.require_view(seat_of(request, game))
        line = line_of(request)
        position = pictures.position_of(game, number, viewer, line, [])
        name = f"{game.name}-{game.id[:8]}-{number}{'-line' if line else ''}"
        return download(json.dumps(position.to_json()) + "\n", f"{name}.json")

    async def shares(self, request: Request) -> Response:
        """The picture of an annotated game: shares of the win and losses."""
        game = self._game_of(request)
        visibility.require_open(game.table)
        theme = theme_of(request)
        evaluations = [one for _, one in sorted(game.evaluations.items())]
        turns = graph_turns(game.plain_record(), evaluations) if evaluations else []
        svg = draw_shares(turns, players=game.now.players, theme=theme, is_narrow=theme == "page")
        svg = pictures.with_names(svg, game)
        return cacheable(request, svg, "image/svg+xml", f"{game.name}-shares.svg" if theme != "page" else None)

    # --- jobs

    async def analyze(self, request: Request) -> JSONResponse:
        """Start an analysis."""
        game, data = self._game_of(request), await body_of(request, _ANALYSIS)
        seconds, candidates = data.get("seconds"), data.get("candidates", 10)
        if seconds is not None and not 0 < seconds <= MAX_SECONDS:
            raise bad_value("request.seconds", seconds, f"a number above 0, at most {MAX_SECONDS:g}, or null")
        if not 1 <= candidates <= MAX_CANDIDATES:
            raise bad_value("request.candidates", candidates, f"an integer from 1 to {MAX_CANDIDATES}")
        viewer = game.require_view(viewer_of(request, game, data.get("viewer")))
        await self._require_service()
        key = self.jobs.analyze(
            game,
            viewer,
            at=data["at"],
            line=data.get("line", []),
            draft=data.get("draft", []),
            seconds=seconds,
            candidates=candidates,
            everybody=data.get("everybody", False),
            guest=guest_of(request),
        )
        return JSONResponse({"key": key}, 202)

    async def _require_service(self) -> None:
        """Raise the error of a service that does not answer."""
        await self._client.engine_info(timeout_s=3.0)

    async def end_analysis(self, request: Request) -> JSONResponse:
        """End an analysis, and return its result."""
        game = self._game_of(request)
        await self.jobs.end_analysis(game, guest_of(request))
        viewer = visibility.viewer_for(game.table, seat_of(request, game))
        analysis = game.analysis
        if analysis is None or analysis.asked.viewer != viewer:
            return JSONResponse({"analysis": None})
        return JSONResponse({"analysis": analysis.to_json()})

    async def annotate(self, request: Request) -> JSONResponse:
        """Start an annotation, or go on with it."""
        game, data = self._game_of(request), await body_of(request, {"seconds": float})
        visibility.require_open(game.table)
        if not 0 < data["seconds"] <= MAX_SECONDS:
            raise bad_value("request.seconds", data["seconds"], f"a number above 0, at most {MAX_SECONDS:g}")
        await self._require_service()
        found = game.annotation_json(turns=False)
        is_running = found["state"] == "running"
        is_others = guest_of(request) is not None and (is_running or found["done"] > 0 or found["state"] == "stopped")
        if is_others and (data["seconds"] != found["seconds"] or found["state"] == "stopped"):
            raise ApiError(409, "ANNOTATED", "the game has an annotation, or gets one; expected a game without")
        # At the end of a game all its pages ask: a guest may find all that it asks for.
        if not (is_others and (is_running or found["done"] == found["of"])):
            self.jobs.annotate(game, float(data["seconds"]))
        return JSONResponse(game.annotation_json(), 202)

    async def end_annotation(self, request: Request) -> JSONResponse:
        """Stop an annotation."""
        game = self._game_of(request)
        await self.jobs.end_annotation(game)
        return JSONResponse(game.annotation_json(turns=game.is_open))

    async def proposal(self, request: Request) -> JSONResponse:
        """Ask the engine whether it agrees to actions; by default to all that may be proposed."""
        data = await body_of(request, {"id": str, "at": int, "actions?": [str]})
        game = await self.store.load(data["id"])
        position = game.view_of(game.at(data["at"]), game.require_view(None))
        actions = data.get("actions", list(dict.fromkeys(proposals.offered(position))))
        verdict = Verdict(False, []) if not actions else await self._client.consider_proposal(position, actions)
        return JSONResponse(verdict.to_json())

    # --- events

    async def events(self, request: Request) -> Response:
        """The stream of a page."""
        ident = request.query_params.get("game", "")
        if ident:
            await _explain(self.store.find(ident))
        game = self.store.find(ident) if ident else None
        viewer = None if game is None else page_of(request, game, number_of(request, "viewer"))
        snapshot = game.snapshot(viewer) if game is not None else None
        stream = Stream(ident, viewer, language(), guest_of(request))
        if game is not None:
            stream.put("state", {"game": ident, "version": game.version, "snapshot": snapshot})
        return _Events(self.hub, stream)


async def _explain(game: Game) -> None:
    """Have the evaluations of a game explained in the language of now, off the loop."""
    if game.is_open and game.evaluations:
        await asyncio.to_thread(game.telling.explain, game.table, list(game.evaluations.values()))


class _Events(EventSourceResponse):
    """The response with the events of a stream. The stream is open exactly while they are sent."""

    def __init__(self, hub: Hub, stream: Stream) -> None:
        super().__init__(self._send_events(stream), sep="\n")
        self._hub, self._stream = hub, stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._hub.open(self._stream):
            await super().__call__(scope, receive, send)

    @staticmethod
    async def _send_events(stream: Stream) -> AsyncIterator[ServerSentEvent]:
        async for event, data in stream.events():
            yield ServerSentEvent(json.dumps(data, separators=(",", ":")), event=event)


def seat_of(request: Request, game: Game) -> int | None:
    """Return the seat whose view a page gets, by its query."""
    return viewer_of(request, game, number_of(request, "viewer"))


def make_app(site: Site) -> Starlette:
    """Return the application of a site, without its guard."""
    return Starlette(
        routes=site.routes,
        middleware=[
            Middleware(GZipMiddleware, minimum_size=500, compresslevel=5),
            Middleware(Languages),
            Middleware(ToldBefore, load=site.store.load),
        ],
        exception_handlers=EXCEPTION_HANDLERS,
    )


# --- games and examples


def _game_info(name: str, examples: list[str]) -> GameInfo:
    entry = registry.get(name)
    grid = entry.picture.grid
    kinds: dict[type, Literal["bool", "int", "ints"]] = {bool: "bool", int: "int", list: "ints"}
    return {
        "name": name,
        "title": entry.title,
        "players": list(range(2, entry.rules.max_players + 1)),
        "parts": list(boards.parts_of(entry)),
        "options": [
            {
                "name": option.name,
                "help": say(option.help),
                "kind": kinds[option.kind],
                "default": _plain(option.default),
            }
            for option in entry.starts.options
        ],
        "tools": [
            {
                "name": tool.name,
                "key": tool.key,
                "label": say(tool.label),
                "any_order": tool.any_order,
                "is_priced": tool.is_priced,
            }
            for tool in entry.picture.tools
        ],
        "grid": None if grid is None else {"rows": grid["rows"], "columns": grid["columns"]},
        "proposals": None
        if entry.proposals is None
        else {"label": say(entry.proposals.label), "question": say(entry.proposals.question)},
        "examples": [{"name": key, "kind": "record" if key.endswith(".jsonl") else "position"} for key in examples],
        "languages": list(teaching.languages(name)),
        "has_guide": teaching.guide(name) is not None,
    }


def _plain(value: int | tuple[int, ...] | None) -> int | list[int] | None:
    return list(value) if isinstance(value, tuple) else value


def _read_examples() -> dict[str, str]:
    """Return the texts of the examples in the package, or in its checkout."""
    folder = Path(str(resources.files("mexica_ai.web"))) / "examples"
    if not folder.is_dir():
        folder = Path(str(resources.files("mexica_ai"))).parent / "examples"
    return {path.name: path.read_text() for path in sorted(folder.glob("*.json*"))}


@functools.cache
def _game_name(text: str) -> str:
    try:
        return str(json.loads(text)["game"])
    except ValueError:  # several records, one in each line
        return str(json.loads(text.splitlines()[0])["game"])

"""The routes from which a page teaches a game: rules, guides, words for pictures, points now and at the end."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from mexica_ai.game import registry, teaching
from mexica_ai.game.messages import language
from mexica_ai.io.json_types import JsonObject
from mexica_ai.table.seats import names_of
from mexica_ai.web import guides, pictures
from mexica_ai.web.errors import ApiError
from mexica_ai.web.games import Game
from mexica_ai.web.guests import viewer_of
from mexica_ai.web.requests import number_of, shown_of, turn_of
from mexica_ai.web.rules_text import read_sections
from mexica_ai.web.sheets import sheet_of
from mexica_ai.web.snapshot_types import HintsJson, ProjectedJson, RulesJson, SheetJson
from mexica_ai.web.store import Store


class Lessons:
    """The routes.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.routes = [
            Route("/api/rules/{game}", self.rules),
            Route("/api/guides/{game}", self.guide),
            Route("/api/games/{game}/at/{number}/hints", self.hints),
            Route("/api/games/{game}/at/{number}/projected", self.projected),
            Route("/api/games/{game}/sheet", self.sheet),
        ]

    async def rules(self, request: Request) -> JSONResponse:
        """The rules of a game and the signs of its pictures, in words; `lang` may be any language that they have."""
        name, spoken = request.path_params["game"], request.query_params.get("lang") or language()
        text = teaching.rules(name, spoken) if name in registry.names() else None
        if text is None:
            raise ApiError(404, "NO_RULES", f"no rules of {name[:40]!r} in words")
        title, sections = read_sections(text)
        rules: RulesJson = {
            "title": title,
            "languages": list(teaching.languages(name)),
            "sections": sections,
            "legend": [{"sign": sign, "words": words} for sign, words in teaching.legend(name, spoken)],
        }
        return JSONResponse(rules)

    async def guide(self, request: Request) -> JSONResponse:
        """The words of the guided first game."""
        return JSONResponse(guides.guide_info(request.path_params["game"]))

    async def hints(self, request: Request) -> JSONResponse:
        """Words for what a picture shows; the query is that of the picture."""
        game, fields = self._shown(request)
        hints: HintsJson = {
            "hints": teaching.hints(game.name, fields, language(), names_of(game.seats)),
        }
        return JSONResponse(hints)

    async def projected(self, request: Request) -> JSONResponse:
        """The points if the position of a picture were scored; null if the game does not say."""
        game, fields = self._shown(request)
        projected: ProjectedJson = {"points": teaching.projected(game.name, fields)}
        return JSONResponse(projected)

    async def sheet(self, request: Request) -> JSONResponse:
        """Where the points of a game that is over came from."""
        game = self._store.find(request.path_params["game"])
        if not game.is_over:
            raise ApiError(422, "NOT_OVER", "the game goes on; expected one that is over")
        sheet: SheetJson = {"rows": await asyncio.to_thread(sheet_of, game)}
        return JSONResponse(sheet)

    def _shown(self, request: Request) -> tuple[Game, JsonObject]:
        """Return a game, and what the viewer may see of the position that a picture shows."""
        game = self._store.find(request.path_params["game"])
        base, steps = pictures.steps_of(
            game,
            turn_of(request),
            game.require_view(viewer_of(request, game, number_of(request, "viewer"))),
            **shown_of(request),
        )
        return game, steps[-1][1] if steps else base.to_json()

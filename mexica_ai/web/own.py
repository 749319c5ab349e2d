"""The owner's results: of the finished games of the page, with statistics, and the levels with their strength."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from mexica_ai.analysis import levels
from mexica_ai.analysis.own_results import OwnResult, next_level, statistics
from mexica_ai.analysis.ratings import describe_level
from mexica_ai.analysis.words import say
from mexica_ai.game import registry
from mexica_ai.game.messages import language
from mexica_ai.table.events import Table
from mexica_ai.web.errors import ApiError
from mexica_ai.web.snapshot_types import LevelJson, NextJson, ResultJson, ResultsJson, RowJson
from mexica_ai.web.store import Store


class Results:
    """The route.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.routes = [Route("/api/results", self.results)]

    async def results(self, request: Request) -> JSONResponse:
        """The owner's results, and the levels."""
        return JSONResponse(await results_of(self._store))


def result_of(table: Table) -> OwnResult | None:
    """Return the result of the one person at the screen; None if the game has none that counts.

    It counts if it was dealt here and played to its end by the same players, of whom one is a person at the screen.
    """
    counts = table.is_over and table.started.is_dealt and table.seats == table.started.seats and len(table.local) == 1
    if not counts:
        return None
    seat, winners = table.local[0], table.winners
    return OwnResult(
        table.game,
        seat,
        tuple(one.level for one in table.seats),
        1 / len(winners) if seat in winners else 0.0,
        () if table.resigned is not None else tuple(map(float, table.now.scores)),
        table.started.created,
    )


async def results_of(store: Store) -> ResultsJson:
    """Return the results of all games, the newest first, and what follows from them."""
    found: list[tuple[str, OwnResult]] = []
    for ident in list(store):
        try:
            result = result_of((await store.load(ident)).table)
        except ApiError:  # it cannot be read, which the list of games says
            continue
        if result is not None:
            found.append((ident, result))
        await asyncio.sleep(0)
    found.sort(key=lambda each: each[1].ended)
    own = [result for _, result in found]
    return {
        "levels": [_level(level) for level in levels.LEVELS],
        "results": [_result(ident, result) for ident, result in reversed(found)],
        "statistics": [cast("RowJson", asdict(row)) for row in statistics(own)],
        "next": {game: _next(own, game) for game in registry.names()},
    }


def _level(level: int) -> LevelJson:
    character = levels.character_of(level, language())
    strength = {}
    for game in registry.names():
        words = describe_level(game, level)
        strength[game] = None if words is None else say(words, language())
    return {"level": level, "name": character.name, "words": character.words, "strength": strength}


def _result(ident: str, result: OwnResult) -> ResultJson:
    return {
        "id": ident,
        "game": result.game,
        "seat": result.seat,
        "level": result.level,
        "share": result.share,
        "scores": list(result.scores),
        "begun": result.ended,
    }


def _next(own: list[OwnResult], game: str) -> NextJson:
    advice = next_level(own, game)
    return {"level": advice.level, "words": say(advice.phrase, language())}

"""How strongly a request wants the engine to play, and what the service says of its levels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from mexica_ai.analysis import levels
from mexica_ai.analysis.ratings import check_elo, chosen_level, rank_of, ratings_of
from mexica_ai.analysis.words import say
from mexica_ai.game import registry
from mexica_ai.v1 import engine_pb2

Request: TypeAlias = engine_pb2.BestTurnRequest | engine_pb2.AnalyzeRequest | engine_pb2.EvaluateRecordRequest


def check(request: Request) -> None:
    """Raise `SearchError` unless the level and the rating of a request are some; 0 is none."""
    if request.level:
        levels.check(request.level)
    if request.elo:
        check_elo(request.elo)


def level_of(game: str, request: Request) -> int:
    """Return the level that a request of a game asks for.

    Raises
    ------
    SearchError
        There is no such level or rating (reason INVALID_LIMITS, INVALID_OPTION), or both are given (INVALID_OPTION).
    """
    check(request)
    return chosen_level(game, request.level or levels.HIGHEST, request.elo or None)


def level_before_reading(request: engine_pb2.BestTurnRequest | engine_pb2.AnalyzeRequest) -> int:
    """Return the level that a request asks for before its position is read.

    By a rating it is the highest, which may cost most, if the position is text, for ratings are those of a game.
    """
    game = request.position.WhichOneof("game")
    if request.elo and game not in registry.names():
        check(request)
        return levels.HIGHEST
    return level_of(game or "", request)


def messages() -> Iterator[engine_pb2.GetEngineInfoResponse.Level]:
    """Yield the messages that describe the levels of each game."""
    for game in registry.names():
        for level, rating in ratings_of(game).items():
            character = levels.character_of(level)
            yield engine_pb2.GetEngineInfoResponse.Level(
                game=game,
                level=level,
                rating=rating.elo,
                rating_low=rating.low,
                rating_high=rating.high,
                is_measured=rating.is_measured,
                name=character.name,
                rank=say(rank_of(level)),
                words=character.words,
            )

"""Games of self-play, with deep searches now and then.

A game is played by equal seats with few iterations a turn. Every fourth turn or so, drawn at random, is searched with
many (playout cap randomisation), and what that search found about the decisions of its turn is kept: the visits and the
mean utility of every action that it tried. So a game has many different positions at little cost, and each target of a
policy rests on a deep search. Where the games begin: `mexica_ai.train.starts`. All numbers of seats have as many games,
so that a fit knows each of them.

In some games planners, sparring partners of another style, play some of the seats or all; and some games begin in the
middle of games that others have played. Else a fit knows only the style of its own engine. Old games can be
*reanalysed*: turns of theirs, drawn as the deep ones, are searched by the weights in use.

Main functions: `play_game` (one game), `play` (a file of games), `reanalyse` (a file of old ones).

Source: Wu, "Accelerating self-play learning in Go" (2019).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cext.core.learning.weights import Weights
from cext.core.search.search import Search
from mexica_ai.analysis.limits import Limits
from mexica_ai.analysis.search import SearchRun
from mexica_ai.analysis.settings import SearchSettings
from mexica_ai.engines import Engine
from mexica_ai.game.position import Position
from mexica_ai.train.job_file import Series, complete
from mexica_ai.train.positions import fingerprint, origin, plain
from mexica_ai.train.searched import states_of
from mexica_ai.train.starts import draw_start, midgame, planned_start, planner, small_search
from mexica_ai.train.weights import searching_weights

if TYPE_CHECKING:
    from cext.core.search.search import Decision

DEEP_SHARE = 0.25  # of the turns
PLANNED_SHARE = 0.5  # of the games with planners that begin in the middle of a game between planners
RECORD_SHARE = 0.5  # of the games, where records are given
LEAST_VISITS = 0.05  # share of a search's iterations that a decision must have seen
PLAYERS = (2, 3, 4)  # numbers of seats


@dataclass(frozen=True)
class Searcher:
    """How the seats that learn search.

    Attributes
    ----------
    weights : Weights
    iterations, deep : int
        Of most searches, and of deep ones.
    searched : int
        How many states of each deep search are kept with their values in it.
    noise : float
        Scale of the noise on the priors of the searches that are not deep (the option ``prior_noise``).
    """

    weights: Weights
    iterations: int
    deep: int
    searched: int = 0
    noise: float = 0.0

    def search(self, position: Position, seed: int, *, is_deep: bool) -> tuple[list[str], dict[str, Any] | None]:
        """Return the best turn and, of a deep search in which nothing was forced, what it found."""
        budget = self.deep if is_deep else self.iterations
        limits = Limits(iterations=budget, memory_mb=8 + budget // 25)
        # Without proofs, which would end searches before their visits tell much.
        options = {"solve": 0.0} | ({"prior_noise": self.noise} if self.noise and not is_deep else {})
        run = SearchRun(position, SearchSettings(limits, seed, candidates=1, weights=self.weights, options=options))
        result = run.result()
        if not is_deep or result.stop_reason == "forced":
            return result.turn, None
        assert isinstance(run.search, Search)
        least = max(2, round(LEAST_VISITS * budget))
        found: dict[str, Any] = {"decisions": [_shortened(decision) for decision in run.search.decisions(least)]}
        if self.searched:
            found["states"] = states_of(run.search, self.searched, least, random.Random(seed))
        return result.turn, found


def play_on(
    position: Position,
    searcher: Searcher,
    others: Mapping[int, Engine],
    random_: random.Random,
    *,
    seen: Callable[[Position], Position] = lambda position: position,
) -> tuple[list[list[str]], list[dict[str, Any]]]:
    """Play a game to its end, in place, and return its turns and what the deep searches found.

    Parameters
    ----------
    position : Position
    searcher : Searcher
        Of the seats that learn.
    others : mapping of int to Engine
        The other seats and who plays them.
    random_ : random.Random
    seen : callable
        What a seat that learns is asked about: a position with the same legal turns.
    """
    turns: list[list[str]] = []
    searches: list[dict[str, Any]] = []
    while not position.is_over:
        if position.is_chance:
            turns.append(position.draw(random_.getrandbits(63)))
            continue
        seat = position.to_move
        assert seat is not None
        if seat in others:
            turn = others[seat].best_turn(position, seed=random_.getrandbits(63), candidates=1).turn
        else:
            is_deep = random_.random() < DEEP_SHARE
            turn, found = searcher.search(seen(position), random_.getrandbits(63), is_deep=is_deep)
            if found is not None:
                searches.append({"turn": len(turns), **found})
        turns.append(turn)
        position.push(turn)
    return turns, searches


def play_game(
    game: str,
    seed: int,
    index: int,
    iterations: int,
    deep: int,
    weights: Weights | None = None,
    *,
    players: Sequence[int] = PLAYERS,
    planners: float = 0.0,
    searched: int = 0,
    record: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Play one game and return its record and what the deep searches found.

    Parameters
    ----------
    game : str
    seed, index : int
        Everything random derives from these two.
    iterations, deep : int
        Of most searches, and of deep ones.
    weights : Weights, optional
        By default those that ship.
    players : sequence of int
        Numbers of seats, which the games of a seed have in turn; not of games that begin in the middle of `record`.
    planners : float
        How likely planners have a part in the game.
    searched : int
        How many states of each deep search are kept with their values in it.
    record : dict, optional
        Of another game, in whose middle this one begins.

    Returns
    -------
    dict
        A JSON object. `game`: its name. `made`: `seed`, `iterations`, `deep`, `players`, `planners`, number (`game`)
        and version of the weights (`weights`); `searched` if it is not 0; with `record` its `positions.origin` in
        hexadecimal (`along`). `record`: the record of the game. `searches`: a list of objects with the number of the
        `turn` in the record, its `decisions`, as `Search.decisions` returns them, and `states`, see
        `searched.states_of`.
    """
    weights = searching_weights(game, weights)
    random_ = random.Random(f"{seed}/{index}")
    league = random.Random(f"{seed}/{index}/league")  # of its own, so that games without planners stay as they are
    has_planners = league.random() < planners
    seats = players[index % len(players)]
    position = _styled_start(game, seats, record, league, weights, has_planners=has_planners)
    if position is None:
        position = draw_start(game, seats, random_, iterations, weights)
    sparring = _sparring(position.players, league, weights) if has_planners else {}
    start = position.to_json()
    turns, searches = play_on(position, Searcher(weights, iterations, deep, searched), sparring, random_)
    made = _made(seed, iterations, deep, players, planners, searched)
    made |= {"game": index, "weights": weights.version}
    if record is not None:
        made["along"] = origin(record).hex()
    return {
        "game": game,
        "made": made,
        "record": finished_record(position, start, turns, sparring, small_search(iterations)),
        "searches": searches,
    }


def _made(
    seed: int, iterations: int, deep: int, players: Sequence[int], planners: float, searched: int
) -> dict[str, Any]:
    """Return how games are made, without their numbers and weights."""
    made = {"seed": seed, "iterations": iterations, "deep": deep, "players": list(players), "planners": planners}
    return made | ({"searched": searched} if searched else {})


def finished_record(
    end: Position, start: dict[str, Any], turns: list[list[str]], others: Mapping[int, Engine], learner: str
) -> dict[str, Any]:
    """Return the record of a game that is over; `learner` is the spec of the seats that are none of the others."""
    return {
        "game": end.game,
        "version": 1,
        "start": start,
        "turns": turns,
        "scores": end.scores,
        "winners": end.winners,
        "engines": [str(others[seat].spec) if seat in others else learner for seat in range(end.players)],
    }


def _styled_start(
    game: str,
    players: int,
    record: dict[str, Any] | None,
    random_: random.Random,
    weights: Weights,
    *,
    has_planners: bool,
) -> Position | None:
    """Return where a game begins that begins in the middle of one of another style; None for others."""
    if record is not None:
        return midgame(record, random_)
    if has_planners and random_.random() < PLANNED_SHARE:
        return planned_start(game, players, random_, weights)
    return None


def _sparring(players: int, random_: random.Random, weights: Weights) -> dict[int, Engine]:
    """Return the planners of a game by seat: of any number of its seats."""
    seats = random_.sample(range(players), random_.randint(1, players))
    return {seat: planner(random_, weights) for seat in sorted(seats)}


def _draw_record(records: Sequence[dict[str, Any]], seed: int, index: int) -> dict[str, Any] | None:
    """Return the record in whose middle a game begins; None for the other games."""
    random_ = random.Random(f"{seed}/{index}/record")
    return random_.choice(records) if records and random_.random() < RECORD_SHARE else None


def _shortened(decision: Decision) -> dict[str, Any]:
    edges = [[action, visits, round(utility, 4)] for action, visits, utility in decision["edges"]]
    return {**decision, "utility": round(decision["utility"], 4), "edges": edges}


def play(
    path: Path,
    executor: Executor,
    *,
    game: str,
    games: int,
    iterations: int,
    deep: int,
    seed: int,
    weights: Weights | None = None,
    players: Sequence[int] = PLAYERS,
    planners: float = 0.0,
    searched: int = 0,
    records: Sequence[dict[str, Any]] = (),
    concurrency: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Play games until a file holds the games 0 to `games` - 1 of this seed and size.

    Some of them begin in the middle of games of `records`. A file that a stopped run left is continued. Other
    parameters and errors: `play_game`, `job_file.complete`.
    """
    weights = searching_weights(game, weights)
    series = Series(
        game=game,
        weights=weights,
        noun="games",
        key="made",
        number="game",
        settings=_made(seed, iterations, deep, players, planners, searched),
        advice="another folder",
    )
    complete(
        path,
        series,
        games,
        lambda index: partial(
            play_game,
            game,
            seed,
            index,
            iterations,
            deep,
            weights,
            players=players,
            planners=planners,
            searched=searched,
            record=_draw_record(records, seed, index),
        ),
        executor,
        concurrency=concurrency,
        on_progress=on_progress,
    )


def reanalyse_game(record: dict[str, Any], seed: int, index: int, searcher: Searcher) -> dict[str, Any]:
    """Search turns of a finished game anew, drawn as the deep ones of `play_game`, and return what was found.

    Parameters
    ----------
    record : dict
    seed, index : int
        Everything random derives from these two.
    searcher : Searcher
        Only its deep searches take place.

    Returns
    -------
    dict
        As of `play_game`, with 0 as the iterations of the other searches.
    """
    random_ = random.Random(f"{seed}/{index}/again")
    position, searches = Position.from_json(record["start"]), []
    for number, turn in enumerate(record["turns"]):
        if not position.is_chance and random_.random() < DEEP_SHARE:
            _, found = searcher.search(position, random_.getrandbits(63), is_deep=True)
            if found is not None:
                searches.append({"turn": number, **found})
        position.push(turn)
    made = _made(seed, 0, searcher.deep, [position.players], 0.0, searcher.searched)
    made |= {"game": index, "weights": searcher.weights.version, "along": origin(record).hex()}
    return {"game": record["game"], "made": made, "record": plain(record), "searches": searches}


def reanalyse(
    path: Path,
    records: Sequence[dict[str, Any]],
    executor: Executor,
    *,
    games: int,
    seed: int,
    searcher: Searcher,
    concurrency: int = 1,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Search turns of old games, drawn from some finished ones, until a file holds so many of them.

    A file that a stopped run left is continued. Other parameters and errors: `reanalyse_game`, `job_file.complete`.
    """
    drawn = random.Random(f"{seed}/again").sample(sorted(records, key=fingerprint), min(games, len(records)))
    series = Series(
        game=searcher.weights.game,
        weights=searcher.weights,
        noun="games",
        key="made",
        number="game",
        settings={"seed": seed, "iterations": 0, "deep": searcher.deep}
        | ({"searched": searcher.searched} if searcher.searched else {}),
        advice="another folder",
    )
    complete(
        path,
        series,
        len(drawn),
        lambda index: partial(reanalyse_game, drawn[index], seed, index, searcher),
        executor,
        concurrency=concurrency,
        on_progress=on_progress,
    )

"""Journals of the arena that nobody played: for tests of what reads them."""

import json

from mexica_ai.arena.tournament import Tournament, reproducible_key

BUILD = "mexica-ai 0.1.0, code 0123456789ab"


def tournament(*engines, players=2, names=None, seed=1, game="nim", **settings):
    """Return a tournament; the names are the specs unless they are given."""
    names = tuple(names or engines)
    return Tournament(game, players, engines, names, seed, key=reproducible_key(seed), **settings)


def record(of, game, winners, *, build=BUILD, started_at="2026-11-26T12:00:00+00:00", forfeit=None, searches=None):
    """Return the record of a game of a tournament without turns; `winners` are seats."""
    seats = range(of.players)
    found = {
        "game": of.game,
        "version": 1,
        "arena": {
            "tournament": of.to_json(),
            "block": game.block,
            "number": game.number,
            "seating": list(game.seating),
            "isolated": False,
            "seats": [{"turns": 1, "iterations": 1, "seconds": 0.5, "late_s": 0.0, "late_max_s": 0.0} for _ in seats],
            "failures": [],
        },
        "start": {},
        "turns": [],
        "scores": None if forfeit is not None else [int(seat in winners) for seat in seats],
        "winners": list(winners),
        "engines": [of.engines[engine] for engine in game.seating],
        "build": build,
        "started_at": started_at,
        "termination": "finished" if forfeit is None else "forfeit",
    }
    if forfeit is not None:
        found["forfeit"] = {"seat": forfeit, "reason": "crash", "detail": "out of cheese"}
        found["winners"] = [seat for seat in seats if seat != forfeit]
    if searches is not None:
        found["arena"]["searches"] = searches
        found["turns"] = [["take 1 1"] for _ in searches["seat"]]
    return found


def records(of, num_blocks, winner, **details):
    """Return the records of whole blocks; `winner(game)` is the number of the engine that wins."""
    return [record(of, game, [game.seating.index(winner(game))], **details) for game in of.games(num_blocks)]


def write(path, found, torn=""):
    """Write a journal."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in found) + torn)
    return path

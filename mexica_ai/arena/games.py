"""The games of a journal one by one: what a list shows of each, and which of them a reader asks for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mexica_ai.arena.searches import Drop, searches_of, worst_drop
from mexica_ai.arena.tournament import Tournament
from mexica_ai.io.errors import NotationError
from mexica_ai.io.strict import quote

RESULTS = ("finished", "forfeit", "adjudicated", "shared")


@dataclass(frozen=True)
class ListedGame:
    """A game of a journal. Lists have one entry per seat.

    Parameters
    ----------
    line : int
        Of the journal, from 1; `mexica-ai annotate JOURNAL --game LINE` reads it.
    tournament : Tournament
    tournament_number : int
        From 1, in the order in which the tournaments of the journal occur.
    record : dict
    names : list of str
        The engines.
    drop : Drop or None
        The largest fall of a seat's own value; None if the record keeps no values, or none fell.
    """

    line: int
    tournament: Tournament
    tournament_number: int
    record: dict[str, Any]
    names: list[str]
    drop: Drop | None

    @property
    def block(self) -> int:
        """The block, from 0."""
        return int(self.record["arena"]["block"])

    @property
    def number(self) -> int:
        """The game's number in its block, from 0."""
        return int(self.record["arena"]["number"])

    @property
    def winners(self) -> list[int]:
        """The seats that have won; several if the win is shared."""
        return list(self.record["winners"] or [])

    @property
    def losers(self) -> list[int]:
        """The seats that have lost: after a forfeit the one that forfeited, else all that have not won."""
        if self.record["termination"] == "forfeit":
            return [self.record["forfeit"]["seat"]]
        return [seat for seat in range(len(self.names)) if seat not in self.winners]

    @property
    def seconds(self) -> float:
        """The time of all engines together."""
        return float(sum(used["seconds"] for used in self.record["arena"]["seats"]))

    @property
    def result(self) -> str:
        """How it ended: the scores, or the seat that forfeited and why, or by which rule it was given away."""
        if self.record["termination"] == "forfeit":
            return f"seat {self.record['forfeit']['seat']}: {self.record['forfeit']['reason']}"
        if self.record["termination"] == "adjudicated":
            return f"adjudicated ({self.record['adjudication']['rule']})"
        return " ".join(f"{score:g}" for score in self.record["scores"])

    def to_json(self) -> dict[str, Any]:
        """Return what a list shows, as a JSON object; docs/arena.md describes it."""
        return {
            "line": self.line,
            "tournament": self.tournament_number,
            "block": self.block,
            "number": self.number,
            "engines": self.names,
            "termination": self.record["termination"],
            "scores": self.record["scores"],
            "winners": self.winners,
            "forfeit": self.record.get("forfeit"),
            "turns": len(self.record["turns"]),
            "seconds": round(self.seconds, 3),
            "started_at": self.record.get("started_at"),
            "worst_drop": self.drop
            and {"drop": self.drop.size, "seat": self.drop.seat, "turn_index": self.drop.turn_index},
        }


def list_games(games: Iterable[tuple[Tournament, dict[str, Any]]]) -> list[ListedGame]:
    """Return the games of a journal, in its order."""
    numbers: dict[str, int] = {}
    known: dict[int, int] = {}  # by id: most games share the object of their tournament
    listed = []
    for line, (tournament, record) in enumerate(games, 1):
        if id(tournament) not in known:
            known[id(tournament)] = numbers.setdefault(json.dumps(tournament.to_json()), len(numbers) + 1)
        number = known[id(tournament)]
        names = [tournament.names[engine] for engine in record["arena"]["seating"]]
        listed.append(ListedGame(line, tournament, number, record, names, worst_drop(searches_of(record))))
    return listed


@dataclass(frozen=True)
class Wanted:
    """Which games a reader asks for; what is None does not matter.

    Parameters
    ----------
    engine, won_by, lost_by : str, optional
        The name of an engine that plays, that won (perhaps shared), that lost.
    result : str, optional
        One of `RESULTS`: how the game ended, or that the win was shared.
    block, number, line : int, optional
    """

    engine: str | None = None
    won_by: str | None = None
    lost_by: str | None = None
    result: str | None = None
    block: int | None = None
    number: int | None = None
    line: int | None = None

    def fits(self, game: ListedGame) -> bool:
        """Return whether a game is one of them."""
        places = ((self.block, game.block), (self.number, game.number), (self.line, game.line))
        names = (
            (self.engine, game.names),
            (self.won_by, [game.names[seat] for seat in game.winners]),
            (self.lost_by, [game.names[seat] for seat in game.losers]),
        )
        return (
            all(asked is None or asked in found for asked, found in names)
            and all(asked is None or asked == found for asked, found in places)
            and self._has_result(game)
        )

    def _has_result(self, game: ListedGame) -> bool:
        if self.result == "shared":
            return game.record["termination"] != "forfeit" and len(game.winners) > 1
        return self.result in (None, game.record["termination"])

    @property
    def is_one_game(self) -> bool:
        """Whether it names a single game of a tournament."""
        return self.line is not None or (self.block is not None and self.number is not None)


def choose(games: Sequence[ListedGame], wanted: Wanted) -> list[ListedGame]:
    """Return the games that fit.

    Raises
    ------
    NotationError
        An engine is none of the journal's; or a single game is asked for, and none or several fit.
    """
    known = list(dict.fromkeys(name for game in games for name in game.tournament.names))
    for option, name in (("engine", wanted.engine), ("won-by", wanted.won_by), ("lost-by", wanted.lost_by)):
        if name is not None and name not in known:
            raise NotationError(
                f"--{option}: given the engine {quote(name)}; expected one of {', '.join(map(quote, known))}",
                reason="BAD_USAGE",
            )
    found = [game for game in games if wanted.fits(game)]
    if wanted.is_one_game and len(found) != 1:
        if not found:
            raise NotationError("no game of the journal is the one that is asked for", reason="NO_RECORD")
        lines = ", ".join(str(game.line) for game in found[:10])
        raise NotationError(
            f"{len(found)} tournaments of the journal have this game, on the lines {lines}; expected --line",
            reason="BAD_USAGE",
        )
    return found


def by_worst_drop(games: Iterable[ListedGame]) -> list[ListedGame]:
    """Return the games in which some engine's value fell, the largest fall first."""
    fell = [game for game in games if game.drop is not None]
    return sorted(fell, key=lambda game: -game.drop.size if game.drop else 0.0)

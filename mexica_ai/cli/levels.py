"""`mexica-ai levels`: the levels of a game, own results against them, and the next level."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from mexica_ai.analysis import levels
from mexica_ai.analysis.own_results import MIXED, OwnResult, Row, next_level, result_of, statistics
from mexica_ai.analysis.ratings import describe_level, level_of, rank_of, ratings_of
from mexica_ai.analysis.words import say
from mexica_ai.cli import common
from mexica_ai.cli.records import read_records
from mexica_ai.engines.specs import parse_spec
from mexica_ai.game import registry
from mexica_ai.game.records import parse_record, replay
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import MexicaAIError, NotationError

DESCRIPTION = """\
List the levels of play of a game: their names, how they play, for whom they
are, and their ratings in Elo, where `greedy` has 1000; in brackets the 95 %
interval, where they were measured (docs/strength.md). --elo of other commands
chooses the level with the nearest rating.

With --records, read games that `mexica-ai play` or the page has kept, and print
the results of a person in them by game and level, and the level that comes
next: the one against which about 55 % of the games are won (docs/search.md).
Games with several persons count only if --player names one of them.

Examples:
  mexica-ai levels GAME
  mexica-ai levels GAME --records ~/.local/state/mexica-ai/*.json
"""
PERSON = "person"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("game", choices=registry.names(), metavar="GAME", help=", ".join(registry.names()))
    parser.add_argument("--records", nargs="+", default=[], metavar="FILE", help="files of own games, in their order")
    parser.add_argument(
        "--player",
        metavar="NAME",
        help=f"what the records' engines call the person (default: {PERSON}, as `play` does)",
    )
    common.add_json_option(
        parser,
        "print one JSON object: game, levels (level, name, rank, words, rating, elo or null), and with --records "
        "results and next",
    )


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    if args.player is not None and not args.records:
        raise NotationError("--player: needs --records, the games to count", reason="BAD_USAGE")
    results = list(_results(args.records, PERSON if args.player is None else args.player))
    found = next_level(results, args.game) if args.records else None
    rows = statistics(results)
    if args.json:
        data: dict[str, Any] = {"game": args.game, "levels": _levels_json(args.game)}
        if found is not None:
            data |= {"results": [_row_json(row) for row in rows]}
            data |= {"next": {"level": found.level, "rating": round(found.rating.elo), "games": found.games}}
        print(json.dumps(data))
        return 0
    for level in levels.LEVELS:
        one, rating = levels.character_of(level), ratings_of(args.game)[level]
        measured = describe_level(args.game, level)
        strength = f"{say(rank_of(level))}, rated {rating.elo:.0f}, not measured" if measured is None else say(measured)
        for line in (f"{level:>2}  {one.name}: {one.words}", f"    {strength}"):
            terminal.say(*terminal.wrap(line, rest="    "))
    if found is not None:
        terminal.say("", *(_describe(row) for row in rows), *terminal.wrap(say(found.phrase)))
    return 0


def _levels_json(game: str) -> list[dict[str, Any]]:
    found = []
    for level, rating in ratings_of(game).items():
        one = levels.character_of(level)
        elo = [rating.elo, rating.low, rating.high] if rating.is_measured else None
        words = {"name": one.name, "rank": say(rank_of(level)), "words": one.words}
        found.append({"level": level, **words, "rating": rating.elo, "elo": elo})
    return found


def _row_json(row: Row) -> dict[str, Any]:
    return {
        "game": row.game,
        "level": row.level or None,
        "games": row.games,
        "wins": row.wins,
        "shared": row.shared,
        "losses": row.losses,
        "share": row.share,
        "share_of_points": row.share_of_points,
        "trend": row.trend,
    }


def _describe(row: Row) -> str:
    against = "others" if row.level == MIXED else f"level {row.level}"
    shared = f", {row.shared} shared" if row.shared else ""
    text = f"{row.game} against {against}: {row.games} game{'s' * (row.games > 1)}, {row.wins} won{shared}"
    if row.share_of_points is not None:
        text += f", {100 * row.share_of_points:.0f} % of the points"
    return text + (f", {row.trend}" if row.trend else "")


def _results(paths: Sequence[str], name: str) -> Iterator[OwnResult]:
    """Yield the results of the person of a name in the records of files."""
    for path in paths:
        for number, text in read_records(path):
            with common.located(f"{files.name_of(path)}:{number}"):
                record = parse_record(text)
                replay(record)
            engines = record.get("engines", [])
            own = [seat for seat, engine in enumerate(engines) if engine == name]
            found_levels = [_level_of(engine, record["game"]) for engine in engines]
            if len(own) == 1 and (found := result_of(record, own[0], found_levels)) is not None:
                yield found


def _level_of(engine: str, game: str) -> int | None:
    """Return the level that an engine's name in a record says; a person and an engine without one have none."""
    if match := re.fullmatch(r"\s*level\s+([0-9]{1,9})\s*", engine, re.IGNORECASE):
        level = int(match[1])
        return level if level in levels.LEVELS else None
    try:
        options = parse_spec(engine).options
        found: int | None = level_of(game, options["elo"]) if "elo" in options else options.get("level")
        return found
    except MexicaAIError:
        return None

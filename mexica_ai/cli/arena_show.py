"""`mexica-ai arena show`: list the games of a journal, and open one."""

from __future__ import annotations

import argparse
import json
import string
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mexica_ai.cli import common
from mexica_ai.engines.specs import whole_number
from mexica_ai.io import terminal
from mexica_ai.io.errors import NotationError

if TYPE_CHECKING:
    from mexica_ai.arena.games import ListedGame

SUMMARY = "list the games of a journal, and open one"
DESCRIPTION = """\
List the games of a journal: engines by seat (* has won), scores or how it ended
otherwise, turns, and the time of all engines. The filters can be combined.
--block with --game, or --line, opens a game as text: in braces behind a turn,
the expected share of the win of its seat less that of equal seats, iterations
and seconds. With --record the games are printed as records, as `annotate`,
`show` and `replay` read them.

--worst-drop sorts by the largest fall of an engine's own expected share of the
win between two of its turns: where an engine was surprised, or went wrong (!).

Examples:
  mexica-ai arena show games.jsonl --lost-by mcts --worst-drop --limit 5
  mexica-ai arena show games.jsonl --block 3 --game 1
  mexica-ai arena show games.jsonl --line 7 --record | mexica-ai annotate -
"""
MAX_NUMBER = 10**9


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from mexica_ai.arena.games import RESULTS

    number = common.argument(whole_number(0, MAX_NUMBER))
    some = common.argument(whole_number(1, MAX_NUMBER))
    parser.add_argument("shown_journal", metavar="JOURNAL", help="a file written with --journal")
    which = parser.add_argument_group("which games")
    which.add_argument("--engine", dest="shown_engine", metavar="NAME", help="only those that this engine plays")
    which.add_argument("--won-by", metavar="NAME", help="only those that it won")
    which.add_argument("--lost-by", metavar="NAME", help="only those that it lost, or forfeited")
    which.add_argument("--result", choices=RESULTS, help="only those that ended so; shared: the win was (default: all)")
    which.add_argument("--forfeits", dest="shown_forfeits", action="store_true", help="as --result forfeit")
    which.add_argument("--block", type=number, metavar="N", help="only those of this block, from 0")
    which.add_argument("--game", dest="shown_game", type=number, metavar="N", help="only this game of blocks, from 0")
    which.add_argument("--line", type=some, metavar="N", help="only the one on this line of the file, from 1")
    which.add_argument("--worst-drop", action="store_true", help="those first in which a value fell most, see above")
    which.add_argument("--limit", type=some, metavar="N", help="at most N games (default: all)")
    what = parser.add_argument_group("output").add_mutually_exclusive_group()
    what.add_argument("--record", action="store_true", help="print the records, a line each")
    what.add_argument("--json", action="store_true", help="print one JSON object per game: what the list shows")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    with common.needing("arena"):
        from mexica_ai.arena import games as listing
    from mexica_ai.arena.journal import read_journal
    from mexica_ai.arena.text import format_game

    if args.shown_forfeits and args.result not in (None, "forfeit"):
        raise NotationError(f"--forfeits: given with --result {args.result}; expected one of both", reason="BAD_USAGE")
    journal = read_journal(args.shown_journal)
    if journal.is_torn:
        terminal.tell(f"{journal.path}: the last line is incomplete and not shown")
    wanted = listing.Wanted(
        engine=args.shown_engine,
        won_by=args.won_by,
        lost_by=args.lost_by,
        result="forfeit" if args.shown_forfeits else args.result,
        block=args.block,
        number=args.shown_game,
        line=args.line,
    )
    games = listing.list_games(journal.games)
    found = listing.choose(games, wanted)
    if args.worst_drop:
        if games and not any("searches" in game.record["arena"] for game in games):
            terminal.tell(f"{journal.path}: its games keep no values of their turns")
        found = listing.by_worst_drop(found)
    num_found = len(found)
    found = found[: args.limit]
    if args.record:
        for game in found:
            print(json.dumps(game.record, separators=(",", ":")))
    elif args.json:
        for game in found:
            print(json.dumps(game.to_json()))
    elif wanted.is_one_game and found:
        terminal.say(*format_game(found[0].tournament, found[0].record).splitlines())
    else:
        more = f"; {num_found:,} fit" if len(found) < num_found else ""
        shown = f"{len(found):,} of {len(games):,} game{'s' * (len(games) != 1)}{more}"
        terminal.say(*format_list(found, terminal.width(), has_drops=args.worst_drop), *[""] * bool(found), shown)
    return 0


def format_list(games: Sequence[ListedGame], width: int, *, has_drops: bool = False) -> list[str]:
    """Return a line for each game below a head, at most `width` columns each.

    Where the names of the engines do not fit, letters stand for them, which the first lines explain.
    """
    if not games:
        return []
    rows = [["line", "block", "game", "turns", "time", *["drop", "turn"] * has_drops, "result"]]
    for game in games:
        row = [game.line, game.block, game.number, len(game.record["turns"]), terminal.format_duration(game.seconds)]
        if has_drops and game.drop:
            row += [f"{game.drop.size:.3f}", game.drop.turn_index + 1]
        rows.append([*map(str, row), terminal.shorten(game.result, max(8, width // 3))])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    heads = [
        "  ".join([*map(str.rjust, row[:-1], widths[:-1]), row[-1].ljust(widths[-1]), ""])
        for row in rows  # the last column is a text
    ]
    names = {name: terminal.shorten(name) for game in games for name in game.names}
    seats = [_seats(game, names, has_drops) for game in games]
    legend: list[str] = []
    if len(heads[0]) + max(map(len, seats)) > width:
        letters = {name: _letter(number) for number, name in enumerate(names)}
        seats = [_seats(game, letters, has_drops) for game in games]
        legend = [f"{letters[name]}  {terminal.shorten(name, width - 4)}" for name in names] + [""]
    ends = ["engines by seat", *seats]
    return [*legend, *((head + end)[:width].rstrip() for head, end in zip(heads, ends, strict=True))]


def _letter(number: int) -> str:
    letter = string.ascii_uppercase[number % 26]
    return letter + str(number // 26) * (number >= 26)


def _seats(game: ListedGame, names: Mapping[str, str], has_drops: bool) -> str:
    """Return the engines of a game by seat: * has won; with `has_drops`, ! is the one whose value fell."""
    marks = [
        "*" * (seat in game.winners) + "!" * (has_drops and game.drop is not None and game.drop.seat == seat)
        for seat in range(len(game.names))
    ]
    return "  ".join(f"{mark}{names[name]}" for mark, name in zip(marks, game.names, strict=True))

"""The report of a tournament as a page, with a page for each game in a folder beside it; live while it runs.

Main class: `HtmlReport`. The pages need no other files, no scripts and no network.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mexica_ai.arena import game_page, pages
from mexica_ai.arena.adjust import format_adjusted
from mexica_ai.arena.forfeits import MARK, busy_warning, forfeit_notes
from mexica_ai.arena.games import ListedGame, list_games
from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.report import describe_failure, format_sprt, outcome_of
from mexica_ai.arena.runner import Progress
from mexica_ai.arena.standings import TIE_BREAKS, crosstable, standings
from mexica_ai.arena.tables import chance, count, interval, percent, strength
from mexica_ai.arena.tournament import Tournament
from mexica_ai.draw import courses, intervals
from mexica_ai.io import files
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.io.terminal import escape, format_duration

REFRESH_S = 5  # between two versions of the page while a tournament runs, at least
MAX_COST = 0.02  # of the time goes into them, at most
PAGES_S = 1.0  # of a version goes into pages of games, at most; the others follow
MAX_GAMES = 1000  # that the page lists, the newest first
MAX_CROSSTABLE = 26  # engines
BREAKS = {
    "buchholz": "Buchholz",
    "buchholz_cut1": "Buchholz Cut 1",
    "sonneborn_berger": "Sonneborn-Berger",
    "rounds_won": "rounds won",
}

Games = Sequence[tuple[Tournament, dict[str, Any]]]


class HtmlReport:
    """A page in a file, and a folder beside it with the games: ``report.html`` and ``report-games``.

    Parameters
    ----------
    path : str

    Raises
    ------
    NotationError
        The file cannot be written; reason BAD_USAGE.
    OSError
        The folder cannot be made.
    """

    def __init__(self, path: str) -> None:
        if problem := files.problem_of(path):
            raise NotationError(f"--html: cannot write {path!r}: {problem}", reason="BAD_USAGE")
        self._path = path
        self._folder = Path(path).with_suffix("").with_name(f"{Path(path).stem}-games")
        with files.writing(self._folder, "--html"):
            self._folder.mkdir(exist_ok=True)
        self._written: set[str] = set()  # games, by the names of their files
        self._next_s = 0.0

    def show(self, progress: Progress, figures: Callable[[], dict[str, Any]]) -> None:
        """Write the pages while a tournament runs, if the last time is long enough ago.

        Raises
        ------
        SearchError
            They cannot be written; reason HTML_NOT_WRITTEN.
        """
        began_s = time.monotonic()
        if began_s < self._next_s:
            return
        games = [(progress.tournament, record) for record in progress.records]
        try:
            self.write(games, figures(), _line(progress), until_s=began_s + PAGES_S)
        except OSError as error:
            raise SearchError(str(error), reason="HTML_NOT_WRITTEN") from None
        cost_s = time.monotonic() - began_s
        self._next_s = began_s + max(REFRESH_S, cost_s / MAX_COST)

    def write(self, games: Games, found: dict[str, Any], running: str = "", *, until_s: float = math.inf) -> None:
        """Write the page, and those of the games that it lists and that are not there yet.

        Parameters
        ----------
        games : sequence of (Tournament, dict)
            The records with their tournaments.
        found : dict
            The figures of `report.evaluate`.
        running : str
            How far the tournament is; empty if it has ended.
        until_s : float
            No page of a game is begun after this time, on the monotonic clock.

        Raises
        ------
        OSError
            A file cannot be written; each is whole or as it was.
        """
        listed = list_games(games)
        shown = listed[-MAX_GAMES:][::-1]
        are_several = any(game.tournament_number > 1 for game in listed)
        names = {game.line: _file_name(game, are_several) for game in shown}
        for game in shown:
            if names[game.line] not in self._written and time.monotonic() < until_s:
                self._write_game(game, names[game.line])
        links = {
            line: f"{quote(self._folder.name)}/{name}.html" for line, name in names.items() if name in self._written
        }
        text = page(games, found, shown, links, num_games=len(listed), running=running)
        files.replace(self._path, text, "--html")

    def _write_game(self, game: ListedGame, name: str) -> None:
        base = str(self._folder / name)
        files.replace(f"{base}.json", json.dumps(game.record) + "\n", "--html")
        found = game_page.review_of(game.record)
        if found is not None:
            files.replace(f"{base}-review.html", found, "--html")
        back = f"../{quote(os.path.basename(self._path))}"
        review_file = f"{name}-review.html" if found is not None else None
        text = game_page.page(game, f"{name}.json", back=back, review_file=review_file)
        files.replace(f"{base}.html", text, "--html")
        self._written.add(name)


def _file_name(game: ListedGame, has_others: bool) -> str:
    prefix = f"tournament-{game.tournament_number}-" if has_others else ""
    return f"{prefix}block-{game.block:05}-game-{game.number:02}"


def _line(progress: Progress) -> str:
    done, total, speed = len(progress.records), progress.num_games, progress.games_per_hour
    line = f"Running: {done:,} of {total:,} games ({done / max(1, total):.0%})"
    if progress.session_games:
        line += f", about {format_duration(3600 * (total - done) / speed)} left"
    return line


def page(
    games: Games,
    found: dict[str, Any],
    shown: Sequence[ListedGame],
    links: dict[int, str],
    *,
    num_games: int,
    running: str = "",
) -> str:
    """Return the page of a tournament.

    Parameters
    ----------
    games : sequence of (Tournament, dict)
        All games.
    found : dict
        The figures of `report.evaluate`.
    shown : sequence of ListedGame
        The games to list.
    links : dict of int to str
        Their pages, by line; some may have none yet.
    num_games : int
        Of the journal.
    running : str
        How far it is; empty if it has ended.
    """
    title = f"{found['game'].capitalize()}, {found['players']} seats" if found["games"] else "Tournament"
    parts: list[str] = [pages.paragraph(running, "soft")] if running else []
    parts += [pages.paragraph(text) for text in _counts(found)]
    parts += [pages.paragraph(text, "warn") for text in _warnings(found)]
    if found["games"]:
        parts += _strengths(found)
        parts += _standings(games, found)
        parts += _engines(found)
        parts += [pages.heading("Games"), pages.paragraph(_games_note(len(shown), num_games), "soft")]
        parts.append(_game_table(shown, links))
    return pages.page(title, parts, refresh_s=REFRESH_S if running else None)


def _counts(found: dict[str, Any]) -> list[str]:
    if not found["games"]:
        return ["No game has ended yet."]
    incomplete = found["games"] - found["games_counted"] - found["games_dropped"]
    line = f"{count(found['games_counted'], 'game')} in {count(found['blocks'], 'block')}"
    line += f"; {count(incomplete, 'game')} of incomplete blocks not counted" * bool(incomplete)
    line += f"; {count(found['games_dropped'], 'game')} of blocks with a forfeit left out" * bool(
        found["games_dropped"]
    )
    line += f"; {count(found['adjudicated'], 'game')} adjudicated" * bool(found["adjudicated"])
    tests = [format_sprt(found["sprt"])] if "sprt" in found else []
    if "adjusted" in found:
        if "sprt" in found["adjusted"]:  # it is the one that ends the tournament
            tests.insert(0, format_sprt(found["adjusted"]["sprt"], "SPRT, adjusted"))
        tests += format_adjusted(found["adjusted"])
    return [line + ".", *tests]


def _warnings(found: dict[str, Any]) -> list[str]:
    warnings = []
    if found["forfeits"]:
        late = f", {count(found['lost_on_time'], 'game')} of them on time" if found["lost_on_time"] else ""
        warnings.append(f"{count(found['forfeits'], 'game')} of {found['games']:,} ended by a forfeit{late}.")
        warnings += [
            describe_failure(engine["name"], engine["first_failure"])
            for engine in found["engines"]
            if engine["first_failure"]
        ]
    busy = busy_warning(found)
    return [*warnings, *forfeit_notes(found, None), *([f"Warning: {busy}"] if busy else [])]


def _strengths(found: dict[str, Any]) -> list[str]:
    """Return the table of strengths with their picture."""
    engines = found["engines"]
    has_ratings = any("rating" in engine for engine in engines)
    key = "rating" if has_ratings else "share"
    engines = sorted(engines, key=lambda engine: -(engine[key][0] or 0.0))
    if not found["blocks"]:
        without = "is without a forfeit" if found["blocks_dropped"] else "is complete"
        return [pages.paragraph(f"No block {without}, so there are no figures yet.", "soft")]
    if has_ratings:
        anchor = found.get("anchor")
        unit, line = "rating (400 points: ten times the strength), 95 % interval", anchor["rating"] if anchor else 0.0
        rows = [intervals.Row(escape(engine["name"]), *engine["rating"]) for engine in engines]
    else:
        unit, line = "share of the win per seat in %, 95 % interval", 100 * found["expected_share"]
        scaled = [[None if number is None else 100 * number for number in engine["share"]] for engine in engines]
        rows = [intervals.Row(escape(each["name"]), *share) for each, share in zip(engines, scaled, strict=True)]
    picture = intervals.draw_intervals(
        rows, title="Ratings" if has_ratings else "Shares", unit=unit, line=line, theme="page"
    )
    head = ["engine", "games", "share of the win", "mean rank", "margin"]
    keys = [key for key in ("elo", "rating", "superiority") if any(key in engine for engine in engines)]
    head += [{"elo": "Elo", "rating": "rating", "superiority": "P(better)"}[key] for key in keys]
    forms = {"elo": "+.0f", "rating": ".0f" if "anchor" in found else "+.0f"}
    table = []
    for engine in engines:
        mark = MARK * bool(engine["caution"])
        row = [engine["name"], engine["games"], percent(engine["share"]) + mark, interval(engine["rank"], ".2f")]
        row.append(interval(engine["margin"], "+.1f"))
        texts = [chance(engine[key]) if key == "superiority" else strength(engine[key], forms[key]) for key in keys]
        row += [text + mark for text in texts]
        table.append([*row, engine["forfeits"]])
    numbers = tuple(range(1, len(head) + 1))
    return [pages.heading("Strength"), pages.chart(picture), pages.table([*head, "forfeits"], table, numbers=numbers)]


def _outcomes(games: Games) -> tuple[Tournament | None, list[Outcome]]:
    """Return the tournament if it is a single one, and the outcomes of its games, each once."""
    identities = {json.dumps(each.to_json(), sort_keys=True) for each in {id(one): one for one, _ in games}.values()}
    if len(identities) != 1:
        return None, []
    seen: dict[tuple[int, int], Outcome] = {}
    for _, record in games:
        arena = record["arena"]
        key = arena["block"], arena["number"]
        seen.setdefault(key, outcome_of(record, arena["block"], tuple(arena["seating"])))
    return games[0][0], list(seen.values())


def _standings(games: Games, found: dict[str, Any]) -> list[str]:
    """Return standings, rounds and the crosstable of a single tournament; nothing of several together."""
    tournament, outcomes = _outcomes(games)
    if tournament is None:
        return [pages.paragraph("Games of several tournaments: each has standings of its own.", "soft")]
    names = list(tournament.names)
    table = standings(tournament, outcomes)
    breaks = [key for key in (*TIE_BREAKS, "rounds_won") if key in table["engines"][0]]
    head = ["engine", "place", "points", "games", "won", "shared", "lost", *(BREAKS[key] for key in breaks)]
    rows = [
        [each["name"], *(f"{each[key]:g}" for key in ("place", "points", "games", "won", "shared", "lost", *breaks))]
        for each in table["engines"]
    ]
    parts: list[str] = [pages.heading("Standings"), pages.table(head, rows, numbers=tuple(range(1, len(head))))]
    for each in table["rounds"]:
        tables = "; ".join(
            ", ".join(
                f"{names[engine]} {points:g}" for engine, points in zip(one["engines"], one["points"], strict=True)
            )
            for one in each["tables"]
        )
        byes = f". Bye: {', '.join(names[engine] for engine in each['byes'])}" if each["byes"] else ""
        parts.append(pages.paragraph(f"Round {each['round']}: {tables}{byes}"))
    if len(names) <= MAX_CROSSTABLE:
        parts += [pages.heading("Crosstable"), _crosstable(names, table, crosstable(outcomes, len(names)))]
    return parts


def _crosstable(names: list[str], table: dict[str, Any], scores: dict[str, list[list[float]]]) -> pages.Html:
    order = [each["engine"] for each in table["engines"]]
    rows = []
    for place, one in enumerate(order, 1):
        cells = [
            ""
            if not scores["games"][one][other]
            else f"{scores['points'][one][other]:g}/{scores['games'][one][other]:g}"
            for other in order
        ]
        rows.append([f"{place}. {names[one]}", *cells])
    head = ["points of the row against the column", *map(str, range(1, len(order) + 1))]
    return pages.table(head, rows, numbers=tuple(range(1, len(order) + 1)))


def _engines(found: dict[str, Any]) -> list[str]:
    head = ["engine", "spec", "weights", "forfeits", "s/turn", "iterations/turn", "late, mean and max"]
    rows = [
        [
            engine["name"],
            engine["spec"],
            engine["weights"] or "",
            engine["forfeits"],
            f"{engine['seconds_per_turn']:.3f}",
            f"{engine['iterations_per_turn']:,.0f}",
            f"{1000 * engine['late_mean_s']:.1f} {1000 * engine['late_max_s']:.1f} ms",
        ]
        for engine in found["engines"]
    ]
    builds = "; ".join(f"{build or 'unknown'} ({count(number, 'game')})" for build, number in found["builds"].items())
    return [
        pages.heading("Engines"),
        pages.table(head, rows, numbers=(3, 4, 5, 6)),
        pages.paragraph(f"Played by {builds}.", "soft"),
    ]


def _games_note(num_shown: int, num_games: int) -> str:
    more = f" The newest {num_shown:,} of {num_games:,}; `mexica-ai arena show` lists all." * (num_shown < num_games)
    return (
        "The newest first. Lines: what the engine of each seat expected for itself, from 0 to 100 %. Drop: the largest "
        f"fall of such a line between two turns.{more}"
    )


def _game_table(shown: Sequence[ListedGame], links: dict[int, str]) -> pages.Html:
    rows = []
    for game in shown:
        seats = pages.Html(
            "<br>".join(
                pages.seat(seat, name) + " <b>won</b>" * (seat in game.winners) for seat, name in enumerate(game.names)
            )
        )
        lines = courses.draw_small(
            game_page.courses_of(game), last=len(game.record["turns"]), title="expected shares", theme="page"
        )
        drop = f"{game.drop.size:.2f}, turn {game.drop.turn_index + 1}" if game.drop else ""
        name = f"block {game.block}, game {game.number}"
        rows.append(
            [
                pages.link(links[game.line], name) if game.line in links else name,
                seats,
                game.result,
                len(game.record["turns"]),
                format_duration(game.seconds),
                pages.Html(lines) if "searches" in game.record["arena"] else "",
                drop,
            ]
        )
    head = ["game", "engines by seat", "result", "turns", "time", "expected", "drop"]
    return pages.table(head, rows, numbers=(3, 4), wide=(0, 1))

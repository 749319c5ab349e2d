"""The page of a game of a tournament: who played, the board at its end, what each engine expected, all turns."""

from __future__ import annotations

from html import escape
from typing import Any

from mexica_ai.analysis import report as review
from mexica_ai.analysis.annotate import recorded_evaluations
from mexica_ai.arena import pages
from mexica_ai.arena.games import ListedGame
from mexica_ai.arena.searches import Search, searches_of, short_count
from mexica_ai.draw import courses
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.io.errors import NotationError

EXPECTED = "What the engine of each seat expected for itself"


def page(game: ListedGame, record_file: str, *, back: str, review_file: str | None = None) -> str:
    """Return the page of a game.

    Parameters
    ----------
    game : ListedGame
    record_file : str
        The name of the file with its record, beside the page.
    back : str
        Where the page of the tournament is, from here.
    review_file : str, optional
        The name of the file with its review.
    """
    record = game.record
    position = Position.from_json(record["start"])
    movers: list[int | None] = []
    for turn in record["turns"]:
        movers.append(None if position.is_chance else position.to_move)
        position.push(turn)
    searches = {search.turn_index: search for search in searches_of(record)}
    more = f"mexica-ai annotate {record_file} --html review.html"
    parts = [
        pages.Html(f"<p>{pages.link(back, 'All games')} · {pages.link(record_file, 'record')}"),
        pages.paragraph(_how(game)),
        _seats(game),
    ]
    if review_file:
        parts.append(pages.Html(f"<p>{pages.link(review_file, 'Review of the turns')}</p>"))
    else:
        parts.append(pages.Html(f"<p class=soft>A review of its turns: <code>{pages.text(more)}</code></p>"))
    if searches:
        picture = courses.draw_large(
            courses_of(game, list(searches.values())), last=len(record["turns"]), title=EXPECTED, theme="page"
        )
        parts += [pages.heading("Values"), pages.chart(picture)]
        if game.drop:
            parts.append(
                pages.paragraph(
                    f"The largest drop: {100 * game.drop.size:.0f} points of 100 at turn {game.drop.turn_index + 1}, "
                    f"seat {game.drop.seat}.",
                    "soft",
                )
            )
    parts += [pages.heading("The end"), _board(position), pages.heading("Turns"), _turns(record, movers, searches)]
    return pages.page(f"{record['game'].capitalize()}, block {game.block}, game {game.number}", parts)


def review_of(record: dict[str, Any]) -> str | None:
    """Return the review of a game as a page, if its record has evaluations."""
    return review.report(record, recorded_evaluations(record)) if "evaluations" in record else None


def courses_of(game: ListedGame, searches: list[Search] | None = None) -> list[list[tuple[int, float]]]:
    """Return what the engine of each seat expected for itself: numbers of turns, from 1, and shares of the win."""
    found: list[list[tuple[int, float]]] = [[] for _ in game.names]
    for search in searches_of(game.record) if searches is None else searches:
        if search.value is not None:
            found[search.seat].append((search.turn_index + 1, search.value[search.seat]))
    return found


def _how(game: ListedGame) -> str:
    """Return how the game ended."""
    record = game.record
    won = f"won by seat {' and '.join(map(str, game.winners))}"
    if record["termination"] == "forfeit":
        forfeit = record["forfeit"]
        return f"Seat {forfeit['seat']} forfeits: {forfeit['reason']}: {forfeit['detail']}"
    if record["termination"] == "adjudicated":
        found = record["adjudication"]
        return f"Adjudicated ({found['rule']}) by the {found['by']}: {won}"
    return f"{won.capitalize()}."


def _seats(game: ListedGame) -> pages.Html:
    rows = []
    for seat, name in enumerate(game.names):
        used = game.record["arena"]["seats"][seat]
        turns = max(1, used["turns"])
        scores = game.record["scores"]
        points = f"{scores[seat]:g}" if scores else "-"
        rows.append(
            [
                pages.seat(seat),
                name,
                game.record["engines"][seat] if "engines" in game.record else "",
                points + " (won)" * (seat in game.winners),
                used["turns"],
                f"{used['seconds'] / turns:.3f}",
                f"{used['iterations'] / turns:,.0f}",
            ]
        )
    head = ["seat", "engine", "spec", "points", "turns", "s/turn", "iterations/turn"]
    return pages.table(head, rows, numbers=(3, 4, 5, 6), wide=(1,))


def _board(position: Position) -> pages.Html:
    """Return the picture of a position, or its text where the game has no picture."""
    try:
        return pages.Html(f"<figure>{position.svg(theme='page')}</figure>")
    except NotationError:
        return pages.Html(f"<pre class=board>{escape(str(position).rstrip())}</pre>")


def _turns(record: dict[str, Any], movers: list[int | None], searches: dict[int, Search]) -> pages.Html:
    rows = []
    for index, (turn, mover) in enumerate(zip(record["turns"], movers, strict=True)):
        search = searches.get(index)
        value = "" if search is None or search.value is None else f"{100 * search.value[search.seat]:.1f} %"
        rows.append(
            [
                index + 1,
                "event" if mover is None else pages.seat(mover),
                value,
                short_count(search.iterations) if search and search.iterations else "",
                f"{search.seconds:.2f}" if search else "",
                TURN_SEPARATOR.join(turn),
            ]
        )
    head = ["turn", "seat", "expects", "iterations", "s", "actions"]
    return pages.table(head, rows, numbers=(0, 2, 3, 4), wide=(5,))

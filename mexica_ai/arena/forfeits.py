"""Games that ended by a forfeit: set apart, so that no share or rating can mislead; and lateness of the machine.

After a forfeit the others share the win. If many games end so, the shares of all engines say who failed, not who is
strong. So each engine's games are also counted without them, and what rests on more than `LIMIT` of them is marked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mexica_ai.arena.outcomes import Outcome
from mexica_ai.arena.tables import count, folded, percent
from mexica_ai.arena.tournament import Tournament
from mexica_ai.engines.specs import parse_spec
from mexica_ai.io.errors import NotationError
from mexica_ai.io.terminal import wrap

LIMIT = 0.05  # of an engine's games; if more are forfeited, its figures rest on them
LATE_REASONS = ("out of time", "no answer in time")  # of forfeits
LATE_S = 0.05  # lateness that says that the machine is too busy
CAUTION = "forfeits"  # the word of a figure that rests on forfeits
MARK = " *"
EXPLANATION = f"* rests on forfeits: they ended more than {LIMIT:.0%} of the games of this engine".replace("%", " %")


def engine_forfeits(engine: int, every: Sequence[Outcome], counted: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures of one engine that set forfeited games apart.

    Parameters
    ----------
    engine : int
    every : sequence of Outcome
        All games.
    counted : sequence of Outcome
        Those that count in statistics.

    Returns
    -------
    dict
        `forfeits_of_others`, `played_out` (games), `points_played_out` and `seats_played_out` (of them; points: shares
        of the win added up), `caution` ("forfeits" or None).
    """
    games = [outcome for outcome in every if engine in outcome.engines]
    ended = [outcome for outcome in games if outcome.forfeit is None]
    by_others = [one for one in games if one.forfeit is not None and one.engines[one.forfeit] != engine]
    seats = [
        share
        for outcome in ended
        for other, share in zip(outcome.engines, outcome.shares, strict=True)
        if other == engine
    ]
    rests_on = [outcome for outcome in counted if engine in outcome.engines] or games
    forfeited = sum(outcome.forfeit is not None for outcome in rests_on)
    return {
        "forfeits_of_others": len(by_others),
        "played_out": len(ended),
        "points_played_out": round(sum(seats), 6),
        "seats_played_out": len(seats),
        "caution": CAUTION if forfeited > LIMIT * len(rests_on) else None,
    }


def forfeit_notes(found: dict[str, Any], width: int | None) -> list[str]:
    """Return the lines below the table of engines that say which of its figures rest on forfeits."""
    texts = [EXPLANATION] * any(engine["caution"] for engine in found["engines"])
    if found["blocks_dropped"]:
        texts.append(
            f"left out: {count(found['blocks_dropped'], 'block')} with a forfeit (--forfeits drop), so the figures are "
            "for deals in which nobody forfeits"
        )
    return [line for text in texts for line in (wrap(text, width) if width else [text])]


def forfeit_table(found: dict[str, Any], width: int | None) -> list[str]:
    """Return the lines of a table that sets forfeited games apart."""
    rows = [["forfeits apart", "played out", "won", "share in blocks without a forfeit", "own forfeits", "of others"]]
    for engine in found["engines"]:
        won = f"{engine['points_played_out']:.3g} of {count(engine['seats_played_out'], 'seat')}"
        row = [engine["name"], count(engine["played_out"], "game"), won, percent(engine["share_played_out"])]
        rows.append([*row, str(engine["forfeits"]), str(engine["forfeits_of_others"])])
    return folded(rows, 1, width)


# Lateness


def others_late_s(tournament: Tournament, record: dict[str, Any], seat: int) -> float:
    """Return how late all other engines of a game with a limit of time were at least, in seconds; 0 without such."""
    arena = record["arena"]
    late = [
        used["late_max_s"]
        for other, used in enumerate(arena["seats"])
        if other != seat and _has_time(tournament, arena["seating"][other])
    ]
    return min(late, default=0.0)


def _has_time(tournament: Tournament, engine: int) -> bool:
    try:
        return tournament.clock is not None or "time" in parse_spec(tournament.engines[engine]).options
    except NotationError:  # perhaps written by a newer version
        return False


def busy_note(failure: dict[str, Any]) -> str:
    """Return what follows the text of a failure if all engines of the game were late, else ""."""
    late_s = failure.get("others_late_s", 0.0)
    if failure["reason"] not in LATE_REASONS or late_s < LATE_S:
        return ""
    return f"; the other engines of this game were late by {late_s:.2f} s or more, too: the machine is busy"


def busy_warning(found: dict[str, Any]) -> str:
    """Return a warning if games were lost on time while the machine was late itself, else ""."""
    if not found["lost_on_time"] or found["machine_late_s"] < LATE_S:
        return ""
    games = found["lost_on_time"]
    were = "was" if games == 1 else "were"
    return (
        f"busy machine: {count(games, 'game')} {were} lost on time, but the machine delayed answers by up to "
        f"{found['machine_late_s']:.2f} s, which may have decided: play fewer games at a time or with more --margin"
    )

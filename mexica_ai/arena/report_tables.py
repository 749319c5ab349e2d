"""Tables of a report below that of the engines: results, shares by seat, line-ups.

They take the figures of `report.evaluate`, with names that are short and of visible characters.
"""

from __future__ import annotations

from typing import Any

from mexica_ai.arena.forfeits import MARK
from mexica_ai.arena.tables import chance, folded, interval, percent, strength

MAX_PATTERNS = 12  # line-ups; with more, the table does not list them; JSON has all


def result_table(found: dict[str, Any], width: int | None) -> list[str]:
    """Return the lines of games won, shared and lost; with two seats also of pairs of games."""
    rows = [["results", "won", "shared", "lost"]]
    are_pairs = found["players"] == 2
    rows[0] += ["pairs at 0, 1/2, 1, 1 1/2, 2 points"] * are_pairs
    has_nelo = any("nelo" in engine for engine in found["engines"])
    rows[0] += ["nElo"] * has_nelo
    for engine in found["engines"]:
        row = [engine["name"], *(str(engine[key]) for key in ("won", "shared", "lost"))]
        if are_pairs:
            row.append(", ".join(str(times) for _, times in engine["block_scores"]))
        if has_nelo:
            row.append(strength(engine["nelo"], "+.0f") + MARK * bool(engine["caution"]))
        rows.append(row)
    drawn = f"draw ratio {found['draw_ratio']:.1%}".replace("%", " %")
    return [*folded(rows, 1, width), drawn]


def seat_table(found: dict[str, Any], width: int | None) -> list[str]:
    """Return the lines of the shares of the win by seat."""
    seats = range(found["players"])
    rows = [["share of the win by seat", *(f"seat {seat}" for seat in seats)]]
    rows.append(["everybody", *(percent(share) for share in found["seats"])])
    for engine in found["engines"]:
        rows.append([engine["name"], *(percent(share) for share in engine["seat_shares"])])
    return folded(rows, 1, width)


def pattern_table(patterns: dict[str, list[dict[str, Any]]], width: int | None) -> list[str]:
    """Return the lines of the figures by line-up."""
    if len(patterns) > MAX_PATTERNS:
        return [f"{len(patterns)} line-ups: --format json has each by itself"]
    rows = [["line-up", "engine", "blocks", "share of the win", "mean rank", "margin"]]
    are_pairs = any("elo" in engine for engines in patterns.values() for engine in engines)
    rows[0] += ["Elo", "P(better)"] * are_pairs
    for which, engines in patterns.items():
        for index, engine in enumerate(engines):
            row = [which if index == 0 else "", engine["name"], str(engine["blocks"])]
            row += [percent(engine["share"]), interval(engine["rank"], ".2f")]
            row.append(interval(engine["margin"], "+.1f"))
            if are_pairs:
                row += [strength(engine["elo"], "+.0f"), chance(engine["superiority"])]
            rows.append(row)
    return folded(rows, 2, width)

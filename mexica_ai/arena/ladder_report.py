"""A rating list as text, CSV, a page, a picture, and as results of a release."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mexica_ai.arena import pages
from mexica_ai.arena.tables import chance, count, interval
from mexica_ai.draw import intervals
from mexica_ai.io import files
from mexica_ai.io.terminal import escape, shorten, wrap

UNIT = "rating (400 points: ten times the strength), 95 % interval"
COLUMNS = ("rating", "low", "high", "superiority", "games", "games_counted", "blocks", "share", "forfeits")


def title_of(found: dict[str, Any]) -> str:
    """Return the title of a list."""
    return f"{found['game'].capitalize()}, {found['players']} seats"


def format_list(ladder: dict[str, Any], form: str, width: int | None = None) -> str:
    """Return a list of `ladder.rate` as text; `form` is "table", "json" or "csv", `width` that of tables."""
    if form == "json":
        return json.dumps(ladder) + "\n"
    if form == "csv":
        return format_csv(ladder)
    parts = ["\n".join(_table(found, width)) for found in ladder["lists"]]
    return "\n\n".join([*parts, "\n".join(_folded(_sources(ladder), width))]) + "\n"


def format_csv(ladder: dict[str, Any]) -> str:
    """Return a CSV line per engine: its list, its group in it from 1, its place in the group from 1."""
    text = io.StringIO()
    head = ["game", "players", "group", "place", "engine", "spec", "weights", "release", "builds", *COLUMNS]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    for found in ladder["lists"]:
        for number, place, engine in _ranked(found):
            rating = engine.get("rating") or [None] * 3
            values = engine | {"rating": rating[0], "low": rating[1], "high": rating[2]}
            row = [found["game"], found["players"], number, place, engine["engine"], engine["spec"]]
            row += [engine["weights"], engine["release"], "; ".join(engine["builds"])]
            row += [values.get(column) for column in COLUMNS]
            writer.writerow([escape(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def _ranked(found: dict[str, Any]) -> Iterator[tuple[int | None, int | None, dict[str, Any]]]:
    """Yield the engines of a list with their group and place; None for those without a rating."""
    for number, group in enumerate(found["groups"], 1):
        for place, engine in enumerate(group["engines"], 1):
            yield number, place, engine
    for engine in found["unrated"]:
        yield None, None, engine


def _counts(found: dict[str, Any]) -> str:
    text = f"{title_of(found)}: {count(found['games_counted'], 'game')} in {count(found['blocks'], 'block')}"
    for key, words in (
        ("incomplete", "of incomplete blocks not counted"),
        ("dropped", "of blocks with a forfeit left out"),
        ("repeated", "that occur again"),
    ):
        if found[key]:
            text += f"; {count(found[key], 'game')} {words}"
    return text


def _notes(found: dict[str, Any]) -> list[str]:
    """Return what a reader of a list must know of it."""
    notes = []
    if len(found["groups"]) > 1:
        notes.append(
            f"{len(found['groups'])} groups of engines that never met, directly or by others: ratings of different "
            "groups cannot be compared"
        )
    for number, group in enumerate(found["groups"], 1):
        where = f" of group {number}" if len(found["groups"]) > 1 else ""
        anchor = group["anchor"]
        said = f"{anchor['engine']} is set to {anchor['rating']:g}" if anchor else "their mean is 0"
        notes.append(f"ratings{where}: {said}")
        if group["blocks"] < 2:
            notes.append(f"one block{where} says nothing yet about how far results vary, so there are no intervals")
    engines = [engine for *_, engine in _ranked(found)]
    if marked := [engine["engine"] for engine in engines if engine["many_forfeits"]]:
        notes.append(f"! more than 5 % of its games were forfeited by it: {', '.join(marked)}")
    if merged := [engine for engine in engines if engine["release"] is not None and len(engine["builds"]) > 1]:
        notes.append(f"several builds counted as one: {', '.join(engine['engine'] for engine in merged)}")
    if found["unrated"]:
        names = ", ".join(engine["engine"] for engine in found["unrated"])
        notes.append(f"without a game that counts: {names}")
    return notes


def _sources(ladder: dict[str, Any]) -> list[str]:
    journals = ladder["journals"]
    lines = [f"from {count(len(journals), 'journal')}"]
    torn = [journal["path"] for journal in journals if journal["is_torn"]]
    lines += [f"{path}: the last line is incomplete and not counted" for path in torn]
    return lines + [f"skipped, no journal: {skipped['problem']}" for skipped in ladder["skipped"]]


def _folded(lines: list[str], width: int | None) -> list[str]:
    lines = [shorten(line, 2000) for line in lines]
    return [part for line in lines for part in wrap(line, width)] if width else lines


def _table(found: dict[str, Any], width: int | None) -> list[str]:
    lines = _folded([_counts(found)], width)
    for number, group in enumerate(found["groups"], 1):
        rows = [["", "rating", "games", "P(above next)", "engine"]]
        for place, engine in enumerate(group["engines"], 1):
            rows.append([str(place), *_cells(engine)[:3], "! " * engine["many_forfeits"] + engine["engine"]])
        widths = [max(map(len, column)) for column in list(zip(*rows, strict=True))[:-1]]
        lines += ["", *([f"group {number}"] if len(found["groups"]) > 1 else [])]
        for row in rows:
            head = "  ".join([*(cell.rjust(wide) for cell, wide in zip(row[:-1], widths, strict=True)), ""])
            label = shorten(row[-1])
            if width and len(head) + len(label) > width:
                lines += [head.rstrip(), *(f"    {part}" for part in textwrap.wrap(label, width - 4))]
            else:
                lines.append(head + label)
    return [*lines, "", *_folded(_notes(found), width)]


def _cells(engine: dict[str, Any]) -> list[str]:
    share = "-" if engine["share"] is None else f"{engine['share']:.1%}"
    mean, low, high = engine["rating"]
    return [
        f"{mean:.0f}" if low == mean == high else interval(engine["rating"], ".0f"),  # of an anchor
        f"{engine['games_counted']:,}",
        "" if engine["superiority"] is None else chance(engine["superiority"]),
        share,
    ]


def draw(ladder: dict[str, Any], *, theme: str = "light") -> str:
    """Return the picture of the first list: of its group with most games."""
    found = ladder["lists"][0]
    return _chart(found, found["groups"][0] if found["groups"] else {"engines": [], "anchor": None}, theme)


def _chart(found: dict[str, Any], group: dict[str, Any], theme: str) -> str:
    rows = [intervals.Row(escape(engine["engine"]), *engine["rating"]) for engine in group["engines"]]
    line = group["anchor"]["rating"] if group["anchor"] else 0.0
    return intervals.draw_intervals(rows, title=title_of(found), unit=UNIT, theme=theme, line=line)


def page(ladder: dict[str, Any]) -> str:
    """Return the page of all lists."""
    parts: list[str] = []
    for found in ladder["lists"]:
        parts += [pages.heading(title_of(found)), pages.paragraph(_counts(found))]
        for number, group in enumerate(found["groups"], 1):
            if len(found["groups"]) > 1:
                parts.append(pages.heading(f"Group {number}", 3))
            parts.append(pages.chart(_chart(found, group, "page")))
            head = ["engine", "rating", "games", "P(above next)", "share", "forfeits", "weights", "played by", "last"]
            rows = [
                [
                    "! " * engine["many_forfeits"] + engine["engine"],
                    *_cells(engine),
                    engine["forfeits"],
                    engine["weights"] or "",
                    "any build" if engine["release"] is None else "; ".join(engine["builds"]),
                    (engine["last"] or "")[:10],
                ]
                for engine in group["engines"]
            ]
            parts.append(pages.table(head, rows, numbers=(1, 2, 3, 4, 5), wide=(0, 7)))
        parts += [pages.paragraph(note, "soft") for note in _notes(found)]
    parts.append(pages.heading("Journals"))
    rows = [[journal["path"], f"{journal['games']:,}"] for journal in ladder["journals"]]
    parts.append(pages.table(["journal", "games"], rows, numbers=(1,)))
    parts += [pages.paragraph(line, "soft") for line in _sources(ladder)[1:]]
    return pages.page("Rating list", parts)


# --- results of a release


def results_of(ladder: dict[str, Any], *, release: str, shipped: dict[str, str], command: str) -> list[dict[str, Any]]:
    """Return the results of a release, as `benchmarks/strength.py` reads them: of each list that has engines of it.

    Parameters
    ----------
    ladder : dict
    release : str
        The version.
    shipped : dict of str to str
        The weights that ship with it, by game.
    command : str
        That made the list.
    """
    results = []
    for found in ladder["lists"]:
        weights = shipped.get(found["game"])
        groups = [
            group
            for group in found["groups"]
            if any(engine["release"] == release and engine["weights"] == weights for engine in group["engines"])
        ]
        if weights is None or not groups:
            continue
        group = groups[0]
        keys = ("engine", "spec", "weights", "release", "rating", "superiority", "games_counted", "forfeits")
        results.append(
            {
                "format": 1,
                "kind": "ladder",
                "game": found["game"],
                "players": found["players"],
                "release": release,
                "weights": weights,
                "builds": sorted({build for engine in group["engines"] for build in engine["builds"]}),
                "date": max(engine["last"] or "" for engine in group["engines"])[:10],
                "command": command,
                "games": group["games"],
                "blocks": group["blocks"],
                "anchor": group["anchor"],
                "engines": [{key: engine[key] for key in keys} for engine in group["engines"]],
            }
        )
    return results


def write_results(results: list[dict[str, Any]], folder: str) -> list[Path]:
    """Write each result to a file of its own in a folder; return the files.

    Raises
    ------
    OSError
        A file cannot be written; those before it are.
    """
    paths = []
    for result in results:
        path = Path(folder) / f"{result['game']}-{result['players']}-ladder.json"
        files.replace(str(path), json.dumps(result, indent=1) + "\n", "--results")
        paths.append(path)
    return paths

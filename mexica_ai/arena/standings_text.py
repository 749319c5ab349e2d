"""Standings, pairings, brackets and crosstables as text, CSV and HTML, from the data of `standings`."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from html import escape as escape_html
from typing import Any

from mexica_ai.arena.tables import folded
from mexica_ai.draw import palette
from mexica_ai.io.errors import NotationError
from mexica_ai.io.files import problem_of, replace
from mexica_ai.io.terminal import escape, wrap

FORMS = (".csv", ".html")  # of files
_HEADS = {
    "place": "place",
    "name": "engine",
    "points": "points",
    "games": "games",
    "byes": "byes",
    "won": "won",
    "shared": "shared",
    "lost": "lost",
    "rounds_won": "rounds won",
    "buchholz": "Buchholz",
    "buchholz_cut1": "Buchholz cut 1",
    "sonneborn_berger": "Sonneborn-Berger",
}
_TITLES = {
    "swiss": "Swiss tournament",
    "knockout": "Knockout",
    "gauntlet": "Gauntlet",
    "round-robin": "Round robin",
}
_STYLE = """
body { margin: 0 auto; padding: 1rem; max-width: 78rem; background: var(--paper); color: var(--ink);
  font: 16px/1.45 "Segoe UI", "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; white-space: nowrap; } p.note { color: var(--soft); max-width: 62rem; }
"""


# Text


def standings_table(found: dict[str, Any], width: int | None = None) -> list[str]:
    """Return the standings of a tournament in rounds as lines: the table, the pairings and the crosstable.

    Parameters
    ----------
    found : dict
        Of `standings`; its names are short and of visible characters.
    width : int, optional
        Columns; wider tables are folded.
    """
    if not found["rounds"]:
        return [f"{_TITLES[found['format']]}: no round has begun"]
    names = _names(found)
    last = found["rounds"][-1]
    is_over = all(table["is_complete"] for table in last["tables"])
    lines = [f"{_TITLES[found['format']]}: standings {'after' if is_over else 'during'} round {last['round']}"]
    columns = [key for key in _HEADS if key in found["engines"][0]]
    rows = [[_HEADS[key] for key in columns]]
    rows += [[_cell(engine[key]) for key in columns] for engine in found["engines"]]
    # The name is what each part of a folded table begins with.
    order = [columns.index("name"), *(index for index, key in enumerate(columns) if key != "name")]
    lines += [*folded([[row[index] for index in order] for row in rows], 1, width), ""]
    for each in found["rounds"]:
        text = f"round {each['round']}: {'; '.join(_pairings(each, names))}"
        lines += wrap(text, width) if width else [text]
    return [*lines, "", *crosstable_lines([names[engine] for engine in range(len(names))], found["crosstable"], width)]


def crosstable_lines(names: Sequence[str], found: Mapping[str, Any], width: int | None = None) -> list[str]:
    """Return the lines of a crosstable: the points of the engine of a row against each other, of so many games."""
    if len(names) > 1:
        rows = [["crosstable", *(f"{number + 1}" for number in range(len(names)))]]
        for number, name in enumerate(names):
            rows.append([f"{number + 1} {name}", *_crosstable_cells(number, found)])
        return folded(rows, 1, width)
    return []


def _crosstable_cells(number: int, found: Mapping[str, Any]) -> list[str]:
    cells = zip(found["points"][number], found["games"][number], strict=True)
    return [f"{points:g}/{games:g}" if games else "-" for points, games in cells]


def _pairings(each: dict[str, Any], names: Mapping[int, str]) -> list[str]:
    """Return the tables and the byes of a round as texts."""
    texts = []
    for table in each["tables"]:
        seats = [f"{names[engine]} ({_cell(points)})" for engine, points in zip(*_pairs(table), strict=True)]
        text = " - ".join(seats)
        if not table["games"]:
            text = " - ".join(names[engine] for engine in table["engines"]) + ", not played"
        elif not table["is_complete"]:
            text += ", not complete"
        if table.get("winner") is not None:
            text += f", {names[table['winner']]} {'wins' if each['is_last'] else 'goes on'}"
        texts.append(text)
    if each["byes"]:
        texts.append("bye: " + ", ".join(names[engine] for engine in each["byes"]))
    return texts


def _pairs(table: dict[str, Any]) -> tuple[list[int], list[float]]:
    return table["engines"], table["points"]


def _names(found: dict[str, Any]) -> dict[int, str]:
    return {engine["engine"]: engine["name"] for engine in found["engines"]}


def _cell(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


# CSV


def standings_csv(found: dict[str, Any]) -> str:
    """Return a line an engine: what the standings say, and its points and games against each other engine."""
    names = _names(found)
    columns = [key for key in _HEADS if key in found["engines"][0]]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    others = range(len(names))
    heads = [f"{what} against {escape(names[other])}" for what in ("points", "games") for other in others]
    writer.writerow([*columns, *heads])
    for engine in found["engines"]:
        values = [escape(engine[key]) if key == "name" else engine[key] for key in columns]
        number = engine["engine"]
        writer.writerow([*values, *found["crosstable"]["points"][number], *found["crosstable"]["games"][number]])
    return text.getvalue()


# HTML


def standings_fragment(found: dict[str, Any]) -> str:
    """Return the standings as HTML to put into a page: the table, the pairings by round, the crosstable.

    It has no style and no script; the names are escaped.
    """
    names = _names(found)
    columns = [key for key in _HEADS if key in found["engines"][0]]
    rows = [[(_cell(engine[key]), key != "name") for key in columns] for engine in found["engines"]]
    parts = ["<h2>Standings</h2>", _html_table([(_HEADS[key], key != "name") for key in columns], rows)]
    if found["rounds"]:
        parts.append("<h2>Rounds</h2>")
    for each in found["rounds"]:
        items = "".join(f"<li>{escape_html(escape(text))}</li>" for text in _pairings(each, names))
        parts.append(f"<h3>Round {each['round']}</h3><ul>{items}</ul>")
    order = [engine["engine"] for engine in found["engines"]]
    head = [("engine", False), *((names[engine], True) for engine in order)]
    body = []
    for engine in order:
        cells = _crosstable_cells(engine, found["crosstable"])
        body.append([(names[engine], False), *((cells[other], True) for other in order)])
    parts += ["<h2>Crosstable</h2>", _html_table(head, body)]
    parts.append("<p class=note>Points of the engine of the row against that of the column, of so many games.</p>")
    return "\n".join(parts)


def _html_table(head: Sequence[tuple[str, bool]], rows: Sequence[Sequence[tuple[str, bool]]]) -> str:
    """Return a table; of each cell, the text and whether it is a number."""

    def cells(row: Sequence[tuple[str, bool]], tag: str) -> str:
        texts = ((escape_html(escape(text)), " class=n" * is_number) for text, is_number in row)
        return "".join(f"<{tag}{kind}>{text}</{tag}>" for text, kind in texts)

    lines = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return f"<div class=scroll><table><thead><tr>{cells(head, 'th')}</tr></thead>\n<tbody>{lines}</tbody></table></div>"


def standings_page(found: dict[str, Any], game: str) -> str:
    """Return the standings as a page of its own, without scripts."""
    title = escape_html(f"{game.capitalize()}: {_TITLES[found['format']]}")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{palette.style_sheet()}\n{_STYLE}</style></head>\n<body>\n<h1>{title}</h1>\n"
        f"{standings_fragment(found)}\n</body></html>\n"
    )


# Files


def check_standings_path(path: str) -> None:
    """Raise NotationError, reason BAD_USAGE, if a path cannot be written, or its ending names no form of standings."""
    if not path.endswith(FORMS):
        raise NotationError(f"--standings {path}: expected a file that ends in .csv or .html", reason="BAD_USAGE")
    if problem := problem_of(path):
        raise NotationError(f"--standings: cannot write {path!r}: {problem}", reason="BAD_USAGE")


def write_standings(found: dict[str, Any], game: str, path: str) -> None:
    """Write standings to a file whose ending names the form, whole or not at all.

    Raises
    ------
    OSError
        It cannot be written.
    """
    replace(path, standings_csv(found) if path.endswith(".csv") else standings_page(found, game), "--standings")

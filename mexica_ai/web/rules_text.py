"""The rules of a game as blocks that a page can show: the little of Markdown that their texts use.

These are headings with the names of sections, paragraphs, lists, tables, and what is **strong**.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from mexica_ai.web.snapshot_types import BlockJson, SectionJson

_HEADING = re.compile(r"(#+) (.*?)(?: \{#(\w+)\})?")
_ITEM = re.compile(r"(-|\d+\.) +(.*)")
_RULE = re.compile(r"[|\s:-]+")  # below the head of a table


def read_sections(text: str) -> tuple[str, list[SectionJson]]:
    """Return the title of the rules and their sections, in order."""
    title = ""
    sections: list[SectionJson] = []
    for lines in _parts(text):
        match = _HEADING.fullmatch(lines[0])
        if match is None:
            sections[-1]["blocks"] += _blocks(lines)
        elif match[3] is None:
            title = match[2]
        else:
            sections.append({"name": match[3], "title": match[2], "level": len(match[1]), "blocks": []})
    return title, sections


def _parts(text: str) -> Iterator[list[str]]:
    """Yield the lines of what stands between empty lines."""
    for is_empty, lines in groupby(text.splitlines(), lambda line: not line.strip()):
        if not is_empty:
            yield list(lines)


def _blocks(lines: list[str]) -> list[BlockJson]:
    if lines[0].startswith("|"):
        rows = [line.strip().strip("|").split("|") for line in lines if not _RULE.fullmatch(line)]
        return [{"kind": "table", "rows": [[_runs(cell.strip()) for cell in row] for row in rows]}]
    items: list[tuple[str, str]] = []
    for line in lines:
        match = _ITEM.fullmatch(line)
        if match is not None:
            items.append((match[1], match[2]))
        elif items:
            mark, said = items[-1]
            items[-1] = mark, f"{said} {line.strip()}"
        else:
            items.append(("", line.strip()))
    return [
        {"kind": kind, "rows": [[_runs(said)] for _, said in some]}
        for kind, some in groupby(items, lambda item: _kind(item[0]))
    ]


def _kind(mark: str) -> Literal["text", "list", "numbers"]:
    return "list" if mark == "-" else "numbers" if mark else "text"


def _runs(text: str) -> list[str]:
    """Return a text as runs; each second one is strong."""
    return text.split("**")

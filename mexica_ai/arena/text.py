"""Games of a tournament as move texts for people: who played, the boards at the start and the end, and every turn."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from mexica_ai.arena.searches import comments_of
from mexica_ai.arena.tables import count
from mexica_ai.arena.tournament import Tournament
from mexica_ai.game.move_writer import format_moves
from mexica_ai.io.errors import NotationError, SearchError


class TextFolder:
    """A folder with one file a game. The folder is made if there is none; its files are written again.

    Parameters
    ----------
    path : str

    Raises
    ------
    NotationError
        There can be no such folder.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        try:
            self._path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise NotationError(
                f"--text: cannot make the folder {path}: {error.strerror}", reason="UNREADABLE_FILE"
            ) from None
        self._num_written = 0

    def write_new(self, tournament: Tournament, records: list[dict[str, Any]]) -> None:
        """Write the records that have been added to a list since the last call."""
        for record in records[self._num_written :]:
            self.write(tournament, record)
        self._num_written = len(records)

    def write(self, tournament: Tournament, record: dict[str, Any], prefix: str = "") -> None:
        """Write the file of one game, whole or not at all; SearchError, reason TEXT_NOT_WRITTEN, if that fails."""
        arena = record["arena"]
        path = self._path / f"{prefix}block-{arena['block']:05}-game-{arena['number']:02}.txt"
        part = path.with_suffix(".part")
        text = format_game(tournament, record)
        try:
            part.write_text(text, encoding="utf-8")
            os.replace(part, path)
        except OSError as error:
            raise SearchError(f"--text: cannot write {path}: {error.strerror}", reason="TEXT_NOT_WRITTEN") from None


def format_game(tournament: Tournament, record: dict[str, Any], comments: Sequence[str] = ()) -> str:
    """Return the move text of a game, which `mexica-ai replay` reads back, with the boards at its start and its end.

    Parameters
    ----------
    tournament : Tournament
    record : dict
        Of a game of its journal.
    comments : sequence of str, optional
        One for each turn, "" for none.
    """
    arena = record["arena"]
    tags = {"Event": f"tournament of {len(tournament.engines)} engines"}
    tags["Round"] = f"{arena['block']}.{arena['number']}"
    for seat, engine in enumerate(arena["seating"]):
        used = arena["seats"][seat]
        used_turns = f"{count(used['turns'], 'turn')} in {used['seconds']:.1f} s"
        tags |= {f"Name{seat}": tournament.names[engine], f"Used{seat}": used_turns}
    said = [comment or own for comment, own in zip_longest(comments, comments_of(record), fillvalue="")]
    return format_moves(record, comments=said, tags=tags, has_boards=True)

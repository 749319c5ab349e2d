"""Games of a tournament as text for people: who played, the board at the start and at the end, and every turn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mexica_ai.arena.searches import comments_of
from mexica_ai.arena.tables import count
from mexica_ai.arena.tournament import Tournament
from mexica_ai.game.position import Position
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.io.errors import NotationError, SearchError
from mexica_ai.io.terminal import escape


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


def format_game(tournament: Tournament, record: dict[str, Any]) -> str:
    """Return the text of a game."""
    arena = record["arena"]
    position = Position.from_json(record["start"])
    lines = [f"{record['game']}, {position.players} seats: block {arena['block']}, game {arena['number']}"]
    for seat, engine in enumerate(arena["seating"]):
        used = arena["seats"][seat]
        name, spec = tournament.names[engine], tournament.engines[engine]
        which = name if name == spec else f"{name}: {spec}"
        lines.append(f"seat {seat}: {which} ({count(used['turns'], 'turn')} in {used['seconds']:.1f} s)")
    # Keys that a record may lack.
    if known := [text + record[key] for key, text in (("started_at", "started "), ("build", "")) if key in record]:
        lines.append(", ".join(known))
    lines += [f"result: {_result(record)}", "", *str(position).splitlines(), ""]
    for number, (turn, comment) in enumerate(zip(record["turns"], comments_of(record), strict=True), 1):
        who = "event " if position.is_chance else f"seat {position.to_move}"
        lines.append(f"{number:4}. {who}  {TURN_SEPARATOR.join(turn)}" + f"  {{{comment}}}" * bool(comment))
        position.push(turn)
    lines += ["", *str(position).splitlines()]
    return "".join(f"{escape(line)}\n" for line in lines)  # names and details of failures come from others


def _result(record: dict[str, Any]) -> str:
    winners = f"won by seat {' and '.join(map(str, record['winners']))}"
    if record["termination"] == "forfeit":
        forfeit = record["forfeit"]
        return f"seat {forfeit['seat']} forfeits: {forfeit['reason']}: {forfeit['detail']}"
    if record["termination"] == "adjudicated":
        found = record["adjudication"]
        shares = ", ".join(f"{share:.0%}" for share in found["forecast"])
        return f"{winners}, adjudicated ({found['rule']}) by the {found['by']}; forecast {shares}"
    return f"{winners}; scores {', '.join(f'{score:g}' for score in record['scores'])}"

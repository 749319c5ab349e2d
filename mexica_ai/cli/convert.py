"""`--text` and `--records` of `mexica-ai replay`: the records that were read, as move texts or as JSON."""

from __future__ import annotations

import argparse
import json
from typing import Any

from mexica_ai.analysis.annotate import TurnEvaluation, recorded_evaluations
from mexica_ai.game.move_writer import format_moves
from mexica_ai.game.position_text import TURN_SEPARATOR
from mexica_ai.io import files, terminal
from mexica_ai.io.errors import NotationError


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add `--text` and `--records`."""
    group = parser.add_argument_group("conversion", "-: to standard output, in place of the report")
    group.add_argument("--text", metavar="FILE", help="write the valid records to a file as move texts, for people")
    group.add_argument("--records", metavar="FILE", help="write them as JSON, one a line, as other commands do")


class Converted:
    """Gathers the valid records, and writes the files that the options name.

    Parameters
    ----------
    args : argparse.Namespace

    Raises
    ------
    NotationError
        A file cannot be written; reason BAD_USAGE.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self._targets = {"--text": args.text, "--records": args.records}
        self._texts: dict[str, list[str]] = {option: [] for option, path in self._targets.items() if path is not None}
        files.check_distinct(self._targets)
        for option, path in self._targets.items():
            if path not in (None, "-") and (problem := files.problem_of(path)):
                raise NotationError(f"{option}: cannot write {path!r}: {problem}", reason="BAD_USAGE")
            if path not in (None, "-") and any(files.is_same(path, source) for source in args.files):
                raise NotationError(
                    f"{option}: {path!r} is one of the inputs; expected another file", reason="BAD_USAGE"
                )

    @property
    def has_stdout(self) -> bool:
        """Whether standard output has the records, and so nothing else."""
        return "-" in self._targets.values()

    @property
    def has_files(self) -> bool:
        """Whether files have the records."""
        return any(path not in (None, "-") for path in self._targets.values())

    def add(self, record: dict[str, Any]) -> None:
        """Add a record that `mexica_ai.replay` accepts.

        Raises
        ------
        NotationError
            It cannot be written as a move text; reason NOT_WRITABLE.
        """
        if "--text" in self._texts:
            self._texts["--text"].append(format_moves(record, comments=comments_of(record)))
        if "--records" in self._texts:
            self._texts["--records"].append(json.dumps(record) + "\n")

    def write(self) -> None:
        """Write the files."""
        for option, texts in self._texts.items():
            content = ("\n" if option == "--text" else "").join(texts)
            if self._targets[option] == "-":
                terminal.write(content)
            else:
                files.replace(self._targets[option], content, option)


def comments_of(record: dict[str, Any]) -> list[str]:
    """Return what the evaluations of a record say of each turn, as comments of a move text; "" for the others."""
    comments = [""] * len(record["turns"])
    for one in recorded_evaluations(record):
        comments[one.turn_index] = _comment(one)
    return comments


def _comment(one: TurnEvaluation) -> str:
    seat = one.seat
    better = f"; better: {TURN_SEPARATOR.join(one.choice)}" if one.grade and one.choice != one.turn else ""
    text = f"{one.before[seat]:.3f} -> {one.after[seat]:.3f}, loss {one.loss:.3f}{better}"
    return f"{one.mark} {text}".lstrip()  # one that is not sure is no mark of a move text: it stands in brackets

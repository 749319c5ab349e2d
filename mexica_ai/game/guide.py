"""A guided first game: a position, and steps that say what to do, why, and what is answered.

A guide is data, ``guide.json`` in the folder of a game's texts (`mexica_ai.game.contract.Teaching`), read once:

start : object
    A full position; the learner has the seat `seat`.
steps : list of objects
    Each has an ``id``; ``accepts``, patterns of the actions that fit (the text of an action, in which ``*`` stands for
    one operand, ``**`` at the end for any others); ``actions``, how many such actions the step takes, by default 1, or
    ``in_order``, whether it takes all of them, one after another; ``look``, targets and marks of the picture to point
    at; and ``replies``, what is played after it, a list of turns of the others and of random events.

The texts of a step ID are ``guide.ID.do`` and ``guide.ID.why``, perhaps ``guide.ID.off`` for what does not fit; those
of the whole ``guide.intro`` and ``guide.end``. Nothing here plays: the rules say what is legal, this says what fits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mexica_ai.game.phrases import Phrase, phrase
from mexica_ai.io.json_types import JsonObject

FILE = "guide.json"


@dataclass(frozen=True)
class GuideStep:
    """One step; see the module.

    Parameters
    ----------
    name : str
        Its ``id``.
    accepts : tuple of str
    actions : int
    in_order : bool
    look : tuple of str
    replies : tuple of tuple of str
    """

    name: str
    accepts: tuple[str, ...]
    actions: int
    in_order: bool
    look: tuple[str, ...]
    replies: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Guide:
    """A guided first game; see the module."""

    seat: int
    start: JsonObject
    steps: tuple[GuideStep, ...]


@dataclass(frozen=True)
class Verdict:
    """Whether an action fits a step.

    Parameters
    ----------
    fits : bool
    is_done : bool
        Whether the step is done with it: its replies come next.
    word : Phrase, optional
        What to say to the learner if it does not fit.
    """

    fits: bool
    is_done: bool = False
    word: Phrase | None = None


@cache
def read_guide(folder: Path) -> Guide | None:
    """Return the guide in a folder; None if there is none."""
    path = folder / FILE
    if not path.is_file():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    steps = tuple(
        GuideStep(
            step["id"],
            tuple(step["accepts"]),
            len(step["accepts"]) if step.get("in_order") else step.get("actions", 1),
            step.get("in_order", False),
            tuple(step.get("look", ())),
            tuple(tuple(turn) for turn in step.get("replies", ())),
        )
        for step in data["steps"]
    )
    return Guide(data["seat"], data["start"], steps)


def matches(pattern: str, action: str) -> bool:
    """Return whether an action fits a pattern of a step."""
    wanted, words = pattern.split(" "), action.split(" ")
    if wanted[-1] == "**":
        wanted, words = wanted[:-1], words[: len(wanted) - 1]
    return len(wanted) == len(words) and all(one in ("*", word) for one, word in zip(wanted, words, strict=True))


def check_action(step: GuideStep, done: Sequence[str], action: str, *, has_own_word: bool = False) -> Verdict:
    """Return whether a legal action fits a step.

    Parameters
    ----------
    done : sequence of str
        The actions of the step so far.
    action : str
        As text.
    has_own_word : bool
        Whether the texts have one of this step for what does not fit.
    """
    wanted = step.accepts[len(done) : len(done) + 1] if step.in_order else step.accepts
    if (step.in_order or action not in done) and any(matches(pattern, action) for pattern in wanted):
        return Verdict(True, len(done) + 1 >= step.actions)
    verb = action.partition(" ")[0]
    if has_own_word:
        word = phrase(f"guide.{step.name}.off")
    elif verb == "end":
        word = phrase("guide.not_yet")
    elif any(verb == pattern.partition(" ")[0] for pattern in step.accepts):
        word = phrase("guide.elsewhere")
    else:
        word = phrase("guide.other")
    return Verdict(False, word=word)

"""What analyses say to people, in each language: the texts of ``texts/``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from mexica_ai.game.phrases import ENGLISH, Phrase, Phrasebook


@cache
def words() -> Phrasebook:
    """Return the texts."""
    return Phrasebook([Path(__file__).with_name("texts")])


def say(what: Phrase, language: str = ENGLISH) -> str:
    """Return a phrase in a language; in English where that lacks it."""
    return words().say(what, language)

"""Sentences in the language of whoever reads them.

The English sentence stands in the source and is the key of the message files, ``messages/pt.json`` and so on: an object
of English -> translation, with the same gaps (`mexica_ai.game.phrases`). A further language is a further file; what it
lacks is said in English. The core and each game have a folder of their own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from mexica_ai.game.phrases import ENGLISH, Phrasebook, phrase

_folders: list[Path] = [Path(__file__).with_name("messages")]
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def add_messages(folder: Path) -> None:
    """Have the sentences of a folder translated, too, such as ``games/GAME/messages``."""
    if folder not in _folders:
        _folders.append(folder)
        _book.cache_clear()


@cache
def _book() -> Phrasebook:
    return Phrasebook(_folders)


@cache
def languages() -> tuple[str, ...]:
    """Return the languages of the core's sentences, English first."""
    return Phrasebook(_folders[:1]).languages


def language() -> str:
    """Return the language in which sentences are said now."""
    return _language.get()


@contextlib.contextmanager
def speaking(language: str) -> Iterator[None]:
    """Say sentences in a language while the context lasts."""
    token = _language.set(language)
    try:
        yield
    finally:
        _language.reset(token)


def say(sentence: str, /, **gaps: str | float) -> str:
    """Return a sentence, which is given in English, in the language of now.

    Parameters
    ----------
    sentence : str
        Such as ``"took {n:card|cards} from {place}"``.
    gaps
        What stands in the gaps, by name.
    """
    return _book().say(phrase(sentence, **gaps), _language.get())


def decimal(number: float, digits: int = 1, *, is_signed: bool = False) -> str:
    """Return a number as the language of now writes it, with a point or a comma before its decimals."""
    whole, _, decimals = f"{number:{'+' if is_signed else ''}.{digits}f}".partition(".")
    return say("{whole}.{decimals}", whole=whole, decimals=decimals)


def grouped(number: int) -> str:
    """Return a whole number as the language of now writes it, with its thousands apart, such as ``12,345``."""
    first, *rest = f"{number:,}".split(",")
    for digits in rest:
        first = say("{thousands},{digits}", thousands=first, digits=digits)
    return first


def percent(share: float) -> str:
    """Return a share in percent, as the language of now writes it, such as ``12.5 %``."""
    return say("{number} %", number=decimal(100 * share))


def noted(sentence: str) -> str:
    """Return a sentence as it is: one that is said later, which message files must have."""
    return sentence

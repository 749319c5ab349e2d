"""Texts by language: a phrase names a text and what stands in its gaps, a phrasebook says it in a language.

The texts are plain files, ``en.json``, ``pt.json``: an object of key -> text. A further language is a further file.
What a language lacks is said in English.

Gaps are ``{name}``, or ``{name:one|many}`` for a number with its noun: ``{points:point|points}`` gives "1 point", "5
points".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeAlias, Union

ENGLISH = "en"
COMMON = Path(__file__).with_name("texts")  # what all games say
GAP = re.compile(r"\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}")

Value: TypeAlias = Union[str, int, float, "Phrase", Sequence["Phrase"]]


@dataclass(frozen=True)
class Phrase:
    """A text without its language.

    Parameters
    ----------
    key : str
        Of the text in the files.
    values : dict
        By the name of a gap: a number, a word that is the same in all languages, a phrase, or several phrases, which
        are listed with commas.
    """

    key: str
    values: Mapping[str, Value] = field(default_factory=dict)


def phrase(key: str, **values: Value) -> Phrase:
    """Return a phrase."""
    return Phrase(key, values)


def seat_phrase(seat: int) -> Phrase:
    """Return the phrase of a seat; who says it may give names (`Phrasebook.say`)."""
    return phrase("seat", seat=seat)


class Phrasebook:
    """The texts of a game in all its languages.

    Parameters
    ----------
    folders : sequence of Path
        With a file a language; texts of later folders go before those of earlier ones.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._texts: dict[str, dict[str, str]] = {}
        self.own_languages: tuple[str, ...] = ()  # of the last folder
        for folder in folders:
            files = sorted(path for path in folder.glob("*.json") if re.fullmatch("[a-z]{2,3}", path.stem))
            self.own_languages = tuple(path.stem for path in files)
            for path in files:
                self._texts.setdefault(path.stem, {}).update(json.loads(path.read_text(encoding="utf-8")))

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the last folder, English first."""
        others = [name for name in self.own_languages if name != ENGLISH]
        return (ENGLISH, *others)

    def has(self, key: str) -> bool:
        """Return whether there is a text of this key."""
        return key in self._texts.get(ENGLISH, {})

    def text(self, key: str, language: str = ENGLISH) -> str:
        """Return the text of a key with its gaps: in English if the language lacks it, the key if there is none."""
        for texts in (self._texts.get(language, {}), self._texts.get(ENGLISH, {})):
            if key in texts:
                return texts[key]
        return key

    def say(self, what: Phrase, language: str = ENGLISH, names: Sequence[str] = ()) -> str:
        """Return a phrase in a language; `names` are those of the seats, by default "seat 0" and so on."""
        if what.key == "seat" and names:
            return names[int(str(what.values["seat"]))]

        def fill(match: re.Match[str]) -> str:
            name, one, many = match.groups()
            value = what.values.get(name, match[0])
            shown = self._show(value, language, names)
            return shown if one is None else f"{shown} {one if shown in ('1', '-1') else many}"

        return GAP.sub(fill, self.text(what.key, language))

    def _show(self, value: Value, language: str, names: Sequence[str]) -> str:
        if isinstance(value, Phrase):
            return self.say(value, language, names)
        if isinstance(value, str):
            return value
        if isinstance(value, (int, float)):
            return f"{value:g}"
        return ", ".join(self.say(one, language, names) for one in value)


@cache
def phrasebook(folder: Path) -> Phrasebook:
    """Return the texts of a folder and those that all games share."""
    return Phrasebook((COMMON, folder))

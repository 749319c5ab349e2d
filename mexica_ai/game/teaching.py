"""Learning a game, in a language: what the part `Teaching` of a game says, for pages and the command line.

Every function takes a game by its name and a language; what the language lacks is in English. `None` or nothing comes
back for a game without the part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mexica_ai.game import registry
from mexica_ai.game.contract import Fields, Teaching
from mexica_ai.game.guide import Guide, GuideStep, Verdict, check_action, read_guide
from mexica_ai.game.phrases import ENGLISH, Phrase, Phrasebook, phrase, phrasebook
from mexica_ai.game.position import Position
from mexica_ai.game.score_rows import Move, ScoreRow

_LANGUAGE = re.compile(r"[a-z]{2,3}", re.ASCII)


def _of(game: str) -> tuple[Teaching, Phrasebook] | None:
    teaching = registry.get(game).teaching
    return None if teaching is None else (teaching, phrasebook(teaching.folder))


def languages(game: str) -> tuple[str, ...]:
    """Return the languages of a game's texts, English first; nothing for a game without them."""
    found = _of(game)
    return () if found is None else found[1].languages


def rules_path(folder: Path, language: str) -> Path:
    """Return the file of the rules in a language, in English if that lacks."""
    path = folder / f"rules.{language}.md"
    is_known = _LANGUAGE.fullmatch(language) and path.is_file()
    return path if is_known else folder / f"rules.{ENGLISH}.md"


def rules(game: str, language: str = ENGLISH) -> str | None:
    """Return the rules of a game in words, as Markdown.

    A heading ends with the name of its section, ``{#scoring}``, which is the same in all languages.
    """
    found = _of(game)
    return None if found is None else rules_path(found[0].folder, language).read_text(encoding="utf-8")


def legend(game: str, language: str = ENGLISH) -> list[tuple[str, str]]:
    """Return the signs of a game's pictures with their meanings, in order."""
    found = _of(game)
    if found is None:
        return []
    teaching, book = found
    return [(book.text(f"legend.{name}", language), book.text(f"legend.{name}.words", language))
            for name in teaching.legend]  # fmt: skip


def hints(game: str, fields: Fields, language: str = ENGLISH, names: Sequence[str] = ()) -> dict[str, str]:
    """Return words for targets (``data-target``) and marks (``data-hint``) of the picture of a position.

    `fields` is what the person who reads them may see; `names` are those of the seats.
    """
    found = _of(game)
    if found is None:
        return {}
    teaching, book = found
    said = {key: book.say(words, language, names) for key, words in teaching.hints(fields).items()}
    return {key: text[:1].upper() + text[1:] for key, text in said.items()}


def projected(game: str, fields: Fields) -> list[float] | None:
    """Return the points that each seat would get if the game were scored as it stands; see `Teaching.projected`."""
    found = _of(game)
    return None if found is None else found[0].projected(fields)


def moves_of(start: Position, turns: Sequence[Sequence[str]]) -> list[Move]:
    """Return the actions and random events of a game, with the positions before and after each.

    Raises
    ------
    MexicaAIError
        Those of `Position.push`.
    """
    now, moves = start.copy(), []
    before = now.to_json()
    for turn in turns:
        for action in turn:
            now.push_action(action)
            after = now.to_json()
            moves.append(Move(action, before, after))
            before = after
    return moves


def score_rows(start: Position, turns: Sequence[Sequence[str]]) -> list[ScoreRow]:
    """Return where the points of a game came from; the rows add up to the scores after its last turn."""
    found = _of(start.game)
    if found is None:
        return []
    rows = found[0].score_sheet(start.to_json(), moves_of(start, turns))
    brought = [ScoreRow(phrase("sheet.before"), phrase("sheet.before"), start.scores)] if any(start.scores) else []
    return [*brought, *(row for row in rows if any(row.points))]


def score_sheet(
    start: Position, turns: Sequence[Sequence[str]], language: str = ENGLISH, names: Sequence[str] = ()
) -> list[tuple[str, str, list[float]]]:
    """Return `score_rows` in words: section, label, the points of each seat."""
    found = _of(start.game)
    if found is None:
        return []
    rows = score_rows(start, turns)
    book = found[1]
    return [(book.say(row.section, language, names), book.say(row.label, language, names), list(row.points))
            for row in rows]  # fmt: skip


# --- the guided first game


def guide(game: str) -> Guide | None:
    """Return the guided first game; None if there is none."""
    found = _of(game)
    return None if found is None else read_guide(found[0].folder)


def guide_words(game: str, step: str, language: str = ENGLISH) -> tuple[str, str]:
    """Return what to do in a step, by its name, and why."""
    found = _of(game)
    if found is None:
        return "", ""
    return found[1].text(f"guide.{step}.do", language), found[1].text(f"guide.{step}.why", language)


def guide_frame(game: str, language: str = ENGLISH) -> tuple[str, str]:
    """Return the words before the first step and those after the last one."""
    found = _of(game)
    if found is None:
        return "", ""
    return found[1].text("guide.intro", language), found[1].text("guide.end", language)


def check_step(game: str, step: GuideStep, done: Sequence[str], action: str) -> Verdict:
    """Return whether a legal action fits a step of the guide; see `mexica_ai.game.guide.check_action`."""
    found = _of(game)
    has_own_word = found is not None and found[1].has(f"guide.{step.name}.off")
    return check_action(step, done, action, has_own_word=has_own_word)


def say(game: str, what: Phrase, language: str = ENGLISH, names: Sequence[str] = ()) -> str:
    """Return a phrase of a game in a language, such as the word of a `Verdict`."""
    found = _of(game)
    return what.key if found is None else found[1].say(what, language, names)

"""The rules in words: the pages of docs are made of them, and each language has the same sections."""

import re
import runpy
from pathlib import Path

import pytest

from mexica_ai.game import registry, teaching
from mexica_ai.testing.teaching import SECTIONS

ROOT = Path(__file__).parents[2]


def sections(text):
    return re.findall(r"^#+ .* \{#(\w+)\}$", text, re.MULTILINE)


def test_the_pages_are_written_from_the_rules():
    made = runpy.run_path(str(ROOT / ".ci" / "rules"))["pages"]()
    assert {path.name for path in made} == {f"{game}_rules.md" for game in registry.BUILT_IN}
    for path, text in made.items():
        assert path.read_text(encoding="utf-8") == text, f"expected {path.name} written again by .ci/rules"
        assert "{#" not in text


@pytest.mark.parametrize("game", registry.BUILT_IN)
def test_each_language_has_the_same_sections(game):
    names = sections(teaching.rules(game))
    assert set(SECTIONS) <= set(names)
    assert len(set(names)) == len(names)
    for language in teaching.languages(game):
        text = teaching.rules(game, language)
        assert sections(text) == names
        assert len(re.findall("^#", text, re.MULTILINE)) == len(names) + 1
        assert text.startswith(f"# {registry.get(game).title}: ")


@pytest.mark.parametrize("game", registry.BUILT_IN)
def test_a_language_that_is_not_there_is_english(game):
    assert teaching.rules(game, "cs") == teaching.rules(game)
    assert teaching.rules(game, "../en") == teaching.rules(game)
    assert teaching.rules(game, "pt") != teaching.rules(game)


@pytest.mark.parametrize(("game", "verbs"), [
    ("mexica", "canal bridge relocate found temple walk sail teleport token"),
    ("coatl", "take draw build complete tokens pass"),
    ("tzolkin", "beg place start pick"),
    ("nim", "take"),
])  # fmt: skip
def test_each_action_has_its_section(game, verbs):
    assert set(verbs.split()) <= set(sections(teaching.rules(game)))

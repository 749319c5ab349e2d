"""The message files: each language says all sentences of the page and of the server, and no others, with their gaps."""

import ast
import json
import re
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.game.details import cost_text
from mexica_ai.game.messages import language, languages, say, speaking
from mexica_ai.web.language import page_languages, preferred

ROOT = Path(__file__).parents[2] / "mexica_ai"
STATIC = ROOT / "web" / "static"
GAMES = sorted(path.parent.name for path in (ROOT / "games").glob("*/messages"))
GAP = re.compile(r"\{(\w+)(:[^{}|]*\|[^{}|]*)?\}")
CALL = re.compile(r"(?<![\w.])t\(\s*")
LITERAL = re.compile(r"'((?:[^'\\]|\\.)*)'")


def said_by_scripts():
    """Return the sentences of the scripts; each stands in the call of `t`, as it is."""
    found = set()
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8").replace("function t(", "function (")
        for call in CALL.finditer(text):
            literal = LITERAL.match(text, call.end())
            assert literal, f"{path.name}: t({text[call.end() : call.end() + 40]!r} is given no plain sentence"
            found.add(literal[1].replace("\\'", "'"))
    return found


def literals(node):
    if isinstance(node, ast.IfExp):
        return literals(node.body) | literals(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def said_by(paths):
    """Return the sentences of modules: those of calls of `say` and `noted`."""
    found = set()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("say", "noted"):
                found |= set().union(*map(literals, node.args))
    return found


def labels(name):
    """Return what a game says by its parts, which are said when a page asks for them."""
    game = registry.get(name)
    found = {tool.label for tool in game.picture.tools} | {option.help for option in game.starts.options}
    found |= {game.proposals.label, game.proposals.question} if game.proposals else set()
    costs = [cost_text({key: number}).partition(" ")[2] for key in game.reasons.spends for number in (1, 2)]
    fields = ai.new_game(name).to_json().get("seats", [{}])[0]
    counts = {key.replace("_", " ") for key, value in fields.items() if type(value) is int and key != "score"}
    return found | set(costs) | counts


def core_modules():
    for path in ROOT.rglob("*.py"):
        if path.relative_to(ROOT).parts[:2] not in [("games", game) for game in GAMES]:
            yield path


CORE = said_by(core_modules())
SAID = {ROOT / "game" / "messages": CORE | {"inaccuracy", "mistake", "blunder"}, STATIC / "messages": said_by_scripts()}
SAID |= {
    ROOT / "games" / game / "messages": said_by((ROOT / "games" / game).rglob("*.py")) | labels(game) for game in GAMES
}
FILES = [(folder, path.stem) for folder in SAID for path in sorted(folder.glob("*.json"))]


def messages(folder, name):
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("folder", "name"), FILES, ids=lambda part: getattr(part, "parent", Path(str(part))).name)
def test_a_message_file_says_what_is_said(folder, name):
    found = messages(folder, name)
    core = set(messages(ROOT / "game" / "messages", name)) if folder.parent.parent.name == "games" else set()
    assert SAID[folder] - core - set(found) == set(), "missing"
    assert set(found) - SAID[folder] == set(), "superfluous"
    for sentence, said in found.items():
        assert said.strip(), sentence
        assert {gap[1] for gap in GAP.finditer(said)} == {gap[1] for gap in GAP.finditer(sentence)}, sentence
        for gap in GAP.finditer(sentence):
            if gap[1] == "seat":  # names take the place of these words
                assert sentence.count("seat {seat}") <= said.count("seat {seat}"), sentence


def test_all_files_have_the_same_languages():
    assert {folder for folder, _ in FILES} == set(SAID)
    assert page_languages() == languages()[1:] == tuple(sorted({name for _, name in FILES}))


def test_no_sentence_has_two_translations():
    for name in languages()[1:]:
        said = {}
        for folder, _ in FILES:
            if folder != STATIC / "messages":
                for sentence, words in messages(folder, name).items():
                    assert said.setdefault(sentence, words) == words


def test_a_sentence_is_said_in_the_language_of_now():
    assert language() == "en"
    with speaking("pt"):
        assert say("Level {level}", level=5) == "Nível 5"
        assert say("{n:step|steps}", n=1) == "1 passo"
        assert say("what no file has, {who}", who="A") == "what no file has, A"
    assert say("Level {level}", level=5) == "Level 5"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", "en"),
        ("pt-BR,pt;q=0.9,en;q=0.8", "pt"),
        ("en-GB,pt;q=0.5", "en"),
        ("xx, pt;q=0.3", "pt"),
        ("pt;q=0, en", "en"),
        ("pt;q=9, ../../etc", "en"),
        ("," * 100_000, "en"),
    ],
)
def test_the_language_that_a_browser_prefers(header, expected):
    assert preferred(header) == expected

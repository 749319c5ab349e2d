"""The contract `mexica_ai.game.contract`: every registered game keeps it, and all of it is used."""

import ast
import dataclasses
import functools
import inspect
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.game.contract import (
    Clicks,
    Events,
    Game,
    Learning,
    Option,
    Picture,
    Proposals,
    Reasons,
    Secrets,
    Starts,
    Teaching,
    Text,
    Views,
    Words,
)
from mexica_ai.games.nim import notation
from mexica_ai.v1 import engine_pb2

ROOT = Path(__file__).parents[2]
PARTS = (Text, Starts, Views, Secrets, Events, Picture, Reasons, Clicks, Learning, Words, Proposals, Teaching)
MEMBERS = [(part, field.name) for part in (Game, *PARTS) for field in dataclasses.fields(part)]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_small_and_its_page_names_all_of_it(part):
    fields = [field.name for field in dataclasses.fields(part)]
    assert 2 <= len(fields) <= 7
    for name in fields:
        assert f"    {name} : " in part.__doc__


@pytest.mark.parametrize("game", registry.names())
def test_the_functions_of_a_game_have_the_parameters_of_the_contract(game):
    found = registry.get(game)
    parts = [getattr(found, field.name) for field in dataclasses.fields(found)]
    for part in [part for part in parts if isinstance(part, PARTS)]:
        for field in dataclasses.fields(part):
            function = getattr(part, field.name)
            told = inspect.getdoc(type(part)).partition(f"{field.name} : (")[2].partition(") ->")[0]
            if not callable(function) or not told:
                continue
            own = list(inspect.signature(function).parameters)
            if field.name == "new_state":  # the options have names of their own
                assert own == ["players", "seed", *(option.name for option in found.starts.options)]
            elif field.name != "draw":
                contract = [word.partition("=")[0] for word in told.split(", ")]
                assert len(own) == len(contract), f"{game}: {field.name}"


@functools.cache
def attributes_read():
    """Return the attributes that the code outside the games reads, each with the name of what it is read from."""
    neutral = [
        path
        for folder in ("mexica_ai", "server")
        for path in (ROOT / folder).rglob("*.py")
        if "games" not in path.relative_to(ROOT).parts[1:-1] and not path.name.endswith(("_pb2.py", "_pb2_grpc.py"))
    ]
    return {
        (node.attr, getattr(node.value, "attr", getattr(node.value, "id", "")))
        for path in neutral
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


@pytest.mark.parametrize(("part", "name"), MEMBERS)
def test_everything_in_the_contract_is_used(part, name):
    holder = part.__name__.lower()  # parts are held in attributes and variables of their names
    used = any(read == name and (part is Game or owner == holder) for read, owner in attributes_read())
    assert used, f"nothing outside the games uses {part.__name__}.{name}"


# --- defaults


def test_the_defaults_do_for_a_game_without_secrets_and_events():
    nim = registry.get("nim")
    functions = (notation.parse_action, notation.format_action, notation.parse_position, notation.format_position)
    own = Game("nim", rules=nim.rules, text=Text(*functions), starts=Starts(notation.new_state), board=nim.board)
    state = own.starts.new_state(2, 1)
    assert own.title == "Nim"
    assert own.scores(state) == [0, 0]
    assert all(type(points) is int for points in own.scores(state))
    assert own.secrets.has_one_world(state)
    data = own.text.format_position(state)
    assert own.redact(data) == own.text.from_message(data) == own.text.format_position(state)
    compact = own.text.format_compact(data)
    assert {"game": "nim", "version": 1, **own.text.parse_compact(compact)} == data
    with pytest.raises(ai.NotationError, match="an object"):
        own.text.parse_compact("[3]")
    assert (own.views, own.events, own.editor, own.weights()) == (None, None, None, None)
    assert own.why_illegal(state, "take 9 1") == ""
    assert own.picture.entry("take 1 1", data).paths == ("menu:take 1 1",)


def test_an_event_that_no_part_draws_is_named(monkeypatch):
    position = ai.new_game("coatl", seed=1)
    while not position.is_chance:
        position.push_action(position.legal_actions()[0])
    monkeypatch.setattr(position, "_game", dataclasses.replace(registry.get("coatl"), events=None))
    with pytest.raises(RuntimeError, match=r"coatl: a random event is due, but the game has no Events\.draw_outcome"):
        position.draw(1)


def test_nim_hides_nothing():
    position = ai.new_game("nim", piles=[2])
    assert position.view(1) == position
    assert position.viewer is None
    assert position.has_one_world
    position.push("take 2 1")
    assert position.scores == [1, 0]


# --- options


@pytest.mark.parametrize("game", registry.names())
def test_options_are_the_fields_of_the_message(game):
    games = engine_pb2.NewGameRequest.DESCRIPTOR.oneofs_by_name["game"].fields
    assert game in [field.name for field in games], f"engine.proto: NewGameRequest has no options of {game}"
    message = engine_pb2.NewGameRequest.DESCRIPTOR.fields_by_name[game].message_type
    kinds = {"bool": bool, "int32": int}
    fields = {
        field.name: list if field.is_repeated else kinds[{8: "bool", 5: "int32"}[field.type]]
        for field in message.fields
    }
    assert {option.name: option.kind for option in registry.get(game).starts.options} == fields


def test_flags_are_unique_among_the_games():
    flags = [option.flag for game in registry.names() for option in registry.get(game).starts.options]
    names = [option.name for game in registry.names() for option in registry.get(game).starts.options]
    assert len(set(flags)) == len(flags)
    assert len(set(names)) == len(names)


def test_an_option_of_an_unknown_kind_is_refused():
    assert Option("house_rules", bool, "play them").flag == "--house-rules"
    assert Option("house_rules", bool, "play them").default is False
    with pytest.raises(TypeError, match="house_rules"):
        Option("house_rules", str, "play them")


@pytest.mark.parametrize("game", registry.names())
def test_none_is_the_default_of_every_option(game):
    found = registry.get(game).starts
    nothing = {option.name: None for option in found.options}
    assert found.new_state(2, 1, **nothing) == found.new_state(2, 1)


@pytest.mark.parametrize("game", registry.names())
def test_options_tell_their_defaults(game):
    found = registry.get(game).starts
    told = {option.name: option.default for option in found.options}
    assert None not in told.values()
    told = {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()}
    assert found.new_state(2, 1, **told) == found.new_state(2, 1)


# --- the registry


def test_the_default_game_is_registered():
    assert registry.DEFAULT in registry.names()
    assert ai.new_game(seed=1) == ai.new_game(registry.DEFAULT, seed=1)


def test_an_unknown_name_is_no_attribute_of_the_package():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ai.nothing  # noqa: B018

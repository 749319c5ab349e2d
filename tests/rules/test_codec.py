"""The contract `GameCodec`: every registered game keeps it, and all of it is used."""

import ast
import inspect
from pathlib import Path

import pytest

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.game.codec import GameCodec, Option
from mexica_ai.games.nim.codec import NimCodec
from mexica_ai.v1 import engine_pb2

ROOT = Path(__file__).parents[2]
FUNCTIONS = [name for name, value in vars(GameCodec).items() if inspect.isfunction(value) and name[0] != "_"]
PROPERTIES = [name for name, value in vars(GameCodec).items() if isinstance(value, property)]
ABSTRACT = GameCodec.__abstractmethods__
ATTRIBUTES = ("name", "options", "examples", "has_views", "spends", "level_errors")


def codec(game):
    return registry.get(game).codec


def parameters(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


def test_the_contract_is_what_this_file_thinks_it_is():
    assert len(FUNCTIONS) >= 12
    assert set(FUNCTIONS) > ABSTRACT
    assert set(GameCodec.__annotations__) == set(ATTRIBUTES)


@pytest.mark.parametrize("game", registry.names())
def test_every_game_keeps_the_contract(game):
    found = codec(game)
    assert GameCodec in type(found).__mro__
    missing = [name for name in [*FUNCTIONS, *ATTRIBUTES] if not hasattr(found, name)]
    assert not missing, f"the codec of {game} lacks {', '.join(missing)}"
    assert found.name == game == registry.get(game).game.name
    unknown = {name for name in dir(found) if name[0] != "_"} - {*FUNCTIONS, *PROPERTIES, *ATTRIBUTES}
    assert not unknown, f"the codec of {game} has what no contract knows: {', '.join(sorted(unknown))}"
    for name in FUNCTIONS:
        own, contract = parameters(getattr(found, name)), parameters(getattr(GameCodec, name))
        if name == "new_state":  # the options have names of their own
            assert own == ["players", "seed", *(option.name for option in found.options)]
        else:
            assert own == contract, f"{game}: {name}"


@pytest.mark.parametrize("name", sorted(ABSTRACT))
def test_a_codec_without_a_function_is_refused_by_its_name(name):
    given = {other: vars(NimCodec)[other] for other in ABSTRACT - {name}}
    Incomplete = type("Incomplete", (GameCodec,), given)  # noqa: N806
    with pytest.raises(TypeError, match=rf"Incomplete .*\b{name}\b"):
        Incomplete()


@pytest.mark.parametrize("name", [*FUNCTIONS, *PROPERTIES, *(name for name in ATTRIBUTES if name != "name")])
def test_everything_in_the_contract_is_used(name):
    neutral = [
        path
        for folder in ("mexica_ai", "server")
        for path in (ROOT / folder).rglob("*.py")
        if "games" not in path.parts and not path.name.endswith(("_pb2.py", "_pb2_grpc.py"))
    ]
    used = any(
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, (ast.Attribute, ast.Name))
        and (node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id).endswith("codec")
        for path in neutral
        for node in ast.walk(ast.parse(path.read_text()))
    )
    assert used, f"nothing outside the games calls {name}"


# --- defaults


def test_the_defaults_do_for_a_game_without_secrets_and_events():
    functions = {name: vars(NimCodec)[name] for name in ABSTRACT}
    own = type("DefaultCodec", (GameCodec,), {"name": "nim", **functions})()
    state = own.new_state(2, 1)
    assert own.scores(state) == [0, 0]
    assert all(type(points) is int for points in own.scores(state))
    assert own.has_one_world(state)
    assert own.viewer(state) is None
    data = own.format_position(state)
    assert own.view(data, 1) == own.redact(data) == own.from_message(data) == own.format_position(state)
    compact = own.format_compact(data)
    assert own.parse_compact(compact) == data
    with pytest.raises(ai.NotationError, match="an object"):
        own.parse_compact("[3]")
    before = state.copy()
    own.settle_chance(state)
    assert state == before
    with pytest.raises(RuntimeError, match="nim"):
        own.draw_outcome(state, 1)
    assert (own.options, own.examples, own.has_views) == ((), (), False)


def test_nim_uses_the_defaults():
    own = set(vars(NimCodec)) & {*FUNCTIONS}
    assert own == ABSTRACT | {"format_compact", "parse_compact"}
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
    assert {option.name: option.kind for option in codec(game).options} == fields


def test_flags_are_unique_among_the_games():
    flags = [option.flag for game in registry.names() for option in codec(game).options]
    names = [option.name for game in registry.names() for option in codec(game).options]
    assert len(set(flags)) == len(flags)
    assert len(set(names)) == len(names)


def test_an_option_of_an_unknown_kind_is_refused():
    assert Option("house_rules", bool, "play them").flag == "--house-rules"
    assert Option("house_rules", bool, "play them").default is False
    with pytest.raises(TypeError, match="house_rules"):
        Option("house_rules", str, "play them")


@pytest.mark.parametrize("game", registry.names())
def test_none_is_the_default_of_every_option(game):
    found = codec(game)
    nothing = {option.name: None for option in found.options}
    assert found.new_state(2, 1, **nothing) == found.new_state(2, 1)


@pytest.mark.parametrize("game", registry.names())
def test_options_tell_their_defaults(game):
    found = codec(game)
    told = {option.name: option.default for option in found.options}
    assert None not in told.values()
    told = {name: list(value) if isinstance(value, tuple) else value for name, value in told.items()}
    assert found.new_state(2, 1, **told) == found.new_state(2, 1)


# --- the registry


def test_the_default_game_is_registered():
    assert registry.DEFAULT in registry.names()
    assert ai.new_game(seed=1) == ai.new_game(registry.DEFAULT, seed=1)


@pytest.mark.parametrize("name", registry.EXTRAS)
def test_what_a_game_adds_to_the_package_is_there(name):
    assert name in ai.__all__
    assert name in dir(ai)
    assert getattr(ai, name).__module__ == registry.EXTRAS[name]


def test_an_unknown_name_is_no_attribute_of_the_package():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ai.nothing  # noqa: B018

"""Observations: the layout is the schema's, the numbers are the position's, and nothing that is hidden shows."""

import random
from pathlib import Path

import numpy as np
import pytest
from mexica_builder import build as mexica_position

import mexica_ai as ai
from cext.core.contract.game import CHANCE
from mexica_ai.env import action_schema, observe, schema
from mexica_ai.game import registry
from mexica_ai.game.observations import BOUND
from mexica_ai.games.coatl.facts import coatl_points
from mexica_ai.io.errors import PositionError

GAMES = registry.names()
LARGE_POOL = [3, 3, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 10, 10, 11, 12, 13]
OPTIONS = {"mexica": {"pool": LARGE_POOL}}


def walk(game, players, seed, every=5, **options):
    """Yield positions of a random game, some with a random event due, and the last one."""
    rng = random.Random(seed)
    state = ai.new_game(game, players=players, seed=seed, **options).state.copy()
    number = 0
    while not state.is_terminal:
        if number % every == 0:
            yield ai.Position(game, state.copy())
        if state.current_player == CHANCE:
            state.resolve_chance(rng.randrange(2**63))
        else:
            state.apply(rng.choice(state.legal_actions()))
        number += 1
    yield ai.Position(game, state)


@pytest.mark.parametrize("game", GAMES)
def test_the_schema_is_the_layout(game):
    layout = schema(game)
    assert layout.game == game
    assert layout.size == registry.get(game).rules.observation_size
    names = [field.name for field in layout.fields]
    assert len(set(names)) == len(names)
    fields = layout.split(np.arange(2 * layout.size).reshape(2, -1))
    for field in layout.fields:
        assert fields[field.name].shape == (2, *field.shape)
        assert fields[field.name].reshape(2, -1)[0].tolist() == list(
            range(layout.offsets[field.name], layout.offsets[field.name] + field.size)
        )
    with pytest.raises(ValueError, match="expected"):
        layout.split(np.zeros(layout.size + 1))


@pytest.mark.parametrize("game", GAMES)
def test_the_schema_of_actions_is_the_layout(game):
    layout = action_schema(game)
    assert layout.game == game
    assert layout.size == registry.get(game).rules.action_size
    names = [field.name for field in layout.fields]
    assert len(set(names)) == len(names)
    assert "players" not in names


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("game", GAMES)
def test_nothing_hidden_shows(game, players):
    others_differ = False
    for number, position in enumerate(walk(game, players, 7 + players, **OPTIONS.get(game, {}))):
        viewer = number % players
        world = position.state.copy()
        if world.determinize(viewer, number):
            drawn = ai.Position(game, world)
            np.testing.assert_array_equal(observe(position, viewer), observe(drawn, viewer))
            other = (viewer + 1) % players
            others_differ |= not np.array_equal(observe(position, other), observe(drawn, other))
    # What the seats see differs, so the comparison above can fail.
    assert others_differ == (registry.get(game).views is not None)


@pytest.mark.parametrize("game", GAMES)
def test_the_manual_has_the_schema(game):
    text = (Path(__file__).parents[2] / "docs" / "env.md").read_text()
    for layout in (schema(game), action_schema(game)):
        rows = [
            f"| `{field.name}` | {'x'.join(map(str, field.shape)) or '1'} | {field.scale:g} | {field.help} |"
            for field in layout.fields
        ]
        table = "\n".join(["| field | shape | scale | |", "| --- | --- | --- | --- |", *rows])
        assert f"Version {layout.version}, {layout.size:,} numbers.\n\n{table}\n" in text
    assert f"{game} {registry.get(game).rules.max_actions:,}" in text


def test_water_next_to_an_action_of_mexica_is_that_of_canals_without_bridges():
    canals = ["C5-D5", "F5-G5"]
    position = ai.Position.from_json(mexica_position(canals=canals, bridges=["D5 ns"], pillis=["E6"]))
    rows = action_schema("mexica").split(position.state.action_features())
    water = dict(zip(position.state.legal_actions(), rows["water"], strict=True))
    parse = registry.get("mexica").text.parse_action
    # E5 is between D5, which has a bridge, and F5; B1 is on the coast.
    assert [water[parse(action)] for action in ("walk E5", "canal B1", "canal B5")] == [1, 0, 1]


def test_the_types_of_the_compiled_state_are_complete():
    """The stub has every public name of the compiled module, and no other."""
    import ast

    from cext.core.contract import game

    stub = ast.parse(Path(game.__file__).with_name("game.pyi").read_text())
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            public = {name for name in vars(getattr(game, node.name)) if not name.startswith("_")}
            assert {item.name for item in node.body if not item.name.startswith("_")} == public
    named = {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    assert all(hasattr(game, name) for name in named)


def seats_of(position, viewer):
    """Return the seats' entries from the viewer on."""
    seats = position.to_json()["seats"]
    return [seats[(viewer + k) % len(seats)] for k in range(len(seats))]


def check_head(position, viewer, fields):
    assert fields["players"] == position.players
    expected = [0.0] * 4
    if position.to_move is not None:
        expected[(position.to_move - viewer) % position.players] = 1.0
    assert fields["to_move"].tolist() == expected


def check_nim(position, viewer, fields):
    data = position.to_json()
    assert fields["piles"].tolist() == data["piles"] + [0] * (8 - len(data["piles"]))
    assert fields["plies_left"] == data["plies_left"]


def plane(spaces):
    """Return the board with the numbers of spaces."""
    board = np.zeros((14, 21))
    for space, number in spaces.items():
        board[int(space[1:]) - 1, ord(space[0]) - ord("A")] = number
    return board


def check_mexica(position, viewer, fields):
    data, n = position.to_json(), position.players
    assert np.array_equal(fields["canals"], plane(dict.fromkeys(data["canals"], 1)))
    for axis, name in enumerate(("ns", "ew")):
        spaces = {bridge["at"]: 1 for bridge in data["bridges"] if bridge["axis"] == name}
        assert np.array_equal(fields["bridges"][axis], plane(spaces))
    for k in range(4):
        of_seat = {
            temple["at"]: temple["level"] for temple in data["temples"] if k < n and temple["seat"] == (viewer + k) % n
        }
        assert np.array_equal(fields["temples"][k], plane(of_seat))
    neutral = {temple["at"]: temple["level"] for temple in data["temples"] if temple["seat"] == -1}
    assert np.array_equal(fields["neutral_temples"], plane(neutral))
    placed = {token["at"]: token["size"] for token in data["calpulli"]["placed"]}
    assert np.array_equal(fields["placed"], plane(placed))
    for name in ("display", "removed"):
        assert fields[name].tolist() == [data["calpulli"][name].count(size) for size in range(3, 14)]
    for k, seat in enumerate(seats_of(position, viewer)):
        assert np.array_equal(fields["pillis"][k], plane({seat["pilli"]: 1} if seat["pilli"] else {}))
        assert fields["stock"][k].tolist() == seat["temples"]
        assert fields["scores"][k] == seat["score"]
        assert fields["action_tokens"][k] == seat["action_tokens"]
    for name in ("period", "round", "action_points", "tokens_taken", "idle_rounds", "built_this_round"):
        assert fields[name] == data[name]
    assert [fields["singles"], fields["doubles"]] == list(data["canal_tiles"].values())
    assert fields["bridges_left"] == 11 - len(data["bridges"])


COLORS = "GRYBK"


def check_coatl(position, viewer, fields):
    view = position.view(viewer).to_json()
    n = position.players

    def face(name):
        return int(name[1:])

    def faces(names):
        counts = np.zeros(49)
        for name in names:
            if name != "?":
                counts[face(name)] += 1
        return counts

    assert np.array_equal(fields["display"], faces(view["display"]))
    assert np.array_equal(fields["discarded"], faces(view["discarded"]))
    assert fields["num_deck"] == view["deck"]
    assert not fields["deck"].any()
    assert "always 0" in next(field.help for field in schema("coatl").fields if field.name == "deck")
    seats = [view["seats"][(viewer + k) % n] for k in range(n)]
    for k, seat in enumerate(seats):
        assert np.array_equal(fields["hand"][k], faces(seat["hand"]))
        assert fields["num_hand"][k] == len(seat["hand"])
        assert np.array_equal(fields["put_away"][k], faces(seat["discarded"]))
        assert np.flatnonzero(fields["temples"][k]).tolist() == sorted(face(t) for t in seat["temples"] if t != "?")
        for number, coatl in enumerate(seat["coatls"]):
            assert np.array_equal(fields["played"][k, number], faces(coatl["prophecies"]))
            assert fields["coatls"][k, number, 0] == fields["pieces"][k, number].sum() == len(coatl["pieces"])
            points = sum(coatl_points(coatl, strict_ends=False)) if coatl["closed"] else 0
            assert fields["coatls"][k, number, 4] == points
    assert fields["scores"][:n].tolist() == [position.scores[(viewer + k) % n] for k in range(n)]
    assert fields["actions_left"] == view["actions_left"]
    assert fields["round"] == view["round"]
    assert not fields["hand"][n:].any()


def check_tzolkin(position, viewer, fields):
    from mexica_ai.games.tzolkin.facts import BUILDINGS, DECISIONS, GEARS, MONUMENTS, WEALTH

    view, n = position.view(viewer).to_json(), position.players
    for number, gear in enumerate(GEARS):
        for space, mark in enumerate(view["gears"][gear]):
            owners = [fields["workers"][k, number, space] for k in range(n)]
            expected = [0.0] * n
            if mark.isdigit():
                expected[(int(mark) - viewer) % n] = 1.0
            assert owners == expected
            assert fields["idle_workers"][number, space] == (mark == "i")
    seats = [view["seats"][(viewer + k) % n] for k in range(n)]
    for k, seat in enumerate(seats):
        numbers = fields["seats"][k]
        assert numbers[:5].tolist() == [seat["score"], seat["corn"], seat["skulls"], seat["workers"], seat["light"]]
        assert numbers[9:12].tolist() == [seat["wood"], seat["stone"], seat["gold"]]
        assert numbers[12:].tolist() == [*seat["temples"].values(), *seat["technologies"].values()]
        assert fields["buildings"][k].tolist() == [seat["buildings"].count(name) for name in BUILDINGS]
        for name in ("wealth", "dealt"):
            assert fields[name][k].tolist() == [name_ in seat[name] for name_ in WEALTH]
    assert fields["open_monuments"].tolist() == [name in view["display"]["monuments"] for name in MONUMENTS]
    assert fields["display"].tolist() == [view["display"]["buildings"].count(name) for name in BUILDINGS]
    for place, decision in zip(fields["pending"], reversed(view["pending"]), strict=False):
        if decision in DECISIONS:
            assert np.flatnonzero(place).tolist() == [DECISIONS.index(decision)]
    assert (fields["pending"].any(axis=1)).sum() == len(view["pending"])
    for name in ("day", "food_days", "placed", "reveal", "teeth_corn"):
        assert fields[name] == view[name]


CHECKS = {"nim": check_nim, "mexica": check_mexica, "coatl": check_coatl, "tzolkin": check_tzolkin}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("game", GAMES)
def test_the_numbers_are_the_positions(game, players):
    for number, position in enumerate(walk(game, players, players, every=11)):
        viewer = number % players
        row = observe(position, viewer)
        assert row.dtype == np.float32
        assert np.abs(row).max() < BOUND
        fields = schema(game).split(row)
        check_head(position, viewer, fields)
        CHECKS[game](position, viewer, fields)


def test_the_view_of_a_seat_has_its_observation():
    position = ai.new_game("coatl", players=3, seed=1)
    np.testing.assert_array_equal(observe(position.view(2)), observe(position, 2))
    np.testing.assert_array_equal(observe(position), observe(position, position.to_move))
    with pytest.raises(PositionError, match="expected 2, the seat whose view"):
        observe(position.view(2), 1)
    with pytest.raises(PositionError, match="this is the view of a spectator"):
        observe(position.view(None), 1)
    with pytest.raises(PositionError, match="expected a seat from 0 to 2"):
        observe(position.view(None))
    with pytest.raises(PositionError, match="expected a seat from 0 to 2"):
        observe(position, 3)

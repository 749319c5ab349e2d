"""The editor of positions: palettes, commands, faults and where they show."""

import copy
import json
import random
import re
from pathlib import Path

import pytest
from spoiled import spoil

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.game.edit import value_at
from mexica_ai.io import strict
from mexica_ai.io.errors import NotationError, PositionError

EXAMPLES = Path(__file__).parents[2] / "examples"
GAMES = [game for game in registry.names() if registry.get(game).editor]


def example(name):
    return json.loads((EXAMPLES / name).read_text())


def editor_of(data):
    return registry.get(data["game"]).editor


def edited(data, *commands):
    for command in commands:
        data = editor_of(data).edit(data, command)
    return data


def brush(name, *targets):
    return [{"brush": name, "target": target} for target in targets]


def put(path, value):
    return {"path": path, "value": value}


def count(path, item, number):
    return {"path": path, "item": item, "count": number}


def add(path, *items):
    return [{"path": path, "item": item, "at": 99} for item in items]


def empty(data, path):
    return [{"path": path, "remove": 0}] * len(value_at(data, path))


def faults(data):
    try:
        ai.Position.from_json(data)
    except (NotationError, PositionError) as error:
        return error.violations
    return []


# ---- the examples, from a new game by commands alone


def mexica_midgame(goal):
    """Yield the commands that make the example from any new game of Mexica."""
    yield put("players", 3)
    yield put("phase", "play")
    yield from brush("canal", *(name for name in goal["canals"] if name not in ("O6", "O7", "O8", "O9")))
    yield from brush("bridge", *(bridge["at"] for bridge in goal["bridges"]))
    for temple in goal["temples"]:
        yield from brush(f"temple {temple['seat']}", *[temple["at"]] * temple["level"])
    yield from brush("calpulli", *(token["at"] for token in goal["calpulli"]["placed"]))
    for seat, own in enumerate(goal["seats"]):
        yield from brush(f"pilli {seat}", own["pilli"])
        yield put(f"seats[{seat}].score", own["score"])
        yield put(f"seats[{seat}].action_tokens", own["action_tokens"])
    for key in ("round", "to_move", "action_points", "tokens_taken", "idle_rounds", "built_this_round"):
        yield put(key, goal[key])
    for size in range(3, 14):
        yield count("calpulli.display", size, goal["calpulli"]["display"].count(size))
    for kind in ("single", "double"):
        yield put(f"canal_tiles.{kind}", goal["canal_tiles"][kind])


def tzolkin_midgame(goal, start):
    """Yield the commands that make the example from a new game of Tzolk'in."""
    yield put("phase", goal["phase"])
    for key in ("day", "start_player", "to_move", "teeth_corn", "start_space"):
        yield put(key, goal[key])
    for gear, places in start["gears"].items():
        yield from brush("remove", *(f"worker:{gear}:{space}" for space, one in enumerate(places) if one != "."))
    for gear, places in goal["gears"].items():
        for space, one in enumerate(places):
            if one != ".":
                yield from brush("idle" if one == "i" else f"seat {one}", f"worker:{gear}:{space}")
    yield from brush("skull", *(f"use:chichen_itza:{action}" for action in goal["skulls_placed"]))
    for kind, numbers in goal["fields"].items():
        for index, number in enumerate(numbers):
            if (kind, index) != ("wood", 0):
                yield put(f"fields.{kind}[{index}]", number)
    for key in ("buildings", "monuments"):
        yield from empty(start, f"display.{key}")
        yield from add(f"display.{key}", *goal["display"][key])
    for seat, own in enumerate(goal["seats"]):
        where = f"seats[{seat}]"
        for key in ("score", "corn", "wood", "stone", "gold", "skulls", "workers", "corn_tiles", "wood_tiles", "light"):
            yield put(f"{where}.{key}", own[key])
        for temple, step in own["temples"].items():
            yield from brush(f"seat {seat}", *[f"temple:{temple}"] * step)
        for track, level in own["technologies"].items():
            yield from brush(f"seat {seat}", *[f"track:{track}"] * level)
        for key in ("buildings", "monuments", "wealth"):
            yield from add(f"{where}.{key}", *own[key])


def coatl_midgame(goal, start):
    """Yield the commands that make the example from a new game of Coatl."""
    letters = "YRKGB"
    for key in ("phase", "round", "to_move", "actions_left", "passes"):
        yield put(key, goal[key])
    for part in ("heads", "tails"):
        yield from (count(f"supply.{part}", letter, goal["supply"][part].count(letter)) for letter in letters)
    for path in ("supply.bodies", "display", "discarded"):
        yield from empty(start, path)
        yield from add(path, *value_at(goal, path))
    for index, pile in enumerate(goal["piles"]):
        yield put(f"piles[{index}].top", pile["top"])
        yield put(f"piles[{index}].below", pile["below"])
    for seat, own in enumerate(goal["seats"]):
        where = f"seats[{seat}]"
        for part, stored in own["stored"].items():
            yield from (count(f"{where}.stored.{part}", letter, stored.count(letter)) for letter in letters)
        for key in ("hand", "shown", "discarded", "temples", "shown_temples", "tokens"):
            yield from empty(start, f"{where}.{key}")
            yield from add(f"{where}.{key}", *own[key])
        for index, coatl in enumerate(own["coatls"]):
            yield {"path": f"{where}.coatls.start"}
            place = f"{where}.coatls[{index}]"
            yield from add(f"{place}.pieces", *coatl["pieces"])
            yield {"path": f"{place}.pieces", "remove": 0}
            yield from add(f"{place}.prophecies", *coatl["prophecies"])
            yield from (put(f"{place}.{key}", coatl[key]) for key in ("head", "tail", "closed", "temple"))


def test_mexica_midgame_is_made_from_a_new_game_by_commands():
    goal = example("mexica_midgame.json")
    made = edited(ai.new_game("mexica", players=3, seed=5).to_json(), *mexica_midgame(goal))
    assert made == goal
    assert not faults(made)


def test_tzolkin_midgame_is_made_from_a_new_game_by_commands():
    goal = ai.Position.from_json(example("tzolkin_midgame.json")).to_json()
    start = ai.new_game("tzolkin", players=2, seed=9).to_json()
    assert edited(start, *tzolkin_midgame(goal, start)) == goal


def test_coatl_midgame_is_made_from_a_new_game_by_commands():
    goal = ai.Position.from_json(example("coatl_midgame.json")).to_json()
    start = ai.new_game("coatl", players=2, seed=2).to_json()
    assert edited(start, *coatl_midgame(goal, start)) == goal


# ---- commands


def midgame(game):
    return ai.Position.from_json(example(f"{game}_midgame.json")).to_json()


def test_a_click_puts_raises_turns_and_takes_away():
    data = midgame("mexica")
    stock = data["seats"][0]["temples"]
    for level in (1, 2, 3, 4, None):
        data = edited(data, *brush("temple 0", "Q10"))
        temple = next((temple for temple in data["temples"] if temple["at"] == "Q10"), None)
        assert temple == (level and {"at": "Q10", "seat": 0, "level": level})
        assert sum(data["seats"][0]["temples"]) == sum(stock) - (level is not None)
    assert data == midgame("mexica")
    axes = []
    for _ in range(3):
        data = edited(data, *brush("bridge", "I5"))
        axes.append(next((bridge["axis"] for bridge in data["bridges"] if bridge["at"] == "I5"), None))
    assert axes == ["ns", "ew", None]
    assert edited(data, *brush("pilli 1", "Q10"))["seats"][1]["pilli"] == "Q10"
    assert edited(data, *brush("pilli 1", "Q10", "Q10"))["seats"][1]["pilli"] == ""


def test_what_lies_on_top_moves_and_is_removed_first():
    data = midgame("mexica")
    moved = edited(data, {"from": "L7", "to": "L8"}, {"from": "F7", "to": "I5"}, {"from": "U7", "to": "S8"})
    assert {"at": "L8", "seat": 2, "level": 3} in moved["temples"]
    assert {"at": "I5", "axis": "ns"} in moved["bridges"]
    assert moved["seats"][0]["pilli"] == "S8"
    assert not faults(edited(moved, {"from": "I5", "to": "F7"}, {"from": "L8", "to": "L7"}))
    bare = edited(data, *brush("bridge", "C5"), *brush("pilli 0", "C5"), *brush("remove", "C5", "C5"))
    assert bare["seats"][0]["pilli"] == ""
    assert "C5" in bare["canals"]
    assert "C5" not in edited(bare, *brush("remove", "C5"))["canals"]
    with pytest.raises(NotationError, match="nothing is on A4; expected a piece"):
        edited(data, {"from": "A4", "to": "C6"})


def test_tokens_come_from_the_display_and_go_back_there():
    data = midgame("mexica")
    gone = edited(data, *brush("calpulli", "G6"))
    assert gone["calpulli"]["display"] == [3, 3, 6, 6, 7, 12]
    assert edited(gone, *brush("calpulli", "G6")) == data
    with pytest.raises(NotationError, match=r"the district of B8 has .* spaces; expected a district of 3 to 13"):
        edited(ai.new_game("mexica").to_json(), *brush("calpulli", "B8"))


@pytest.mark.parametrize("change", [put("period", 2), put("phase", "over")])
def test_no_token_is_still_to_come_in_the_second_period(change):
    data = ai.new_game("mexica", players=2, seed=1, pool=[*range(3, 14)] * 2).to_json()
    assert len(data["calpulli"]["upcoming"]) == 7
    second = edited(data, change)
    assert second["calpulli"]["upcoming"] == []
    assert "UPCOMING_COUNT" not in [fault.reason for fault in faults(second)]
    # What is to come cannot be told from a pool that is not the standard one.
    assert edited(second, put("phase", "play"), put("period", 1))["calpulli"]["upcoming"] is None


def test_canals_take_the_tiles_that_can_lay_them():
    data = ai.new_game("mexica", players=3).to_json()
    one = edited(data, *brush("canal", "C5"))
    assert one["canal_tiles"] == {"single": 5, "double": 35}
    two = edited(one, *brush("canal", "D5"))
    assert two["canal_tiles"] == {"single": 6, "double": 34}
    apart = edited(two, *brush("canal", "D5", "H12"))
    assert apart["canal_tiles"] == {"single": 4, "double": 35}
    for made in (one, two, apart, edited(apart, *brush("canal", "C5", "H12"))):
        assert not faults(made)


def test_workers_are_placed_moved_and_taken_away():
    data = midgame("tzolkin")
    tikal = data["gears"]["tikal"]
    assert edited(data, *brush("seat 1", "worker:tikal:0"))["gears"]["tikal"] == "1" + tikal[1:]
    assert edited(data, *brush("idle", "worker:tikal:6", "worker:tikal:6")) == data
    moved = edited(data, {"from": "worker:tikal:1", "to": "worker:uxmal:3"})
    assert moved["gears"]["tikal"][1] == "."
    assert moved["gears"]["uxmal"][3] == "1"
    assert edited(data, *brush("seat 0", "place:start"))["start_space"] == 0
    steps = [edited(data, *brush("seat 0", *["temple:chaac"] * n))["seats"][0]["temples"]["chaac"] for n in range(8)]
    assert steps == [1, 2, 3, 4, 5, -1, 0, 1]
    given = edited(data, *brush("seat 0", "tile:m_shrines", "tile:a2_tomb_action"))
    assert given["seats"][0]["monuments"] == ["m_shrines"]
    assert given["reveal"] == 1
    assert edited(given, *brush("remove", "built:0:m_shrines"))["seats"][0]["monuments"] == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (None, "expected an object"),
        ([], "expected an object"),
        ({}, "expected an object"),
        ({"brush": "canal"}, "expected an object"),
        ({"brush": "canal", "target": "C5", "more": 1}, "expected an object"),
        ({"brush": 3, "target": "C5"}, r"command\.brush: given 3; expected a string"),
        ({"brush": "pilli 3", "target": "C5"}, "no brush"),
        ({"brush": "canal", "target": "Z9"}, "no space"),
        ({"brush": "canal", "target": "A1"}, "A1 is in the lake"),
        ({"brush": "canal", "targets": ["C5"] * 513}, "expected 512 at most"),
        ({"brush": "pilli 0", "targets": ["C5"]}, "of a brush that can be drawn"),
        ({"brush": "canal", "targets": "C5"}, r"command\.targets: given"),
        ({"path": "seats[7].score", "value": 1}, "no such control"),
        ({"path": "game", "value": "nim"}, "no such control"),
        ({"path": "seats[0].score", "value": "1"}, "expected an integer"),
        ({"path": "seats[0].score", "value": True}, "expected an integer"),
        ({"path": "seats[0].score", "value": 1e300}, "expected an integer"),
        ({"path": "players", "value": 5}, "expected one of its choices"),
        ({"path": "built_this_round", "value": 1}, "expected true or false"),
        ({"path": "calpulli.display", "item": 2, "count": 1}, "expected one of its choices"),
        ({"path": "calpulli.display", "item": 3, "count": -1}, "expected 0 to 99"),
        ({"path": "calpulli.display", "item": 3, "at": 0}, "no such control"),
        ({"path": "calpulli.display", "remove": -1}, "expected 0 or more"),
        ({"path": "seats[0].score"}, "no such control"),
    ],
)
def test_wrong_commands_are_refused(command, message):
    with pytest.raises(NotationError, match=message):
        edited(midgame("mexica"), command)


def test_a_brush_is_drawn_over_what_can_take_it():
    data = midgame("mexica")
    dug = edited(data, {"brush": "canal", "targets": ["A1", "B3", "B3", "C3", data["canals"][0], "Z9"]})
    assert set(dug["canals"]) == {*data["canals"], "B3", "C3"}
    filled = edited(dug, {"brush": "remove", "targets": ["B3", "C3", "D3"]})
    assert filled["canals"] == data["canals"]


def test_a_game_without_an_editor_has_none():
    assert registry.get("nim").editor is None


# ---- palettes


@pytest.mark.parametrize("game", GAMES)
def test_palettes_have_unique_names_keys_and_paths(game):
    for players in (2, 3, 4):
        palette = registry.get(game).editor.palette(ai.new_game(game, players=players).to_json())
        assert json.loads(json.dumps(palette))
        for key in ("name", "key"):
            names = [brush[key] for brush in palette["brushes"]]
            assert len(set(names)) == len(names)
        controls = [control for group in palette["groups"] for control in group["controls"]]
        paths = [control["path"] for control in controls]
        assert len(set(paths)) == len(paths)
        for control in controls:
            labels = [label for _, label in control["choices"]]
            assert len(set(labels)) == len(labels)
            assert control["kind"] != "choice" or control["value"] in [value for value, _ in control["choices"]]


def random_command(palette, targets, rng):
    controls = [control for group in palette["groups"] for control in group["controls"]]
    if palette["brushes"] and rng.random() < 0.5:
        if rng.random() < 0.3:
            return {"from": rng.choice(targets), "to": rng.choice(targets)}
        return {"brush": rng.choice(palette["brushes"])["name"], "target": rng.choice(targets)}
    control = rng.choice(controls)
    path = control["path"]
    match control["kind"]:
        case "number":
            high = min(control["low"] + 9, control["high"])
            return put(path, rng.randint(control["low"] - (rng.random() < 0.05), high))
        case "flag":
            return put(path, rng.random() < 0.5)
        case "choice":
            return put(path, rng.choice(control["choices"])[0])
        case "bag":
            return count(path, rng.choice(control["choices"])[0], rng.randrange(5))
        case "row" if control["value"] and rng.random() < 0.5:
            return {"path": path, "remove": rng.randrange(len(control["value"]) + 1)}
        case "row":
            return {"path": path, "item": rng.choice(control["choices"])[0], "at": rng.randrange(5)}
        case "button":
            return {"path": path}
    raise AssertionError(control)


@pytest.mark.parametrize("game", GAMES)
def test_random_commands_lead_to_positions_that_are_drawn_and_whose_faults_have_a_place(game):
    parts, rng = registry.get(game), random.Random(game)
    module = __import__(f"mexica_ai.games.{game}.notation", fromlist=["SHAPE"])
    data, refused, seen = midgame(game), 0, set()
    targets = re.findall('data-target="([^"]+)"', parts.picture.draw(data, targets=True))
    for _ in range(100):
        before = copy.deepcopy(data)
        try:
            after = parts.editor.edit(data, random_command(parts.editor.palette(data), sorted(targets), rng))
        except NotationError:
            refused += 1
            after = data
        assert data == before
        data = after
        assert strict.readable(data, module.SHAPE) == data
        palette = parts.editor.palette(data)
        controls = {control["path"] for group in palette["groups"] for control in group["controls"]}
        targets = set(re.findall('data-target="([^"]+)"', parts.picture.draw(data, targets=True)))
        places = targets | {f"brush:{brush['name']}" for brush in palette["brushes"]}
        found = faults(data)
        for fault, place in zip(found, parts.editor.places(data, [one.path for one in found]), strict=True):
            assert set(place["controls"]) <= controls
            assert set(place["targets"]) <= places, fault
            assert place["controls"] or place["targets"], fault
            seen.add(fault.reason)
    assert len(seen) > 5
    assert refused < 80


# ---- the routes


@pytest.fixture(scope="module")
def post(tmp_path_factory):
    """Return a function that posts JSON to the process of the page, as its scripts do, and returns the answer."""
    pages = pytest.importorskip("pages", reason="needs the extra web", exc_type=ImportError)
    process = pages.Process(tmp_path_factory.mktemp("editor"))
    yield lambda path, data, status=200: process.call("POST", path, data, status)
    process.close()


@pytest.mark.parametrize("game", registry.names())
def test_a_valid_position_is_drawn_with_its_palette(post, game):
    position = ai.new_game(game, seed=3)
    for given in (position.to_json(), json.dumps(position.to_json()), position.to_compact()):
        answer = post("/api/draw", {"position": given})
        assert answer["faults"] == []
        assert answer["given"] == answer["position"] == json.loads(answer["text"]) == position.to_json()
        assert answer["compact"] == position.to_compact()
        assert answer["picture"].startswith("<svg")
        assert "data-target" in answer["picture"]
        assert (answer["palette"] is None) == (game not in GAMES)


def test_a_view_of_tzolkin_is_edited_into_every_phase(post):
    position = ai.new_game("tzolkin", players=3, seed=1)
    position.push(position.legal_actions()[:1])
    for viewer in (1, None):
        seen = position.view(viewer).to_json()
        for phase in ("turn", "placing", "picking", "advance", "over"):
            answer = post("/api/edit", {"position": seen, "command": put("phase", phase)})
            assert answer["picture"].startswith("<svg")


def test_decisions_of_tzolkin_are_entered_in_their_order():
    palette = editor_of(midgame("tzolkin")).palette(midgame("tzolkin") | {"pending": ["climb one", "build more"]})
    (row,) = [one for group in palette["groups"] for one in group["controls"] if one["path"] == "pending"]
    assert row["value"][0] == "climb one"  # it is due now
    assert row["label"] == "To decide, the first one now"


def test_the_text_of_a_position_has_short_lines_and_is_the_position(post):
    text = post("/api/draw", {"position": midgame("coatl")})["text"]
    assert 20 < text.count("\n") < 80
    assert max(map(len, text.splitlines())) <= 101


def test_faults_of_a_faulty_position_have_their_places(post):
    data = midgame("mexica")
    data["temples"][1]["at"] = "C5"
    data["seats"][2]["action_tokens"] = 13
    data["surprise"] = "<b>"
    answer = post("/api/validate", {"position": data})
    assert answer["position"] is None
    assert [fault["path"] for fault in answer["faults"]] == ["$.surprise"]
    del data["surprise"]
    found = {fault["path"]: fault for fault in post("/api/validate", {"position": data})["faults"]}
    assert found["$.temples[1].at"]["targets"] == ["C5"]
    assert found["$.temples[1].at"]["reason"] == "WRONG_SPACE"
    assert found["$.seats[2].action_tokens"]["controls"] == ["seats[2].action_tokens"]
    drawn = post("/api/draw", {"position": data})
    assert drawn["position"] is None
    assert list(found.values()) == drawn["faults"]
    assert "data-target" in drawn["picture"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected JSON"),
        ("{", "expected JSON"),
        ('{"game": 1}', "expected the name of a game"),
        ('{"game": "chess"}', "no game"),
        ("[]", "expected a position"),
        ("nim/1 x", "expected 2: piles"),
        ('{"start": {}, "turns": []}', "a record"),
        ("[" * 50_000, "nested"),
        ('{"game": "mexica", "seats": ' + "[" * 900 + "]" * 900 + "}", "expected"),
    ],
)
def test_text_that_is_no_position_is_a_fault_without_a_picture(post, text, message):
    answer = post("/api/draw", {"position": text})
    faults = answer["faults"]
    assert any(message in fault["message"] or message in fault["reason"] for fault in faults), faults
    if "mexica" not in text:
        assert answer["picture"] is None


@pytest.mark.parametrize("game", GAMES)
def test_faults_of_huge_lists_have_few_places(post, game):
    """A body of a mebibyte does not make an answer of hundreds."""
    data = midgame(game)
    huge = {"canals": ["C5"], "display": ["P01"], "pending": ["climb one"], "memory": ["renew 1"]}
    for key in huge.keys() & data.keys() | {"seats"}:
        value = huge.get(key, data["seats"])
        if isinstance(data[key], list):
            data[key] = value * (200_000 // len(json.dumps(value)))
    answer = post("/api/draw", {"position": data})
    assert answer["faults"]
    assert len(json.dumps({key: value for key, value in answer.items() if key not in ("given", "text")})) < 1_500_000


def test_an_edit_answers_the_position_with_its_picture(post):
    answer = post("/api/edit", {"position": midgame("mexica"), "command": brush("canal", "Q10")[0]})
    assert answer["given"]["canals"] == sorted(
        [*midgame("mexica")["canals"], "Q10"], key=lambda name: (int(name[1:]), name[0])
    )
    assert json.loads(answer["text"]) == answer["given"]
    assert answer["palette"]["brushes"][0]["name"] == "canal"
    assert answer["targets"]["Q10"] == "canal"


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("/api/edit", {"position": {"game": "mexica"}, "command": {}}, "BAD_COMMAND"),
        ("/api/edit", {"position": {"game": "nim"}, "command": {"path": "piles"}}, "BAD_COMMAND"),
        ("/api/edit", {"position": {"game": "chess"}, "command": {"path": "piles"}}, "UNKNOWN_GAME"),
        *(
            ("/api/edit", {"position": {"game": game}, "command": command}, "BAD_COMMAND")
            for game, command in (
                ("mexica", {"brush": "pilli 0", "target": "H6"}),
                ("tzolkin", {"brush": "seat 0", "target": "temple:chaac"}),
                ("tzolkin", {"brush": "skull", "target": "use:chichen_itza:x"}),
                ("tzolkin", {"brush": "remove", "target": "built::m_tombs"}),
                ("tzolkin", {"from": "worker:tikal:0051", "to": "worker:tikal:3"}),
            )
        ),
        ("/api/edit", {"position": [], "command": {"path": "piles"}}, "WRONG_TYPE"),
        ("/api/edit", {"game": "mexica", "players": 9}, "OUT_OF_RANGE"),
        ("/api/edit", {}, "MISSING_KEY"),
        ("/api/draw", {"position": {}, "viewer": "0"}, "UNKNOWN_KEY"),
        ("/api/validate", [], "WRONG_TYPE"),
    ],
)
def test_requests_of_another_form_are_refused(post, path, data, reason):
    answer = post(path, data, 422)
    assert answer["reason"] == reason
    assert answer["message"]


@pytest.mark.parametrize("text", ["no position", "{", "[]", '{"game": "chess"}'])
@pytest.mark.parametrize("path", ["/api/validate", "/api/draw"])
def test_what_is_no_position_has_a_fault(post, path, text):
    answer = post(path, {"position": text})
    assert answer["position"] is None
    assert answer["faults"]


def test_an_edit_begins_with_a_new_game(post):
    answer = post("/api/edit", {"game": "coatl", "players": 4})
    assert answer["given"]["players"] == 4
    assert post("/api/validate", {"position": answer["given"]})["faults"] == []


@pytest.mark.parametrize("game", registry.names())
def test_positions_spoiled_anywhere_get_an_answer(post, game):
    """They are drawn and have their palette; an edit of them has the shape of a position."""
    rng, parts = random.Random(game), registry.get(game)
    for number in range(25):
        data = midgame(game) if game in GAMES else ai.new_game(game).to_json()
        for _ in range(1 + number % 3):
            spoil(data, rng)
        text = json.dumps(data)
        answer = post("/api/draw", {"position": text})
        assert answer["faults"] or answer["position"]
        if not answer["picture"]:
            assert parts.name != data.get("game") or answer["given"] is None
        elif parts.editor:
            command = {"path": "players", "value": 3}
            edited = post("/api/edit", {"position": text, "command": command})
            assert edited["given"]["players"] == len(edited["given"]["seats"]) == 3

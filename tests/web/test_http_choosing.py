"""What a page says of the actions that a person chooses from, and of clicks that are not possible."""

import json
import re
from pathlib import Path

import pytest
from pages import PERSON, engine

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(site):
    """Begin a game from an example; all seats are persons."""

    def begin(name, *, edit=None, **more):
        data = json.loads((EXAMPLES / name).read_text())
        if edit:
            edit(data)
        seats = [PERSON] * data["players"]
        return site.call("POST", "/api/games", {"position": data, "seats": seats, "open": True, **more}, 201)

    return begin


@pytest.fixture
def why(site):
    def ask(game, tool, *targets, status=200, **more):
        query = {"tool": tool, "targets": list(targets), **more}
        return site.call("GET", f"/api/games/{game['id']}/why", status=status, params=query)

    return ask


def words(answer):
    return [one["why"] for one in answer["reasons"]]


def put(site, game, *actions, viewer=None):
    data = {"version": game["version"], "viewer": viewer, "actions": list(actions)}
    return site.call("PUT", f"/api/games/{game['id']}/draft", data)


# --- entries


def test_entries_say_what_they_bring_and_empty_ones_come_last(example):
    game = example("tzolkin_midgame.json")
    picks = [entry for entry in game["entries"] if entry["targets"][0] == "worker:yaxchilan:4"]
    assert [(entry["brings"], entry["cost"]) for entry in picks] == [
        ("1 skull", ""), ("2 corn and 1 gold for 1 corn", ""),
        ("1 stone", "1 corn"), ("1 wood", "3 corn"), ("no action", ""),
    ]  # fmt: skip
    assert [entry.get("is_empty", False) for entry in picks] == [False] * 4 + [True]
    assert game["entries"][-1]["is_empty"]


def test_points_of_cards_are_told(example):
    entries = example("coatl_midgame.json")["entries"]
    assert next(entry for entry in entries if entry["action"] == "play 2 P05")["brings"] == "+2 points"
    tokens = [index for index, entry in enumerate(entries) if entry["tool"] == "promise"]
    assert min(tokens) > max(index for index, entry in enumerate(entries) if entry["tool"] == "take")


def test_cards_to_keep_are_clicked(site):
    game = site.new("coatl", seed=3, seats=[PERSON, engine(1, 0.1)])
    kept = {entry["action"]: entry["targets"] for entry in game["entries"]}
    assert kept["keep"] == ["menu:Keep none"]
    two = next(targets for action, targets in kept.items() if len(action.split()) == 3)
    assert [target.split(":")[0] for target in two] == ["hand", "hand", "menu"]
    assert two[2] == "menu:Keep 2 of 3"
    assert game["entries"][-1]["action"] == "keep"
    tiles = site.new("tzolkin", seed=3, seats=[PERSON, engine(1, 0.1)])["entries"]
    assert {target.split(":")[0] for entry in tiles for target in entry["targets"]} == {"dealt"}
    assert all(len(entry["targets"]) == 2 for entry in tiles)


def test_walks_of_several_steps_are_one_choice(site, example):
    game = example("mexica_midgame.json")
    walks = {walk["targets"][0]: walk for walk in game["walks"]}
    assert "U7" not in walks  # where the pilli is
    assert "T7" not in walks  # one step
    walk = walks["R7"]
    assert walk["actions"] == ["walk T7", "walk S7", "walk R7"]
    assert (walk["tool"], walk["cost"]) == ("move", "3 AP")
    moved = put(site, game, *walk["actions"])
    assert moved["draft"]["left"] == "3 AP"
    assert "S7" in moved["targets"]
    far = [walk for walk in moved["walks"] if float(walk["cost"].split()[0]) > 3]
    assert all("token" in walk["cost"] for walk in far)  # no walk that cannot be paid


def test_other_games_have_no_walks(example):
    assert example("coatl_midgame.json")["walks"] == example("tzolkin_midgame.json")["walks"] == []


# --- why not


@pytest.mark.parametrize(
    ("tool", "targets", "said"),
    [
        ("canal", ["H7"], "H7 belongs to the palace"),
        ("canal", ["Q6", "Q8"], "Q6 and Q8 are not adjacent"),
        ("single", ["T6"], "a temple is on T6"),
        ("found", ["S9"], "the district of S9 has 102 spaces, not 3"),
        ("temple 1", ["C6"], "not in the district of C6"),
        ("bridge", ["B2"], "B2 is no canal"),
    ],
)
def test_a_click_on_the_board_says_why_not(example, why, tool, targets, said):
    (reason,) = why(example("mexica_midgame.json"), tool, *targets)["reasons"]
    assert reason["why"].endswith(said)
    assert len(reason["tools"]) == 1


def test_without_a_tool_the_most_common_reason_comes_first(example, why):
    answer = why(example("mexica_midgame.json"), "", "H7")
    assert answer["reasons"][0]["why"] == "H7 belongs to the palace"
    assert answer["reasons"][0]["tools"][:2] == ["Canal of two", "Canal of one"]
    assert not any("pillis are placed" in each for each in words(answer))  # no tool of another phase


def test_what_belongs_to_another_seat_says_whose_it_is(example, why):
    answer = why(example("coatl_midgame.json"), "", "stored:1:head:B")
    assert words(answer) == ["that belongs to Player 2, and it is the turn of Player 1"]


def test_a_token_of_ones_own_is_a_tool(site, example):
    game = example("coatl_midgame.json")
    picture = site.call("GET", f"/api/games/{game['id']}/at/0/table+seats.svg?viewer=0")
    assert 'data-target="token:0:promise" data-tool="promise"' in picture
    assert 'data-target="token:1:promise"' in picture
    assert 'data-target="token:1:promise" data-tool' not in picture


def test_each_place_of_a_picture_has_words(site, example):
    game = example("tzolkin_midgame.json")
    picture = site.call("GET", f"/api/games/{game['id']}/at/0/calendar+gears+table.svg")
    places = set(re.findall('data-target="([^"]*)"', picture))
    assert "worker:palenque:9" in places
    assert places <= set(game["targets"])


def test_what_is_legal_has_no_reason(example, why):
    assert why(example("mexica_midgame.json"), "canal", "P7")["reasons"] == []


def test_the_turn_so_far_counts(site, example, why):
    game = example("mexica_midgame.json")
    assert why(game, "single", "P7")["reasons"] == []
    put(site, game, "canal P7")
    assert words(why(game, "single", "P7")) == ["P7 is a canal"]


def test_reasons_are_told_without_codes(example, why):
    game = example("tzolkin_midgame.json")
    assert words(why(game, "", "use:chichen_itza:2")) == ["Chichen Itza 2 has its skull"]
    answer = why(example("coatl_midgame.json"), "play", "hand:0:P20")
    assert words(answer) == ['Coatl 1 does not reach the first level of the prophecy "yellow, black"']


def test_a_seat_without_a_coatl_is_told_so(site, why):
    game = site.new("coatl", seed=3, seats=[PERSON] * 2, open=True)
    for _ in range(2):
        game = site.play(game, next(entry["action"] for entry in game["entries"] if len(entry["targets"]) == 2))
    (card,) = [target for target in game["targets"] if target.startswith("hand:0:P")]
    assert words(why(game, "play", card)) == ["there is no Coatl yet; start one first"]


def test_only_the_person_to_move_is_told(site, why):
    game = site.new("coatl", seed=3, seats=[PERSON] * 2, players=2)
    site.game(game, viewer=0, open=1)
    own = [target for target in site.game(game, viewer=0)["targets"] if target.startswith("hand:")]
    assert {target.split(":")[1] for target in own} == {"0"}
    assert why(game, "keep", "hand:1:P00", status=422, viewer=0)["reason"] == "NO_TARGET"  # as any unknown one
    assert why(game, "keep", own[0], status=403, viewer=1)["reason"] in ("HANDOVER", "NOT_YOUR_TURN")


@pytest.mark.parametrize(
    ("tool", "targets", "reason"),
    [
        ("fly", ["C5"], "NO_TOOL"),
        ("canal", [], "NO_TARGET"),
        ("canal", ["Z99"], "NO_TARGET"),
        ("canal", ["\N{SNOWMAN}" * 500], "NO_TARGET"),
        ("canal", ["C5"] * 7, "NO_TARGET"),
    ],
)
def test_unknown_tools_and_targets_are_refused(example, why, tool, targets, reason):
    answer = why(example("mexica_midgame.json"), tool, *targets, status=422)
    assert answer["reason"] == reason
    assert "expected" in answer["message"]


# --- the end of a turn


def test_a_turn_that_has_not_begun_cannot_end_and_spends_no_token(site):
    game = site.new("coatl", seed=3, seats=[PERSON, engine(1, 0.1)])
    game = site.play(game, "keep")
    game = site.await_game(game, lambda each: each["to_move"] == 0 and each["waiting"] == "person")
    assert "future" in [entry["action"] for entry in game["entries"]]
    assert not game["draft"]["can_end"]
    assert game["draft"]["why_not"].startswith("the turn has not begun")
    assert site.command(game, 422)["reason"] == "TURN_NOT_ENDED"
    assert "token:0:future" in site.game(game)["targets"]


def test_what_the_end_gives_up_and_uncovers_is_told(site, example):
    game = example("mexica_midgame.json")
    assert (game["draft"]["wasted"], game["draft"]["commit"]) == ("6 AP", "End turn")
    game = site.new("coatl", seed=3, seats=[PERSON, engine(1, 0.1)])
    game = site.play(game, "keep")
    game = site.await_game(game, lambda each: each["to_move"] == 0 and each["waiting"] == "person")
    drawn = put(site, game, "draw deck")
    assert drawn["draft"]["commit"] == "Draw a prophecy"
    card = next(entry["action"] for entry in game["entries"] if entry["action"].startswith("draw P"))
    taken = put(site, drawn, card)
    assert taken["draft"]["can_end"]
    assert (taken["draft"]["wasted"], taken["draft"]["commit"]) == ("", "End turn")


def test_the_placement_has_one_tool_and_says_why_it_cannot_end(site):
    game = site.new("mexica", seed=1, seats=[PERSON] * 2)
    assert {entry["tool"] for entry in game["entries"]} == {"place"}
    assert game["draft"]["why_not"]

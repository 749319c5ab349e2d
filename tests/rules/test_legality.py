"""Why an action is not legal: the reasons are right, and there is one for nearly every action."""

import random
from collections import defaultdict
from pathlib import Path

import pytest
from coatl_builder import build as build_coatl
from coatl_builder import coatl, seat
from mexica_builder import build as mexica_position
from tzolkin_builder import build

import mexica_ai as ai
from mexica_ai.game import registry
from mexica_ai.io.errors import IllegalActionError

EXAMPLES = Path(__file__).parents[2] / "examples"

GAMES = ("coatl", "mexica", "tzolkin")


def walk(game, seeds):
    """Return positions of random games, and all actions that were legal in them by verb."""
    rng = random.Random(11)
    positions, actions = [], defaultdict(set)
    for seed in seeds:
        position = ai.new_game(game, players=2 + seed % 3, seed=seed)
        while not position.is_over:
            if position.is_chance:
                position.draw(rng.randrange(1 << 30))
                continue
            by_verb = defaultdict(list)
            for action in position.legal_actions():
                by_verb[action.split()[0]].append(action)
                actions[action.split()[0]].add(action)
            if rng.random() < 0.05:
                positions.append(position.copy())
            position.push_action(rng.choice(by_verb[rng.choice(sorted(by_verb))]))
    return positions, {verb: sorted(found) for verb, found in actions.items()}, rng


@pytest.mark.parametrize(("game", "share"), [("coatl", 0.98), ("mexica", 0.99), ("tzolkin", 0.98)])
def test_reasons_are_given_for_illegal_actions_only(game, share):
    positions, actions, rng = walk(game, range(3))
    parts = registry.get(game)
    explained = asked = 0
    for position in positions:
        legal = set(position.legal_actions())
        for action in rng.sample(sorted(legal), min(8, len(legal))):
            # The rules have the last word: no fact that is given as a reason is true of a legal action.
            assert parts.why_illegal(position.state, action) == "", action
        for found in actions.values():
            for action in rng.sample(found, min(2, len(found))):
                if action not in legal:
                    asked += 1
                    explained += bool(parts.why_illegal(position.state, action))
    assert explained >= share * asked > 500


def refused(position, *turn):
    with pytest.raises(IllegalActionError) as caught:
        position.push(list(turn))
    return str(caught.value)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("teleport M11", "it costs 5 action points; seat 0 has 2 and 1 action token"),
        ("temple 4 U6", "it costs 4 action points; seat 0 has 2 and 1 action token"),
        ("found 12 S9", "the district of S9 has 102 spaces, not 12"),
        ("found 7 S9", "no calpulli token 7 is on display"),
        ("canal T6", "a temple is on T6"),
        ("canal Q6-Q8", "Q6 and Q8 are not adjacent"),
        ("bridge B2 ew", "B2 is no canal"),
        ("bridge T7 ns", "there is a bridge on T7"),
        ("walk M11", "M11 is not adjacent to U7, where the pilli is"),
        ("walk H7", "H7 is not adjacent to U7, where the pilli is"),
        ("temple 1 C6", "the pilli of seat 0 is on U7, not in the district of C6"),
        ("sail F7", "the pilli is on U7, not on a bridge"),
        ("relocate T7 F7 ew", "there are bridges left to build; only without any may one be relocated"),
        ("place H6", "the pillis are placed before the first round"),
    ],
)
def test_reasons_of_mexica(action, why):
    data = ai.load(EXAMPLES / "mexica_midgame.json").to_json()
    position = ai.Position.from_json({**data, "action_points": 2})
    message = refused(position, action)
    assert message.startswith(f'turn[0]: "{action}" is not legal for seat 0 here: {why}; expected ')


@pytest.mark.parametrize("bridge", ["U7 ew", "A3 ew", "B1 ns", "C14 ns"])
def test_a_bridge_at_the_edge_of_the_board_would_end_in_the_lake(bridge):
    data = mexica_position(canals=["U7-U8", "A3-A4", "B1-B2", "C14-D14"])
    assert f'"bridge {bridge}" is not legal for seat 0 here: the bridge would end in the lake; expected ' in refused(
        ai.Position.from_json(data), f"bridge {bridge}"
    )


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("take head B", "there is no head B in the supply"),
        ("draw P07", "seat 0 holds 5 prophecies, the most that it may hold"),
        ("add 1 tail G", "Coatl 1 has a tail already"),
        ("add 1 left K", "seat 0 has no body K stored"),
        ("add 3 left G", "seat 0 has no Coatl 3"),
        ("start head G", "seat 0 has 2 Coatls that are not complete, the most that it may have"),
        ("play 1 P20", "Coatl 1 does not reach the first level of P20"),
        ("play 1 P07", "seat 0 has no P07 in its hand"),
        ("close 1", "Coatl 1 has no head"),
        ("future", "seat 0 has no token future"),
        ("temple 1 T09", "Coatl 1 has no head"),
        ("keep", "the prophecies to keep were chosen before the first round"),
        ("end", "the turn has not begun; end ends one of drawing or building"),
        ("pass", "a seat passes only where no action is possible, or in place of the second action of its last turn"),
        ("discard P00", "only the token future lets a seat discard a prophecy"),
    ],
)
def test_reasons_of_coatl(action, why):
    position = ai.load(EXAMPLES / "coatl_midgame.json")
    assert f'"{action}" is not legal for seat 0 here: {why}; expected ' in refused(position, action)


def second_coatl(pieces, bodies):
    """Return a change: seat 0 has these pieces on its second Coatl, which has a tail, and stores these bodies."""

    def change(data):
        own = data["seats"][0]
        own["coatls"][1]["pieces"], own["stored"]["bodies"] = pieces, bodies

    return change


def same_card_again(data):
    """Let seat 0 hold the other copy of a card that is on its first Coatl."""
    data["seats"][0]["hand"][1], data["discarded"][0] = "P02", "P00"


def seven_stored(data):
    data["seats"][0]["stored"]["bodies"] = "YYGG"
    data["seats"][0]["tokens"] = ["perfect", "promise"]


@pytest.mark.parametrize(
    ("change", "action", "why"),
    [
        (seven_stored, "take body GG", "seat 0 stores 7 pieces; 8 is the most that it may store"),
        (seven_stored, "perfect body GG", "seat 0 stores 7 pieces; 8 is the most that it may store"),
        (same_card_again, "play 1 P02", "Coatl 1 has P02 already"),
        (second_coatl("Y", "YGG"), "add 2 head G", "a head and a tail never touch"),
        (second_coatl("GY", "YG"), "add 2 head G", "this completes Coatl 2, which needs a prophecy on it or"),
    ],
)
def test_reasons_of_rare_rules_of_coatl(change, action, why):
    data = ai.load(EXAMPLES / "coatl_midgame.json").to_json()
    change(data)
    assert f'"{action}" is not legal for seat 0 here: {why}' in refused(ai.Position.from_json(data), action)


CLOSING = {"phase": "closing", "closing": 1, "tops": ("T13", "T14")}


@pytest.mark.parametrize(
    ("seats", "fields", "action", "why"),
    [
        ([{"tokens": ["perfect", "promise"]}, {"heads": "R"}], {"heads": "RR"}, "perfect head R",
         "there is no head R in the bag"),
        ([{"tokens": ["perfect", "promise"]}, {"bodies": "YYYYYYYY"},
          {"coatls": [coatl("Y" * 10), coatl("YYRRKK")]}], {"bodies": ["YY", "KG"]}, "perfect body YR", ""),
        ([{"tokens": ["perfect", "promise"]}, {"bodies": "YYYYYYYY"},
          {"coatls": [coatl("Y" * 13), coatl("RKK")]}], {"bodies": ["YY", "KG"]}, "perfect body YY",
         "there is no body YY in the bag"),
        ([{"hand": ["P00"], "coatls": [coatl("YYYY", "ht")]}, {}], CLOSING, "close 1",
         "Coatl 1 needs a prophecy before it is closed"),
        ([{"hand": ["P00"], "coatls": [coatl("YYYY", "ht")]}, {}], CLOSING, "temple 1 T13",
         "Coatl 1 needs a prophecy before it is closed"),
        ([{"coatls": [coatl("YYYY", "ht", ["P00"])]}, {}], CLOSING, "temple 1 T14",
         "Coatl 1 meets no requirement of T14"),
        ([{"hand": ["P01"], "coatls": [coatl("YYYY", "ht", ["P00"]), coatl("RRRR")]}, {}], CLOSING, "play 2 P01",
         "Coatl 1 is to be completed: by prophecies, then with a temple or without"),
        ([{"bodies": "GG", "coatls": [coatl("Y" * 20 + "K" * 20 + "R" * 20 + "B" * 4)]}, {}], {}, "add 1 left G",
         "Coatl 1 has 64 pieces, the most that it may have"),
    ],
)  # fmt: skip
def test_reasons_of_positions_made_for_a_rule_of_coatl(seats, fields, action, why):
    seats = [seat(**{"tokens": ["promise"], **one}, temples=[f"T0{number}"]) for number, one in enumerate(seats)]
    position = ai.Position.from_json(build_coatl(*seats, **fields))
    if why:
        assert f'"{action}" is not legal for seat 0 here: {why}; expected ' in refused(position, action)
    else:
        assert action in position.legal_actions()
        assert registry.get("coatl").why_illegal(position.state, action) == ""


def test_a_card_in_hand_that_fits_lets_a_coatl_be_completed():
    position = ai.load(EXAMPLES / "coatl_midgame.json")
    assert "add 2 head G" in position.legal_actions()
    assert registry.get("coatl").why_illegal(position.state, "add 2 head G") == ""


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("place start", "all workers of seat 0 are placed"),
        ("pick tikal 2 2", "seat 0 has no worker on tikal 2"),
        ("build a2_tomb_points", "only the action of a worker or of a tile offers it"),
        ("advance 1", "the seat on the start space chooses after the round, where 2 days are possible"),
        ("end", "a turn places workers or picks them up"),
        ("keep w_pal1 w_pal3", "the seats have chosen their wealth tiles"),
        ("pick palenque 1 2", "a worker on palenque 1 reaches actions up to 1"),
        ("pick yaxchilan 4 3", "it needs 1 corn (seat 0 has 0)"),
        ("pick chichen_itza 2 2", "chichen_itza 2 has its skull"),
        ("pick chichen_itza 2 1", "seat 0 has no skull"),
    ],
)
def test_reasons_of_tzolkin(action, why):
    data = ai.load(EXAMPLES / "tzolkin_midgame.json").to_json()
    data["seats"][0]["corn"] = 0
    position = ai.Position.from_json({**data, "start_space": None})
    assert f'"{action}" is not legal for seat 0 here: {why}; expected ' in refused(position, action)


@pytest.mark.parametrize(
    ("action", "why"),
    [
        ("pick palenque 1 1", "workers taken without an action come last"),
        ("pick palenque 1", "workers taken without an action are taken in the order palenque, yaxchilan, tikal, "
         "uxmal, chichen_itza, the lower first"),
        ("place start", "this turn picks workers up; a turn places workers or picks them up, never both"),
    ],
)  # fmt: skip
def test_reasons_in_the_middle_of_a_turn_of_tzolkin(action, why):
    position = ai.load(EXAMPLES / "tzolkin_midgame.json")
    position.push_action("pick yaxchilan 4")
    with pytest.raises(IllegalActionError) as caught:
        position.push_action(action)
    assert f": {why}; expected " in str(caught.value)


def test_the_last_space_of_a_gear_of_tzolkin_is_free_too():
    seats = {0: {"corn": 6}, 2: {"workers": 4}}
    position = ai.Position.from_json(build(4, gears={"yaxchilan": "1112222"}, seats=seats))
    with pytest.raises(IllegalActionError, match=r"here: it needs 7 corn \(seat 0 has 6\)"):
        position.push_action("place yaxchilan")


FIELDS = {"corn": [0, 4, 4, 4], "wood": [0, 4, 4, 4]}
TOPS = {"chaac": 5, "quetzalcoatl": 7, "kukulcan": 6}


@pytest.mark.parametrize(
    ("action", "why", "position"),
    [
        ("pick palenque 3 2", "no tile is left at palenque 2", {"fields": FIELDS}),
        ("pick yaxchilan 5 4", "the bank has no skull left", {"skulls_placed": [*range(1, 10)], "skulls": 4}),
        ("pick uxmal 3 3", "all workers of seat 0 are in play", {"workers": 6}),
        ("pick uxmal 3 1", "seat 0 can step up in no temple", {"others": {"temples": TOPS}}),
        ("pick tikal 5 5", "seat 0 can step up in no temple", {"others": {"temples": TOPS}}),
    ],
)
def test_reasons_of_tzolkin_where_an_action_has_no_effect(action, why, position):
    changes = dict(position)
    own = {"corn": 9, "wood": 9, "workers": changes.pop("workers", 5), "skulls": changes.pop("skulls", 0)}
    others = changes.pop("others", {})
    if others:
        own["temples"] = {temple: step - 1 for temple, step in TOPS.items()}
    gears = {"palenque": "...0", "yaxchilan": ".....0", "tikal": ".....0", "uxmal": "...0"}
    data = build(4, gears=gears, seats={0: own, 1: others}, **changes)
    assert f"here: {why}; expected " in refused(ai.Position.from_json(data), action)


def test_reasons_before_the_first_round_of_tzolkin():
    position = ai.new_game("tzolkin", players=2, seed=3)
    assert ": the seats choose their wealth tiles first; expected " in refused(position, "place tikal")
    # What a view does not see may have been dealt.
    seen = position.view(1)
    own = seen.to_json()["seats"][1]["dealt"][-1]
    assert "was not dealt" not in refused(seen, f"keep w_pal1 {own}")


def test_what_is_missing_is_said_beside_plenty_of_another_thing():
    data = build(2, phase="turn", pending=["build one"], buildings=["a1_farm_all"], seats={0: {"corn": 35, "wood": 3}})
    with pytest.raises(IllegalActionError, match=r"it needs 4 wood \(seat 0 has 3\)"):
        ai.Position.from_json(data).push_action("build a1_farm_all")

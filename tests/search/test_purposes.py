"""What actions are for: each claim is checked against the rules by another route."""

import contextlib
import itertools
import json
import pathlib
import random

import pytest
from played_games import records_of
from tzolkin_builder import build

import mexica_ai as ai
from mexica_ai.analysis.purposes import purposes
from mexica_ai.games.coatl import effects as coatl
from mexica_ai.games.tzolkin import effects as tzolkin

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def turns_of(game):
    """Yield the positions of a game with the turns played there and those after them."""
    record = records_of(game)[0]
    position = ai.Position.from_json(record["start"])
    for number, turn in enumerate(record["turns"]):
        if not position.is_chance:
            yield position.copy(), turn, list(itertools.islice(record["turns"], number + 1, number + 5))
        position.push(turn)


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_what_an_action_is_needed_for_is_illegal_without_it(game):
    claims = 0
    for position, turn, line in turns_of(game):
        for index, clause in enumerate(purposes(position, turn, line)):
            if not clause.startswith("needed for ") or "expected" in clause:
                continue
            claims += 1
            later = clause.removeprefix("needed for ")
            at = turn.index(later, index + 1)
            with pytest.raises(ai.MexicaAIError) as caught:
                position.copy().push([*turn[:index], *turn[index + 1 : at + 1]], partial=True)
            assert caught.value.action_index < at
    assert claims > 5 or game == "coatl"


def test_steps_of_a_founding_lead_to_it():
    position = ai.Position.from_json(json.loads((EXAMPLES / "mexica_midgame.json").read_text()))
    turn = ["canal O5", "canal R9", "canal P8-Q8", "walk T7", "walk S7", "found 12 P5", "temple 2 P6", "end"]
    found = purposes(position, turn)
    assert found == ["needed for found 12 P5"] * 5 + [""] * 3


@pytest.mark.parametrize(
    ("turn", "found"),
    [
        (
            ["pick palenque 3 3", "harvest wood", "pick yaxchilan 1 1", "end"],
            ["needed for harvest wood", "", "", ""],
        ),
        (
            ["pick palenque 3 3", "harvest wood", "pick tikal 2 2", "build a1_farm_one", "end"],
            ["needed for build a1_farm_one"] * 3 + [""] * 2,
        ),
        (
            ["pick chichen_itza 6 6", "take G", "climb chaac G", "pick yaxchilan 1 1", "end"],
            ["needed for climb chaac G", "needed for climb chaac G", "", "", ""],
        ),
    ],
)
def test_an_answer_that_is_owed_is_not_needed_for_what_any_other_answer_allows(turn, found):
    gears = {"palenque": "...0", "yaxchilan": ".0", "tikal": "..0", "chichen_itza": "......0"}
    seats = {0: {"workers": 4, "skulls": 1, "technologies": {"theology": 2}}}
    position = ai.Position.from_json(build(4, gears=gears, seats=seats, buildings=["a1_farm_one"]))
    assert purposes(position, turn) == found


def test_a_move_of_the_next_turn_is_a_reason():
    claims = []
    for game in ("mexica", "tzolkin"):
        for position, turn, line in turns_of(game):
            for index, clause in enumerate(purposes(position, turn, line)):
                if clause.endswith(", expected in its next turn") and clause.startswith("needed"):
                    claims.append((position, turn, line, index, clause))
    assert claims
    for position, turn, line, index, _ in claims[:40]:
        actual, without = position.copy(), position.copy()
        actual.push(turn)
        without.push([*turn[:index], *turn[index + 1 :]])
        for following in line:
            if actual.to_move == position.to_move:
                with pytest.raises(ai.MexicaAIError):
                    without.push(following)
                break
            actual.push(following)
            without.push(following)
        else:
            raise AssertionError("the seat has no next turn")


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin", "nim"])
def test_any_legal_turn_has_a_clause_for_each_action(game):
    chance = random.Random(3)
    position = ai.new_game(game, seed=2)
    for _ in range(12):
        while position.is_chance:
            position.draw(chance.getrandbits(60))
        if position.is_over:
            break
        turn, now = [], position.copy()
        while not turn or now.is_within_turn:
            turn.append(chance.choice(now.legal_actions()))
            now.push_action(turn[-1])
        before = position.to_json()
        assert len(purposes(position, turn, [turn])) == len(turn)
        assert position.to_json() == before
        position.push(turn)


@pytest.mark.parametrize(
    ("serves", "action", "turn", "found"),
    [
        (coatl.serves, "take body RG", ["add 1 left G", "end"], "add 1 left G"),
        (coatl.serves, "take head K", ["start head K", "end"], "start head K"),
        (coatl.serves, "take head K", ["add 1 head R", "end"], ""),
        (coatl.serves, "take head K", ["take head K"], ""),
        (coatl.serves, "take head K", ["add 1 right K"], ""),
        (coatl.serves, "draw P07", ["play 2 P07", "end"], "play 2 P07"),
        (coatl.serves, "draw deck", ["play 2 P07", "end"], ""),
        (coatl.serves, "promise T03", ["temple 2 T03"], "temple 2 T03"),
        (coatl.serves, "end", ["end"], ""),
        (tzolkin.serves, "place tikal", ["pick tikal 4 4", "pick tikal 2 1", "end"], "pick tikal 2 1"),
        (tzolkin.serves, "place tikal", ["pick tikal 4 4", "end"], ""),  # it is another worker
        (tzolkin.serves, "place tikal", ["pick uxmal 2 2", "end"], ""),
        (tzolkin.serves, "place start", ["pick tikal 2 2", "end"], ""),
        (tzolkin.serves, "end", ["end"], ""),
    ],
)
def test_what_a_game_knows_of_its_actions(serves, action, turn, found):
    before, then = build(4, day=2, gears={"tikal": "1..0"}), build(4, day=3)  # as far as Tzolk'in asks
    assert serves(action, turn, before, then) == (f"for {found}, expected in its next turn" if found else "")


def test_a_placed_worker_is_for_the_action_that_it_reaches_itself():
    claims = 0
    for position, turn, line in turns_of("tzolkin"):
        clauses = purposes(position, turn, line)
        if not any(clause.startswith("for ") for clause in clauses):
            continue
        then = position.copy()
        then.push(turn)
        for other in line:
            if then.to_move == position.to_move:
                break
            then.push(other)
        days = then.to_json()["day"] - position.to_json()["day"]
        now = position.copy()
        for action, clause in zip(turn, clauses, strict=True):
            before = now.to_json()
            now.push_action(action)
            if clause.startswith("for "):
                _, _, gear, space, *_ = clause.split()
                assert before["gears"][gear].index(".") == int(space.strip(",")) - days
                claims += 1
    assert claims > 5


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_what_an_action_obliges_to_is_not_what_it_is_for(game):
    # A worker that is taken obliges to research; another worker could be taken without either.
    for position, turn, _ in turns_of(game):
        for index, clause in enumerate(purposes(position, turn)):
            if not clause.startswith("needed for "):
                continue
            at, now = turn.index(clause.removeprefix("needed for "), index + 1), position.copy()
            for action in [*turn[:index], *turn[index + 1 : at]]:
                with contextlib.suppress(ai.MexicaAIError):
                    now.push_action(action)
            with pytest.raises(ai.MexicaAIError):
                now.push_action(turn[at])


def test_an_action_that_only_trades_resources_is_no_purpose():
    for position, turn, line in turns_of("mexica"):
        assert not [clause for clause in purposes(position, turn, line) if clause.startswith("needed for token")]

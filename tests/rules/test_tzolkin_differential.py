"""The compiled rules of Tzolk'in against the slow reference, in lockstep over whole games.

At every step: equal legal actions, equal next position, and a hash that is equal exactly if the position is;
every so often equal views, and worlds drawn for them. What the walks have seen is counted, and everything
that matters must have occurred. `MEXICA_AI_WALKS=20` makes the games twenty times as many; `MEXICA_AI_SEED`
makes them others.
"""

import itertools
import json
import os
import random
from collections import Counter

import pytest
from reference import tzolkin as reference
from tzolkin_implementations import Compiled
from tzolkin_walks import LEANINGS, MUST_OCCUR, choose, events, new_game

from cext.core.contract.game import CHANCE
from mexica_ai.games.tzolkin import notation
from mexica_ai.games.tzolkin.game import GAME

# What its tests share is gathered by all of them.
pytestmark = [pytest.mark.xdist_group("tzolkin_differential"), pytest.mark.slow]

SCALE = int(os.environ.get("MEXICA_AI_WALKS", "1"))
SEED = int(os.environ.get("MEXICA_AI_SEED", "1325"))
GAMES = 12 * SCALE


class Lockstep:
    """Both rules side by side, and what they have seen."""

    def __init__(self):
        self.seen = Counter()
        self.hash_of = {}
        self.text_of = {}

    def play(self, rng, players, leaning, whole_points):
        position = new_game(rng, players, leaning, whole_points)
        state = notation.parse_position(position, "$")
        assert notation.format_position(state) == position
        while True:
            self.remember(position, state)
            legal = reference.legal_actions(position)
            numbers = state.legal_actions()
            assert all(one < other for one, other in itertools.pairwise(numbers))
            assert sorted(map(notation.format_action, numbers)) == legal, json.dumps(position)
            if reference.is_over(position):
                break
            if position["reveal"]:
                assert state.current_player == CHANCE
                action = reference.draw(position, rng)
            else:
                assert state.current_player == position["to_move"]
                action = choose(rng, leaning, legal)
            before = position
            number = notation.parse_action(action)
            assert notation.format_action(number) == action
            assert state.is_legal(number), f"{action} in {json.dumps(before)}"
            turn, round_ = state.turn, state.round
            state.apply(number)
            state.check()
            position = reference.apply(before, action)
            assert notation.format_position(state) == position, f"{action} in {json.dumps(before)}"
            assert state.turn == turn + (action.split()[0] in ("keep", "end", "advance"))
            assert state.round == round_ + position["day"] - before["day"]
            assert GAME.scores(state) == reference.scores(position)
            self.seen.update(set(events(before, action, position)))
            if before["phase"] == "keep" or rng.random() < 0.02:
                self.check_views(rng, position, state)
        assert [seat for seat, share in enumerate(state.returns()) if share > 0] == reference.winners(position)
        self.seen.update([f"{players} seats", *(["whole points"] if whole_points else [])])

    def remember(self, position, state):
        """Check that a hash stands for one position, and a position for one hash."""
        text = json.dumps(position)
        assert self.hash_of.setdefault(text, state.hash) == state.hash
        assert self.text_of.setdefault(state.hash, text) == text

    def check_views(self, rng, position, state):
        """Read anew, and as each seat sees it."""
        assert notation.parse_position(position, "$").hash == state.hash
        for seat in range(state.num_players):
            view = reference.view(position, seat)
            assert notation.view(position, seat) == view
            seen = notation.parse_position(view, "$")
            assert notation.format_position(seen) == view
            assert seen.view_hash(seat) == state.view_hash(seat)
            world = seen.copy()
            assert world.determinize(seat, rng.getrandbits(60)) == (position["phase"] == "keep")
            world.check()
            assert notation.format_position(world) == view
            assert world.view_hash(seat) == state.view_hash(seat)
            if seat == state.current_player:
                assert seen.legal_actions() == state.legal_actions()


@pytest.fixture(scope="module")
def both():
    return Lockstep()


@pytest.mark.parametrize("leaning", LEANINGS)
def test_whole_games(both, leaning):
    rng = random.Random(f"{SEED} {leaning}")
    for number in range(GAMES):
        both.play(rng, 2 + number % 3, leaning, number % 4 == 1)


def test_everything_has_occurred(both):
    if not both.seen:
        pytest.skip("needs the walks of this module")
    missing = [event for event in MUST_OCCUR if not both.seen[event]]
    assert not missing, dict(both.seen)


# Positions that play does not reach.

SET_UPS = 400 * SCALE
MATERIALS = ("corn", "wood", "stone", "gold", "skulls")


def edit(rng, position):
    """Change something of a position, so that it may still be a valid one."""
    seat = rng.choice(position["seats"])
    match rng.randrange(12):
        case 0 | 1:
            seat[rng.choice(MATERIALS)] = rng.choice([0, 1, 2, 3, 5, 9, 30])
        case 2:
            track = rng.choice(list(reference.TRACKS))
            seat["technologies"][track] = rng.choice([0, 1, 2, 3, 3])
        case 3:
            temple = rng.choice(list(reference.TEMPLES))
            seat["temples"][temple] = rng.randint(-1, reference.top_step(temple))
        case 4 | 5:
            texts = [*reference.PENDING, *sorted(reference.trade_texts())]
            position["phase"], position["reveal"], position["placed"] = "picking", 0, 0
            position["pending"] = rng.choices(texts, k=rng.randint(1, 4))
            position["last"] = position["last"] if " " in position["last"] else ""
        case 6:
            position["day"] = rng.randint(1, 27)
            position["food_days"] = sum(day < position["day"] for day in reference.FOOD_DAYS)
            position["teeth_corn"] = 0
        case 7:
            gear = rng.choice(list(reference.GEARS))
            places = list(position["gears"][gear])
            rng.shuffle(places)
            position["gears"][gear] = "".join(places)
        case 8:
            position["skulls_placed"] = sorted(rng.sample(range(1, 10), rng.randint(0, 4)))
        case 9:
            seat["workers"], seat["light"] = rng.randint(3, 6), rng.random() < 0.5
        case 10:
            kinds = [name for name, tile in reference.BUILDINGS.items() if tile["age"] == reference.age(position)]
            position["display"]["buildings"] = rng.sample(kinds, min(len(kinds), rng.randint(3, 6)))
        case 11:
            position["phase"] = rng.choice(["turn", "placing", "picking", "advance"])
            position["placed"] = int(position["phase"] == "placing")


def verdict(check, position):
    try:
        check(position)
    except reference.InvalidPositionError as error:
        return error.name, error.path
    return None


def test_positions_set_up():
    """Both accept the same positions, by the same invariants, and play on alike from those that they accept."""
    rng = random.Random(f"{SEED} set up")
    compiled, accepted = Compiled(), 0
    for number in range(SET_UPS):
        position = reference.new_game(2 + number % 3, rng, number % 5 == 0)
        for _ in range(rng.randint(0, 60)):
            action = (
                reference.draw(position, rng)
                if position["reveal"]
                else choose(rng, "builder", reference.legal_actions(position))
            )
            position = reference.apply(position, action)
        for _ in range(rng.randint(1, 4)):
            edit(rng, position)
            expected = verdict(reference.check, position)
            assert verdict(compiled.check, position) == expected, json.dumps(position)
            if expected is not None:
                break
        if expected is not None or reference.is_over(position):
            continue
        accepted += 1
        state = notation.parse_position(position)
        for _ in range(12):
            legal = reference.legal_actions(position)
            assert sorted(map(notation.format_action, state.legal_actions())) == legal, json.dumps(position)
            if reference.is_over(position):
                break
            action = reference.draw(position, rng) if position["reveal"] else rng.choice(legal)
            before = position
            position = reference.apply(position, action)
            state.apply(notation.parse_action(action))
            state.check()
            assert notation.format_position(state) == position, f"{action} in {json.dumps(before)}"
    assert accepted > SET_UPS // 8

"""The compiled rules of Coatl against the slow reference, in lockstep over whole games.

At every step: equal legal actions, equal next position, equal views, and a hash that is equal exactly if the
position is. What the walks have seen is counted, and everything that matters must have occurred.
`MEXICA_AI_WALKS=20` makes the games twenty times as many; `MEXICA_AI_SEED` makes them others.
"""

import json
import os
import random
from collections import Counter
from pathlib import Path

import pytest
from reference.coatl import State as Reference

from cext.core.contract.game import CHANCE
from mexica_ai.games.coatl import notation
from mexica_ai.games.coatl.game import GAME

pytestmark = pytest.mark.slow

SCALE = int(os.environ.get("MEXICA_AI_WALKS", "1"))
SEED = int(os.environ.get("MEXICA_AI_SEED", "1325"))
GAMES = 16 * SCALE

# How often a verb is chosen, against one of 1: players who build at random seldom complete anything.
LEANINGS = {
    "even": {},
    "builder": {"play": 20, "temple": 5, "add": 3, "take": 3, "end": 0.5, "perfect": 0.2, "future": 0.2},
    "hoarder": {"take": 5, "draw": 3, "start": 0.3, "add": 0.3, "discard": 3},
    "gambler": {"future": 5, "discard": 4, "promise": 5, "perfect": 5, "draw": 4, "play": 10},
    # Long Coatls, which need no card, use the bodies up.
    "mason": {"take": 8, "add": 8, "draw": 0.01, "play": 0.05, "end": 0.3, "start": 0.2},
}
MUST_OCCUR = [
    "keep 0", "keep 1", "keep 2", "keep 3", "take head", "take tail", "take body", "draw", "draw deck",
    "start head", "start tail", "start body", "add head", "add tail", "add left", "add right", "play",
    "temple of the hand", "temple of a pile", "close", "perfect head", "perfect tail", "perfect body",
    "future", "discard", "promise", "end", "pass", "deal", "reveal", "refill", "uncover",
    "refill of bodies alone", "play while closing", "a closing piece without a card", "ending third",
    "ending bodies", "ending by passing", "a last turn of two actions", "the deck is renewed",
    "a card made unsure", "a reveal across a renewal",
    "strict ends", "without tokens", "2 seats", "3 seats", "4 seats", "1 winners", "2 winners",
]  # fmt: skip


def choose(rng, leaning, legal):
    verbs = sorted({action.split()[0] for action in legal})
    verb = rng.choices(verbs, [LEANINGS[leaning].get(verb, 1) for verb in verbs])[0]
    return rng.choice([action for action in legal if action.split()[0] == verb])


def events(before, action, after):
    words = action.split()
    if words[0] == "keep":
        yield f"keep {len(words) - 1}"
    elif words[0] in ("take", "perfect", "start"):
        yield f"{words[0]} {words[1]}"
    elif words[0] == "add":
        yield f"add {words[2]}"
        coatl = after["seats"][before["to_move"]]["coatls"][int(words[1]) - 1]
        if after["phase"] == "closing" and not coatl["prophecies"]:
            yield "a closing piece without a card"
    elif words[0] == "temple":
        in_hand = words[2] in before["seats"][before["to_move"]]["temples"]
        yield "temple of the hand" if in_hand else "temple of a pile"
    else:
        yield "draw deck" if action == "draw deck" else words[0]
    if words[0] == "play" and before["phase"] == "closing":
        yield "play while closing"
    if words[0] == "refill" and words[1] == "bodies":
        yield "refill of bodies alone"
    if before["actions_left"] == 2 and after["actions_left"] == 1:
        yield "a last turn of two actions"
    if words[0] in ("deal", "reveal") and after["deck"] > before["deck"]:
        yield "the deck is renewed"
    more = after.get("memory", [])[len(before.get("memory", [])) :]
    if any(entry.startswith("unsure") for entry in more):
        yield "a card made unsure"
    if any(entry.startswith("across") for entry in more):
        yield "a reveal across a renewal"
    if after["ending"] and not before["ending"]:
        yield f"ending {after['ending']['cause']}"
    if after["phase"] == "over" and not after["ending"]:
        yield "ending by passing"


class Lockstep:
    """Both rules side by side, and what they have seen."""

    def __init__(self):
        self.seen = Counter()
        self.hash_of = {}
        self.text_of = {}

    def play(self, rng, players, leaning, **options):
        reference = Reference.new_game(players, rng, **options)
        position = reference.to_json()
        state = notation.parse_position(position, "$")
        assert notation.format_position(state) == position
        while True:
            self.remember(position, state)
            legal = reference.legal_actions()
            assert sorted(map(notation.format_action, state.legal_actions())) == legal, json.dumps(position)
            if position["phase"] == "over":
                break
            if position["pending"]:
                assert state.current_player == CHANCE
                action = reference.random_event(rng)
            else:
                assert state.current_player == position["to_move"]
                action = choose(rng, leaning, legal)
            before = position
            number = notation.parse_action(action, "action")
            assert notation.format_action(number) == action
            assert state.is_legal(number), f"{action} in {json.dumps(before)}"
            turn = state.turn
            state.apply(number)
            state.check()
            reference.apply(action)
            position = reference.to_json()
            assert notation.format_position(state) == position, f"{action} in {json.dumps(before)}"
            ends = (
                position["pending"] != ""
                or before["phase"] == "keep"
                or (
                    position["to_move"],
                    position["round"],
                    position["actions_left"],
                    position["phase"] == "over",
                )
                != (before["to_move"], before["round"], before["actions_left"], False)
            )
            assert state.turn == turn + (ends and not before["pending"]), f"{action} in {json.dumps(before)}"
            assert GAME.scores(state) == reference.scores()
            self.seen.update(set(events(before, action, position)))
            if rng.random() < 0.02:
                self.check_views(rng, reference, state)
        assert [seat for seat, share in enumerate(state.returns()) if share > 0] == reference.winners()
        self.seen.update([f"{players} seats", f"{len(reference.winners())} winners"])
        self.seen["strict ends"] += options.get("strict_ends", False)
        self.seen["without tokens"] += not options.get("sacrifice_tokens", True)
        return reference

    def remember(self, position, state):
        """Check that equal positions have equal hashes, and different positions different ones."""
        text = json.dumps(position)
        assert self.hash_of.setdefault(text, state.hash) == state.hash
        assert self.text_of.setdefault(state.hash, text) == text

    def check_views(self, rng, reference, state):
        """Check the position read from its JSON, and each seat's view."""
        assert notation.parse_position(reference.to_json(), "$").hash == state.hash
        for seat in range(state.num_players):
            view = reference.view(seat)
            assert notation.view(reference.to_json(), seat) == view
            seen = notation.parse_position(view, "$")
            assert notation.format_position(seen) == view
            assert seen.view_hash(seat) == state.view_hash(seat)
            world = seen.copy()
            world.determinize(seat, rng.getrandbits(60))
            world.check()
            assert notation.format_position(world) == view
            assert world.view_hash(seat) == state.view_hash(seat)


@pytest.fixture(scope="module")
def both():
    return Lockstep()


@pytest.mark.parametrize("leaning", LEANINGS)
def test_whole_games(both, leaning):
    rng = random.Random(f"{SEED} {leaning}")
    for number in range(GAMES):
        both.play(rng, 2 + number % 3, leaning, sacrifice_tokens=number % 4 != 0, strict_ends=number % 5 == 0)


def test_everything_has_occurred(both):
    if not both.seen:
        pytest.skip("needs the walks of this module")
    missing = [event for event in MUST_OCCUR if not both.seen[event]]
    assert not missing, dict(both.seen)


@pytest.mark.parametrize("to_move", range(4))
def test_the_last_pair_is_taken_while_heads_and_tails_are_due(to_move):
    # D12: the bodies are looked for after the refill, and the round is that of the turn before it.
    data = json.loads((Path(__file__).parents[1] / "data/coatl_last_pair.json").read_text())
    data["to_move"] = to_move
    reference = Reference.from_json(data)
    state = notation.parse_position(data)
    rng = random.Random(to_move)
    action, played = "take body RR", []
    while True:
        reference.apply(action)
        state.apply(notation.parse_action(action))
        played.append(action.split()[0])
        assert notation.format_position(state) == reference.to_json()
        notation.parse_position(reference.to_json())
        begun = {"cause": "bodies", "last_round": data["round"] + 1}
        assert reference.ending == (begun if len(played) > 1 else None)
        if reference.is_over:
            break
        action = reference.random_event(rng) if reference.pending else rng.choice(reference.legal_actions())
    assert played[1] == "refill"
    assert reference.round == data["round"] + 1

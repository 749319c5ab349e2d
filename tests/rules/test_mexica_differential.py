"""The compiled rules against the slow reference, in lockstep over thousands of steered random steps.

At every step: equal legal actions, equal next position, and a hash that is equal exactly if the position is.
What the walks have seen is counted, and everything that matters must have occurred. `MEXICA_AI_WALKS=20`
makes the walks twenty times as many; `MEXICA_AI_SEED` makes them others.
"""

import json
import os
import random
from collections import Counter

import pytest
from mexica_walks import LEANINGS, choose, drills, events, kind, penned_in, scramble, variants
from reference import mexica as reference

import mexica_ai

SCALE = int(os.environ.get("MEXICA_AI_WALKS", "1"))
SEED = int(os.environ.get("MEXICA_AI_SEED", "1325"))
SCRAMBLES, STEPS, ENDINGS, GAMES = 80 * SCALE, 12, 200 * SCALE, 2 * SCALE

MUST_OCCUR = [
    "2 seats", "3 seats", "4 seats", "larger pool", "other pool", "raised neutral levels", "place",
    "canal", "bridge", "relocate", "temple", "walk", "sail", "teleport", "token", "found", "end",
    "remove", "single canal", "double canal", "bridge ns", "bridge ew", "relocate ns", "relocate ew",
    "relocate on the same place", "temple 1", "temple 2", "temple 3", "temple 4",
    "temple in a founded district", "temple in an unfounded district", "walk onto a bridge",
    "walk off a bridge", "teleport onto a bridge", "sail past 0", "sail past 1", "sail past 2",
    "found with 0 guests", "found with 1 guests", "found with 2 guests", "found a palace district",
    "tokens spent", "D4 forbids canal", "D4 forbids temple", "D4 forbids walk", "D4 forbids teleport",
    "D4 forbids sail", "D4 forbids found", "D4 forbids relocate", "penned in after the first round",
    "D5 with tiles left", "D5 without tiles", "D5 in the middle of a turn", "D5 when tokens are dealt",
    "D6 removes the display", "D6 ends the period", "D7 display removed and period ended at once",
    "period ends with all temples of a seat built", "first scoring", "second scoring",
    "upcoming tokens unknown", "district scored", "unfounded district scored", "palace bonus", "places 1",
    "places 1-1", "places 1-1-1", "places 1-1-1-1", "places 2", "places 3", "places 4", "places 2-1",
    "places 2-2", "places 2-1-1", "places 3-1", "places 1-2", "places 1-3", "places 1-2-1",
    "places 1-1-2", "neutral temples tie with a seat", "neutral temples rank among seats", "1 winners",
    "2 winners", "3 winners", "4 winners", "tie broken by action tokens",
]  # fmt: skip


class Lockstep:
    """Both rules side by side, and the positions that they have seen."""

    def __init__(self):
        self.seen = Counter()
        self.steps = 0
        self.hash_of = {}
        self.text_of = {}

    def remember(self, position, compiled):
        """Check that equal positions have equal hashes, and different positions different ones."""
        text, hash_ = json.dumps(position), compiled.state.hash
        assert self.hash_of.setdefault(text, hash_) == hash_, text
        assert self.text_of.setdefault(hash_, text) == text

    def walk(self, rng, start, leaning, max_steps):
        """Walk on from a position; return the last one."""
        position = start
        compiled = mexica_ai.Position.from_json(position)
        assert compiled.to_json() == position
        for _ in range(max_steps):
            self.remember(position, compiled)
            legal = reference.legal_actions(position)
            assert compiled.legal_actions() == legal, json.dumps(position)
            if not legal:
                break
            self.seen.update({f"D4 forbids {kind(action)}" for action in penned_in(position, legal)})
            action = choose(rng, leaning, position, legal)
            position, compiled = self.step(rng, position, compiled, action)
        else:
            self.remember(position, compiled)
        if self.steps % 3 == 0:
            read_anew = mexica_ai.Position.from_json(position)
            assert read_anew == compiled
            assert read_anew.state.hash == compiled.state.hash
        return position

    def step(self, rng, before, compiled, action):
        """Play one action in both rules and compare."""
        where = f"{action} in {json.dumps(before)}"
        try:
            compiled.push_action(action)
        except mexica_ai.PositionError:
            before, compiled = self.draw(rng, before, action, compiled)
            compiled.push_action(action)
        after = reference.apply(before, action, unchecked=True)
        assert compiled.to_json() == after, where
        assert compiled.scores == reference.scores(after), where
        assert compiled.is_over == (after["phase"] == "over"), where
        assert compiled.winners == reference.winners(after), where
        if compiled.is_over:
            assert compiled.state.returns() == pytest.approx(reference.returns(after)), where
        compiled.state.check()
        self.seen.update(set(events(before, action, after)))
        self.steps += 1
        return after, compiled

    def draw(self, rng, position, action, compiled):
        """Settle the tokens of the second period, without which this action cannot be played."""
        with pytest.raises(mexica_ai.PositionError) as error:
            compiled.push_action(action)
        assert error.value.reason == "UPCOMING_UNKNOWN"
        assert compiled.to_json() == position
        with pytest.raises(ValueError, match="draw"):
            reference.apply(position, action)
        self.seen["upcoming tokens unknown"] += 1
        drawn = rng.sample(reference.Table(position).hidden_tokens(), 7)
        position = position | {"calpulli": position["calpulli"] | {"upcoming": sorted(drawn)}}
        return position, mexica_ai.Position.from_json(position)


@pytest.fixture(scope="module")
def both():
    return Lockstep()


def seeded(name):
    return random.Random(f"{SEED} {name}")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_whole_games(both, players):
    rng = seeded(f"games {players}")
    for number in range(GAMES):
        options = {}
        if number % 2:
            options["pool"] = [rng.randint(3, 13) for _ in range(18)]
            if players == 2:
                options["neutral_levels"] = [4, 4, 4, 3, 3, 2, 2, 1, 1, 1]
                both.seen["raised neutral levels"] += 1
        start = mexica_ai.new_game("mexica", players=players, seed=rng.getrandbits(60), **options).to_json()
        last = both.walk(rng, start, ["even", "mason", "builder"][number % 3], max_steps=3000)
        assert last["phase"] == "over"


@pytest.mark.parametrize("players", [2, 3, 4])
def test_scrambled_positions(both, players):
    rng = seeded(f"scrambles {players}")
    for _ in range(SCRAMBLES):
        both.walk(rng, scramble(rng, players), rng.choice(sorted(LEANINGS)), STEPS)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_drills(both, players):
    rng = seeded(f"drills {players}")
    for start in drills(players):
        start = reference.canonical(start)
        for _ in range(2 * SCALE):
            both.walk(rng, start, "traveller", 4)
        compiled = mexica_ai.Position.from_json(start)
        for action in compiled.legal_actions():
            if kind(action) in ("sail", "end"):
                both.step(rng, start, compiled.copy(), action)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_endings(both, players):
    """The last seat ends a fourth idle round: a scoring at once, with temples crowded into few districts."""
    rng = seeded(f"endings {players}")
    for _ in range(ENDINGS):
        position = scramble(rng, players)
        if position["round"] == 1:
            continue
        position |= {"idle_rounds": 3, "built_this_round": False, "to_move": players - 1}
        both.step(rng, position, mexica_ai.Position.from_json(position), "end")


def test_everything_occurred(both):
    if both.steps < 1000:
        pytest.skip("counts what the walks above have seen")
    print(both.steps, "steps,", len(both.hash_of), "positions")
    print(*(f"{name}: {count}" for name, count in sorted(both.seen.items())), sep="\n")
    missing = [name for name in MUST_OCCUR if not both.seen[name]]
    assert not missing


def test_order_of_actions_leaves_no_trace_in_the_hash():
    """Two actions in both orders: one position, one hash."""
    rng = seeded("orders")
    equal = 0
    for _ in range(50 * SCALE):
        start = mexica_ai.Position.from_json(scramble(rng, rng.choice([2, 3, 4])))
        for _ in range(5):
            pair = rng.choices(start.legal_actions(), k=2)
            results = []
            for actions in (pair, pair[::-1]):
                position = start.copy()
                try:
                    for action in actions:
                        position.push_action(action)
                except mexica_ai.MexicaAIError:
                    break
                results.append(position)
            if len(results) == 2:
                one, other = results
                same = one.to_json() == other.to_json()
                equal += same and pair[0] != pair[1]
                assert (one == other) == same
                assert (one.state.hash == other.state.hash) == same
    assert equal > 100


def test_every_single_difference_changes_the_hash():
    rng = seeded("variants")
    accepted, refused = Counter(), Counter()
    for _ in range(60 * SCALE):
        position = scramble(rng, rng.choice([2, 3, 4]))
        compiled = mexica_ai.Position.from_json(position)
        for name, variant in variants(rng, position):
            try:
                other = mexica_ai.Position.from_json(variant)
            except (mexica_ai.PositionError, mexica_ai.NotationError):
                refused[name] += 1
                continue
            accepted[name] += 1
            same = reference.canonical(variant) == reference.canonical(position)
            assert other.to_json() == reference.canonical(variant)
            assert (other == compiled) == same, name
            assert (other.state.hash == compiled.state.hash) == same, name
    print(accepted, refused)
    assert accepted.keys() >= refused.keys()
    assert len(accepted) >= 18

"""The view of a spectator: what every seat sees, in every form of a position."""

import random

import pytest

import mexica_ai as ai
from mexica_ai import Position
from mexica_ai.game import registry
from mexica_ai.game.text_forms import SPECTATOR

HIDING = ("coatl", "tzolkin")


def positions(game, players, seed, keep=20):
    rng, position = random.Random(seed), ai.new_game(game, players=players, seed=seed)
    while not position.is_over:
        if rng.random() * keep < 1:
            yield position.copy()
        if position.is_chance:
            position.draw(rng.getrandbits(40))
        else:
            position.push_action(rng.choice(position.legal_actions()))


@pytest.mark.parametrize("game", HIDING)
@pytest.mark.parametrize("players", [2, 4])
def test_it_has_every_form_of_a_position(game, players):
    for position in [ai.new_game(game, players=players, seed=1), *positions(game, players, 1)]:
        seen = position.view(None)
        assert Position.from_json(seen.to_json()) == seen == Position.from_compact(seen.to_compact())
        assert hash(Position.from_compact(seen.to_compact())) == hash(seen)
        assert seen.copy() == seen.view(None) == seen
        assert (seen.scores, seen.to_move, seen.is_over) == (position.scores, position.to_move, position.is_over)
        for seat in range(players):
            assert position.view(seat).view(None) == seen
            if seen.viewer is not None:
                assert position.view(seat) != seen != position
        assert ("as a spectator sees it" in str(seen)) == (seen.viewer == SPECTATOR)
        assert ("as a spectator sees it" in seen.svg()) == (seen.viewer == SPECTATOR)


def test_no_hand_is_in_it_and_no_world_changes_it():
    count = 0
    for position in positions("coatl", 3, 2, keep=3):
        seen = position.view(None).to_json()
        for seat in seen["seats"]:
            assert [card for card in seat["hand"] if card != "?"] == seat["shown"]
            assert [card for card in seat["temples"] if card != "?"] == seat["shown_temples"]
            assert set(seat["discarded"]) <= {"?"}
        for viewer in range(3):
            for seed in range(2):
                try:
                    world = position.view(viewer).guess(seed).view(None)
                except ai.PositionError:  # no world was found
                    continue
                if "memory" not in seen and "memory" not in world.to_json():
                    assert world.to_json() == seen
                    count += 1
    assert count > 50


def test_tzolkin_hides_wealth_tiles_only_while_they_are_chosen():
    position = ai.new_game("tzolkin", players=2, seed=4)
    seen = position.view(None)
    assert seen.viewer == SPECTATOR
    assert {tile for seat in seen.to_json()["seats"] for tile in seat["dealt"]} == {"?"}
    position.push(position.legal_actions()[0])
    assert [tile for seat in position.view(None).to_json()["seats"] for tile in seat["wealth"]] == ["?", "?"]
    position.push(position.legal_actions()[0])
    assert position.view(None) == position


@pytest.mark.parametrize("game", ["mexica", "nim"])
def test_games_that_hide_nothing_have_the_position_itself(game):
    position = ai.new_game(game, seed=1)
    assert position.view(None) == position


def test_nothing_can_be_played_or_searched_in_it():
    position = ai.load("examples/coatl_midgame.json")
    seen = position.view(None)
    for call in (
        seen.legal_actions,
        lambda: seen.push(position.legal_actions()[0], partial=True),
        lambda: seen.push_action("pass"),
        seen.guess,
        lambda: ai.best_turn(seen, iterations=5),
    ):
        with pytest.raises(ai.PositionError, match="the view of a spectator") as caught:
            call()
        assert caught.value.reason == "NOT_ITS_VIEW"
    with pytest.raises(ai.PositionError) as caught:
        seen.view(0)
    assert caught.value.reason == "VIEWER_MISMATCH"
    for seat in (-1, 2):
        with pytest.raises(ai.PositionError) as caught:
            position.view(seat)
        assert caught.value.reason == "OUT_OF_RANGE"


def test_no_event_is_drawn_in_it():
    position = next(each for each in positions("coatl", 2, 3, keep=1) if each.is_chance)
    for call in (position.view(None).draw, lambda: position.view(None).push_action("deal P01")):
        with pytest.raises(ai.PositionError, match="the view of a spectator"):
            call()


@pytest.mark.parametrize(
    ("change", "reason", "where"),
    [
        ({"viewer": -2}, "OUT_OF_RANGE", "viewer"),
        ({"viewer": 1}, "VIEWER_MISMATCH", "seats[1].hand"),
        ({"viewer": None}, "VIEWER_MISMATCH", "seats[0].hand"),
    ],
)
def test_a_view_is_validated_as_that_of_its_viewer(change, reason, where):
    data = ai.load("examples/coatl_midgame.json").view(None).to_json() | change
    with pytest.raises(ai.PositionError) as caught:
        Position.from_json(data)
    assert (reason, f"$.{where}") in {(one.reason, one.path) for one in caught.value.violations}


def test_a_card_that_not_all_have_seen_is_refused():
    full = ai.load("examples/coatl_midgame.json")
    data = full.view(0).to_json() | {"viewer": SPECTATOR}
    with pytest.raises(ai.PositionError, match="a spectator has not seen"):
        Position.from_json(data)
    tiles = ai.new_game("tzolkin", seed=1).view(0).to_json() | {"viewer": SPECTATOR}
    with pytest.raises(ai.PositionError):
        Position.from_json(tiles)


@pytest.mark.parametrize("game", HIDING)
@pytest.mark.parametrize("viewer", [-1, 2, 99])
def test_nothing_is_dealt_for_a_seat_that_is_not_there(game, viewer):
    state = ai.new_game(game, players=2, seed=1).state
    action = state.legal_actions()[0]
    with pytest.raises(ValueError, match=f"seat {viewer}: expected 0 to 1"):
        registry.get(game).views.deal_for(state, viewer, action)

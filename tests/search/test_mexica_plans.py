"""Founding plans: what they promise is true."""

import pytest

import mexica_ai as ai
from cext.games.mexica import plans
from mexica_ai.engines import make_engine
from mexica_ai.game import registry

format_action = registry.get("mexica").text.format_action


def walk(players, seed):
    """Yield the positions of a game in which good and random turns alternate."""
    position = ai.new_game("mexica", players=players, seed=seed)
    with make_engine("mcts,iterations=60") as good, make_engine("random") as odd:
        while not position.is_over:
            yield position
            engine = (good, odd)[position.to_json()["round"] % 3 == 2]
            position.push(engine.best_turn(position, seed=seed).turn)


def district_of(position, space):
    for district in position_districts(position):
        if space in district:
            return district
    return set()


def position_districts(position):
    """Return the sets of dry spaces that are joined edge to edge, by the independent reference."""
    from reference.mexica import LAND, NEIGHBOURS

    canals = {space for run in position.to_json()["canals"] for space in run.split("-")}
    dry, found = set(LAND) - canals, []
    while dry:
        district, frontier = set(), [dry.pop()]
        while frontier:
            space = frontier.pop()
            district.add(space)
            near = [other for other in NEIGHBOURS[space] if other in dry]
            dry.difference_update(near)
            frontier += near
        found.append(district)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("players", [2, 3])
def test_digging_all_of_a_plan_closes_a_district_of_its_size(players):
    checked, sizes = 0, set()
    for seed in (1, 2):
        for position in walk(players, seed):
            if position.to_json()["phase"] != "play":
                continue
            for plan in plans.find(position.state, 11):
                tiles = [format_action(action) for action in plan["tiles"]]
                after = position.copy()
                fields = after.to_json()
                if len(tiles) > fields["action_points"] + fields["seats"][after.to_move]["action_tokens"]:
                    continue
                for tile in tiles:
                    assert tile in after.legal_actions(), (position.to_json(), plan)
                    after.state.apply(registry.get("mexica").text.parse_action(tile))
                assert plan["size"] in map(len, position_districts(after)), tiles
                if plan["cost"] == len(tiles):  # the pilli is there
                    pilli = fields["seats"][after.to_move]["pilli"]
                    assert len(district_of(after, pilli)) == plan["size"]
                    found = f"found {plan['size']} "
                    assert any(action.startswith(found) for action in after.legal_actions())
                checked += 1
                sizes.add(plan["size"])
    assert checked > 40
    assert {3, 13} & sizes
    assert len(sizes) > 5


def test_all_sizes_occur_at_the_start_that_hold_the_palace():
    # Its five spaces cannot be dug away, and there must be room for a token and a temple.
    sizes = set()
    for seed in range(12):
        position = ai.new_game("mexica", players=2, seed=seed)
        for start in ("H6", "I7"):
            position.push([f"place {start}"])
        display = set(position.to_json()["calpulli"]["display"])
        found = {plan["size"] for plan in plans.find(position.state, 11)}
        assert found <= display
        sizes |= found
    assert sizes == set(range(7, 14))


def test_plans_are_sorted_by_worth_and_refuse_another_game():
    position = ai.load("examples/mexica_midgame.json")
    worths = [plan["worth"] for plan in plans.find(position.state, 11)]
    assert worths == sorted(worths, reverse=True)
    with pytest.raises(TypeError, match="expected a state of mexica"):
        plans.find(ai.new_game("nim").state)

"""The features of Tzolk'in's evaluation, and the plans behind them."""

import pytest
from tzolkin_builder import build
from weighed import categorize

import mexica_ai as ai
from cext.games.tzolkin.spec import SPEC
from mexica_ai.game import registry

OWN, SHARED = SPEC.own_features, SPEC.shared_features


def at(players=2, **changes):
    return ai.Position.from_json(build(players, **changes))


def own(position, name):
    """Return a feature of each seat."""
    return [float(value) for value in SPEC.features(position.state)[:, OWN.index(name)]]


def shared(position, name):
    features = SPEC.features(position.state)[:, 3 * len(OWN) + SHARED.index(name)]
    assert len(set(features.tolist())) == 1
    return float(features[0])


def outlook(position):
    return [7 * value for value in own(position, "estimate_logit")]


def test_features_of_a_position():
    position = at(
        3,
        day=13,
        food_days=1,
        start_player=1,
        to_move=1,
        start_space=None,
        teeth_corn=2,
        seats={
            0: {"corn": 7, "wood": 2, "gold": 1, "skulls": 1, "workers": 4, "score": 12, "light": False},
            1: {"temples": {"chaac": 3}, "technologies": {"extraction": 2}},
            2: {"temples": {"chaac": 3, "kukulcan": -1}},
        },
        gears={"palenque": "..0", "chichen_itza": "....0"},
    )
    assert own(position, "score") == pytest.approx([0.24, 0, 0])
    assert own(position, "corn") == pytest.approx([0.7, 0, 0])
    assert own(position, "wood") == pytest.approx([0.4, 0, 0])
    assert own(position, "materials_at_end")[0] == pytest.approx((0.25 * 7 + 0.5 * 2 + 1 + 3) / 10)
    assert own(position, "workers") == pytest.approx([1 / 3, 0, 0])
    assert own(position, "workers_home") == pytest.approx([2 / 6, 3 / 6, 3 / 6])
    assert own(position, "light") == [0, 1, 1]
    assert own(position, "palenque_at_2") == [1, 0, 0]
    assert own(position, "chichen_at_4") == [1, 0, 0]
    assert own(position, "leads_chaac") == [0, 0.5, 0.5]
    assert own(position, "leads_kukulcan") == [0.5, 0.5, 0]
    assert own(position, "extraction_2") == [0, 1, 0]
    assert own(position, "extraction_3") == [0, 0, 0]
    # Day 13 of 27, and no seat has moved yet.
    assert own(position, "turns") == pytest.approx([15 / 27] * 3)
    assert own(position, "waits") == pytest.approx([2 / 3, 0, 1 / 3])
    assert own(position, "is_first") == [0, 1, 0]
    # 4 workers eat 8 corn tomorrow; seats 1 and 2 lack 6.
    assert own(position, "hunger") == pytest.approx([8 / 12, 6 / 12, 6 / 12])
    assert own(position, "short") == pytest.approx([1 / 6, 1, 1])
    assert own(position, "short_soon") == pytest.approx([1 / 12, 1 / 2, 1 / 2])
    assert shared(position, "food") == pytest.approx(1 / 7)
    assert shared(position, "food_held_1") == 1
    assert shared(position, "food_held_2") == 0
    assert shared(position, "teeth") == pytest.approx(2 / 5)
    assert (shared(position, "three_seats"), shared(position, "four_seats")) == (1, 0)


def test_temples_pay_what_the_rules_say():
    # Chaac 2 (4 points) alone at the top: 6 for the lead in the first age, 2 in the second. Others share their starts:
    # half of 2 and 4 for both seats, half of 6 and 4.
    position = at(2, day=10, food_days=1, seats={0: {"temples": {"chaac": 3}}})
    assert own(position, "temples_first_age") == pytest.approx([(6 + 6 + 1 + 2) / 20, (1 + 2) / 20])
    assert own(position, "temples") == pytest.approx([(6 + 2 + 3 + 2) / 20, (3 + 2) / 20])
    late = at(2, day=22, food_days=3, seats={0: {"temples": {"chaac": 3}}})
    assert own(late, "temples_first_age") == [0, 0]
    assert own(late, "temple_rewards") == [0, 0]
    assert own(position, "temple_rewards")[0] > own(position, "temple_rewards")[1] == 0


def test_seats_that_have_moved_have_a_turn_less():
    position = at(4, day=20, food_days=2, start_player=2, to_move=0)
    # Order of play: 2, 3, 0, 1.
    assert own(position, "turns") == pytest.approx([8 / 27, 8 / 27, 7 / 27, 7 / 27])


@pytest.mark.parametrize(
    "better",
    [
        {"score": 5},
        {"corn": 6},
        {"gold": 2},
        {"skulls": 1},
        {"temples": {"quetzalcoatl": 2}},
        {"technologies": {"architecture": 1}},
        {"workers": 4},
        {"buildings": ["a1_farm_one"]},
        {"monuments": ["m_tech_levels"], "technologies": {"extraction": 3}},
    ],
)
def test_more_is_worth_more(better):
    plain = {key: better[key] for key in ("technologies",) if "monuments" in better}
    before = at(2, day=10, food_days=1, seats={0: plain})
    after = at(2, day=10, food_days=1, seats={0: better})
    assert outlook(after)[0] > outlook(before)[0]


def test_what_is_in_reach_by_the_next_food_day():
    # The food day is in two days; seat 0 needs 6 corn.
    out = {"gears": {"palenque": "0", "yaxchilan": "..0", "tikal": "0"}, "seats": {0: {"corn": 1}}}
    soon, late = (at(2, day=day, **out) for day in (6, 7))
    assert own(soon, "food_turns")[0] * 8 == 3 == own(late, "food_turns")[0] * 8 + 1
    assert own(soon, "soon_skulls") == [1 / 2, 0]
    assert own(late, "soon_skulls") == [0, 0]
    assert own(soon, "soon_builders")[0] == pytest.approx(1 / 3)
    assert own(late, "soon_builders") == [0, 0]
    # Palenque 2 brings 4 corn, Yaxchilan 3 two; in one day Palenque 1 brings 3.
    assert own(soon, "soon_corn")[0] * 10 == pytest.approx(6)
    assert own(soon, "soon_short")[0] == 0
    assert own(late, "soon_corn")[0] * 10 == pytest.approx(5)
    assert own(at(2, day=7, gears={"palenque": "0"}), "soon_short")[0] * 6 == pytest.approx(3)
    assert own(at(2, day=7, seats={0: {"corn": 10}}), "spare")[0] * 10 == pytest.approx(4)
    # Without a worker there is nothing; what the plans hope for later is not in reach before.
    for gear in ("palenque", "yaxchilan", "tikal"):
        assert own(soon, f"soon_{gear}")[0] > 0 == own(soon, f"soon_{gear}")[1]
        assert own(soon, f"soon_{gear}")[0] >= own(late, f"soon_{gear}")[0]
    assert own(late, "soon_idle")[1] > 0 == own(at(2, day=8), "soon_idle")[1]
    assert own(soon, "in_4")[0] > own(soon, "in_1")[0] > 0


def test_workers_wait_for_better_actions():
    early = {"palenque": "1", "chichen_itza": ".0"}
    place = {"seats": {0: {"skulls": 1}}, "day": 4, "gears": early}
    # 4 points and a step now; with each day a better space comes nearer.
    now, plan = (own(at(2, **place), name)[0] for name in ("now", "plan_chichen"))
    assert plan * 8 > now * 8 > 3
    assert own(at(2, **place), "waiting")[0] > 0
    # On the last day there is nothing to wait for.
    last = place | {"day": 27, "food_days": 3}
    assert own(at(2, **last), "plan_chichen")[0] == own(at(2, **last), "now")[0]
    assert own(at(2, **last), "waiting") == [0, 0]
    # Without a skull nothing can be placed there now.
    assert own(at(2, **place | {"seats": {}}), "now")[0] == 0


def test_a_building_counts_if_it_can_be_paid_and_less_what_lacks():
    display = {"buildings": ["a2_tomb_points"], "day": 20, "food_days": 2}
    paid = at(2, **display, seats={0: {"wood": 1, "gold": 2}})
    assert own(paid, "building")[0] > 0
    # No building of the second age costs a gold alone.
    lacking = at(2, **display, seats={0: {"gold": 1}})
    assert own(lacking, "building")[0] == 0
    assert 0 < own(lacking, "building_later")[0] < own(paid, "building_later")[0]


def test_monuments_are_worth_what_they_will_score():
    rich = {"wood": 2, "stone": 1, "gold": 3}
    levels = {"technologies": dict.fromkeys(("agriculture", "extraction", "architecture", "theology"), 3)}
    options = {"monuments": ["m_tech_levels"], "day": 26, "food_days": 3}
    high = at(2, **options, seats={0: rich | levels})
    low = at(2, **options, seats={0: rich})
    assert own(high, "monument")[0] - own(low, "monument")[0] > 1
    # 36 points, and what six blocks are worth.
    assert own(high, "monument")[0] * 15 == pytest.approx(36 - 5, abs=4)
    # On the last day there is no time to get what lacks.
    assert own(at(2, monuments=["m_tech_levels"], day=27, food_days=3, seats={0: levels}), "monument_later")[0] == 0


def test_each_skull_counts_for_a_space_that_is_free_and_near_enough():
    def skull_plan(**changes):
        return own(at(2, **{"day": 12, "food_days": 1, "seats": {0: {"skulls": 2}}} | changes), "skull_plan")[0]

    assert skull_plan(seats={0: {"skulls": 0}}) == 0
    assert skull_plan(seats={0: {"skulls": 1}}) < skull_plan()
    assert skull_plan(skulls_placed=[8, 9]) < skull_plan()
    assert skull_plan(day=26, food_days=3) < skull_plan()


def test_priors_do_not_see_what_other_seats_keep():
    """The last seat's choice of starting wealth ends the choosing, and shows the others'."""
    position = ai.new_game("tzolkin", players=2, seed=5)
    first = position.legal_actions()
    shares = set()
    for kept in (first[0], first[-1]):
        after = position.copy()
        after.push([kept])
        shares.add(tuple(categorize(after.state)[3].tolist()))
    assert len(shares) == 1


def test_priors_leave_out_middling_amounts_at_the_market():
    position = at(2, phase="picking", last="", pending=["trade"], seats={0: {"corn": 40}})
    _, actions, _, shares = categorize(position.state)
    parts = registry.get("tzolkin")
    kept = [parts.text.format_action(int(a)) for a, share in zip(actions, shares, strict=True) if share > 0]
    assert kept == ["buy W 1", "buy W 2", "buy W 3", "buy W 20", "buy S 1", "buy S 2", "buy S 3", "buy S 13",
                    "buy G 1", "buy G 2", "buy G 3", "buy G 10"]  # fmt: skip

"""Why a turn: the sentences are facts of the rules and of the search."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pure_shown
import pytest
import tzolkin_builder
from mexica_builder import build
from servers import RunningServer

import mexica_ai as ai
from mexica_ai.analysis.explain import MIN_VISITS, explain
from mexica_ai.analysis.results import Forecast
from mexica_ai.cli.main import main
from mexica_ai.game import registry
from mexica_ai.game.steps import play_steps
from mexica_ai.games.mexica.board import STANDARD_POOL
from mexica_ai.rpc import wire
from mexica_ai.v1 import engine_pb2

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module", params=["coatl", "mexica", "tzolkin"])
def searched(request):
    position = ai.load(EXAMPLES / f"{request.param}_midgame.json")
    return position, ai.best_turn(position, iterations=10_000, seed=2)


def test_the_forecast_is_that_of_the_nodes(searched):
    position, result = searched
    best = result.candidates[0]
    assert best.forecast[0].visits == result.iterations
    assert len(best.forecast) == len(best.turn) + 1
    assert (best.forecast[-1].visits, best.forecast[-1].value) == (best.visits, best.value)
    assert sum(point.visits >= MIN_VISITS for point in best.forecast) > len(best.turn) / 2
    for point in best.forecast:
        assert 0 <= point.visits <= result.iterations
        assert sum(point.value) == pytest.approx(1 if point.visits else 0)
        assert len(point.expected_scores) == (position.players if point.visits else 0)


def test_each_action_is_explained(searched):
    position, result = searched
    found = explain(position, result)
    assert [each.step.action for each in found.steps] == result.turn
    for each in found.steps:
        assert each.sentence.startswith(f"{each.step.action}: ")
        assert all(str(amount) in each.sentence for amount in each.step.cost.values())
        assert (each.forecast is None) == ("expects" not in each.sentence)
        assert each.forecast is None or each.forecast.visits >= MIN_VISITS
    assert found.sentences[: len(found.steps)] == [each.sentence for each in found.steps]
    seat = position.to_move
    first, second = result.candidates[:2]
    assert found.gives_away == first.value[seat] - second.value[seat]
    assert "; ".join(second.turn) in found.sentences[len(found.steps)]
    assert found.reply == first.line[0]
    after = position.copy()
    after.push(result.turn)
    assert found.sentences[-1] == f"The search expects seat {after.to_move} to answer: {'; '.join(first.line[0])}."
    assert ai.explain is explain


def test_only_what_the_seat_to_move_sees_counts(searched):
    position, result = searched
    seen = position.view(position.to_move)
    found = explain(position, result)
    assert found.steps[0].step.position.viewer == seen.viewer
    assert explain(seen, result).sentences == found.sentences


def last_choice():
    """Return a position of Tzolk'in in which the last seat keeps its tiles; then those of all seats are shown."""
    position = ai.new_game("tzolkin", seed=1)
    position.push(position.legal_actions()[0])
    return position


def end_of_period():
    """Return a position of Mexica whose next turn ends period 1, and so uncovers which tokens come next."""
    hidden = {"pool": [*STANDARD_POOL, 13], "upcoming": [13, 12, 11, 10, 9, 8, 7]}
    data = build(3, display=[], built_all=[0], to_move=2, pillis=["H6", "C9", "D9"], **hidden)
    return ai.Position.from_json(data)


@pytest.mark.parametrize("deal", [last_choice, end_of_period])
def test_a_last_action_that_uncovers_something_is_explained_as_that(deal):
    position = deal()
    seen = position.view(position.to_move)
    result = ai.best_turn(seen, iterations=100, seed=1)
    found = explain(seen, result)
    assert [each.step.action for each in found.steps] == result.turn[:-1]
    assert found.sentences[len(found.steps)].startswith(f"{result.turn[-1]}: uncovers what is hidden")
    assert explain(position, result).sentences == found.sentences
    assert result.svg(seen).startswith("<svg")


def test_a_game_in_python_uncovers_no_guess(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    registry.register(pure_shown.GAME)
    position = ai.new_game("shown", seed=1)
    result = ai.best_turn(position, iterations=100, seed=1)
    (look, *_) = (each for each in result.candidates if each.turn == ["look", "take"])
    found = explain(position, replace(result, candidates=[look]))
    assert found.steps == []
    assert found.sentences[0].startswith("look: uncovers what is hidden")


def test_a_turn_of_a_level_is_not_said_to_be_better_searched_than_it_is():
    position = ai.new_game("nim", piles=[3, 4, 5])
    result = ai.best_turn(position, iterations=400, seed=2)
    first, second = result.candidates[:2]
    played = replace(second, visits=2, value=[0.1, 0.9])
    found = explain(position, replace(result, candidates=[played, replace(first, visits=90, value=[0.6, 0.4])]))
    (sentence,) = (one for one in found.sentences if "; ".join(first.turn) in one and "against" in one)
    assert "is better by this search" in sentence
    assert "90 iterations against 2" in sentence
    assert "too few" not in sentence


@pytest.mark.parametrize(
    ("game", "turn", "words"),
    [
        (
            "mexica",
            "canal P7-Q7; canal Q8-Q9; walk T7; walk S7; found 12 O5; temple 2 P5; end",
            [
                [],
                ["makes districts of 12 and 86"],
                [],
                [],
                ["nobody leads the district of 12"],
                ["leads the district of 12, 2 levels to 0", "a scoring now would bring it 16 (+12)"],
                [],
            ],
        ),
        ("coatl", "take head K", [["stored pieces 5 to 6"]]),
        (
            "tzolkin",
            "pick palenque 1 1; pick yaxchilan 4 4; end",
            [["workers on the gears 3 to 2"], ["workers on the gears 2 to 1"], []],
        ),
        ("nim", "take 3 1", [[]]),
    ],
)
def test_the_effects_of_actions(game, turn, words):
    path = EXAMPLES / (f"{game}_midgame.json" if game != "nim" else "nim.json")
    position = ai.load(path)
    describe, before = registry.get(game).reasons.describe_effects, position.to_json()
    for step, expected in zip(play_steps(position, turn), words, strict=True):
        after = step.position.to_json()
        assert describe(before, after, 0) == expected, step.action
        before = after


def test_the_start_space_of_tzolkin_is_no_gear():
    position = ai.Position.from_json(tzolkin_builder.build(2, seats={0: {"corn": 5}}))
    describe, found, before = registry.get("tzolkin").reasons.describe_effects, [], position.to_json()
    for step in play_steps(position, "place tikal; place start; end"):
        after = step.position.to_json()
        found.append([words for words in describe(before, after, 0) if "gears" in words])
        before = after
    assert found == [["workers on the gears 0 to 1"], [], []]


def test_effects_name_who_leads_and_what_a_tile_brings():
    mexica = ai.load(EXAMPLES / "mexica_midgame.json").to_json()
    shared = json.loads(json.dumps(mexica))
    shared["temples"].append({"at": "C6", "seat": 0, "level": 1})
    lost = json.loads(json.dumps(mexica))
    lost["temples"].append({"at": "C6", "seat": 2, "level": 3})
    describe = registry.get("mexica").reasons.describe_effects
    assert "shares the lead in the district of 9 with seat 1, 1 level each" in describe(mexica, shared, 0)
    assert "seat 2 leads the district of 9" in describe(mexica, lost, 0)

    tzolkin = ai.load(EXAMPLES / "tzolkin_midgame.json").to_json()
    after = json.loads(json.dumps(tzolkin))
    own = after["seats"][0]
    own["temples"]["chaac"] += 2
    own["technologies"]["theology"] += 1
    own["buildings"].append("a2_tomb_points")
    own["monuments"].append("m_shrines")
    found = registry.get("tzolkin").reasons.describe_effects(tzolkin, after, 0)
    assert found == [
        "Chaac step 1 to 3, which it leads",
        "theology 0 to 1",
        "its effect: 8 points",
        "it counts 4 points a shrine",
    ]

    coatl = ai.load(EXAMPLES / "coatl_midgame.json").to_json()
    after = json.loads(json.dumps(coatl))
    after["seats"][0]["tokens"] = []
    after["seats"][0]["coatls"][0] |= {"head": True, "tail": True, "closed": True, "pieces": "KKKKR"}
    found = registry.get("coatl").reasons.describe_effects(coatl, after, 0)
    assert found == ["uses the token promise", "Coatl 1 has 5 pieces and 6 points (+1)", "Coatl 1 is complete"]


@pytest.mark.parametrize("game", registry.names())
def test_effects_of_random_play(game):
    rng, position = random.Random(3), ai.new_game(game, players=3, seed=3)
    describe = registry.get(game).reasons.describe_effects
    number = 0
    for _ in range(120):
        if position.is_over:
            break
        if position.is_chance:
            position.draw(seed=1)
            continue
        before, seat = position.view(position.to_move).to_json(), position.to_move
        position.push_action(rng.choice(position.legal_actions()))
        clauses = describe(before, position.view(seat).to_json(), seat)
        assert all(clause and "\n" not in clause for clause in clauses)
        number += len(clauses)
    assert (number > 5) == (game != "nim")


def test_what_is_not_known_is_not_told():
    position = ai.load(EXAMPLES / "mexica_midgame.json")
    result = ai.best_turn(position, iterations=300, seed=1)
    best = replace(result.candidates[0], forecast=[Forecast(MIN_VISITS - 1, [0.2] * 3, [1.0] * 3)], line=[])
    found = explain(position, replace(result, candidates=[best]))
    assert (found.gives_away, found.reply) == (None, None)
    assert len(found.sentences) == len(best.turn)
    assert not any("expects" in sentence for sentence in found.sentences)


def test_a_runner_up_with_a_higher_mean_is_told_as_that():
    position = ai.load(EXAMPLES / "mexica_midgame.json")
    result = ai.best_turn(position, iterations=300, seed=1)
    first, second = result.candidates[:2]
    high = replace(second, value=[first.value[0] + 0.1, *second.value[1:]])
    found = explain(position, replace(result, candidates=[first, high]))
    assert found.gives_away == pytest.approx(-0.1)
    assert any("has a higher mean" in sentence for sentence in found.sentences)


def test_the_command_and_the_service_explain_alike(capsys):
    path = str(EXAMPLES / "mexica_midgame.json")
    assert main(["best", path, "--iterations", "400", "--seed", "3", "--memory", "64", "--explain", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["explanation"]
    assert main(["best", path, "--iterations", "400", "--seed", "3", "--memory", "64", "--explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    why = lines[lines.index("Why:") + 1 :]
    why = why[: why.index("")]
    assert why[0].startswith("- ")
    assert any(line.startswith("  ") for line in why)  # a sentence goes on
    assert all(line.startswith(("- ", "  ")) for line in why)
    server = RunningServer(None, memory_mb=64)
    request = engine_pb2.BestTurnRequest(
        position=wire.position_to_message(ai.load(path)),
        limits=engine_pb2.Limits(iterations=400, threads=1),
        seed=3,
        explain=True,
    )
    answer = server.stub.BestTurn(request).result
    request.explain = False
    assert not server.stub.BestTurn(request).result.explanation
    server.close()
    assert list(answer.explanation) == found
    assert explain(ai.load(path), wire.result_from_message(answer)).sentences == found

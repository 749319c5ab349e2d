"""Drills on the page, over HTTP: made of a file or of a review, answered, kept."""

import json
from pathlib import Path

import pytest
from pages import NIM

import mexica_ai as ai
from mexica_ai.analysis import drill
from mexica_ai.analysis.annotate import TurnEvaluation, evaluate_record, with_evaluations
from mexica_ai.table.events import Posed
from mexica_ai.web import drills, starts

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def record():
    return with_evaluations(NIM, evaluate_record(NIM, iterations=200, seed=1))


@pytest.fixture(scope="module")
def text(record):
    found = drill.exercises_of(record, [TurnEvaluation(**one) for one in record["evaluations"]["turns"]], name="g")
    return drill.drill_text(found)


def do(site, snapshot, what, status=200, **more):
    data = {"version": snapshot["version"], "do": what, **more}
    return site.call("POST", f"/api/games/{snapshot['id']}/drill", data, status)


def opened(site, text):
    return site.call("POST", "/api/games", {"text": text}, 201)


def test_a_file_is_answered_exercise_by_exercise(site, text):
    one = opened(site, text)
    first = json.loads(text.splitlines()[0])
    shown = one["drill"]
    assert (shown["number"], shown["of"], shown["text"], shown["state"]) == (1, 2, "take 2 2", "enter")
    assert (shown["better"], shown["better_text"], shown["hint"]) == (None, None, "")
    assert shown["source"] == "turn 1 of game 1 of g"
    # The turn that was played, then a hint, then the better one.
    wrong = do(site, one, "answer", actions=["take 2 2"])
    assert "Not solved: that is the turn played then" in wrong["drill"]["verdict"]["text"]
    assert (wrong["draft"]["actions"], wrong["drill"]["state"]) == (["take 2 2"], "enter")
    hinted = do(site, wrong, "hint")
    assert hinted["drill"]["hint"] == first["better"][0]
    solved = do(site, hinted, "answer", actions=first["better"])
    shown = solved["drill"]
    assert (shown["state"], shown["solved"], shown["points"], shown["better"]) == ("done", 1, 50, first["better"])
    assert do(site, solved, "answer", 422, actions=first["better"])["reason"] == "NOT_NOW"
    second = do(site, solved, "next")
    assert (second["drill"]["number"], second["to_move"], second["draft"]["actions"]) == (2, 1, [])
    told = do(site, second, "show")
    assert (told["drill"]["state"], told["drill"]["points"]) == ("done", 50)
    # The unsolved one comes again.
    assert do(site, told, "next")["drill"]["number"] == 2


def test_another_turn_is_searched_by_the_service(site, text):
    one = opened(site, text)
    others = {"take 1 1", "take 1 2", "take 2 1", "take 3 2"} - {json.loads(text.splitlines()[0])["better"][0]}
    asked = do(site, one, "answer", actions=[min(others)])
    assert asked["drill"]["state"] == "judging" or asked["drill"]["verdict"] is not None
    judged = site.await_game(one, lambda now: now["drill"]["verdict"] is not None)
    said = judged["drill"]["verdict"]["text"]
    assert "it gives away" in said
    assert "the engine's turn" in said
    assert "turn played then" in said
    shown = site.game(one, lang="pt")["drill"]
    assert "jogada do programa" in shown["verdict"]["text"]
    assert (shown["words"], judged["drill"]["words"]) == ("pegou 2 do monte 2", "took 2 from pile 2")
    assert shown["source"] == "turno 1 da partida 1 de g"
    assert judged["drill"]["state"] == ("done" if judged["drill"]["verdict"]["is_solved"] else "enter")


def test_a_drill_is_entered_with_the_draft_and_takes_no_turns(site, text):
    one = opened(site, text)
    assert site.command(one, 422, actions=["take 2 2"])["reason"] == "DRILL"
    assert site.command(one, 422, resign=True)["reason"] == "DRILL"
    drafted = site.call("PUT", f"/api/games/{one['id']}/draft", {"version": one["version"], "actions": ["take 2 2"]})
    assert do(site, drafted, "answer")["drill"]["verdict"]["is_solved"] is False
    assert do(site, one, "hint", 409)["reason"] == "STALE"
    plain = site.new()
    assert do(site, plain, "hint", 422)["reason"] == "NO_DRILL"
    entry = next(game for game in site.call("GET", "/api/games")["games"] if game["id"] == one["id"])
    assert entry["drill"] == {"of": 2, "solved": 0, "points": 0}


def test_the_mistakes_of_a_review_are_practised(site, record):
    review = site.call("POST", "/api/games", {"text": json.dumps(record)}, 201)
    made = site.call("POST", "/api/games", {"from": review["id"], "mistakes": {"seat": 1}}, 201)
    assert (made["drill"]["of"], made["drill"]["seat"]) == (1, 1)
    assert made["drill"]["source"].startswith("turn 2 of game 1 of nim-")
    both = site.call("POST", "/api/games", {"from": review["id"], "mistakes": {"seat": None}}, 201)
    assert both["drill"]["of"] == 2
    # A level keeps its name, though nobody plays its seat.
    seats = [{"kind": "engine", "level": 3, "seconds": 0.1}, {"kind": "person", "name": "Ana"}]
    other = site.call("POST", "/api/games", {"text": json.dumps(record), "seats": seats}, 201)
    named = site.call("POST", "/api/games", {"from": other["id"], "mistakes": {"seat": 1}}, 201)
    assert named["names"][0] == "Level 3"
    bare = site.call("POST", "/api/games", {"text": json.dumps(NIM)}, 201)
    data = {"from": bare["id"], "mistakes": {"seat": None}}
    assert site.call("POST", "/api/games", data, 422)["reason"] == "NO_MISTAKES"
    assert site.call("POST", "/api/games", {"game": "nim", "mistakes": {"seat": None}}, 400)["reason"] == "BAD_REQUEST"


def test_what_is_wrong_in_a_file_names_the_line(site, text):
    first, second = text.splitlines()
    data = {"text": first + "\n" + second.replace('"seat": 1', '"seat": 0')}
    assert "line:2: $.seat: given 0; expected 1" in site.call("POST", "/api/games", data, 422)["message"]


def test_a_drill_goes_on_after_a_restart(start, text):
    site = start()
    one = opened(site, text)
    better = json.loads(text.splitlines()[0])["better"]
    solved = do(site, one, "answer", actions=better)
    do(site, solved, "next")
    site.kill()
    site = start()
    again = site.game(one)["drill"]
    assert (again["number"], again["solved"], again["points"], again["state"]) == (2, 1, 100, "enter")


def test_hidden_hands_stay_hidden(site):
    record = json.loads((EXAMPLES / "coatl_game.jsonl").read_text().splitlines()[0])
    found = list(evaluate_record(record, iterations=5, seed=1, turns=range(0, 30, 3)))
    losing = [TurnEvaluation(**{**one.to_json(), "loss": 0.3}) for one in found if one.choice != one.turn]
    text = drill.drill_text(drill.exercises_of(record, losing, name="c"))
    one = opened(site, text)
    seats = {json.loads(line)["seat"] for line in text.splitlines()}
    assert len(seats) > 1
    for line in text.splitlines():
        exercise = json.loads(line)
        assert one["drill"]["turn"] == exercise["turn"]
        assert (one["viewer"], one["open"]) == (exercise["seat"], False)
        assert one["text"].strip() == str(ai.Position.from_json(exercise["position"])).strip()
        # A page with the view of another seat gets that of the exercise, too.
        other = site.game(one, viewer=1 - exercise["seat"])
        assert other["viewer"] == exercise["seat"]
        assert site.call("GET", f"/api/games/{one['id']}/record", status=403)["reason"] == "HIDDEN"
        picture = site.call("GET", f"/api/games/{one['id']}/at/0/all.svg", params={"viewer": 1 - exercise["seat"]})
        assert picture.startswith("<svg")
        one = do(site, one, "next")


def test_the_words_of_an_exercise_are_worked_out_once(text, monkeypatch):
    game = starts.create({"text": text}, names=[], examples={}, find=None)
    told = []
    monkeypatch.setattr(drills, "words_of_turn", lambda world, turn, names: told.append(turn) or "words")
    assert [game.drill.to_json()["words"] for _ in range(3)] == ["words"] * 3
    assert len(told) == 1
    game.change(lambda table: [Posed(1)])
    assert game.drill.to_json()["words"] == "words"
    assert len(told) == 2

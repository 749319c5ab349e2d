"""Learning from games, over HTTP: lines that are kept beside a game, a turn that is looked at before it stays."""

import json

import pytest
from pages import NIM, PERSON, PageHere, engine
from played_games import records_of

import mexica_ai as ai
from mexica_ai.analysis.annotate import evaluate_record, with_evaluations
from mexica_ai.game.messages import speaking
from mexica_ai.game.notes import Note, noted, notes_of
from mexica_ai.game.position import Position
from mexica_ai.game.variations import Line, add, comment
from mexica_ai.table.events import TookBack, Turned
from mexica_ai.web import pictures, starts, telling


def opened(site, record=NIM):
    return site.call("POST", "/api/games", {"text": json.dumps(record)}, 201)


def note(site, snapshot, status=200, **data):
    return site.call("POST", f"/api/games/{snapshot['id']}/lines", {"version": snapshot["version"], **data}, status)


def exported(site, snapshot):
    return site.call("GET", f"/api/games/{snapshot['id']}/record")


def lines_of(snapshot):
    return {line["path"]: [turn["text"] for turn in line["turns"]] for line in snapshot["lines"]}


def test_lines_are_kept_in_the_game_and_its_record(tmp_path):
    with PageHere(tmp_path) as site:
        game = opened(site)
        assert (game["lines"], game["comments"]) == ([], {})
        game = note(site, game, do="add", line="", at=0, turns=[["take 3 2"], ["take 1 1"]])
        game = note(site, game, do="add", line="1", at=1, turns=[["take 2 1"]])
        assert lines_of(game) == {"1": ["take 3 2", "take 1 1"], "1.1": ["take 2 1"]}
        assert (game["lines"][0]["at"], game["lines"][1]["at"], game["lines"][0]["turns"][0]["seat"]) == (0, 1, 0)
        assert "2" in game["lines"][0]["turns"][0]["words"]
        game = note(site, game, do="comment", line="1", at=1, text="one pile")
        game = note(site, game, do="comment", line="", at=2, text="why not?")
        assert (game["lines"][0]["turns"][0]["comment"], game["comments"]) == ("one pile", {"2": "why not?"})
        record = exported(site, game)
        assert [one["turns"] for one in record["variations"]] == [[["take 3 2"], ["take 1 1"]]]
        assert (record["comments"], record["variations"][0]["comments"]) == (["", "why not?", ""], ["one pile", ""])
        # The record brings them into another game, and the journal into the next process.
        assert opened(site, record)["lines"] == game["lines"]
    with PageHere(tmp_path) as site:
        again = site.game(game)
        assert (again["lines"], again["comments"]) == (game["lines"], game["comments"])
        again = note(site, again, do="remove", line="1.1", at=0)
        again = note(site, again, do="comment", line="", at=2, text="")
        assert (lines_of(again), again["comments"]) == ({"1": ["take 3 2", "take 1 1"]}, {})
        assert lines_of(note(site, again, do="remove", line="1", at=1)) == {"1": ["take 3 2"]}


def test_wrong_lines_change_nothing(site):
    game = opened(site)
    assert note(site, game, 422, do="add", line="", at=0, turns=[["take 9 9"]])["reason"] == "BAD_ACTION"
    assert note(site, game, 422, do="add", line="", at=3, turns=[["take 1 1"]])["reason"] == "GAME_OVER"
    assert note(site, game, 422, do="comment", line="2", at=0, text="x")["reason"] == "NO_LINE"
    assert note(site, game, 422, do="remove", line="", at=0)["reason"] == "NO_LINE"
    assert note(site, game, 422, do="add", line="", at=7, turns=[["take 1 1"]])["reason"] == "OUT_OF_RANGE"
    assert note(site, game, 422, do="comment", line="x", at=0, text="x")["reason"] == "BAD_LINE"
    assert note(site, game, 400, do="comment", line="", at=0, text="x" * 10_001)["reason"] == "TOO_LONG"
    assert note(site, game, 400, do="guess", line="", at=0)["reason"]
    assert note(site, {**game, "version": 1}, 409, do="comment", line="", at=0, text="x")["reason"] == "STALE"
    assert site.game(game)["version"] == game["version"]


def test_lines_of_turns_that_are_taken_back_go(site):
    game = site.new(options={"piles": [2, 3]}, seats=[PERSON, PERSON])
    game = site.play(game, "take 1 1")
    game = note(site, game, do="add", line="", at=1, turns=[["take 1 2"]])
    game = note(site, game, do="add", line="", at=0, turns=[["take 3 2"]])
    game = site.play(game, "take 1 1")
    assert sorted(lines_of(game).values()) == [["take 1 2"], ["take 3 2"]]
    for _ in range(2):
        game = site.command(game, takeback=True)
    game = site.play(game, "take 2 1")
    assert lines_of(game) == {"1": ["take 3 2"]}


def test_lines_beside_hidden_hands_wait_for_the_end(site):
    game = site.new("coatl", seats=[PERSON, engine()])
    assert game["lines"] == []
    assert note(site, game, 403, do="comment", line="", at=0, text="x")["reason"] == "HIDDEN"


def large(num_lines, turns_of_first=300):
    """Return a record whose first line is long, and is left by all others near its end."""
    start = ai.new_game("nim", piles=[63] * 8)
    long = [["take 1 " + str(1 + index // 50)] for index in range(turns_of_first)]
    others = [
        {"at": 1 + turns_of_first - 100 + index // 5, "turns": [[f"take {2 + index % 5} 8"]]}
        for index in range(num_lines - 1)
    ]
    line = {"at": 0, "turns": [["take 2 7"], *long], "variations": others}
    nothing = {"turns": [], "termination": "unfinished", "scores": None, "winners": None}
    return {"game": "nim", "version": 1, "start": start.to_json(), **nothing, "variations": [line]}


def test_as_many_lines_as_may_be_are_kept_and_none_more(tmp_path):
    record = large(500)
    with PageHere(tmp_path) as site:
        game = opened(site, record)
        assert len(game["lines"]) == 500
        answer = note(site, game, 422, do="add", line="", at=0, turns=[["take 9 7"]])
        assert (answer["reason"], answer["message"]) == (
            "TOO_MANY_LINES",
            "variations: given 501; expected 500 beside a game at most",
        )
        # What is there already is no further line, and what goes makes room.
        game = note(site, game, do="add", line="1", at=1, turns=[["take 1 1"]])
        game = note(site, game, do="remove", line="1.499", at=0)
        game = note(site, game, do="add", line="", at=0, turns=[["take 9 7"]])
        assert exported(site, game)["variations"][0]["variations"] == record["variations"][0]["variations"][:-1]
    with PageHere(tmp_path) as site:
        again = site.game(game)
    assert (len(again["lines"]), again["lines"]) == (500, game["lines"])


def test_too_many_lines_of_a_record_are_named(site):
    answer = site.call("POST", "/api/games", {"text": json.dumps(large(501))}, 422)
    assert answer["reason"] == "TOO_MANY_LINES"
    assert "given 501; expected 500" in answer["message"]
    record = large(1)
    long = record["variations"][0]["turns"]
    for index in range(6):
        record["variations"].append({"at": 0, "turns": [[f"take {3 + index} 7"], *long[1:]]})
    answer = site.call("POST", "/api/games", {"text": json.dumps(record)}, 422)
    assert answer["reason"] == "TOO_MANY_TURNS"
    assert "given 2,107 turns in all; expected 2,000" in answer["message"]


def test_turns_that_many_lines_share_are_not_played_for_each(monkeypatch):
    played = 0
    push = Position.push

    def counted(self, *args, **options):
        nonlocal played
        played += 1
        return push(self, *args, **options)

    monkeypatch.setattr(Position, "push", counted)
    game = starts.create({"text": json.dumps(large(500))}, names=[], examples={}, find={}.__getitem__)
    entries = [game.table.started.to_json(), *(event.to_json() for event in game.table.events())]
    assert max(len(json.dumps(entry)) for entry in entries[3:]) < 200
    played = 0
    again = starts.restore("a" * 32, entries)
    assert again.table.tree == game.table.tree
    assert played < 2_000  # of 800 turns; each line from the start would be 125,000
    played = 0
    assert len(again.snapshot(None)["lines"]) == 500
    assert 800 <= played < 3_000
    played = 0
    again.renew()
    again.snapshot(None)
    assert played == 0


def told_where(game, position, number, turns):
    """Return in place of the words of turns where the first one is played."""
    return [(position.to_move, str(position)) for _ in turns]


def noted_in(game, *notes):
    for one in notes:
        game.change(lambda table, one=one: [one])


def test_kept_words_of_a_line_are_those_of_the_turns_before_it(monkeypatch):
    monkeypatch.setattr(telling, "tell_line", told_where)
    inner = {"at": 2, "turns": [["take 3 2"]]}
    line = {"at": 0, "turns": [["take 1 1"], ["take 1 1"], ["take 1 2"]], "variations": [inner]}
    record = {**large(1), "variations": [line]}
    game = starts.create({"text": json.dumps(record)}, names=[], examples={}, find={}.__getitem__)
    with speaking("pt"):
        game.telling.lines(game)
    noted_in(  # while no page speaks Portuguese
        game,
        Note("remove", (0,), 1),
        Note("add", (0,), 1, (("take 2 1",), ("take 1 2",))),
        Note("add", (0,), 2, (("take 3 2",),)),
    )
    with speaking("pt"):
        assert game.telling.lines(game) == telling.Telling().lines(game)


def test_kept_words_of_a_line_are_of_the_game_as_it_is_if_it_changes_while_they_are_told(monkeypatch):
    record = {**large(1), "turns": [["take 1 1"]], "variations": [{"at": 1, "turns": [["take 1 2"]]}]}
    game = starts.create({"text": json.dumps(record)}, names=[], examples={}, find={}.__getitem__)

    def told_late(*args):
        monkeypatch.setattr(telling, "tell_line", told_where)
        game.change(lambda table: [TookBack(0), Turned(("take 2 1",))])
        return told_where(*args)

    monkeypatch.setattr(telling, "tell_line", told_late)
    assert [path for path, _, _ in game.telling.lines(game)] == [(0,)]
    noted_in(game, Note("add", (), 1, (("take 1 2",),)))
    assert game.telling.lines(game) == telling.Telling().lines(game)


def test_random_events_that_a_page_leaves_out_are_drawn(site):
    record = records_of("coatl")[0]
    game = opened(site, record)
    assert record["turns"][6] == ["draw P08", "draw P11", "end"]
    assert record["turns"][7][0].startswith("reveal")
    turn, after = ["draw P11", "draw P08", "end"], record["turns"][8]
    game = note(site, game, do="add", line="", at=6, turns=[turn, after])
    first, event, last = game["lines"][0]["turns"]
    assert (first["actions"], last["actions"], event["seat"]) == (turn, after, None)
    assert event["actions"][0].startswith("reveal")
    # The same line again, and what was played, add nothing.
    for at, turns in ((6, [turn, event["actions"], after]), (6, record["turns"][6:9])):
        game = note(site, game, do="add", line="", at=at, turns=turns)
        assert len(game["lines"]) == 1


def test_a_side_line_goes_on_from_the_events_that_its_board_shows():
    record = records_of("coatl")[0]
    game = starts.create({"text": json.dumps(record)}, names=[], examples={}, find={}.__getitem__)
    turn, after = ["draw P11", "draw P08", "end"], record["turns"][8]
    start = pictures.position_of(game, 6, None, [], [])
    whole = pictures.with_events(game, start, [turn, after], 6)
    assert len(whole) == 3
    for line in (whole[:1], whole[:2], whole, [turn, after]):  # the second ends with the event, the last leaves it out
        _, steps = pictures.steps_of(game, 6, None, line=line[:-1], actions=line[-1])
        assert steps[-1][1] == pictures.position_of(game, 6, None, line, []).to_json()


def test_notes_make_a_tree_again():
    tree = Line(0, (("a",), ("b",)))
    for at, turns in ((0, [["c"], ["d"], ["e"]]), (0, [["c"], ["f"]]), (2, [["g"]]), (1, [["h"]])):
        tree, _ = add(tree, (), at, turns)
    tree = comment(comment(comment(tree, (0,), 1, "of c"), (0,), 0, "before"), (), 2, "of b")
    again = Line(0, tree.turns)
    for one in notes_of(tree):
        again, _ = noted(again, one)
    assert again == tree
    assert noted(tree, Note("remove", (0,), 2))[1] == (0,)


@pytest.fixture(scope="module")
def judged():
    return with_evaluations(NIM, evaluate_record(NIM, iterations=200, seed=1))


def test_a_bad_turn_is_asked_about_before_it_stays(site):
    game = site.new(options={"piles": [2, 3]}, seats=[PERSON, engine()])
    path = f"/api/games/{game['id']}/check"
    asked = site.call("POST", path, {"version": game["version"], "actions": ["take 2 2"]})
    assert "gives away" in asked["warning"]["text"]
    assert asked["warning"]["loss"] > 0.5
    # The best turn, and one that does not end, is illegal, or not a person's.
    assert site.call("POST", path, {"version": game["version"], "actions": ["take 1 2"]}) == {"warning": None}
    assert site.call("POST", path, {"version": game["version"]}, 422)["reason"] == "TURN_NOT_ENDED"
    site.call("POST", path, {"version": game["version"], "actions": ["take 9 9"]}, 422)
    assert site.call("POST", path, {"version": 1}, 409)["reason"] == "STALE"
    assert site.game(game)["turns"] == []


def test_a_check_of_hidden_hands_knows_what_the_seat_sees(site):
    game = site.new("coatl", seats=[PERSON, engine()], seed=2)
    actions = [next(one["action"] for one in game["entries"] if not one["action"].startswith("draw"))]
    for _ in range(9):
        data = {"version": game["version"], "actions": actions}
        game = site.call("PUT", f"/api/games/{game['id']}/draft", data)
        if game["draft"]["can_end"]:
            break
        actions.append(game["entries"][0]["action"])
    answer = site.call("POST", f"/api/games/{game['id']}/check", {"version": game["version"]})
    assert answer["warning"] is None or "Take it back?" in answer["warning"]["text"]


def test_a_review_says_why_and_what_comes(site, judged):
    bare = json.loads(json.dumps(judged))
    for one in bare["evaluations"]["turns"]:
        one.pop("explanation")
    turns = opened(site, bare)["annotation"]["turns"]
    wrong = [one for one in turns if one["mark"]]
    assert wrong
    for one in wrong:
        assert "gives away" in one["explanation"][0]
        assert bool(one["answer"]) == bool(one["answer_words"]) == bool(one["answer_text"])
    assert any(one["answer_words"] for one in wrong)
    assert all(abs(sum(one["shares"]) - 1) < 0.01 for one in turns)


def test_turns_of_a_review_that_are_none_are_named(site, judged):
    for key in ("choice", "answer"):
        bad = json.loads(json.dumps(judged))
        bad["evaluations"]["turns"][0] |= {key: ["take 9 9"]}
        answer = site.call("POST", "/api/games", {"text": json.dumps(bad)}, 422)
        assert answer["reason"] == "EVALUATIONS_MISMATCH"
        assert f"evaluations.turns[0].{key}" in answer["message"]


def test_the_better_turn_is_sought_from_a_turn_on(site, judged):
    review = opened(site, judged)
    for turn, first in ((0, 1), (1, 1), (2, 2), (9, 1)):
        data = {"from": review["id"], "mistakes": {"seat": None, "turn": turn}}
        drill = site.call("POST", "/api/games", data, 201)["drill"]
        assert (drill["number"], drill["source_turn"]) == (first, first)


def test_candidates_name_their_first_place(site):
    game = site.new("mexica", seed=1)
    with site.stream(game=game["id"]) as events:
        site.call("PUT", f"/api/games/{game['id']}/analysis", {"at": 0, "seconds": 0.3}, 202)
        data = next(data for name, data in events if name == "analysis" and data["candidates"])
    svg = site.call("GET", f"/api/games/{game['id']}/at/0/board.svg")
    for one in data["candidates"]:
        assert one["target"] == "" or f'data-target="{one["target"]}"' in svg
    assert any(one["target"] for one in data["candidates"])


def test_after_a_line_the_event_that_comes_is_drawn_before_the_search(site):
    game = opened(site, records_of("coatl")[0])
    path, line = f"/api/games/{game['id']}", [["draw P11", "draw P08", "end"]]
    site.call("PUT", f"{path}/analysis", {"at": 6, "line": line, "seconds": 0.1}, 202)
    game = site.await_game(game, lambda now: (now["analysis"] or {}).get("stop_reason"))
    for one in game["analysis"]["candidates"][:3]:
        site.call("GET", f"{path}/at/6", params={"line": json.dumps([*line, one["turn"]])})
    # Where the game itself comes to an event, there is nothing to choose.
    refused = site.call("PUT", f"{path}/analysis", {"at": 7, "seconds": 0.1}, 422)
    assert refused["reason"] == "CHANCE_PENDING"

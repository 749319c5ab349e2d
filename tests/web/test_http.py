"""The HTTP interface of the page: games, versions, streams, jobs; each against a process on a real port."""

import json
import signal
import time
from pathlib import Path

import pytest
from declared import faults
from pages import PERSON, Process, engine

import mexica_ai as ai
from mexica_ai.draw import palette
from mexica_ai.game import registry
from mexica_ai.web.snapshot_types import Info, Snapshot

PERSONS = [PERSON, PERSON]
EXAMPLE = Path(__file__).parents[2] / "examples" / "mexica_game.jsonl"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    process = Process(tmp_path_factory.mktemp("web"), "--engine", "first=greedy")
    yield process
    process.close()


def draft(page, snapshot, *actions, status=200, **more):
    data = {"version": snapshot["version"], "actions": list(actions), "viewer": None, **more}
    return page.call("PUT", f"/api/games/{snapshot['id']}/draft", data, status)


# --- what is offered


def test_the_page_has_the_colours_of_pictures(page):
    answer = page.client.get("/static/palette.css")
    assert answer.text == palette.style_sheet()
    assert answer.headers["content-type"] == "text/css; charset=utf-8"


def test_the_page_knows_what_there_is(page):
    info = page.call("GET", "/api/info")
    assert not list(faults(info, Info))
    assert [game["name"] for game in info["games"]] == list(registry.names())
    assert info["engines"] == ["first"]
    assert info["levels"] == list(range(1, 11))
    for game in info["games"]:
        parts = registry.get(game["name"])
        assert game["parts"] == list(parts.picture.parts)
        assert [tool["name"] for tool in game["tools"]] == [tool.name for tool in parts.picture.tools]
        assert [option["name"] for option in game["options"]] == [option.name for option in parts.starts.options]
        told = [option["default"] for option in game["options"]]
        assert told == json.loads(json.dumps([option.default for option in parts.starts.options]))
        for example in game["examples"]:
            choice = {"record": 1} if example["kind"] == "record" else {}
            made = page.call("POST", "/api/games", {"example": example["name"], **choice}, 201)
            assert made["game"] == game["name"]
            assert (made["num_turns"] > 0) == (example["kind"] == "record")
            page.call("DELETE", f"/api/games/{made['id']}", status=204)
    grids = {game["name"]: game["grid"] for game in info["games"]}
    assert len(grids["mexica"]["rows"]) == 14
    assert len(grids["mexica"]["columns"]) == 21
    assert grids["coatl"] is None


@pytest.mark.parametrize("path", ["/", "/edit", "/g/0123456789abcdef0123456789abcdef"])
def test_every_address_of_the_page_is_the_shell(page, path):
    answer = page.client.get(path)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script" in answer.text
    assert answer.text == page.client.get("/").text


# --- snapshots, drafts, versions


def test_a_turn_is_entered_action_by_action(page):
    start = page.new("mexica", seats=PERSONS, seed=1)
    assert start["waiting"] == "person"
    first = start["entries"][0]["action"]
    placed = draft(page, start, first)
    assert placed["version"] == start["version"] + 1
    assert placed["draft"]["actions"] == [first]
    assert placed["draft"]["is_ended"]
    assert placed["entries"] == []
    seat1 = page.command(placed)
    assert seat1["turns"] == [
        {
            "index": 0, "seat": 0, "actions": [first], "text": first, "scores": [0, 0], "scored": [0, 0],
            "words": f"started at {first.split()[1]}", "steps": [f"started at {first.split()[1]}"], "round": "Start",
        }
    ]  # fmt: skip
    assert seat1["to_move"] == 1
    now = page.play(seat1, seat1["entries"][-1]["action"])
    assert now["draft"] == {
        "actions": [], "steps": [], "can_end": True, "end": "end", "is_ended": False, "left": "6 AP",
        "warning": "", "wasted": "6 AP", "commit": "End turn", "why_not": "",
    }  # fmt: skip
    canal = next(entry for entry in now["entries"] if entry["tool"] == "canal")
    assert canal["cost"] == "1 AP"
    assert {entry["action"] for entry in now["entries"]} == set(
        ai.Position.from_compact(now["compact"]).legal_actions()
    )
    dug = draft(page, now, canal["action"])
    assert dug["draft"]["left"] == "5 AP"
    assert dug["draft"]["steps"] == [{"action": canal["action"], "text": "1 AP", "words": canal["action"]}]
    assert dug["targets"][canal["targets"][0]].startswith("canal")
    undone = draft(page, dug)
    assert undone["draft"]["actions"] == []
    assert undone["compact"] == now["compact"]
    again = draft(page, undone, canal["action"])
    ended = page.command(again)  # `End turn` adds the action that ends it
    assert ended["turns"][-1]["actions"] == [canal["action"], "end"]
    assert ended["to_move"] == 1


def test_an_illegal_draft_changes_nothing(page):
    now = page.new(seats=PERSONS)
    refused = draft(page, now, "take 1 1", "take 1 2", status=422)
    assert refused["reason"] == "TURN_ALREADY_ENDED"
    refused = draft(page, now, "take 9 1", status=422)
    assert refused["action_index"] == 0
    assert "expected" in refused["message"]
    refused = draft(page, now, "take", status=422)
    assert refused["reason"] == "BAD_ACTION"
    assert page.game(now)["version"] == now["version"]
    page.command(now, 422)  # nothing ends the turn


def test_to_end_a_turn_plays_nothing_else(page):
    """Coatl: *See the future* has no operands and ends the turn, too."""
    now = page.new("coatl", seed=3, seats=PERSONS, open=True)
    for _ in range(2):
        now = page.play(now, now["entries"][0]["action"])
    assert "future" in [entry["action"] for entry in now["entries"]]
    assert (now["draft"]["can_end"], now["draft"]["end"]) == (False, None)
    assert now["blocked"]["end"]
    for data in ({}, {"actions": []}):
        assert page.command(now, 422, **data)["reason"] == "TURN_NOT_ENDED"
    assert page.game(now)["version"] == now["version"]
    spent = page.play(now, "future")  # only who says so spends it
    assert spent["turns"][2]["actions"] == ["future"]


def test_a_command_names_the_version_that_it_saw(page):
    now = page.new(seats=PERSONS)
    next_ = page.play(now, "take 1 1")
    for method, path, data in (
        ("PUT", "draft", {"actions": ["take 1 2"]}),
        ("POST", "turn", {"actions": ["take 1 2"]}),
        ("POST", "turn", {"takeback": True}),
        ("POST", "turn", {"resign": True}),
    ):
        stale = page.call(method, f"/api/games/{now['id']}/{path}", {"version": now["version"], **data}, 409)
        assert stale["reason"] == "STALE"
        assert stale["snapshot"]["version"] == next_["version"]
        assert stale["snapshot"]["turns"] == next_["turns"]
    assert page.game(now)["version"] == next_["version"]


def test_a_draft_whose_answer_was_lost_is_sent_again(page):
    now = page.new("mexica", seats=PERSONS)
    action = now["entries"][0]["action"]
    first, second = (draft(page, now, action) for _ in range(2))
    assert first == second
    other = draft(page, now, now["entries"][1]["action"], status=409)
    assert other["snapshot"]["draft"]["actions"] == [action]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ({}, "request"),
        ({"game": "nim", "text": "{}"}, "request"),
        ({"game": "nim", "what": 1}, "request.what"),
        ({"game": "nim", "players": "2"}, "request.players"),
        ({"game": "nim", "seats": [{"kind": "person"}]}, "request.seats"),
        ({"game": "nim", "seats": [PERSON, {"kind": "engine", "level": 11}]}, "request.seats[1].level"),
        ({"game": "nim", "seats": [PERSON, {"kind": "engine", "name": "mcts"}]}, "request.seats[1].name"),
        ({"game": "nim", "seats": [PERSON, {"kind": "engine", "seconds": 601}]}, "request.seats[1].seconds"),
        ({"game": "nim", "seats": [PERSON, {"kind": "engine", "name": "cmd:ls"}]}, "request.seats[1].name"),
        ({"example": "../../etc/passwd"}, "request.example"),
        ({"example": "mexica_game.jsonl", "record": 3}, "request.record"),
        ({"example": "mexica_game.jsonl", "record": 0}, "request.record"),
        ({"game": "nim", "record": 1}, "request.record"),
    ],
)
def test_a_bad_request_for_a_game_says_where(page, data, path):
    refused = page.call("POST", "/api/games", data, 400)
    assert path in {refused["message"].partition(":")[0], *(each["path"] for each in refused["violations"])}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"game": "chess"}, "UNKNOWN_GAME"),
        ({"game": "nim", "options": {"depth": 1}}, "UNKNOWN_OPTION"),
        ({"text": "nothing"}, "BAD_JSON"),
        ({"position": {"game": "nim"}}, "MISSING_KEY"),
        ({"text": '{"game": "nim", "start": {}, "turns": []}'}, "MISSING_KEY"),
    ],
)
def test_a_bad_file_is_told_as_such(page, data, reason):
    refused = page.call("POST", "/api/games", data, 422)
    assert refused["reason"] == reason
    assert refused["message"]


def test_positions_and_records_become_games(page):
    position = ai.new_game("nim", seed=1)
    for data in ({"position": position.to_json()}, {"text": position.to_compact()}):
        made = page.call("POST", "/api/games", data, 201)
        assert [seat["kind"] for seat in made["seats"]] == ["person", "engine"]
    position.push("take 1 1")
    record = json.loads(json.dumps(ai.make_record(position)))
    for text in (json.dumps(record), json.dumps(record, indent=1), ai.format_moves(record)):
        made = page.call("POST", "/api/games", {"text": text}, 201)
        assert [turn["actions"] for turn in made["turns"]] == [["take 1 1"]]
        assert made["open"]


def test_comments_and_variations_of_a_record_stay(page):
    position = ai.new_game("nim", piles=[3, 4, 5])
    position.push("take 1 1")
    position.push("take 2 1")
    inner = {"at": 2, "turns": [["take 3 3"]], "comment": "or this"}
    variation = {"at": 1, "turns": [["take 2 2"], ["take 1 2"]], "comments": ["!", ""], "variations": [inner]}
    kept = {"comment": "club " * 5000, "comments": ["why?", ""], "variations": [variation]}
    record = ai.make_record(position, **kept)
    made = page.call("POST", "/api/games", {"text": json.dumps(record), "seats": PERSONS}, 201)
    found = page.call("GET", f"/api/games/{made['id']}/record")
    assert {key: found[key] for key in kept} == kept
    page.play(made, "take 1 2")
    found = page.call("GET", f"/api/games/{made['id']}/record")
    assert (found["comments"], found["variations"]) == (["why?", "", ""], [variation])
    ai.replay(found)


def test_variations_of_a_finished_game_without_its_outcome_are_played(page):
    start = ai.new_game("nim", piles=[1, 2]).to_json()
    record = {"game": "nim", "version": 1, "start": start, "turns": [["take 1 1"], ["take 2 2"]]}
    for turn, status in (("take 1 2", 201), ("take 2 1", 422)):
        text = json.dumps({**record, "variations": [{"at": 0, "turns": [[turn]]}]})
        page.call("POST", "/api/games", {"text": text}, status)


def test_of_several_records_one_is_chosen(page):
    position = ai.new_game("nim", seed=1, players=3)
    bare = ai.make_record(position)
    position.push("take 1 1")
    played = ai.make_record(position, engines=["Ana", "Ben", "Cleo"])
    moves = [ai.format_moves(record) for record in (bare, played)]
    for text in (f"{json.dumps(bare)}\n\n{json.dumps(played)}\n", f"{moves[0]}\r\n{moves[1]}"):
        refused = page.call("POST", "/api/games", {"text": text}, 422)
        assert refused["reason"] == "SEVERAL_RECORDS"
        assert "2 games" in refused["message"]
        assert refused["count"] == 2
        one, two = refused["records"]
        assert (one["number"], one["game"], one["players"], one["turns"]) == (1, "nim", 3, 0)
        assert (two["number"], two["names"], two["turns"]) == (2, ["Ana", "Ben", "Cleo"], 1)
        for number, turns in ((1, []), (2, [["take 1 1"]])):
            made = page.call("POST", "/api/games", {"text": text, "record": number}, 201)
            assert [turn["actions"] for turn in made["turns"]] == turns
    listed = page.call("POST", "/api/games", {"example": "mexica_game.jsonl"}, 422)["records"]
    assert [(one["players"], one["turns"], one["scores"], one["winners"]) for one in listed] == [
        (one["start"]["players"], len(one["turns"]), one["scores"], one["winners"])
        for one in map(json.loads, EXAMPLE.read_text().splitlines())
    ]


def test_no_game_begins_with_the_view_of_a_seat_that_is_not_to_move(page):
    position = ai.new_game("coatl", seed=1)
    while position.to_move != 0 or len(position.history) < 2:
        position.push(position.legal_actions()[0], partial=True)
    before = page.call("GET", "/api/games")["games"]
    data = {"position": position.view(1).to_json(), "seats": [PERSON, PERSON]}
    assert page.call("POST", "/api/games", data, 422)["reason"] == "NOT_ITS_VIEW"
    assert page.call("GET", "/api/games")["games"] == before


@pytest.mark.parametrize("second", ["{", "7", "[]", '{"start": 1, "turns": 2, "scores": "x", "tags": []}', "x" * 1000])
def test_a_record_that_cannot_be_read_is_listed_too(page, second):
    first = json.dumps(ai.make_record(ai.new_game("nim", seed=1)))
    text = f"{first}\n{second}\n"
    one, two = page.call("POST", "/api/games", {"text": text}, 422)["records"]
    assert one["game"] == "nim"
    assert two["game"] is None
    assert page.call("POST", "/api/games", {"text": text, "record": 1}, 201)["game"] == "nim"
    assert page.call("POST", "/api/games", {"text": text, "record": 2}, 422)["message"]


def test_so_many_records_are_listed_and_no_more(page):
    first = json.dumps(ai.make_record(ai.new_game("nim", seed=1)))
    refused = page.call("POST", "/api/games", {"text": f"{first}\n" + "{}\n" * 100_000}, 422)
    assert refused["count"] == 100_001
    assert len(refused["records"]) == 200


# --- engines


def test_engines_answer_until_a_person_is_to_move(page):
    now = page.new("mexica", players=3, seats=[PERSON, engine(1), {"kind": "engine", "name": "first"}])
    with page.stream(game=now["id"]) as events:
        kind, data = next(events)
        assert (kind, data["snapshot"]["version"]) == ("state", now["version"])
        page.play(now, now["entries"][0]["action"])
        thought, versions = [], []
        for kind, data in events:
            assert data["game"] == now["id"]
            if kind == "thinking":
                thought.append((data["seat"], data["state"]))
                assert 0 <= data["seconds"] < 60
            if kind == "state":
                versions.append(data["version"])
                if data["snapshot"]["to_move"] == 0:
                    break
    assert [seat for seat, state in thought if state == "searching"] == [1, 2]
    assert versions == sorted(versions)
    done = data["snapshot"]
    assert [turn["seat"] for turn in done["turns"]] == [0, 1, 2]
    assert done["thinking"] is None
    back = page.command(done, takeback=True)
    assert back["turns"] == []
    assert back["waiting"] == "person"


def test_a_search_is_stopped_and_the_best_is_played(page):
    now = page.new("mexica", seats=[PERSON, engine(10, 600.0)])
    now = page.play(now, now["entries"][0]["action"])
    now = page.await_game(now, lambda each: each["thinking"])
    assert now["thinking"]["seat"] == 1
    assert now["entries"] == []
    page.command(now, 422, actions=["end"])  # not the person's turn
    stopped = page.command(now, stop=True)
    assert [turn["seat"] for turn in stopped["turns"]] == [0, 1]
    page.command(stopped, 422, stop=True)


def test_a_person_takes_the_seat_of_an_engine(page):
    now = page.new("mexica", seats=[engine(10, 600.0), PERSON])
    now = page.await_game(now, lambda each: each["thinking"])
    now = page.command(now, person=True, seat=0)
    assert now["seats"] == [{"kind": "person", "title": f"Player {number}"} for number in (1, 2)]
    assert now["thinking"] is None
    assert now["entries"]


def test_a_game_of_engines_waits_for_somebody_who_looks(page):
    now = page.new(seats=[engine(), engine()])
    time.sleep(0.3)
    waiting = page.game(now)
    assert (waiting["turns"], waiting["thinking"]) == ([], None)
    with page.stream(game=now["id"]) as events:
        for kind, data in events:
            if kind == "state" and data["snapshot"]["turns"]:
                break


def test_resigning_ends_the_game(page):
    now = page.play(page.new(seats=PERSONS), "take 1 1")
    over = page.command(now, resign=True)
    assert (over["is_over"], over["resigned"], over["winners"], over["waiting"]) == (True, 1, [0], "over")
    record = page.call("GET", f"/api/games/{now['id']}/record")
    assert record["termination"] == "forfeit"
    back = page.command(over, takeback=True)
    assert (back["is_over"], back["num_turns"]) == (False, 1)
    (journal,) = page.folder.rglob(f"*{now['id']}*")
    assert json.loads(journal.read_text().splitlines()[-1]) == {"back": 1}


def test_a_tool_that_cannot_be_used_says_why(page):
    now = midgame(page)
    usable = {entry["tool"] for entry in now["entries"]}
    tools = {tool.name for tool in registry.get("mexica").picture.tools}
    assert now["blocked"].keys() == tools - usable
    assert now["blocked"]["place"] == "the pillis are placed before the first round"


def test_tokens_are_removed_by_agreement(page):
    now = midgame(page)
    answer = page.call("POST", "/api/proposal", {"id": now["id"], "at": 0, "actions": ["remove 12"]})
    assert not answer["agrees"]
    (opinion,) = answer["opinions"]
    assert (opinion["action"], opinion["agrees"]) == ("remove 12", False)
    assert opinion["explanation"]
    page.call("POST", "/api/proposal", {"id": now["id"], "at": 0, "actions": ["remove 4"]}, 422)
    page.call("POST", "/api/proposal", {"id": now["id"], "at": 9, "actions": ["remove 12"]}, 404)
    other = page.new("coatl", seats=PERSONS, open=True)
    page.call("POST", "/api/proposal", {"id": other["id"], "at": 0, "actions": ["remove 12"]}, 422)
    assert page.call("POST", "/api/proposal", {"id": other["id"], "at": 0}) == {"agrees": False, "opinions": []}
    opinions = page.call("POST", "/api/proposal", {"id": now["id"], "at": 0})["opinions"]
    assert [opinion["action"] for opinion in opinions] == ["remove 3", "remove 6", "remove 12"]


@pytest.mark.parametrize("name", ["players", "seed", "game", "self", "nothing"])
def test_an_option_that_no_game_has(page, name):
    refused = page.call("POST", "/api/games", {"game": "nim", "options": {name: 3}}, 422)
    assert refused["reason"] == "UNKNOWN_OPTION"


@pytest.mark.parametrize(("action", "status"), [("", 422), ("remove 99", 422), ("\ud800", 400), (3, 400)])
def test_a_proposal_that_is_no_action(page, action, status):
    refused = page.call("POST", "/api/proposal", {"id": midgame(page)["id"], "at": 0, "actions": [action]}, status)
    assert refused["message"].startswith(("actions[0]: ", "request"))


@pytest.mark.parametrize("number", ["9" * 5000, "1000000", "-1", "x", "\u0663"])
@pytest.mark.parametrize("ending", ["", "/all.svg"])
def test_a_turn_that_no_game_has(page, number, ending):
    now = page.new(seats=PERSONS)
    refused = page.call("GET", f"/api/games/{now['id']}/at/{number}{ending}", status=404)
    assert refused["reason"] == "NO_TURN"


# What JSON can say, but no answer can repeat.
@pytest.mark.parametrize("value", [r'"\ud800"', r'{"\udfff": 1}', "1e999", "-1e999"])
@pytest.mark.parametrize("path", ["/api/draw", "/api/validate", "/api/edit"])
def test_a_position_that_cannot_be_written_is_refused(page, path, value):
    text = f'{{"position": {{"game": "mexica", "x": {value}}}, "command": {{}}}}'
    answer = page.client.post(path, content=text, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["reason"]) == (422, "BAD_JSON")
    given = page.call("POST", "/api/draw", {"position": f'{{"game": "mexica", "x": {value}}}'})
    assert [fault["reason"] for fault in given["faults"]] == ["BAD_JSON"]


# --- random events


def test_events_are_drawn_or_entered(page):
    now = page.new("coatl", seats=PERSONS, seed=3, open=True, draws=False)
    while now["waiting"] != "event":
        last = turn_of(now)
        now = page.play(now, *last)
    assert now["waiting"] == "event"
    page.command(now, 422, actions=["end"])
    drawn = page.command(now, event=True)
    assert drawn["turns"][-1]["seat"] is None
    text = drawn["turns"][-1]["actions"]
    again = page.command(drawn, takeback=True)
    assert again["waiting"] == "person"
    again = page.play(again, *last)
    assert again["waiting"] == "event"
    entered = page.command(again, event=text)
    assert entered["turns"][-1]["actions"] == text
    page.command(entered, 422, event=True)


def turn_of(snapshot):
    """Return the first whole turn that takes pieces, or else any."""
    position = ai.Position.from_compact(snapshot["compact"])
    legal = position.legal_actions()
    return [next((action for action in legal if action.startswith("take")), legal[0])]


@pytest.mark.parametrize("seat", [0, 1])
def test_a_blind_draw_is_committed_and_not_taken_back(page, seat):
    now = page.new("coatl", seats=[engine(), PERSON] if seat else [PERSON, engine()], seed=3)
    now = page.await_game(now, lambda each: each["to_move"] == seat)
    now = page.play(now, now["entries"][0]["action"])
    now = page.await_game(now, lambda each: each["to_move"] == seat)
    looked = draft(page, now, "draw deck")
    assert looked["draft"]["is_ended"]
    assert "undo" in looked["draft"]["warning"]
    assert draft(page, looked)["draft"]["warning"] == ""  # until it is played it can be undone
    now = page.play(page.game(now), "draw deck")
    assert now["to_move"] == seat
    assert [turn["actions"][0].split()[0] for turn in now["turns"][-2:]] == ["draw", "deal"]
    assert not now["can_take_back"]
    assert page.command(now, 422, takeback=True)["reason"] == "NOTHING_TO_TAKE_BACK"
    ended = page.play(now, "end")
    ended = page.await_game(ended, lambda each: each["to_move"] == seat)
    back = page.command(ended, takeback=True)
    assert back["num_turns"] == now["num_turns"]  # to after the draw


# --- pictures and downloads


def test_pictures_have_tags(page):
    now = page.new("mexica", seats=PERSONS)
    now = page.play(now, now["entries"][0]["action"])
    path = f"/api/games/{now['id']}/at/1/board.svg"
    answer = page.client.get(path)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert 'data-target="C5"' in answer.text
    tag = answer.headers["etag"]
    assert tag.startswith('"')
    again = page.client.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    marked = page.client.get(f"/api/games/{now['id']}/at/0/all.svg?turn=1")
    assert marked.headers["etag"] != tag
    action = now["entries"][-1]["action"]
    drawn = page.client.get(path, params={"actions": action})
    assert drawn.text != answer.text
    line = json.dumps([[action]])
    after = page.client.get(path, params={"line": line})
    assert after.status_code == 200
    played, after = (page.call("GET", f"/api/games/{now['id']}/at/1", params={"line": each}) for each in (None, line))
    assert played["text"] != after["text"]
    file = page.client.get(path, params={"theme": "dark"})
    assert file.headers["content-disposition"] == 'attachment; filename="mexica-1.svg"'
    for each in (path, f"/api/games/{now['id']}/position"):
        file = page.client.get(each, params={"theme": "dark", "at": 1, "line": line})
        assert "-1-line." in file.headers["content-disposition"]
    for wrong, status in (
        (f"/api/games/{now['id']}/at/1/nothing.svg", 404),
        (f"/api/games/{now['id']}/at/7/board.svg", 404),
        (f"{path}?theme=red", 400),
        (f"{path}?actions=end", 422),
        (f"{path}?line=[1]", 400),
        (f"{path}?viewer=x", 400),
        ("/api/games/0/at/1/board.svg", 404),
    ):
        assert page.client.get(wrong).status_code == status, wrong


def test_a_turn_is_shown_up_to_each_of_its_actions(page):
    actions = ["canal P7-Q7", "canal Q8-Q9", "end"]
    now = page.play(midgame(page), *actions)
    path = f"/api/games/{now['id']}/at/0/board.svg"
    for count in (1, 2):
        entered = page.call("GET", path, params={"actions": "; ".join(actions[:count])})
        assert page.call("GET", path, params={"turn": 1, "count": count}) == entered


def test_what_was_played_is_downloaded_and_goes_on_elsewhere(page):
    now = page.play(page.play(page.new(seats=PERSONS), "take 1 1"), "take 1 2")
    record = page.call("GET", f"/api/games/{now['id']}/record")
    assert ai.replay(record).to_compact() == now["compact"]
    first = page.call("GET", f"/api/games/{now['id']}/position", params={"at": 1})
    start = ai.Position.from_json(record["start"])
    start.push("take 1 1")
    assert ai.Position.from_json(first) == start
    beside = page.call("GET", f"/api/games/{now['id']}/position", params={"at": 1, "line": '[["take 2 3"]]'})
    start.push("take 2 3")
    assert ai.Position.from_json(beside) == start
    other = page.call("POST", "/api/games", {"from": now["id"], "at": 1, "seats": PERSONS}, 201)
    assert [turn["actions"] for turn in other["turns"]] == [["take 1 1"]]
    assert other["id"] != now["id"]
    page.call("POST", "/api/games", {"from": now["id"], "at": 3}, 404)


# --- analysis


def midgame(page):
    return page.call("POST", "/api/games", {"example": "mexica_midgame.json", "seats": [PERSON] * 3}, 201)


def analyze(page, snapshot, status=202, **data):
    data = {"at": snapshot["num_turns"], "seconds": None, **data}
    return page.call("PUT", f"/api/games/{snapshot['id']}/analysis", data, status)


def test_an_analysis_tells_until_it_is_stopped_and_keeps_its_result(page):
    now = midgame(page)
    with page.stream(game=now["id"]) as events:
        key = analyze(page, now, candidates=3)["key"]
        found = [data for kind, data in events_until(events, "analysis", 3)]
        assert all(data["key"] == key for data in found)
        assert [data["iterations"] for data in found] == sorted(data["iterations"] for data in found)
        assert len(found[-1]["candidates"]) == 3
        candidate = found[-1]["candidates"][0]
        ai.Position.from_compact(now["compact"]).push(candidate["turn"])
        assert sum(candidate["value"]) == pytest.approx(1, abs=3e-3)
        assert found[-1]["stop_reason"] == ""
        kept = page.call("DELETE", f"/api/games/{now['id']}/analysis")["analysis"]
    assert kept["stop_reason"] == "stopped"
    assert kept["why"]
    assert kept["iterations"] >= found[-1]["iterations"]
    assert kept["speed"] == pytest.approx(kept["iterations"] / kept["seconds"], rel=0.1)
    shown = page.game(now)
    assert shown["analysis"] == kept
    assert not list(faults(shown, Snapshot))


def events_until(events, kind, number):
    found = [next(each for each in events if each[0] == kind) for _ in range(number)]
    return found


def test_an_analysis_ends_with_its_page(page):
    now = midgame(page)
    with page.stream(game=now["id"]) as events:
        analyze(page, now)
        events_until(events, "analysis", 1)
        assert page.game(now)["analysis"]["stop_reason"] == ""
    ended = page.await_game(now, lambda each: each["analysis"]["stop_reason"])
    assert ended["analysis"]["stop_reason"] == "stopped"


def test_an_analysis_ends_when_its_position_is_taken_back(page):
    now = page.play(midgame(page), "end")
    with page.stream(game=now["id"]) as events:
        analyze(page, now, line=[["end"]], draft=["token"])
        events_until(events, "analysis", 1)
        shown = page.game(now)["analysis"]
        assert (shown["at"], shown["line"], shown["draft"]) == (1, [["end"]], ["token"])
        now = page.play(page.command(now, takeback=True), "canal P7-Q7", "end")
        time.sleep(0.5)  # a search that went on would have told more
        assert page.game(now)["analysis"] is None


def test_a_position_within_a_turn_and_after_a_line_is_analysed(page):
    now = midgame(page)
    action = next(entry["action"] for entry in now["entries"] if entry["tool"] == "canal")
    keys = set()
    with page.stream(game=now["id"]) as events:
        for more, played, seat in (
            ({}, [], 0),
            ({"draft": [action]}, [action], 0),
            ({"line": [[action, "end"]]}, [action, "end"], 1),
        ):
            key = analyze(page, now, seconds=0.05, **more)["key"]
            data = next(data for kind, data in events if kind == "analysis" and data["stop_reason"])
            assert (data["key"], data["seat"]) == (key, seat)
            keys.add(key)
            position = ai.Position.from_compact(now["compact"])
            if played:
                position.push(played, partial=True)
            position.push(data["candidates"][0]["turn"])
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ({"candidates": 21}, 400),
        ({"candidates": 0}, 400),
        ({"seconds": 0}, 400),
        ({"seconds": 601}, 400),
        ({"at": 5}, 404),
        ({"draft": ["end"]}, 422),
        ({"line": [["take 9 9"]]}, 422),
    ],
)
def test_a_bad_request_for_an_analysis_is_refused(page, data, status):
    now = page.new(seats=PERSONS)
    refused = analyze(page, now, status, **data)
    assert refused["message"]


def test_there_are_only_so_many_analyses(page):
    games = [midgame(page) for _ in "12345"]
    for game in games[:4]:
        analyze(page, game)
    refused = analyze(page, games[4], 429)
    assert refused["reason"] == "TOO_MANY_ANALYSES"
    analyze(page, games[0])  # takes the place of its own
    for game in games:
        page.call("DELETE", f"/api/games/{game['id']}", status=204)
    analyze(page, page.new(seats=PERSONS), seconds=0.01)


# --- annotation


def annotate(page, snapshot, seconds=0.01, status=202):
    return page.call("PUT", f"/api/games/{snapshot['id']}/annotation", {"seconds": seconds}, status)


def is_annotated(snapshot):
    return snapshot["annotation"]["state"] == "done"


def test_a_game_is_annotated_in_the_background(page):
    now = page.play(page.play(page.new(seats=PERSONS), "take 1 1"), "take 2 2")
    with page.stream(game=now["id"]) as events:
        annotate(page, now)
        turns = []
        for kind, data in events:
            if kind == "annotation":
                turns += [data["turn"]] if "turn" in data else []
                if data["state"] == "done":
                    break
    assert [turn["turn_index"] for turn in turns] == [0, 1]
    done = page.game(now)["annotation"]
    assert (done["done"], done["of"], done["turns"]) == (2, 2, turns)
    picture = page.client.get(f"/api/games/{now['id']}/shares.svg")
    assert 'data-target="turn:2"' in picture.text
    record = page.call("GET", f"/api/games/{now['id']}/record")
    assert [turn["turn_index"] for turn in record["evaluations"]["turns"]] == [0, 1]
    again = page.call("POST", "/api/games", {"text": json.dumps(record)}, 201)
    assert again["annotation"]["state"] == "done"
    back = page.command(page.game(now), takeback=True)
    assert [turn["turn_index"] for turn in back["annotation"]["turns"]] == [0]


def test_what_was_played_and_annotated_survives_a_kill(start):
    page = start("--engine", "mine=greedy")
    named = page.new("nim", seats=[PERSON, {"kind": "engine", "name": "mine"}])
    played = page.new("mexica", seats=[PERSON, engine()])
    played = page.play(played, played["entries"][0]["action"])
    played = page.await_game(played, lambda each: each["to_move"] == 0)
    now = page.call("POST", "/api/games", {"example": "mexica_game.jsonl", "record": 1}, 201)
    annotate(page, now, 0.05)
    some = page.await_game(now, lambda each: each["annotation"]["done"] >= 3)["annotation"]["turns"]
    page.kill()
    page = start()
    other = page.call("POST", "/api/games", {"from": played["id"], "at": 1}, 201)  # of a game on disk
    assert other["num_turns"] == 1
    again = page.game(played)
    for key in ("turns", "scores", "compact", "seats", "created", "to_move"):
        assert again[key] == played[key]
    before = page.game(now)["annotation"]
    assert before["state"] == "stopped"
    assert before["turns"][: len(some)] == some
    with page.stream(game=now["id"]) as events:
        annotate(page, now, 0.05)
        for kind, data in events:
            if kind == "annotation" and "turn" in data:
                break
    assert data["turn"]["turn_index"] == len(before["turns"])
    stopped = page.call("DELETE", f"/api/games/{now['id']}/annotation")
    assert stopped["state"] == "stopped"
    assert page.command(named, 409, actions=["take 1 1"])["reason"] == "STALE"  # of the process before
    named = page.play(page.game(named), "take 1 1")  # this process has no engine of that name
    failed = page.await_game(named, lambda each: (each["thinking"] or {}).get("state") == "failed")
    assert "mine" in failed["thinking"]["message"]
    assert page.command(failed, person=True, seat=1)["waiting"] == "person"


# --- the process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_process_with_good_bye(start, number):
    page = start()
    now = midgame(page)
    with page.stream(game=now["id"]) as events:
        analyze(page, now)
        events_until(events, "analysis", 1)
        assert page.end(number) == 0
        rest = [kind for kind, _ in events]
    assert rest[-1] == "bye"
    assert page.log.read_text() == ""


def test_streams_are_limited_and_end_with_their_game(page):
    now = page.new(seats=PERSONS)
    with page.stream(game=now["id"]) as events:
        next(events)
        page.call("DELETE", f"/api/games/{now['id']}", status=204)
        assert [kind for kind, _ in events] == ["notice"]
    page.call("GET", "/api/events", status=404, params={"game": now["id"]})
    clients = [page.new_client(cookies=page.client.cookies) for _ in range(6)]
    try:
        requests = [client.build_request("GET", "/api/events") for client in clients]
        answers = [client.send(request, stream=True) for client, request in zip(clients, requests, strict=True)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    finally:
        for client in clients:
            client.close()


def test_a_request_for_the_head_of_a_stream_takes_no_place(page):
    now = page.new(seats=PERSONS)
    for _ in range(9):
        answer = page.client.head("/api/events", params={"game": now["id"]})
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
    with page.stream(game=now["id"]) as events:
        assert next(events)[0] == "state"


def test_the_engines_of_another_process(start, tmp_path):
    from servers import RunningServer

    server = RunningServer(None)
    page = start("--server", server.address)
    now = page.play(page.new(seats=[PERSON, engine()]), "take 1 1")
    now = page.await_game(now, lambda each: each["to_move"] == 0)
    assert now["num_turns"] == 2
    server.close()
    now = page.play(now, now["entries"][0]["action"])
    failed = page.await_game(now, lambda each: (each["thinking"] or {}).get("state") == "failed")
    assert failed["thinking"]["message"]
    assert analyze(page, now, 503)["reason"]
    mine = page.command(failed, person=True, seat=1)  # the game is not lost
    assert mine["waiting"] == "person"

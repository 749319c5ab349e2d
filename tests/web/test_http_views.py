"""Hands stay hidden: nothing that a page of one person gets depends on what only others know."""

import json
import random
import re

import pytest
from pages import PERSON, Process, engine

import mexica_ai as ai


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    process = Process(tmp_path_factory.mktemp("views"))
    yield process
    process.close()


def true_game(page, snapshot):
    """Return the full position, from the journal, which the page has written."""
    head, *entries = map(json.loads, (page.folder / f"{snapshot['id']}.jsonl").read_text().splitlines())
    position = ai.Position.from_json(head["start"])
    for entry in entries:
        if "turn" in entry:
            position.push(entry["turn"])
    return position


def secrets_of(position, viewer):
    """Return the cards that a seat does not see: those that its view writes as unknown."""
    full, view = position.to_json(), position.view(viewer).to_json()
    found = set()
    for other, (own, seen) in enumerate(zip(full["seats"], view["seats"], strict=True)):
        for key in own:
            if other != viewer and own[key] != seen[key] and isinstance(own[key], list):
                found |= set(map(str, own[key])) - set(map(str, seen[key]))
    # What is on display as well is no secret.
    return {card for card in found if f'"{card}"' not in json.dumps(view)}


def everything(page, snapshot, viewer):
    """Return all texts that a page of a viewer can get of a game."""
    path, query = f"/api/games/{snapshot['id']}", {"viewer": viewer}
    texts = [json.dumps(page.game(snapshot, **query))]
    with page.stream(game=snapshot["id"], **query) as events:
        texts.append(json.dumps(next(events)))
    for number in range(snapshot["num_turns"] + 1):
        texts.append(json.dumps(page.call("GET", f"{path}/at/{number}", params=query)))
        texts.append(json.dumps(page.call("GET", f"{path}/position", params={"at": number, **query})))
        for turn in ("0", "1")[: 1 if number == snapshot["num_turns"] else 2]:
            texts.append(page.call("GET", f"{path}/at/{number}/all.svg", params={"turn": turn, **query}))
            for what in ("hints", "projected"):
                answer = page.call("GET", f"{path}/at/{number}/{what}", params={"turn": turn, **query})
                texts.append(json.dumps(answer))
    return texts


def draft(page, snapshot, actions):
    data = {"version": snapshot["version"], "actions": actions}
    return page.call("PUT", f"/api/games/{snapshot['id']}/draft", data)


@pytest.mark.parametrize(("game", "seed"), [("coatl", 1), ("tzolkin", 2)])
def test_the_hand_of_an_engine_stays_hidden(page, game, seed):
    choose = random.Random(seed)
    now = page.new(game, seats=[PERSON, engine()], seed=seed)
    checked = 0
    for _ in range(5):
        hidden = secrets_of(true_game(page, now), 0)
        assert not [card for card in hidden if re.search(rf"\b{card}\b", json.dumps(now))]
        checked += len(hidden)
        now = draft(page, now, [choose.choice(now["entries"])["action"]])
        while not now["draft"]["can_end"]:
            now = draft(page, now, [*now["draft"]["actions"], choose.choice(now["entries"])["action"]])
        now = page.command(now)
        now = page.await_game(now, lambda each: each["to_move"] == 0)
    hidden = secrets_of(true_game(page, now), 0)
    for text in everything(page, now, 0):
        assert not [card for card in hidden if re.search(rf"\b{card}\b", text)]
    assert checked > 0


def test_what_would_show_hidden_hands_is_refused(page):
    now = page.new("coatl", seats=[PERSON, engine()], seed=1)
    path = f"/api/games/{now['id']}"
    for method, where, data in (
        ("GET", f"{path}/record", None),
        ("GET", f"{path}/shares.svg", None),
        ("GET", f"{path}?viewer=1", None),
        ("GET", f"{path}/at/0/all.svg?viewer=1", None),
        ("GET", f"{path}/position?viewer=1", None),
        ("GET", f"/api/events?game={now['id']}&viewer=1", None),
        ("PUT", f"{path}/annotation", {"seconds": 0.1}),
        ("PUT", f"{path}/analysis", {"at": 0, "viewer": 1}),
        ("POST", "/api/games", {"from": now["id"], "seats": [PERSON, PERSON], "open": True}),
    ):
        refused = page.call(method, where, data, 403)
        assert refused["reason"] in ("HIDDEN", "NOT_A_PERSON"), where
    page.call("GET", f"{path}?viewer=2", status=404)


def test_the_turn_of_a_hidden_hand_is_not_analysed(page):
    now = page.new("coatl", seats=[PERSON, engine()], seed=1)
    now = page.play(now, now["entries"][0]["action"])
    now = page.await_game(now, lambda each: each["to_move"] == 0)
    path = f"/api/games/{now['id']}/analysis"
    assert page.call("PUT", path, {"at": 1, "seconds": 0.05}, 403)["reason"] == "HIDDEN"
    page.call("PUT", path, {"at": 2, "seconds": 0.05}, 202)
    done = page.await_game(now, lambda each: (each["analysis"] or {}).get("stop_reason"))
    assert not done["analysis"]["guessed"]
    ai.Position.from_compact(now["compact"]).push(done["analysis"]["candidates"][0]["turn"])
    key = page.call("PUT", path, {"at": 1, "seconds": 0.05, "everybody": True}, 202)["key"]
    done = page.await_game(now, lambda each: each["analysis"]["key"] == key and each["analysis"]["stop_reason"])
    assert (done["analysis"]["guessed"], done["analysis"]["seat"]) == (True, 1)


def test_a_handover_comes_between_two_persons(page):
    now = page.new("coatl", seats=[PERSON, PERSON], seed=1)
    path = f"/api/games/{now['id']}"
    assert now["handover"] == 0
    assert (now["entries"], now["turns"], now["text"], now["compact"]) == ([], [], "", "")
    assert page.call("GET", f"{path}/at/0/all.svg", status=403)["reason"] == "HANDOVER"
    now = page.game(now, viewer=0, open=1)
    assert now["handover"] is None
    assert now["entries"]
    page.call("GET", f"{path}/at/0/all.svg", params={"viewer": 0})
    page.call("GET", f"{path}/at/0/all.svg", status=403, params={"viewer": 1})
    kept = now["entries"][0]["action"]
    with page.stream(game=now["id"], viewer=0) as events:
        next(events)
        next_ = page.play(now, kept, viewer=0)
        told = next(data for kind, data in events if kind == "state")
    for snapshot in (next_, told["snapshot"], page.game(now, viewer=0), page.game(now, viewer=1)):
        assert snapshot["handover"] == 1
        assert kept not in json.dumps(snapshot)
    page.command(next_, 403, actions=[kept], viewer=0)  # not its turn
    page.command(next_, 403, actions=[kept], viewer=1)  # and the other has not opened
    now = page.game(now, viewer=1, open=1)
    assert now["handover"] is None
    assert now["turns"][0]["actions"] == ["keep"]
    assert secrets_of(true_game(page, now), 1)
    for text in everything(page, now, 1):
        assert not [card for card in secrets_of(true_game(page, now), 1) if re.search(rf"\b{card}\b", text)]


def test_at_the_end_all_is_shown(page):
    now = page.new("coatl", seats=[PERSON, engine()], seed=1)
    over = page.command(now, resign=True)
    assert over["open"]
    assert page.call("GET", f"/api/games/{now['id']}/record")["termination"] == "forfeit"
    page.call("GET", f"/api/games/{now['id']}/at/0/all.svg", params={"viewer": 1})


def test_tokens_that_nobody_has_seen_are_in_no_position(page):
    pool = [3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 10, 11, 12, 13]
    now = page.new("mexica", seats=[PERSON, PERSON], options={"pool": pool}, seed=1)
    assert true_game(page, now).to_json()["calpulli"]["upcoming"]
    position = page.call("GET", f"/api/games/{now['id']}/position")
    assert position["calpulli"].get("upcoming") is None
    assert ai.Position.from_compact(now["compact"]) == ai.Position.from_json(position)
    now = page.play(now, now["entries"][0]["action"])
    path, query = f"/api/games/{now['id']}", {"turn": 1}
    assert "period 2" not in page.call("GET", f"{path}/at/0/panel.svg", params=query)
    assert "upcoming" not in json.dumps(page.call("GET", f"{path}/at/0/hints", params=query))

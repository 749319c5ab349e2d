"""Invitations: what the link of a seat lets its holder do, and everything that it does not."""

import contextlib
import json
import re

import pytest
from pages import PERSON, Process, Speaker, engine, events_of
from starlette.routing import Mount, Route
from test_http_views import everything, secrets_of, true_game

from mexica_ai.web import guests
from mexica_ai.web.app import Site
from mexica_ai.web.journal import Folder

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    process = Process(tmp_path_factory.mktemp("guests"))
    yield process
    log = process.log.read_text()
    assert "Traceback" not in log
    assert "invite=" not in log
    process.close()


class Friend(Speaker):
    """The browser of somebody with a link; it is used like a `Process`."""

    request, await_game = Process.request, Process.await_game

    def __init__(self, process, path):
        self.folder, self.client = process.folder, process.new_client()
        self.path = path
        self.opened = self.client.get(path)

    def answer(self, method, path, data=None):
        """Return the status of an answer, and the reason of a refusal."""
        options = {} if method in ("GET", "HEAD") else {"content": json.dumps(data or {}), "headers": JSON}
        answer = self.client.request(method, path, **options)
        is_error = answer.status_code >= 400 and answer.headers.get("content-type") == "application/json"
        return answer.status_code, answer.json()["reason"] if is_error and answer.content else None

    def status(self, method, path, data=None):
        return self.answer(method, path, data)[0]

    @contextlib.contextmanager
    def stream(self, **query):
        with self.client.stream("GET", "/api/events", params=query) as answer:
            assert answer.status_code == 200
            yield events_of(answer.iter_lines())


def invite(page, snapshot, seat=1, status=201, **more):
    data = {"version": page.game(snapshot)["version"], "seat": seat, **more}
    return page.call("POST", f"/api/games/{snapshot['id']}/invites", data, status)


def begin(page, game="coatl", seats=(PERSON, PERSON), **more):
    """Begin a game, and give the browser of the friend at seat 1."""
    made = page.new(game, seats=list(seats), seed=1, **more)
    return made, Friend(page, invite(page, made)["path"])


def turn(page, snapshot):
    """Play any turn for whoever is to move on a page."""
    now = page.game(snapshot)
    while not now["draft"]["can_end"]:
        data = {"version": now["version"], "actions": [*now["draft"]["actions"], now["entries"][0]["action"]]}
        now = page.call("PUT", f"/api/games/{now['id']}/draft", data)
    return page.command(now)


def test_a_link_opens_one_game_as_one_seat(page):
    made, friend = begin(page)
    assert friend.opened.status_code == 303
    assert friend.opened.headers["location"] == f"/g/{made['id']}"
    for path in ("/", "/edit"):  # of the owner: a person is told what to do, in words
        answer = friend.client.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (401, "text/html; charset=utf-8")
        assert "open the link again" in answer.text
    cookie = friend.opened.headers["set-cookie"]
    name = rf"mexica_ai_{page.port}_{made['id']}=1\.[\w-]{{43}}"
    assert re.fullmatch(rf"{name}; HttpOnly; Path=/; SameSite=lax", cookie, re.IGNORECASE)
    assert friend.path.partition("1.")[2] not in cookie
    now = friend.game(made)
    assert (now["viewer"], now["guest"], now["away"], now["handover"]) == (1, 1, [1], None)
    assert (now["is_mine"], now["entries"]) == (False, [])
    # The page of the owner shows its own seat, without a curtain.
    now = page.game(made)
    assert (now["viewer"], now["guest"], now["handover"], now["is_mine"]) == (0, None, None, True)


def test_two_devices_play_a_game_to_its_end(page):
    made, friend = begin(page, "nim")
    played = []
    while not (now := page.game(made))["is_over"]:
        mover, other = (page, friend) if now["is_mine"] else (friend, page)
        assert not other.game(made)["is_mine"]
        turn(mover, made)
        played.append(mover)
    assert {page, friend} == set(played)
    friend.call("GET", f"/api/games/{made['id']}/record")


def test_the_hand_of_the_others_stays_hidden(page):
    made, friend = begin(page)
    checked = 0
    for _ in range(3):
        for who, seat in ((page, 0), (friend, 1)):
            hidden = secrets_of(true_game(page, made), seat)
            checked += len(hidden)
            for text in everything(who, who.game(made), seat):
                assert not [card for card in hidden if re.search(rf"\b{card}\b", text)]
        turn(page if page.game(made)["is_mine"] else friend, made)
    assert checked > 0


def test_no_page_has_the_view_or_the_turn_of_the_other(page):
    made, friend = begin(page)
    path = f"/api/games/{made['id']}"
    for who, other in ((page, 1), (friend, 0)):
        for where in ("", "/at/0", "/at/0/all.svg", "/position", "/why"):
            refused = who.call("GET", f"{path}{where}?viewer={other}&targets=a", status=403)
            assert refused["reason"] == "OTHER_SEAT", where
        assert who.call("GET", f"/api/events?game={made['id']}&viewer={other}", status=403)["reason"] == "OTHER_SEAT"
        data = {"version": who.game(made)["version"], "viewer": other, "actions": []}
        assert who.call("PUT", f"{path}/draft", data, 403)["reason"] == "OTHER_SEAT"
        assert who.call("POST", f"{path}/turn", data, 403)["reason"] == "OTHER_SEAT"
    # Seat 0 is to move: its owner's page, without naming the seat.
    now = friend.game(made)
    action = page.game(made)["entries"][0]["action"]
    for data in ({"actions": [action]}, {"actions": [action], "viewer": None}, {"resign": True}):
        assert friend.command(now, 403, **data)["reason"] == "NOT_YOUR_TURN"
    assert friend.call("PUT", f"{path}/draft", {"version": now["version"], "actions": [action]}, 403)
    assert friend.call("GET", f"{path}/why?targets=a", status=403)["reason"] == "NOT_YOUR_TURN"
    turn(page, made)
    now = page.game(made)
    assert (now["to_move"], now["is_mine"]) == (1, False)
    assert page.command(now, 403, actions=["end"])["reason"] == "NOT_YOUR_TURN"
    assert page.command(now, 403, resign=True)["reason"] == "NOT_YOUR_TURN"


def test_no_command_answers_with_the_view_of_another_page(page, routes):
    made, friend = begin(page)
    turn(page, made)  # the friend is to move
    stale = {"version": 0, "viewer": 1}
    now = {"version": page.game(made)["version"], "viewer": 1}
    more = [{}, {"actions": []}, {"do": "answer"}, {"seat": 1}, {"do": "comment", "line": "", "at": 0, "text": "a"}]
    bodies = [{**head, **one} for head in (stale, now) for one in more]
    bodies += [{"at": 0, "viewer": 1}, {"seconds": 0.1, "viewer": 1}]
    for method, path in routes:
        if "/api/games/{game}" not in path or method not in ("POST", "PUT") or path.endswith("/restore"):
            continue
        for body in bodies:
            for key in ("resign", "takeback", None):
                data = body if key is None else {**body, key: True}
                answer = page.client.request(
                    method, path.format(game=made["id"], number=0, part="all"), content=json.dumps(data), headers=JSON
                )
                assert answer.status_code >= 400, (path, data)
                assert answer.json().get("snapshot") is None or answer.json()["snapshot"]["viewer"] == 0, (path, data)
    assert friend.game(made)["is_mine"]


def test_notes_of_the_owner_are_for_the_owner_until_the_end(page):
    made, friend = begin(page, "mexica")
    note = {"version": page.game(made)["version"], "do": "comment", "line": "", "at": 0, "text": "my plan"}
    assert page.call("POST", f"/api/games/{made['id']}/lines", note)["comments"] == {"0": "my plan"}
    assert "my plan" not in json.dumps(friend.game(made))
    page.command(page.game(made), resign=True)
    assert friend.game(made)["comments"] == {"0": "my plan"}


def test_a_turn_that_is_entered_is_seen_on_no_other_page(page):
    made, friend = begin(page, "mexica")
    now = page.game(made)
    entered = [now["entries"][0]["action"]]
    page.call("PUT", f"/api/games/{made['id']}/draft", {"version": now["version"], "actions": entered})
    assert page.game(made)["draft"]["actions"] == entered
    assert friend.game(made)["draft"]["actions"] == []
    # Nor by whoever plays the seat from now on, neither on the new device nor at the screen again.
    invite(page, made, 1, 200, withdraw=True)
    other = Friend(page, invite(page, made, 0)["path"])
    now = other.game(made)
    assert now["draft"]["actions"] == []
    other.call("PUT", f"/api/games/{made['id']}/draft", {"version": now["version"], "actions": entered})
    invite(page, made, 0, 200, withdraw=True)
    assert page.game(made)["draft"]["actions"] == []


def test_everybody_takes_back_own_turns_only(page):
    made, friend = begin(page, "mexica")
    turn(page, made)
    assert friend.command(friend.game(made), 422, takeback=True)["reason"] == "NOTHING_TO_TAKE_BACK"
    assert not friend.game(made)["can_take_back"]
    assert page.command(page.game(made), takeback=True)["num_turns"] == 0
    turn(page, made)
    turn(friend, made)
    assert page.command(page.game(made), 422, takeback=True)["reason"] == "NOTHING_TO_TAKE_BACK"
    assert friend.command(friend.game(made), takeback=True)["num_turns"] == 1
    friend.command(friend.game(made), resign=True)
    assert not page.game(made)["can_take_back"]


@pytest.mark.parametrize("chosen", ["event", "stop", "retry", "person"])
def test_what_is_about_engines_and_chance_is_for_the_owner(page, chosen):
    made, friend = begin(page, "nim", seats=[PERSON, PERSON, engine()], players=3)
    assert friend.command(friend.game(made), 403, **{chosen: True}, seat=2)["reason"] == "GUEST"


# What a guest may ask for: while the game goes on, and only when it is over. All else is refused.
DURING = {
    ("GET", "/g/{game}"), ("GET", "/static"), ("GET", "/static/palette.css"), ("GET", "/api/info"),
    ("GET", "/api/games/{game}"), ("PUT", "/api/games/{game}/draft"), ("POST", "/api/games/{game}/turn"),
    ("GET", "/api/games/{game}/why"), ("GET", "/api/games/{game}/at/{number}"),
    ("GET", "/api/games/{game}/at/{number}/{part}.svg"), ("GET", "/api/games/{game}/position"), ("GET", "/api/events"),
    ("GET", "/api/rules/{game}"), ("GET", "/api/guides/{game}"),
    ("GET", "/api/games/{game}/at/{number}/hints"), ("GET", "/api/games/{game}/at/{number}/projected"),
}  # fmt: skip
AFTERWARDS = {
    ("GET", "/api/games/{game}/sheet"), ("GET", "/api/games/{game}/record"), ("GET", "/api/games/{game}/shares.svg"),
    ("PUT", "/api/games/{game}/analysis"), ("DELETE", "/api/games/{game}/analysis"),
    ("PUT", "/api/games/{game}/annotation"),
}  # fmt: skip


@pytest.fixture(scope="module")
def routes(tmp_path_factory):
    """All methods with all paths of the page."""
    with contextlib.closing(Folder(tmp_path_factory.mktemp("routes"))) as folder:
        found = Site(folder, None, {}).routes
    assert all(isinstance(route, Route | Mount) for route in found)
    paths = {route.path for route in found}
    assert {path for _, path in DURING | AFTERWARDS} <= paths
    return [(method, path) for path in paths for method in ("GET", "HEAD", "POST", "PUT", "DELETE")]


def test_all_other_routes_are_refused(page, routes):
    made, friend = begin(page)
    _, other = begin(page)
    names = {"game": made["id"], "number": "0", "part": "all"}
    elsewhere = {**names, "game": other.opened.headers["location"].removeprefix("/g/")}
    for is_over in (False, True):
        if is_over:
            page.command(page.game(made), resign=True)
        for method, path in routes:
            asked = ("GET" if method == "HEAD" else method), path
            may = asked in DURING or (is_over and asked in AFTERWARDS)
            if asked[1] == "/api/events":
                query = f"?game={made['id']}"
                if may:
                    continue  # a stream does not end
            else:
                query = ""
            where = path.format(**names) + ("/app.js" if path == "/static" else "") + query
            status, reason = friend.answer(method, where)
            is_refused = status == 401 or reason == "GUEST"
            assert is_refused != may if method != "HEAD" else may or status in (401, 403), (method, where, status)
            if "{game}" in path and not path.startswith(("/api/rules", "/api/guides")):
                assert friend.status(method, path.format(**elsewhere)) == 401, (method, path)
    assert friend.status("GET", f"/api/events?game={elsewhere['game']}") == 401
    assert friend.status("GET", "/api/events") == 401
    assert friend.status("GET", f"/api/games/{made['id']}/../{elsewhere['game']}") == 401
    assert friend.status("POST", "/api/proposal", {"id": made["id"], "at": 0}) in (401, 403)
    assert friend.status("PUT", f"/api/games/{made['id']}/at/0") == 403
    assert page.client.get("/api/games").status_code == 200


def test_a_guest_is_checked_as_everybody_else(page):
    made, friend = begin(page)
    path = f"/api/games/{made['id']}"
    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ):
        assert friend.client.get(path, headers=headers).status_code == status
        if "Sec-Fetch-Site" not in headers:
            assert page.new_client().get(friend.path, headers=headers).status_code == status
    assert friend.client.post(f"{path}/turn", content="{}", headers={"Content-Type": "text/plain"}).status_code == 415
    large = friend.client.put(f"{path}/draft", content=b" " * ((1 << 16) + 1), headers=JSON)
    assert large.status_code == 413
    assert friend.client.request("PATCH", path).status_code in (403, 405)
    # A link from a chat is opened by a page of another site.
    opened = page.new_client().get(friend.path, headers={"Sec-Fetch-Site": "cross-site"})
    assert opened.status_code == 303


@pytest.mark.parametrize("change", ["token", "seat", "game", "empty", "session", "twice"])
def test_a_wrong_link_opens_nothing(page, change):
    made, friend = begin(page, "nim", seats=[PERSON, PERSON, PERSON], players=3)
    token = friend.path.partition("1.")[2]
    cookie = friend.client.cookies[f"mexica_ai_{page.port}_{made['id']}"].partition(".")[2]
    game = {"game": "0" * 32}.get(change, made["id"])
    value = {"token": f"1.{token[:-2]}AA", "seat": f"2.{token}", "empty": "", "session": f"1.{cookie}"}.get(
        change, f"1.{token}"
    )
    with page.new_client() as stranger:
        answer = stranger.get(f"/g/{game}?invite={value}" + ("&invite=1.x" if change == "twice" else ""))
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        for forged in (f"1.{token}", f"2.{cookie}", f"0.{cookie}", cookie, "", f"1.{cookie}x"):
            stranger.cookies.set(f"mexica_ai_{page.port}_{made['id']}", forged)
            assert stranger.get(f"/api/games/{made['id']}").status_code == 401
            assert stranger.get("/static/app.js").status_code == 401
        stranger.cookies.clear()
        stranger.cookies.set(f"mexica_ai_{page.port}", f"1.{cookie}")
        assert stranger.get("/api/games").status_code == 401


def test_a_link_leads_to_no_other_place(page):
    made, friend = begin(page, "nim")
    for path in (
        "//evil.example?invite=1",
        "//evil.example/g/?invite=1.x",
        "/?invite=1",
        "/edit?invite=1",
        "/g/0?invite=1",
    ):
        for client in (page.client, friend.client):
            answer = client.send(client.build_request("GET", page.base + path))
            assert "evil" not in answer.headers.get("location", ""), path
            assert answer.status_code < 500
    for client in (page.client, friend.client):
        answer = client.get(f"/g/{made['id']}/more?invite=1.x&invite=wrong")
        assert (answer.status_code, answer.headers["location"]) == (303, f"/g/{made['id']}")
        assert client.get(f"/g/{made['id']}?xinvite=1").status_code == 200


def test_what_is_entered_cannot_be_guessed(page):
    made, friend = begin(page)
    now = page.game(made)
    entered = {"version": now["version"], "actions": [now["entries"][0]["action"]]}
    page.call("PUT", f"/api/games/{made['id']}/draft", entered)
    assert page.call("PUT", f"/api/games/{made['id']}/draft", entered)["is_mine"]  # the answer was lost
    refused = friend.call("PUT", f"/api/games/{made['id']}/draft", entered, 409)
    other = friend.call("PUT", f"/api/games/{made['id']}/draft", {**entered, "actions": ["nonsense"]}, 409)
    assert refused == other


def test_a_new_link_makes_the_old_one_worthless(page):
    made, friend = begin(page)
    path = f"/api/games/{made['id']}"
    with friend.stream(game=made["id"]) as events:
        next(events)
        again = invite(page, made)["path"]
        assert all(event == "presence" for event, _ in events)  # and it ends
    assert friend.status("GET", path) == 401
    assert friend.client.get(friend.path).status_code == 401
    second = Friend(page, again)
    assert second.game(made)["guest"] == 1
    withdrawn = invite(page, made, status=200, withdraw=True)
    assert withdrawn["path"] is None
    assert withdrawn["snapshot"]["away"] == []
    assert second.status("GET", path) == 401
    assert page.game(made)["handover"] == 0  # the curtain is back


def test_invitations_outlive_the_process(start):
    first = start()
    made, _ = begin(first)
    port_of = first.port
    entries = [json.loads(line) for line in (first.folder / f"{made['id']}.jsonl").read_text().splitlines()]
    assert [entry["invited"] for entry in entries if "invited" in entry] == [1]
    first.kill()
    second = start("--port", port_of)
    friend = Friend(second, guests.path_of(key_of(second), guests.Guest(made["id"], 1, entries[-1]["nonce"])))
    assert friend.game(made)["away"] == [1]


def key_of(process):
    from mexica_ai.web import credentials

    return credentials.load(process.folder, process.port).invites


@pytest.mark.parametrize(
    ("seats", "seat", "reason"),
    [
        ([PERSON, engine()], 1, "NO_INVITE"),
        ([PERSON, engine()], 0, "LAST_SEAT"),
        ([PERSON, PERSON], 2, "NO_INVITE"),
        ([PERSON, PERSON], -1, "NO_INVITE"),
    ],
)
def test_only_the_seat_of_another_person_is_invited(page, seats, seat, reason):
    made = page.new("nim", seats=seats)
    assert invite(page, made, seat, 422)["reason"] == reason
    if len(seats) == 2 and seats[1] == PERSON:
        invite(page, made, 0)
        assert invite(page, made, 1, 422)["reason"] == "LAST_SEAT"
        assert invite(page, made, 1, 422, withdraw=True)["reason"] == "NO_INVITE"


def test_the_pages_of_a_link_lock_out_nobody(page):
    made, friend = begin(page, "nim")
    more = [begin(page, "nim") for _ in range(4)]
    with contextlib.ExitStack() as stack:
        for one, link in [(made, friend), *more]:
            for _ in range(4):
                next(stack.enter_context(link.stream(game=one["id"])))
        next(stack.enter_context(page.stream(game=made["id"])))


def test_pages_are_told_who_is_connected(page):
    made, friend = begin(page, "nim")

    def present(events):
        return next(data["seats"] for event, data in events if event == "presence")

    with page.stream(game=made["id"]) as events:
        assert present(events) == [0]
        with friend.stream(game=made["id"]) as theirs:
            assert present(theirs) == [0, 1]
            assert present(events) == [0, 1]
        assert present(events) == [0]


def test_what_engines_find_is_not_sent_to_a_guest(page):
    made, friend = begin(page, "mexica")
    path = f"/api/games/{made['id']}"
    turn(page, made)
    with friend.stream(game=made["id"]) as events:
        next(events)
        page.call("PUT", f"{path}/analysis", {"at": 0, "seconds": 0.05}, 202)
        page.await_game(made, lambda now: (now["analysis"] or {}).get("stop_reason"))
        page.call("PUT", f"{path}/annotation", {"seconds": 0.05}, 202)
        page.await_game(made, lambda now: now["annotation"]["state"] == "done")
        now = friend.game(made)
        assert (now["analysis"], now["annotation"]["turns"]) == (None, [])
        turn(friend, made)
        kinds = []
        for event, _ in events:
            kinds.append(event)
            if event == "state":
                break
    assert set(kinds) <= {"presence", "state"}
    page.command(page.game(made), resign=True)
    assert friend.game(made)["annotation"]["turns"]
    assert friend.call("PUT", f"{path}/annotation", {"seconds": 0.1}, 409)["reason"] == "ANNOTATED"
    # All pages of a game ask for the same when it ends, whoever is first: the turn that was played since is judged.
    for state in ("running", "done"):
        assert friend.call("PUT", f"{path}/annotation", {"seconds": 0.05}, 202)["state"] == state
        friend.await_game(made, lambda now: now["annotation"]["state"] == "done")
        assert friend.game(made)["annotation"]["done"] == 2


def test_a_guest_has_a_game_judged_that_ends_in_another_way(page):
    made, friend = begin(page, "mexica")
    path, asked = f"/api/games/{made['id']}/annotation", {"seconds": 0.05}
    turn(page, made)
    page.command(turn(friend, made), resign=True)
    friend.call("PUT", path, asked, 202)
    friend.await_game(made, lambda now: now["annotation"]["state"] == "done")
    page.command(page.game(made), takeback=True)
    friend.command(friend.game(made), takeback=True)
    page.command(turn(friend, made), resign=True)
    assert friend.game(made)["annotation"]["done"] == 1
    assert friend.call("PUT", path, {"seconds": 0.1}, 409)["reason"] == "ANNOTATED"
    friend.call("PUT", path, asked, 202)
    friend.await_game(made, lambda now: now["annotation"]["done"] == 2)


def test_a_guest_neither_ends_nor_replaces_what_the_owner_has_searched(page):
    made, friend = begin(page, "mexica")
    path = f"/api/games/{made['id']}"
    turn(page, made)
    page.command(turn(friend, made), resign=True)
    asked = {"at": 0, "seconds": None}
    with page.stream(game=made["id"]):
        key = page.call("PUT", f"{path}/analysis", asked, 202)["key"]
        page.await_game(made, lambda now: now["analysis"])
        assert friend.call("PUT", f"{path}/analysis", asked, 409)["reason"] == "ANALYSED"
        assert friend.call("DELETE", f"{path}/analysis", status=409)["reason"] == "ANALYSED"
        now = page.game(made)["analysis"]
        assert (now["key"], now["stop_reason"]) == (key, "")
        assert page.call("DELETE", f"{path}/analysis")["analysis"]["stop_reason"] == "stopped"
        # A search of their own goes on until the owner wants another.
        own = friend.call("PUT", f"{path}/analysis", asked, 202)["key"]
        assert friend.call("DELETE", f"{path}/analysis")["analysis"]["key"] == own
        friend.call("PUT", f"{path}/analysis", asked, 202)
        page.call("PUT", f"{path}/analysis", {**asked, "seconds": 0.05}, 202)
        page.call("PUT", f"{path}/annotation", {"seconds": 30}, 202)
        assert friend.call("PUT", f"{path}/annotation", {"seconds": 0.1}, 409)["reason"] == "ANNOTATED"
        assert friend.call("DELETE", f"{path}/annotation", status=403)["reason"] == "GUEST"
        assert page.game(made)["annotation"] | {"turns": []} == {
            "state": "running", "message": "", "seconds": 30, "done": 0, "of": 2, "turns": []
        }  # fmt: skip
        page.call("DELETE", f"{path}/annotation")
        assert page.game(made)["annotation"]["state"] == "stopped"
        assert friend.call("PUT", f"{path}/annotation", {"seconds": 30}, 409)["reason"] == "ANNOTATED"

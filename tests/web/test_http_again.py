"""Requests that come twice or at once: from two pages, while an engine thinks, after a failure, after a deletion."""

import asyncio
import contextlib
import json
import threading
import time
from functools import partial
from typing import ClassVar

import httpx
import pytest
from pages import PERSON

import mexica_ai as ai
from mexica_ai.analysis.annotate import evaluate_record
from mexica_ai.engines import parse_spec
from mexica_ai.io.errors import SearchError
from mexica_ai.web import commands, engines, journal, starts, store
from mexica_ai.web.app import Site, make_app
from mexica_ai.web.events import Stream
from mexica_ai.web.journal import Folder, Journal

pytestmark = pytest.mark.real("time")
PERSONS = [PERSON, PERSON]
SLOW = {"kind": "engine", "name": "slow", "seconds": 30.0}


class SlowEngine:
    """An engine that thinks until it is stopped, and notes which threads use it."""

    made: ClassVar[list["SlowEngine"]] = []

    def __init__(self, spec):
        self.threads, self.is_closed, self.num_asked, self._busy = set(), False, 0, threading.Lock()
        self.made.append(self)

    def best_turn(self, position, limits, *, stop):
        assert self._busy.acquire(blocking=False), "two threads use one engine"
        try:
            self.threads.add(threading.get_ident())
            self.num_asked += 1
            assert stop.wait(30)
            time.sleep(0.05)  # no engine stops at once
            return type("Result", (), {"turn": [position.legal_actions()[0]]})
        finally:
            self._busy.release()

    def close(self):
        assert threading.get_ident() in self.threads
        self.is_closed = True


@pytest.fixture
def slow(monkeypatch):
    monkeypatch.setattr(SlowEngine, "made", [])
    monkeypatch.setattr(engines, "make_engine", SlowEngine)
    return SlowEngine.made


@contextlib.asynccontextmanager
async def opened(path):
    """Give a site over a folder, and what sends a request to it: (method, path, data) -> (status, JSON)."""
    folder = Folder(path)
    site = Site(folder, None, {"slow": parse_spec("random")})
    app = make_app(site)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://page") as client:

        async def call(method, address, data=None):
            answer = await client.request(method, address, content=None if data is None else json.dumps(data))
            return answer.status_code, answer.json() if answer.content else None

        try:
            yield site, call
        finally:
            await site.jobs.close()
            folder.close()


async def new(call, game="nim", **data):
    status, made = await call("POST", "/api/games", {"game": game, **data})
    assert status == 201, made
    return made


async def play(call, now, *actions, status=200, **more):
    data = {"version": now["version"], "actions": list(actions), **more}
    got, answer = await call("POST", f"/api/games/{now['id']}/turn", data)
    assert got == status, answer
    return answer


async def until(is_so):
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end
        await asyncio.sleep(0.005)


def thinking(slow, number=1):
    return lambda: sum(one.num_asked for one in slow) >= number


def run(test, path):
    asyncio.run(test(path))


# --- failures


def test_a_turn_that_cannot_be_kept_can_be_played_again(tmp_path, monkeypatch):
    """A disk that is full for a second makes no game unplayable."""
    is_full, append = [False], Journal.append

    def fail(self, *entries):
        if is_full[0]:
            raise OSError(28, "No space left on device")
        append(self, *entries)

    monkeypatch.setattr(Journal, "append", fail)

    async def test(path):
        async with opened(path) as (_site, call):
            now = await new(call, "mexica", seats=PERSONS)
            for _ in range(2):
                now = await play(call, now, now["entries"][0]["action"])
            action = next(entry["action"] for entry in now["entries"] if entry["tool"] == "canal")
            address = f"/api/games/{now['id']}"
            _, now = await call("PUT", f"{address}/draft", {"version": now["version"], "actions": [action]})
            is_full[0] = True
            for data in ({}, {"actions": ["end"]}, {"takeback": True}, {"resign": True}):
                status, error = await call("POST", f"{address}/turn", {"version": now["version"], **data})
                assert (status, error["reason"]) == (503, "DISK")
                assert await call("GET", address) == (200, now)
            is_full[0] = False
            again = await play(call, now, action, "end")
            assert again["turns"][-1]["actions"] == [action, "end"]

    run(test, tmp_path)


def test_a_turn_that_is_refused_is_no_draft(tmp_path):
    async def test(path):
        async with opened(path) as (_site, call):
            now = await new(call, "mexica", seats=PERSONS)
            for _ in range(2):
                now = await play(call, now, now["entries"][0]["action"])
            action = next(entry["action"] for entry in now["entries"] if entry["tool"] == "canal")
            address = f"/api/games/{now['id']}"
            assert (await play(call, now, action, "nonsense", status=422))["reason"]
            assert await call("GET", address) == (200, now)
            status, after = await call("POST", f"{address}/turn", {"version": now["version"]})
            assert (status, after["turns"][-1]["actions"]) == (200, ["end"])

    run(test, tmp_path)


# --- two pages


@pytest.mark.parametrize("command", [{"takeback": True}, {"person": True, "seat": 2}])
def test_two_commands_of_one_version(tmp_path, slow, command):
    async def test(path):
        async with opened(path) as (_site, call):
            now = await new(call, "nim", players=3, seats=[PERSON, PERSON, SLOW])
            for action in ("take 1 1", "take 1 2"):
                now = await play(call, now, action)
            await until(thinking(slow))
            data = {"version": now["version"], **command}
            answers = [call("POST", f"/api/games/{now['id']}/turn", data) for _ in range(3)]
            answers = sorted(await asyncio.gather(*answers), key=lambda answer: answer[0])
            assert [status for status, _ in answers] == [200, 409, 409]
            assert {error["reason"] for _, error in answers[1:]} == {"STALE"}
            _, after = await call("GET", f"/api/games/{now['id']}")
            assert after["num_turns"] == (1 if "takeback" in command else 2)
            assert after["thinking"] is None

    run(test, tmp_path)


def test_two_deletions_at_once(tmp_path, slow):
    async def test(path):
        async with opened(path) as (site, call):
            now = await new(call, seats=[SLOW, PERSON])
            await until(thinking(slow))
            answers = await asyncio.gather(*(call("DELETE", f"/api/games/{now['id']}") for _ in range(3)))
            assert sorted(status for status, _ in answers) == [204, 404, 404]
            await until(lambda: slow[0].is_closed)
            assert list(site.store) == []

    run(test, tmp_path)


# --- deletions


def test_a_deleted_game_is_put_back(tmp_path, slow):
    async def test(path):
        async with opened(path) as (site, call):
            now = await new(call, seats=[PERSON, SLOW])
            address = f"/api/games/{now['id']}"
            now = await play(call, now, "take 1 1")
            await until(thinking(slow))
            before = site.store.find(now["id"])
            assert (await call("DELETE", address))[0] == 204
            for request in (("GET", address), ("DELETE", address), ("GET", f"{address}/record")):
                assert (await call(*request))[0] == 404
            assert (await call("GET", "/api/games"))[1] == {"games": []}
            with pytest.raises(Exception, match="no game"):
                before.change(partial(commands.play, turn=["take 1 2"]))  # by a job that is late
            answers = await asyncio.gather(*(call("POST", f"{address}/restore", {}) for _ in range(2)))
            assert [status for status, _ in answers] == [200, 200]
            again = answers[0][1]
            assert again["turns"] == now["turns"]
            assert again["version"] > now["version"]
            assert (await play(call, now, "take 1 2", status=409))["reason"] == "STALE"
            site.jobs.go_on(site.store.find(now["id"]))
            await until(thinking(slow, 2))
            await until(lambda: slow[0].is_closed)
            assert not slow[1].is_closed  # the end of the jobs before is none of its own
            _, stopped = await call("POST", f"{address}/turn", {"version": again["version"], "stop": True})
            assert stopped["num_turns"] == 2

    run(test, tmp_path)


def test_what_cannot_be_put_back(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MAX_GAMES", 2)
    monkeypatch.setattr(journal, "MAX_DELETED", 2)

    async def test(path):
        async with opened(path) as (_site, call):
            deleted = []
            for _ in range(3):
                deleted.append((await new(call))["id"])
                assert (await call("DELETE", f"/api/games/{deleted[-1]}"))[0] == 204
            kept = await new(call)
            restore = [f"/api/games/{ident}/restore" for ident in (*deleted, kept["id"], "0" * 32, "no", "..")]
            assert (await call("POST", restore[0], {}))[0] == 404  # too many were deleted since
            assert (await call("POST", restore[1], {}))[0] == 200
            status, error = await call("POST", restore[2], {})
            assert (status, error["reason"]) == (429, "TOO_MANY_GAMES")
            assert (await call("DELETE", f"/api/games/{deleted[1]}"))[0] == 204
            assert (await call("POST", restore[2], {}))[0] == 200
            assert (await call("POST", restore[3], {}))[0] == 200  # it is there
            assert [(await call("POST", address, {}))[0] for address in restore[4:]] == [404, 404, 404]

    run(test, tmp_path)


def test_deleted_games_are_forgotten_after_a_while(tmp_path, monkeypatch):
    folder = Folder(tmp_path)
    game = starts.create({"game": "nim"}, names=[], examples={}, find=None)
    store.keep(game, folder)
    folder.remove(game.id)
    folder.forget_deleted()
    assert folder.is_deleted(game.id)
    monkeypatch.setattr(journal, "DELETED_S", -5.0)
    folder.forget_deleted()
    assert not folder.is_deleted(game.id)
    folder.close()


@pytest.mark.parametrize("is_link", [False, True], ids=["folder", "link"])
def test_files_of_others_are_not_deleted(tmp_path, monkeypatch, is_link):
    monkeypatch.setattr(journal, "DELETED_S", -5.0)
    others = tmp_path / ("elsewhere" if is_link else ".deleted")
    others.mkdir()
    name = f"{'0' * 32}.jsonl" if is_link else "letters.txt"
    (others / name).write_text("theirs")
    if is_link:
        (tmp_path / ".deleted").symlink_to(others)
    Folder(tmp_path).close()
    assert (others / name).read_text() == "theirs"


def test_a_clock_that_runs_on_is_shown_as_running(tmp_path):
    """A page gets its first state before its stream lets the clock go on."""

    async def test(path):
        async with opened(path) as (_site, call):
            now = await new(call, seats=PERSONS, clock={"bank_s": 60, "increment_s": 0})
            for action in ("take 1 1", "take 1 2"):
                now = await play(call, now, action)
        async with opened(path) as (site, call):
            _, now = await call("GET", f"/api/games/{now['id']}")
            assert now["clock"]["running"] is None
            stream = Stream(now["id"], None)
            with site.hub.open(stream):
                stream.close()
                sent = [data async for event, data in stream.events() if event == "state"]
            assert [each["snapshot"]["clock"]["running"] for each in sent] == [0]

    run(test, tmp_path)


# --- what has been seen


@pytest.mark.parametrize(("game", "status"), [("nim", 200), ("coatl", 422)])
def test_hands_that_were_shown_end_the_game_for_good(tmp_path, game, status):
    async def test(path):
        async with opened(path) as (_site, call):
            now = await new(call, game, seats=[PERSON, SLOW], seed=1)
            address = f"/api/games/{now['id']}/turn"
            _, now = await call("POST", address, {"version": now["version"], "resign": True})
            assert now["is_over"]
            assert now["can_take_back"] == (status == 200)
            got, answer = await call("POST", address, {"version": now["version"], "takeback": True})
            assert (got, answer.get("is_over")) == ((200, False) if status == 200 else (422, None))

    run(test, tmp_path)


# --- annotations


class Judge:
    """A service that evaluates turns as soon as it may."""

    def __init__(self):
        self.may, self.asked = asyncio.Event(), []

    async def evaluate_record(self, record, *, first_turn, **_limits):
        number = len(record["turns"])
        self.asked.append((first_turn, number))
        for one in evaluate_record(record, iterations=10, turns=range(first_turn, number)):
            await self.may.wait()
            yield one


def test_a_game_that_ends_while_it_is_judged_is_judged_to_its_end(tmp_path):
    async def test(path):
        async with opened(path) as (site, call):
            judge = site.jobs._client = Judge()
            now = await new(call, options={"piles": [1, 2]}, seats=PERSONS)
            game = site.store.find(now["id"])

            async def annotate():
                judge.may.clear()
                judge.asked.clear()
                site.jobs.annotate(game, 0.1)
                await until(lambda: judge.asked)

            async def judged():
                judge.may.set()
                await until(lambda: game.annotation["state"] != "running")
                assert game.annotation["state"] == "done"
                return sorted(game.evaluations)

            async def back(now):
                data = {"version": now["version"], "takeback": True}
                return (await call("POST", f"/api/games/{now['id']}/turn", data))[1]

            now = await play(call, now, "take 1 1")
            await annotate()
            now = await play(call, now, "take 1 2")  # it goes on: no turn that comes is waited for
            assert await judged() == [0]
            await annotate()
            now = await play(call, now, "take 1 2")
            assert now["is_over"]
            assert await judged() == [0, 1, 2]
            assert judge.asked == [(1, 2), (2, 3)]
            now = await play(call, await back(await back(now)), "take 2 2")
            await annotate()
            now = await back(now)
            for _ in range(2):  # the end is another one
                now = await play(call, now, "take 1 2")
            assert now["is_over"]
            assert await judged() == [0, 1, 2]

    run(test, tmp_path)


# --- engines


def test_a_list_of_games_starts_no_engine(tmp_path, slow):
    async def test(path):
        async with opened(path) as (_site, call):
            games = [await new(call, seats=[SLOW, PERSON]) for _ in range(3)]
            await until(thinking(slow, 3))
        slow.clear()
        async with opened(path) as (site, call):
            _, listed = await call("GET", "/api/games")
            assert {game["id"] for game in listed["games"]} == {game["id"] for game in games}
            assert (await call("GET", f"/api/games/{games[0]['id']}"))[0] == 200
            assert slow == []
            site.hub.on_join(games[0]["id"])  # as its page does
            await until(thinking(slow))
            assert len(slow) == 1

    run(test, tmp_path)


def test_a_turn_is_taken_back_while_an_engine_thinks_and_played_anew(tmp_path, slow):
    """The next search waits until the one before has ended: no two threads use an engine."""

    async def test(path):
        async with opened(path) as (_site, call):
            now = await new(call, "nim", options={"piles": [5, 5, 5]}, seats=[PERSON, SLOW])
            for number in range(1, 6):
                now = await play(call, now, "take 1 1")
                await until(thinking(slow, number))
                if number < 5:
                    _, now = await call(
                        "POST", f"/api/games/{now['id']}/turn", {"version": now["version"], "takeback": True}
                    )
                    assert (now["num_turns"], now["thinking"]) == (0, None)
            _, now = await call("POST", f"/api/games/{now['id']}/turn", {"version": now["version"], "stop": True})
            assert [turn["seat"] for turn in now["turns"]] == [0, 1]
            assert [len(one.threads) for one in slow] == [1]

    run(test, tmp_path)


def test_a_comment_and_an_invitation_leave_what_an_engine_has_thought(tmp_path, slow):
    async def test(path):
        async with opened(path) as (_site, call):
            now = await new(call, players=3, seats=[PERSON, SLOW, PERSON])
            now = await play(call, now, "take 1 1")
            await until(thinking(slow))
            address = f"/api/games/{now['id']}"
            comment = {"version": now["version"], "do": "comment", "line": "", "at": 1, "text": "careful"}
            status, now = await call("POST", f"{address}/lines", comment)
            assert status == 200
            status, invited = await call("POST", f"{address}/invites", {"version": now["version"], "seat": 2})
            assert status == 201
            stop = {"version": invited["snapshot"]["version"], "stop": True}
            _, now = await call("POST", f"{address}/turn", stop)
            assert (now["num_turns"], slow[0].num_asked) == (2, 1)

    run(test, tmp_path)


def test_engines_that_think_hold_up_no_new_game(tmp_path, slow):
    """More than a pool of threads has by default."""

    async def test(path):
        async with opened(path) as (_site, call):
            for number in range(1, 41):
                await asyncio.wait_for(new(call, seats=[SLOW, PERSON]), 5)
                await until(thinking(slow, number))
            assert len(slow) == 40

    run(test, tmp_path)


def test_an_engine_may_think_on_after_its_turn_until_the_game_is_over(tmp_path, slow, monkeypatch):
    noted = []
    monkeypatch.setattr(
        SlowEngine,
        "ponder",
        lambda self, position, turn: noted.append((position.history, position.to_move, turn)),
        False,
    )

    async def test(path):
        async with opened(path) as (_site, call):
            now = await new(call, "nim", options={"piles": [1, 1, 1]}, seats=[PERSON, SLOW])
            for number, action in enumerate(("take 1 1", "take 1 3")):
                now = await play(call, now, action)
                if number == 0:
                    await until(thinking(slow))
                    stop = {"version": now["version"], "stop": True}
                    _, now = await call("POST", f"/api/games/{now['id']}/turn", stop)
                    await until(lambda: noted)
            assert now["waiting"] == "over"

    run(test, tmp_path)
    ((_, seat, turn),) = noted
    assert (seat, turn) == (1, ["take 1 2"])


@pytest.mark.parametrize("end", ["resign", "leave", "close"])
def test_the_engines_of_a_game_end_with_it(tmp_path, slow, monkeypatch, end):
    monkeypatch.setattr("mexica_ai.web.jobs.UNWATCHED_S", 0.01)

    async def test(path):
        async with opened(path) as (site, call):
            now = await new(call, seats=[SLOW, PERSON])
            with site.hub.open(Stream(now["id"], None)):
                await until(thinking(slow))
                _, now = await call("POST", f"/api/games/{now['id']}/turn", {"version": now["version"], "stop": True})
                assert not slow[0].is_closed
                if end == "resign":
                    await call("POST", f"/api/games/{now['id']}/turn", {"version": now["version"], "resign": True})
                if end == "close":
                    await site.jobs.close()
                if end != "leave":
                    await until(lambda: slow[0].is_closed)
            await until(lambda: slow[0].is_closed)

    run(test, tmp_path)


def test_an_engine_that_has_failed_is_made_anew(slow, monkeypatch):
    made = []

    class Failing(SlowEngine):
        def best_turn(self, position, limits, *, stop):
            self.threads.add(threading.get_ident())
            if len(made) == 1:
                raise SearchError("it has died", reason="ENGINE_FAILED")
            return "a result"

    monkeypatch.setattr(engines, "make_engine", lambda spec: made.append(Failing(spec)) or made[-1])

    async def test():
        players = engines.Engines({"slow": parse_spec("random")})
        ask = partial(players.best_turn, "game", 0, "slow", None, None)
        with pytest.raises(SearchError, match="died"):
            await ask(engines.Stop())
        assert made[0].is_closed
        assert await ask(engines.Stop()) == "a result"
        await players.close_all()
        assert [one.is_closed for one in made] == [True, True]

    asyncio.run(test())


def test_an_engine_that_is_late_is_closed_all_the_same(slow, monkeypatch):
    monkeypatch.setattr(engines, "CLOSE_S", 0.01)

    async def test():
        players, stop = engines.Engines({"slow": parse_spec("random")}), engines.Stop()
        searching = asyncio.create_task(players.best_turn("game", 0, "slow", ai.new_game("nim"), None, stop))
        await until(thinking(slow))
        await players.close_all()
        assert not slow[0].is_closed
        stop.set()
        await searching
        await until(lambda: slow[0].is_closed)

    asyncio.run(test())

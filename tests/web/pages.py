"""The page, in a process of its own or in that of a test, and a client that speaks to it as the page's scripts do."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import httpx

import mexica_ai as ai
from mexica_ai.web.app import Site, make_app
from mexica_ai.web.journal import Folder

START_S, END_S, WAIT_S = 120, 15, 60  # a busy machine is slow


class Speaker:
    """What asks the page as its scripts do, by its method `request`."""

    def call(self, method, path, data=None, status=200, **options):
        """Send a request as the page does, and return what the answer says."""
        if method != "GET":
            options = {"content": json.dumps(data if data is not None else {}), **options}
            options["headers"] = {"Content-Type": "application/json", **options.get("headers", {})}
        answer = self.request(method, path, **options)
        assert answer.status_code == status, (answer.status_code, answer.text[:500])
        return answer.json() if "json" in answer.headers.get("content-type", "") else answer.text

    def new(self, game="nim", **data):
        return self.call("POST", "/api/games", {"game": game, **data}, 201)

    def game(self, snapshot, **query):
        return self.call("GET", f"/api/games/{snapshot['id']}", params=query)

    def play(self, snapshot, *actions, viewer=None):
        data = {"version": snapshot["version"], "viewer": viewer, "actions": list(actions)}
        return self.call("POST", f"/api/games/{snapshot['id']}/turn", data)

    def command(self, snapshot, status=200, **data):
        data = {"version": snapshot["version"], **data}
        return self.call("POST", f"/api/games/{snapshot['id']}/turn", data, status)


class Process(Speaker):
    """`mexica-ai web` on a free port, with a session of its own."""

    def __init__(self, folder, *options, environment=None, opens=False, client=True):
        self.folder, self.log = folder / "games", folder / "log.txt"
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "mexica_ai", "web", *["--no-open"] * (not opens), "--port", "0",
                 "--games", str(self.folder), *map(str, options)],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, **(environment or {})},
            )  # fmt: skip
        timer = threading.Timer(START_S, self._process.kill)
        timer.start()
        self.url = self._process.stdout.readline().strip()
        timer.cancel()
        assert self.url, self.log.read_text()
        self.base, self.token = self.url.split("/?token=")
        self.pid = self._process.pid
        self.client = self.new_client()
        if client:
            self.port = int(self.base.rpartition(":")[2])
            assert self.client.get(self.url, follow_redirects=True).status_code == 200

    def new_client(self, **options):
        return httpx.Client(base_url=self.base, timeout=WAIT_S, **options)

    def request(self, *args, **options):
        return self.client.request(*args, **options)

    def await_game(self, snapshot, is_so, **query):
        """Return the first snapshot of which something is so."""
        end, pause = time.monotonic() + WAIT_S, 0.01
        while not is_so(now := self.game(snapshot, **query)):
            assert time.monotonic() < end, now
            time.sleep(pause)
            pause = min(2 * pause, 0.1)  # to ask takes the processor from what is awaited
        return now

    @contextlib.contextmanager
    def stream(self, **query):
        """Give an iterator of (event, data)."""
        with self.client.stream("GET", "/api/events", params=query) as answer:
            assert answer.status_code == 200
            yield events_of(answer.iter_lines())

    def kill(self):
        self._process.kill()
        self._process.wait()

    def end(self, number=signal.SIGTERM):
        """End the process as a person does; return its exit code."""
        self._process.send_signal(number)
        return self._process.wait(timeout=END_S)

    def close(self):
        self.client.close()
        if self._process.poll() is None:
            self.kill()
        self._process.stdout.close()


class PageHere(Speaker):
    """The page over a folder, in the process of a test and without its doors; it goes on during requests only."""

    def __init__(self, folder):
        self._loop, self._folder = asyncio.new_event_loop(), Folder(folder)
        self._site = Site(self._folder, None, {})
        transport = httpx.ASGITransport(make_app(self._site), raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://page")

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self._loop.run_until_complete(self._site.jobs.close())
        self._folder.close()
        self._loop.close()

    def request(self, *args, **options):
        return self._loop.run_until_complete(self._client.request(*args, **options))


def events_of(lines):
    event, data = "", []
    for line in lines:
        if line.startswith("event: "):
            event = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data.append(line.removeprefix("data: "))
        elif not line and data:
            yield event, json.loads("\n".join(data))
            event, data = "", []


PERSON = {"kind": "person"}

# A finished game. Whoever is to move at its first two turns gives the win away.
NIM = {
    "game": "nim",
    "version": 1,
    "start": ai.new_game("nim", piles=[2, 3]).to_json(),
    "turns": [["take 2 2"], ["take 1 2"], ["take 2 1"]],
    "scores": [1, 0],
    "winners": [0],
}


def engine(level=1, seconds=0.5, **more):
    return {"kind": "engine", "level": level, "seconds": seconds, **more}

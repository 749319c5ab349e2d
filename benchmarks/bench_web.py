"""Measures the page's process: answers beside a search, updates, memory, and what an idle page costs the engine.

    python benchmarks/bench_web.py [--clicks 40] [--seconds 3] [--rounds 5] [--json]

Needs the extra web, and httpx. web_browser.py measures what the browser adds.
"""

import argparse
import contextlib
import functools
import gzip
import itertools
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import httpx
from common import describe_machine, p95, page_process, positive

import mexica_ai as ai
from mexica_ai.rpc.client import Client
from mexica_ai.web import commands, pictures, starts

EXAMPLE = "mexica_midgame.json"
POSITION = Path(__file__).parents[1] / "examples" / EXAMPLE
ACTIONS = ["canal P7-Q7", "canal Q8-Q9", "walk T7", "walk S7"]
NUM_GAMES = 20


@contextlib.contextmanager
def served():
    """Start `mexica-ai web`; give a client with a session, and the process."""
    with page_process() as (process, url), httpx.Client(base_url=url.split("/?")[0], timeout=60) as client:
        client.get(url)
        yield client, process


def call(client, method, path, data):
    """Send JSON; return the answer."""
    answer = client.request(method, path, content=json.dumps(data), headers={"Content-Type": "application/json"})
    answer.raise_for_status()
    return answer.json()


def new_game(client, **data):
    """Make a game of the example with persons on all seats."""
    return call(client, "POST", "/api/games", {"example": EXAMPLE, "seats": [{"kind": "person"}] * 3, **data})


def analyze(client, game, seconds, candidates=10):
    """Start an analysis of a game."""
    data = {"at": 0, "seconds": seconds, "candidates": candidates}
    call(client, "PUT", f"/api/games/{game['id']}/analysis", data)


@contextlib.contextmanager
def stream(client, game):
    """Give an iterator of (event, text of its data, when it came)."""
    with client.stream("GET", "/api/events", params={"game": game["id"]}) as answer:

        def events():
            event = ""
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    event = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield event, line.removeprefix("data: "), time.monotonic()

        yield events()


def measure_clicks(client, number):
    """Return the times of a draft, and of a draft with the picture of it, beside a search."""
    busy, game = new_game(client), new_game(client)
    drafts, pictures, sizes = [], [], []
    with stream(client, busy) as events:
        next(events)
        analyze(client, busy, None)
        for index in range(number):
            actions = ACTIONS[: 1 + index % len(ACTIONS)]
            begin = time.monotonic()
            game = call(
                client, "PUT", f"/api/games/{game['id']}/draft", {"version": game["version"], "actions": actions}
            )
            drafts.append(1000 * (time.monotonic() - begin))
            # A theme's name that changes nothing would be cached, so the actions differ.
            query = {"actions": "; ".join(actions)}
            picture = client.get(f"/api/games/{game['id']}/at/0/board.svg", params=query)
            pictures.append(1000 * (time.monotonic() - begin))
            sizes.append(len(picture.content))
    snapshot = json.dumps(game).encode()
    return {
        "draft_p95_ms": p95(drafts),
        "draft_and_picture_p95_ms": p95(pictures),
        "snapshot_kb": round(len(snapshot) / 1024, 1),
        "snapshot_gzip_kb": round(len(gzip.compress(snapshot, 5)) / 1024, 1),
        "picture_kb": round(max(sizes) / 1024, 1),
    }


def measure_analysis(client, seconds):
    """Return when updates come, how many, how large; and how soon a search ends after its page."""
    game = new_game(client)
    with stream(client, game) as events:
        next(events)
        begin = time.monotonic()
        analyze(client, game, seconds)
        found = []
        for event, data, when in events:
            if event == "analysis":
                found.append((when - begin, len(data)))
                if json.loads(data)["stop_reason"]:
                    break
        analyze(client, game, None)
        next(events)
    left = time.monotonic()
    while not client.get(f"/api/games/{game['id']}").json()["analysis"]["stop_reason"]:
        time.sleep(0.005)
    between = [late - early for (early, _), (late, _) in itertools.pairwise(found)]
    return {
        "first_update_ms": round(1000 * found[0][0]),
        "updates_per_s": round(1 / statistics.median(between), 1) if between else None,
        "update_kb": round(max(size for _, size in found[:-1] or found) / 1024, 1),  # the last says why, too
        "left_to_ended_ms": round(1000 * (time.monotonic() - left)),
    }


def measure_memory(client, process):
    """Return the memory of the process with many games of many turns, in MB."""
    for _ in range(NUM_GAMES):
        call(client, "POST", "/api/games", {"example": "mexica_game.jsonl", "record": 1})
    fields = dict(line.split(":\t") for line in Path(f"/proc/{process.pid}/status").read_text().splitlines()[:30])
    return {"memory_mb": round(int(fields["VmRSS"].split()[0]) / 1024)}


def measure_strength(client, seconds, rounds):
    """Return the iterations a second beside a page as a share of those of a server without a page, in turns."""
    game, position = new_game(client), ai.load(POSITION)
    command = [sys.executable, "-P", "-m", "mexica_ai", "serve", "--port", "0", "--log-level", "error"]
    shares = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().removeprefix("listening on ").strip()
        with Client(address) as server:
            for _ in range(rounds):
                with stream(client, game) as events:
                    next(events)
                    analyze(client, game, seconds, candidates=1)
                    told = (json.loads(data) for event, data, _ in events if event == "analysis")
                    beside = next(data["speed"] for data in told if data["stop_reason"])
                *_, last = server.analyze(position, time_s=seconds, candidates=1)
                shares.append(beside * last.seconds / last.iterations)
        process.terminate()
    return {"strength": round(statistics.median(shares), 3)}


def measure_processor(number):
    """Return the processor time of a draft with its snapshot, and of its picture."""
    data = {"position": json.loads(POSITION.read_text()), "seats": [{"kind": "person"}] * 3}
    game = starts.create(data, names=[], examples={}, find=None)
    begin = time.process_time()
    for index in range(number):
        game.change(functools.partial(commands.enter, viewer=None, actions=ACTIONS[: 1 + index % len(ACTIONS)]))
        json.dumps(game.snapshot(None))
    drafted = time.process_time()
    for index in range(number):
        pictures.picture(game, 0, "board", None, actions=ACTIONS[: 1 + index % len(ACTIONS)])
    drawn = time.process_time()
    return {
        "draft_processor_ms": round(1000 * (drafted - begin) / number, 1),
        "picture_processor_ms": round(1000 * (drawn - drafted) / number, 1),
    }


def main():
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clicks", type=positive(int), default=40, help="drafts that are timed (default: 40)")
    parser.add_argument("--seconds", type=positive(float), default=3.0, help="time of a search (default: 3)")
    parser.add_argument("--rounds", type=positive(int), default=5, help="pairs of searches (default: 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    with served() as (client, process):
        found = measure_clicks(client, max(2, args.clicks))
        found |= measure_analysis(client, args.seconds)
        found |= measure_memory(client, process)
        found |= measure_strength(client, args.seconds, args.rounds)
    found |= measure_processor(max(2, args.clicks))
    found |= describe_machine()
    if args.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:26}{value}")


if __name__ == "__main__":
    main()

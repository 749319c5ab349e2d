"""Measures the page in a browser: paint, clicks, updates, bytes; or makes the picture of docs/web.md.

    python benchmarks/web_browser.py [--clicks 40] [--seconds 5] [--json]
    python benchmarks/web_browser.py --picture docs/img/web.png

Needs the extra test-web and Chromium. Beside each measurement an analysis of another game keeps the engine busy.
"""

import argparse
import contextlib
import itertools
import json
import os
import shutil
import statistics
import sys
import time
from pathlib import Path

from common import p95, page_process
from playwright.sync_api import sync_playwright

STATIC = Path(__file__).parents[1] / "mexica_ai" / "web" / "static"
# What a browser does by itself is not measured.
FLAGS = ("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync")  # fmt: skip
EXAMPLE = "mexica_midgame.json"

# Runs in the page: what the click on a target does until the picture has lit targets, or is another one.
CLICK = """([target, waits]) => new Promise(done => {
  const rect = document.querySelector(`.target[data-target="${target}"]`);
  const host = document.querySelector('.picture');
  const begin = performance.now();
  const watch = new MutationObserver(() => { watch.disconnect(); done(performance.now() - begin); });
  if (waits) watch.observe(host, {childList: true});
  rect.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  if (!waits) requestAnimationFrame(() => done(performance.now() - begin));
})"""
ARROW = """([key]) => {
  const begin = performance.now();
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
  return performance.now() - begin;
}"""
HOVER = """([row]) => new Promise(done => {
  const host = document.querySelector('.picture'), begin = performance.now();
  const watch = new MutationObserver(() => { watch.disconnect(); done(performance.now() - begin); });
  watch.observe(host, {childList: true});
  document.querySelectorAll('.candidate')[row].dispatchEvent(new PointerEvent('pointermove'));
})"""
POST = """async ([method, path, data]) => (await fetch(path, {
  method, headers: {'Content-Type': 'application/json'}, body: JSON.stringify(data)})).json()"""


@contextlib.contextmanager
def browser():
    """Start Chromium."""
    path = os.environ.get("MEXICA_AI_BROWSER") or shutil.which("chromium")
    if path is None:
        sys.exit("there is no Chromium; expected the command chromium, or its path in MEXICA_AI_BROWSER")
    flags = [*FLAGS, *["--no-sandbox"] * (os.geteuid() == 0)]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()


def visited(chromium, url, path="/", **options):
    """Return a page with a session, and the address of the site."""
    page = chromium.new_context(viewport={"width": 1360, "height": 900}, **options).new_page()
    page.set_default_timeout(120_000)  # a busy machine is slow
    page.goto(url)
    base = url.split("/?")[0]
    page.goto(base + path)
    return page


def new_game(page, **data):
    """Make a game; return its snapshot."""
    return page.evaluate(POST, ["POST", "/api/games", data])


def game_page(page, game):
    """Go to a game, and wait for its picture."""
    page.goto(page.url.split("/g/")[0].rstrip("/") + f"/g/{game['id']}")
    page.wait_for_selector(".picture svg")


def measure(url, clicks, seconds):
    """Return the figures."""
    found = {"scripts_kb": round(sum(path.stat().st_size for path in STATIC.glob("*.js")) / 1024, 1)}
    with browser() as chromium:
        busy = visited(chromium, url)
        game_page(busy, new_game(busy, example=EXAMPLE))
        busy.get_by_label("Hints").select_option("all")
        busy.get_by_label("Time").select_option("until stopped")
        busy.get_by_role("button", name="Analyse").click()
        busy.locator(".candidate").first.wait_for()

        page = visited(chromium, url, reduced_motion="reduce")
        game = new_game(page, example=EXAMPLE, seats=[{"kind": "person"}] * 3)
        found |= _load(page, game)
        found |= _clicks(page, clicks)
        found |= _analysis(page, seconds)
        busy.context.close()
        page.context.close()
    return found


def _load(page, game):
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    own, sizes = set(), {}

    def note(event):  # not what the page before still waits for, and what the browser asks for by itself
        if event["documentURL"].endswith(game["id"]) and event["type"] not in ("Manifest", "Other"):
            own.add(event["requestId"])

    session.on("Network.requestWillBeSent", note)
    session.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
    game_page(page, game)
    page.wait_for_timeout(300)
    paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    session.send("Network.setCacheDisabled", {"cacheDisabled": False})
    cold = sum(size for request, size in sizes.items() if request in own)
    return {"first_paint_ms": round(page.evaluate(paint)), "cold_kb": round(cold / 1024, 1)}


def _clicks(page, number):
    lit, played, arrows = [], [], []
    for _ in range(number):
        page.keyboard.press("Escape")  # the tool stays after an action
        page.keyboard.press("c")
        lit.append(page.evaluate(CLICK, ["P7", False]))
        played.append(page.evaluate(CLICK, ["Q7", True]))
        page.locator(".chips .chip").first.wait_for()
        page.keyboard.press("Control+z")
        page.locator(".chips .chip").first.wait_for(state="detached")
        page.wait_for_timeout(50)
    page.locator('.cells [tabindex="0"]').focus()
    for index in range(number):
        arrows.append(page.evaluate(ARROW, ["ArrowRight" if index % 2 else "ArrowDown"]))
    return {"lit_p95_ms": p95(lit), "played_p95_ms": p95(played), "arrow_p95_ms": p95(arrows)}


def _analysis(page, seconds):
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    events = []
    session.on(
        "Network.eventSourceMessageReceived",
        lambda event: event["eventName"] == "analysis" and events.append((event["timestamp"], len(event["data"]))),
    )
    page.get_by_label("Hints").select_option("all")
    page.get_by_label("Time").select_option(f"{seconds} s")
    begin = time.monotonic()
    page.get_by_role("button", name="Analyse").click()
    page.locator(".candidate").first.wait_for()
    first = time.monotonic() - begin
    page.get_by_role("button", name="Analyse").wait_for()  # from then on no update moves what is pointed at
    hovered = [page.evaluate(HOVER, [row]) for row in range(1, page.locator(".candidate").count())]
    hovered += [page.evaluate(HOVER, [row]) for row in range(page.locator(".candidate").count() - 1)]
    between = [late - early for (early, _), (late, _) in itertools.pairwise(events)]
    return {
        "first_update_ms": round(1000 * first),
        "updates_per_s": round(1 / statistics.median(between or [seconds]), 1),
        "update_kb": round(max(size for _, size in events) / 1024, 1),
        "hover_p95_ms": p95(hovered),
    }


def picture(url, path):
    """Write the picture of the page: a turn that is being entered, and what the engine thinks."""
    with browser() as chromium:
        page = visited(chromium, url)
        game = new_game(page, example=EXAMPLE)
        game_page(page, game)
        page.get_by_label("Type an action or a turn").fill("canal P7-Q7; canal Q8-Q9; walk T7")
        page.keyboard.press("Enter")
        page.locator(".chips .chip").nth(2).wait_for()
        page.get_by_label("Hints").select_option("all")
        page.get_by_label("Number of turns").fill("3")
        page.get_by_label("Number of turns").blur()
        page.get_by_role("button", name="Analyse").click()
        page.get_by_role("button", name="Stop", exact=True).wait_for()
        page.get_by_role("button", name="Analyse").wait_for()
        page.locator("h1").click(force=True)
        page.keyboard.press("m")
        page.wait_for_timeout(400)
        page.screenshot(path=path)


def main():
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clicks", type=int, default=40, help="how often each click is measured (default: 40)")
    parser.add_argument("--seconds", type=int, choices=(1, 5, 30), default=5, help="time of the analysis (default: 5)")
    parser.add_argument("--picture", metavar="FILE", help="write a picture of the page, and measure nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    with page_process() as (_, url):
        if args.picture:
            picture(url, args.picture)
            return
        found = measure(url, args.clicks, args.seconds)
    if args.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:18}{value}")


if __name__ == "__main__":
    main()

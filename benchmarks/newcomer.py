"""Plays the first turns of each game as a newcomer does, by what the page offers alone, and writes down each step.

    python benchmarks/newcomer.py [--turns 4] [--seed 1] [--games mexica,coatl,tzolkin] [--steps FILE]

The newcomer knows no rule and types nothing: it clicks choices of a menu, what is outlined, tools, and what may be
clicked on the board, at random. Once a turn it clicks something that is not offered, and expects to be told why. It
counts clicks, dead ends (a click after which nothing on the page changes within 3 s) and moments in which it is to move
and sees no next step. Needs the extra test-web and Chromium.
"""

import argparse
import random
import sys
import time
from pathlib import Path

from common import page_process
from web_browser import browser

from mexica_ai.game import registry

NO_REASON = "othing is possible"
REACTION_S, TURN_S, MOST_CLICKS = 3.0, 30.0, 60

KINDS = {
    "dialog": "a button of a dialog",
    "menu": "a choice of the menu",
    "lit": "an outlined place",
    "tool": "a tool",
    "can": "a place where something is possible",
    "finish": "the end of the turn",
    "status": "a button beside the status",
    "other": "a place that is not offered",
    "moment": "no next step",
}

# Runs in the page: what can be clicked in the window now, by kind, with a point of it; and what the page says.
SEEN = """() => {
  const found = selector => [...document.querySelectorAll(selector)];
  const text = selector => found(selector).map(one => one.innerText.trim()).join(' ');
  const offers = {}, hidden = {};
  for (const [kind, selector] of Object.entries({
    dialog: 'dialog[open] button', menu: ':is(.menu, .confirm) button', lit: '.picture .target.lit:not(.taken)',
    tool: '.tools button:not([aria-pressed=true])', can: '.picture .target.can', finish: '.finish:not(:disabled)',
    status: '.status button', other: '.picture .target:not(.lit, .can)',
  })) {
    offers[kind] = [];
    hidden[kind] = 0;
    for (const one of found(selector)) {
      const {left, top, width, height} = one.getBoundingClientRect();
      const x = left + width / 2, y = top + height / 2, at = document.elementFromPoint(x, y);
      if (at && (one === at || one.contains(at) || kind === 'other' && at.closest('.picture'))) {
        const label = one.dataset.target ?? one.innerText.trim().replace(/\\s+/g, ' ');
        offers[kind].push({label, x, y, isFaint: one.matches('.faint'), isPrimary: one.matches('.primary')});
      } else if (width) hidden[kind] += 1;
    }
  }
  const status = text('.status').replace(/\\d+ s\\b/, '');
  const words = {prompt: text('.prompt'), note: text('.hint'), status};
  return {
    offers, hidden, words,
    isWaiting: Boolean(document.querySelector('.status .pulse')) || document.body.matches('.waiting'),
    isOver: Boolean(document.querySelector('.card.over')),
    state: JSON.stringify([words, text('.menu'), text('.confirm'), text('.finish'), text('dialog[open]'),
      found('.chips .chip').map(one => one.title), found('.picture .target').map(one => one.className.baseVal),
      document.querySelector('.picture')?.dataset.path]),
  };
}"""


class Newcomer:
    """A player of one game on a page, who writes down what happens."""

    def __init__(self, page, rng):
        self._page, self._rng = page, rng
        self.steps = []

    def look(self):
        """Return what the page shows."""
        return self._page.evaluate(SEEN)

    def _settled(self, limit_s):
        """Return what the page shows once no answer is awaited and nothing changes."""
        end, before = time.monotonic() + limit_s, None
        while True:
            now = self.look()
            is_same = before is not None and now["state"] == before["state"] and not now["isWaiting"]
            if is_same or time.monotonic() > end:
                return now
            before = now
            self._page.wait_for_timeout(120)

    def _note(self, kind, label, seen, **more):
        words = seen["words"]
        self.steps.append(
            {"what": kind, "on": label, "says": words["note"] or words["prompt"] or words["status"], **more}
        )

    def click(self, seen, kind, one):
        """Click something; return what the page shows then."""
        self._page.mouse.click(one["x"], one["y"])
        end = time.monotonic() + REACTION_S
        while (now := self.look())["state"] == seen["state"] and time.monotonic() < end:
            self._page.wait_for_timeout(40)
        is_dead = now["state"] == seen["state"]
        now = self._settled(TURN_S)
        is_refused = kind == "other" and not is_dead
        has_reason = is_refused and NO_REASON not in now["words"]["note"] and bool(now["words"]["note"])
        self._note(kind, one["label"], now, is_dead=is_dead, is_refused=is_refused, has_reason=has_reason)
        return now

    def _next(self, offers):
        """Return the kind of what is clicked next, and it; None if nothing is offered."""
        for kind in ("dialog", "menu"):
            if choices := [one for one in offers[kind] if not one["isFaint"]] or offers[kind]:
                return kind, self._rng.choice(choices)
        finish = [one for one in offers["finish"] if one["isPrimary"] or self._rng.random() < 0.1]
        if finish:
            return "finish", finish[0]
        if offers["lit"]:
            return "lit", self._rng.choice(offers["lit"])
        kinds = [kind for kind in ("tool", "can") if offers[kind]]
        if kinds:
            kind = self._rng.choice(kinds)
            return kind, self._rng.choice(offers[kind])
        for kind in ("finish", "status"):
            if offers[kind]:
                return kind, offers[kind][0]
        return None

    def turn(self):
        """Play one turn; return whether it was ended."""
        seen = self._settled(TURN_S)
        if seen["isOver"]:
            return False
        if seen["offers"]["other"] and not seen["offers"]["menu"]:
            seen = self.click(seen, "other", self._rng.choice(seen["offers"]["other"]))
        for _ in range(MOST_CLICKS):
            found = self._next(seen["offers"])
            if found is None:
                hidden = sum(seen["hidden"][kind] for kind in ("menu", "lit", "can", "tool"))
                self._note(
                    "moment", f"{hidden} offers out of sight" if hidden else "nothing offered", seen, is_lost=True
                )
                return False
            kind, one = found
            seen = self.click(seen, kind, one)
            if kind == "finish" and not self.steps[-1]["is_dead"]:
                return True
        return False


def play(chromium, url, game, turns, seed):
    """Play the first turns of a game that is begun on the start page; return its steps."""
    context = chromium.new_context(viewport={"width": 1360, "height": 900}, reduced_motion="reduce", locale="en")
    page = context.new_page()
    page.goto(url)
    page.get_by_role("radio", name=registry.get(game).title, exact=True).check()
    page.locator("select[aria-label='Seat 2']").select_option("level:1")
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(".picture svg")
    newcomer = Newcomer(page, random.Random(seed))
    ended = 0
    while ended < turns and newcomer.turn():
        ended += 1
    context.close()
    return ended, newcomer.steps


def summary(game, ended, steps):
    """Return the figures of a game."""
    return {
        "game": game,
        "turns": ended,
        "clicks": sum(one["what"] != "moment" for one in steps),
        "dead ends": sum(one.get("is_dead", False) for one in steps),
        "refused": sum(one.get("is_refused", False) for one in steps),
        "refused without a reason": sum(one.get("is_refused", False) and not one["has_reason"] for one in steps),
        "without a next step": sum(one.get("is_lost", False) for one in steps),
    }


def table(head, rows):
    """Return the lines of a table."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells)]


def report(lines, recorded, seed):
    """Yield the lines of a page with all steps."""
    yield from (
        "# Newcomer's games, step by step",
        "",
        f"Written by `benchmarks/newcomer.py`, seed {seed}.",
        "",
        *lines,
    )
    for game, steps in recorded.items():
        yield from ("", f"## {registry.get(game).title}", "")
        yield from table(
            ["", "what is clicked", "on", "the page then says"],
            [[index, KINDS[one["what"]], one["on"], one["says"] + " **dead end**" * one.get("is_dead", False)]
             for index, one in enumerate(steps, 1)],
        )  # fmt: skip


def main():
    """Play and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=4, help="own turns of a game (default: 4)")
    parser.add_argument("--seed", type=int, default=1, help="of what is clicked (default: 1)")
    parser.add_argument("--games", default="mexica,coatl,tzolkin", help="names, separated by commas (default: all)")
    parser.add_argument("--steps", help="a file for the steps, in Markdown")
    args = parser.parse_args()
    rows, recorded = [], {}
    with browser() as chromium, page_process() as (_, url):
        for game in args.games.split(","):
            ended, recorded[game] = play(chromium, url, game, args.turns, args.seed)
            rows.append(summary(game, ended, recorded[game]))
    lines = table(list(rows[0]), [list(row.values()) for row in rows])
    print("\n".join(lines))
    if args.steps:
        Path(args.steps).write_text("\n".join(report(lines, recorded, args.seed)) + "\n", encoding="utf-8")
    return int(any(row["dead ends"] or row["without a next step"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())

"""Plays a whole first game of each title as a newcomer does, by what the page offers alone, and writes down each step.

    python benchmarks/newcomer.py [--seed 1] [--games mexica,coatl,tzolkin] [--steps FILE] [--pictures FOLDER]

The newcomer opens the start page, learns the game step by step, plays on to the end, reads the score sheet, waits for
the review that begins by itself, and tries to find one better turn. It knows no rule and types nothing. In the guided
game it clicks what is framed, in the order in which the words name it, and now and then something else; after that it
clicks at random what is offered. Once a turn it clicks something that is not offered, and expects to be told why.

A dead end is a click on something offered after which nothing changes within 3 s, or that is refused without words. A
moment without a next step is one in which nothing is offered in the window, or nothing says what can be done. Needs the
extra test-web and Chromium.
"""

import argparse
import random
import re
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path

from common import page_process
from web_browser import browser

from mexica_ai.game import registry

REACTION_S, WAIT_S, MOST_CLICKS, MOST_TURNS = 3.0, 120.0, 60, 150
STRAY = 0.15  # how often something else than what the guide frames is clicked
NO_REASON = "othing is possible"

KINDS = {
    "dialog": "a button of a dialog",
    "menu": "a choice of the menu",
    "lit": "an outlined place",
    "tool": "a tool",
    "can": "a place where something is possible",
    "finish": "the end of the turn",
    "status": "a button beside the status",
    "card": "a button of the page",
    "other": "a place that is not offered",
    "moment": "no next step",
}
SHORT = {
    "dialog": "button of a dialog", "menu": "choice", "lit": "outlined place", "tool": "tool", "can": "place",
    "finish": "end of the turn", "status": "button beside the status", "card": "button",
}  # fmt: skip

# Runs in the page: what can be clicked in the window now, by kind, with a point of it; and what the page says.
SEEN = """() => {
  const found = selector => [...document.querySelectorAll(selector)];
  const textOf = one => one.innerText.trim().replace(/\\s+/g, ' ');
  const text = selector => found(selector).map(textOf).join(' ');
  const middle = one => {
    const {left, top, width, height} = one.getBoundingClientRect();
    return [left + width / 2, top + height / 2, width];
  };
  const framed = found('.pointed .ring').map(middle);
  const isFramed = one => framed.some(([x, y]) => {
    const [ownX, ownY] = middle(one);
    return Math.hypot(x - ownX, y - ownY) < 4;
  });
  const cellOf = target => document.querySelector(`.cells [data-cell="${CSS.escape(target)}"]`);
  const labelOf = ({dataset: {target}}) => target && (cellOf(target)?.ariaLabel?.replace(/, legal: .*/, '') || target);
  const cards = ':is(.guide, .over, .drill, .review, .start) :is(button:not(:disabled, .chip), .choice, a)'
    + ':not(:has(:checked))';
  const offers = {}, hidden = {};
  for (const [kind, selector] of Object.entries({
    dialog: 'dialog[open] button', menu: ':is(.menu, .confirm) button', lit: '.picture .target.lit:not(.taken)',
    tool: '.tools button:not([aria-pressed=true])', can: '.picture .target.can', finish: '.finish:not(:disabled)',
    status: '.status button', card: cards, other: '.picture .target:not(.lit, .can)',
  })) {
    offers[kind] = [];
    hidden[kind] = [];
    for (const one of found(selector)) {
      const [x, y, width] = middle(one);
      const at = document.elementFromPoint(x, y), label = labelOf(one) ?? textOf(one);
      if (at && (one === at || one.contains(at) || kind === 'other' && at.closest('.picture'))) {
        offers[kind].push({label, x, y, name: one.dataset.target ?? one.dataset.tool ?? label, isFramed: isFramed(one),
          isFaint: one.matches('.faint'), isPrimary: one.matches('.primary')});
      } else if (width) hidden[kind].push(label);
    }
  }
  const status = text('.status').replace(/\\d+ s\\b/, '');
  const words = {
    fault: text('.guide .fault, .drill .fault, .status .fault'), note: text('.hint'), dialog: text('dialog[open] p'),
    guide: text('.guide p:not(.soft, .fault)'), drill: text('.drill .played'), prompt: text('.prompt'),
    over: text('.over h2'), review: text('.review .played'), start: text('.start h1, .start legend'), status,
  };
  const body = found('main > *:not(.zoom), dialog[open]').map(textOf).join(' ').replace(/\\d+ s\\b/g, '');
  return {
    offers, hidden, words,
    step: text('.guide h2'), actions: found('.chips .chip').length, exercise: text('.drill h2'),
    isWaiting: Boolean(document.querySelector('.pulse, progress, main.loading, body.waiting'))
      || !document.querySelector('main'),
    isOver: Boolean(document.querySelector('.card.over')),
    state: JSON.stringify([
      location.pathname, body, found('.picture .target').map(one => one.className.baseVal),
      found('[aria-pressed=true], :checked').map(one => one.innerText),
      document.querySelector('.picture')?.dataset.path,
    ]),
  };
}"""


def mentioned(text, label):
    """Return where a text names something: after how many characters; 999 if it does not."""
    found = re.search(rf"\b{re.escape(label)}\b", text, re.IGNORECASE)
    return found.start() if found else 999


def likeness(text, label):
    """Return how many of the words of a label are in a text."""
    return sum(word in text.lower() for word in set(re.findall(r"\w{2,}|\d", label.lower())))


class Newcomer:
    """A player of one game on a page, who writes down what happens."""

    def __init__(self, page, rng, pictures=None):
        self._page, self._rng, self._pictures = page, rng, pictures
        self._tried, self._clicked = set(), Counter()  # what was refused, and what was clicked, in a step
        self.steps = []
        self.stage = "start page"

    def look(self):
        """Return what the page shows."""
        return self._page.evaluate(SEEN)

    def settled(self):
        """Return what the page shows once no answer is awaited and nothing changes."""
        end, before = time.monotonic() + WAIT_S, None
        while True:
            try:
                now = self.look()
            except Exception as error:  # another page is being loaded
                if "context" not in str(error) or time.monotonic() > end:
                    raise
                self._page.wait_for_load_state()
                continue
            is_same = before is not None and now["state"] == before["state"] and not now["isWaiting"]
            if is_same or time.monotonic() > end:
                return now
            before = now
            self._page.wait_for_timeout(100)

    def _note(self, kind, label, seen, **more):
        words = seen["words"]
        says = next((words[name] for name in words if words[name]), "")
        offered = {name: len(seen["offers"][name]) for name in SHORT if name != "dialog" and seen["offers"][name]}
        self.steps.append({"what": kind, "stage": self.stage, "on": label, "says": says, "offers": offered, **more})
        if self._pictures:
            self._page.screenshot(path=f"{self._pictures}/{len(self.steps):03}.png")

    def lost(self, why, seen):
        """Write down a moment without a next step."""
        self._note("moment", why, seen, is_lost=True)

    def click(self, seen, kind, one):
        """Click something; return what the page shows then."""
        self._page.mouse.click(one["x"], one["y"])
        self._clicked[one["name"]] += 1
        end = time.monotonic() + REACTION_S
        while (now := self.settled())["state"] == seen["state"] and time.monotonic() < end:
            self._page.wait_for_timeout(40)
        is_same = now["state"] == seen["state"]
        reason = now["words"]["fault"] or now["words"]["note"]
        is_refused = bool(reason)  # perhaps in the same words as the click before it
        has_reason = is_refused and NO_REASON not in reason and "expected" not in reason
        is_dead = is_same if not is_refused else kind != "other" and not has_reason
        self._note(kind, one["label"], now, is_dead=is_dead, is_refused=is_refused, has_reason=has_reason)
        if is_refused or is_same:
            self._tried.add(one["name"])
        else:
            self._tried -= {known for known in self._tried if now["actions"] != seen["actions"]}
        has_words = any(now["words"].values())
        has_offers = any(now["offers"][name] for name in SHORT)
        if not has_words or not has_offers:
            self.lost("nothing says what can be done" if has_offers else "nothing offered in the window", now)
        return now

    def press(self, seen, label):
        """Click a button by its label; return what the page shows then, None if the window has no such button."""
        one = next((one for one in seen["offers"]["card"] if re.match(label, one["label"])), None)
        if one is None:
            hidden = any(re.match(label, words) for words in seen["hidden"]["card"])
            self.lost(f"{label}: {'out of sight' if hidden else 'not offered'}", seen)
            return None
        return self.click(seen, "card", one)

    # --- the guided game

    def _guided(self, seen):
        """Return the kind of what is clicked next in the guided game, and it."""
        offers, text = seen["offers"], seen["words"]["guide"]
        fresh = {kind: [one for one in found if one["name"] not in self._tried] for kind, found in offers.items()}
        if fresh["menu"]:
            return "menu", max(fresh["menu"], key=lambda one: likeness(text, one["label"]))
        if fresh["finish"] and re.match("end your turn|leave", text, re.IGNORECASE):
            return "finish", fresh["finish"][0]
        places = [(kind, one) for kind in ("lit", "can") for one in fresh[kind]]
        if places and self._rng.random() < STRAY:
            return self._rng.choice(places)
        if fresh["finish"] and seen["actions"] and "end your turn" in text.lower() and fresh["finish"][0]["isPrimary"]:
            return "finish", fresh["finish"][0]
        framed = [found for found in places if found[1]["isFramed"]]
        if framed:
            return min(framed, key=lambda found: (self._clicked[found[1]["name"]], mentioned(text, found[1]["name"])))
        tools = sorted(fresh["tool"], key=lambda one: -likeness(text, one["label"]))
        if fresh["finish"] and "end your turn" in text.lower():
            return "finish", fresh["finish"][0]
        if tools and (not places or self._rng.random() < 0.5):
            return "tool", tools[0]
        rest = places or [(kind, one) for kind in ("lit", "can", "tool", "finish") for one in offers[kind]]
        return self._rng.choice(rest) if rest else None

    def learn(self, seen):
        """Do the steps of the guide; return what the page shows at its end, None if it is not reached."""
        step, clicks = "", 0
        while "of" in seen["step"] and "end" not in seen["step"]:
            if seen["step"] != step:
                step, clicks, self.stage = seen["step"], 0, seen["step"]
                self._tried.clear()
                self._clicked.clear()
                if seen["offers"]["other"] and not seen["offers"]["menu"]:
                    seen = self.click(seen, "other", self._rng.choice(seen["offers"]["other"]))
            found = self._guided(seen)
            clicks += 1
            if found is None or clicks > MOST_CLICKS:
                self.lost(f"{step} is not understood", seen)
                return None
            seen = self.click(seen, *found)
        return seen

    # --- turns

    def _next(self, offers):
        """Return the kind of what is clicked next, and it; None if nothing is offered."""
        for kind in ("dialog", "menu"):
            if choices := [one for one in offers[kind] if not one["isFaint"]] or offers[kind]:
                return kind, self._rng.choice(choices)
        finish = [one for one in offers["finish"] if one["isPrimary"] or self._rng.random() < 0.4]
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

    def turn(self, seen):
        """Play one turn; return what the page shows after it, None if it could not be ended."""
        if seen["offers"]["other"] and not seen["offers"]["menu"]:
            seen = self.click(seen, "other", self._rng.choice(seen["offers"]["other"]))
        for _ in range(MOST_CLICKS):
            found = self._next(seen["offers"])
            if found is None:
                hidden = sum(len(seen["hidden"][kind]) for kind in ("menu", "lit", "can", "tool"))
                self.lost(f"{hidden} offers out of sight" if hidden else "nothing offered", seen)
                return None
            seen = self.click(seen, *found)
            if found[0] == "finish" and (not seen["actions"] or seen["exercise"]):
                return seen
        self.lost(f"the turn has no end after {MOST_CLICKS} clicks", seen)
        return None


def play(chromium, url, game, seed, pictures):
    """Play a first game from the start page to an exercise; return the turns after the guide, and the steps."""
    context = chromium.new_context(viewport={"width": 1360, "height": 900}, reduced_motion="reduce", locale="en")
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector(".start")
    newcomer, turns = Newcomer(page, random.Random(seed), pictures), 0
    seen = newcomer.settled()
    title = registry.get(game).title
    if any(one["label"] == title for one in seen["offers"]["card"]):  # else it is chosen already
        seen = newcomer.press(seen, title)
    seen = seen and newcomer.press(seen, "Learn the game")
    page.wait_for_selector(".guide")
    seen = seen and newcomer.learn(newcomer.settled())
    newcomer.stage = "the end of the guide"
    seen = seen and newcomer.press(seen, "Play on")
    while seen and not seen["isOver"] and turns < MOST_TURNS:
        newcomer.stage = f"turn {turns + 1}"
        seen = newcomer.turn(seen)
        turns += 1
    if seen and seen["isOver"]:
        after(newcomer, seen)
    context.close()
    return turns, newcomer.steps


def after(newcomer, seen):
    """Go from the end of a game through its review to an exercise, and do it."""
    newcomer.stage = "the review"
    for label in ("Review", "Next \\?", "Find a better turn"):
        while label.startswith("Find") and seen and all(one["label"] != label for one in seen["offers"]["card"]):
            seen = newcomer.press(seen, "Next \\?")
        seen = seen and newcomer.press(seen, label)
    newcomer.stage = "the exercise"
    seen = seen and newcomer.turn(newcomer.settled())
    for label in ("Hint", "Show the better turn"):
        if seen and any(one["label"] == label for one in seen["offers"]["card"]):
            seen = newcomer.press(seen, label)
    if seen:
        newcomer.press(seen, "to the review")


def summary(game, turns, steps):
    """Return the figures of a game."""
    refused = [one for one in steps if one.get("is_refused")]
    return {
        "game": registry.get(game).title,
        "steps of the guide": len({one["stage"] for one in steps if one["stage"].startswith("Step ")}),
        "turns after it": turns,
        "clicks": sum(one["what"] != "moment" for one in steps),
        "refused with a reason": sum(one["has_reason"] for one in refused),
        "refused without, where nothing was offered": sum(
            not one["has_reason"] and not one["is_dead"] for one in refused
        ),
        "dead ends": sum(one.get("is_dead", False) for one in steps),
        "moments without a next step": sum(one.get("is_lost", False) for one in steps),
    }


def table(head, rows):
    """Return the lines of a table."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells)]


def told(offers):
    """Return what a page offers, in words."""
    return ", ".join(f"{number} {SHORT[kind]}{'s' * (number > 1)}" for kind, number in offers.items())


def shortened(step):
    """Return what a page said after a step."""
    return textwrap.shorten(step["says"], 200, placeholder=" …") + " **dead end**" * step.get("is_dead", False)


def report(lines, recorded, command):
    """Yield the lines of a page with all steps."""
    yield from ("# Newcomer's games, step by step", "", "Written by", "", f"    {command}", "", *lines)
    for game, steps in recorded.items():
        yield from ("", f"## {registry.get(game).title}", "")
        yield from table(
            ["", "where", "what is clicked", "on", "the page then says", "and offers"],
            [[index, one["stage"], KINDS[one["what"]], one["on"], shortened(one), told(one["offers"])]
             for index, one in enumerate(steps, 1)],
        )  # fmt: skip


def main():
    """Play and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of what is clicked (default: 1)")
    parser.add_argument("--games", default="mexica,coatl,tzolkin", help="names, separated by commas (default: all)")
    parser.add_argument("--steps", help="a file for the steps, in Markdown")
    parser.add_argument("--pictures", help="a folder for a picture of the page after each step")
    args = parser.parse_args()
    rows, recorded = [], {}
    with browser() as chromium, page_process() as (_, url):
        for game in args.games.split(","):
            folder = args.pictures and Path(args.pictures, game)
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
            turns, recorded[game] = play(chromium, url, game, args.seed, folder)
            rows.append(summary(game, turns, recorded[game]))
    lines = table(list(rows[0]), [list(row.values()) for row in rows])
    print("\n".join(lines))
    command = f"python benchmarks/newcomer.py --seed {args.seed} --games {args.games} --steps FILE"
    if args.steps:
        Path(args.steps).write_text("\n".join(report(lines, recorded, command)) + "\n", encoding="utf-8")
    return int(any(row["dead ends"] or row["moments without a next step"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())

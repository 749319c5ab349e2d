"""Drills in the browser: a turn is entered as in a game, judged, shown, and the next exercise comes."""

import json
from pathlib import Path

import pytest

from mexica_ai.analysis import drill
from mexica_ai.analysis.annotate import TurnEvaluation, evaluate_record, with_evaluations

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def review():
    """A game of Tzolk'in with two mistakes."""
    record = json.loads((EXAMPLES / "tzolkin_game.jsonl").read_text().splitlines()[0])
    turns = [index for index, turn in enumerate(record["turns"]) if turn == ["place uxmal", "end"]][:1]
    found = list(evaluate_record(record, iterations=20, seed=1, turns=[*turns, turns[0] + 12]))
    choices = [["place palenque", "end"], found[1].choice]
    losing = [
        TurnEvaluation(**one.to_json() | {"loss": 0.2, "choice": choice})
        for one, choice in zip(found, choices, strict=True)
    ]
    return with_evaluations(record, losing), losing


def test_a_drill_of_a_file(visit, site, review):
    record, losing = review
    made = list(drill.exercises_of(record, losing, name="game.jsonl"))
    one = visit()
    page = one.home()
    page.get_by_role("button", name="Load").click()
    page.get_by_label("or its text").fill(drill.drill_text(made))
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_selector(".picture svg")
    page.get_by_role("heading", name=f"Exercise 1 of {len(made)}").wait_for()
    # The turn that was played, on the board and back.
    page.locator(".drill .chip").first.click()
    one.until("document.querySelector('.drill .chip').getAttribute('aria-pressed') === 'true'")
    page.locator(".drill .chip").first.click()
    page.get_by_role("button", name="Hint", exact=True).click()
    page.get_by_text("The better turn begins: placed on Palenque").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("place uxmal")
    page.keyboard.press("Enter")
    one.chips("place uxmal")
    page.get_by_role("button", name="End turn").click()
    page.get_by_text("Not solved: that is the turn played then").wait_for()
    page.get_by_role("button", name="Undo").click()
    one.chips()
    page.keyboard.press("/")
    page.keyboard.type("place palenque; end")
    page.keyboard.press("Enter")
    page.get_by_text("Solved: that is the better turn.").wait_for()
    page.get_by_text("1 solved, 50 points", exact=False).wait_for()
    page.locator(".drill .chip").nth(1).click()
    one.until("document.querySelectorAll('.drill .chip')[1].getAttribute('aria-pressed') === 'true'")
    one.check_accessible()
    page.get_by_role("button", name="Next exercise").click()
    page.get_by_role("heading", name="Exercise 2 of 2").wait_for()
    page.get_by_role("button", name="Show the better turn").click()
    page.get_by_text("of the win.", exact=False).last.wait_for()
    page.goto(site.url)
    page.get_by_text("drill, 1 of 2 solved").wait_for()


def test_the_mistakes_of_a_review_are_practised_on_a_phone(visit, site, review):
    record, (first, _) = review
    game = site.call("POST", "/api/games", {"text": json.dumps(record)}, 201)
    one = visit(390, 844, has_touch=True)
    page = one.game(game, "review")
    page.get_by_role("button", name=f"Practise the mistakes of Player {first.seat + 1}").click()
    page.get_by_role("heading", name="Exercise 1 of").wait_for()
    page.wait_for_selector(".picture svg")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Show the better turn").click()
    page.get_by_text("Engine: placed on Palenque").wait_for()

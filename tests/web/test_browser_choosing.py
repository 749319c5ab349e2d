"""Choosing actions in a browser: cards, menus, walks, tools that stay, and clicks that are not possible."""

import json
import re
from pathlib import Path

import pytest
from pages import PERSON

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def example(site):
    """Begin a game from an example; all seats are persons."""

    def begin(name):
        data = json.loads((EXAMPLES / name).read_text())
        seats = [PERSON] * data["players"]
        return site.call("POST", "/api/games", {"position": data, "seats": seats, "open": True}, 201)

    return begin


def click(one, *targets):
    """Click targets, also those that cannot be taken, at their places in the picture."""
    for target in targets:
        one.target(target).click(force=True)


def drag(one, source, target):
    x, y, wide, tall = (one.target(source).bounding_box()[key] for key in ("x", "y", "width", "height"))
    to = one.target(target).bounding_box()
    mouse = one.page.mouse
    mouse.move(x + wide / 2, y + tall / 2)
    mouse.down()
    mouse.move(to["x"] + 12, to["y"] + 20, steps=6)
    mouse.up()


def texts(locator):
    return [re.sub(r"\s+", " ", text).strip() for text in locator.all_inner_texts()]


def test_cards_and_tiles_to_keep_are_clicked(visit, site):
    one = visit()
    game = site.new("coatl", seed=3, seats=[PERSON] * 2, open=True)
    page = one.game(game)
    cards = [target for entry in game["entries"] for target in entry["targets"] if target.startswith("hand")]
    first, second = sorted(set(cards))[:2]
    confirm = page.locator(".confirm button")
    assert texts(confirm) == ["Keep none"]
    page.keyboard.press("Escape")  # nothing is to be closed
    assert texts(confirm) == ["Keep none"]
    assert page.get_by_role("button", name="Back").is_disabled()
    one.take(second, first)  # in any order
    page.get_by_role("button", name="Keep 2 of 3").wait_for()
    assert page.locator(".menu").count() == 0  # nothing covers the cards
    one.take(second)  # let go
    page.get_by_role("button", name="Keep 1 of 3").click()
    one.chips(f"keep {first.split(':')[2]}")
    game = site.new("tzolkin", seed=3, seats=[PERSON] * 2, open=True)
    one.game(game)
    tiles = [entry for entry in game["entries"] if entry["tool"] == "keep"][-1]
    one.take(*reversed(tiles["targets"]))
    one.chips(tiles["action"])


def test_the_menu_says_what_each_choice_brings(visit, example):
    one = visit()
    page = one.game(example("tzolkin_midgame.json"))
    assert texts(page.locator(".tools button")) == ["Pick up a worker u"]  # no tool that cannot be used
    one.take("worker:yaxchilan:4")
    buttons = page.locator(".menu button")
    assert texts(buttons) == [
        "1 skull",
        "2 corn and 1 gold for 1 corn",
        "1 stone for 1 corn",
        "1 wood for 3 corn",
        "no action",
    ]
    assert "faint" in buttons.last.get_attribute("class")
    buttons.nth(1).click()
    one.chips("pick yaxchilan 4 3")
    # The letter of a tool that is not shown says why; once the answer to the action is there.
    one.until(
        "() => { document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'p', bubbles: true}));"
        " return document.querySelector('.prompt').textContent.includes('this turn picks workers up'); }"
    )


def test_pieces_and_cards_go_to_a_coatl_by_clicks_and_drags(visit, example):
    one = visit()
    page = one.game(example("coatl_midgame.json"))
    one.take("coatl:0:2:left", "stored:0:body:G")  # the place first
    one.chips("add 2 left G")
    page.get_by_role("button", name="Undo").click()
    one.chips()
    click(one, "stored:0:body:Y", "stored:0:body:G")  # another piece takes the place of the first
    one.take("coatl:0:2:left")
    one.chips("add 2 left G")
    page.get_by_role("button", name="Undo").click()
    one.chips()
    drag(one, "stored:0:body:G", "coatl:0:2")  # its only open end
    one.chips("add 2 left G")
    page.get_by_role("button", name="Undo").click()
    one.chips()
    drag(one, "hand:0:P05", "coatl:0:2")
    one.chips("play 2 P05")


def test_a_tool_stays_and_a_walk_is_one_click(visit, example):
    one = visit()
    page = one.game(example("mexica_midgame.json"))
    page.keyboard.press("c")
    assert page.evaluate("document.activeElement.matches('.cells [data-cell]')")
    one.take("P7", "Q7", "Q8", "Q9")
    one.chips("canal P7-Q7", "canal Q8-Q9")
    page.keyboard.press("Escape")
    page.locator('.tools [aria-pressed="true"]').wait_for(state="detached")
    page.keyboard.press("m")
    one.take("S8")
    one.chips("canal P7-Q7", "canal Q8-Q9", "walk T7", "walk S7", "walk S8")
    page.get_by_role("button", name="Undo").click()
    one.chips("canal P7-Q7", "canal Q8-Q9", "walk T7", "walk S7")


def test_a_click_that_is_not_possible_says_why_at_the_place(visit, example):
    one = visit()
    page = one.game(example("mexica_midgame.json"))
    page.get_by_role("button", name="Temple 1").click()
    note = page.locator(".note")
    click(one, "H7")
    note.wait_for()
    assert note.inner_text() == "H7 belongs to the palace."
    at, box = one.target("H7").bounding_box(), note.bounding_box()
    assert abs(box["y"] - at["y"]) < 80
    assert page.locator('.tools [data-tool="temple 1"]').get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Text").dispatch_event("pointerdown")  # the next click
    note.wait_for(state="detached")
    cell = page.locator('[data-cell="H7"]')
    cell.focus()
    page.keyboard.press("Enter")
    note.wait_for()
    assert page.locator("#said").inner_text() == "H7 belongs to the palace."
    page.keyboard.press("Escape")
    note.wait_for(state="detached")


def test_what_all_must_agree_on_is_no_hint(visit, site, example):
    one = visit()
    page = one.game(example("mexica_midgame.json"))
    page.get_by_role("button", name="Agree to remove").click()
    page.get_by_text("There is nothing on which all must agree now.").wait_for()
    page.get_by_role("button", name="Close").click()
    page.get_by_label("Hints").select_option("all")
    page.get_by_role("button", name="Agree to remove").click()
    page.locator("dialog li").first.wait_for()
    page.get_by_role("button", name="Close").click()
    one.game(site.new("mexica", seed=1, seats=[PERSON] * 2))
    assert page.get_by_role("button", name="Agree to remove").count() == 0  # while the pillis are placed

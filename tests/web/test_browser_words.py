"""What the page tells people in a browser: what the others have played, names, the list of turns."""

import re

from pages import PERSON, engine
from played_games import path_of

MARKS = "document.querySelectorAll('.picture .turn > *, .picture .new').length"


def test_the_turn_of_an_engine_is_told_and_stays_marked_until_one_acts(visit, site):
    one = visit(reduced_motion="no-preference")
    game = site.new("mexica", seed=1, seats=[{**PERSON, "name": "Ana"}, engine(1, 0.1)])
    game = site.play(game, game["entries"][0]["action"])
    game = site.await_game(game, lambda now: len(now["turns"]) == 2)
    page = one.game(game)
    page.evaluate(
        "() => { window.seen = []; new MutationObserver(() => seen.push(document.querySelector('.status').textContent))"
        ".observe(document.querySelector('.status'), {childList: true, subtree: true, characterData: true}); }"
    )
    page.get_by_label("Type an action or a turn").fill("token; end")
    page.keyboard.press("Enter")
    one.until("document.querySelectorAll('.journal li').length === 4")
    last = page.locator(".last li", has_text="Level 1: ")
    last.wait_for()
    words = site.game(game)["turns"][3]["words"]
    assert last.inner_text().strip() == f"Level 1: {words}"
    one.until("wanted => document.getElementById('said').textContent.includes(wanted)", f"Level 1: {words}. Ana, ")
    seen = page.evaluate("window.seen")
    assert any("Level 1 plays" in text for text in seen)
    assert not any("Ana plays" in text for text in seen)  # who has entered a turn has seen it
    page.wait_for_selector(".picture svg .turn")
    page.get_by_label("Type an action or a turn").fill("token")
    page.keyboard.press("Enter")
    one.chips("token")
    assert last.count() == 0
    page.get_by_role("button", name="Undo").click()
    last.wait_for()
    one.check_accessible()


def test_a_name_that_is_like_that_of_a_seat_stays(visit, site):
    game = site.call("POST", "/api/games", {"example": "mexica_midgame.json"}, 201)
    game["names"] = ["Ann", "Seat 2", "Cyd"]
    game["draft"]["steps"] = [{"action": "found 12 O5", "text": "Seat 2 +2", "words": "founded"}]
    one = visit()
    one.page.route("**/api/events*", lambda route: route.abort())
    one.page.route(f"**/api/games/{game['id']}", lambda route: route.fulfill(json=game))
    assert one.game(game).locator(".chip small").inner_text() == "Seat 2 +2"  # of whom it is told, not of a third one
    one.wrong.clear()  # the stream that did not come


def test_turns_are_listed_by_rounds_in_words_or_in_text_forms(visit, site):
    game = site.call("POST", "/api/games", {"text": path_of("mexica").read_text(), "record": 1}, 201)
    one = visit(390, 844)
    page = one.game(game, "review")
    first = page.locator(".rounds section").nth(1)
    assert first.get_by_role("heading").inner_text() == "Round 1"
    row = first.get_by_role("button").first
    assert re.fullmatch(
        r"3\s*Player 1:\s*canals G6, G9 and H5-I5, walked to H9, took 2 action tokens", row.inner_text()
    )
    page.get_by_role("button", name="To the end").click()
    current = page.locator(".rounds [aria-current=true]")
    one.until(
        "() => { const at = document.querySelector('.rounds [aria-current=true]').getBoundingClientRect();"
        " const list = document.querySelector('.rounds').getBoundingClientRect();"
        " return at.top >= list.top - 1 && at.bottom <= list.bottom + 1; }"
    )
    assert "the game ended (+73, Player 1 +65)" in current.inner_text()
    page.get_by_role("button", name="Help").click()
    page.get_by_label("turns as text forms").check()
    page.get_by_role("button", name="Close").click()
    page.reload()
    row.filter(has_text="canal G6; canal G9; canal H5-I5; walk H9; token; token; end").wait_for()

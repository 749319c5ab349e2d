"""The page in a browser: what people do on it, by mouse, keyboard and touch."""

import contextlib
import json
import os
import re
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest
from pages import PERSON, Process, engine
from played_games import path_of, records_of

from mexica_ai.game import registry

ROOT = Path(__file__).parents[2]
GOLDENS = ROOT / "tests" / "data" / "web"
PERSONS = [PERSON, PERSON]
MEXICA = "mexica_midgame.json"
TURN = ["canal P7-Q7", "canal Q8-Q9", "walk T7", "walk S7", "found 12 O5", "temple 2 P5"]


@pytest.fixture
def example(site):
    """Begin a game from an example."""

    def begin(name, seats=None, **more):
        return site.call("POST", "/api/games", {"example": name, "seats": seats, **more}, 201)

    return begin


SMALL_TEXT = """() => {
  const size = text => Number(text.getAttribute('font-size'));
  const [first] = [...document.querySelectorAll('.picture text')].sort((one, other) => size(one) - size(other));
  const {left, top, width, height} = first.getBoundingClientRect();
  return [left + width / 2, top + height / 2];
}"""


def midgame(example):
    return example(MEXICA, [PERSON, engine(1, 0.1), engine(1, 0.1)])


def turns(page):
    return page.locator(".journal li")


@contextlib.contextmanager
def no_room(page):
    """Have requests for a new game refused."""
    page.route("**/api/games", lambda route: route.fulfill(status=429, json={"message": "no room"}))
    yield
    page.unroute("**/api/games")


# --- a turn


def test_a_whole_turn_by_mouse(visit, example):
    one = visit()
    page = one.game(midgame(example))
    page.get_by_role("button", name="Canal of two").click()
    one.take("P7", "Q7")
    one.chips(*TURN[:1])
    # The tool stays, until Escape. A space first, its menu, and the spaces of a canal in either order.
    page.locator('.tools [data-tool="canal"][aria-pressed=true]').wait_for()
    page.keyboard.press("Escape")
    one.take("Q9")
    page.locator(".menu").get_by_role("button", name="Canal of two").click()
    one.take("Q8")
    one.chips(*TURN[:2])
    # The pilli is clicked, then dragged.
    one.take("U7", "T7")
    one.chips(*TURN[:3])
    one.target("T7").drag_to(one.target("S7"))
    one.chips(*TURN[:4])
    page.get_by_role("button", name="Found a district").click()
    one.take("O5")
    one.chips(*TURN[:5])
    one.take("P5")
    page.locator(".menu").get_by_role("button", name="Temple 2").click()
    one.chips(*TURN)
    one.until("document.querySelectorAll('.picture .new').length === 4")
    # To look at the position after an action changes nothing.
    page.locator(".chip").nth(0).click()
    one.until("document.querySelectorAll('.picture .new').length === 1")
    page.locator(".chip").nth(0).click()
    page.get_by_role("button", name="End turn").click()
    one.until("document.querySelectorAll('.journal li').length === 3")
    assert "founded 12 at O5" in turns(page).first.inner_text()
    page.get_by_text("to move, 6 AP left").wait_for()
    page.get_by_role("button", name="Take back").click()
    one.until("document.querySelectorAll('.journal li').length === 0")


def test_a_whole_turn_by_keyboard(visit, example):
    one = visit()
    page = one.game(midgame(example))
    cell = page.locator('.cells [tabindex="0"]')
    cell.focus()
    assert cell.get_attribute("data-cell") == "A1"
    page.keyboard.press("End")
    for key, times in (("ArrowDown", 6), ("ArrowLeft", 5)):
        for _ in range(times):
            page.keyboard.press(key)
    assert cell.get_attribute("aria-label") == "P7, district of 102, legal: canal of two, canal of one, move the pilli"
    page.keyboard.press("c")
    page.keyboard.press("Enter")
    assert "legal" not in cell.get_attribute("aria-label")
    page.keyboard.press("ArrowRight")
    assert cell.get_attribute("aria-label").endswith("legal: canal of two")
    page.keyboard.press("Enter")
    one.chips("canal P7-Q7")
    # The focus stays on the grid; Escape lets the tool go; a space first opens a menu that has the focus.
    assert cell.get_attribute("data-cell") == "Q7"
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent.trim()") == "Canal of two"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent.trim()").startswith("Canal of one")
    page.keyboard.press("Escape")
    assert page.locator(".menu").count() == 0
    assert page.evaluate("document.activeElement.dataset.cell") == "Q8"
    for key in ("Enter", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    one.chips("canal P7-Q7", "canal Q8")
    assert page.evaluate("document.activeElement.dataset.cell") == "Q8"
    page.keyboard.press("Control+z")
    one.chips("canal P7-Q7")
    page.keyboard.press("Control+z")
    one.chips()
    page.keyboard.press("Control+y")
    one.chips("canal P7-Q7")
    caps = "key => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, ctrlKey: true, bubbles: true}))"
    for key, chips in (("Z", []), ("Y", ["canal P7-Q7"])):  # with Caps Lock
        page.evaluate(caps, key)
        one.chips(*chips)
    page.keyboard.press("/")
    page.keyboard.type("walk T7; walk U7; token")
    page.keyboard.press("Enter")
    one.chips("canal P7-Q7", "walk T7", "walk U7", "token")
    page.locator('.cells [tabindex="0"]').focus()
    page.keyboard.press("e")
    one.until("document.querySelectorAll('.journal li').length === 3")
    one.until("document.getElementById('said').textContent.includes('Level 1 (2): ')")


def test_what_is_impossible_says_why(visit, example):
    one = visit()
    page = one.game(example(MEXICA, [PERSON] * 3))
    page.keyboard.press("p")
    page.locator(".prompt", has_text="Place the pilli:").wait_for()
    page.get_by_label("Type an action or a turn").fill("canal A1-B1")
    page.keyboard.press("Enter")
    page.locator(".prompt", has_text="canal A1-B1").wait_for()
    assert "422" in one.wrong.pop()  # the browser's note of the refused request


def test_the_cheaper_way_is_taken_unless_one_asks(visit, example):
    one = visit()
    page = one.game(midgame(example))
    page.keyboard.press("m")
    one.target("T7").click(modifiers=["Shift"])
    words = page.locator(".menu button").all_inner_texts()
    assert [re.sub(r"\s+", " ", text).strip() for text in words] == ["teleport 5 AP", "walk 1 AP"]
    page.keyboard.press("Escape")
    one.take("T7")
    one.chips("walk T7")


def test_a_draft_survives_a_reload(visit, example):
    one = visit()
    page = one.game(midgame(example))
    page.get_by_label("Type an action or a turn").fill("canal P7-Q7; canal Q8-Q9")
    page.keyboard.press("Enter")
    one.chips(*TURN[:2])
    page.reload()
    one.chips(*TURN[:2])
    page.get_by_role("button", name="Reset turn").click()
    one.chips()
    page.get_by_role("button", name="Redo").click()
    one.chips(*TURN[:1])


def test_turns_of_engines_are_played_action_by_action(visit, example, site):
    one = visit(reduced_motion="no-preference")
    page = one.game(midgame(example))
    page.get_by_role("button", name="End turn").click()
    page.get_by_text("Level 1 (1) plays").wait_for()
    page.locator(".chips .chip").first.wait_for()
    page.get_by_role("button", name="Skip").click()
    one.until("!document.querySelector('.status').textContent.includes('Level 1 (1) plays')")
    page.locator(".status", has_text="to move").wait_for()
    page.get_by_role("button", name="End turn").click()
    # A click on the board skips as well, and does nothing else.
    one.until(
        "() => { const rect = document.querySelector('.picture [data-target=\"U7\"]');"
        " if (document.querySelectorAll('.journal li').length < 6) return false;"
        " if (!document.querySelector('.status .link')) return false;"
        " const {x, y} = rect.getBoundingClientRect();"
        " return rect.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: x + 5, clientY: y + 5})); }"
    )
    assert page.locator(".prompt").inner_text().strip() == "Choose a tool, or click on the board."
    assert page.locator(".menu").count() == 0
    # A click on a turn of the list opens it at once.
    game = midgame(example)
    page = one.game(game)
    site.play(game, "end")
    page.get_by_text("Level 1 (1) plays").wait_for()
    click = "one => { one.click(); return document.querySelector('.picture').dataset.path; }"
    assert "/at/0/" in turns(page).first.get_by_role("button").evaluate(click)
    page.locator(".card.review", has_text="1 / ").wait_for()
    # Some are not known in full.
    game = site.new("tzolkin", players=3, seats=[PERSON, engine(1, 0.1), engine(1, 0.1)], seed=1)
    page = one.game(game)
    site.play(game, game["entries"][0]["action"])
    page.locator(".status", has_text="plays").wait_for()
    page.locator(".status", has_text="to move").wait_for()


# --- other games


def test_coatl_with_a_blind_draw(visit, example):
    one = visit()
    page = one.game(example("coatl_midgame.json", [PERSON, engine(1, 0.1)]))
    one.take("stored:0:head:G", "coatl:0:1:left")
    one.chips("add 1 head G")
    page.get_by_role("button", name="Undo").click()
    one.chips()
    one.take("supply:body:GG")
    one.chips("take body GG")
    page.get_by_text("The turn is complete.").wait_for()
    page.get_by_role("button", name="End turn").click()
    one.until("document.querySelectorAll('.journal li').length >= 2")


def test_a_blind_draw_says_that_it_cannot_be_undone(visit, site):
    game = site.new("coatl", seed=3, seats=[PERSON, engine(1, 0.1)])
    one = visit()
    page = one.game(game)
    page.get_by_role("button", name="Keep none").click()
    page.get_by_role("button", name="End turn").click()
    one.target("deck").and_(page.locator(".can")).click()
    page.locator(".prompt", has_text="cannot be undone").wait_for()
    page.locator(".turnbar").get_by_role("button", name="Draw a prophecy").click()
    page.get_by_text("drew from the deck").first.wait_for()
    one.until("document.querySelector('.chips').children.length === 0")


def test_to_end_a_turn_without_an_action_plays_nothing(visit, site):
    game = site.new("coatl", seed=3, seats=[PERSON, engine(1, 0.1)])
    game = site.play(game, game["entries"][0]["action"])
    game = site.await_game(game, lambda each: each["to_move"] == 0)
    assert "future" in [entry["action"] for entry in game["entries"]]
    one = visit()
    page = one.game(game)
    assert page.get_by_role("button", name="End turn").is_disabled()
    page.keyboard.press("e")
    page.locator(".prompt", has_text="The turn cannot end yet: the turn has not begun;").wait_for()
    assert site.game(game)["version"] == game["version"]
    page.locator("body").press("f")  # the token itself
    one.chips("future")


def test_two_persons_with_hidden_hands_look_one_after_the_other(visit, site):
    one = visit(kept={"hints": {"play": "all", "review": "all"}, "seconds": 0.1})
    game = site.new("coatl", seed=3, seats=PERSONS)
    page = one.go(f"/g/{game['id']}")
    page.get_by_role("button", name="Player 1, press Enter").wait_for()
    one.check_accessible()
    assert page.locator(".picture").count() == 0
    page.keyboard.press("Enter")
    page.wait_for_selector(".picture svg")
    assert page.locator('.target[data-target^="hand:1"]').count() == 0
    # What would show all hands is not offered.
    page.get_by_role("link", name="position").wait_for()
    assert page.get_by_role("link", name="record").count() == 0
    page.get_by_role("button", name="Review", exact=True).click()
    page.locator(".card.review").wait_for()
    assert page.get_by_role("button", name=re.compile("Play on from here|Annotate")).count() == 0
    page.get_by_role("button", name="Play", exact=True).click()
    page.get_by_role("button", name="Analyse").click()
    page.locator(".candidate").first.press("Enter")
    page.get_by_text("Side line after turn 0").wait_for()
    page.get_by_role("button", name="Text", exact=True).click()
    page.locator("dialog pre:not(:empty)").wait_for()
    said = page.locator("#said")
    said.evaluate("said => { said.textContent = 'You hold P31.'; }")
    site.play(site.game(game, viewer=0), "keep", viewer=0)  # on another page
    page.get_by_role("dialog").wait_for(state="detached")
    page.get_by_role("button", name="Player 2, press Enter").wait_for()
    assert page.locator(".picture").count() == 0
    # What was said to the person before is not there to be read again, and nothing is offered that would be refused.
    assert "P31" not in said.inner_text()
    assert page.get_by_role("button", name=re.compile("^(Play|Review|Text)$")).count() == 0
    page.keyboard.press("Enter")
    page.wait_for_selector(".picture svg")
    # What was found with the hand of the other has gone, and the line that was tried.
    assert page.locator(".candidate, .review").count() == 0
    page.wait_for_load_state("networkidle")
    page.get_by_role("button", name="Keep none").click()
    page.get_by_role("button", name="End turn").click()
    page.get_by_role("button", name="Player 1, press Enter").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_selector(".picture svg")
    assert said.inner_text().startswith("Player 2: ")  # not the whole game
    page.wait_for_load_state("networkidle")
    page.mouse.move(*page.evaluate(SMALL_TEXT))
    page.locator(".zoom").first.wait_for()
    assert page.locator(".zoom").count() == 1  # not one for each of the two boards
    # At the end everything is shown: also the hand with which the other has begun.
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    page.locator(".over").get_by_role("button", name="Review").click()
    assert said.inner_text() == "Player 2 wins"
    page.get_by_role("button", name="Analyse", exact=True).wait_for()
    page.get_by_role("link", name="record").wait_for()


def test_gears_turn_after_the_round(visit, example):
    one = visit(reduced_motion="no-preference")
    page = one.game(example("tzolkin_midgame.json", PERSONS, open=True))
    assert page.locator("[data-wheel]").count() == 10
    page.evaluate(
        "window.turned = []; const animate = Element.prototype.animate;"
        "Element.prototype.animate = function (frames, options) {"
        " turned.push([this.dataset.wheel, frames.transform[0], options.duration]);"
        " return animate.call(this, frames, options); }; 0"
    )
    one.take("worker:palenque:1", "use:palenque:1")
    page.get_by_role("button", name="End turn").click()
    one.until("window.turned.length >= 10")
    angles = {wheel: angle for wheel, angle, _ in page.evaluate("window.turned")}
    assert angles["tikal"] == "rotate(-36deg)"
    assert angles["chichen_itza"].startswith("rotate(-27.")
    assert {duration for *_, duration in page.evaluate("window.turned")} == {400}


WALK = """seed => {
  const random = window.random ??= () => (seed = seed * 16807 % 2147483647) / 2147483647;
  const click = element => element?.dispatchEvent(new MouseEvent('click', {bubbles: true}));
  const pick = list => click(list[Math.floor(random() * list.length)]);
  const all = selector => [...document.querySelectorAll(selector)];
  if (!/to move/.test(document.querySelector('.status').innerText)) return;
  const menu = all(':is(.menu, .confirm) button'), lit = all('.target.lit:not(.taken)'), can = all('.target.can');
  if (menu.length && (!lit.length || random() < 0.5)) pick(menu);
  else if (lit.length) pick(lit);
  else if (can.length && random() < 0.7) pick(can);
  else if (random() < 0.5) pick(all('.tools [data-tool]'));
  else all('.end button').at(-1).click();
}"""


@pytest.mark.parametrize("game", ["mexica", "coatl", "tzolkin"])
def test_whatever_one_clicks_is_a_game(visit, site, game):
    one = visit()
    page = one.game(site.new(game, seed=4, seats=[PERSON, engine(1, 0.05)]))
    turns = "document.querySelectorAll('.journal li').length"
    for number in range(300):
        page.evaluate(WALK, 11)
        page.wait_for_timeout(20)
        if number >= 40 and page.evaluate(turns) >= 4:
            break
    one.until(f"{turns} >= 4")


# --- analysis and review


def test_candidates_are_shown_on_the_board_and_stay_while_one_reads(visit, example):
    one = visit()
    page = one.game(midgame(example))
    page.get_by_label("Hints").select_option("all")
    page.get_by_label("Time").select_option("until stopped")
    page.get_by_role("button", name="Analyse").click()
    candidates = page.locator(".candidate")
    candidates.nth(1).wait_for()
    candidates.nth(1).hover()
    page.wait_for_selector(".picture .badge")
    before = candidates.locator(".turn").all_inner_texts()
    heading = page.locator(".note").first.inner_text()
    one.until("heading => document.querySelector('.note').innerText !== heading", heading)
    assert candidates.locator(".turn").all_inner_texts()[: len(before)] == before
    candidates.first.click()
    page.locator(".line .link").first.wait_for()  # a short search expects no whole turn after the candidate
    page.get_by_role("button", name="Stop", exact=True).click()
    page.locator(".note", has_text="stopped").wait_for()
    one.check_accessible()
    candidates.first.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Side line after turn 0").wait_for()
    one.check_accessible()
    page.get_by_role("button", name="Back to the game").click()
    page.get_by_role("button", name="Play", exact=True).click()
    one.until("!document.querySelector('.picture .badge')")
    if page.get_by_role("button", name="Take over").count() == 0:
        candidates.first.click()
    page.get_by_role("button", name="Take over").click()
    page.locator(".chips .chip").first.wait_for()


def hide(page, is_hidden):
    """Tell a page that another tab is in front of it, or no more."""
    page.evaluate(
        """isHidden => {
            Object.defineProperty(document, 'hidden', {value: isHidden, configurable: true});
            document.dispatchEvent(new Event('visibilitychange'));
        }""",
        is_hidden,
    )


def test_an_analysis_that_has_ended_unheard_is_shown_as_ended(visit, example, site):
    one = visit()
    game = midgame(example)
    page = one.game(game)
    page.get_by_label("Hints").select_option("all")
    page.get_by_label("Time").select_option("until stopped")
    analyse, stop = (page.get_by_role("button", name=name, exact=True) for name in ("Analyse", "Stop"))
    for learn in (lambda: hide(page, False), stop.click):
        analyse.click()
        page.locator(".candidate").first.wait_for()
        hide(page, True)
        site.await_game(game, lambda now: now["analysis"]["stop_reason"])
        assert stop.is_visible()
        learn()
        analyse.wait_for()
    hide(page, False)
    analyse.click()
    page.locator(".candidate").first.wait_for()
    # Another page begins one in its place.
    site.call("PUT", f"/api/games/{game['id']}/analysis", {"at": 0, "seconds": 0.1}, 202)
    analyse.wait_for()


def test_a_page_that_was_hidden_shows_the_game_that_has_gone_another_way(visit, site):
    game = site.play(site.new(options={"piles": [3, 4]}, seats=PERSONS), "take 1 1")
    one = visit(kept={"hints": {"play": "all", "review": "all"}, "seconds": 0.1})
    page = one.game(game)
    page.get_by_role("button", name="Analyse").click()
    page.locator(".candidate").first.wait_for()
    hide(page, True)
    site.play(site.command(game, takeback=True), "take 2 2")
    with page.expect_request("**/at/0/*.svg*"):
        hide(page, False)
    page.locator(".candidate").first.wait_for(state="detached")
    # It has ended, and then in another way.
    game = site.new(options={"piles": [2, 1]}, seats=PERSONS)
    for turn in ("take 2 1", "take 1 2"):
        game = site.play(game, turn)
    page = one.game(game)
    are_points = (
        "wanted => { const rows = [...document.querySelectorAll('.over tbody tr')];"
        " const points = row => [...row.cells].slice(1).map(cell => cell.textContent.trim() || '0').join();"
        " return rows.length > 1 && rows.every(row => points(row) === wanted); }"
    )
    one.until(are_points, "0,1")
    hide(page, True)
    game = site.command(site.command(game, takeback=True), takeback=True)
    for turn in ("take 1 1", "take 1 1", "take 1 2"):
        game = site.play(game, turn)
    hide(page, False)
    one.until(are_points, "1,0")
    site.await_game(game, lambda now: now["annotation"]["done"] == 3)


def test_a_search_that_the_server_does_not_know_can_be_stopped(visit, example):
    page = visit().game(midgame(example))
    page.get_by_label("Hints").select_option("all")
    page.route("**/analysis", lambda route: route.fulfill(status=202, json={"key": "of another server"}))
    engine = page.locator(".engine")
    with page.expect_response("**/analysis"):
        engine.get_by_role("button", name="Analyse").click()
    engine.get_by_text("searching").wait_for()
    engine.get_by_role("button", name="Stop").click()
    engine.get_by_role("button", name="Analyse").wait_for()
    assert engine.get_by_text("searching").count() == 0


def test_a_choice_shows_what_holds(visit, example):
    page = visit().game(midgame(example))
    hints = page.get_by_label("Hints")
    for chosen in ("all", "none"):
        hints.select_option(chosen)
    page.get_by_role("button", name="Review", exact=True).click()
    page.locator(".card.review").wait_for()
    assert hints.input_value() == "all"  # reviews have hints of their own


def test_an_expected_line_follows_its_candidate(visit, example, site):
    """What the turns of a line lead to is drawn, and played, from the position after the candidate."""
    one = visit()
    game = example("coatl_midgame.json", open=True)
    page = one.game(game)
    page.get_by_label("Hints").select_option("all")
    page.get_by_label("Time").select_option("until stopped")
    page.get_by_role("button", name="Analyse").click()
    # A short search expects no whole turn after its candidates.
    site.await_game(game, lambda now: any(one["line"] for one in (now["analysis"] or {}).get("candidates", ())))
    page.get_by_role("button", name="Stop", exact=True).click()
    page.locator(".note", has_text="stopped").wait_for()
    links = page.locator(".line .link")
    for candidate in page.locator(".candidate").all():
        candidate.click()
        if links.count():
            break
        candidate.click()
    turn = candidate.get_attribute("data-text").split("; ")
    replies = [link.get_attribute("title").split("; ") for link in links.all()]
    told = [text.strip() for text in (candidate.locator(".turn").inner_text(), links.first.inner_text())]
    assert replies
    page.mouse.move(0, 0)  # else what comes to lie under the pointer, which shows its line, too

    def await_picture(line):
        """Wait for the picture of the position after a line."""
        query = urlencode({"actions": "; ".join(line[-1]), "line": json.dumps(line[:-1], separators=(",", ":"))})
        one.until(
            "query => { const picture = document.querySelector('.stage .picture');"
            " return picture.dataset.path.endsWith('.svg?' + query) && picture.querySelector('.badge'); }",
            query,
        )

    for index in range(len(replies)):
        links.nth(index).focus()
        await_picture([turn, *replies[: index + 1]])
    links.nth(0).press("Enter")
    page.get_by_text("Side line after turn 0").wait_for()
    assert page.locator(".played .chip").all_inner_texts() == told
    await_picture([turn, replies[0]])


def test_review_with_its_graph_and_the_jump_to_the_worst_turn(visit, site):
    record = records_of("mexica")[0]
    part = {key: record[key] for key in ("game", "version", "start")} | {"turns": record["turns"][:16]}
    game = site.call("POST", "/api/games", {"text": json.dumps(part)}, 201)
    one = visit()
    page = one.game(game, "review")
    page.get_by_role("button", name="Annotate").click()
    page.wait_for_selector(".graph svg")
    one.until("[...document.querySelectorAll('.journal b')].some(mark => mark.textContent)")
    page.locator("caption", has_text="Worst turns").wait_for(timeout=60_000)
    page.locator("progress").wait_for(state="detached", timeout=60_000)
    page.keyboard.press("Home")
    page.keyboard.press("n")
    mark = page.locator(".played b").first
    assert mark.inner_text().strip("()") in ("?!", "?", "??")
    engine_plays = page.get_by_role("button", name=re.compile("^Engine: "))
    engine_plays.click()
    assert engine_plays.get_attribute("aria-pressed") == "true"
    page.locator('.graph [data-target="turn:10"]').click()
    page.locator(".card .soft", has_text="10 / 16").wait_for()
    page.keyboard.press("ArrowLeft")
    page.locator(".card .soft", has_text="9 / 16").wait_for()
    page.get_by_role("button", name="Before the turn").click()
    page.locator(".picture .badge").first.wait_for(state="detached")
    one.check_accessible()
    # Turns that are judged anew, as by another page, have no marks of the time before.
    path = f"/api/games/{game['id']}/annotation"
    site.call("PUT", path, {"seconds": 5}, 202)
    one.until("[...document.querySelectorAll('.journal b')].every(each => !each.textContent)")
    site.call("DELETE", path)
    page.get_by_role("button", name="Play on from here").click()
    with no_room(page):
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_role("dialog").get_by_text("no room").wait_for()
    one.wrong.clear()  # the refused request
    page.get_by_role("button", name="Start", exact=True).click()
    one.until("!location.hash && document.querySelector('.turnbar')")
    assert page.url != f"{site.base}/g/{game['id']}#review"


def test_downloads(visit, example):
    one = visit()
    page = one.game(example(MEXICA, [PERSON] * 3))
    for name, ending in (("record", "jsonl"), ("position", "json"), ("picture", "svg")):
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        assert download.value.suggested_filename.endswith(f".{ending}")
        # A context that closes while a file is on its way may wait for it without end.
        assert download.value.path().stat().st_size


# --- the beginning and the end


def test_a_new_game_from_the_form(visit, site):
    one = visit()
    page = one.home()
    page.get_by_role("radio", name="Mexica").wait_for()
    one.check_accessible()
    page.get_by_label("Seat 2").select_option("level:2")
    page.get_by_label("s a turn").fill("0.1")
    page.get_by_label("s a turn").blur()
    page.get_by_text("Options").click()
    page.get_by_label("seed").press_sequentially("9007199254740993")  # more than a script counts exactly
    assert page.get_by_label("seed").input_value() == "900719925474099"
    page.get_by_label("seed").fill("7")
    before = len(site.call("GET", "/api/games")["games"])
    page.get_by_role("button", name="Start", exact=True).dblclick()
    page.wait_for_selector(".target.lit")
    assert len(site.call("GET", "/api/games")["games"]) == before + 1
    assert "Place the pilli" in page.locator(".prompt").inner_text()
    one.check_accessible()
    page.locator(".target.lit").first.click()
    page.get_by_role("button", name="End turn").click()
    one.until("document.querySelectorAll('.journal li').length === 2")
    assert page.get_by_role("link", name="Editor").get_attribute("href").endswith("&at=2")
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog").get_by_role("button", name="Resign").click()
    page.get_by_role("heading", name="Level 2 wins").wait_for()
    one.check_accessible()
    with no_room(page):
        page.get_by_role("button", name="Play again, seats rotated").click()
        page.locator(".told", has_text="no room").wait_for()
    one.wrong.clear()  # the refused request
    page.get_by_role("button", name="Play again, seats rotated").click()
    page.get_by_text("Level 2").first.wait_for()
    one.until("document.querySelectorAll('.journal li').length < 3")


def test_options_show_what_they_are(visit):
    """What the form shows is what is sent, touched or not."""
    one = visit()
    page = one.home()
    refused = {"status": 422, "json": {"message": "not now"}}  # so that the form stays
    page.route(
        "**/api/games", lambda route: route.fulfill(**refused) if route.request.method == "POST" else route.continue_()
    )
    for name in registry.names():
        parts = registry.get(name)
        page.get_by_role("radio", name=parts.title).check()
        page.locator(".start details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        wanted = {option.name: option.default for option in parts.starts.options if option.kind is bool}
        for touched in (None, *wanted):
            for option in parts.starts.options:
                box = page.get_by_role("checkbox", name=option.help)
                if option.kind is not bool:
                    shown = page.get_by_role("textbox", name=option.help).get_attribute("placeholder")
                    default = option.default
                    assert shown == (",".join(map(str, default)) if isinstance(default, tuple) else str(default))
                elif option.name == touched:
                    box.click()
                    wanted[touched] = not wanted[touched]
                if option.kind is bool:
                    assert box.is_checked() == wanted[option.name]
            with page.expect_request("**/api/games") as sent:
                page.get_by_role("button", name="Start", exact=True).click()
            assert sent.value.post_data_json["options"] == wanted
            page.get_by_role("alert").get_by_text("not now").wait_for()
    one.wrong[:] = [words for words in one.wrong if "status of 422" not in words]  # the refused requests


def test_options_are_sent_as_they_are_typed(visit):
    one = visit()
    page = one.home()
    page.get_by_role("radio", name="Nim").check()
    page.locator(".start details").evaluate("one => { one.open = true; }")
    piles, turns = (
        page.get_by_role("textbox", name="sizes of the piles"),
        page.get_by_role("textbox", name="actions per turn"),
    )
    for field, typed, told in ((piles, "3, 2.5", 'given "2.5"'), (piles, "-3 4", "-3 is out of range"),
                               (turns, "two", 'given "two"')):  # fmt: skip
        field.fill(typed)
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_role("alert").get_by_text(told).wait_for()
        field.fill("3, 2" if field is piles else "")
    one.wrong.clear()  # the refused requests
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_selector(".picture svg")


def test_a_finished_game_says_how_the_points_were_made(visit, site):
    game = site.call("POST", "/api/games", {"example": "mexica_game.jsonl", "record": 1}, 201)
    one = visit()
    page = one.game(game)
    over = page.locator(".over")
    over.get_by_text("founding the district of").first.wait_for()
    *rows, total = [
        [int(cell or 0) for cell in row.locator("td").all_inner_texts()]
        for row in over.locator("tbody tr:not(.part)").all()
    ]
    assert [sum(column) for column in zip(*rows, strict=True)] == total
    over.get_by_role("button", name="Review").click()
    page.get_by_text("The start of the game.").wait_for()


def test_a_bad_file_names_its_faults(visit):
    one = visit()
    page = one.home()
    page.get_by_role("button", name="Load").click()
    page.get_by_label("or its text").fill('{"game": "mexica", "version": 1}')
    page.get_by_role("button", name="Open").click()
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "players" in alert.inner_text()
    alert.get_by_text("JSON").first.click()
    alert.locator("code").first.wait_for()
    one.wrong.clear()  # the browser's note that the request was refused


def test_examples_and_games_on_disk(visit, site):
    one = visit()
    page = one.home()
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("button", name="coatl_midgame").click()
    page.wait_for_selector(".picture svg")
    site.new("nim")
    page.get_by_role("link", name="mexica-ai").click()
    games, undo = page.locator(".kept li"), page.locator(".deleted button")
    games.first.wait_for()
    number = games.count()
    for count, name in enumerate(("Coatl", "Nim"), 1):
        page.get_by_role("button", name=f"Delete this game of {name}").first.click()
        one.until("number => document.querySelectorAll('.deleted button').length === number", count)
        assert games.count() == number - count
    # Each deletion has its undo. After an error the list is read anew.
    undo.last.click()
    one.until("document.querySelectorAll('.deleted button').length === 1")
    assert "Nim" in page.locator(".deleted").inner_text()
    assert games.count() == number - 1
    page.route("**/restore", lambda route: route.fulfill(status=422, json={"message": "The game cannot be read."}))
    site.new("nim")
    undo.click()
    one.until("number => document.querySelectorAll('.kept li').length === number", number)
    page.locator(".told", has_text="The game cannot be read.").wait_for()
    one.wrong.clear()  # the refused request


def test_a_game_that_cannot_be_read_is_named_by_its_file(visit):
    one = visit()
    bad = {"id": "ab" * 16, "error": "the game cannot be read: line 1"}
    one.page.route(
        "**/api/games", lambda route: route.fulfill(json={"games": [bad] if route.request.method == "GET" else []})
    )
    one.page.route("**/api/games/*", lambda route: route.fulfill(status=204))
    page = one.home()
    name = f"{bad['id']}.jsonl"
    page.get_by_role("button", name=f"Delete this game of {name}").click()
    page.locator(".deleted", has_text=f"Deleted: {name}").wait_for()
    assert page.locator("#said").inner_text() == f"Deleted a game of {name}."


def test_a_stale_command_brings_the_newest_state(visit, example, site):
    one = visit()
    one.page.route("**/api/events*", lambda route: route.abort())
    game = example(MEXICA, [PERSON] * 3)
    page = one.game(game)
    site.play(game, "end")
    page.get_by_label("Type an action or a turn").fill("token")
    page.keyboard.press("Enter")
    page.locator(".prompt", has_text="The game has changed in the meantime.").wait_for()
    page.get_by_text("Player 2").first.wait_for()
    one.chips()  # the action was meant for the turn before
    one.wrong.clear()  # the refused request, and the streams that were cut


def test_nobody_resigns_for_the_next_person(visit, site):
    game = site.new(options={"piles": [1, 2]}, seats=PERSONS)
    page = visit().game(game)
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("dialog", name="Resign?").wait_for()
    site.play(game, "take 1 1")  # on another page
    page.get_by_role("dialog").wait_for(state="detached")
    page.locator(".status", has_text="Player 2 to move").wait_for()


def test_a_lost_server_is_told_and_found_again(visit, tmp_path):
    """The turn that was being entered comes back, too; another token is told as such."""
    processes = [Process(tmp_path)]
    port = processes[0].port
    try:
        one = visit(process=processes[0])
        game = processes[0].call("POST", "/api/games", {"example": MEXICA}, 201)
        page = one.game(game)
        page.get_by_label("Type an action or a turn").fill("token")
        page.keyboard.press("Enter")
        one.chips("token")
        processes[0].kill()
        banner = page.get_by_role("alert")
        banner.filter(has_text="connection is lost").wait_for()
        processes.append(Process(tmp_path, "--port", port))
        banner.wait_for(state="detached")
        processes[1].await_game(game, lambda now: now["draft"]["actions"] == ["token"])
        one.chips("token")
        processes[1].kill()
        processes.append(Process(tmp_path, "--port", port, "--new-token"))
        banner.filter(has_text="Open the URL that mexica-ai web printed").wait_for()
        page.reload()
        page.get_by_role("heading", name="This page is closed").wait_for()
        one.check_accessible()
        one.wrong.clear()  # the refused requests, and the streams that were cut
    finally:
        for process in processes:
            process.close()


def test_a_page_too_many_says_so(visit, example):
    one = visit()
    one.page.route("**/api/events*", lambda route: route.fulfill(status=429, json={}))
    page = one.game(midgame(example))
    page.get_by_role("alert").filter(has_text="Too many pages are open").wait_for()
    one.wrong.clear()  # the streams that were refused


def test_an_answer_that_is_awaited_is_shown(visit, example):
    one = visit()
    page = one.game(example(MEXICA))
    held = []
    page.route("**/draft", lambda route: held.append(route))
    is_waiting = "() => document.body.matches('.waiting') && getComputedStyle(document.body, '::before').opacity"
    page.get_by_label("Type an action or a turn").fill("token")
    page.keyboard.press("Enter")
    one.until(f"() => ({is_waiting})() === '1'")
    for route in held:
        route.continue_()
    one.until(f"() => !({is_waiting})()")


def test_a_page_follows_what_other_pages_and_versions_do(visit, example, site):
    one = visit()
    game = example(MEXICA, [PERSON] * 3)
    page = one.game(game)
    banner = page.get_by_role("alert")
    site.call("DELETE", f"/api/games/{game['id']}", status=204)
    banner.filter(has_text="The game was deleted.").wait_for()
    site.call("POST", f"/api/games/{game['id']}/restore", {})
    page.evaluate("dispatchEvent(new Event('focus'))")
    banner.wait_for(state="detached")

    def answer(route):
        """Answer as a server of another version does."""
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), "build": "another"})

    page.route("**/draft", answer)
    page.get_by_label("Type an action or a turn").fill("token")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    one.chips("token")
    one.wrong.clear()  # the requests for a game that was not there


def test_a_file_is_looked_at_before_it_is_sent(visit, tmp_path):
    one = visit()
    page = one.home()
    large, binary, latin = tmp_path / "large.jsonl", tmp_path / "binary.txt", tmp_path / "latin.txt"
    large.write_bytes(b" " * (4 << 20))
    binary.write_bytes(bytes(range(256)) * 800)
    latin.write_text("José", encoding="latin-1")
    page.get_by_role("button", name="Load").click()
    said = page.get_by_role("alert")
    for path, words in ((large, "large.jsonl has 4.0 MB; at most 1.0 MB can be opened."),
                        (binary, "binary.txt cannot be read as text."),
                        (latin, "latin.txt cannot be read as text.")):  # fmt: skip
        page.get_by_label("A record, a position").set_input_files(path)
        said.filter(has_text=words).wait_for()
    # The same file is read anew when it is chosen again: it may be another one by now.
    with page.expect_file_chooser():
        page.get_by_label("A record, a position").click()
    assert page.get_by_label("A record, a position").input_value() == ""
    page.get_by_label("or its text").fill('"' * (600 << 10))
    page.get_by_role("button", name="Open").click()
    said.filter(has_text="The text, as it is sent, has 1.2 MB").wait_for()
    page.get_by_label("A record, a position").set_input_files(path_of("mexica"))
    page.get_by_role("button", name="Open").click()
    page.get_by_role("heading", name="2 games: choose one").wait_for()
    one.check_accessible()
    page.get_by_role("button", name="2 Mexica, 3 players, 63 turns").click()
    page.wait_for_selector(".picture svg")
    page.get_by_text("0 / 63").wait_for()
    one.wrong.clear()  # of several records none is opened, which the console tells


# --- how it looks to all


def test_paper_has_the_picture_and_the_turns_and_nothing_to_click(visit, site):
    one = visit(color_scheme="dark")
    page = one.game(site.call("POST", "/api/games", {"text": path_of("mexica").read_text(), "record": 1}, 201))
    page.emulate_media(media="print")
    shown = {
        "board": ".picture svg",
        "turns": ".journal li",
        "result": ".over",
        "tools": "button:not(.link), .journal .row button, input, select, textarea, .tools, .typed, .menu, .target, a",
    }
    count = "what => [...document.querySelectorAll(what)].filter(each => each.checkVisibility()).length"
    seen = {name: page.evaluate(count, what) for name, what in shown.items()}
    assert seen == {"board": 1, "turns": 50, "result": 1, "tools": 0}
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert page.evaluate("document.documentElement.scrollWidth") == 1360
    turns = page.locator(".rounds").evaluate("list => list.scrollHeight - list.clientHeight")
    assert turns == 0  # none is cut off


@pytest.mark.parametrize("name", ["mexica_midgame.json", "coatl_midgame.json", "tzolkin_midgame.json"])
def test_narrow_and_dark_pages_fit_and_are_accessible(visit, example, name):
    one = visit(390, 844, color_scheme="dark")
    page = one.game(example(name))
    for width, scheme in ((390, "dark"), (900, "light")):
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=scheme)
        one.until("width => innerWidth === width && document.documentElement.scrollWidth === width", width)
        one.check_accessible()
        small = page.evaluate(
            "[...document.querySelectorAll('button, select, a')].filter(one => one.offsetParent)"
            ".map(one => one.getBoundingClientRect()).filter(box => box.height < 24).length"
        )
        assert small == 0


def test_dialogs_are_accessible(visit, example):
    one = visit()
    page = one.game(example(MEXICA, [PERSON] * 3))
    page.route("**/dialogs.js", lambda route: route.abort())
    page.get_by_role("button", name="Help").click()
    page.locator(".prompt", has_text="A part of the page is missing: reload it.").wait_for()
    page.unroute("**/dialogs.js")
    page.reload()
    page.wait_for_selector(".picture svg")
    page.route("**/rules.js", lambda route: route.abort())
    page.get_by_role("button", name="Rules").click()
    page.locator(".prompt", has_text="A part of the page is missing: reload it.").wait_for()
    page.unroute("**/rules.js")
    one.wrong.clear()  # the scripts that did not come
    for key, name in (("?", "Keys"), ("Shift+T", "The board as text")):
        page.keyboard.press(key)
        page.get_by_role("dialog", name=name).wait_for()
        one.check_accessible()
        page.keyboard.press("Escape")
        page.get_by_role("dialog").wait_for(state="detached")


def test_letters_can_be_turned_off(visit, example):
    one = visit(fresh=True)
    page = one.game(example(MEXICA, [PERSON] * 3))
    page.keyboard.press("?")
    page.get_by_label("keys for tools").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    assert page.locator(".tools [aria-pressed=true]").count() == 0
    # What is stored, but is nothing of the page, is as if it were not there.
    for stored in ("{", "1", '{"keys": false, "hints": null, "seconds": "x"}'):
        page.evaluate("stored => localStorage.setItem('mexica-ai', stored)", stored)
        page.reload()
        page.wait_for_selector(".picture svg")
    page.keyboard.press("m")
    assert page.locator(".tools [aria-pressed=true]").count() == 0
    blocked = "{get() { throw new Error('blocked'); }}"
    page.context.add_init_script(f"Object.defineProperty(window, 'localStorage', {blocked})")
    page.reload()
    page.wait_for_selector(".picture svg")
    page.keyboard.press("m")
    page.locator(".tools [aria-pressed=true]").wait_for()


def test_what_assistive_technology_reads(visit, example, request):
    """Set MEXICA_AI_WRITE_GOLDENS=1 to write them anew."""
    one = visit()
    one.home().get_by_role("radio", name="Mexica").wait_for()
    one.page.locator("small.level").first.wait_for()
    # The advice depends on the games that were played before.
    one.page.locator(".advice").evaluate_all("found => found.forEach(one => one.remove())")
    found = {"begin": one.page.locator(".start").aria_snapshot()}
    page = one.game(example(MEXICA, [PERSON] * 3))
    found["turn"] = page.locator(".turnbar").aria_snapshot()
    found["tools"] = page.locator(".tools").aria_snapshot()
    found["row"] = page.locator(".cells [role=row]").nth(6).aria_snapshot()
    found["side"] = page.locator(".side").aria_snapshot()
    for name, words in found.items():
        words = re.sub(r"/g/[0-9a-f]+|games/[0-9a-f]+", "ID", words)
        words = re.sub(r"rated \d+ \(\d+ to \d+\)", "rated RATING", words)  # as it was measured last
        golden = GOLDENS / f"{name}.txt"
        if os.environ.get("MEXICA_AI_WRITE_GOLDENS") == "1":
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(words + "\n", encoding="utf-8")
        assert words + "\n" == golden.read_text(encoding="utf-8"), name


def test_the_benchmark_measures(browser, site, monkeypatch, capsys):
    """The browser is that of the tests, which the benchmark's function starts: Playwright runs once in a process."""
    import web_browser  # of the benchmarks; it needs Playwright

    monkeypatch.setattr(web_browser, "browser", lambda: contextlib.nullcontext(browser))
    monkeypatch.setattr(web_browser, "page_process", lambda: contextlib.nullcontext((None, site.url)))
    monkeypatch.setattr(sys, "argv", ["web_browser.py", "--clicks", "2", "--seconds", "1", "--json"])
    web_browser.main()
    found = json.loads(capsys.readouterr().out)
    assert found["cold_kb"] <= 80
    assert min(found.values()) > 0

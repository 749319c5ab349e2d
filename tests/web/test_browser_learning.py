"""Learning a game in the browser: the guided first game, the rules in a drawer, words for what a picture shows."""

from pathlib import Path

from mexica_ai.game import teaching

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_a_guided_first_game(visit, site):
    guide = teaching.guide("mexica")
    one = visit()
    page = one.home()
    page.get_by_role("radio", name="Mexica").check()
    page.get_by_role("button", name="Learn the game").click()
    page.get_by_role("heading", name=f"Step 1 of {len(guide.steps)}").wait_for()
    page.get_by_text("You are the triangle", exact=False).wait_for()
    one.until("document.querySelectorAll('.picture .pointed').length === 1")
    one.check_accessible()
    # What does not fit gets a word, and the step stays.
    one.take("H6")
    page.locator(".guide .fault", has_text="another place").wait_for()
    assert "422" in one.wrong.pop()  # the browser notes each answer that refuses
    one.take("I7")
    page.get_by_role("heading", name="Step 2 of").wait_for()
    one.until("!document.querySelector('.guide .fault')")
    one.until("document.querySelectorAll('.pointed').length === 3")  # two on the board, one beside it
    page.set_viewport_size({"width": 390, "height": 800})  # what to do is in sight, and nothing of the board below it
    step, stage = page.locator(".guide b").bounding_box(), page.locator(".stage").bounding_box()
    assert stage["y"] + stage["height"] < step["y"] < 800 - 110 - step["height"]
    page.set_viewport_size({"width": 1360, "height": 900})
    page.keyboard.press("/")
    page.keyboard.type("canal T7-T8; teleport U7; found 4 U8")
    page.keyboard.press("Enter")
    page.get_by_text("Then end your turn", exact=False).wait_for()
    page.reload()
    page.get_by_role("heading", name="Step 4 of").wait_for()
    page.get_by_role("button", name="End turn").click()
    page.get_by_role("heading", name="Step 5 of").wait_for()
    page.locator(".last", has_text="canal G5").wait_for()
    # The rest comes from another page; then the game goes on.
    now = site.game({"id": page.url.rpartition("/")[2]})
    turns = [action for step in guide.steps[4:] for action in step.accepts]
    while turns:
        end = turns.index("end") + 1
        now = site.command(now, actions=turns[:end])
        del turns[:end]
    page.get_by_role("heading", name="The end of the guide").wait_for()
    page.get_by_role("button", name="Play on").click()
    page.locator(".turnbar").wait_for()
    assert page.locator(".guide").count() == 0


def test_rules_and_words(visit, site):
    game = site.call("POST", "/api/games", {"text": (EXAMPLES / "mexica_midgame.json").read_text()}, 201)
    one = visit()
    page = one.game(game)
    opener = page.get_by_role("button", name="Rules", exact=True)
    opener.click()
    drawer = page.locator(".drawer")
    drawer.get_by_role("heading", name="Mexica: the rules").wait_for()
    one.check_accessible()
    drawer.get_by_role("button", name="Scoring").click()
    one.until("document.activeElement.id === 'rule-scoring'")
    drawer.get_by_label("Language of the rules").select_option("pt")
    drawer.get_by_role("heading", name="Mexica: as regras").wait_for()
    page.keyboard.press("Escape")
    drawer.wait_for(state="detached")
    assert opener.evaluate("button => button === document.activeElement")
    # The key opens it at the chosen tool.
    page.get_by_role("button", name="Bridge").click()
    page.keyboard.press("R")
    one.until("document.activeElement.id === 'rule-bridge'")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    # Words where the pointer rests, also on what is large and beside the board.
    box = one.target("I6").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.locator(".zoom", has_text="level 1: it counts 1 in this district").wait_for()
    page.locator('.panel [data-hint="points:1"]').hover(force=True)
    page.locator(".zoom", has_text="so far: 7").wait_for()
    # The points as they stand are a hint.
    assert page.locator(".projected").count() == 0
    page.get_by_label("Hints").select_option("value")
    wanted = teaching.projected("mexica", site.call("GET", f"/api/games/{game['id']}/position"))
    page.locator(".projected").wait_for()
    assert [int(text) for text in page.locator(".projected b").all_inner_texts()] == wanted

"""Learning from games in the browser."""

import json
from urllib.parse import parse_qs, urlsplit

from pages import NIM, PERSON, engine
from played_games import records_of


def test_a_line_is_kept_and_has_an_address(visit, site):
    game = site.call("POST", "/api/games", {"text": json.dumps(NIM)}, 201)
    one = visit()
    page = one.game(game)
    page.get_by_role("button", name="Review", exact=True).last.click()
    page.get_by_label("Type a turn of a side line").fill("take 3 2")
    page.keyboard.press("Enter")
    page.get_by_text("Side line after turn 0").wait_for()
    for name in ("picture", "position", "Editor"):  # what is offered is of the board that is shown
        address = page.get_by_role("link", name=name, exact=True).get_attribute("href")
        assert parse_qs(urlsplit(address).query)["line"] == ['[["take 3 2"]]']
    assert page.get_by_role("button", name="Play on from here").count() == 0
    page.get_by_role("button", name="Keep this line").click()
    one.until("location.hash === '#review/1/1'")
    page.get_by_label("Comment on this turn").fill("one pile")
    page.keyboard.press("Escape")  # it stays with the turn of the line
    page.get_by_label("Type a turn of a side line").fill("take 1 1")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Keep this line").click()
    one.until("location.hash === '#review/2/1'")
    page.get_by_role("button", name="A turn back").click()
    one.until("location.hash === '#review/1/1'")
    one.until("document.querySelector('.comment').value === 'one pile'")
    one.check_accessible()
    # Back leaves the review, not the game.
    page.go_back()
    page.locator(".turnbar").wait_for()
    one.until("location.hash === '' && location.pathname.startsWith('/g/')")
    # Whoever opens the address sees the place; the candidates there stand on the board, and a bar beside it.
    other = visit()
    page = other.game(game, "review/1/1")
    page.get_by_text("Side line after turn 0").wait_for()
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.locator("text.rank").first.wait_for()
    page.locator(".bar").wait_for()
    # The analysis goes along.
    page.get_by_role("button", name="A turn back").click()
    other.until("document.querySelector('.candidate') && !document.querySelector('.engine .old')")
    kept = site.call("GET", f"/api/games/{game['id']}/record")["variations"]
    assert kept == [{"at": 0, "turns": [["take 3 2"], ["take 1 1"]], "comments": ["one pile", ""]}]


def test_what_a_search_finds_before_its_key_comes_is_shown(visit, site):
    game = site.call("POST", "/api/games", {"text": json.dumps(NIM)}, 201)
    page = visit().game(game, "review/0")
    page.evaluate(
        """() => {
            const own = window.fetch;
            window.fetch = async (...asked) => {
                const answer = await own(...asked);
                if (asked[1]?.method === 'PUT') await new Promise(go => setTimeout(go, 1000));
                return answer;
            };
        }"""
    )
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.locator(".candidate").first.wait_for()
    page.get_by_role("button", name="Analyse", exact=True).wait_for()  # it is over


def test_the_candidates_are_those_of_the_place_that_a_review_goes_to(visit, site):
    game = site.play(site.new(options={"piles": [2, 2, 3]}, seats=[PERSON, PERSON]), "take 3 3")
    page = visit(kept={"seconds": 0.3}).game(game, "review/0")
    analyse = page.get_by_role("button", name="Analyse", exact=True)

    def after(do):
        """Return the candidates that are shown after the search that follows on something; it has found them."""
        before = site.game(game)["analysis"]
        do()
        now = site.await_game(game, lambda now: now["analysis"] != before and now["analysis"]["stop_reason"])
        analyse.wait_for()
        found = {"; ".join(each["turn"]): each for each in now["analysis"]["candidates"]}
        # While the pointer is inside, those that were found later are not shown.
        shown = page.locator(".candidate").evaluate_all("all => all.map(one => one.dataset.text)")
        assert shown
        assert set(shown) <= found.keys()
        return {turn: found[turn] for turn in shown}

    after(analyse.click)
    page.locator(".candidate").first.focus()

    def go_on():
        page.keyboard.press("ArrowRight")
        # Until the search begins, those of the place before can be pointed at: also one that is not legal any more.
        page.evaluate(
            """() => {
                document.activeElement.blur();
                const old = document.querySelector('.candidate[data-text="take 3 3"]');
                old?.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}));
            }"""
        )

    shown = after(go_on)
    turn = next(turn for turn, candidate in shown.items() if candidate["line"])
    page.locator(f'.candidate[data-text="{turn}"]').click()
    after(page.locator(".line .link").first.click)
    page.get_by_text("Side line after turn 1").wait_for()


def test_a_comment_stays_with_its_turn(visit, site):
    game = site.call("POST", "/api/games", {"text": json.dumps(NIM)}, 201)
    one = visit()
    page = one.game(game, "review/1")
    comment = page.get_by_label("Comment on this turn")
    comment.fill("too much")
    page.get_by_role("button", name="A turn on").click()
    page.get_by_text("2 / 3").wait_for()
    assert comment.input_value() == ""
    site.await_game(game, lambda now: now["comments"].get("1") == "too much")
    page.get_by_role("button", name="A turn back").click()
    page.get_by_text("1 / 3").wait_for()
    assert comment.input_value() == "too much"


def test_a_comment_is_kept_if_the_page_is_left_while_it_is_written(visit, site):
    game = site.call("POST", "/api/games", {"text": json.dumps(NIM)}, 201)
    page = visit().game(game)
    for number, leave in enumerate((page.go_back, page.reload, lambda: page.goto("about:blank")), 1):
        if number < 3:
            page.get_by_role("button", name="Review", exact=True).first.click()
        page.get_by_label("Comment on this turn").fill(f"comment {number}")
        leave()
        site.await_game(game, lambda now, text=f"comment {number}": now["comments"].get("3") == text)


def test_only_from_where_the_game_goes_on_it_is_played_on(visit, site):
    game = site.call("POST", "/api/games", {"text": json.dumps(NIM)}, 201)
    page = visit().game(game, "review/3")
    page.get_by_text("3 / 3").wait_for()
    go_on = page.get_by_role("button", name="Play on from here")
    assert go_on.count() == 0
    page.get_by_role("button", name="A turn back").click()
    go_on.wait_for()


def test_a_bad_turn_is_asked_about_and_the_game_is_judged_at_its_end(visit, site):
    game = site.new(options={"piles": [2, 3]}, seats=[PERSON, engine(level=10, seconds=0.1)])
    one = visit()
    page = one.game(game)
    page.get_by_role("button", name="Help").click()
    page.get_by_label("ask before a turn that gives much of the win away").check()
    page.get_by_role("button", name="Close").click()

    def enter(turn):
        page.keyboard.press("/")
        page.keyboard.type(turn)
        page.keyboard.press("Enter")
        one.chips(turn)
        page.get_by_role("button", name="End turn").click()

    enter("take 2 2")
    page.get_by_role("alert").get_by_text("Take it back?").wait_for()
    page.get_by_role("alert").get_by_role("button", name="Take back", exact=True).click()
    assert site.game(game)["turns"] == []
    page.get_by_role("button", name="End turn").click()
    page.get_by_role("alert").get_by_role("button", name="Play", exact=True).click()
    site.await_game(game, lambda now: now["waiting"] == "person" and len(now["turns"]) == 2)
    one.until("document.querySelector('.status').textContent.includes('to move')")
    page.get_by_role("button", name="Resign").click()
    page.locator("dialog").get_by_role("button", name="Resign").click()
    site.await_game(game, lambda now: now["annotation"]["state"] == "done")
    page.get_by_role("button", name="Practise the mistakes of Player 1").click()
    page.get_by_role("link", name="to the review").click()
    one.until("location.hash === '#review/1'")
    page.get_by_role("button", name="Find a better turn").wait_for()
    page.get_by_text("Expected answer").wait_for()


def test_a_game_that_ends_again_is_judged_again(visit, site):
    game = site.play(site.new(options={"piles": [1, 1]}, seats=[PERSON, PERSON]), "take 1 1")
    one = visit()
    one.game(game)
    site.play(game, "take 1 2")
    site.await_game(game, lambda now: now["annotation"]["done"] == 2)
    site.command(site.game(game), takeback=True)
    one.page.locator(".turnbar", has_text="to move").wait_for()
    site.play(site.game(game), "take 1 2")
    site.await_game(game, lambda now: now["annotation"]["done"] == 2)


def test_the_position_in_which_somebody_gave_up_is_analysed(visit, site):
    game = site.play(site.new(options={"piles": [2, 3]}, seats=[PERSON, PERSON]), "take 2 2")
    site.command(game, resign=True)
    page = visit().game(game, "review/1")
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.locator(".candidate", has_text="took 1 from pile").first.wait_for()


def test_what_fields_of_searches_show_is_what_is_used(visit, site):
    game = site.call("POST", "/api/games", {"text": json.dumps(NIM)}, 201)
    evaluated = site.call("PUT", f"/api/games/{game['id']}/annotation", {"seconds": 0.3}, 202)
    site.await_game(game, lambda now: now["annotation"]["done"] == evaluated["of"])
    site.command(site.game(game), takeback=True)  # so that a turn is left to be evaluated
    site.play(site.game(game), "take 2 1")
    page = visit(kept={"candidates": 20}).game(game, "review/0")
    assert page.get_by_label("Time of a turn").evaluate("one => one.selectedOptions[0].textContent") == "0.3 s a turn"
    number = page.get_by_label("Number of turns")
    number.fill("50")
    number.blur()
    assert number.input_value() == "20"


def test_pages_keep_the_hints_that_others_have_set(visit, site):
    game = site.call("POST", "/api/games", {"text": json.dumps(NIM)}, 201)
    page = visit().game(game)
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_label("Hints").select_option("value")
    page.get_by_role("button", name="Review", exact=True).first.click()
    page.get_by_label("Hints").select_option("none")
    other.close()
    hints = page.evaluate("JSON.parse(localStorage.getItem('mexica-ai')).hints")
    assert hints == {"play": "value", "review": "none"}


def test_an_address_that_is_typed_opens_its_place(visit, site):
    game = site.play(site.new(options={"piles": [2, 2, 3]}, seats=[PERSON, PERSON]), "take 3 3")
    one = visit()
    page = one.game(game)
    page.evaluate("location.hash = '#review/1'")
    page.locator(".card.review", has_text="1 / 1").wait_for()
    page.evaluate("location.hash = '#review/0'")
    page.locator(".card.review", has_text="0 / 1").wait_for()


def test_an_address_that_is_typed_while_the_review_loads_opens_its_place(visit, site):
    game = site.play(site.new(options={"piles": [2, 2, 3]}, seats=[PERSON, PERSON]), "take 3 3")
    one, held = visit(), []
    one.page.route("**/static/study.js*", lambda route: held.append(route))
    page = one.game(game, "review/1")
    while not held:
        page.wait_for_timeout(20)
    page.evaluate("location.hash = '#review/0'")
    held[0].continue_()
    page.locator(".card.review", has_text="0 / 1").wait_for()


def test_an_analysis_goes_on_over_a_random_event(visit, site):
    record = records_of("coatl")[0]
    part = {key: record[key] for key in ("game", "version", "start")} | {"turns": record["turns"][:9]}
    game = site.call("POST", "/api/games", {"text": json.dumps(part)}, 201)
    assert game["turns"][7]["seat"] is None
    one = visit(kept={"seconds": 0})
    page = one.game(game, "review/6")
    page.get_by_role("button", name="Analyse", exact=True).click()
    page.locator(".candidate").first.wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_text("For another position.").wait_for()
    page.wait_for_timeout(350)  # longer than from a step to its analysis
    assert page.locator(".told").count() == 0
    page.keyboard.press("ArrowRight")
    one.until("document.querySelector('.candidate') && !document.querySelector('.engine .old')")
    page.get_by_role("button", name="Stop", exact=True).click()
    analyse = page.get_by_role("button", name="Analyse", exact=True)
    analyse.wait_for()
    assert analyse.is_enabled()
    page.keyboard.press("ArrowLeft")
    page.get_by_text("7 / 9").wait_for()
    assert analyse.is_disabled()
